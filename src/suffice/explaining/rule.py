"""Sufficient rules as values: their conditions and figures, what they cover, and how they read.

A rule is a box: one condition for each column that it asks about. How the largest box is found is not its concern.
Text and SQL are views of the value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice._table.condition import Condition, all_cover, check_conditions
from suffice._table.input import read_outcomes
from suffice._table.table import read_columns
from suffice._text import (
    counted,
    format_interval,
    format_lift,
    format_percent,
    format_probability,
    format_share,
    is_rare,
    printed,
)
from suffice.explaining.certificate import Certificate, make_certificates
from suffice.explaining.proof import Proof

__all__ = ["Condition", "Promise", "Rule"]


class Promise(NamedTuple):
    """What a rule says of a row, and what a certificate checks. Rules that say the same are equal as promises."""

    conditions: tuple[Condition, ...]
    outcome: Any
    interval: tuple[float, float] | None = None

    @property
    def premise(self) -> str:
        """The conditions as text; empty if there are none."""
        return " AND ".join(map(str, self.conditions))

    def keeps(self, outcomes: NDArray[Any]) -> NDArray[np.bool_]:
        """Check which outcomes are as the promise says."""
        if self.interval is None:
            return np.asarray(outcomes == self.outcome, dtype=np.bool_)
        low, high = self.interval
        return np.asarray((low <= outcomes) & (outcomes <= high), dtype=np.bool_)


# A rule of fewer training rows is marked: on held-out rows it keeps much less than its training rows say.
FEW_ROWS = 50
# Fields that older versions did not write.
_LATER_FIELDS = ("n_kept", "certificate", "base_rate", "is_whole", "reads", "n_looked_at", "proof")


@dataclass(frozen=True)
class Rule:
    """A sufficient rule: within its conditions the outcome is kept.

    Parameters
    ----------
    conditions : tuple of Condition
        What it asks, one condition for each of some columns, in the order of the table; none that is trivial.
    outcome : object
        The class label or the number that is explained.
    interval : tuple of float or None
        Regression: (low, high), both ends included; the outcome is kept while Y stays in it.
    sdp : float or None
        The same-decision probability at the explained row; None if no row was explained (`suffice.rule`).
    support : int
        The number of training rows that the rule covers.
    coverage : float
        Their share of all training rows.
    precision : float or None
        An estimate of the share of new rows that have the outcome among those that the rule covers; None if no training
        row is covered. The share of the covered training rows, ``n_kept / support``, is too high: the rule was chosen
        for them. With ``counts="bootstrap"`` or "all" it is that share.
    mae : float or None
        Regression: the mean absolute error of the mean of the covered rows on these rows; None for a class.
    optimal : bool
        Whether it is proven that no rule covers more.
    bound : float
        No rule covers more than this (training rows, or volume); inf if nothing is known.
    everywhere : bool
        Whether it is proven that the SDP reaches pi at every point of the box, not only at the training rows.
    target : str, default="y"
        What the outcome is called in a regression's sentence.
    n_kept : int or None, default=None
        How many of the covered training rows have the outcome.
    certificate : Certificate or None, default=None
        How often the rule is right on rows that nobody has used before, if that was checked.
    base_rate : float or None, default=None
        Classification: the share of all training rows that have the outcome, if it is known.
    is_whole : bool, default=False
        Regression: whether the training outcomes are whole numbers. Texts then write the first and the last one in the
        interval. It does not count when rules are compared.
    n_looked_at : int or None, default=None
        The training rows that the search has looked at; None: all of them. `optimal`, `bound` and, unless it holds
        everywhere, the SDP within the rule speak of these rows; `support` and `n_kept` are counted on all.
    proof : Proof or None, default=None
        What holds at every point within its bounds for the model that decides, if that was checked.

    Examples
    --------
    >>> conditions = (Condition("hour", low=5.5), Condition("temp", 3.0, 7.0))
    >>> rule = Rule(conditions, 20.0, (12.0, 31.0), 0.94, 12, 0.012, 1.0, 4.2, True, 12.0, False, target="count")
    >>> print(rule)
    IF hour > 5.5 AND 3 < temp <= 7 THEN count in [12, 31]  (coverage 1.2 %, 12 rows, SDP 0.94)
    >>> rule.covers({"hour": [6.0, 6.0, 5.5], "temp": [7.0, 3.0, 4.0]})
    array([ True, False, False])
    >>> print(rule.to_sql())
    "hour" > 5.5e0 AND "temp" > 3 AND "temp" <= 7
    """

    conditions: tuple[Condition, ...]
    outcome: Any
    interval: tuple[float, float] | None
    sdp: float | None
    support: int
    coverage: float
    precision: float | None
    mae: float | None
    optimal: bool
    bound: float
    everywhere: bool
    target: str = "y"
    n_kept: int | None = None
    certificate: Certificate | None = None
    base_rate: float | None = None
    is_whole: bool = field(default=False, compare=False)
    n_looked_at: int | None = None
    proof: Proof | None = None

    def __post_init__(self) -> None:
        """Check the conditions, and turn NumPy's values into Python's."""
        object.__setattr__(self, "conditions", tuple(self.conditions))
        for name, value in list(vars(self).items()):
            if isinstance(value, np.generic):
                object.__setattr__(self, name, value.item())
        check_conditions(self.conditions)
        if self.interval is not None:
            low, high = (float(end) for end in self.interval)
            if not low <= high:
                raise ValueError(f"`interval` must be (low, high) with low <= high, got {(low, high)}.")
            object.__setattr__(self, "interval", (low, high))

    def covers(self, X: Any) -> NDArray[np.bool_]:
        """Return which rows satisfy the rule.

        A row with a missing value in a tested column is covered only if the condition allows missing values.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns), frame, or dict of columns
            The rows; only the columns that the rule tests are read from a frame or dict. Those of an array are called
            x0, x1 and so on; for other names pass ``dict(zip(names, X.T))``.

        Returns
        -------
        ndarray of shape (n_rows,), bool
            Whether the rule covers each row. Numbers are compared as float64.
        """
        return all_cover(self.conditions, read_columns(X))

    def check_model(self, model: Any, X: Any, **options: Any) -> Rule:
        """Check what the rule says at every point within its bounds, for a model made of trees.

        Parameters
        ----------
        model : estimator
            The model, or a pipeline that ends in it.
        X : array-like or frame of shape (n_rows, n_columns)
            Rows of the table that it is given: they tell the range of each column.
        **options : dict
            `groups`, `domain`, `constraints`, `max_nodes` and `max_seconds`: see `SufficientExplainer.prove`.

        Returns
        -------
        Rule
            The rule with a `proof`.
        """
        from suffice.proofs.model_trees import read_model_trees
        from suffice.proofs.proving import prove_promise

        return replace(self, proof=prove_promise(self.promise, read_model_trees(model, X, **options)))

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as plain Python values, ready for JSON.

        Returns
        -------
        dict
            The fields of the rule; None for an end, or a bound, that is infinite.
        """
        values = asdict(self)
        values["certificate"] = None if self.certificate is None else self.certificate.to_dict()
        if self.proof is None:  # as in files of earlier versions
            del values["proof"]
        values["conditions"] = [
            {
                **condition,
                "low": _finite(condition["low"]),
                "high": _finite(condition["high"]),
                "labels": None if condition["labels"] is None else list(condition["labels"]),
            }
            for condition in values["conditions"]
        ]
        values["interval"] = None if self.interval is None else [_finite(end) for end in self.interval]
        values["bound"] = _finite(self.bound)
        return values

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Rule:
        """Make a rule from what `to_dict` gave.

        Parameters
        ----------
        values : mapping of str to object
            The fields of the rule; those of later versions may be absent.

        Returns
        -------
        Rule
            The rule.
        """
        _check_keys("rule", cls, values)
        for name in ("conditions", "interval"):
            if not isinstance(values[name], list | tuple) and (name == "conditions" or values[name] is not None):
                raise TypeError(f"`{name}` must be a list, got {values[name]!r}.")
        made = {**values, "conditions": tuple(map(_read_condition, values["conditions"]))}
        made["interval"] = None if values["interval"] is None else _with_infinity(*values["interval"])
        made["bound"] = _with_infinity(0.0, values["bound"])[1]
        for name, kind in (("certificate", Certificate), ("proof", Proof)):
            made[name] = None if values.get(name) is None else kind.from_dict(values[name])
        return cls(**made)

    def to_sql(self) -> str:
        """Write the rule as the condition of an SQL query.

        Returns
        -------
        str
            What stands after WHERE. Missing values must be NULL: databases treat NaN in different ways. Parts of dates
            are read by EXTRACT, as in PostgreSQL and DuckDB. A certificate and a proof follow as comments.
        """
        sql = " AND ".join(condition.to_sql() for condition in self.conditions) or "1 = 1"
        # The comments hold words of the package and numbers, so nothing in them can end them.
        checked = [] if self.certificate is None else [self.certificate.sentence]
        checked += [] if self.proof is None else [self.proof.summary]
        return " ".join([sql, *(f"/* {sentence} */" for sentence in checked)])

    @printed
    def __str__(self) -> str:
        """Return the rule as a sentence."""
        figures = [f"coverage {format_percent(self.coverage)} %", counted(self.support, "row")]
        if self.sdp is not None:
            figures += [f"SDP {format_probability(self.sdp)}", *self.lift_texts(self.sdp)]
            return f"{self.sentence}  ({', '.join(figures)})"
        if self.n_kept is not None and self.precision is not None:
            figures.append(f"precision {format_share(self.n_kept / self.support)}")
            figures += [f"{format_share(self.precision)} expected", *self.lift_texts(self.precision, always=True)]
        measured = [] if self.n_kept is None else [", ".join(figures)]
        checked = [] if self.certificate is None else [self.certificate.sentence]
        return f"{self.sentence}  ({'; '.join([*measured, *checked])})" if measured or checked else self.sentence

    def certify(self, X: Any, y: Any, *, level: float = 0.9, confidence: float = 0.95) -> Rule:
        """Check the rule on rows that had no part in choosing it.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns), or dict of columns
            The rows.
        y : array-like of shape (n_rows,)
            Their outcomes.
        level : float, default=0.9
            The precision that is to be certified, in (0, 1].
        confidence : float, default=0.95
            The confidence of the lower bound and of the test, in (0, 1).

        Returns
        -------
        Rule
            The rule with a certificate. To test several rules together, see `SufficientExplainer.certify`.

        Examples
        --------
        >>> import suffice
        >>> tenure = np.arange(60)
        >>> checked = suffice.rule("tenure < 30 then leaves").certify(
        ...     {"tenure": tenure}, np.where(tenure < 28, "leaves", "stays"), level=0.8
        ... )
        >>> print(checked)
        IF tenure < 30 THEN leaves  (checked on 30 fresh rows: right in 93 %, at least 80 % (95 % confidence))
        >>> checked.certificate.verdict
        'holds'
        """
        table = read_columns(X)
        kept = self.promise.keeps(read_outcomes(y, table.n_rows)[self.covers(table)])
        figures = [len(kept)], [int(np.count_nonzero(kept))]
        [certificate] = make_certificates(
            *figures, level=level, confidence=confidence, adjustment=None, is_set_aside=False
        )
        return replace(self, certificate=certificate)

    def lift_texts(self, probability: float, *, always: bool = False) -> list[str]:
        """Return what a probability of the outcome means beside its share of all rows.

        Parameters
        ----------
        probability : float
            The SDP or the precision of the rule.
        always : bool, default=False
            Whether the share of all rows is stated even if the probability is far above it.

        Returns
        -------
        list of str
            How many times as likely as on average a rare class is; for others, the share of all rows, if the
            probability does not remove at least half of the uncertainty that it leaves. Empty otherwise, and if the
            base rate is not known.
        """
        if self.base_rate is None or self.interval is not None:
            return []
        if is_rare(self.base_rate):
            return [format_lift(probability / self.base_rate)]
        is_near = 1 - probability > (1 - self.base_rate) / 2
        return [f"{format_share(self.base_rate)} among all rows"] if always or is_near else []

    @property
    def rows_text(self) -> str:
        """How many training rows the rule covers, how many of them have the outcome, and what to expect of new rows."""
        share = f" ({format_percent(self.coverage)} % of all)"
        rows = counted(self.support, "training row")
        few = " These are few rows, so the figures are rough." if self.has_few_rows else ""
        if not self.support or self.n_kept is None:
            return f"{rows}{share} {'is' if self.support == 1 else 'are'} within these bounds.{few}"
        is_class = self.interval is None
        one, many, what = ("has", "have", "this outcome") if is_class else ("lies", "lie", "in the interval")
        where = f" within these bounds{share}" if self.conditions else ""
        are_all = self.n_kept == self.support > 1
        counts = f"All {rows}{where}" if are_all else f"{self.n_kept:,} of the {rows}{where}"
        kept = f"{counts} {one if self.n_kept == 1 else many} {what}"
        if self.precision is None or not self.states_expectation:
            return f"{kept}.{few}"
        return f"{kept}; expected precision on new rows: {format_share(self.precision)}.{few}"

    @property
    def states_expectation(self) -> bool:
        """Whether `rows_text` says what to expect of new rows.

        It does not if enough fresh rows have settled the question, nor if the precision is that of the very rows that
        made the rule (``counts="bootstrap"`` or "all"): new rows would not have it.
        """
        if self.precision is None or not self.support or self.n_kept is None:
            return False
        is_settled = self.certificate is not None and self.certificate.n_rows >= FEW_ROWS
        return not is_settled and self.precision < self.n_kept / self.support

    @property
    def has_few_rows(self) -> bool:
        """Whether fewer than 50 training rows stand behind the rule: its figures are then rough."""
        return self.support < FEW_ROWS

    @property
    def conclusion(self) -> str:
        """What the rule keeps: the class, or the interval."""
        if self.interval is None:
            return str(self.outcome)
        return f"{self.target} in [{', '.join(format_interval(self.interval, self.is_whole))}]"

    @property
    def promise(self) -> Promise:
        """What the rule says of a row: its conditions, and the class or the interval."""
        return Promise(self.conditions, self.outcome if self.interval is None else None, self.interval)

    @property
    def checked_text(self) -> str:
        """What the certificate and the proof say, as sentences; nothing without them."""
        certificate, sentences = self.certificate, []
        if certificate is not None:
            sentences = [certificate.sentence, certificate.decision] if certificate.n_rows else [certificate.sentence]
        texts = [f"{sentence[0].upper()}{sentence[1:]}." for sentence in sentences]
        return " ".join(texts if self.proof is None else [*texts, self.proof.text])

    @property
    def sentence(self) -> str:
        """The rule as a sentence without its figures."""
        premise = self.promise.premise
        return f"IF {premise} THEN {self.conclusion}" if premise else f"ALWAYS {self.conclusion}"

    def _repr_html_(self) -> str:
        from suffice._show.cards import rule_card

        return rule_card(self)


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def _with_infinity(low: float | None, high: float | None) -> tuple[float, float]:
    return -math.inf if low is None else low, math.inf if high is None else high


def _read_condition(values: Any) -> Condition:
    _check_keys("condition", Condition, values)
    low, high = _with_infinity(values["low"], values["high"])
    labels = None if values["labels"] is None else tuple(values["labels"])
    return Condition(**{**values, "low": low, "high": high, "labels": labels})


def _check_keys(what: str, of: type, values: Mapping[str, Any]) -> None:
    if not isinstance(values, Mapping):
        raise TypeError(f"A {what} is a mapping of its fields, got {values!r}.")
    known = [field.name for field in fields(of)]
    missing = [k for k in known if k not in values and k not in _LATER_FIELDS]
    unexpected = [k for k in values if k not in known]
    if missing or unexpected:
        raise ValueError(f"These are not the fields of a {what}: missing {missing}, unexpected {unexpected}.")
