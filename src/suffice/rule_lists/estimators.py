"""Global sufficient rules: transparent predictions by a list of the local rules of training rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.dummy import DummyClassifier, DummyRegressor

from suffice._forest.bounds import discounted_share
from suffice._table.input import as_finite, check_classes
from suffice.explainer import SufficientExplainer
from suffice.explaining.rule import Rule
from suffice.rule_lists.choosing import Floats, LabelGains, NumberGains, discount_of_errors
from suffice.rule_lists.lists import N_RULES, RuleList
from suffice.rule_lists.measures import GlobalRule

__all__ = ["GlobalRule", "GlobalRulesClassifier", "GlobalRulesRegressor"]


class GlobalRulesClassifier(ClassifierMixin, RuleList):  # type: ignore[misc]
    """Classify by a list of sufficient rules.

    The rules are those of training rows: each distinct box is one line of the list, and predicts the most frequent
    label of the rows that it covers. The first line that covers a row decides. For a row that no rule covers there is
    no prediction, unless there is a `fallback`.

    Parameters
    ----------
    explainer : SufficientExplainer, default=None
        The explainer whose rules are collected; `fit` fits a clone of it. None takes the default one.
    max_rules : int or None, default=20
        The number of rules at most. They are chosen one after another: each time the rule that gains most, which adds
        many rows and is right on them; see `simplify`. None keeps the rules of all training rows, as in the paper.
    min_precision : float, default=0.0
        Rules with less accuracy on the training rows that they cover are left out, in [0, 1].
    min_support : int, default=1
        Rules that cover fewer training rows are left out.
    fallback : {"forest", "majority"} or estimator, default=None
        What decides rows that no rule covers: the explainer's forest, the most frequent label of the training rows, or
        a classifier that is fitted on them (a clone). None abstains.
    random_state : int, RandomState or None, default=None
        The seed of an explainer that has none of its own.

    Attributes
    ----------
    rules_ : tuple of GlobalRule
        The rules in the order of the choice, so that large rules come first. With ``max_rules=None``, the most accurate
        first; equally accurate ones by support, the largest first, then by text.
    collected_ : GlobalRulesClassifier or None
        The list of all rules of which the rules were chosen; None with ``max_rules=None``.
    loss_ : float
        How much a list of any length would be better: see `simplify`.
    classes_ : ndarray
        The labels.
    explainer_ : SufficientExplainer
        The fitted explainer; not there if the list was made of rules and needs none.
    fallback_ : estimator or None
        What decides rows that no rule covers.
    fallback_name_ : str or None
        What the text of the list calls it.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of str
        The names of the columns, if `X` had names.

    Examples
    --------
    >>> from suffice.rule_lists.estimators import GlobalRulesClassifier
    >>> from suffice.explaining.rule import Condition, Rule
    >>> figures = (None, 0.95, 2, 0.5, 1.0, None, True, 2.0, False)
    >>> rules = [Rule((Condition("x0", high=2.5),), "calm", *figures), Rule((Condition("x0", 3.5),), "busy", *figures)]
    >>> X, y = [[1.0], [2.0], [3.0], [4.0]], ["calm", "calm", "busy", "busy"]
    >>> rule_list = GlobalRulesClassifier.from_explanations(rules, X, y)
    >>> print(rule_list)
    2 rules, coverage 75 % of 4 training rows; the first that covers a row decides. Figures are those of the training
    rows; expected is the precision estimated for new rows.
    1. IF x0 <= 2.5 THEN calm  (support 2, few rows, coverage 50 %, precision 1.00, 0.55 expected)
    2. IF x0 > 3.5 THEN busy  (support 1, few rows, coverage 25 %, precision 1.00, 0.35 expected)
    >>> rule_list.predict(X).tolist()
    ['calm', 'calm', None, 'busy']
    """

    _task = "classification"
    _constant = "majority"
    _precision_range = ("in [0, 1]", 0.0)
    _about_figures = "Figures are those of the training rows; expected is the precision estimated for new rows."

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict labels.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            The labels, of the dtype of `classes_`. Only if there is no fallback and some row is not covered, an array
            of objects, with None for such rows; `score` refuses those.
        """
        table = self._check_table(X)
        decided = self._decide(table)
        is_covered = decided >= 0
        of_rules = self.outputs_[decided[is_covered]]
        if is_covered.all():
            return of_rules
        if self.fallback_ is None:
            labels = np.full(table.n_rows, None, dtype=object)
            labels[is_covered] = of_rules.astype(object)
            return labels
        predicted = np.array(self.fallback_.predict(self._table_for_others(X, table)), dtype=self.classes_.dtype)
        predicted[is_covered] = of_rules
        return predicted

    def predict_proba(self, X: Any) -> Floats:
        """Return the shares of the classes among the training rows that the deciding rule covers.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            The shares, in the order of `classes_`. For a row that no rule covers the fallback's probabilities, or NaN
            if there is no fallback.
        """
        table = self._check_table(X)
        decided = self._decide(table)
        is_covered = decided >= 0
        shares = np.full((table.n_rows, len(self.classes_)), np.nan)
        if not is_covered.all() and self.fallback_ is not None:
            if not hasattr(self.fallback_, "predict_proba"):
                name = type(self.fallback_).__name__
                raise AttributeError(f"The fallback {name} has no `predict_proba`: choose another, or fallback=None.")
            shares[:] = self.fallback_.predict_proba(self._table_for_others(X, table))
        of_lines = np.array([list((line.frequencies or {}).values()) for line in self.rules_])
        if is_covered.any():
            shares[is_covered] = of_lines[decided[is_covered]]
        return shares

    @property
    def outputs_(self) -> NDArray[Any]:
        """What each rule predicts."""
        return np.array([line.output for line in self.rules_], dtype=self.classes_.dtype)

    def _read_outcomes(self, y: NDArray[Any]) -> NDArray[Any]:
        check_classes(y, "take GlobalRulesRegressor for numbers")
        self.classes_ = np.unique(y)
        return y

    def _read_other_outcomes(self, y: NDArray[Any]) -> NDArray[Any]:
        return y

    def _measure(self, rule: Rule, outcomes: NDArray[Any]) -> GlobalRule:
        counts = np.bincount(np.searchsorted(self.classes_, outcomes), minlength=len(self.classes_))
        support = len(outcomes)
        labels = self.classes_.tolist()
        return GlobalRule(
            rule=rule,
            output=labels[int(np.argmax(counts))],
            support=support,
            coverage=support / len(self.training_outcomes_),
            precision=float(counts.max() / support),
            frequencies=dict(zip(labels, (counts / support).tolist(), strict=True)),
            expected=_expected(rule, labels[int(np.argmax(counts))], int(counts.max()), support),
        )

    def _gains(self, lines: Sequence[GlobalRule]) -> LabelGains:
        labels = np.array([line.output for line in lines], dtype=self.classes_.dtype)
        return LabelGains(
            codes=np.searchsorted(self.classes_, self.training_outcomes_),
            labels=np.searchsorted(self.classes_, labels),
            expected=np.array([line.expected for line in lines], dtype=np.float64),
        )

    def _losses(self, outputs: NDArray[Any], outcomes: NDArray[Any]) -> Floats:
        return np.asarray(outputs != outcomes, dtype=np.float64)

    def _constant_model(self) -> Any:
        return DummyClassifier(strategy="prior")


class GlobalRulesRegressor(RegressorMixin, RuleList):  # type: ignore[misc]
    """Predict numbers by a list of sufficient rules.

    The rules are those of training rows: each distinct box is one line of the list, and predicts the mean of the rows
    that it covers. The first line that covers a row decides. For a row that no rule covers there is no prediction,
    unless there is a `fallback`.

    Parameters
    ----------
    explainer : SufficientExplainer, default=None
        The explainer whose rules are collected; `fit` fits a clone of it. None takes the default one.
    max_rules : int or None, default=20
        The number of rules at most. They are chosen one after another: each time the rule that removes most of the
        squared error; see `simplify`. None keeps the rules of all training rows, as in the paper.
    min_precision : float, default=0.0
        Rules with less precision, which is ``1 - MSE / var(y)``, are left out; at most 1. It is negative where the
        rows that a rule covers vary more than all rows; ``-math.inf`` keeps every rule.
    min_support : int, default=10
        Rules that cover fewer training rows are left out: the MSE of a few rows is small by chance.
    fallback : {"forest", "mean"} or estimator, default=None
        What decides rows that no rule covers: the explainer's forest, the mean of the training rows, or a regressor
        that is fitted on them (a clone). None abstains.
    random_state : int, RandomState or None, default=None
        The seed of an explainer that has none of its own.

    Attributes
    ----------
    rules_ : tuple of GlobalRule
        The rules, the one with the smallest MSE expected for new rows first, so that small rules refine large ones.
        With ``max_rules=None``, the one with the smallest MSE on the training rows first; equal ones by support, the
        largest first, then by text. A rule without conditions comes last.
    collected_ : GlobalRulesRegressor or None
        The list of all rules of which the rules were chosen; None with ``max_rules=None``.
    loss_ : float
        How much a list of any length would be better: see `simplify`.
    explainer_ : SufficientExplainer
        The fitted explainer; not there if the list was made of rules and needs none.
    fallback_ : estimator or None
        What decides rows that no rule covers.
    fallback_name_ : str or None
        What the text of the list calls it.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of str
        The names of the columns, if `X` had names.

    Examples
    --------
    >>> from suffice.rule_lists.estimators import GlobalRulesRegressor
    >>> from suffice.explaining.rule import Condition, Rule
    >>> box = Rule((Condition("x0", high=2.5),), 1.5, (1.0, 2.0), 0.95, 2, 0.5, 1.0, 0.5, True, 2.0, False)
    >>> rule_list = GlobalRulesRegressor.from_explanations([box], [[1.0], [2.0], [3.0]], [1.0, 2.0, 9.0], min_support=1)
    >>> print(rule_list)
    1 rule, coverage 67 % of 3 training rows; the first that covers a row decides. Figures are those of the training
    rows.
    1. IF x0 <= 2.5 THEN y = 1.5  (support 2, few rows, coverage 67 %, MSE 0.25, MAE 0.5)
    >>> rule_list.predict([[0.0], [3.0]])
    array([1.5, nan])
    """

    _task = "regression"
    _constant = "mean"
    _precision_range = ("a number <= 1", -math.inf)
    _about_figures = "Figures are those of the training rows."

    def __init__(
        self,
        explainer: SufficientExplainer | None = None,
        *,
        max_rules: int | None = N_RULES,
        min_precision: float = 0.0,
        min_support: int = 10,
        fallback: Any = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            explainer,
            max_rules=max_rules,
            min_precision=min_precision,
            min_support=min_support,
            fallback=fallback,
            random_state=random_state,
        )

    def predict(self, X: Any) -> Floats:
        """Predict numbers.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            The means; NaN for a row that no rule covers if there is no fallback.
        """
        table = self._check_table(X)
        decided = self._decide(table)
        is_covered = decided >= 0
        predicted = np.full(table.n_rows, np.nan)
        if not is_covered.all() and self.fallback_ is not None:
            predicted[:] = self.fallback_.predict(self._table_for_others(X, table))
        predicted[is_covered] = self.outputs_[decided[is_covered]]
        return predicted

    @property
    def outputs_(self) -> Floats:
        """What each rule predicts."""
        return np.array([line.output for line in self.rules_], dtype=np.float64)

    def _read_outcomes(self, y: NDArray[Any]) -> NDArray[Any]:
        return as_finite(y)

    def _read_other_outcomes(self, y: NDArray[Any]) -> NDArray[Any]:
        return as_finite(y)

    def _measure(self, rule: Rule, outcomes: NDArray[Any]) -> GlobalRule:
        # The mean of equal numbers may be rounded, and their MSE not be 0.
        is_constant = outcomes.min() == outcomes.max()
        mean = float(outcomes[0] if is_constant else outcomes.mean())
        mse = float(np.mean((outcomes - mean) ** 2))
        factor, constant = (float(part[0]) for part in discount_of_errors(np.array([len(outcomes)])))
        return GlobalRule(
            rule=rule,
            output=mean,
            support=len(outcomes),
            coverage=len(outcomes) / len(self.training_outcomes_),
            precision=1 - mse / self._variance(),
            mse=mse,
            mae=float(np.mean(np.abs(outcomes - mean))),
            expected=1 - factor * mse / self._variance() - constant,
        )

    def _gains(self, lines: Sequence[GlobalRule]) -> NumberGains:
        return NumberGains(
            y=self.training_outcomes_,
            outputs=np.array([line.output for line in lines], dtype=np.float64),
            support=np.array([line.support for line in lines], dtype=np.int64),
            expected=np.array([line.expected for line in lines], dtype=np.float64),
        )

    def _variance(self) -> float:
        y = self.training_outcomes_
        return float(y.var()) if y.min() < y.max() else 1.0  # all MSE are 0 then

    def _losses(self, outputs: NDArray[Any], outcomes: NDArray[Any]) -> Floats:
        return np.asarray((outputs - outcomes) ** 2 / self._variance())

    def _constant_model(self) -> Any:
        return DummyRegressor()


def _expected(rule: Rule, label: Any, n_right: int, n_rows: int) -> float:
    """Estimate the share of new rows in a box that have a label.

    The share of the training rows is too high, since the box was chosen for them. The local rule has an estimate of its
    own, which rows out of bag limit; it is about the outcome of the rule.
    """
    share = discounted_share(n_right, n_rows)
    return share if rule.precision is None or rule.outcome != label else min(share, rule.precision)
