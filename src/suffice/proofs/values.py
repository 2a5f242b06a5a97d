"""Certain reasons and nearest other decisions as values: what they hold and how they read."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from suffice._table.condition import Condition
from suffice._table.frames import load_pandas
from suffice._text import counted, format_number, format_outcome, printed
from suffice.explaining.proof import exactly, shortened


@dataclass(frozen=True)
class NearestOther:
    """The nearest row that a model decides otherwise: with the fewest changed variables, and then the least distance.

    Parameters
    ----------
    changes : dict of str to tuple
        By column: the row's own value and the changed one.
    decided : object
        What the model decides there.
    n_changed : int
        The number of changed variables.
    distance : float
        The sum of the differences, divided by the ranges of the columns (1 for different labels).
    is_exact : bool
        Whether it is proven that nothing nearer is decided otherwise.
    least_changed : int
        It is proven that at least so many variables must change.
    """

    changes: dict[str, tuple[Any, Any]]
    decided: Any
    n_changed: int
    distance: float
    is_exact: bool
    least_changed: int

    @property
    def sentence(self) -> str:
        """What must change at least, in one sentence."""
        changed = shortened([f"{n} from {exactly(a)} to {exactly(b)}" for n, (a, b) in self.changes.items()], "value")
        kind = "prediction outside of these" if isinstance(self.decided, float) else "other decision"
        proven = "proven" if self.is_exact else "not proven"
        far = f"distance {format_number(self.distance)}, {proven} to be the nearest"
        return f"The nearest {kind}: {format_outcome(self.decided)} after changing {changed} ({far})."


@dataclass(frozen=True)
class CertainReason:
    """A set of variables that fixes the decision of a model at a row, whatever the others are.

    Parameters
    ----------
    row : int
        The position of the row.
    outcome : object
        What the model decides.
    variables : tuple of str or None
        The set; None if none was found without the excluded variables.
    conditions : tuple of Condition
        Bounds of these variables within which the decision is proven to stay the same.
    is_minimal : bool
        Whether it is proven that no part of the set is enough.
    is_smallest : bool
        Whether it is proven that no set of fewer variables is enough.
    least_size : int
        It is proven that no set of fewer variables is enough.
    nearest : NearestOther or None, default=None
        The nearest row that is decided otherwise, if it was searched and exists.
    model : str, default="the model"
        The model.
    interval : tuple of float or None, default=None
        Regression: the interval in which the prediction stays.
    is_open : bool, default=False
        Whether the time ended before it was known if there is a set without the excluded variables.
    """

    row: int
    outcome: Any
    variables: tuple[str, ...] | None
    conditions: tuple[Condition, ...]
    is_minimal: bool
    is_smallest: bool
    least_size: int
    nearest: NearestOther | None = None
    model: str = "the model"
    interval: tuple[float, float] | None = None
    is_open: bool = False

    @property
    def sentence(self) -> str:
        """What is certain, in one sentence."""
        decision = f"{self.model} decides {format_outcome(self.outcome)}"
        if self.interval is not None:
            decision = f"{self.model} predicts from {' to '.join(map(format_number, self.interval))}"
        if self.variables is None and self.is_open:
            return f"Open: {decision}; whether the others fix that was not known when the time ended."
        if self.variables is None:
            return f"No certain reason without the excluded variables: {decision}, but the others do not fix that."
        if not self.variables:
            return f"Proven: {decision} for every row of the domain."
        if self.is_smallest:
            proven = "no smaller set is enough"
        elif self.is_minimal:
            proven = "none can be left out"
            if self.least_size:
                proven += f"; every such set has at least {counted(self.least_size, 'variable')}"
        else:
            proven = "not proven to be minimal"
        where = shortened(list(map(str, self.conditions)), "condition", " AND ") or "any value"
        return f"Proven: {decision} whenever {where}, whatever the other variables are ({proven})."

    @printed
    def __str__(self) -> str:
        """Return the sentence, and that of the nearest other decision."""
        return self.sentence if self.nearest is None else f"{self.sentence} {self.nearest.sentence}"

    def to_dict(self) -> dict[str, Any]:
        """Return the reason as plain Python values, ready for JSON.

        Returns
        -------
        dict
            Its fields; conditions as text.
        """
        return {**asdict(self), "conditions": [str(condition) for condition in self.conditions]}


class CertainReasons(tuple[CertainReason, ...]):
    """The certain reasons of rows: a tuple with one for each row, in their order."""

    __slots__ = ()

    @printed
    def __str__(self) -> str:
        """Return a line for each row."""
        return "\n".join(f"Row {reason.row}: {reason}" for reason in self)

    __repr__ = __str__

    def to_frame(self) -> Any:
        """Return the reasons as a pandas frame.

        Returns
        -------
        pandas.DataFrame
            One line for each row.
        """
        return load_pandas().DataFrame([reason.to_dict() for reason in self])

    def to_json(self, **options: Any) -> str:
        """Return the reasons as JSON.

        Parameters
        ----------
        **options : dict
            Passed to `json.dumps`, such as ``indent=1``.

        Returns
        -------
        str
            A list with an object for each row.
        """
        return json.dumps([reason.to_dict() for reason in self], **options)
