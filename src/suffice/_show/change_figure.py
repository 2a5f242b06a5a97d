"""A change with matplotlib: its box on the distribution of each variable, with the row and the least change."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice._show.drawing import BLUE, GREY, VERMILION, label_codes, make_axes, set_title, shorten
from suffice._table.checks import check_number
from suffice._table.encoding import Column
from suffice.changes import Change, RowChanges
from suffice.changes_of_rows import Changes
from suffice.conditions import Condition
from suffice.words import format_value

if TYPE_CHECKING:
    from matplotlib.axes import Axes

N_BINS = 30


def change(
    changes: Changes, row: int = 0, number: int = 0, *, column: str | None = None, ax: Axes | None = None
) -> Any:
    """Draw a change: the box on the distributions of the training rows, with the row and the least change.

    Parameters
    ----------
    changes : Changes
        The changes of some rows.
    row : int, default=0
        Which of the rows.
    number : int, default=0
        Which of its changes. If it has none, the nearest miss is drawn.
    column : str, default=None
        The column to draw; None draws all columns of the change, each on axes of its own.
    ax : Axes, default=None
        Where to draw, if there is one column; None makes a new figure.

    Returns
    -------
    matplotlib.axes.Axes or ndarray of Axes
        The axes; one for each column.
    """
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
