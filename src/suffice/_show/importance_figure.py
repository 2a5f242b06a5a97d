"""Many rows with matplotlib: the importance of variables as bars, and all rows at a glance.

Bars also show the importance for one row. The overview draws how often each variable is in the best set, for which
values and outcomes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice._show import drawing
from suffice._show.axis import code_text
from suffice._show.drawing import BLUE, GREY, ORANGE, Floats, Group
from suffice._show.overview import best_set_matrix, outcome_masks
from suffice._text import counted, format_percent, format_share, format_value
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

    from suffice._table.encoding import Column
    from suffice.explaining.explanations import Explanations


def rank_importances(
    rows: Explanations | Sequence[Explanation], sets: SetsKind
) -> tuple[list[tuple[str, float]], tuple[str, ...], int]:
    """Order variables by their mean importance; also return all variables, and how many rows have a sufficient set."""
    check_sets(sets)
    if isinstance(rows, Explanations):
        return rows.ranked_importance(sets), rows.variable_names, int(np.count_nonzero(rows.has_set))
    if not rows or not all(isinstance(row, Explanation) for row in rows):
        raise TypeError("`explanations` must be what `explain` gave: Explanations, or some of them.")
    names, with_set = tuple(name for name, _ in rows[0].values), [row for row in rows if row.is_sufficient]
    if len(rows) == 1 or not with_set:
        return rows[0].ranked_importance(sets), names, len(with_set)
    chosen = [row.minimal_sets if sets == "minimal" else row.sufficient_sets for row in with_set]
    importances = [importance_of_sets([s.variables for s in of_row], names) for of_row in chosen]
    mean = np.array([list(importance.values()) for importance in importances]).mean(axis=0)
    return rank_means(names, mean), names, len(with_set)


def draw_importance(
    explanations: Explanations | Explanation | Sequence[Explanation], sets: SetsKind, n_variables: int, ax: Axes | None
) -> Axes:
    """Draw the importances of a row, or their means, as bars."""
    one = explanations if isinstance(explanations, Explanation) else None
    rows = [explanations] if isinstance(explanations, Explanation) else explanations
    ranked, names, n_with = rank_importances(rows, sets)
    shown = ranked[:n_variables]
    labels = [
        drawing.shorten(name) if one is None else drawing.name_with_value(one, name) for name, _ in ranked[:n_variables]
    ]
    widths, colors = [value for _, value in ranked[:n_variables]], [BLUE] * len(labels)
    n_others = len(names) - len(shown)
    if n_others:
        most = ranked[n_variables][1] if len(ranked) > n_variables else 0.0
        labels.append(f"{counted(n_others, 'other')}{' (at most)' if most > 0 else ''}")
        widths.append(most)
        colors.append(GREY)
    ax = drawing.make_axes(ax, 7.0, 1.5 + 0.3 * max(len(labels), 3))
    if not shown:
        return _write_none(ax, n_with > 0) if one is None else drawing.write_lead(ax, one)
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
        of_all = "" if n_with == len(rows) else f" with a sufficient set, of {len(rows)} in all"
        drawing.set_title(ax, f"Mean of {counted(n_with, 'row')}{of_all}")
    ax.tick_params(axis="y", length=0)
    return drawing.keep_spines(ax, "left")


def _write_none(ax: Axes, any_has_set: bool) -> Axes:
    needed = "No variable is needed: the outcomes are kept for all values."
    return drawing.write_message(ax, needed if any_has_set else "No row has a sufficient set.")


MAX_POINTS = 2000
MAX_STEPS = 12  # numbers with so few different values are drawn side by side, as categories are
MAX_LABELS = 8
START, WIDTH = 1.45, 1.5  # of the strips of values, to the right of the bars, which end at 1
MISSING_AT = -0.14  # left of the smallest value

Labels = list[tuple[float, str]]
"""Places along a strip, from 0 to 1, and what is written there."""


def draw_overview(explanations: Explanations, n_variables: int, ax: Axes | None) -> Axes:
    """Draw a lane for each variable: a bar for how often it is in the best set, and the values of these rows."""
    names, n_rows = explanations.variable_names, len(explanations)
    is_in = best_set_matrix(explanations)
    shares = is_in.mean(axis=0) if n_rows else np.zeros(len(names))
    shown = [v for v in np.argsort(-shares, kind="stable").tolist() if shares[v] > 0][:n_variables]
    ax = drawing.make_axes(ax, 9.5, 1.6 + 0.55 * max(len(shown), 2))
    if not shown:
        return _write_none(ax, bool(explanations.has_set.any()))
    groups, rng = _outcome_groups(explanations), np.random.default_rng(0)
    is_drawn = np.zeros(n_rows, dtype=bool)
    is_drawn[rng.permutation(n_rows)[:MAX_POINTS]] = True
    for lane, v in enumerate(shown):
        places, step, labels = _lay_out(explanations, v)
        if (places[is_in[:, v]] == MISSING_AT).any():
            labels = [(MISSING_AT, "missing"), *labels]
        ax.hlines(lane + 0.27, START, START + WIDTH, color="#D9D9D9", lw=1)
        for place, label in labels:
            ax.text(START + WIDTH * place, lane + 0.3, label, ha="center", va="top", fontsize=7, color="#595959")
        left = 0.0
        for group in groups:
            rows = np.flatnonzero(group.is_in & is_in[:, v] & is_drawn)
            share = np.count_nonzero(group.is_in & is_in[:, v]) / n_rows
            ax.barh(lane, share, 0.5, left, color=group.color, label=group.label if not lane else None)
            left += share
            x = START + WIDTH * (places[rows] + step * rng.uniform(-0.35, 0.35, len(rows)))
            y = lane + rng.uniform(-0.3, 0.2, len(rows))
            ax.scatter(x, y, 12 if len(rows) > 200 else 20, color=group.color, marker=group.marker, alpha=0.6, lw=0)
        ax.text(left + 0.02, lane, f"{format_percent(float(shares[v]))} %", va="center", fontsize="small")
    _set_words(ax, explanations, [names[v] for v in shown], int(np.count_nonzero(shares)))
    return drawing.keep_spines(ax)


def _set_words(ax: Axes, explanations: Explanations, names: Sequence[str], n_used: int) -> None:
    ax.set_yticks(range(len(names)), [drawing.shorten(name) for name in names])
    ax.tick_params(length=0)
    ax.set_xticks([0.0, START + WIDTH / 2], ["", "values, by their rank among the training rows"])
    ax.set_xlim(0, START + WIDTH + 0.1)
    ax.set_ylim(len(names) - 0.35, -0.6)
    is_named = explanations.intervals is None and explanations.fitted.target != "y"
    drawing.set_legend(ax, explanations.fitted.target if is_named else None)
    n_rows, n_with = len(explanations), int(np.count_nonzero(explanations.has_set))
    more = f", the {len(names)} most frequent of {n_used} variables" if n_used > len(names) else ""
    title = f"How often each variable is in the best set, and for which values: {counted(n_rows, 'row')}{more}"
    drawing.set_title(ax, title + (f"\n{n_rows - n_with:,} of them have no sufficient set" if n_with < n_rows else ""))


def _outcome_groups(explanations: Explanations) -> list[Group]:
    """Group rows by class, or by whether their number is above the median."""
    if explanations.intervals is None:
        return drawing.class_groups(explanations.outcomes)
    (high, is_high), (low, is_low) = outcome_masks(explanations)
    return [Group(drawing.shorten(low), BLUE, "o", is_low), Group(drawing.shorten(high), ORANGE, "^", is_high)]


def _lay_out(explanations: Explanations, v: int) -> tuple[Floats, float, Labels]:
    """Return where the rows lie along the strip of a variable, how far apart steps are, and the labels."""
    fitted = explanations.fitted
    columns = list(fitted.variables.columns[v])
    known, own = fitted.forest.X[:, columns], explanations.answers.X[:, columns]
    if len(columns) > 1:
        return _lay_out_group(known, own, [fitted.encoding.columns[c].name for c in columns])
    column, known, own = fitted.encoding.columns[columns[0]], known[:, 0], own[:, 0]
    known = np.sort(known[~np.isnan(known)])
    values = np.arange(len(column.labels)) if column.kind == "category" else np.unique(known)
    if column.kind == "category" or len(values) <= MAX_STEPS:
        places, labels = _steps(own, values, [_text(column, value) for value in values.tolist()])
        return places, 1 / max(len(values), 1), labels
    ranks = (np.searchsorted(known, own, "left") + np.searchsorted(known, own, "right")) / (2 * len(known))
    places = np.where(np.isnan(own), MISSING_AT, ranks)
    labels = [(share, _text(column, float(np.quantile(known, share)))) for share in (0.0, 0.25, 0.5, 0.75, 1.0)]
    return places, 0.0, labels


def _text(column: Column, value: float) -> str:
    if column.kind == "category":
        return drawing.shorten(code_text(column, int(value)), 14)
    return format_value(column.decode(float(f"{value:.3g}") if column.kind == "number" else value))


def _steps(own: NDArray[Any], values: NDArray[Any], texts: Sequence[str]) -> tuple[Floats, Labels]:
    """Put values side by side in equal steps, and choose labels that do not run into each other."""
    middle = (np.arange(len(values)) + 0.5) / max(len(values), 1)
    places = np.interp(own, values, middle)  # a number between two training values lies between them
    step = max(-(-len(values) // MAX_LABELS), -(-sum(map(len, texts)) // 52))
    labels = [(float(middle[i]), texts[i]) for i in range(0, len(values), step)]
    return np.where(np.isnan(own), MISSING_AT, places), labels


def _lay_out_group(known: NDArray[Any], own: NDArray[Any], names: Sequence[str]) -> tuple[Floats, float, Labels]:
    """Lay out several columns that are one variable: in the order of their values, or by the indicator that is 1."""
    if np.isin(known, (0, 1)).all() and (known.sum(axis=1) <= 1).all():
        code = np.where(own.max(axis=1) > 0, own.argmax(axis=1), len(names)).astype(np.float64)
        texts = [*(drawing.shorten(name, 14) for name in names), "none"][: int(max(code.max() + 1, len(names)))]
        places, labels = _steps(code, np.arange(len(texts)), texts)
        return places, 1 / len(texts), labels
    both = np.nan_to_num(np.concatenate([known, own]), nan=-np.inf)
    _, order = np.unique(both, axis=0, return_inverse=True)
    order = order.ravel()
    n, of_known = len(known), np.sort(order[: len(known)])
    ranks = np.searchsorted(of_known, order[n:], "left") + np.searchsorted(of_known, order[n:], "right")
    return ranks / (2 * n), 0.0, []
