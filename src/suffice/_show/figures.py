"""The larger drawings of the plots: sufficient sets, distributions, counts of rules, and the rules of a list."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice._show.drawing import (
    BLUE,
    GREY,
    SKY,
    VERMILION,
    Floats,
    Group,
    class_groups,
    label_codes,
    list_names,
    make_axes,
    name_with_value,
    row_title,
    set_legend,
    set_title,
    shorten,
)
from suffice._show.picture import NOTHING
from suffice._table.condition import Condition
from suffice._table.encoding import Column
from suffice._text import counted, format_number, format_percent, format_probability, format_value
from suffice.changes.values import Change, Changes, RowChanges
from suffice.errors import check_number
from suffice.explaining.explanation import Explanation, SufficientSet
from suffice.explaining.importance import rank_in_sets
from suffice.rule_lists.estimators import GlobalRulesClassifier, GlobalRulesRegressor
from suffice.rule_lists.measures import Evaluation

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# --- the sets of a row -----------------------------------------------------------------------------------------------


def held_variables(explanation: Explanation, drawn: Sequence[SufficientSet]) -> list[str]:
    """Return the variables that some of the drawn sets hold, the most important first."""
    ranked = rank_in_sets([s.variables for s in drawn], [name for name, _ in explanation.values])
    return [name for name, _ in ranked]


def draw_sets(ax: Axes, explanation: Explanation, drawn: Sequence[SufficientSet], names: Sequence[str]) -> None:
    """Draw sets side by side: dots for the variables that each holds, and bars for their probabilities.

    A black line goes down from the end of a bar to the lower bound, where it is known.
    """
    color = BLUE if explanation.is_sufficient else GREY
    n_names, n_drawn = max(len(names), 1), len(drawn)
    base, unit = -0.9, 3.0  # of the bars; the axis points down

    def height(probability: float) -> float:
        return base - unit * probability

    for i in range(0, len(names), 2):
        ax.axhspan(i - 0.5, i + 0.5, color="#F2F2F2", lw=0, zorder=0)
    bars = ax.bar(range(n_drawn), [height(s.sdp) - base for s in drawn], bottom=base, width=0.6, color=color)
    for bar, s in zip(bars, drawn, strict=True):
        x = bar.get_x() + bar.get_width() / 2
        ax.text(x, height(s.sdp) - 0.08, format_probability(s.sdp), ha="center", va="bottom", fontsize="small")
        if s.lower is not None:
            ax.plot([x, x], [height(s.lower), height(s.sdp)], color="black", lw=1.2)
            ax.plot([x - 0.12, x + 0.12], [height(s.lower)] * 2, color="black", lw=1.2)
    for x, s in enumerate(drawn):
        held = [i for i, name in enumerate(names) if name in s.variables]
        missing = [i for i in range(len(names)) if i not in held]
        ax.plot([x] * len(missing), missing, "o", color="#D0D0D0", ms=5)
        ax.plot([x] * len(held), held, "o-", color=color, ms=8, lw=1.8)
    ax.hlines(height(explanation.pi), -0.5, n_drawn - 0.5, color=VERMILION, ls="--", lw=1.2)
    level = f"{'pi' if explanation.levels == 'same' else 'level'} = {explanation.sentences.level_text}"
    ax.annotate(
        level, (n_drawn - 0.5, height(explanation.pi)), (4, 0), textcoords="offset points",
        va="center", color=VERMILION, annotation_clip=False,
    )  # fmt: skip
    ax.hlines(base, -0.5, n_drawn - 0.5, color="black", lw=0.8)
    labels = [name_with_value(explanation, name) for name in names] or [NOTHING]
    ax.set_yticks([height(1.0), height(0.5), base, *range(n_names)], ["SDP 1.0", "0.5", "0", *labels])
    ax.set_xticks([])
    ax.set_xlim(-0.6, n_drawn - 0.4)
    ax.set_ylim(n_names - 0.4, height(1.0) - 0.75)
    ax.tick_params(axis="y", length=0)
    set_title(ax, f"{row_title(explanation)}\n{_sets_title(explanation, n_drawn)}")


def _sets_title(explanation: Explanation, n_drawn: int) -> str:
    n_sets = len(explanation.sufficient_sets)
    if not n_sets:
        return f"{explanation.sentences.verdict} This set comes nearest."
    return (
        counted(n_sets, "sufficient set") if n_sets == n_drawn else f"the first {n_drawn} of {n_sets} sufficient sets"
    )


# --- distributions and counts ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Distributions:
    """The distributions of a row's outcome."""

    grid: Floats
    of_set: Floats
    of_all: Floats
    variables: tuple[str, ...]
    outcome: float
    interval: tuple[float, float]
    sdp: float
    target: str


def draw_distributions(ax: Axes, view: Distributions) -> None:
    """Draw the distributions of a row's outcome as steps, with the interval and the outcome."""
    grid, outcome, (low, high) = view.grid, view.outcome, view.interval
    ax.axvspan(low, high, color=SKY, alpha=0.25, lw=0, label=f"interval [{format_number(low)}, {format_number(high)}]")
    set_label = f"given {list_names(view.variables) or NOTHING}"
    for shares, label, color, style in (
        (view.of_all, "given all variables", GREY, "--"),
        (view.of_set, set_label, BLUE, "-"),
    ):
        ax.step(grid, shares, where="post", color=color, ls=style, lw=1.8, label=label)
    ax.axvline(outcome, color="black", lw=1.2, ls=":", label=f"outcome {format_number(outcome)}")
    ax.set_xlim(min(grid[0], low, outcome), max(grid[-1], high, outcome))
    ax.set_ylim(-0.02, 1.02)
    ax.set_xlabel(shorten(view.target))
    ax.set_ylabel("probability of at most this")
    set_legend(ax)
    set_title(ax, f"SDP {format_probability(view.sdp)}: the share of the blue distribution in the interval")


# --- the rules of a list ---------------------------------------------------------------------------------------------


def draw_measures(ax: Axes, rule_list: GlobalRulesClassifier | GlobalRulesRegressor, measured: Evaluation) -> int:
    """Draw the rules that cover rows by coverage and precision, and return how many they are."""
    is_class = isinstance(rule_list, GlobalRulesClassifier)
    used = np.flatnonzero(measured.covers.any(axis=1))
    coverage, precision = measured.coverage[used], measured.precision[used]
    _draw_rules(ax, rule_list, used, coverage, precision)
    best = find_frontier(coverage, precision)
    ax.step(100 * coverage[best], precision[best], where="pre", color=GREY, lw=1.3, ls="--", label="best single rules")
    so_far, precision_so_far = measured.coverage_of_first, measured.precision_of_first
    ax.plot(100 * so_far, precision_so_far, color="black", lw=1.3, label="the first rules together")
    together = (
        f"all {counted(len(rule_list.rules_), 'rule')}: {format_percent(so_far[-1])} %, {precision_so_far[-1]:.3f}"
    )
    ax.plot(100 * so_far[-1:], precision_so_far[-1:], "D", color="black", ms=7, ls="", label=together)
    ax.set_xlim(left=0)
    worst = min(precision.min(), precision_so_far.min(), 0.95)
    margin = 0.06 * (1 - worst)
    ax.set_ylim(worst - margin, 1 + margin)
    ax.set_xlabel("coverage: % of the rows")
    ax.set_ylabel("precision: accuracy" if is_class else "precision: 1 - MSE / variance")
    set_legend(ax)
    return len(used)


def _draw_rules(ax: Axes, rule_list: Any, used: NDArray[np.intp], coverage: Floats, precision: Floats) -> None:
    """Draw rules as discs, the larger the more training rows they cover, and by class."""
    support = np.array([rule_list.rules_[i].support for i in used])
    sizes = 20 + 280 * support / support.max()
    is_class = isinstance(rule_list, GlobalRulesClassifier)
    groups = [Group("a rule", BLUE, "o", np.ones(len(used), dtype=bool))]
    if is_class:
        groups = class_groups(np.array([rule_list.rules_[i].output for i in used]))
    for group in groups:
        ax.scatter(
            *(100 * coverage[group.is_in], precision[group.is_in], sizes[group.is_in]),
            color=group.color, marker=group.marker, alpha=0.6, ec="white", lw=0.6,
            label=f"a rule for {group.label}" if is_class else group.label,
        )  # fmt: skip


def find_frontier(coverage: Floats, precision: Floats) -> NDArray[np.intp]:
    """Find the rules that no other beats in both, that with the least coverage first."""
    by_coverage = np.lexsort((-precision, -coverage))
    best = np.maximum.accumulate(precision[by_coverage])
    is_better = np.append(True, precision[by_coverage][1:] > best[:-1])
    frontier: NDArray[np.intp] = by_coverage[is_better][::-1]
    return frontier


N_BINS = 30


def change(
    changes: Changes, row: int = 0, number: int = 0, *, column: str | None = None, ax: Axes | None = None
) -> Any:
    """Draw a change: the box on the distributions of the training rows, with the row and the least change."""
    check_number("row", row, f"from 0 to {len(changes) - 1}", lambda v: 0 <= v < len(changes), int)
    answer = changes[row]
    listed = answer.changes or ((answer.nearest,) if answer.nearest is not None else ())
    if not listed:
        raise ValueError(f"{answer.label} has no change to draw: {answer.lead}")
    check_number("number", number, f"from 0 to {len(listed) - 1}", lambda v: 0 <= v < len(listed), int)
    drawn = listed[number]
    names = [condition.name for condition in drawn.conditions] if column is None else [column]
    known = [c.name for c in answer.columns]
    if not names or not set(names) <= set(known):
        raise ValueError(f"`column` must be one of {[c.name for c in drawn.conditions]}, got {column!r}.")
    title = f"{answer.label}: {drawn.box_text or drawn.sentence}"
    if len(names) == 1:
        axes = make_axes(ax, 8.5, 3.2)
        _draw(axes, changes, answer, drawn, names[0])
        set_title(axes, title)
        return axes
    if ax is not None:
        raise ValueError(f"The change has {len(names)} columns: name one of them in `column` to draw it on `ax`.")
    first = make_axes(None, 8.5, 2.6 * len(names))
    figure: Any = first.figure
    first.remove()
    several = np.array([figure.add_subplot(len(names), 1, i + 1) for i in range(len(names))])
    for axes, name in zip(several, names, strict=True):
        _draw(axes, changes, answer, drawn, name)
    set_title(several[0], title)
    return several


def _draw(ax: Axes, changes: Changes, answer: RowChanges, drawn: Change, name: str) -> None:
    position = next(i for i, column in enumerate(answer.columns) if column.name == name)
    column = answer.columns[position]
    values = changes.fitted.forest.X[:, position]
    like = np.zeros(len(values), dtype=bool)
    like[list(drawn.rows)] = True
    condition = next((c for c in drawn.conditions if c.name == name), None)
    if column.kind == "category":
        _draw_categories(ax, column, values, like, condition)
    else:
        _draw_numbers(ax, values, like, condition, is_whole=column.kind == "whole")
    own, point = answer.values[name], drawn.values.get(name, answer.values[name])
    for value, color, text in ((own, "black", "the row"), (point, VERMILION, "the least change")):
        at = _place(column, value)
        if not math.isnan(at):
            ax.axvline(
                at, color=color, lw=2, ls="-" if color == "black" else "--", label=f"{text}: {format_value(value)}"
            )
    ax.set_xlabel(shorten(name))
    ax.set_ylabel("share of rows")
    ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.01, 1.0))  # beside the bars, not on them


def _place(column: Column, value: Any) -> float:
    if value is None:
        return math.nan
    if column.kind != "category":
        return float(value)
    codes = [column.decode(code) for code in range(len(column.labels))]
    return float(codes.index(value)) if value in codes else math.nan


def _draw_numbers(
    ax: Axes, values: NDArray[np.float32], like: NDArray[np.bool_], condition: Condition | None, *, is_whole: bool
) -> None:
    known = ~np.isnan(values)
    ends = np.histogram_bin_edges(values[known], N_BINS)
    if is_whole and ends[-1] - ends[0] < N_BINS:  # one bar for each number
        ends = np.arange(math.floor(ends[0]), math.ceil(ends[-1]) + 2) - 0.5
        ax.locator_params(axis="x", integer=True)
    for rows, color, text in (
        (known, GREY, "all training rows"),
        (known & like, BLUE, "rows like this one in the box"),
    ):
        if rows.any():
            weights = np.full(int(rows.sum()), 1 / rows.sum())
            ax.hist(values[rows], ends.tolist(), weights=weights, color=color, alpha=0.55, label=text)
    if condition is not None and condition.values:
        low, high = max(condition.low, float(ends[0])), min(condition.high, float(ends[-1]))
        ax.axvspan(low, max(high, low), color=BLUE, alpha=0.12, label="the box")


def _draw_categories(
    ax: Axes, column: Column, values: NDArray[np.float32], like: NDArray[np.bool_], condition: Condition | None
) -> None:
    codes = np.arange(len(column.labels))
    known = ~np.isnan(values)
    for rows, color, text, shift in (
        (known, GREY, "all training rows", -0.2),
        (known & like, BLUE, "rows like this one in the box", 0.2),
    ):
        counts = np.bincount(values[rows].astype(np.intp), minlength=len(codes))
        ax.bar(codes + shift, counts / max(counts.sum(), 1), 0.4, color=color, label=text)
    labels = None if condition is None else condition.labels
    for code in codes.tolist() if condition is not None and labels is not None else ():
        if (column.labels[code][0] in (labels or ())) != condition.excluded:  # type: ignore[union-attr]
            ax.axvspan(code - 0.5, code + 0.5, color=BLUE, alpha=0.12)
    shown = label_codes(column)
    ax.set_xticks(shown, [shorten(str(column.decode(code)), 14) for code in shown], rotation=20)
