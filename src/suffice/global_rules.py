"""Global sufficient rules: a transparent model made of the local rules of training rows.

Each distinct box becomes one line, measured on the table; the first line of the list that covers a row decides. How
local rules are found is left to ``explainer``, and what a box covers to ``rules``.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.utils import Tags, estimator_html_repr, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from suffice._table.checks import as_finite, check_finite, check_number, read_input, read_outcomes
from suffice._table.frames import as_frame
from suffice._table.table import Table
from suffice.errors import did_you_mean
from suffice.explainer import SufficientExplainer
from suffice.rules import Rule, to_sql_literal
from suffice.words import counted, format_number, format_percent, format_probability

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

# Shares are differences of rounded quotients: 0.99 - 0.98 is 0.010000000000000009.
ROUNDING = 1e-12


@dataclass(frozen=True)
class GlobalRule:
    """A line of a global model: a box, what it says, and how well that holds on the training rows.

    Parameters
    ----------
    rule : Rule
        The box. Of several local rules with the same conditions, the one with the largest SDP.
    output : object
        What is said of the rows covered: their most frequent label (of equally frequent, the first of the classes),
        or their mean.
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

    Examples
    --------
    >>> from suffice.rules import Condition, Rule
    >>> box = Rule((Condition("hour", 5.5, 9.0),), "busy", None, 0.95, 8, 0.4, 1.0, None, True, 8.0, False)
    >>> print(GlobalRule(box, "busy", 8, 0.4, 0.75, {"busy": 0.75, "calm": 0.25}))
    IF 5.5 < hour <= 9 THEN busy  (support 8, coverage 40 %, precision 0.75)
    """

    rule: Rule
    output: Any
    support: int
    coverage: float
    precision: float
    frequencies: dict[Any, float] | None = field(default=None, hash=False)
    mse: float | None = None
    mae: float | None = None

    @property
    def std(self) -> float | None:
        """Standard deviation of the outcomes of the rows covered (regression), or None."""
        return None if self.mse is None else math.sqrt(self.mse)

    @property
    def text(self) -> str:
        """What the rule asks, such as "hour > 5.5 AND temp <= 7"; nothing if it covers everything."""
        return " AND ".join(str(condition) for condition in self.rule.conditions)

    def __str__(self) -> str:
        """Return the line as a sentence with its figures."""
        said, quality = str(self.output), f"precision {format_probability(self.precision)}"
        if self.mse is not None and self.mae is not None:
            said = f"{self.rule.target} = {format_number(self.output)}"
            quality = f"MSE {format_number(self.mse)}, MAE {format_number(self.mae)}"
        sentence = f"IF {self.text} THEN {said}" if self.text else f"ALWAYS {said}"
        return f"{sentence}  (support {self.support}, coverage {format_percent(self.coverage)} %, {quality})"


class _GlobalRules(BaseEstimator):  # type: ignore[misc]
    """What the classifier and the regressor share: collecting, measuring, deciding, simplifying and writing rules."""

    _task: str
    _constant: str  # the fallback that says the same of every row
    _precision_range: tuple[str, float]  # in words, and the lower end

    def __init__(
        self,
        explainer: SufficientExplainer | None = None,
        *,
        min_precision: float = 0.0,
        min_support: int = 1,
        fallback: Any = None,
        random_state: Any = None,
    ) -> None:
        self.explainer = explainer
        self.min_precision = min_precision
        self.min_support = min_support
        self.fallback = fallback
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Any:
        """Fit the explainer, explain every training row with its outcome, and collect the rules.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The table: whatever the explainer takes.
        y : array-like of shape (n_rows,)
            The outcomes.

        Returns
        -------
        estimator
            The fitted model.
        """
        self._check_parameters()
        table, outcomes = self._check_training(X, y)
        given = self._table_for_others(X, table)
        named = y if hasattr(y, "name") else outcomes  # the explainer calls a regression's outcome by it
        self.explainer_ = self._fit_explainer(given, named)
        explanations = self.explainer_.explain(given, outcomes, sets="minimal", rules="minimal")
        return self._collect(explanations.rules, X, table, outcomes)

    @classmethod
    def from_explanations(cls, rules: Any, X: Any = None, y: Any = None, **params: Any) -> Any:
        """Make a model of rules that are already there.

        Parameters
        ----------
        rules : Explanations, or iterable of Rule or None
            The local rules; None, for a row without one, is passed over.
        X : array-like or frame of shape (n_rows, n_columns), default=None
            The table on which outputs, support and precision are measured. None takes the training table of the
            explainer that made the explanations.
        y : array-like of shape (n_rows,), default=None
            Its outcomes.
        **params : dict
            Parameters of the model. An `explainer` that is fitted is used as it is by ``fallback="forest"``; otherwise
            that fallback fits one on `X` and `y`.

        Returns
        -------
        estimator
            The fitted model.
        """
        model = cls(**params)
        model._check_parameters()
        found = getattr(rules, "rules", rules)
        if found is None:
            raise ValueError("These explanations hold no rules: explain(X, y, rules='minimal') finds them.")
        table: Table | None = None
        if X is None:
            if not hasattr(rules, "training"):
                raise ValueError("Give `X` and `y`: only explanations know the table that they come from.")
            if not (model.fallback is None or model.fallback == model._constant):
                raise ValueError(f"Give `X` and `y`, on which the fallback {model.fallback!r} is fitted.")
            table, y = rules.training
            model.n_features_in_ = len(table.names)
            if table.has_names:
                model.feature_names_in_ = np.array(table.names, dtype=object)
            outcomes = model._read_outcomes(y)
        else:
            table, outcomes = model._check_training(X, y)
        is_fitted = model.explainer is not None and hasattr(model.explainer, "forest_")
        if is_fitted:
            model.explainer_ = model.explainer
        elif isinstance(model.fallback, str) and model.fallback == "forest":
            model.explainer_ = model._fit_explainer(model._table_for_others(X, table), outcomes)
        return model._collect(found, X, table, outcomes)

    def decision_path(self, X: Any) -> NDArray[np.int64]:
        """Find the rule that decides each row: the first of `rules_` that covers it.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The rows.

        Returns
        -------
        ndarray of shape (n_rows,), int
            The position of the rule in `rules_`; -1 if none covers the row.
        """
        return self._decide(self._check_table(X))

    def covered(self, X: Any) -> Bools:
        """Tell which rows some rule covers.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The rows.

        Returns
        -------
        ndarray of shape (n_rows,), bool
            Whether the rules, and not the fallback, decide the row.
        """
        return np.asarray(self.decision_path(X) >= 0)

    def coverage(self, X: Any) -> float:
        """Compute the share of rows that some rule covers.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The rows.

        Returns
        -------
        float
            The share; NaN if there are no rows.
        """
        covered = self.covered(X)
        return float(covered.mean()) if len(covered) else math.nan

    def simplify(self, tolerance: float = 0.01) -> Any:
        """Make a model with fewer rules that is nearly as good on the training rows.

        Rules that decide no training row go first. Then, as long as coverage and precision both stay within
        `tolerance` of this model's, the rule goes whose loss costs least of the sum of the two; of equal ones the last
        of the list. Precision is the accuracy on the rows covered or, for a regression, ``1 - MSE / var(y)`` there,
        with the variance of all training outcomes. The search is greedy: a shorter list may exist.

        Parameters
        ----------
        tolerance : float, default=0.01
            How much of coverage, and of precision, may be lost, in [0, 1).

        Returns
        -------
        estimator
            A new fitted model, with some of the rules in the same order. This one stays as it is.
        """
        check_is_fitted(self, "rules_")
        check_number("tolerance", tolerance, "in [0, 1)", lambda v: 0 <= v < 1)
        kept = self._simplify(tolerance)
        simple = copy.copy(self)
        simple._keep(kept)
        return simple

    def to_frame(self) -> Any:
        """Give the rules as a pandas frame.

        Returns
        -------
        pandas.DataFrame
            One line for each rule, in their order: what it asks, its output and its figures.
        """
        check_is_fitted(self, "rules_")
        try:
            import pandas as pd
        except ImportError:
            raise ImportError("`to_frame` needs pandas: pip install pandas.") from None
        measures = ["frequencies"] if self._task == "classification" else ["std", "mse", "mae"]
        columns = ["text", "output", "support", "coverage", "precision", *measures]
        lines = [[getattr(line, column) for column in columns] for line in self.rules_]
        return pd.DataFrame(lines, columns=["rule", *columns[1:]])

    def to_sql(self) -> str:
        """Give the model as one SQL expression.

        Missing values must be NULL. What a fallback would say is not in it.

        Returns
        -------
        str
            ``CASE WHEN ... THEN ... ELSE NULL END``, NULL where no rule covers a row; just NULL if there is no rule.
        """
        check_is_fitted(self, "rules_")
        if not self.rules_:
            return "NULL"
        cases = "\n".join(f"  WHEN {line.rule.to_sql()} THEN {to_sql_literal(line.output)}" for line in self.rules_)
        return f"CASE\n{cases}\n  ELSE NULL\nEND"

    def __str__(self) -> str:
        """Return the rules as numbered sentences."""
        if not hasattr(self, "rules_"):
            return str(self.__repr__())
        n_rows = len(self._outcomes)
        share = np.count_nonzero(self._cover_matrix().any(axis=0)) / n_rows
        covered = f"coverage {format_percent(share)} % of {counted(n_rows, 'row')}"
        lines = [f"{counted(len(self.rules_), 'rule')}, {covered}; the first that covers a row decides."]
        lines += [f"{i}. {line}" for i, line in enumerate(self.rules_, start=1)]
        if self.fallback is not None:
            said = self.fallback if isinstance(self.fallback, str) else type(self.fallback).__name__
            lines.append(f"ELSE {said}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        if not hasattr(self, "rules_"):
            return str(estimator_html_repr(self))
        from suffice._show.cards import global_rules_card

        n_rows = len(self._outcomes)
        return global_rules_card(self, n_rows, np.count_nonzero(self._cover_matrix().any(axis=0)) / n_rows)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)
        return {**bundle, "text/html": self._repr_html_()} if "text/html" in bundle else bundle

    # --- what differs between labels and numbers ---------------------------------------------------------------------

    def _read_outcomes(self, y: NDArray[Any]) -> NDArray[Any]:
        raise NotImplementedError

    def _measure(self, rule: Rule, outcomes: NDArray[Any]) -> GlobalRule:
        """Measure a rule on the outcomes of the rows that it covers."""
        raise NotImplementedError

    def _outputs(self) -> NDArray[Any]:
        """Give the output of each rule."""
        raise NotImplementedError

    def _losses(self, outputs: NDArray[Any], outcomes: NDArray[Any]) -> Floats:
        """Compute what outputs cost: precision is 1 minus the mean."""
        raise NotImplementedError

    def _constant_model(self) -> Any:
        raise NotImplementedError

    # --- collecting --------------------------------------------------------------------------------------------------

    def _collect(self, rules: Iterable[Rule | None], X: Any, table: Table, y: NDArray[Any]) -> Any:
        self._outcomes = y
        surest: dict[frozenset[Any], Rule] = {}
        for rule in rules:
            if rule is None:
                continue
            if not isinstance(rule, Rule):
                raise TypeError(f"`rules` must hold Rule values or None, got {rule!r}.")
            box = frozenset(rule.conditions)
            if box not in surest or rule.sdp > surest[box].sdp:
                surest[box] = rule
        found = []
        for rule in surest.values():
            covered = rule.covers(table)
            if np.count_nonzero(covered) >= self.min_support:
                line = self._measure(rule, y[covered])
                if line.precision >= self.min_precision:
                    found.append((line, np.packbits(covered)))
        # For a regression the best precision is the smallest MSE; the MSE itself is free of one more rounding.
        found.sort(key=lambda f: (-f[0].precision if f[0].mse is None else f[0].mse, -f[0].support, f[0].text))
        self.rules_ = tuple(line for line, _ in found)
        n_bytes = (table.n_rows + 7) // 8
        self._packed_covers = np.array([covered for _, covered in found], dtype=np.uint8).reshape(len(found), n_bytes)
        self.fallback_ = self._fit_fallback(self._table_for_others(X, table), y)
        return self

    def _fit_explainer(self, X: Any, y: Any) -> Any:
        explainer = SufficientExplainer() if self.explainer is None else clone(self.explainer)
        if explainer.task not in ("auto", self._task):
            raise ValueError(
                f"`explainer` has the task {explainer.task!r}, {type(self).__name__} needs {self._task!r}."
            )
        explainer.set_params(task=self._task)
        if explainer.random_state is None:
            explainer.set_params(random_state=self.random_state)
        return explainer.fit(X, y)

    def _fit_fallback(self, X: Any, y: NDArray[Any]) -> Any:
        if self.fallback is None:
            return None
        if isinstance(self.fallback, str):
            return self.explainer_ if self.fallback == "forest" else self._constant_model().fit(X, y)
        return clone(self.fallback).fit(X, y)

    # --- deciding ----------------------------------------------------------------------------------------------------

    def _decide(self, table: Table) -> NDArray[np.int64]:
        decided = np.full(table.n_rows, -1, dtype=np.int64)
        for i, line in enumerate(self.rules_):
            is_open = decided < 0
            if not is_open.any():
                break
            decided[is_open & line.rule.covers(table)] = i
        return decided

    def _cover_matrix(self) -> Bools:
        """Which rule (row) covers which training row (column)."""
        return np.unpackbits(self._packed_covers, axis=1, count=len(self._outcomes)).astype(np.bool_)

    # --- simplifying -------------------------------------------------------------------------------------------------

    def _keep(self, kept: NDArray[np.intp]) -> None:
        self.rules_ = tuple(self.rules_[i] for i in kept)
        self._packed_covers = self._packed_covers[kept]

    def _simplify(self, tolerance: float) -> NDArray[np.intp]:
        """Find the positions of the rules that stay."""
        n_rules, n_rows = len(self.rules_), len(self._outcomes)
        outputs = self._outputs()
        covers = np.ascontiguousarray(self._cover_matrix().T)
        first, _ = _first_two(covers)
        is_kept = np.bincount(first, minlength=n_rules + 1)[:n_rules] > 0
        covers &= is_kept
        _, second = _first_two(covers)

        def losses(lines: NDArray[np.intp], rows: NDArray[np.intp]) -> Floats:
            found = np.zeros(len(rows))
            is_covered = lines < n_rules
            found[is_covered] = self._losses(outputs[lines[is_covered]], self._outcomes[rows[is_covered]])
            return found

        loss_first, loss_second = losses(first, np.arange(n_rows)), losses(second, np.arange(n_rows))
        n_covered = np.count_nonzero(first < n_rules)
        least_coverage = n_covered / n_rows - tolerance - ROUNDING
        least_precision = 1 - loss_first.sum() / max(n_covered, 1) - tolerance - ROUNDING
        while np.count_nonzero(is_kept) > 1:  # each of them decides some row, so that some are left without any one
            # What coverage and precision would be without each of the rules: its rows go to their second rule.
            is_lost = (first < n_rules) & (second == n_rules)
            n_lost = np.bincount(first, weights=is_lost, minlength=n_rules + 1)[:n_rules]
            dearer = np.bincount(first, weights=loss_second - loss_first, minlength=n_rules + 1)[:n_rules]
            n_left = np.count_nonzero(first < n_rules) - n_lost
            coverage, precision = n_left / n_rows, 1 - (loss_first.sum() + dearer) / n_left
            may_go = is_kept & (coverage >= least_coverage) & (precision >= least_precision)
            if not may_go.any():
                break
            left = np.where(may_go, coverage + precision, -np.inf)
            goes = n_rules - 1 - int(np.argmax(left[::-1]))
            is_kept[goes] = covers[:, goes] = False
            rows = np.flatnonzero((first == goes) | (second == goes))
            first[rows], second[rows] = _first_two(covers[rows])
            loss_first[rows], loss_second[rows] = losses(first[rows], rows), losses(second[rows], rows)
        return np.flatnonzero(is_kept)

    # --- input -------------------------------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        if self.explainer is not None and not isinstance(self.explainer, SufficientExplainer):
            raise TypeError(f"`explainer` must be None or a SufficientExplainer, got {type(self.explainer).__name__}.")
        must_be, least = self._precision_range
        check_number("min_precision", self.min_precision, must_be, lambda v: least <= v <= 1)
        check_number("min_support", self.min_support, "a whole number >= 1", lambda v: v >= 1, Integral)
        words = ["forest", self._constant]
        if isinstance(self.fallback, str) and self.fallback not in words:
            hint = did_you_mean(self.fallback, words)
            raise ValueError(f"`fallback` must be None, one of {words} or an estimator, got {self.fallback!r}.{hint}")
        is_estimator = all(hasattr(self.fallback, method) for method in ("fit", "predict", "get_params"))
        if not (self.fallback is None or isinstance(self.fallback, str) or is_estimator):
            raise TypeError(f"`fallback` must be None, one of {words} or an estimator, got {self.fallback!r}.")

    def _check_training(self, X: Any, y: Any) -> tuple[Table, NDArray[Any]]:
        table = self._check_table(X, reset=True)
        return table, self._read_outcomes(read_outcomes(y, table.n_rows))

    def _check_table(self, X: Any, reset: bool = False) -> Table:
        if not reset:
            check_is_fitted(self, "rules_")
        extra = "error" if self.explainer is None else self.explainer.extra_columns
        table = read_input(self, X, reset=reset, min_rows=1 if reset else 0, extra_columns=extra)
        if table.array is not None:
            check_finite(table.array, table.names, takes_missing=True)
        return table

    def _table_for_others(self, X: Any, table: Table) -> Any:
        """Give a frame with the columns of the training table in their order, or of an array the numbers."""
        frame = as_frame(X)
        if frame is None:
            return X if table.array is None else table.array
        return frame.select(table.names).to_native() if table.has_names else X

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn what the model takes."""
        tags = super().__sklearn_tags__()
        others = [other for other in (self.explainer, self.fallback) if hasattr(other, "__sklearn_tags__")]
        tags.input_tags.allow_nan = all(get_tags(other).input_tags.allow_nan for other in others)
        return tags


class GlobalRulesClassifier(ClassifierMixin, _GlobalRules):  # type: ignore[misc]
    """Classify by a list of sufficient rules.

    The rules are those of the training rows: each distinct box is one line of the list, and says the most frequent
    label of the rows that it covers. The first line that covers a row decides. Of a row that no rule covers nothing is
    said, unless there is a `fallback`.

    Parameters
    ----------
    explainer : SufficientExplainer, default=None
        The explainer whose rules are collected; `fit` fits a clone of it. None takes the default one.
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
        The rules, the most accurate first; of equally accurate ones that with the largest support, then by text.
    classes_ : ndarray
        The labels.
    explainer_ : SufficientExplainer
        The fitted explainer; not there if the model was made of rules and needs none.
    fallback_ : estimator or None
        What decides rows that no rule covers.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of str
        The names of the columns, if `X` had names.

    Examples
    --------
    >>> from suffice.global_rules import GlobalRulesClassifier
    >>> from suffice.rules import Condition, Rule
    >>> figures = (None, 0.95, 2, 0.5, 1.0, None, True, 2.0, False)
    >>> rules = [Rule((Condition("x0", high=2.5),), "calm", *figures), Rule((Condition("x0", 3.5),), "busy", *figures)]
    >>> X, y = [[1.0], [2.0], [3.0], [4.0]], ["calm", "calm", "busy", "busy"]
    >>> model = GlobalRulesClassifier.from_explanations(rules, X, y)
    >>> print(model)
    2 rules, coverage 75 % of 4 rows; the first that covers a row decides.
    1. IF x0 <= 2.5 THEN calm  (support 2, coverage 50 %, precision 1.00)
    2. IF x0 > 3.5 THEN busy  (support 1, coverage 25 %, precision 1.00)
    >>> model.predict(X).tolist()
    ['calm', 'calm', None, 'busy']
    """

    _task = "classification"
    _constant = "majority"
    _precision_range = ("in [0, 1]", 0.0)

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
        said = self._outputs()[decided[is_covered]]
        if is_covered.all():
            return said
        if self.fallback_ is None:
            labels = np.full(table.n_rows, None, dtype=object)
            labels[is_covered] = said.astype(object)
            return labels
        predicted = np.array(self.fallback_.predict(self._table_for_others(X, table)), dtype=self.classes_.dtype)
        predicted[is_covered] = said
        return predicted

    def predict_proba(self, X: Any) -> Floats:
        """Give the shares of the classes among the training rows that the deciding rule covers.

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

    def _outputs(self) -> NDArray[Any]:
        return np.array([line.output for line in self.rules_], dtype=self.classes_.dtype)

    def _read_outcomes(self, y: NDArray[Any]) -> NDArray[Any]:
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        return y

    def _measure(self, rule: Rule, outcomes: NDArray[Any]) -> GlobalRule:
        counts = np.bincount(np.searchsorted(self.classes_, outcomes), minlength=len(self.classes_))
        support = len(outcomes)
        labels = self.classes_.tolist()
        return GlobalRule(
            rule=rule,
            output=labels[int(np.argmax(counts))],
            support=support,
            coverage=support / len(self._outcomes),
            precision=float(counts.max() / support),
            frequencies=dict(zip(labels, (counts / support).tolist(), strict=True)),
        )

    def _losses(self, outputs: NDArray[Any], outcomes: NDArray[Any]) -> Floats:
        return np.asarray(outputs != outcomes, dtype=np.float64)

    def _constant_model(self) -> Any:
        return DummyClassifier(strategy="prior")


class GlobalRulesRegressor(RegressorMixin, _GlobalRules):  # type: ignore[misc]
    """Predict numbers by a list of sufficient rules.

    The rules are those of the training rows: each distinct box is one line of the list, and says the mean of the rows
    that it covers. The first line that covers a row decides. Of a row that no rule covers nothing is said, unless
    there is a `fallback`.

    Parameters
    ----------
    explainer : SufficientExplainer, default=None
        The explainer whose rules are collected; `fit` fits a clone of it. None takes the default one.
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
        The rules, that with the least MSE first; of equal ones that with the largest support, then by text.
    explainer_ : SufficientExplainer
        The fitted explainer; not there if the model was made of rules and needs none.
    fallback_ : estimator or None
        What decides rows that no rule covers.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of str
        The names of the columns, if `X` had names.

    Examples
    --------
    >>> from suffice.global_rules import GlobalRulesRegressor
    >>> from suffice.rules import Condition, Rule
    >>> box = Rule((Condition("x0", high=2.5),), 1.5, (1.0, 2.0), 0.95, 2, 0.5, 1.0, 0.5, True, 2.0, False)
    >>> model = GlobalRulesRegressor.from_explanations([box], [[1.0], [2.0], [3.0]], [1.0, 2.0, 9.0], min_support=1)
    >>> print(model)
    1 rule, coverage 67 % of 3 rows; the first that covers a row decides.
    1. IF x0 <= 2.5 THEN y = 1.5  (support 2, coverage 67 %, MSE 0.25, MAE 0.5)
    >>> model.predict([[0.0], [3.0]])
    array([1.5, nan])
    """

    _task = "regression"
    _constant = "mean"
    _precision_range = ("a number <= 1", -math.inf)

    def __init__(
        self,
        explainer: SufficientExplainer | None = None,
        *,
        min_precision: float = 0.0,
        min_support: int = 10,
        fallback: Any = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            explainer,
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
        predicted[is_covered] = self._outputs()[decided[is_covered]]
        return predicted

    def _outputs(self) -> Floats:
        return np.array([line.output for line in self.rules_], dtype=np.float64)

    def _read_outcomes(self, y: NDArray[Any]) -> NDArray[Any]:
        return as_finite(y)

    def _measure(self, rule: Rule, outcomes: NDArray[Any]) -> GlobalRule:
        # The mean of equal numbers may be rounded, and their MSE not be 0.
        is_constant = outcomes.min() == outcomes.max()
        mean = float(outcomes[0] if is_constant else outcomes.mean())
        mse = float(np.mean((outcomes - mean) ** 2))
        return GlobalRule(
            rule=rule,
            output=mean,
            support=len(outcomes),
            coverage=len(outcomes) / len(self._outcomes),
            precision=1 - mse / self._variance(),
            mse=mse,
            mae=float(np.mean(np.abs(outcomes - mean))),
        )

    def _variance(self) -> float:
        y = self._outcomes
        return float(y.var()) if y.min() < y.max() else 1.0  # all MSE are 0 then

    def _losses(self, outputs: NDArray[Any], outcomes: NDArray[Any]) -> Floats:
        return np.asarray((outputs - outcomes) ** 2 / self._variance())

    def _constant_model(self) -> Any:
        return DummyRegressor()


def _first_two(covers: Bools) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Find the first and the second True of each row; the number of columns stands for none."""
    n_rows, n_columns = covers.shape
    padded = np.ones((n_rows, n_columns + 2), dtype=np.bool_)
    padded[:, :n_columns] = covers
    first = np.argmax(padded, axis=1)
    padded[np.arange(n_rows), first] = False
    return np.minimum(first, n_columns), np.minimum(np.argmax(padded, axis=1), n_columns)
