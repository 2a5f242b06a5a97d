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
    ORANGE,
    SKY,
    VERMILION,
    Floats,
    Group,
    class_groups,
    list_names,
    name_with_value,
    row_title,
    set_legend,
    set_title,
    shorten,
)
from suffice._show.picture import NOTHING
from suffice.explanation import Explanation, SufficientSet
from suffice.global_rules import GlobalRulesClassifier, GlobalRulesRegressor
from suffice.importance import rank_in_sets
from suffice.rule_measures import Evaluation
from suffice.words import counted, format_number, format_percent, format_probability

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
    level = f"{'pi' if explanation.levels == 'same' else 'level'} = {explanation.level_text}"
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
        return f"{explanation.verdict} This set comes nearest."
    return (
        counted(n_sets, "sufficient set") if n_sets == n_drawn else f"the first {n_drawn} of {n_sets} sufficient sets"
    )


# --- distributions and counts ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Distributions:
    """The distributions of a row's outcome.

    Parameters
    ----------
    grid : ndarray of shape (n_values,)
        Where they are computed, in ascending order.
    of_set, of_all : ndarray of shape (n_values,)
        The cumulative probabilities when only the set is known, and when all variables are.
    variables : tuple of str
        The set.
    outcome : float
        The row's outcome.
    interval : tuple of float
        The interval in which it is kept.
    sdp : float
        The probability of the interval when only the set is known.
    target : str
        What the outcome is called.
    """

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


def draw_counts(ax: Axes, series: Sequence[tuple[str, NDArray[np.intp]]]) -> None:
    """Draw two series of counts as bars side by side: the share of the rows with each count."""
    largest = max(int(counts.max()) for _, counts in series)
    width = 0.38
    looks = ((BLUE, "", -width / 2), (ORANGE, "///", width / 2))
    for (name, counts), (color, hatch, shift) in zip(series, looks, strict=True):
        share = np.bincount(counts, minlength=largest + 1)[1:] / len(counts)
        ax.bar(
            np.arange(1, largest + 1) + shift, 100 * share, width, color=color, hatch=hatch, edgecolor="white",
            label=f"{name} (mean {counts.mean():.2f})",
        )  # fmt: skip
    ax.set_xticks(np.arange(1, largest + 1, max(1, math.ceil(largest / 15))))
    ax.set_xlim(0.4, max(largest, 4) + 0.6)
    ax.set_ylabel("% of the rows")
    ax.legend(frameon=False)


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
