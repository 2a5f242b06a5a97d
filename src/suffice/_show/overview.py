"""All explained rows at a glance: how often each variable is in the best set, for which outcomes and which values.

The report and the app draw the lines; the figure ``plots.overview`` draws the same rows as points.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice._show.axis import Drawing, bounds_text, code_text, draw
from suffice._show.picture import known_values
from suffice._table.condition import Condition
from suffice._text import counted, format_number, format_percent, join

if TYPE_CHECKING:
    from suffice._table.encoding import Column
    from suffice.explaining.explanations import Explanations

MOST = 0.8  # of the rows have the values that a line names
MAX_NAMED = 3  # categories
_THIRDS = ("low", "middle", "high")  # of the training values


@dataclass(frozen=True, eq=False)
class OverviewLine:
    """One variable in the best sets of one outcome: which rows they are of, and which values these rows have."""

    variable: str
    rows: tuple[int, ...]
    share: float
    drawing: Drawing


@dataclass(frozen=True, eq=False)
class OutcomeOverview:
    """The best sets of all rows with one outcome; the most frequent variable comes first."""

    label: str
    is_in: NDArray[np.bool_]
    n_sets: int
    lines: tuple[OverviewLine, ...]

    @property
    def note(self) -> str:
        """How many rows have the outcome, and how many of them a sufficient set."""
        n_rows = int(np.count_nonzero(self.is_in))
        return f"{counted(n_rows, 'row')}, {self.n_sets:,} with a sufficient set"


def best_set_matrix(explanations: Explanations) -> NDArray[np.bool_]:
    """Tell which variable (column) is in the best sufficient set of which row."""
    place = {name: v for v, name in enumerate(explanations.variable_names)}
    is_in = np.zeros((len(explanations), len(place)), dtype=bool)
    best_sets = explanations.best_sets
    for i in np.flatnonzero(explanations.has_set).tolist():
        is_in[i, [place[name] for name in best_sets[i].variables]] = True
    return is_in


def outcome_masks(explanations: Explanations) -> list[tuple[str, NDArray[np.bool_]]]:
    """Part rows by class, the focus class first and then the most frequent ones, or numbers at their median."""
    outcomes, focus = explanations.outcomes, explanations.fitted.focus
    if explanations.intervals is None:
        labels, counts = np.unique(outcomes, return_counts=True)
        order = sorted(zip(labels.tolist(), counts.tolist(), strict=True), key=lambda one: (one[0] != focus, -one[1]))
        return [(str(label), outcomes == label) for label, _ in order]
    middle = float(np.median(outcomes)) if len(outcomes) else 0.0
    is_high, target, text = outcomes > middle, explanations.fitted.target, format_number(middle)
    return [(f"{target} above {text}", is_high), (f"{target} up to {text}", ~is_high)]


def make_overview(explanations: Explanations) -> tuple[OutcomeOverview, ...]:
    """Compute how often each variable is in the sets of each outcome, and for which values."""
    is_in, names = best_set_matrix(explanations), explanations.variable_names
    parts = []
    for label, has_outcome in outcome_masks(explanations):
        n_sets = int(np.count_nonzero(has_outcome & explanations.has_set))
        counts = is_in[has_outcome].sum(axis=0)
        lines = []
        for v in np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)].tolist():
            rows = np.flatnonzero(has_outcome & is_in[:, v])
            share = len(rows) / n_sets
            lines.append(OverviewLine(names[v], tuple(rows.tolist()), share, _draw(explanations, v, rows, share)))
        parts.append(OutcomeOverview(label, has_outcome, n_sets, tuple(lines)))
    return tuple(parts)


def _draw(explanations: Explanations, v: int, rows: NDArray[np.intp], share: float) -> Drawing:
    """Compute how the values of some rows are drawn on those of the training rows."""
    fitted, name = explanations.fitted, explanations.variable_names[v]
    columns = list(fitted.variables.columns[v])
    own, often = explanations.answers.X[rows][:, columns], f"{format_percent(share)} % of the sets"
    if len(columns) > 1:
        is_one = own == 1
        column_names = [fitted.encoding.columns[c].name for c in columns]
        listed = _most_frequent(is_one.argmax(axis=1), column_names)[1] if (is_one.sum(axis=1) == 1).all() else ""
        return Drawing(name, "words", bounds=f"{often}{listed and ': '}{listed}")
    column = fitted.encoding.columns[columns[0]].drawn
    known, values = fitted.training[0][:, columns[0]], own[:, 0]
    n_missing = int(np.isnan(values).sum())
    values, text, condition = values[~np.isnan(values)], "", None
    if len(values):
        condition, text = (_of_categories if column.kind == "category" else _of_numbers)(column, values, known)
    missing = f"{format_percent(n_missing / len(rows))} % missing" if n_missing else ""
    drawing = draw(name, condition, column, known=known_values(fitted, column.name))
    return replace(
        drawing, bounds=": ".join(filter(None, (often, join(list(filter(None, (text, missing))))))), missing=""
    )


def _of_numbers(column: Column, values: NDArray[Any], known: NDArray[Any]) -> tuple[Condition | None, str]:
    """Name the thirds of the training values in which most values lie, and the part of the range that they take."""
    known = np.sort(known[~np.isnan(known)])
    places = (np.searchsorted(known, values, "left") + np.searchsorted(known, values, "right")) / (2 * len(known))
    # Where many training rows share the smallest or the largest value, its rank lies in the middle.
    places[values <= known[0]], places[values >= known[-1]] = 0.0, 1.0
    shares = np.bincount(np.minimum((3 * places).astype(int), 2), minlength=3) / len(values)
    order = np.argsort(-shares, kind="stable")
    chosen = sorted(order[: 1 + np.searchsorted(np.cumsum(shares[order]), MOST - 1e-9)].tolist())
    low, high = np.quantile(values, [(1 - MOST) / 2, (1 + MOST) / 2], method="nearest").tolist()
    condition = Condition(
        column.name,
        -math.inf if 0 in chosen else low,
        math.inf if 2 in chosen else high,
        low_closed=True,
        reads="whole" if column.kind == "whole" else "number",
    )
    named = f"{join([_THIRDS[third] for third in chosen])} values"
    if math.isinf(condition.low) and math.isinf(condition.high):
        return None, "all values" if len(chosen) == 3 else named
    return condition, f"{named} ({bounds_text(condition)})"


def _of_categories(column: Column, values: NDArray[Any], known: NDArray[Any]) -> tuple[Condition, str]:
    """Name the categories that most rows have."""
    texts = [code_text(column, code) for code in range(len(column.labels))]
    codes, text = _most_frequent(values.astype(np.intp), texts)
    return Condition(column.name, labels=tuple(column.labels[code][0] for code in codes)), text


def _most_frequent(codes: NDArray[np.intp], texts: Sequence[str]) -> tuple[list[int], str]:
    shares = np.bincount(codes, minlength=len(texts)) / len(codes)
    order = np.argsort(-shares, kind="stable")
    named = order[: min(1 + int(np.searchsorted(np.cumsum(shares[order]), MOST - 1e-9)), MAX_NAMED)].tolist()
    return named, ", ".join(f"{texts[code]} {format_percent(float(shares[code]))} %" for code in named)
