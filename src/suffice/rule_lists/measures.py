"""Lines of a list of rules and their figures, on the training rows and on other rows.

`Labels` and `Numbers` hold the training outcomes, and everything in which lists for labels and for numbers differ.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from suffice._forest.bounds import discounted_share
from suffice._table.input import as_finite, check_classes
from suffice._table.table import Table
from suffice._text import format_number, format_percent, format_share, printed
from suffice.explaining.certificate import Certificate
from suffice.explaining.rule import FEW_ROWS, Promise, Rule
from suffice.rule_lists.candidates import Ends

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
        classes), or their mean. In a sum of rules, the label that the rule makes more likely.
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
    adds : float, dict of object to float, or None, default=None
        In a sum of rules: what the rule adds to the prediction, or to the probability of each class; None in a list in
        which the first rule decides.

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
    adds: float | dict[Any, float] | None = field(default=None, hash=False)

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
        return self.rule.promise.premise

    @property
    def lift_texts(self) -> list[str]:
        """How many times as likely as on average a rare class is among new rows; empty for other outcomes."""
        share = self.precision if self.expected is None else self.expected
        return self.rule.lift_texts(share) if self.output == self.rule.outcome else []

    @printed
    def __str__(self) -> str:
        """Return the line as a sentence with its figures."""
        sentence = f"IF {self.text} THEN {self.output_text}" if self.text else f"ALWAYS {self.output_text}"
        return f"{sentence}  ({self._figures_text})"

    @property
    def default_text(self) -> str:
        """The output and the figures of the default line."""
        figures = self._figures_text if self.support else "no training row is left for it"
        return f"{self.output_text}  ({figures})"

    @property
    def addition(self) -> float | None:
        """In a sum of rules: what the line adds to the number, or to the probability of its label."""
        return self.adds[self.output] if isinstance(self.adds, dict) else self.adds

    @property
    def output_text(self) -> str:
        """What the line predicts, or adds to a sum."""
        if self.addition is not None and self.mse is None:
            return f"{self.output} {self.addition:+.3g}"
        if self.addition is not None:
            return f"{self.rule.target} {'+' if self.addition >= 0 else '-'}{format_number(abs(self.addition))}"
        return str(self.output) if self.mse is None else f"{self.rule.target} = {format_number(self.output)}"

    @property
    def _figures_text(self) -> str:
        expected = [] if self.expected is None else [f"{format_share(self.expected)} expected"]
        lift = self.lift_texts
        if self.adds is not None and self.rule.base_rate is not None and not lift:
            lift = [f"{format_share(self.rule.base_rate)} among all rows"]
        quality = ", ".join([f"precision {format_share(self.precision)}", *expected, *lift])
        if self.mse is not None and self.mae is not None:
            mean = [] if self.adds is None else [f"mean {format_number(self.output)}"]
            quality = ", ".join([*mean, f"MSE {format_number(self.mse)}", f"MAE {format_number(self.mae)}"])
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
        if self.adds is not None:
            is_class = isinstance(self.adds, dict)
            values["adds"] = {str(label): n for label, n in self.adds.items()} if is_class else self.adds  # type: ignore[union-attr]
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

    def outputs(self, lines: Sequence[GlobalRule]) -> NDArray[Any]:
        """Return what each line predicts."""
        return np.array([line.output for line in lines], dtype=self.classes.dtype)

    @cached_property
    def targets(self) -> Floats:
        """A column of 0 and 1 for each class."""
        return np.asarray(self.outcomes[:, None] == self.classes, dtype=np.float64)

    def aims(self, sums: Floats) -> Floats:
        """Mark the class that each rule makes most frequent, compared with all rows."""
        return np.asarray(np.eye(sums.shape[1])[sums.argmax(axis=1)])

    def precisions(self, aims: Floats, means: Floats, squares: Floats) -> Floats:
        """Compute the shares of these classes, by the means of the targets minus those of all rows."""
        return np.asarray((aims * (means + self.targets.mean(axis=0))).sum(axis=1))

    def round_additions(self, adds: Floats) -> Floats:
        """Round what is added to probabilities."""
        return np.round(adds, 3) + 0.0

    def measure_addition(self, rule: Rule, outcomes: NDArray[Any], aim: Floats, adds: Floats) -> GlobalRule:
        """Measure a rule of a sum on the outcomes of the training rows that it covers."""
        label = self.classes.tolist()[int(np.argmax(aim))]
        rule = replace(rule, outcome=label, base_rate=float(np.mean(self.outcomes == label)))
        added = dict(zip(self.classes.tolist(), adds.tolist(), strict=True))
        return replace(self.measure(rule, outcomes, label), adds=added)

    def scores(self, lines: Sequence[GlobalRule]) -> Floats:
        """Return the shares of the classes of each line."""
        shares = np.array([list((line.frequencies or {}).values()) for line in lines], dtype=np.float64)
        return shares.reshape(len(lines), len(self.classes))

    def predicted(self, scores: Floats) -> NDArray[Any]:
        """Return the class with the largest score."""
        return np.asarray(self.classes[scores.argmax(axis=1)])

    def measure(self, rule: Rule, outcomes: NDArray[Any], output: Any = None) -> GlobalRule:
        """Measure a rule on the outcomes of the training rows that it covers: its label is the most frequent one."""
        counts = np.bincount(np.searchsorted(self.classes, outcomes), minlength=len(self.classes))
        labels = self.classes.tolist()
        place = int(np.argmax(counts)) if output is None else labels.index(output)
        support, n_right, output = len(outcomes), counts[place], labels[place]
        # The training share is too high, since the rule was chosen on these rows. The local rule has an estimate of its
        # own, which rows out of bag limit, but of the outcome of the local rule.
        expected = discounted_share(int(n_right), support)
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

    def losses(self, outputs: NDArray[Any], outcomes: NDArray[Any]) -> Floats:
        """Compute the loss of each output; precision is 1 minus the mean loss."""
        return np.asarray(outputs != outcomes, dtype=np.float64)


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

    def outputs(self, lines: Sequence[GlobalRule]) -> Floats:
        """Return what each line predicts."""
        return np.array([line.output for line in lines], dtype=np.float64)

    @property
    def targets(self) -> Floats:
        """The numbers as a column."""
        return self.outcomes[:, None]

    def aims(self, sums: Floats) -> Floats:
        """Tell whether each rule is for more or for less than the mean."""
        return np.asarray(np.sign(sums))

    def precisions(self, aims: Floats, means: Floats, squares: Floats) -> Floats:
        """Compute 1 - MSE / variance, by the means of the outcomes and of their squares."""
        return np.asarray(1 - (squares - means[:, 0] ** 2) / self.variance)

    def round_additions(self, adds: Floats) -> Floats:
        """Round what is added to numbers to four digits of the standard deviation."""
        digits = 3 - math.floor(math.log10(math.sqrt(self.variance)))
        return np.round(adds, min(digits, 100)) + 0.0  # more would overflow

    def measure_addition(self, rule: Rule, outcomes: Floats, aim: Floats, adds: Floats) -> GlobalRule:
        """Measure a rule of a sum on the outcomes of the training rows that it covers."""
        low, high = np.quantile(outcomes, [0.1, 0.9]).tolist()
        mean = float(outcomes.mean())
        return replace(self.measure(replace(rule, outcome=mean, interval=(low, high)), outcomes), adds=float(adds[0]))

    def scores(self, lines: Sequence[GlobalRule]) -> Floats:
        """Return what each line predicts, as a column."""
        return self.outputs(lines)[:, None]

    def predicted(self, scores: Floats) -> Floats:
        """Return the numbers."""
        return scores[:, 0]

    def measure(self, rule: Rule, outcomes: Floats, output: float | None = None) -> GlobalRule:
        """Measure a rule on the outcomes of the training rows that it covers: it predicts their mean."""
        # The mean of equal numbers may be rounded, and their MSE not be 0.
        is_constant = outcomes.min() == outcomes.max()
        mean = float(outcomes[0] if is_constant else outcomes.mean()) if output is None else output
        mse = float(np.mean((outcomes - mean) ** 2))
        n = len(outcomes)
        # chdtri takes the upper tail: the lower quantile of the chi-square law gives a large variance.
        scale = float((1 + 1 / n) / chdtri(n, 1 - DISCOUNT_QUANTILE))
        return GlobalRule(
            rule=rule,
            output=mean,
            support=n,
            coverage=n / len(self.outcomes),
            precision=1 - mse / self.variance,
            mse=mse,
            mae=float(np.mean(np.abs(outcomes - mean))),
            expected=1 - n * scale * mse / self.variance - scale,
        )

    def losses(self, outputs: NDArray[Any], outcomes: NDArray[Any]) -> Floats:
        """Compute the loss of each output; precision is 1 minus the mean loss."""
        return np.asarray((outputs - outcomes) ** 2 / self.variance)


@dataclass(frozen=True, eq=False)
class Additions:
    """What a sum of rules is made of: a number for each class, or one."""

    base: Floats  # (n_targets,)
    of_rules: Floats  # (n_rules, n_targets)
    otherwise: Floats  # (n_targets,), of rows that no rule covers


@dataclass(frozen=True, eq=False)
class Lines:
    """The lines of a list in their order, and which training rows each of them covers.

    The first line that covers a row decides, unless there are additions: then those of all such lines are summed.
    """

    task: Labels | Numbers
    rules: tuple[GlobalRule, ...]
    packed_covers: NDArray[np.uint8]  # (n_rules, n_bytes), a bit for each training row
    ends: Ends  # of all rules that were collected
    places: tuple[tuple[int, ...], ...]  # which of these are the ends of each rule
    additions: Additions | None = None

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

    @property
    def base(self) -> float | dict[str, float] | None:
        """What the additions of a sum are added to: a number, or one for each class."""
        if self.additions is None:
            return None
        base: list[float] = self.additions.base.tolist()
        if isinstance(self.task, Numbers):
            return base[0]
        return dict(zip(map(str, self.task.classes.tolist()), base, strict=True))

    def how(self, target: str) -> str:
        """Write how several rules that cover a row make one prediction."""
        base = self.base
        if base is None:
            return "the first that covers a row decides"
        if not isinstance(base, dict):
            return f"each that covers a row adds to the base, {target} = {format_number(base)}"
        shares = ", ".join(f"{label} {share:.3g}" for label, share in base.items())
        return f"each that covers a row adds to the base, {shares}, and the largest sum decides"

    @cached_property
    def default(self) -> GlobalRule:
        """The line for rows that no rule covers: what such training rows have, or all if there are none."""
        left = self.task.outcomes[~self.covers.any(axis=0)]
        rule = replace(NO_CONDITIONS, target=self.rules[0].rule.target if self.rules else "y")
        output = None if self.additions is None else self.task.predicted(self.additions.otherwise[None]).tolist()[0]
        if len(left):
            return self.task.measure(rule, left, output)
        return replace(self.task.measure(rule, self.task.outcomes, output), support=0, coverage=0.0)

    @property
    def order(self) -> Positions:
        """The lines by which one decides a row that several cover: the first, or the one that adds most."""
        if self.additions is None:
            return np.arange(len(self.rules))
        return np.argsort(-np.abs(self.additions.of_rules).max(axis=1), kind="stable")

    def decide(self, covers: Bools) -> Positions:
        """Find the line that decides each row, or that adds most; -1 if none covers it."""
        ordered = covers[self.order]
        anything = np.ones((1, covers.shape[1]), dtype=np.bool_)
        first = np.argmax(np.concatenate([ordered, anything]), axis=0)
        return np.asarray(np.append(self.order, -1)[first])

    def scores(self, covers: Bools) -> Floats:
        """Compute the scores of the classes, or the number, that the lines predict for each row."""
        if self.additions is None:
            return self.task.scores((*self.rules, self.default))[self.decide(covers)]  # -1 is the last of them
        scores = np.tile(self.additions.base, (covers.shape[1], 1))
        for covered, added in zip(covers, self.additions.of_rules, strict=True):
            scores[covered] += added
        scores[~covers.any(axis=0)] = self.additions.otherwise
        return scores

    def shares(self, scores: Floats) -> Floats:
        """Turn the sums of rules into probabilities; the shares of deciding rules are some already."""
        if self.additions is None:
            return scores
        scores = np.maximum(scores, 0.0)
        return np.asarray(scores / scores.sum(axis=1, keepdims=True))

    def take(self, places: Iterable[int]) -> Lines:
        """Return some of the lines, in the order of the list."""
        kept = sorted(places)
        rules, ends = tuple(self.rules[i] for i in kept), tuple(self.places[i] for i in kept)
        return replace(self, rules=rules, places=ends, packed_covers=self.packed_covers[kept])

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
