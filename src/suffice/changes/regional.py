"""What would change the outcome of all rows that a rule covers: IF rule THEN outcome UNLESS change."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice._table.condition import Condition
from suffice._table.frames import make_frame
from suffice._text import counted, format_outcome, format_percent, format_probability, join, to_plain
from suffice.changes.limits import HIGHEST, LOWEST, at_most, below, read_ranges
from suffice.changes.making import sides_of
from suffice.changes.model import MovedRows, cut_boxes
from suffice.changes.search import columns_of, evenly_spaced, find_changes, holds_at_rows
from suffice.changes.values import confirmation_text, name_target
from suffice.explaining.row_answers import RowAnswers
from suffice.explaining.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from suffice._forest.fitted import Fitted
    from suffice._forest.outcomes import Target
    from suffice._table.encoding import Column
    from suffice.changes.limits import Limits
    from suffice.changes.model import MovableRows
    from suffice.changes.search import ChangeOptions, FoundChange


def regions_of(state: Fitted, boxes: Sequence[Sequence[Condition]]) -> dict[str, NDArray[Any]]:
    """Return boxes as the core takes them: low < value <= high."""
    columns = state.encoding.columns
    shape = (len(boxes), len(columns))
    low, high = np.full(shape, LOWEST), np.full(shape, HIGHEST)
    has_values = np.ones(shape, dtype=np.uint8)
    has_missing: NDArray[np.bool_] = np.asarray(np.isnan(state.forest.X).any(axis=0))
    missing = np.repeat(has_missing[None, :].astype(np.uint8), len(boxes), axis=0)
    place = {(state.encoding.names[column.source], column.part): c for c, column in enumerate(columns)}
    for i, box in enumerate(boxes):
        for bounds in box:
            key = (bounds.column, bounds.part)
            if key not in place:
                raise ValueError(f"A rule has a condition on {bounds.column!r}, which the table does not have.")
            c = place[key]
            missing[i, c] = bounds.missing
            if not bounds.values:
                has_values[i, c] = 0
            elif columns[c].kind == "category":
                low[i, c], high[i, c] = _code_ends(columns[c], bounds)
            else:
                low[i, c], high[i, c] = _number_ends(bounds)
    return {"low": low, "high": high, "has_values": has_values * (low < high), "missing": missing}


def rows_in_region(X: NDArray[np.float32], regions: dict[str, NDArray[Any]], i: int) -> NDArray[np.intp]:
    """Find the rows of a matrix that lie in a region."""
    with np.errstate(invalid="ignore"):
        has_value = (regions["low"][i] < X) & (regions["high"][i] >= X) & (regions["has_values"][i] > 0)
    return np.flatnonzero(np.all(has_value | (np.isnan(X) & (regions["missing"][i] > 0)), axis=1))


def _number_ends(bounds: Condition) -> tuple[np.float32, np.float32]:
    low = LOWEST if math.isinf(bounds.low) else below(bounds.low) if bounds.low_closed else at_most(bounds.low)
    if math.isinf(bounds.high):
        return low, HIGHEST
    return low, at_most(bounds.high) if bounds.high_closed else below(bounds.high)


def _code_ends(column: Column, bounds: Condition) -> tuple[np.float32, np.float32]:
    """Return the smallest interval of codes that holds all categories of a condition."""
    if bounds.labels is None:
        return LOWEST, HIGHEST
    codes = [
        code
        for code, names in enumerate(column.labels)
        if any(name in bounds.labels for name in names) != bounds.excluded or (code == column.rare and bounds.excluded)
    ]
    if not codes:
        return np.float32(len(column.labels)), np.float32(len(column.labels) + 1)
    return np.float32(codes[0] - 0.5), np.float32(codes[-1] + 0.5)


# Rows of a rule, and values of its box, of which each is combined with each.
N_MOVED = 20
# Boxes about which a model is asked together.
N_TOGETHER = 50
# A box that the model refuses is cut: rows of the rule, and values of the box.
N_CUT = (10, 60)


@dataclass(frozen=True)
class RegionalChange:
    """IF a rule THEN an outcome, UNLESS some variables lie in a box.

    Parameters
    ----------
    conditions : tuple of Condition
        The rule.
    outcome : object
        Its outcome.
    wanted : str
        The wanted outcomes, as they are written.
    unless : tuple of Condition
        The box in which the wanted outcomes hold; empty if there is none.
    variables : tuple of str
        The variables of the box; the other variables stay as the rule has them.
    probability : float or None
        The probability of the wanted outcomes in the box; None if there is no box.
    plausibility : float or None
        The probability of the box, given what stays.
    bound : float or None
        No box over these variables has a larger plausibility.
    support : int
        The training rows in the box that are like those of the rule in what stays.
    n_wanted : int
        How many of them have a wanted outcome.
    reached : float or None
        The share of rows of the rule, moved to the values of training rows in the box, for which the forest predicts a
        wanted outcome; None if no training row is in the rule, or in the box.
    nearest : float or None
        If there is no box: the highest probability of the wanted outcomes that was found.
    nearest_variables : tuple of str
        The variables that it takes to be free.
    confirmed : bool or None
        Whether the model that is explained agrees: it gives a wanted outcome for at least a share `pi` of the rows of
        the rule that are moved into the box. None if no model was asked.
    confirmed_share : float or None
        That share.
    n_asked : int
        How many such rows it was asked about.
    model : str or None
        The class of the model that is explained; None if the data are.
    target : str
        What the outcomes are called.
    is_reached : bool
        Whether the outcome of the rule is a wanted one already; then nothing is searched.
    """

    conditions: tuple[Condition, ...]
    outcome: Any
    wanted: str
    unless: tuple[Condition, ...] = ()
    variables: tuple[str, ...] = ()
    probability: float | None = None
    plausibility: float | None = None
    bound: float | None = None
    support: int = 0
    n_wanted: int = 0
    reached: float | None = None
    nearest: float | None = None
    nearest_variables: tuple[str, ...] = ()
    confirmed: bool | None = None
    confirmed_share: float | None = None
    n_asked: int = 0
    model: str | None = None
    target: str = "y"
    is_reached: bool = False

    @property
    def optimal(self) -> bool:
        """Whether no box over these variables is more plausible."""
        return self.bound is not None and self.plausibility is not None and self.bound <= self.plausibility + 1e-9

    @property
    def rule_text(self) -> str:
        """The conditions of the rule."""
        return " AND ".join(map(str, self.conditions)) or "all rows"

    @property
    def unless_text(self) -> str:
        """The conditions of the box; nothing if there is none."""
        return " AND ".join(map(str, self.unless))

    def __str__(self) -> str:
        """Return the rule with what changes it, in one sentence."""
        start = f"IF {self.rule_text} THEN {self.outcome_text}"
        if not self.unless:
            return f"{start}  ({self.no_text})"
        probability = format_probability(self.probability or 0.0)
        rows = f"{counted(self.support, 'row')}, {format_percent(self.plausibility or 0.0)} % of similar rows"
        share = "" if self.reached is None else f"; reached by {format_percent(self.reached)} % of rows moved there"
        text = f"{start} UNLESS {self.unless_text}: then {self.goal}  (probability {probability}, {rows}{share})"
        return text if self.confirmed is None else f"{text}. {self.confirmation}"

    @property
    def outcome_text(self) -> str:
        """The outcome of the rule, as it is written."""
        return format_outcome(self.outcome)

    @property
    def goal(self) -> str:
        """The wanted outcomes as a clause: "decision is good", "price is at least 200"."""
        return f"{name_target(self.target)} is {self.wanted}"

    @property
    def no_text(self) -> str:
        """That nothing was found, and what comes closest."""
        if self.is_reached:
            return "the target is already reached"
        text = f"no change makes {name_target(self.target)} {self.wanted}"
        if self.nearest is None:
            return text
        free = f", letting {join(self.nearest_variables)} vary" if self.nearest_variables else ""
        return f"{text}; highest probability: {format_probability(self.nearest)}{free}"

    @property
    def confirmation(self) -> str:
        """Whether the model confirms it, as a sentence; nothing if no model was asked."""
        return confirmation_text(self.model, self.confirmed, self.confirmed_share, self.n_asked)

    def to_dict(self) -> dict[str, Any]:
        """Return the change as plain Python values, ready for JSON.

        Returns
        -------
        dict
            The fields, with conditions as text.
        """
        return {
            "rule": self.rule_text,
            "outcome": to_plain(self.outcome),
            "unless": self.unless_text or None,
            "target": self.wanted,
            "is_reached": self.is_reached,
            "variables": list(self.variables),
            "probability": self.probability,
            "plausibility": self.plausibility,
            "optimal": self.optimal,
            "support": self.support,
            "n_wanted": self.n_wanted,
            "reached": self.reached,
            "confirmed": self.confirmed,
            "confirmed_share": self.confirmed_share,
            "n_asked": self.n_asked,
            "nearest": self.nearest,
        }


class RegionalChanges(RowAnswers[RegionalChange]):
    """What would change the outcomes of rules, in their order. Made by ``SufficientExplainer.what_if_rules``.

    Parameters
    ----------
    answers : sequence of RegionalChange
        The best change of each rule.
    fitted : Fitted
        The fitted state of the explainer.
    library : str or None, default=None
        The kind of the frames that are made.
    """

    def __init__(self, answers: Sequence[RegionalChange], fitted: Fitted, library: str | None = None) -> None:
        super().__init__(answers, fitted, library)

    def to_frame(self) -> Any:
        """Return a table with one line for each rule: rule, outcome, unless, and what supports it.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table
            The frame.
        """
        lines = [change.to_dict() for change in self]
        names = lines[0] if lines else {}
        columns = {name: [line[name] for line in lines] for name in names}
        if columns:
            columns["variables"] = [", ".join(names) for names in columns["variables"]]
        return make_frame(columns, self.library)

    def to_dict(self) -> dict[str, Any]:
        """Return the changes as plain Python values, ready for JSON.

        Returns
        -------
        dict
            What the outcomes are called, the model that is explained, and the change of each rule.
        """
        return {
            "target_name": self.fitted.target,
            "model": self.fitted.model_name or self.fitted.absent_model,
            "rules": [change.to_dict() for change in self],
        }

    def __str__(self) -> str:
        """Return one sentence for each rule."""
        return "\n".join(map(str, self))

    def _repr_html_(self) -> str:
        from suffice._show.cards import regional_card

        return regional_card(self)


def read_rules(rules: Any, state: Fitted) -> list[tuple[tuple[Condition, ...], Any]]:
    """Read rules of any kind."""
    lines = getattr(rules, "rules_", rules)
    if isinstance(lines, Rule | Mapping):
        lines = [lines]
    read = []
    for line in lines:
        if line is None:
            continue
        if isinstance(line, Mapping):
            read.append(_read_query(state, line))
            continue
        rule = getattr(line, "rule", line)
        if not isinstance(rule, Rule):
            raise TypeError(f"`rules` must hold rules or dicts of columns, got {type(line).__name__}.")
        read.append((rule.conditions, getattr(line, "output", rule.outcome)))
    return read


def _read_query(state: Fitted, query: Mapping[str, Any]) -> tuple[tuple[Condition, ...], Any]:
    """Read a query over columns. Its outcome is the most frequent one of the rows there, or the mean of numbers."""
    low, high, labels = read_ranges(state, query, "rules")
    box = []
    for c in sorted({*low, *high, *labels}):
        column = state.encoding.columns[c]
        names = tuple(label for code in labels[c] for label in column.labels[code]) if c in labels else None
        ends = low.get(c, -math.inf), high.get(c, math.inf)
        name = state.encoding.names[column.source]
        box.append(Condition(name, *ends, low_closed=c in low, labels=names, part=column.part))
    rows = rows_in_region(state.forest.X, regions_of(state, [box]), 0)
    if not len(rows):
        raise ValueError(f"No training row fulfils {dict(query)!r}.")
    outcomes = state.training[1][rows]
    if state.classes is None:
        return tuple(box), float(np.mean(outcomes))
    values, counts = np.unique(outcomes, return_counts=True)
    return tuple(box), values[np.argmax(counts)]


@dataclass(frozen=True, eq=False)
class RegionalBox:
    """What was found for a rule."""

    found: FoundChange | None
    exists: bool
    reached: float | None = None
    is_reached: bool = False
    confirmed: tuple[float, int] | None = None


def search_regions(
    state: Fitted,
    regions: dict[str, NDArray[Any]],
    targets: Sequence[Target],
    levels: NDArray[np.float64],
    limits: Limits,
    options: ChangeOptions,
    movable: MovableRows | None = None,
) -> list[RegionalBox]:
    """Find the box of each region: the fewest variables whose change gives its rows the wanted outcome."""
    nothing = np.zeros((len(targets), len(state.encoding.columns)), dtype=np.float32)
    reach = limits.boxes(nothing)
    boxes: list[list[RegionalBox]] = [[] for _ in targets]
    misses: list[FoundChange | None] = [None] * len(targets)
    for size in range(1, min(options.max_size, len(limits.changeable)) + 1):
        left = [i for i, found in enumerate(boxes) if not _is_reached(found, levels[i])]
        answers = find_changes(
            state,
            {name: values[left] for name, values in regions.items()},
            {name: values[left] for name, values in reach.items()},
            [targets[i] for i in left],
            levels[left],
            limits,
            replace(options, min_size=size, max_size=size),
        )
        places = [(i, one) for i, found in zip(left, answers, strict=True) for one in found.changes]
        shares: list[tuple[float, int] | None] = [None] * len(places)
        if movable is not None:
            shares = shares_confirmed(state, regions, targets, places, movable)
        for (i, one), share in zip(places, shares, strict=True):
            own = rows_in_region(state.forest.X, regions, i)
            boxes[i].append(RegionalBox(one, True, _share_reached(state, own, one, targets[i]), confirmed=share))
        if movable is not None:
            for i, one in [(i, one) for i, one in places if not _is_reached(boxes[i], levels[i])]:
                for box in _cut_box(state, regions, i, one, targets[i], movable):
                    if box.found is not None and box.found.plausibility >= options.min_plausibility:
                        boxes[i].append(box)
        for i, found in zip(left, answers, strict=True):
            misses[i] = max(misses[i], found.miss, key=lambda miss: -1.0 if miss is None else miss.probability)
    return [
        max(found, key=lambda box: _goal(box, level)) if found else RegionalBox(miss, exists=False)
        for found, miss, level in zip(boxes, misses, levels, strict=True)
    ]


def _is_reached(boxes: Sequence[RegionalBox], level: float) -> bool:
    """Tell whether enough moved rows get the wanted outcome in one of some boxes."""
    return any(_goal(box, level)[0] >= level for box in boxes)


def _goal(box: RegionalBox, level: float) -> tuple[float, float]:
    """Order boxes by the share of moved rows that get the wanted outcome, up to the level; then by plausibility."""
    share = box.reached if box.confirmed is None else box.confirmed[0]
    return min(share or 0.0, level), box.found.plausibility if box.found else 0.0


def _share_reached(state: Fitted, own: NDArray[np.intp], box: FoundChange, target: Target) -> float | None:
    """Move rows of a rule to the values of rows in a box, each to each, and count the predictions that are wanted."""
    if not len(own) or not len(box.rows):
        return None
    columns = columns_of(state, box.variables)
    moved = np.repeat(_some(state.forest.X[own]), min(N_MOVED, len(box.rows)), axis=0)
    values = _some(state.forest.X[box.rows])[:, columns]
    moved[:, columns] = np.tile(values, (len(moved) // len(values), 1))
    return float(np.mean(target.holds(state.predict(moved))))


def _some(rows: NDArray[Any]) -> NDArray[Any]:
    """Return up to `N_MOVED` rows, evenly spaced."""
    return rows[evenly_spaced(len(rows), N_MOVED)]


def shares_confirmed(
    state: Fitted,
    regions: dict[str, NDArray[Any]],
    targets: Sequence[Target],
    boxes: Sequence[tuple[int, FoundChange]],
    movable: MovableRows,
) -> list[tuple[float, int] | None]:
    """Ask a model about rows of regions that are moved to the values of training rows in boxes, each to each."""
    shares: list[tuple[float, int] | None] = [None] * len(boxes)
    moved: dict[int, MovedRows] = {}
    for place, (i, box) in enumerate(boxes):
        free = columns_of(state, box.variables)
        own, values = _some(rows_in_region(movable.matrix, regions, i)), _some(box.rows)
        if len(own) and len(values) and movable.can_ask(free):
            moved[place] = MovedRows(np.repeat(own, len(values)), free, np.tile(values, len(own)))
    places = list(moved)
    for begin in range(0, len(places), N_TOGETHER):
        together = places[begin : begin + N_TOGETHER]
        for place, outputs in zip(together, movable.ask([moved[place] for place in together]), strict=True):
            agrees = targets[boxes[place][0]].holds(outputs)
            shares[place] = float(np.mean(agrees)), len(agrees)
    return shares


def _cut_box(
    state: Fitted, regions: dict[str, NDArray[Any]], i: int, box: FoundChange, target: Target, movable: MovableRows
) -> Iterator[RegionalBox]:
    """Cut a box to values at which the model gives the wanted outcome for most rows of the region."""
    own = rows_in_region(movable.matrix, regions, i)
    own = own[evenly_spaced(len(own), N_CUT[0])]
    for _, part, judged in cut_boxes(movable, [(own, box, target)], N_CUT[1]):
        reached = _share_reached(state, rows_in_region(state.forest.X, regions, i), part, target)
        yield RegionalBox(part, True, reached, confirmed=(float(judged.mean()), len(judged) * len(own)))


def make_regional(
    state: Fitted,
    rule: tuple[tuple[Condition, ...], Any],
    target: Target,
    level: float,
    box: RegionalBox,
    limits: Limits,
) -> RegionalChange:
    """Turn what was found for a rule into a value."""
    conditions, outcome = rule
    found = box.found
    change = RegionalChange(
        conditions, outcome, target.text, model=state.model_name, target=state.target, is_reached=box.is_reached
    )
    if found is None:
        return change
    names = tuple(state.variables.names[v] for v in found.variables)
    if not box.exists:
        return replace(change, nearest=found.probability, nearest_variables=names)
    nothing = np.full(len(state.encoding.columns), np.nan, dtype=np.float32)  # there is no row to begin at
    sides = sides_of(state, found, nothing, limits)
    if box.confirmed is not None:
        share, n_asked = box.confirmed
        change = replace(change, confirmed=share >= level, confirmed_share=share, n_asked=n_asked)
    return replace(
        change,
        unless=tuple(side.bounds for side in sides if side.bounds is not None and _asks(side.bounds)),
        variables=names,
        probability=found.mean,
        plausibility=found.plausibility,
        bound=found.bound,
        support=len(found.rows),
        n_wanted=int(np.count_nonzero(holds_at_rows(state, target, found.rows))),
        reached=box.reached,
    )


def _asks(bounds: Any) -> bool:
    """Return whether bounds ask more than that a value is known."""
    return not (bounds.labels is None and bounds.low == -float("inf") and bounds.high == float("inf") and bounds.values)
