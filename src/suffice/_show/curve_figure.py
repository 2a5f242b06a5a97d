"""The probability that a row's outcome is kept along one variable: what is drawn, and the drawing with matplotlib."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from suffice._forest.fitted import Fitted
from suffice._forest.outcomes import Outcomes
from suffice._show.axis import Spans, code_text, spans
from suffice._show.drawing import (
    BLUE,
    GREY,
    VERMILION,
    keep_spines,
    label_codes,
    list_names,
    make_axes,
    mark_row,
    n_ticks,
    row_title,
    set_legend,
    set_title,
    shorten,
)
from suffice._text import format_number, format_probability, format_value
from suffice.errors import did_you_mean
from suffice.explaining.curve import Curve, compute_curve
from suffice.explaining.explanation import Explanation, SufficientSet
from suffice.explaining.explanations import Explanations
from suffice.explaining.rule import Rule

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
        return "missing" if math.isnan(own) else format_value(self.curve.column.decode(own))

    @property
    def level_text(self) -> str:
        """The level that a sufficient set must reach, as it is written."""
        name = "pi" if self.explanation.levels == "same" else "level"
        return f"{name} = {self.explanation.sentences.level_text}"

    @property
    def range(self) -> tuple[float, float]:
        """The ends of the axis without the place for missing values."""
        low, high = float(self.curve.ends[0]), float(self.curve.ends[-1])
        return (low, high) if low < high else (low - 0.5, high + 0.5)


def curve(explanations: Explanations, row: int = 0, variable: str | None = None, *, ax: Axes | None = None) -> Axes:
    """Draw the probability that a row's outcome is kept while one variable moves.

    The blue line is P(outcome kept | X_S = x_S) for the best set S of the row (or the nearest, if none is sufficient),
    together with the variable if S does not hold it; only the variable moves, and all other variables of S keep the
    row's values. The thin grey line is the same with all variables known. Both are step functions, drawn exactly
    between the thresholds of the forest. For a number, the interval of the row stays the same along the line.
    """
    if not isinstance(explanations, Explanations):
        raise TypeError(f"`curve` needs all explanations and the position of a row, got {type(explanations).__name__}.")
    explanation = explanations[row]
    fitted, answers = explanations.fitted, explanations.answers
    i = row + len(explanations) if row < 0 else row
    view = view_curve(
        fitted,
        answers.X[i],
        answers.outcomes.take(np.array([i])),
        explanation,
        explanation.shown_set,
        explanation.rule,
        first_column(fitted, explanation.shown_set) if variable is None else find_column(fitted, variable),
    )
    ax = make_axes(ax, 7.8, 4.0)
    draw_curve(ax, view)
    moved = shorten(view.curve.column.name)
    thinned = "" if view.curve.is_exact else " (not every step is drawn)"
    set_title(
        ax,
        f"{row_title(explanation)}\nOnly {moved} moves; the others keep the row's values{thinned}",
    )
    return keep_spines(ax, "left", "bottom")


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


def draw_curve(ax: Axes, view: CurveView) -> None:
    """Draw a curve, the row's value, the level and the bounds of the rule."""
    known = textwrap.fill(f"given {list_names(view.known)}", 30)
    missing_at = _missing_at(view)
    low, high = view.range
    half = 0.03 * (high - low) if view.curve.column.kind != "category" else 0.3
    if view.bounds is not None:
        drawn = view.bounds.within(low, high)
        if missing_at is not None and view.bounds.missing:
            drawn = [*drawn, (missing_at - half, missing_at + half)]
        for i, span in enumerate(drawn):
            ax.axvspan(
                *span, color="black", alpha=0.1, lw=0, label="_nolegend_" if i else "bounds of the rule", zorder=0
            )
    ax.axhline(view.explanation.pi, color=VERMILION, ls="--", lw=1.2, label=view.level_text, zorder=1)
    (_draw_bars if view.curve.column.kind == "category" else _draw_steps)(ax, view, known)
    if view.curve.at_missing is not None and missing_at is not None:
        for value, color, width in zip(view.curve.at_missing, (BLUE, GREY), (2.4, 1.2), strict=True):
            ax.plot([missing_at - half, missing_at + half], [value] * 2, color=color, lw=width, zorder=3)
    is_missing = math.isnan(view.curve.own) and missing_at is not None
    label = f"the row: {shorten(view.own_text, 18)}, {format_probability(view.curve.at_own[0])}"
    mark_row(ax, float(missing_at or 0.0) if is_missing else view.curve.own, view.curve.at_own[0], label)
    margin = 0.02 * (high - low) if view.curve.column.kind != "category" else 0.0
    ax.set_xlim(low - margin if missing_at is None else min(low, missing_at - 2 * half) - margin, high + margin)
    if missing_at is not None and missing_at > high:
        ax.set_xlim(low, missing_at + 0.5)
    _dress(ax, view, missing_at)
    ax.set_ylim(0, 1.03)
    ax.set_ylabel("probability that the outcome is kept")
    set_legend(ax)


def _missing_at(view: CurveView) -> float | None:
    if view.curve.at_missing is None:
        return None
    low, high = view.range
    return high + 0.5 if view.curve.column.kind == "category" else low - 0.08 * (high - low)


def _draw_steps(ax: Axes, view: CurveView, known: str) -> None:
    ends = np.array(view.curve.ends)
    if ends[0] == ends[-1]:
        ends = np.array(view.range)
    ax.stairs(view.curve.of_all, ends, baseline=None, color=GREY, lw=1.2, label="given all variables", zorder=2)
    ax.stairs(view.curve.of_set, ends, baseline=None, color=BLUE, lw=2.4, label=known, zorder=3)


def _draw_bars(ax: Axes, view: CurveView, known: str) -> None:
    codes = np.arange(len(view.curve.of_set))
    ax.bar(codes, view.curve.of_set, 0.6, color=BLUE, label=known, zorder=2)
    ax.hlines(view.curve.of_all, codes - 0.42, codes + 0.42, color=GREY, lw=2, label="given all variables", zorder=3)


def _dress(ax: Axes, view: CurveView, missing_at: float | None) -> None:
    column = view.curve.column
    ax.set_xlabel(shorten(column.name))
    places: list[float] = []
    labels: list[str] = []
    if column.kind == "category":
        codes = label_codes(column)
        places = [float(code) for code in codes]
        labels = [shorten(code_text(column, code), 22) for code in codes]
    elif missing_at is not None or column.kind == "whole":
        from matplotlib.ticker import MaxNLocator

        low, high = view.range
        least = low if missing_at is None else low + 0.05 * (high - low)
        ticks = MaxNLocator(n_ticks(high), integer=column.kind == "whole").tick_values(low, high)
        places = [float(place) for place in ticks if least <= place <= high]
        labels = [format_number(place) for place in places]
    if missing_at is not None:
        places, labels = [*places, missing_at], [*labels, "missing"]
    if places:
        ax.set_xticks(places, labels=labels)
    if column.kind == "category" and sum(map(len, labels)) + 2 * len(labels) > 50:
        for tick in ax.get_xticklabels():
            tick.set(rotation=35, ha="right", rotation_mode="anchor")
