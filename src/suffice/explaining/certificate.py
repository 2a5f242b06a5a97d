"""Certificates: what rows that were never used before say about the precision of a rule.

A rule is chosen because it does well on the training rows, so its precision there is too high. On rows that had no part
in choosing it, the number of rows that keep the outcome is binomial, and exact statements are possible. Which rows a
rule covers is not decided here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np

from suffice._forest.bounds import ADJUSTMENTS, Adjustment, adjust_where_possible, lower_bound, p_at_least, p_at_most
from suffice._text import counted, format_percent, printed
from suffice.errors import check_number, check_word

Verdict = Literal["holds", "does not hold", "undecided"]
# The columns of tables for fields of a certificate.
CHECKED = {"n_checked": "n_rows", "checked_share": "share", "checked_lower": "lower", "is_certified": "is_certified"}
_NAMES = {"benjamini-hochberg": "Benjamini-Hochberg", "holm": "Holm"}


@dataclass(frozen=True)
class Certificate:
    """How often a rule is right on rows that nobody has used before.

    Parameters
    ----------
    n_rows : int
        The number of such rows that the rule covers.
    n_kept : int
        How many of them keep the outcome: they have the class, or their number lies in the interval.
    level : float
        The precision that is to be certified.
    confidence : float
        The confidence of the bound and of the tests: 0.95 allows errors of 5 %.
    p_adjusted : float
        The p-value of "the precision is below the level", adjusted for the rules that were tested together.
    p_below_adjusted : float
        The p-value of "the precision is at least the level", adjusted in the same way.
    adjustment : {"benjamini-hochberg", "holm"} or None, default=None
        How they were adjusted.
    n_rules : int, default=1
        How many distinct rules were tested together: those that cover enough rows to be certified.
    is_set_aside : bool, default=False
        Whether the rows were set aside by `fit`, and not passed to `certify`.

    Examples
    --------
    >>> print(Certificate(412, 396, 0.9, 0.95, 0.00002, 1.0, is_set_aside=True))
    checked on 412 rows that were set aside: right in 96 %, at least 94 % (95 % confidence)
    """

    n_rows: int
    n_kept: int
    level: float
    confidence: float
    p_adjusted: float
    p_below_adjusted: float
    adjustment: Adjustment | None = None
    n_rules: int = 1
    is_set_aside: bool = False

    def __post_init__(self) -> None:
        """Refuse figures that cannot be."""
        if not 0 <= self.n_kept <= self.n_rows:
            raise ValueError(f"`n_kept` must be from 0 to `n_rows`, got {self.n_kept} of {self.n_rows}.")
        check_level(self.level)
        check_confidence(self.confidence)
        check_word("adjustment", self.adjustment, ADJUSTMENTS)

    @property
    def share(self) -> float | None:
        """The share of the rows covered that keep the outcome; None if there is no row."""
        return self.n_kept / self.n_rows if self.n_rows else None

    @property
    def lower(self) -> float:
        """The exact lower bound of the precision (Clopper-Pearson, one-sided), for this rule alone."""
        return float(lower_bound(self.n_kept, self.n_rows, self.confidence))

    @property
    def p_value(self) -> float:
        """The exact p-value of "the precision is below the level", for this rule alone."""
        return float(p_at_least(self.n_kept, self.n_rows, self.level))

    @property
    def is_certified(self) -> bool:
        """Whether the precision is at least the level, after the adjustment."""
        return self.p_adjusted <= 1 - self.confidence

    @property
    def is_refuted(self) -> bool:
        """Whether the precision is below the level, after the adjustment."""
        return self.p_below_adjusted <= 1 - self.confidence

    @property
    def verdict(self) -> Verdict:
        """What the rows say of the rule: it holds, it does not hold, or they are too few to decide."""
        return "holds" if self.is_certified else "does not hold" if self.is_refuted else "undecided"

    @property
    def sentence(self) -> str:
        """On how many rows the rule was checked, how often it was right, and how often at least."""
        share = self.share
        if share is None:
            rows = "rows that were set aside" if self.is_set_aside else "fresh rows"
            return f"not checked: it covers none of the {rows}"
        rows = f"{counted(self.n_rows, 'row')} that {'was' if self.n_rows == 1 else 'were'} set aside"
        if not self.is_set_aside:
            rows = counted(self.n_rows, "fresh row")
        least = math.floor(100 * self.lower + 1e-7)
        confidence = f"{100 * self.confidence:g} % confidence"
        return f"checked on {rows}: right in {format_percent(share)} %, at least {least} % ({confidence})"

    @property
    def decision(self) -> str:
        """Whether the rule is certified, and at which level, in a few words."""
        words = {"holds": "certified", "does not hold": "refuted", "undecided": "not certified"}[self.verdict]
        together = f" among {counted(self.n_rules, 'rule')}" if self.adjustment is not None else ""
        name = f" ({_NAMES[self.adjustment]})" if self.adjustment is not None else ""
        return f"{words} at {100 * self.level:.3g} %{together}{name}"

    @printed
    def __str__(self) -> str:
        """Return the sentence."""
        return self.sentence

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate as plain Python values, ready for JSON.

        Returns
        -------
        dict
            Its figures, those that follow from others included.
        """
        names = ("share", "lower", "p_value", "is_certified", "verdict")
        return {**vars(self), **{name: getattr(self, name) for name in names}}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Certificate:
        """Make a certificate from what `to_dict` gave.

        Parameters
        ----------
        values : mapping of str to object
            Its figures. Those that follow from others are computed anew.

        Returns
        -------
        Certificate
            The certificate.
        """
        if not isinstance(values, Mapping):
            raise TypeError(f"A certificate is a mapping of its fields, got {values!r}.")
        names = [field.name for field in fields(cls)]
        missing = [name for name in names if name not in values]
        if missing:
            raise ValueError(f"These are not the fields of a certificate: missing {missing}.")
        return cls(**{name: values[name] for name in names})


def make_certificates(
    n_rows: Sequence[int],
    n_kept: Sequence[int],
    *,
    level: float | Sequence[float],
    confidence: float,
    adjustment: Adjustment | None,
    is_set_aside: bool,
) -> list[Certificate]:
    """Test the precision of rules, all together.

    Rules that cover too few rows to be certified even if all of them keep the outcome do not count among those that are
    tested together, and likewise for refuting. That does not depend on the outcomes.
    """
    levels = np.broadcast_to(np.asarray(level, dtype=np.float64), len(n_rows))
    for each in {level} if isinstance(level, float | int) else set(levels.tolist()):
        check_level(each)
    check_confidence(confidence)
    check_word("adjust", adjustment, ADJUSTMENTS)
    alpha = 1 - confidence
    p_above, is_tested = adjust_where_possible(
        p_at_least(n_kept, n_rows, levels), p_at_least(n_rows, n_rows, levels), alpha, adjustment
    )
    none = [0] * len(n_rows)
    p_below, _ = adjust_where_possible(
        p_at_most(n_kept, n_rows, levels), p_at_most(none, n_rows, levels), alpha, adjustment
    )
    n_rules = 1 if adjustment is None else int(is_tested.sum())
    return [
        Certificate(rows, kept, own, confidence, above, below, adjustment, n_rules, is_set_aside)
        for rows, kept, own, above, below in zip(
            n_rows, n_kept, levels.tolist(), p_above.tolist(), p_below.tolist(), strict=True
        )
    ]


def check_level(level: float, name: str = "level") -> None:
    """Refuse a level that is no probability."""
    check_number(name, level, "in (0, 1]", lambda v: 0 < v <= 1)


def check_confidence(confidence: float) -> None:
    """Refuse a confidence that is no probability, or certain."""
    check_number("confidence", confidence, "in (0, 1)", lambda v: 0 < v < 1)
