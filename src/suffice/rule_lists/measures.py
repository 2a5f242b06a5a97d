"""Lines of a list of rules and their figures, on the training rows and on other rows.

`Labels` and `Numbers` hold the training outcomes, and everything in which lists for labels and for numbers differ.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from suffice._forest.bounds import discounted_shares
from suffice._table.input import as_finite, check_classes
from suffice._text import format_number, format_percent, format_share
from suffice.explaining.rule import FEW_ROWS, Promise, Rule

if TYPE_CHECKING:
    from suffice._table.table import Table
    from suffice.explaining.certificate import Certificate

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Counts = NDArray[np.int64]
Positions = NDArray[np.intp]

# The default line has no conditions, and comes from no row.
NO_CONDITIONS = Rule((), None, None, 0.0, 0, 0.0, None, None, False, math.inf, False)
# A squared error is discounted by this quantile of its variance, as shares are by that of a proportion.
DISCOUNT_QUANTILE = 0.1


@dataclass(frozen=True)
class GlobalRule:
    """A line of a list of rules: a rule, what it predicts, and how well it does on the training rows.

    Parameters
    ----------
    rule : Rule
        The local rule. If several have the same conditions, the one with the largest SDP.
    output : object
        The prediction for the rows covered: their most frequent label (among equally frequent ones, the first of the
        classes), or their mean.
    support : int
        The number of training rows covered.
    coverage : float
        Their share of all training rows.
    precision : float
        The share of them that have the label; for regression ``1 - mse / var(y)``, with the variance of all training
        outcomes.
    frequencies : dict of object to float or None, default=None
        Classification: for each class its share of the rows covered.
    mse : float or None, default=None
        Regression: the mean squared error of the output on the rows covered.
    mae : float or None, default=None
        Regression: the mean absolute error.
    certificate : Certificate or None, default=None
        How often the line is right on fresh rows, if that was checked: see `promise`.
    expected : float or None, default=None
        The precision expected on new rows. The precision on the training rows is too high, most of all for a rule that
        covers few of them, since the rule was chosen on these rows.

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
        """What a certificate checks: the conditions with the label, or with the interval of the local rule."""
        interval = self.rule.interval
        return Promise(self.rule.conditions, self.output if interval is None else None, interval)

    @property
    def std(self) -> float | None:
        """Regression: the standard deviation of the outcomes of the rows covered; otherwise None."""
        return None if self.mse is None else math.sqrt(self.mse)

    @property
    def has_few_rows(self) -> bool:
        """Whether the line covers fewer than 50 training rows, so that its figures are rough."""
        return self.support < FEW_ROWS

    @property
    def text(self) -> str:
        """The conditions, such as "hour > 5.5 AND temp <= 7"; empty if the rule covers every row."""
        return " AND ".join(str(condition) for condition in self.rule.conditions)

    @property
    def lift_texts(self) -> list[str]:
        """How many times as likely as on average a rare class is among new rows; empty for other outcomes."""
        share = self.precision if self.expected is None else self.expected
        return self.rule.lift_texts(share) if self.output == self.rule.outcome else []

    def __str__(self) -> str:
        """Return the line as a sentence with its figures."""
        sentence = f"IF {self.text} THEN {self._output_text}" if self.text else f"ALWAYS {self._output_text}"
        return f"{sentence}  ({self._figures_text})"

    @property
    def default_text(self) -> str:
        """The output and the figures of the default line."""
        figures = self._figures_text if self.support else "no training row is left for it: what all rows have"
        return f"{self._output_text}  ({figures})"

    @property
    def _output_text(self) -> str:
        return str(self.output) if self.mse is None else f"{self.rule.target} = {format_number(self.output)}"

    @property
    def _figures_text(self) -> str:
        expected = [] if self.expected is None else [f"{format_share(self.expected)} expected"]
        quality = ", ".join([f"precision {format_share(self.precision)}", *expected, *self.lift_texts])
        if self.mse is not None and self.mae is not None:
            quality = f"MSE {format_number(self.mse)}, MAE {format_number(self.mae)}"
        checked = "" if self.certificate is None else f"; {self.checked_text}"
        few = ", few rows" if self.has_few_rows else ""
        return f"support {self.support}{few}, coverage {format_percent(self.coverage)} %, {quality}{checked}"

    @property
    def checked_text(self) -> str:
        """The sentence of the certificate, with the interval that it is about; empty without a certificate."""
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
        rule = self.rule.to_dict()
        names = ("output", "support", "coverage", "precision", "expected")
        values = {"if": self.text, "sql": self.to_sql(), **{name: getattr(self, name) for name in names}}
        if self.frequencies is None:
            values |= {"mse": self.mse, "mae": self.mae, "interval": rule["interval"]}
        else:
            values["frequencies"] = {str(label): share for label, share in self.frequencies.items()}
        values["conditions"] = rule["conditions"]
        return values if self.certificate is None else {**values, "certificate": self.certificate.to_dict()}

    def to_sql(self) -> str:
        """Write the conditions of the line as the condition of an SQL query.

        Returns
        -------
        str
            The text after WHERE; the certificate of the line follows as a comment.
        """
        return replace(self.rule, certificate=self.certificate).to_sql()


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Coverage and precision of the rules of a list on some rows. Precision is 1 minus the mean loss.

    Parameters
    ----------
    covers : ndarray of shape (n_rules, n_rows), bool
        Which rows each rule covers.
    outcomes : ndarray of shape (n_rows,)
        The outcomes of the rows.
    first : ndarray of shape (n_rows,)
        The rule that decides each row; -1 if none covers it.
    coverage, precision : ndarray of shape (n_rules,)
        The figures of each rule alone; the precision is NaN if it covers no row.
    coverage_of_first, precision_of_first : ndarray
        The figures of the first rule that decides a row, of that one and the next together, and so on.
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


@dataclass(frozen=True)
class LabelGains:
    """What rules that predict a label gain when they are added to a list.

    For each row that it adds, a rule gains the estimated share of these rows that have its label, minus the share of
    all rows that have it: a rule that is right as often as a guess gains nothing. The rule chosen first decides a row.
    """

    codes: Counts
    labels: Counts
    expected: Floats

    @property
    def ranks(self) -> Floats:
        """The same for all rules: no rule takes a row from another."""
        return np.zeros(len(self.labels))

    def gains(self, takes: Bools, rules: slice, values: Floats) -> Floats:
        """Compute what rules gain on the rows that they would decide."""
        labels, n_rows = self.labels[rules], len(self.codes)
        n_new = np.count_nonzero(takes, axis=1)
        n_right = np.count_nonzero(takes & (self.codes == labels[:, None]), axis=1)
        right = np.minimum(discounted_shares(n_right, n_new), self.expected[rules])
        shares = np.bincount(self.codes, minlength=int(self.labels.max()) + 1) / n_rows
        return np.asarray(n_new * (right - shares[labels]) / n_rows)

    def values(self, rule: int, rows: Positions) -> Floats:
        """Return zeros: no other rule can take the rows that a rule decides."""
        return np.zeros(len(rows))


@dataclass(frozen=True)
class NumberGains:
    """What rules that predict a number gain when they are added to a list.

    The value of a row is the squared error of the mean of all rows, minus the squared error of the rule that decides
    it, discounted for the number of rows that the rule covers. The more precise rule decides a row, so a small rule may
    refine a large one; it gains the difference. Gains are shares of the variance of all rows.
    """

    y: Floats
    outputs: Floats
    support: Counts
    expected: Floats

    @property
    def ranks(self) -> Floats:
        """The expected precision: the more precise rule decides."""
        return self.expected

    def gains(self, takes: Bools, rules: slice, values: Floats) -> Floats:
        """Compute what rules gain on the rows that they would decide."""
        mean, variance = self.y.mean(), self.y.var()
        y, outputs = self.y - mean, self.outputs[rules] - mean
        n, first, second, before = (takes @ np.column_stack([np.ones(len(y)), y, y**2, values])).T
        factor, constant = discount_of_errors(self.support[rules])
        errors = second - 2 * outputs * first + outputs**2 * n
        after = second - factor * errors - constant * variance * n
        whole = variance * len(y)
        return np.asarray((after - before) / whole if whole > 0 else np.zeros(len(n)))

    def values(self, rule: int, rows: Positions) -> Floats:
        """Compute the values of rows that a rule decides."""
        factor, constant = discount_of_errors(self.support[rule : rule + 1])
        removed = (self.y[rows] - self.y.mean()) ** 2 - factor * (self.y[rows] - self.outputs[rule]) ** 2
        return np.asarray(removed - constant * self.y.var())


def discount_of_errors(support: Counts) -> tuple[Floats, Floats]:
    """Compute the factor and the constant that turn a training MSE into an estimate for new rows."""
    n = np.asarray(support, dtype=np.float64)
    # chdtri takes the upper tail: the lower quantile of the chi-square law gives a large variance.
    scale = (1 + 1 / n) / chdtri(n, 1 - DISCOUNT_QUANTILE)
    return n * scale, scale


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels of the training rows, and how rules that predict labels are measured."""

    outcomes: NDArray[Any]
    classes: NDArray[Any]

    name: ClassVar[str] = "classification"
    precision_range: ClassVar[tuple[str, float]] = ("in [0, 1]", 0.0)  # in words, and the lower end
    figures: ClassVar[tuple[str, ...]] = ("frequencies",)  # columns of a frame of rules
    note: ClassVar[str] = "Figures are those of the training rows; expected is the precision estimated for new rows."

    @classmethod
    def of_training(cls, y: NDArray[Any]) -> Labels:
        """Check the training outcomes."""
        check_classes(y, "take GlobalRulesRegressor for numbers")
        return cls(y, np.unique(y))

    def read(self, y: NDArray[Any]) -> NDArray[Any]:
        """Check the outcomes of other rows: any label is allowed."""
        return y

    def outputs(self, lines: Sequence[GlobalRule]) -> NDArray[Any]:
        """Return what each line predicts."""
        return np.array([line.output for line in lines], dtype=self.classes.dtype)

    def measure(self, rule: Rule, outcomes: NDArray[Any]) -> GlobalRule:
        """Measure a rule on the outcomes of the training rows that it covers."""
        counts = np.bincount(np.searchsorted(self.classes, outcomes), minlength=len(self.classes))
        support, n_right = len(outcomes), counts.max()
        labels = self.classes.tolist()
        output = labels[int(np.argmax(counts))]
        # The training share is too high, since the rule was chosen on these rows. The local rule has an estimate of its
        # own, which rows out of bag limit, but of the outcome of the local rule.
        expected = float(discounted_shares(n_right, np.array(support)))
        if rule.precision is not None and rule.outcome == output:
            expected = min(expected, rule.precision)
        return GlobalRule(
            rule=rule,
            output=output,
            support=support,
            coverage=support / len(self.outcomes),
            precision=float(n_right / support),
            frequencies=dict(zip(labels, (counts / support).tolist(), strict=True)),
            expected=expected,
        )

    def gains(self, lines: Sequence[GlobalRule]) -> LabelGains:
        """Compute what lines gain when they are added to a list."""
        return LabelGains(
            codes=np.searchsorted(self.classes, self.outcomes),
            labels=np.searchsorted(self.classes, self.outputs(lines)),
            expected=np.array([line.expected for line in lines], dtype=np.float64),
        )

    def losses(self, outputs: NDArray[Any], outcomes: NDArray[Any]) -> Floats:
        """Compute the loss of each output; precision is 1 minus the mean loss."""
        return np.asarray(outputs != outcomes, dtype=np.float64)

    def mean_error(self, outputs: NDArray[Any], outcomes: NDArray[Any]) -> None:
        """Return None: labels have no absolute error."""


@dataclass(frozen=True, eq=False)
class Numbers:
    """Numbers of the training rows, and how rules that predict numbers are measured."""

    outcomes: Floats
    variance: float

    name: ClassVar[str] = "regression"
    precision_range: ClassVar[tuple[str, float]] = ("a number <= 1", -math.inf)
    figures: ClassVar[tuple[str, ...]] = ("std", "mse", "mae")
    note: ClassVar[str] = "Figures are those of the training rows."

    @classmethod
    def of_training(cls, y: NDArray[Any]) -> Numbers:
        """Check the training outcomes."""
        y = as_finite(y)
        return cls(y, float(y.var()) if y.min() < y.max() else 1.0)  # every MSE of equal numbers is 0

    def read(self, y: NDArray[Any]) -> Floats:
        """Check the outcomes of other rows."""
        return as_finite(y)

    def outputs(self, lines: Sequence[GlobalRule]) -> Floats:
        """Return what each line predicts."""
        return np.array([line.output for line in lines], dtype=np.float64)

    def measure(self, rule: Rule, outcomes: Floats) -> GlobalRule:
        """Measure a rule on the outcomes of the training rows that it covers."""
        # The mean of equal numbers may be rounded, and their MSE not be 0.
        is_constant = outcomes.min() == outcomes.max()
        mean = float(outcomes[0] if is_constant else outcomes.mean())
        mse = float(np.mean((outcomes - mean) ** 2))
        factor, constant = (float(part[0]) for part in discount_of_errors(np.array([len(outcomes)])))
        return GlobalRule(
            rule=rule,
            output=mean,
            support=len(outcomes),
            coverage=len(outcomes) / len(self.outcomes),
            precision=1 - mse / self.variance,
            mse=mse,
            mae=float(np.mean(np.abs(outcomes - mean))),
            expected=1 - factor * mse / self.variance - constant,
        )

    def gains(self, lines: Sequence[GlobalRule]) -> NumberGains:
        """Compute what lines gain when they are added to a list."""
        return NumberGains(
            y=self.outcomes,
            outputs=self.outputs(lines),
            support=np.array([line.support for line in lines], dtype=np.int64),
            expected=np.array([line.expected for line in lines], dtype=np.float64),
        )

    def losses(self, outputs: NDArray[Any], outcomes: NDArray[Any]) -> Floats:
        """Compute the loss of each output; precision is 1 minus the mean loss."""
        return np.asarray((outputs - outcomes) ** 2 / self.variance)

    def mean_error(self, outputs: Floats, outcomes: Floats) -> float:
        """Compute the mean absolute error."""
        return float(np.abs(outputs - outcomes).mean()) if len(outcomes) else math.nan


@dataclass(frozen=True, eq=False)
class Lines:
    """The lines of a list in their order, and which training rows each of them covers."""

    task: Labels | Numbers
    rules: tuple[GlobalRule, ...]
    simpler: tuple[Rule, ...]  # the same rules without conditions that change nothing
    packed_covers: NDArray[np.uint8]  # (n_rules, n_bytes), a bit for each training row

    @property
    def covers(self) -> Bools:
        """Which rule (row) covers which training row (column)."""
        return np.unpackbits(self.packed_covers, axis=1, count=len(self.task.outcomes)).astype(np.bool_)

    @property
    def coverage(self) -> float:
        """The share of the training rows that some rule covers."""
        return np.count_nonzero(self.covers.any(axis=0)) / len(self.task.outcomes)

    @property
    def outputs(self) -> NDArray[Any]:
        """What each rule predicts."""
        return self.task.outputs(self.rules)

    @cached_property
    def default(self) -> GlobalRule:
        """The line for rows that no rule covers: what such training rows have, or all if there are none."""
        left = self.task.outcomes[~self.covers.any(axis=0)]
        target = self.rules[0].rule.target if self.rules else "y"
        rule = replace(NO_CONDITIONS, target=target)
        if len(left):
            return self.task.measure(rule, left)
        return replace(self.task.measure(rule, self.task.outcomes), support=0, coverage=0.0)

    def take(self, places: Iterable[int]) -> Lines:
        """Return some of the lines, in the order of the list."""
        kept = sorted(places)
        rules, simpler = (tuple(of_all[i] for i in kept) for of_all in (self.rules, self.simpler))
        return Lines(self.task, rules, simpler, self.packed_covers[kept])  # type: ignore[arg-type]

    def with_certificates(self, certificates: Mapping[Promise, Certificate]) -> Lines:
        """Return the lines with the certificates of their promises."""
        return replace(self, rules=tuple(replace(line, certificate=certificates[line.promise]) for line in self.rules))

    def covers_rows(self, table: Table) -> Bools:
        """Tell which rule (row) covers which row of another table (column)."""
        covers = np.array([line.rule.covers(table) for line in self.rules], dtype=bool)
        return covers.reshape(len(self.rules), table.n_rows)

    def keeps(self, outcomes: NDArray[Any]) -> Bools:
        """Tell whose promise (row) each outcome (column) keeps."""
        keeps = np.array([line.promise.keeps(outcomes) for line in self.rules], dtype=bool)
        return keeps.reshape(len(self.rules), len(outcomes))

    def evaluate(self, covers: Bools, outcomes: NDArray[Any]) -> Evaluation:
        """Measure the rules on rows, each alone and as a list."""
        outputs, n_rules = self.outputs, len(self.rules)
        first, _ = first_two(np.ascontiguousarray(covers.T))
        is_covered = first < n_rules
        decided_outputs, decided_outcomes = outputs[first[is_covered]], outcomes[is_covered]
        losses = np.zeros(len(outcomes))
        losses[is_covered] = self.task.losses(decided_outputs, decided_outcomes)
        precision = np.full(n_rules, np.nan)
        for i in np.flatnonzero(covers.any(axis=1)):
            precision[i] = 1 - self.task.losses(outputs[i], outcomes[covers[i]]).mean()
        coverage_of_first, precision_of_first = of_first_rules(first, losses, n_rules)
        return Evaluation(
            covers=covers,
            outcomes=outcomes,
            first=np.where(is_covered, first, -1),
            coverage=covers.mean(axis=1) if len(outcomes) else np.full(n_rules, np.nan),
            precision=precision,
            coverage_of_first=coverage_of_first,
            precision_of_first=precision_of_first,
            mae=self.task.mean_error(decided_outputs, decided_outcomes),
        )


def first_two(covers: Bools) -> tuple[Positions, Positions]:
    """Find the first and the second True of each row."""
    n_rows, n_columns = covers.shape
    padded = np.ones((n_rows, n_columns + 2), dtype=np.bool_)
    padded[:, :n_columns] = covers
    first = np.argmax(padded, axis=1)
    padded[np.arange(n_rows), first] = False
    return np.minimum(first, n_columns), np.minimum(np.argmax(padded, axis=1), n_columns)


def of_first_rules(first: Positions, losses: Floats, n_rules: int) -> tuple[Floats, Floats]:
    """Compute coverage and precision of the first rule, of the first two together, and so on."""
    n_decided = np.cumsum(np.bincount(first, minlength=n_rules + 1)[:n_rules])
    lost = np.cumsum(np.bincount(first, weights=losses, minlength=n_rules + 1)[:n_rules])
    some = n_decided > 0
    return n_decided[some] / len(first), 1 - lost[some] / n_decided[some]
