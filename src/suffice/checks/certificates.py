"""Checking rules on fresh rows: which rows these are, and a certificate for each distinct rule.

What a certificate states is defined in ``explaining.certificate``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice._forest.asked_rows import ask_about
from suffice._forest.bounds import Adjustment
from suffice._forest.fitted import Fitted
from suffice._table.condition import Condition, all_cover
from suffice._table.frames import load_pandas
from suffice._table.input import as_finite
from suffice._table.table import Table
from suffice._text import counted, printed
from suffice.explaining.certificate import Certificate, make_certificates
from suffice.explaining.explanation import Explanation
from suffice.explaining.explanations import Explanations, lines_of
from suffice.explaining.rule import Promise, Rule

Certificates = dict[Promise, Certificate]
Level = float | Mapping[Any, float]

NONE_SET_ASIDE = "No rows were set aside: pass fresh rows as `X` and `y`, or set rows aside by fit(X, y, holdout=0.2)."


class FreshRows(NamedTuple):
    """Rows that had no part in finding the rules that are checked on them."""

    table: Table
    outcomes: NDArray[Any]
    is_set_aside: bool


@dataclass(frozen=True, eq=False)
class CertifiedRules:
    """Distinct rules with their certificates.

    Parameters
    ----------
    rules : tuple of Rule or GlobalRule
        The rules in their order, each with its certificate. Those with the same conditions and the same class or
        interval are one rule: the first of them.
    n_rows : int
        The number of rows on which they were checked.
    is_set_aside : bool
        Whether `fit` has set these rows aside.
    level : float or None
        The precision that is certified; None if each class has its own.
    confidence : float
        The confidence.
    adjustment : {"benjamini-hochberg", "holm"} or None
        How the tests were adjusted for the number of rules.
    attached : object
        What was passed to `certify`, with the certificates attached to its rules: explanations, one explanation, a list
        of global rules, one rule, or a tuple of rules.
    """

    rules: tuple[Any, ...]
    n_rows: int
    is_set_aside: bool
    level: float | None
    confidence: float
    adjustment: Adjustment | None
    attached: Any

    @property
    def certified(self) -> tuple[Any, ...]:
        """The rules that are certified: their precision is at least the level."""
        return tuple(rule for rule in self.rules if rule.certificate.verdict == "holds")

    @property
    def refuted(self) -> tuple[Any, ...]:
        """The rules that do not hold: their precision is below the level."""
        return tuple(rule for rule in self.rules if rule.certificate.verdict == "does not hold")

    @property
    def undecided(self) -> tuple[Any, ...]:
        """The rules for which the rows do not suffice to decide."""
        return tuple(rule for rule in self.rules if rule.certificate.verdict == "undecided")

    def to_frame(self) -> Any:
        """Return the rules as a pandas frame.

        Returns
        -------
        pandas.DataFrame
            One line for each distinct rule, in their order.
        """
        return load_pandas().DataFrame(self.to_columns())

    def to_columns(self) -> dict[str, list[Any]]:
        """Return the rules column by column.

        Returns
        -------
        dict of str to list
            The conditions of each rule, its outcome, the figures of its certificate and the verdict.
        """
        names = ["n_rows", "n_kept", "share", "lower", "level", "p_value", "p_adjusted", "is_certified", "verdict"]
        return {
            "rule": [rule.promise.premise for rule in self.rules],
            "outcome": [_conclusion(rule) for rule in self.rules],
            **{name: [getattr(rule.certificate, name) for rule in self.rules] for name in names},
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the rules as plain Python values, ready for JSON.

        Returns
        -------
        dict
            The counts, how the rules were tested, and the rules with their certificates.
        """
        names = ("n_rows", "is_set_aside", "level", "confidence", "adjustment")
        return {
            **{name: getattr(self, name) for name in names},
            "n_rules": len(self.rules),
            **{f"n_{name}": len(getattr(self, name)) for name in ("certified", "refuted", "undecided")},
            "rules": [rule.to_dict() for rule in self.rules],
        }

    def to_json(self, **options: Any) -> str:
        """Return the rules as JSON.

        Parameters
        ----------
        **options : dict
            Passed to `json.dumps`, such as ``indent=1``.

        Returns
        -------
        str
            The JSON text of `to_dict`.
        """
        return json.dumps(self.to_dict(), **options)

    @property
    def heading(self) -> str:
        """How many rules hold, do not hold, and are undecided, in one sentence."""
        rows = counted(self.n_rows, "fresh row")
        if self.is_set_aside:
            rows = f"{counted(self.n_rows, 'row')} that were set aside"
        level = "the level of their class" if self.level is None else f"{100 * self.level:g} %"
        return (
            f"{len(self.certified)} of {counted(len(self.rules), 'rule')} certified at {level} on {rows} "
            f"({100 * self.confidence:g} % confidence); {len(self.refuted)} refuted, {len(self.undecided)} undecided."
        )

    @printed
    def __str__(self) -> str:
        """Return the counts, and a line for each rule."""
        return "\n".join([self.heading, *map(line_text, self.rules)])

    __repr__ = __str__


def line_text(rule: Any) -> str:
    """Write a rule with its verdict and the figures of its certificate."""
    premise = rule.promise.premise
    sentence = f"IF {premise} THEN {_conclusion(rule)}" if premise else f"ALWAYS {_conclusion(rule)}"
    return f"{rule.certificate.verdict}: {sentence}  ({rule.certificate.sentence})"


def _conclusion(rule: Any) -> str:
    if rule.promise.interval is None:
        return str(rule.promise.outcome)
    local: Rule = getattr(rule, "rule", rule)
    return local.conclusion


def read_fresh_rows(state: Fitted, X: Any, table: Table, y: Any) -> FreshRows:
    """Read rows to check rules on."""
    matrix = state.encode(table)  # refuses what `explain` would refuse
    if y is None and state.model is None:
        raise ValueError(
            "`y` is needed: rules are checked against the outcomes of the rows. Only an explainer made by "
            "`for_model` asks its model for them, and a saved file does not hold the model."
        )
    outcomes = ask_about(state, X, matrix, y).values
    if state.classes is None:
        outcomes = as_finite(outcomes)
    elif len(outcomes) and not np.isin(outcomes, state.classes).any():
        raise ValueError(
            f"`y` holds none of the classes {state.classes.tolist()}, but {outcomes.tolist()[0]!r}, for example."
        )
    return FreshRows(table, outcomes, False)


def rows_set_aside(fitted: Fitted, y: Any = None) -> FreshRows:
    """Return the rows that `fit` set aside."""
    if y is not None:
        raise ValueError("`y` was passed without `X`: pass the rows as well.")
    if fitted.set_aside is None or fitted.set_aside_table is None:
        raise ValueError(NONE_SET_ASIDE)
    return FreshRows(fitted.set_aside_table, fitted.set_aside.outcomes, True)


def count_kept(promises: Sequence[Promise], rows: FreshRows) -> tuple[list[int], list[int]]:
    """Count the rows that each rule covers, and those of them that keep the outcome."""
    # Many rules for numbers share their conditions: sorted outcomes are counted by bisection.
    covered_outcomes: dict[tuple[Condition, ...], NDArray[Any]] = {}
    n_rows, n_kept = [], []
    for conditions, outcome, interval in promises:
        if conditions not in covered_outcomes:
            outcomes = rows.outcomes[all_cover(conditions, rows.table)]
            covered_outcomes[conditions] = outcomes if interval is None else np.sort(outcomes)
        outcomes = covered_outcomes[conditions]
        n_rows.append(len(outcomes))
        if interval is None:
            n_kept.append(int(np.count_nonzero(outcomes == outcome)))
        else:
            n_below = np.searchsorted(outcomes, interval[0], side="left")
            n_kept.append(int(np.searchsorted(outcomes, interval[1], side="right") - n_below))
    return n_rows, n_kept


def certify_promises(
    promises: Iterable[Promise],
    rows: FreshRows,
    *,
    level: Level,
    confidence: float = 0.95,
    adjustment: Adjustment | None = None,
) -> Certificates:
    """Check each distinct rule on fresh rows."""
    distinct = list(dict.fromkeys(promises))
    n_rows, n_kept = count_kept(distinct, rows)
    levels = [level[promise.outcome] for promise in distinct] if isinstance(level, Mapping) else level
    certificates = make_certificates(
        n_rows, n_kept, level=levels, confidence=confidence, adjustment=adjustment, is_set_aside=rows.is_set_aside
    )
    return dict(zip(distinct, certificates, strict=True))


def check_each(rules: Sequence[tuple[Rule, ...]], fitted: Fitted) -> list[tuple[Rule, ...]]:
    """Check the rules of explained rows on the rows that were set aside, if there are any."""
    if fitted.set_aside is None:
        return list(rules)
    # Not adjusted, so that a certificate does not depend on the other rows that are explained.
    promises = [rule.promise for of_row in rules for rule in of_row]
    certificates = certify_promises(promises, rows_set_aside(fitted), level=fitted.level_of_rules())
    return _attached(rules, certificates, "certificate")


def check_explanations(explanations: Explanations) -> Explanations:
    """Check the rules of explanations on the rows that were set aside, if there are any."""
    if explanations.fitted.set_aside is None:
        return explanations
    answers = explanations.answers
    return explanations.with_answers(answers._replace(rules=check_each(answers.rules, explanations.fitted)))


def _attached(rules: Iterable[Iterable[Any]], checks: Mapping[Promise, Any], name: str) -> list[tuple[Any, ...]]:
    """Attach to each rule what was found; global rules take no proof."""
    return [
        tuple(replace(rule, **{name: checks[rule.promise]}) if hasattr(rule, name) else rule for rule in of_row)
        for of_row in rules
    ]


def check_distinct(
    what: Any, name: str, check: Callable[[list[Promise]], Mapping[Promise, Any]]
) -> tuple[tuple[Any, ...], tuple[Any, ...], Any]:
    """Check each distinct rule; return these with their checks, the checks, and what was passed with them attached."""
    lines = lines_of(what)
    first_with = {line.promise: line for line in reversed(lines)}
    promises = list(dict.fromkeys(line.promise for line in lines))
    checks = check(promises)
    rules = _attached([[first_with[promise] for promise in promises]], checks, name)[0]
    return rules, tuple(checks[promise] for promise in promises), _attach(what, lines, checks, name)


def certify_rules(
    what: Any, rows: FreshRows, *, level: Level, confidence: float, adjustment: Adjustment | None
) -> CertifiedRules:
    """Check rules on fresh rows, all together, and attach the certificates."""
    rules, _, attached = check_distinct(
        what,
        "certificate",
        lambda promises: certify_promises(promises, rows, level=level, confidence=confidence, adjustment=adjustment),
    )
    return CertifiedRules(
        rules=rules,
        n_rows=len(rows.outcomes),
        is_set_aside=rows.is_set_aside,
        level=None if isinstance(level, Mapping) else level,
        confidence=confidence,
        adjustment=adjustment,
        attached=attached,
    )


def _attach(what: Any, lines: Sequence[Any], checks: Mapping[Promise, Any], name: str) -> Any:
    """Return rules, or what holds them, with a check of each as an attribute."""
    if isinstance(what, Explanations):
        return what.with_answers(what.answers._replace(rules=_attached(what.answers.rules, checks, name)))
    if isinstance(what, Explanation):
        return replace(what, rules=_attached([what.rules], checks, name)[0])
    if hasattr(what, "with_certificates"):
        return what.with_certificates(checks) if name == "certificate" else what
    checked = _attached([lines], checks, name)[0]
    return checked[0] if isinstance(what, Rule) else checked
