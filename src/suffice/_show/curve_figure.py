"""The probability that a row's outcome is kept along one variable: what is drawn, and the drawing with matplotlib."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from suffice._show import drawing
from suffice._show.axis import Spans, spans
from suffice._show.drawing import BLUE, GREY, VERMILION
from suffice._text import format_probability
from suffice.errors import did_you_mean
from suffice.explaining.curve import Curve, compute_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from suffice._forest.fitted import Fitted
    from suffice._forest.outcomes import Outcomes
    from suffice.explaining.explanation import Explanation, SufficientSet
    from suffice.explaining.explanations import Explanations
    from suffice.explaining.rule import Rule


@dataclass(frozen=True, eq=False)
class CurveView:
    """A curve with what is drawn beside it."""

    curve: Curve
    explanation: Explanation
    known: tuple[str, ...]
    bounds: Spans | None

    @property
    def own_text(self) -> str:
        """The row's own value, as it is written."""
        own = self.curve.own
        return "missing" if math.isnan(own) else self.curve.column.text_of(self.curve.column.decode(own))

    @property
    def level_text(self) -> str:
        """The level that a sufficient set must reach, as it is written."""
        return drawing.level_text(self.explanation)

    @property
    def range(self) -> tuple[float, float]:
        """The ends of the axis without the place for missing values."""
        low, high = float(self.curve.ends[0]), float(self.curve.ends[-1])
        return (low, high) if low < high else (low - 0.5, high + 0.5)


def view_curve(
    fitted: Fitted,
    x: NDArray[np.float32],
    outcomes: Outcomes,
    explanation: Explanation,
    chosen: SufficientSet,
    rule: Rule | None,
    column: int,
) -> CurveView:
    """Compute a curve of a row with what is drawn beside it."""
    names = fitted.variables.names
    moved = next(v for v, columns in enumerate(fitted.variables.columns) if column in columns)
    S = tuple(sorted({moved, *(names.index(name) for name in chosen.variables)}))
    name = fitted.encoding.columns[column].name
    bounds = None
    if rule is not None:
        condition = next((condition for condition in rule.conditions if condition.name == name), None)
        bounds = None if condition is None else spans(fitted.encoding.columns[column], condition)
    computed = compute_curve(fitted, x, outcomes, S, column)
    return CurveView(computed, explanation, tuple(names[v] for v in S), bounds)


def first_column(fitted: Fitted, chosen: SufficientSet) -> int:
    """Choose the column along which a curve is drawn if none is named."""
    first = (*chosen.variables, *fitted.candidate_names, *fitted.variables.names)[0]
    return fitted.variables.columns[fitted.variables.names.index(first)][0]


def find_column(fitted: Fitted, name: str) -> int:
    """Find a column by the name of its variable, or by its own."""
    names = [column.name for column in fitted.encoding.columns]
    variables = fitted.variables
    if name in variables.names:
        columns = variables.columns[variables.names.index(name)]
        if len(columns) == 1:
            return columns[0]
        listed = ", ".join(repr(names[c]) for c in columns[:5])
        raise ValueError(f"The variable {name!r} has {len(columns)} columns: name one of them, such as {listed}.")
    if name in names:
        return names.index(name)
    raise ValueError(f"Unknown variable {name!r}.{did_you_mean(name, [*variables.names, *names])}")


# --- drawing ---------------------------------------------------------------------------------------------------------


def draw_curve(explanations: Explanations, row: int, variable: str | None, ax: Axes | None) -> Axes:
    """Draw the curve of a row along a variable, by default along the first of its best set."""
    fitted, answers, explanation = explanations.fitted, explanations.answers, explanations[row]
    i, chosen = row % len(explanations), explanation.best_set
    column = first_column(fitted, chosen) if variable is None else find_column(fitted, variable)
    outcomes = answers.outcomes.take(np.array([i]))
    view = view_curve(fitted, answers.X[i], outcomes, explanation, chosen, explanation.rule, column)
    ax = drawing.make_axes(ax, 7.8, 4.0)
    _draw_view(ax, view)
    thinned = "" if view.curve.is_exact else " (not every step is drawn)"
    moved = f"Only {drawing.shorten(view.curve.column.name)} moves; the others keep the row's values{thinned}"
    drawing.set_title(ax, f"{drawing.row_title(explanation)}\n{moved}")
    return drawing.keep_spines(ax, "left", "bottom")


def _draw_view(ax: Axes, view: CurveView) -> None:
    """Draw a curve, the row's value, the level and the bounds of the rule."""
    curve, (low, high) = view.curve, view.range
    is_category = curve.drawn_column.kind == "category"
    half, margin = (0.3, 0.0) if is_category else (0.03 * (high - low), 0.02 * (high - low))
    missing_at: float | None = None
    if curve.at_missing is not None:
        missing_at = high + 0.5 if is_category else low - 0.08 * (high - low)
    if view.bounds is not None:
        drawn = view.bounds.within(low, high)
        if missing_at is not None and view.bounds.missing:
            drawn.append((missing_at - half, missing_at + half))
        for i, span in enumerate(drawn):
            label = "_nolegend_" if i else "bounds of the rule"
            ax.axvspan(*span, color="black", alpha=0.1, lw=0, label=label, zorder=0)
    ax.axhline(view.explanation.pi, color=VERMILION, ls="--", lw=1.2, label=view.level_text, zorder=1)
    _draw_probabilities(ax, view, textwrap.fill(f"given {drawing.list_names(view.known)}", 30))
    left, right, own = low - margin, high + margin, curve.own
    if missing_at is not None:
        for value, color, width in zip(curve.at_missing or (), (BLUE, GREY), (2.4, 1.2), strict=True):
            ax.plot([missing_at - half, missing_at + half], [value] * 2, color=color, lw=width, zorder=3)
        left, right = (low, missing_at + 0.5) if is_category else (missing_at - 2 * half - margin, right)
        own = missing_at if math.isnan(own) else own
    label = f"the row: {drawing.shorten(view.own_text, 18)}, {format_probability(curve.at_own[0])}"
    drawing.mark_row(ax, own, curve.at_own[0], label)
    ax.set_xlim(left, right)
    drawing.label_axis(ax, "x", curve.drawn_column, view.range, missing_at)
    ax.set_ylim(0, 1.03)
    ax.set_ylabel("probability that the outcome is kept")
    drawing.set_legend(ax)


def _draw_probabilities(ax: Axes, view: CurveView, known: str) -> None:
    """Draw the probabilities given the known variables and given all: steps between thresholds, or bars."""
    of_set, of_all, unknown = view.curve.of_set, view.curve.of_all, "given all variables"
    if view.curve.drawn_column.kind == "category":
        codes = np.arange(len(of_set))
        ax.bar(codes, of_set, 0.6, color=BLUE, label=known, zorder=2)
        ax.hlines(of_all, codes - 0.42, codes + 0.42, color=GREY, lw=2, label=unknown, zorder=3)
        return
    ends = np.array(view.curve.ends)
    if ends[0] == ends[-1]:
        ends = np.array(view.range)
    ax.stairs(of_all, ends, baseline=None, color=GREY, lw=1.2, label=unknown, zorder=2)
    ax.stairs(of_set, ends, baseline=None, color=BLUE, lw=2.4, label=known, zorder=3)
