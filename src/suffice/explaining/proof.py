"""Proofs: what is known about all points within the bounds of a rule, for the model that decides.

How it is proven is the concern of the room ``proofs``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from suffice._text import (
    counted,
    format_exactly,
    format_number,
    format_outcome,
    format_percent,
    format_value,
    join,
    printed,
)
from suffice.errors import check_word

Verdict = Literal["proven", "refuted", "open"]

# Values and conditions that a sentence shows.
MOST_SHOWN = 8


@dataclass(frozen=True)
class Proof:
    """What holds for a model at every point within the bounds of a rule.

    A proof is about the model as it was read, and about the points of the domain: ``docs/method.md``, section 9.

    Parameters
    ----------
    verdict : {"proven", "refuted", "open"}
        Whether no point is decided otherwise, at least one is, or the budget ended before either was known.
    model : str
        The model.
    n_rows : int
        The number of rows of the table within the bounds.
    n_kept : int
        How many of them the model decides as the rule says.
    counterexample : dict of str to object or None, default=None
        A row that is decided otherwise, in the user's values; of those found, the one nearest to a row of the table.
        The columns that the rule asks about stand first, then those that differ from the nearest row.
    decided : object, default=None
        What the model decides at the counterexample.
    distance : float or None, default=None
        The distance of the counterexample to the nearest row: the sum over the columns of the difference, divided by
        the range of the column (1 for different labels).
    n_changed : int or None, default=None
        The number of columns in which it differs from the nearest row.
    unusual : float or None, default=None
        The share of rows whose nearest other row is at least as far away.
    least, largest : float or None, default=None
        Regression: the least and the largest number that the model predicts within the bounds; if `is_exact` is
        False, nothing beyond them is predicted.
    is_exact : bool, default=True
        Whether `least` and `largest` are reached.
    row : int or None, default=None
        The position of the counterexample in the table, if it is a row of it.

    Examples
    --------
    >>> proof = Proof("refuted", "two stumps", 40, 40, {"age": 31, "job": "nurse"}, "yes", 0.25, 1, 0.12)
    >>> print(proof.sentence)
    An exception exists: two stumps decides yes at age = 31 and job = nurse.
    """

    verdict: Verdict
    model: str
    n_rows: int
    n_kept: int
    counterexample: dict[str, Any] | None = None
    decided: Any = None
    distance: float | None = None
    n_changed: int | None = None
    unusual: float | None = None
    least: float | None = None
    largest: float | None = None
    is_exact: bool = True
    row: int | None = None

    def __post_init__(self) -> None:
        """Refuse a verdict that is none, and an exception that is not stated."""
        check_word("verdict", self.verdict, ("proven", "refuted", "open"))
        if (self.verdict == "refuted") != (self.counterexample is not None):
            raise ValueError("A proof has a counterexample if, and only if, it is refuted.")

    @property
    def summary(self) -> str:
        """What is known, in one sentence without any value of the table: it may stand in a comment of SQL."""
        words = {
            "proven": "proven for the model: no row within these bounds is decided otherwise",
            "refuted": "not proven for the model: an exception exists",
            "open": "open for the model: the budget ended before a proof or an exception was found",
        }
        return words[self.verdict]

    @property
    def sentence(self) -> str:
        """What is known, with the counterexample."""
        if self.counterexample is None:
            return f"{self.summary[0].upper()}{self.summary[1:]}."
        values = shortened([f"{name} = {exactly(value)}" for name, value in self.counterexample.items()], "value")
        verb = "predicts" if isinstance(self.decided, float) else "decides"
        return f"An exception exists: {self.model} {verb} {format_outcome(self.decided)} at {values}."

    @property
    def plausibility_text(self) -> str:
        """How near the counterexample is to rows of the table; nothing without one."""
        if self.distance is None:
            return ""
        if self.distance == 0:
            return f"It is {'a row' if self.row is None else f'row {self.row}'} of the table."
        changed = f"It differs from the nearest row of the table in {counted(self.n_changed or 0, 'column')}"
        share = "none" if not self.unusual else f"{format_percent(self.unusual)} %"
        far = f"{changed} (distance {format_number(self.distance)})"
        return f"{far}; {share} of the rows are as far from any other."

    @property
    def agreement_text(self) -> str:
        """How many rows of the table within the bounds agree."""
        if not self.n_rows:
            return "No row of the table is within these bounds."
        return f"The model agrees at {self.n_kept:,} of {counted(self.n_rows, 'row')} of the table within these bounds."

    @property
    def range_text(self) -> str:
        """Between which numbers the predictions lie; nothing for classes."""
        if self.least is None or self.largest is None:
            return ""
        word = "Its predictions range" if self.is_exact else "Its predictions lie"
        return f"{word} from {format_number(self.least)} to {format_number(self.largest)}."

    @property
    def text(self) -> str:
        """All sentences."""
        return " ".join(filter(None, [self.sentence, self.range_text, self.plausibility_text, self.agreement_text]))

    @printed
    def __str__(self) -> str:
        """Return all sentences."""
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """Return the proof as plain Python values, ready for JSON.

        Returns
        -------
        dict
            Its fields.
        """
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Proof:
        """Make a proof from what `to_dict` gave.

        Parameters
        ----------
        values : mapping of str to object
            Its fields.

        Returns
        -------
        Proof
            The proof.
        """
        names = {field.name for field in fields(cls)}
        if not isinstance(values, Mapping) or not {"verdict", "model", "n_rows", "n_kept"} <= set(values) <= names:
            raise ValueError(f"These are not the fields of a proof: {values!r}.")
        return cls(**values)


def shortened(texts: list[str], what: str, separator: str = ", ") -> str:
    """Write a list as part of a sentence; of a long one the beginning, and how many more there are."""
    more = [f"{counted(len(texts) - MOST_SHOWN, f'further {what}')}"] if len(texts) > MOST_SHOWN else []
    if separator == ", ":
        return join(texts[:MOST_SHOWN] + more)
    return " and ".join([separator.join(texts[:MOST_SHOWN]), *more])


def exactly(value: Any) -> str:
    """Write a value of a row with all its digits."""
    return format_exactly(value) if isinstance(value, float) else format_value(value)
