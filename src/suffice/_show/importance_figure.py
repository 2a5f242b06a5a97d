"""The importance of variables with matplotlib: bars for one row or the mean of many, and a map of many rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from suffice._show import drawing
from suffice._show.drawing import BLUE, GREY, Floats
from suffice._text import counted, format_share
from suffice.explaining.explanation import Explanation
from suffice.explaining.explanations import Explanations
from suffice.explaining.importance import (
    IMPORTANCE_MEANINGS,
    SetsKind,
    check_sets,
    importance_of_sets,
    rank_means,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_ORDERED = 300  # the optimal order of n patterns takes n^3 steps at worst
ROWS_WITH_NUMBERS = 30


@dataclass(frozen=True, eq=False)
class Importances:
    """The importance of each variable for each row, its mean over the rows with a sufficient set, and the order."""

    names: tuple[str, ...]
    matrix: Floats
    has_set: NDArray[np.bool_]
    mean: Floats
    ranked: list[int]  # variables of any importance, the most important first
    sets: SetsKind


def gather_importances(explanations: Explanations | Explanation | Sequence[Explanation], sets: SetsKind) -> Importances:
    """Compute the importances of one row or of several."""
    check_sets(sets)
    one = explanations if isinstance(explanations, Explanation) else None
    if isinstance(explanations, Explanations):
        names, has_set = explanations.variable_names, explanations.has_set
        matrix = explanations.importance_matrix(sets)
    else:
        rows = [explanations] if isinstance(explanations, Explanation) else list(explanations)
        if not rows or not all(isinstance(row, Explanation) for row in rows):
            raise TypeError("`explanations` must be what `explain` gave: Explanations, or some of them.")
        names, has_set = tuple(name for name, _ in rows[0].values), np.array([row.is_sufficient for row in rows])
        chosen = [row.minimal_sets if sets == "minimal" else row.sufficient_sets for row in rows]
        importances = [importance_of_sets([s.variables for s in of_row], names) for of_row in chosen]
        matrix = np.array([list(importance.values()) for importance in importances])
    mean = matrix[has_set].mean(axis=0) if has_set.any() else np.zeros(len(names))
    ranked = rank_means(names, mean) if one is None else one.ranked_importance(sets)
    return Importances(names, matrix, has_set, mean, [names.index(name) for name, _ in ranked], sets)


def draw_importance(gathered: Importances, one: Explanation | None, n_variables: int, ax: Axes | None) -> Axes:
    """Draw the importances of a row, or their means, as bars."""
    sets = gathered.sets
    shown, has_set = gathered.ranked[:n_variables], gathered.has_set
    names = [gathered.names[v] for v in shown]
    labels = [drawing.shorten(name) if one is None else drawing.name_with_value(one, name) for name in names]
    widths, colors = gathered.mean[shown].tolist(), [BLUE] * len(shown)
    others = np.delete(gathered.mean, shown)
    if len(others):
        at_most = " (at most)" if others.max() > 0 else ""
        labels.append(f"{len(others)} other{'' if len(others) == 1 else 's'}{at_most}")
        widths.append(float(others.max()))
        colors.append(GREY)
    ax = drawing.make_axes(ax, 7.0, 1.5 + 0.3 * max(len(labels), 3))
    if not shown:
        return _write_none(ax, has_set) if one is None else drawing.write_lead(ax, one)
    bars = ax.barh(range(len(labels)), widths, color=colors, height=0.7)
    ax.bar_label(bars, [format_share(width) if width else "0" for width in widths], padding=3)
    ax.set_yticks(range(len(labels)), labels)
    ax.invert_yaxis()
    ax.set_xlim(0, 1.1 * (1.0 if one is not None else max(widths)))
    meaning = f"importance: {IMPORTANCE_MEANINGS[sets]}"
    if one is not None:
        n_sets = len(one.sufficient_sets if sets == "all" else one.minimal_sets)
        ax.set_xticks(np.linspace(0, 1, 6))
        drawing.set_xlabel(ax, meaning)
        kind = "minimal sufficient set" if sets == "minimal" else "sufficient set"
        drawing.set_title(ax, f"{drawing.row_title(one)}\n{counted(n_sets, kind)}")
    else:
        drawing.set_xlabel(ax, f"mean {meaning}")
        n_rows = int(np.count_nonzero(has_set))
        of_all = "" if n_rows == len(has_set) else f" with a sufficient set, of {len(has_set)} in all"
        drawing.set_title(ax, f"Mean of {counted(n_rows, 'row')}{of_all}")
    ax.tick_params(axis="y", length=0)
    return drawing.keep_spines(ax, "left")


def draw_heatmap(
    gathered: Importances, explanations: Sequence[Explanation], n_variables: int, max_rows: int, ax: Axes | None
) -> Axes:
    """Draw the importances of many rows as a map, with similar rows side by side."""
    has_set, shown, n_rows = gathered.has_set, gathered.ranked[:n_variables], len(gathered.matrix)
    rows = np.arange(n_rows)
    if n_rows > max_rows:
        rows = np.sort(np.random.default_rng(0).choice(n_rows, max_rows, replace=False))
    ax = drawing.make_axes(ax, 2.8 + 0.42 * max(len(shown), 6), 2.6 + min(4.0, 0.22 * max(len(rows), 4)))
    if not shown:
        return _write_none(ax, has_set)
    matrix = gathered.matrix[:, shown]
    with_set = rows[has_set[rows]]
    order = np.concatenate([with_set[_order_alike(matrix[with_set])], rows[~has_set[rows]]])
    import matplotlib

    colors = matplotlib.colormaps["Blues"].with_extremes(bad="#D9D9D9")
    drawn = np.where(has_set[order, None], matrix[order], np.nan)
    image = ax.imshow(drawn, aspect="auto", interpolation="nearest", cmap=colors, vmin=0, vmax=1)
    ax.figure.colorbar(image, ax=ax, label="importance", pad=0.02)
    ax.set_xticks(range(len(shown)), [drawing.shorten(gathered.names[v]) for v in shown])
    ax.tick_params(axis="x", length=0)
    drawing.rotate_labels(ax, 45)
    if len(rows) <= ROWS_WITH_NUMBERS:
        labels = [one.label.removeprefix("Row ") if one.is_named else str(i) for i, one in enumerate(explanations)]
        ax.set_yticks(range(len(order)), [drawing.shorten(labels[row]) for row in order])
        ax.set_ylabel("row")
    else:
        ax.set_yticks([])
        of_all = f" of {n_rows}" if len(rows) < n_rows else ""
        ax.set_ylabel(f"{len(rows)}{of_all} rows, similar ones together")
    n_empty = int(np.count_nonzero(~has_set[rows]))
    grey = f"\nGrey: {counted(n_empty, 'row')} without a sufficient set" if n_empty else ""
    drawing.set_title(ax, f"Importance: {IMPORTANCE_MEANINGS[gathered.sets]}{grey}")
    return drawing.keep_spines(ax, "left", "bottom")


def _write_none(ax: Axes, has_set: NDArray[np.bool_]) -> Axes:
    needed = "No variable is needed: the outcomes are kept for all values."
    return drawing.write_message(ax, needed if has_set.any() else "No row has a sufficient set.")


def _order_alike(matrix: Floats) -> NDArray[np.intp]:
    """Order rows such that equal ones stand together, and similar ones near each other."""
    patterns, pattern_of = np.unique(matrix, axis=0, return_inverse=True)
    rank = np.arange(len(patterns))
    if len(patterns) > 2:
        from scipy.cluster.hierarchy import leaves_list, linkage

        tree = linkage(patterns, "average", optimal_ordering=len(patterns) <= MAX_ORDERED)
        rank[leaves_list(tree)] = np.arange(len(patterns))
    return np.argsort(rank[pattern_of.ravel()], kind="stable")
