"""What the plots share: colours, axes, labels, the columns of a table along an axis, and rules as boxes on them."""

from __future__ import annotations

import math
import re
import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from suffice._table.checks import check_number, check_word
from suffice._table.encoding import Column
from suffice._table.table import Table
from suffice.errors import did_you_mean
from suffice.explanation import Explanation
from suffice.explanations import Explanations
from suffice.rules import Condition, Rule
from suffice.words import counted, format_number, format_value, join

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
Spans = list[tuple[float, float]]

# Okabe and Ito's colours, which people with any colour vision tell apart; the yellow is too light for points on white.
BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION = "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00"
COLORS = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION)
MARKERS = "o^sDvP"  # so that classes differ in print without colours too
GREY = "#8C8C8C"
STYLES = ("-", "--", ":", "-.", (0, (6, 1, 1, 1, 1, 1)))  # of the boxes of several rules

MAX_NAME = 30
INCHES_A_LETTER = 0.083  # of a title, on average
MAX_POINTS = 5000
JITTER = 0.3
MAX_CHOICE = 10  # from so many columns two are chosen


# --- axes and words --------------------------------------------------------------------------------------------------


def make_axes(ax: Axes | None, width: float, height: float) -> Axes:
    """Take the user's axes, or make a new figure of so many inches."""
    try:
        from matplotlib.axes import Axes
    except ImportError:
        raise ImportError("Plots need matplotlib: pip install 'suffice[plot]'.") from None
    if ax is None:
        from matplotlib import pyplot

        return pyplot.subplots(figsize=(width, height), layout="constrained")[1]
    if not isinstance(ax, Axes):
        raise TypeError(f"`ax` must be a matplotlib Axes, got {type(ax).__name__}.")
    return ax


def keep_spines(ax: Axes, *spines: str) -> Axes:
    """Leave only some of the lines around the axes."""
    for name, spine in ax.spines.items():
        spine.set_visible(name in spines)
    return ax


def say(ax: Axes, text: str) -> Axes:
    wrapped = "\n".join(textwrap.fill(line, 50) for line in text.split("\n"))
    ax.text(0.5, 0.5, escape(wrapped), transform=ax.transAxes, ha="center", va="center", linespacing=1.5)
    ax.set_xticks([])
    ax.set_yticks([])
    return keep_spines(ax)


def say_nothing_sufficient(ax: Axes, explanation: Explanation | None) -> Axes:
    if explanation is None:
        return say(ax, "No row has a sufficient set.")
    if explanation.is_sufficient:
        return say(ax, "The row has no rules: explain(X, rules='minimal') finds them.")
    text = f"Outcome: {outcome_text(explanation)}\nNo set of candidates reaches pi = {explanation.pi:g}. Nearest comes "
    return say(ax, f"{text}{explanation.best_set}.")


def set_title(ax: Axes, text: str) -> None:
    """Write lines above the axes, broken to their width."""
    figure: Any = ax.figure
    inches = ax.get_position().width * figure.get_figwidth()
    text = re.sub(r"(\[[^\s\]]+,) ", "\\1\u00a0", text)  # an interval stays on one line
    lines = [textwrap.fill(line, max(28, int(inches / INCHES_A_LETTER))) for line in text.split("\n")]
    ax.set_title(escape("\n".join(lines)), loc="left", fontsize=10)


def set_legend(ax: Axes, title: str | None = None, first: Sequence[str] = ()) -> None:
    """Put the legend to the right of the axes; some labels stand first."""
    handles, labels = ax.get_legend_handles_labels()
    order = sorted(range(len(labels)), key=lambda i: first.index(labels[i]) if labels[i] in first else len(first))
    legend = ax.legend(
        [handles[i] for i in order],
        [labels[i] for i in order],
        loc="upper left",
        bbox_to_anchor=(1.01, 1.0),
        borderaxespad=0,
        frameon=False,
        title=None if title is None else shorten(title),
        alignment="left",
    )
    for handle in legend.legend_handles:
        set_sizes = getattr(handle, "set_sizes", None)  # points that are drawn small, or according to something
        if set_sizes is not None:
            set_sizes([45])


def shorten(name: str, length: int = MAX_NAME) -> str:
    """Shorten a long name in its middle: names often differ at their ends."""
    name = " ".join(name.split())
    if len(name) > length:
        n_last = length // 3
        name = f"{name[: length - 1 - n_last]}…{name[-n_last:]}"
    return escape(name)


def escape(text: str) -> str:
    """Keep matplotlib from reading formulas, and from leaving out of legends what begins with an underscore."""
    text = re.sub(r"(?<!\\)\$", r"\\$", text)  # what was escaped already stays as it is
    return f" {text}" if text.startswith("_") else text


def name_with_value(explanation: Explanation, name: str) -> str:
    """Name a variable with the row's value."""
    columns = dict(explanation.values)[name]
    if len(columns) != 1:
        return shorten(name)
    return f"{shorten(name)} = {shorten(format_value(columns[0][1]), 18)}"


def outcome_text(explanation: Explanation) -> str:
    if explanation.interval is None:
        return str(explanation.outcome)
    low, high = (format_number(end) for end in explanation.interval)
    return f"{format_number(explanation.outcome)}, kept within [{low}, {high}]"


def list_names(names: Sequence[str]) -> str:
    return join([shorten(name) for name in names])


# --- rules on axes ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Group:
    """Training rows, or rules, that are drawn alike."""

    label: str
    color: str
    marker: str
    is_in: NDArray[np.bool_]


@dataclass(frozen=True)
class Scale:
    """A column of the table along an axis: categories stand at 0, 1, ..., missing values at a place of their own."""

    column: Column
    values: Floats  # of the training rows, at their places; NaN where they are missing
    of_row: float
    ends: tuple[float, float]  # of the values that are not missing
    missing_at: float | None

    @classmethod
    def of_column(cls, name: str, explanation: Explanation, table: Table, is_drawn: NDArray[np.bool_]) -> Scale:
        column = next(column for column in explanation.columns if column.name == name)
        values = read(column, table)
        told = next(value for _, columns in explanation.values for known, value in columns if known == name)
        codes = [column.decode(code) for code in range(len(column.labels))]
        x = math.nan if told is None else float(codes.index(told) if codes else told)
        seen = np.append(values[is_drawn], x)
        has_missing = bool(np.isnan(seen).any())
        if codes:
            ends, beyond = (-0.5, len(codes) - 0.5), float(len(codes))
        else:
            known = seen[~np.isnan(seen)]
            low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
            margin = max(0.04 * (high - low), 0.6 if column.kind == "whole" else 0.0) or 0.5
            ends, beyond = (low - margin, high + margin), low - margin - 0.06 * (high - low + 2 * margin)
        missing_at = beyond if has_missing else None
        return cls(column, values, beyond if math.isnan(x) else x, ends, missing_at)

    @property
    def strip(self) -> tuple[float, float]:
        """Where missing values are drawn."""
        assert self.missing_at is not None
        half = 0.5 if self.column.labels else 0.05 * (self.ends[1] - self.ends[0])
        return self.missing_at - half, self.missing_at + half

    @property
    def limits(self) -> tuple[float, float]:
        if self.missing_at is None:
            return self.ends
        return min(self.ends[0], self.strip[0]), max(self.ends[1], self.strip[1])

    def places(self, rows: NDArray[Any], rng: np.random.Generator) -> Floats:
        """Say where training rows are drawn; those that would hide each other are shaken a little."""
        values: Floats = self.values[rows]
        amount = JITTER if self.column.kind != "number" else 0.0
        values = values + rng.uniform(-amount, amount, size=len(values))
        if self.missing_at is not None:
            low, high = self.strip
            missing = self.missing_at + JITTER * (high - low) * rng.uniform(-1, 1, size=len(values))
            values = np.where(np.isnan(values), missing, values)
        return values

    def spans(self, condition: Condition | None) -> Spans:
        """Say where a condition holds; an end beyond the limits is one that the condition does not have."""
        low, high = self.ends
        far = 10 * (self.limits[1] - self.limits[0])
        if condition is None:
            return [(low - far, high + far)]
        found: Spans = []
        if condition.values and self.column.labels:
            labels = condition.labels
            for code, names in enumerate(self.column.labels):
                if labels is None or (names[0] in labels) != condition.excluded:
                    start = found.pop()[0] if found and found[-1][1] == code - 0.5 else code - 0.5
                    found.append((start, code + 0.5))
        elif condition.values:
            below = low if self.missing_at is not None else low - far
            found.append((edge(self.column, condition, "low", below), edge(self.column, condition, "high", high + far)))
        if condition.missing and self.missing_at is not None:
            found.append(self.strip)
        return found

    def dress(self, ax: Axes, axis: Literal["x", "y"]) -> None:
        """Set the limits, the ticks and the label of an axis."""
        along = ax.xaxis if axis == "x" else ax.yaxis
        (ax.set_xlim if axis == "x" else ax.set_ylim)(*self.limits)
        along.set_label_text(shorten(self.column.name))
        places: list[float] = []
        labels: list[str] = []
        if self.column.labels:
            step = math.ceil(len(self.column.labels) / 30)
            places = [float(code) for code in range(0, len(self.column.labels), step)]
            labels = [shorten(str(self.column.decode(code)), 22) for code in places]
        elif self.missing_at is not None or self.column.kind == "whole":
            from matplotlib.ticker import MaxNLocator

            steps = MaxNLocator(8, integer=self.column.kind == "whole").tick_values(*self.ends)
            # A number next to "missing" would run into the word.
            least = self.ends[0] if self.missing_at is None else self.ends[0] + 0.05 * (self.ends[1] - self.ends[0])
            places = [float(place) for place in steps if least <= place <= self.ends[1]]
            labels = [format_number(place) for place in places]
        if self.missing_at is not None:
            places, labels = [*places, self.missing_at], [*labels, "missing"]
        if places:
            along.set_ticks(places, labels=labels)
        if axis == "x" and self.column.labels and sum(map(len, labels)) + 2 * len(labels) > 50:
            for tick in ax.get_xticklabels():
                tick.set(rotation=35, ha="right", rotation_mode="anchor")


def edge(column: Column, condition: Condition, side: Literal["low", "high"], default: float) -> float:
    """Find where a condition on numbers ends; between whole numbers, in the middle."""
    end, is_closed = getattr(condition, side), getattr(condition, f"{side}_closed")
    if math.isinf(end):
        return default
    if column.kind != "whole":
        return float(end)
    if side == "low":
        return float(math.ceil(end) if is_closed or end != math.floor(end) else end + 1) - 0.5
    return float(math.floor(end) if is_closed or end != math.floor(end) else end - 1) + 0.5


def read(column: Column, table: Table) -> Floats:
    if column.part is not None:
        return table.date_part(column.source, column.part)
    if column.kind != "category":
        return table.numbers(column.source)
    codes = table.labels(column.source)[1].astype(np.float64)
    return np.where(codes < 0, np.nan, codes)


def chosen_rules(explanation: Explanation, which: int | Literal["all"]) -> list[Rule]:
    rules = explanation.rules
    if isinstance(which, str):
        check_word("which", which, ("all",))
        return list(rules)
    check_number("which", which, "'all' or a whole number >= 0", lambda v: v >= 0, Integral)
    if not rules and not explanation.is_sufficient:
        return []
    if which >= len(rules):
        hint = "explain(X, rules='all') finds one for each sufficient set"
        raise ValueError(f"The row has {counted(len(rules), 'rule')}; there is no number {which}: {hint}.")
    return [rules[which]]


def check_columns(explanation: Explanation, variables: str | Sequence[str]) -> list[str]:
    """Refuse anything but the names of one or two columns."""
    names = [variables] if isinstance(variables, str) else list(variables)
    known = [column.name for column in explanation.columns]
    for name in names:
        if name not in known:
            raise ValueError(f"Unknown column {name!r}.{did_you_mean(name, known)}")
    if len(set(names)) != len(names) or len(names) not in (1, 2):
        raise ValueError(f"`variables` must be one or two columns, got {names}.")
    return names


def choose_columns(rules: Sequence[Rule], table: Table, is_kept: NDArray[np.bool_]) -> list[str]:
    """Choose the two columns that most rules ask about and, of such, the two that keep out most rows of other outcomes.

    Kept out by the two alone: rows that satisfy what is asked of all other columns.
    """
    conditions = [c for r in rules for c in r.conditions]
    n_asking = Counter(c.name for c in conditions)
    names = [name for name, _ in n_asking.most_common(MAX_CHOICE)]
    if len(names) <= 2:
        return names
    fails = [(c.name, ~c.covers_rows(table) & ~is_kept) for c in conditions]

    def merit(pair: tuple[str, str]) -> tuple[int, int]:
        is_left = ~is_kept
        for name, fails_here in fails:
            if name not in pair:
                is_left = is_left & ~fails_here
        return sum(n_asking[name] for name in pair), int(np.count_nonzero(is_left))

    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    best = max(pairs, key=merit)
    return list(best)


def keeps_outcome(explanation: Explanation, outcomes: NDArray[Any]) -> NDArray[np.bool_]:
    if explanation.interval is None:
        return np.asarray(outcomes == explanation.outcome)
    return np.asarray((explanation.interval[0] <= outcomes) & (outcomes <= explanation.interval[1]))


def outcome_groups(explanations: Explanations, explanation: Explanation, outcomes: NDArray[Any]) -> list[Group]:
    if explanation.interval is None:
        return class_groups(outcomes, explanation.outcome)
    low, high = explanation.interval
    is_kept = keeps_outcome(explanation, outcomes)
    target = shorten(str(explanations.about.get("target", "y")))
    kept = f"{target} in\n[{format_number(low)}, {format_number(high)}]"
    return [Group(kept, BLUE, "o", is_kept), Group("outside", ORANGE, "^", ~is_kept)]


def class_groups(labels: NDArray[Any], always: Any = None) -> list[Group]:
    """Give each class a colour and a marker; of too many the rarest share grey, but never the class `always`."""
    classes, code, counts = np.unique(labels, return_inverse=True, return_counts=True)
    frequent = np.arange(len(classes))
    if len(classes) > len(COLORS):
        frequent = np.sort(np.argsort(-counts - len(labels) * (classes == always), kind="stable")[: len(COLORS) - 1])
    groups = [
        Group(shorten(str(classes[c])), COLORS[i], MARKERS[i], code == c) for i, c in enumerate(frequent.tolist())
    ]
    if len(frequent) < len(classes):
        groups.append(Group("another", GREY, "X", ~np.isin(code, frequent)))
    return groups


def draw_points(ax: Axes, across: Scale, up: Scale, groups: Sequence[Group]) -> None:
    rng = np.random.default_rng(0)
    n_points = sum(np.count_nonzero(group.is_in) for group in groups)
    for group in sorted(groups, key=lambda group: -np.count_nonzero(group.is_in)):
        rows = np.flatnonzero(group.is_in)
        if n_points > MAX_POINTS:  # a rare class keeps its points
            n_kept = max(round(MAX_POINTS * len(rows) / n_points), min(len(rows), MAX_POINTS // 20))
            rows = np.sort(rng.choice(rows, n_kept, replace=False))
        size = 12 if n_points > 1000 else 22
        ax.scatter(
            *(across.places(rows, rng), up.places(rows, rng), size),
            color=group.color, marker=group.marker, alpha=0.6, lw=0, zorder=2, label=group.label,
        )  # fmt: skip


def draw_histogram(ax: Axes, scale: Scale, groups: Sequence[Group]) -> float:
    """Draw how many rows of each group have which values, one on top of the other; give the largest height."""
    low, high = scale.ends
    edges = np.linspace(low, high, 41)
    if scale.column.kind != "number" and high - low <= 60:
        edges = np.arange(math.ceil(low + 0.5) - 0.5, high + 0.5)
    centres = (edges[1:] + edges[:-1]) / 2
    bottom = np.zeros(len(centres) + (scale.missing_at is not None))
    for group in groups:
        values = scale.values[group.is_in]
        counts, _ = np.histogram(values[~np.isnan(values)], edges)
        places, widths = centres, np.diff(edges)
        if scale.missing_at is not None:
            counts, places = np.append(counts, np.count_nonzero(np.isnan(values))), np.append(places, scale.missing_at)
            widths = np.append(widths, scale.strip[1] - scale.strip[0])
        ax.bar(places, counts, 0.92 * widths, bottom=bottom, color=group.color, label=group.label, zorder=2)
        bottom = bottom + counts
    return float(bottom.max()) or 1.0


def draw_boxes(ax: Axes, scales: Sequence[Scale], box: Rule, style: Any, shade: float, label: str) -> None:
    """Draw where the rule holds: one box, or several where a condition leaves gaps."""
    from matplotlib.patches import Rectangle

    asked = {condition.name: condition for condition in box.conditions}
    across = scales[0].spans(asked.get(scales[0].column.name))
    up = scales[1].spans(asked.get(scales[1].column.name)) if len(scales) == 2 else [(-1.0, 2.0)]
    transform = ax.transData if len(scales) == 2 else ax.get_xaxis_transform()
    for left, right in across:
        for bottom, top in up:
            place = ((left, bottom), right - left, top - bottom)
            ax.add_patch(Rectangle(*place, fc="black", alpha=shade, lw=0, zorder=1, transform=transform))
            ax.add_patch(
                Rectangle(*place, fill=False, ec="black", lw=1.8, ls=style, zorder=4, transform=transform, label=label)
            )
            label = "_nolegend_"


def rule_title(rules: Sequence[Rule], n_rules: int, elsewhere: Sequence[Condition], n_drawn: int) -> str:
    text = str(rules[0])
    if len(rules) > 1:
        kept = text[text.index("THEN ") + 5 : text.rindex("  (")] if "THEN " in text else str(rules[0].outcome)
        text = f"{len(rules)} of {n_rules} rules for {kept}" if len(rules) < n_rules else f"{n_rules} rules for {kept}"
    if not elsewhere:
        return text
    asked = " AND ".join(str(condition) for condition in elsewhere)
    if len(asked) > 80:
        asked = f"that satisfy the conditions on {list_names(list(dict.fromkeys(c.name for c in elsewhere)))}"
    else:
        asked = f"with {asked}"
    return f"{text}\nDrawn: the {counted(n_drawn, 'training row')} {asked}"
