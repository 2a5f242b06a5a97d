"""The figures of a list of rules: of each line on the training rows, and of the list on any rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice._text import format_number, format_percent, format_probability
from suffice.explaining.certificate import Certificate
from suffice.explaining.rule import FEW_ROWS, Promise, Rule
from suffice.rule_lists.choosing import Bools, Floats


@dataclass(frozen=True)
class GlobalRule:
    """A line of a list of rules: a box, what it predicts, and how well that holds on the training rows.

    Parameters
    ----------
    rule : Rule
        The box. If several local rules have the same conditions, the one with the largest SDP.
    output : object
        The prediction for the rows covered: their most frequent label (among equally frequent ones, the first of the
        classes), or their mean.
    support : int
        The number of training rows covered.
    coverage : float
        Their share of all training rows.
    precision : float
        The share of them that have the label; for a regression ``1 - mse / var(y)`` with the variance of all training
        outcomes.
    frequencies : dict of object to float or None, default=None
        Classification: for each class its share of the rows covered.
    mse : float or None, default=None
        Regression: the mean squared error of the output on the rows covered.
    mae : float or None, default=None
        Regression: the mean absolute error.
    certificate : Certificate or None, default=None
        How often the line is right on rows that nobody has used before, if that was checked: see `promise`.
    expected : float or None, default=None
        An estimate of the precision for new rows. That of the training rows is too high, above all for a box of few
        rows: it was chosen for them.

    Examples
    --------
    >>> from suffice.explaining.rule import Condition, Rule
    >>> box = Rule((Condition("hour", 5.5, 9.0),), "busy", None, 0.95, 8, 0.4, 1.0, None, True, 8.0, False)
    >>> print(GlobalRule(box, "busy", 8, 0.4, 0.75, {"busy": 0.75, "calm": 0.25}))
    IF 5.5 < hour <= 9 THEN busy  (support 8, few rows, coverage 40 %, precision 0.75)
    """

    rule: Rule
    output: Any
    support: int
    coverage: float
    precision: float
    frequencies: dict[Any, float] | None = field(default=None, hash=False)
    mse: float | None = None
    mae: float | None = None
    certificate: Certificate | None = None
    expected: float | None = None

    @property
    def promise(self) -> Promise:
        """What the line says of a row, and what a certificate checks: its label, or the interval of its local rule."""
        interval = self.rule.interval
        return Promise(self.rule.conditions, self.output if interval is None else None, interval)

    @property
    def std(self) -> float | None:
        """Standard deviation of the outcomes of the rows covered (regression), or None."""
        return None if self.mse is None else math.sqrt(self.mse)

    @property
    def has_few_rows(self) -> bool:
        """Whether fewer than 50 training rows stand behind the line: its figures are then rough."""
        return self.support < FEW_ROWS

    @property
    def text(self) -> str:
        """What the rule asks, such as "hour > 5.5 AND temp <= 7"; nothing if it covers everything."""
        return " AND ".join(str(condition) for condition in self.rule.conditions)

    @property
    def lift_texts(self) -> list[str]:
        """How many times as likely as on average a rare class is in new rows; empty for other outcomes."""
        share = self.precision if self.expected is None else self.expected
        return self.rule.lift_texts(share) if self.output == self.rule.outcome else []

    def __str__(self) -> str:
        """Return the line as a sentence with its figures."""
        output = str(self.output)
        expected = [] if self.expected is None else [f"{format_probability(self.expected)} expected"]
        quality = ", ".join([f"precision {format_probability(self.precision)}", *expected, *self.lift_texts])
        if self.mse is not None and self.mae is not None:
            output = f"{self.rule.target} = {format_number(self.output)}"
            quality = f"MSE {format_number(self.mse)}, MAE {format_number(self.mae)}"
        sentence = f"IF {self.text} THEN {output}" if self.text else f"ALWAYS {output}"
        checked = "" if self.certificate is None else f"; {self.checked_text}"
        few = ", few rows" if self.has_few_rows else ""
        figures = f"support {self.support}{few}, coverage {format_percent(self.coverage)} %, {quality}{checked}"
        return f"{sentence}  ({figures})"

    @property
    def checked_text(self) -> str:
        """The sentence of the certificate, with the interval that it is about; nothing without a certificate."""
        if self.certificate is None:
            return ""
        about = "" if self.rule.interval is None else f"{self.rule.conclusion}: "
        return f"{about}{self.certificate.sentence}"

    def to_dict(self) -> dict[str, Any]:
        """Return the line as plain Python values, ready for JSON.

        Returns
        -------
        dict
            The conditions as text, in SQL and one by one, the output and the figures.
        """
        figures: dict[str, Any] = {
            "output": self.output,
            "support": self.support,
            "coverage": self.coverage,
            "precision": self.precision,
            "expected": self.expected,
        }
        if self.frequencies is None:
            figures.update(mse=self.mse, mae=self.mae, interval=self.rule.to_dict()["interval"])
        else:
            figures["frequencies"] = {str(label): share for label, share in self.frequencies.items()}
        return {
            "if": self.text,
            "sql": self.to_sql(),
            **figures,
            "conditions": self.rule.to_dict()["conditions"],
            **({} if self.certificate is None else {"certificate": self.certificate.to_dict()}),
        }

    def to_sql(self) -> str:
        """Write the conditions of the line as the condition of an SQL query.

        Returns
        -------
        str
            What stands after WHERE; the certificate of the line follows as a comment.
        """
        return replace(self.rule, certificate=self.certificate).to_sql()


@dataclass(frozen=True, eq=False)
class Evaluation:
    """How good the rules of a list are on some rows. Precision is 1 minus the mean loss.

    Parameters
    ----------
    covers : ndarray of shape (n_rules, n_rows), bool
        Which rows each rule covers.
    outcomes : ndarray of shape (n_rows,)
        The outcomes of the rows.
    first : ndarray of shape (n_rows,)
        The rule that decides each row; -1 if none covers it.
    coverage, precision : ndarray of shape (n_rules,)
        The figures of each rule alone; NaN precision if it covers no row.
    coverage_of_first, precision_of_first : ndarray
        The figures of the first rule that covers a row, of that and the next one together, and so on.
    mae : float or None
        Regression: the mean absolute error on the rows covered, NaN if there are none; None for classes.
    """

    covers: Bools
    outcomes: NDArray[Any]
    first: NDArray[np.intp]
    coverage: Floats
    precision: Floats
    coverage_of_first: Floats
    precision_of_first: Floats
    mae: float | None

    @property
    def total_coverage(self) -> float:
        """The share of the rows that some rule covers."""
        return float(np.mean(self.first >= 0)) if len(self.first) else math.nan

    @property
    def total_precision(self) -> float:
        """The precision of the whole list on the rows that it covers; NaN if it covers none."""
        return float(self.precision_of_first[-1]) if len(self.precision_of_first) else math.nan
