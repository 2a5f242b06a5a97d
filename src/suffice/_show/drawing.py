"""What the plots share: colours, axes, titles, legends, and groups of rows that are drawn alike."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from suffice._show.axis import code_text
from suffice._show.picture import kept_text
from suffice._text import format_number, join, printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from suffice._table.encoding import Column
    from suffice.explaining.explanation import Explanation

Floats = NDArray[np.float64]

# Okabe and Ito's colours, which people with any colour vision tell apart; the yellow is too light for points on white.
BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION = "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00"
COLORS = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION)
MARKERS = "o^sDvP"  # so that classes differ in print without colours too
GREY = "#8C8C8C"
STYLES = ("-", "--", ":", "-.", (0, (6, 1, 1, 1, 1, 1)))  # of the boxes of several rules

MAX_NAME = 30
INCHES_A_LETTER = 0.083  # of a title, on average


# --- axes and words --------------------------------------------------------------------------------------------------


def make_axes(ax: Axes | None, width: float, height: float) -> Axes:
    """Take the user's axes, or make a new figure of this size in inches."""
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


def row_title(explanation: Explanation) -> str:
    """Write which row is drawn, its outcome, and who predicts or observed it."""
    target = "outcome" if explanation.target in ("y", "prediction") else shorten(explanation.target)
    named = f"{explanation.label}, {target}" if explanation.is_named else f"{target[0].upper()}{target[1:]}"
    return f"{named}: {outcome_text(explanation)} ({explanation.sentences.source_text})"


def write_message(ax: Axes, text: str) -> Axes:
    """Write a text in place of a drawing."""
    wrapped = "\n".join(textwrap.fill(line, 50) for line in text.split("\n"))
    ax.text(0.5, 0.5, escape(wrapped), transform=ax.transAxes, ha="center", va="center", linespacing=1.5)
    ax.set_xticks([])
    ax.set_yticks([])
    return keep_spines(ax)


def write_lead(ax: Axes, explanation: Explanation) -> Axes:
    """Write what an explanation says, in place of a drawing that it does not have."""
    return write_message(ax, f"{row_title(explanation)}\n{explanation.sentences.lead}")


def set_title(ax: Axes, text: str) -> None:
    """Write lines above the axes, broken to their width."""
    ax.set_title(_broken(ax, text), loc="left", fontsize=10)


def set_xlabel(ax: Axes, text: str) -> None:
    """Write a label below the axes, broken to their width."""
    ax.set_xlabel(_broken(ax, text))


def _broken(ax: Axes, text: str) -> str:
    """Break lines to the width of the axes."""
    figure: Any = ax.figure
    if figure.get_layout_engine() is not None:
        figure.draw_without_rendering()  # only then the axes have their width
    inches = ax.get_position().width * figure.get_figwidth()
    text = re.sub(r"(\[[^\s\]]+,) ", "\\1\u00a0", text)  # an interval stays on one line
    text = re.sub(r"(\d) %", "\\1\u00a0%", text)
    lines = [textwrap.fill(line, max(28, int(inches / INCHES_A_LETTER))) for line in text.split("\n")]
    return escape("\n".join(lines))


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
        set_sizes = getattr(handle, "set_sizes", None)  # points are small, or of different sizes
        if set_sizes is not None:
            set_sizes([45])


def mark_row(ax: Axes, x: float, y: float, label: str) -> None:
    """Mark the explained row by a ring, which leaves what is drawn at its place visible."""
    from matplotlib.patheffects import Stroke, withStroke

    ring = ax.plot([x], [y], "o", ms=10, mfc="none", mec="black", mew=2, zorder=6, ls="", label=label)[0]
    ring.set_path_effects([withStroke(linewidth=4.5, foreground="white"), Stroke(linewidth=2, foreground="black")])


def label_codes(column: Column) -> list[int]:
    """Choose the categories that get a label on an axis: all, or as many as do not run into each other."""
    is_short = all(len(str(column.decode(code))) <= 8 for code in range(len(column.labels)))
    step = math.ceil(len(column.labels) / (30 if is_short else 15))
    return list(range(0, len(column.labels), max(step, 1)))


def label_axis(
    ax: Axes, which: Literal["x", "y"], column: Column, range_: tuple[float, float], missing_at: float | None
) -> None:
    """Write the name of a column along an axis, and the labels of its categories, numbers and missing values."""
    axis, column = ax.xaxis if which == "x" else ax.yaxis, column.drawn
    axis.set_label_text(shorten(column.name))
    places: list[float] = []
    labels: list[str] = []
    if column.kind == "category":
        places = [float(code) for code in label_codes(column)]
        labels = [shorten(code_text(column, int(code)), 22) for code in places]
    elif missing_at is not None or column.kind == "whole":
        from matplotlib.ticker import MaxNLocator

        low, high = range_
        n_ticks = 8 if len(f"{abs(high):.0f}") <= 3 else 5
        ticks = MaxNLocator(n_ticks, integer=column.kind == "whole").tick_values(low, high)
        # A number next to "missing" would run into the word.
        least = low if missing_at is None else low + 0.05 * (high - low)
        places = [float(place) for place in ticks if least <= place <= high]
        labels = [format_number(place) for place in places]
    if missing_at is not None:
        places, labels = [*places, missing_at], [*labels, "missing"]
    if places:
        axis.set_ticks(places, labels=labels)
    if which == "x" and column.kind == "category" and sum(map(len, labels)) + 2 * len(labels) > 50:
        rotate_labels(ax, 35)


def place_of(column: Column, value: Any) -> float:
    """Return where a value lies on the axis of its column; NaN if it is missing or unknown."""
    if value is None:
        return math.nan
    if column.kind != "category":
        return float(value)
    labels = [column.decode(code) for code in range(len(column.labels))]
    return float(labels.index(value)) if value in labels else math.nan


def rotate_labels(ax: Axes, degrees: float) -> None:
    """Rotate the labels below the axes, so that they end at their ticks."""
    for tick in ax.get_xticklabels():
        tick.set(rotation=degrees, ha="right", rotation_mode="anchor")


def shorten(name: str, length: int = MAX_NAME) -> str:
    """Shorten a long name in its middle: names often differ at their ends."""
    name = " ".join(name.split())
    if len(name) > length:
        n_last = length // 3
        name = f"{name[: length - 1 - n_last]}…{name[-n_last:]}"
    return escape(name)


def escape(text: str) -> str:
    """Escape dollar signs, which begin formulas, and a leading underscore, which hides a label from the legend."""
    text = re.sub(r"(?<!\\)\$", r"\\$", printable(text))  # not those that are escaped already
    return f" {text}" if text.startswith("_") else text


def name_with_value(explanation: Explanation, name: str) -> str:
    """Name a variable with the row's value."""
    columns = dict(explanation.values)[name]
    if len(columns) != 1:
        return shorten(name)
    return f"{shorten(name)} = {shorten(explanation.sentences.value_text(columns[0][0], columns[0][1]), 18)}"


def outcome_text(explanation: Explanation) -> str:
    """Write the outcome, and the interval in which a number is kept."""
    if explanation.interval is None:
        return explanation.sentences.outcome_text
    return f"{explanation.sentences.outcome_text}, {kept_text(explanation.sentences.interval_text)}"


def level_text(explanation: Explanation) -> str:
    """Write the level that a sufficient set must reach."""
    return f"{'pi' if explanation.levels == 'same' else 'level'} = {explanation.sentences.level_text}"


def list_names(names: Sequence[str]) -> str:
    """Join short forms of names."""
    return join([shorten(name) for name in names])


# --- groups ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Group:
    """Training rows, or rules, that are drawn alike."""

    label: str
    color: str
    marker: str
    is_in: NDArray[np.bool_]


def outcome_groups(explanation: Explanation, outcomes: NDArray[Any]) -> list[Group]:
    """Group rows by class, or by whether their number lies in the explained interval."""
    if explanation.interval is None:
        return class_groups(outcomes, explanation.outcome)
    is_kept = explanation.keeps(outcomes)
    kept = f"{shorten(explanation.target)} in\n{explanation.sentences.interval_text}"
    return [Group(kept, BLUE, "o", is_kept), Group("outside", ORANGE, "^", ~is_kept)]


def class_groups(labels: NDArray[Any], always: Any = None) -> list[Group]:
    """Group rows by class; if there are too many classes, the rarest share grey, but never the class `always`."""
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
