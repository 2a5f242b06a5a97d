"""One row with matplotlib: its rules as boxes over the training rows, and its probability along one variable.

Where a condition holds on the axis of its column is computed by ``axis``.
"""

from __future__ import annotations

import itertools
import math
import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from suffice._show import drawing
from suffice._show.axis import Span, Spans, spans
from suffice._show.drawing import BLUE, GREY, STYLES, VERMILION, Floats, Group
from suffice._table.condition import all_cover
from suffice._text import counted, format_probability
from suffice.errors import check_number, check_word, did_you_mean
from suffice.explaining.curve import Curve, compute_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from suffice._forest.fitted import Fitted
    from suffice._table.condition import Condition
    from suffice._table.encoding import Column
    from suffice._table.table import Table
    from suffice.explaining.explanation import Explanation, SufficientSet
    from suffice.explaining.explanations import Explanations
    from suffice.explaining.rule import Rule

MAX_POINTS = 5000
JITTER = 0.3
MAX_CHOICE = 10  # two columns are chosen among at most this many


@dataclass(frozen=True)
class Scale:
    """A column of the table along an axis: categories stand at 0, 1, ..., missing values at a place of their own."""

    column: Column
    values: Floats  # of the training rows, at their places; NaN where they are missing
    of_row: float
    ends: tuple[float, float]  # of the values that are not missing
    missing_at: float | None

    @classmethod
    def of_column(cls, column: Column, values: Floats, x: float, is_drawn: NDArray[np.bool_]) -> Scale:
        """Lay out a column for the training rows that are drawn and the explained row."""
        seen, column = np.append(values[is_drawn], x), column.drawn
        known = seen[~np.isnan(seen)]
        if column.labels:
            ends, beyond = (-0.5, len(column.labels) - 0.5), float(len(column.labels))
        else:
            low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
            margin = max(0.04 * (high - low), 0.6 if column.kind == "whole" else 0.0) or 0.5
            ends, beyond = (low - margin, high + margin), low - margin - 0.06 * (high - low + 2 * margin)
        missing_at = beyond if len(known) < len(seen) else None
        return cls(column, values, beyond if math.isnan(x) else x, ends, missing_at)

    @property
    def strip(self) -> tuple[float, float]:
        """Where missing values are drawn."""
        assert self.missing_at is not None
        half = 0.5 if self.column.labels else 0.05 * (self.ends[1] - self.ends[0])
        return self.missing_at - half, self.missing_at + half

    @property
    def limits(self) -> tuple[float, float]:
        """The ends of the axis."""
        if self.missing_at is None:
            return self.ends
        return min(self.ends[0], self.strip[0]), max(self.ends[1], self.strip[1])

    def places(self, rows: NDArray[Any], rng: np.random.Generator) -> Floats:
        """Return where training rows are drawn; values that many rows share are spread a little."""
        values: Floats = self.values[rows]
        amount = JITTER if self.column.kind != "number" else 0.0
        values = values + rng.uniform(-amount, amount, size=len(values))
        if self.missing_at is not None:
            low, high = self.strip
            missing = self.missing_at + JITTER * (high - low) * rng.uniform(-1, 1, size=len(values))
            values = np.where(np.isnan(values), missing, values)
        return values

    def spans(self, condition: Condition | None) -> list[Span]:
        """Return where a condition holds; an end that it does not have lies far beyond the limits."""
        far = 10 * (self.limits[1] - self.limits[0])
        low, high = self.ends[0] - far, self.ends[1] + far
        if condition is None:
            return [(low, high)]
        where = spans(self.column, condition)
        if self.missing_at is None:
            return where.within(low, high)
        # Missing numbers are drawn to the left of all others: a condition without a lower end stops short of them.
        drawn = where.within(low if self.column.labels else self.ends[0], high)
        return [*drawn, self.strip] if where.missing else drawn

    def set_axis(self, ax: Axes, axis: Literal["x", "y"]) -> None:
        """Set the limits, the ticks and the label of an axis."""
        (ax.set_xlim if axis == "x" else ax.set_ylim)(*self.limits)
        drawing.label_axis(ax, axis, self.column, self.ends, self.missing_at)


def chosen_rules(explanation: Explanation, which: int | Literal["all"]) -> list[Rule]:
    """Return one rule of a row, or all; none if the row has no rules."""
    rules = explanation.rules
    if isinstance(which, str):
        check_word("which", which, ("all",))
        return list(rules)
    check_number("which", which, "'all' or a whole number >= 0", lambda v: v >= 0, Integral)
    if not rules and (which == 0 or not explanation.is_sufficient):
        return []
    if which >= len(rules):
        hint = "explain(X, rules='all') finds one for each sufficient set"
        raise ValueError(f"The row has {counted(len(rules), 'rule')}; there is no number {which}: {hint}.")
    return [rules[which]]


def check_columns(explanation: Explanation, variables: str | Sequence[str]) -> list[str]:
    """Check that the user chose one or two columns, and return their names."""
    names = [variables] if isinstance(variables, str) else list(variables)
    known = [column.name for column in explanation.columns]
    for name in names:
        if name not in known:
            raise ValueError(f"Unknown column {name!r}.{did_you_mean(name, known)}")
    if len(set(names)) != len(names) or len(names) not in (1, 2):
        raise ValueError(f"`variables` must be one or two columns, got {names}.")
    return names


def choose_columns(rules: Sequence[Rule], table: Table, is_kept: NDArray[np.bool_]) -> list[str]:
    """Choose two columns to draw: those that most rules bound and, among these, those that separate the outcomes best.

    Two columns separate outcomes well if many rows with another outcome satisfy the conditions on all other columns.
    """
    conditions = [c for r in rules for c in r.conditions]
    n_rules_on = Counter(c.name for c in conditions)
    names = [name for name, _ in n_rules_on.most_common(MAX_CHOICE)]
    if len(names) <= 2:
        return names
    fails = [(c.name, ~c.covers_rows(table) & ~is_kept) for c in conditions]

    def merit(pair: tuple[str, str]) -> tuple[int, int]:
        is_left = ~is_kept
        for name, fails_here in fails:
            if name not in pair:
                is_left = is_left & ~fails_here
        return sum(n_rules_on[name] for name in pair), int(np.count_nonzero(is_left))

    best = max(itertools.combinations(names, 2), key=merit)
    return list(best)


def draw_rule(
    explanations: Explanations, row: int, variables: str | Sequence[str] | None, which: Any, ax: Axes | None
) -> Axes:
    """Draw rules of a row as boxes over the training rows that satisfy their conditions on all other columns."""
    explanation, (table, outcomes) = explanations[row], explanations.training
    chosen = chosen_rules(explanation, which)
    if not chosen and not explanation.is_sufficient:
        return drawing.write_lead(drawing.make_axes(ax, 6.5, 4.0), explanation)
    if not chosen:
        none = "The row has no rules. explain(X, rules='minimal') finds them if they cover enough rows."
        return drawing.write_message(drawing.make_axes(ax, 6.5, 4.0), none)
    if variables is None:
        names = choose_columns(chosen, table, explanation.keeps(outcomes))
    else:
        names = check_columns(explanation, variables)
    if not names:
        return drawing.write_message(drawing.make_axes(ax, 6.5, 4.0), f"{chosen[0]}\nThe rule has no bounds.")
    rules = chosen
    if len(chosen) > 1:
        rules = [r for r in chosen if any(c.name in names for c in r.conditions)][: len(STYLES)] or chosen[:1]
    elsewhere = list(dict.fromkeys(c for r in rules for c in r.conditions if c.name not in names))
    is_drawn = all_cover(elsewhere, table)
    groups = [replace(group, is_in=group.is_in & is_drawn) for group in drawing.outcome_groups(explanation, outcomes)]
    title = _rule_title(rules, len(chosen), elsewhere, int(np.count_nonzero(is_drawn)))
    ax = drawing.make_axes(ax, 7.8, (4.2 if len(names) == 2 else 3.2) + len(title) / 350)
    fitted, x = explanations.fitted, explanations.answers.X[row % len(explanations)]
    places = [[column.name for column in explanation.columns].index(name) for name in names]
    X = fitted.forest.X.astype(np.float64)
    scales = [Scale.of_column(explanation.columns[c], X[:, c], float(x[c]), is_drawn) for c in places]
    height = _draw_histogram(ax, scales[0], groups) if len(names) == 1 else _draw_points(ax, scales, groups)
    for style, r in zip(STYLES, rules, strict=False):
        name = textwrap.fill(f"rule on {drawing.list_names([c.name for c in r.conditions])}", 30)
        _draw_boxes(ax, scales, r, style, 0.1 / len(rules), "the rule" if len(rules) == 1 else name)
    label = drawing.shorten(explanation.label) if explanation.is_named else "the row"
    drawing.mark_row(ax, scales[0].of_row, height, label)
    scales[0].set_axis(ax, "x")
    if len(scales) == 2:
        scales[1].set_axis(ax, "y")
    has_title = explanation.interval is None and explanation.target != "y"
    drawing.set_legend(ax, explanation.target if has_title else None, [group.label for group in groups])
    drawing.set_title(ax, title)
    return drawing.keep_spines(ax, "left", "bottom")


def _rule_title(rules: Sequence[Rule], n_rules: int, elsewhere: Sequence[Condition], n_drawn: int) -> str:
    """Write the rule, or how many there are, and which training rows are drawn."""
    text = str(rules[0])
    if len(rules) > 1:
        number = f"{len(rules)} of {n_rules}" if len(rules) < n_rules else f"{n_rules}"
        text = f"{number} rules for {rules[0].conclusion}"
    if not elsewhere:
        return text
    bounds = f"with {' AND '.join(map(str, elsewhere))}"
    if len(bounds) > 85:
        bounds = f"that satisfy the conditions on {drawing.list_names(list(dict.fromkeys(c.name for c in elsewhere)))}"
    return f"{text}\nDrawn: the {counted(n_drawn, 'training row')} {bounds}"


def _draw_points(ax: Axes, scales: Sequence[Scale], groups: Sequence[Group]) -> float:
    """Draw training rows as points, the largest group first; return the height of the explained row."""
    rng = np.random.default_rng(0)
    n_points = sum(np.count_nonzero(group.is_in) for group in groups)
    for group in sorted(groups, key=lambda group: -np.count_nonzero(group.is_in)):
        rows = np.flatnonzero(group.is_in)
        if n_points > MAX_POINTS:  # a rare class keeps its points
            n_kept = max(round(MAX_POINTS * len(rows) / n_points), min(len(rows), MAX_POINTS // 20))
            rows = np.sort(rng.choice(rows, n_kept, replace=False))
        size = 12 if n_points > 1000 else 22
        ax.scatter(
            scales[0].places(rows, rng), scales[1].places(rows, rng), size,
            color=group.color, marker=group.marker, alpha=0.6, lw=0, zorder=2, label=group.label,
        )  # fmt: skip
    return scales[1].of_row


def _draw_histogram(ax: Axes, scale: Scale, groups: Sequence[Group]) -> float:
    """Draw the numbers of rows by value, one group on top of the other; return the height of the explained row."""
    low, high = scale.ends
    edges = np.linspace(low, high, 41)
    if scale.column.kind != "number" and high - low <= 60:
        edges = np.arange(math.ceil(low + 0.5) - 0.5, high + 0.5)
    places, widths = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    if scale.missing_at is not None:
        places, widths = np.append(places, scale.missing_at), np.append(widths, scale.strip[1] - scale.strip[0])
    bottom = np.zeros(len(places))
    for group in groups:
        values = scale.values[group.is_in]
        counts, _ = np.histogram(values[~np.isnan(values)], edges)
        if scale.missing_at is not None:
            counts = np.append(counts, np.count_nonzero(np.isnan(values)))
        ax.bar(places, counts, 0.92 * widths, bottom=bottom, color=group.color, label=group.label, zorder=2)
        bottom = bottom + counts
    top = float(bottom.max()) or 1.0
    ax.set_ylim(0, 1.17 * top)
    ax.set_ylabel("training rows")
    return 1.08 * top


def _draw_boxes(ax: Axes, scales: Sequence[Scale], rule: Rule, style: Any, shade: float, label: str) -> None:
    """Draw where the rule holds: one box, or several where a condition leaves gaps."""
    from matplotlib.patches import Rectangle

    condition_on = {condition.name: condition for condition in rule.conditions}
    across, *up = (scale.spans(condition_on.get(scale.column.name)) for scale in scales)
    transform = ax.transData if up else ax.get_xaxis_transform()
    for (left, right), (bottom, top) in itertools.product(across, up[0] if up else [(-1.0, 2.0)]):
        place = ((left, bottom), right - left, top - bottom)
        ax.add_patch(Rectangle(*place, fc="black", alpha=shade, lw=0, zorder=1, transform=transform))
        look: dict[str, Any] = {"fill": False, "ec": "black", "lw": 1.8, "ls": style, "zorder": 4, "label": label}
        ax.add_patch(Rectangle(*place, transform=transform, **look))
        label = "_nolegend_"


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
    def is_category(self) -> bool:
        """Whether there is a bar for each category, not a step for each number."""
        return self.curve.drawn_column.kind == "category"

    @property
    def ends(self) -> list[float]:
        """The ends of the steps."""
        ends = self.curve.ends.tolist()
        return ends if ends[0] < ends[-1] else [ends[0] - 0.5, ends[0] + 0.5]

    @property
    def missing_at(self) -> float | None:
        """Where a missing value is drawn, if the curve has a probability for it."""
        if self.curve.at_missing is None:
            return None
        low, *_, high = self.ends
        return high + 0.5 if self.is_category else low - 0.08 * (high - low)

    @property
    def own_at(self) -> float:
        """Where the row's own value is drawn."""
        own, missing_at = self.curve.own, self.missing_at
        return missing_at if math.isnan(own) and missing_at is not None else own


def view_curve(explanations: Explanations, row: int, explanation: Explanation, column: int) -> CurveView:
    """Compute a curve of a row with what is drawn beside it."""
    fitted, answers = explanations.fitted, explanations.answers
    i, names, rule = row % len(explanations), fitted.variables.names, explanation.rule
    moved = next(v for v, columns in enumerate(fitted.variables.columns) if column in columns)
    S = tuple(sorted({moved, *map(names.index, explanation.best_set.variables)}))
    known = fitted.encoding.columns[column]
    on_column = [] if rule is None else [condition for condition in rule.conditions if condition.name == known.name]
    bounds = spans(known, on_column[0]) if on_column else None
    computed = compute_curve(fitted, answers.X[i], answers.outcomes.take(np.array([i])), S, column)
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
    fitted, explanation = explanations.fitted, explanations[row]
    column = first_column(fitted, explanation.best_set) if variable is None else find_column(fitted, variable)
    view = view_curve(explanations, row, explanation, column)
    ax = drawing.make_axes(ax, 7.8, 4.0)
    _draw_view(ax, view)
    thinned = "" if view.curve.is_exact else " (not every step is drawn)"
    moved = f"Only {drawing.shorten(view.curve.column.name)} moves; the others keep the row's values{thinned}"
    drawing.set_title(ax, f"{drawing.row_title(explanation)}\n{moved}")
    return drawing.keep_spines(ax, "left", "bottom")


def _draw_view(ax: Axes, view: CurveView) -> None:
    """Draw a curve, the row's value, the level and the bounds of the rule."""
    curve, (low, *_, high), missing_at = view.curve, view.ends, view.missing_at
    half, margin = (0.3, 0.0) if view.is_category else (0.03 * (high - low), 0.02 * (high - low))
    if view.bounds is not None:
        drawn = view.bounds.within(low, high)
        if missing_at is not None and view.bounds.missing:
            drawn.append((missing_at - half, missing_at + half))
        for i, span in enumerate(drawn):
            label = "_nolegend_" if i else "bounds of the rule"
            ax.axvspan(*span, color="black", alpha=0.1, lw=0, label=label, zorder=0)
    ax.axhline(view.explanation.pi, color=VERMILION, ls="--", lw=1.2, label=view.level_text, zorder=1)
    _draw_probabilities(ax, view, textwrap.fill(f"given {drawing.list_names(view.known)}", 30))
    left, right = low - margin, high + margin
    if missing_at is not None:
        for value, color, width in zip(curve.at_missing or (), (BLUE, GREY), (2.4, 1.2), strict=True):
            ax.plot([missing_at - half, missing_at + half], [value] * 2, color=color, lw=width, zorder=3)
        left, right = (low, missing_at + 0.5) if view.is_category else (missing_at - 2 * half - margin, right)
    label = f"the row: {drawing.shorten(view.own_text, 18)}, {format_probability(curve.at_own[0])}"
    drawing.mark_row(ax, view.own_at, curve.at_own[0], label)
    ax.set_xlim(left, right)
    drawing.label_axis(ax, "x", curve.drawn_column, (low, high), missing_at)
    ax.set_ylim(0, 1.03)
    ax.set_ylabel("probability that the outcome is kept")
    drawing.set_legend(ax)


def _draw_probabilities(ax: Axes, view: CurveView, known: str) -> None:
    """Draw the probabilities given the known variables and given all: steps between thresholds, or bars."""
    of_set, of_all, unknown = view.curve.of_set, view.curve.of_all, "given all variables"
    if view.is_category:
        codes = np.arange(len(of_set))
        ax.bar(codes, of_set, 0.6, color=BLUE, label=known, zorder=2)
        ax.hlines(of_all, codes - 0.42, codes + 0.42, color=GREY, lw=2, label=unknown, zorder=3)
        return
    ax.stairs(of_all, view.ends, baseline=None, color=GREY, lw=1.2, label=unknown, zorder=2)
    ax.stairs(of_set, view.ends, baseline=None, color=BLUE, lw=2.4, label=known, zorder=3)
