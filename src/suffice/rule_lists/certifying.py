"""Choosing which rules to certify, on the training rows alone: few, and such that fresh rows can confirm them.

Every test on fresh rows costs power, and a rule with few fresh rows cannot be confirmed. What is chosen here depends on
training rows and on the number of fresh rows, never on the outcomes of fresh rows.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from suffice._forest.bounds import Adjustment
from suffice._table.input import check_word, read_outcomes
from suffice._table.table import Table
from suffice.checks.certificates import FreshRows, certify_promises
from suffice.explaining.certificate import Certificate, check_confidence, check_level, make_certificates
from suffice.explaining.rule import Promise, Rule
from suffice.rule_lists.choosing import Bools, first_two
from suffice.rule_lists.measures import GlobalRule

Counts = NDArray[np.int64]

# A rule must add this share of the training rows to those that rules before it cover.
MIN_NEW = 0.005
# Training rows flatter a rule: its precision is drawn towards the level by as many rows.
N_DRAWN = 20
# A rule is tested if it would be confirmed with this probability.
MIN_POWER = 0.7


def power_of_test(n_rows: Counts, n_kept: Counts, ratio: float, level: float, confidence: float) -> NDArray[np.float64]:
    """Estimate with which probability fresh rows confirm that a precision is at least a level."""
    n_fresh = np.round(n_rows * ratio)
    precision = (n_kept + N_DRAWN * level) / (n_rows + N_DRAWN)
    # The test confirms from one more than the quantile on.
    enough = binom.isf(1 - confidence, n_fresh, level)
    return np.asarray(np.where(n_fresh > 0, binom.sf(enough, n_fresh, precision), 0.0))


def choose_rules(covers: Bools, keeps: Bools, ratio: float, level: float, confidence: float) -> NDArray[np.intp]:
    """Choose rules that are worth a test each, by what they add to the rows covered."""
    n_rows = covers.sum(axis=1)
    power = power_of_test(n_rows, (covers & keeps).sum(axis=1), ratio, level, confidence)
    is_open = np.ones(covers.shape[1], dtype=bool)
    may_come = power >= MIN_POWER
    chosen: list[int] = []
    while may_come.any():
        n_new = np.where(may_come, (covers & is_open).sum(axis=1), 0)
        best = int(np.argmax(n_new * power))
        if n_new[best] < max(1.0, MIN_NEW * covers.shape[1]):
            break
        chosen.append(best)
        may_come[best] = False
        is_open &= ~covers[best]
    return np.array(chosen, dtype=np.intp)


def without_small_steps(covers: Bools) -> NDArray[np.intp]:
    """Leave out rules of a list that add too few training rows to those before them."""
    is_open = np.ones(covers.shape[1], dtype=bool)
    kept: list[int] = []
    for i, covered in enumerate(covers):
        if np.count_nonzero(covered & is_open) >= max(1.0, MIN_NEW * covers.shape[1]):
            kept.append(i)
            is_open &= ~covered
    return np.array(kept, dtype=np.intp)


def count_by_length(covers: Bools, keeps: Bools) -> tuple[Counts, Counts]:
    """Count the rows that the first rules of a list decide, and decide rightly."""
    n_rules = len(covers)
    first, _ = first_two(np.ascontiguousarray(covers.T))
    is_decided = first < n_rules
    rows = np.flatnonzero(is_decided)
    decided = np.bincount(first[rows], minlength=n_rules)
    kept = np.bincount(first[rows][keeps[first[rows], rows]], minlength=n_rules)
    return np.cumsum(decided), np.cumsum(kept)


def surest_length(n_rows: Counts, n_kept: Counts, ratio: float, level: float, confidence: float) -> int:
    """Choose the length of list that is tested first: the one that fresh rows most probably confirm."""
    power = power_of_test(n_rows, n_kept, ratio, level, confidence)
    return int(np.flatnonzero(power == power.max())[-1]) + 1


class CertifiableList(BaseEstimator):  # type: ignore[misc]
    """What a list of rules needs in order to be certified, and how that is done."""

    max_rules: int | None
    rules_: tuple[GlobalRule, ...]
    simpler_rules_: tuple[Rule, ...]  # those of `rules_` without conditions that change nothing
    packed_covers_: NDArray[np.uint8]
    collected_: CertifiableList | None  # the list of all rules, of which `rules_` were chosen
    training_outcomes_: NDArray[Any]
    certificate_: Certificate | None
    set_aside_: FreshRows | None

    def certify(
        self,
        X: Any = None,
        y: Any = None,
        *,
        precision: float = 0.9,
        confidence: float = 0.95,
        of: Literal["rules", "list"] = "rules",
        adjust: Adjustment | None = "benjamini-hochberg",
    ) -> Any:
        """Return the longest list that fresh rows certify.

        A line promises its label or, for numbers, the interval of its rule. Training rows alone decide which rules are
        tested and in which order; rules mined at a higher level than `precision` (an explainer with ``pi=0.95`` to
        promise 0.9) are certified more often. All rules that were collected may be tested, not only those that
        `max_rules` has left in the list, but no more than `max_rules`.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns), default=None
            Rows that had no part in making the list. None takes the rows that `fit` has set aside by `holdout`.
        y : array-like of shape (n_rows,), default=None
            Their outcomes.
        precision : float, default=0.9
            The share of decided rows that must be right, in (0, 1].
        confidence : float, default=0.95
            The confidence, in (0, 1).
        of : {"rules", "list"}, default="rules"
            What is certified. "rules": every rule of the list by itself. Few and large rules are tested, since each
            needs rows of its own. "list": the list as a whole, on the rows that it decides; it covers more, but single
            rules may be worse. The surest length is tested first and then, as long as the tests succeed, one rule more
            each time, which needs no adjustment.
        adjust : {"benjamini-hochberg", "holm"} or None, default="benjamini-hochberg"
            How the tests of single rules are adjusted for their number: see `SufficientExplainer.certify`.

        Returns
        -------
        estimator
            A new fitted list of some of the rules, maybe of none, with a certificate each. Its `certificate_` is that
            of the list, or None if single rules were certified.
        """
        check_is_fitted(self, "rules_")
        check_word("of", of, ("rules", "list"))
        check_level(precision, "precision")
        check_confidence(confidence)
        rows = self._fresh_rows(X, y)
        if self.collected_ is not None:
            return self.collected_.certify_rows(rows, precision, confidence, of, adjust)
        return self.certify_rows(rows, precision, confidence, of, adjust)

    def certify_rows(
        self,
        rows: FreshRows,
        precision: float,
        confidence: float,
        of: Literal["rules", "list"],
        adjust: Adjustment | None,
    ) -> Any:
        """Return the longest list of these rules that fresh rows certify. See `certify`.

        Parameters
        ----------
        rows : FreshRows
            The rows.
        precision, confidence : float
            The share of decided rows that must be right, and the confidence.
        of : {"rules", "list"}
            What is certified.
        adjust : {"benjamini-hochberg", "holm"} or None
            How the tests of single rules are adjusted for their number.

        Returns
        -------
        estimator
            The list.
        """
        if not self.rules_:
            return self._with_lines([], None)
        covers, ratio = self._training_covers(), len(rows.outcomes) / len(self.training_outcomes_)
        keeps = np.array([line.promise.keeps(self.training_outcomes_) for line in self.rules_])
        whole: Certificate | None = None
        if of == "rules":
            chosen = choose_rules(covers, keeps, ratio, precision, confidence)[: self.max_rules].tolist()
        else:
            chosen, whole = self._certify_lengths(covers, keeps, rows, precision, confidence)
        lines = [self.rules_[i] for i in chosen]
        certificates = certify_promises(
            [line.promise for line in lines], rows, level=precision, confidence=confidence, adjustment=adjust
        )
        is_kept = [of == "list" or certificates[line.promise].is_certified for line in lines]
        certified = self._with_lines([i for i, kept in zip(chosen, is_kept, strict=True) if kept], whole)
        return certified.with_certificates(certificates)

    def _certify_lengths(
        self, covers: Bools, keeps: Bools, rows: FreshRows, precision: float, confidence: float
    ) -> tuple[list[int], Certificate | None]:
        """Find the longest list of which fresh rows confirm the precision, by tests in a fixed order."""
        order = without_small_steps(covers)[: self.max_rules]
        ratio = len(rows.outcomes) / covers.shape[1]
        length = surest_length(*count_by_length(covers[order], keeps[order]), ratio, precision, confidence)
        lines = [self.rules_[i] for i in order]
        n_rows, n_kept = count_by_length(
            np.array([line.rule.covers(rows.table) for line in lines]),
            np.array([line.promise.keeps(rows.outcomes) for line in lines]),
        )
        # No adjustment: a test counts only if all tests before it have succeeded (fixed-sequence testing).
        certificates = make_certificates(
            n_rows.tolist(),
            n_kept.tolist(),
            level=precision,
            confidence=confidence,
            adjustment=None,
            is_set_aside=rows.is_set_aside,
        )
        n_lines = 0
        while length <= len(lines) and certificates[length - 1].is_certified:
            n_lines, length = length, length + 1
        return order[:n_lines].tolist(), certificates[n_lines - 1] if n_lines else None

    def _with_lines(self, chosen: Sequence[int], certificate: Certificate | None) -> Any:
        some = copy.copy(self)
        chosen = sorted(chosen)
        some.rules_ = tuple(self.rules_[i] for i in chosen)
        some.simpler_rules_ = tuple(self.simpler_rules_[i] for i in chosen)
        some.packed_covers_ = self.packed_covers_[chosen]
        some.collected_ = None
        some.certificate_ = certificate
        return some

    def with_certificates(self, certificates: Mapping[Promise, Certificate]) -> Any:
        """Return the list with certificates attached to its lines.

        Parameters
        ----------
        certificates : mapping of Promise to Certificate
            A certificate for what each line promises.

        Returns
        -------
        estimator
            A copy of the list.
        """
        checked = copy.copy(self)
        checked.rules_ = tuple(replace(line, certificate=certificates[line.promise]) for line in self.rules_)
        return checked

    def _fresh_rows(self, X: Any, y: Any) -> FreshRows:
        if (X is None) != (y is None):
            raise ValueError("Give `X` and `y` together, or neither for the rows that were set aside.")
        if X is not None:
            table = self._check_table(X)
            return FreshRows(table, self._read_other_outcomes(read_outcomes(y, table.n_rows)), False)
        if self.set_aside_ is None:
            raise ValueError(
                "No rows were set aside: pass fresh rows as `X` and `y`, or set rows aside by fit(X, y, holdout=0.2)."
            )
        return self.set_aside_

    def _training_covers(self) -> Bools:
        """Return which rule (row) covers which training row (column)."""
        raise NotImplementedError

    def _check_table(self, X: Any, reset: bool = False) -> Table:
        """Read rows with the columns of the training table."""
        raise NotImplementedError

    def _read_other_outcomes(self, y: NDArray[Any]) -> NDArray[Any]:
        """Check the outcomes of other rows."""
        raise NotImplementedError
