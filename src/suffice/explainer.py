"""``SufficientExplainer``: from a table to sufficient explanations."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import ClassifierTags, RegressorTags, Tags, estimator_html_repr, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from suffice._engine.forest import (
    FittedForest,
    check_outcomes,
    decide_task,
    fidelity,
    fit_forest,
    takes_missing,
    task_of_forest,
)
from suffice._engine.model_outputs import ask_model, task_of_model
from suffice._engine.progress import progress_bar
from suffice._engine.projection import ProjectedForest
from suffice._engine.rule_search import RuleFinder, RuleOptions
from suffice._engine.search import choose_candidates, find_sufficient_sets
from suffice._engine.settings import check_settings, count_threads, describe_explainer, least_cell
from suffice._table.checks import as_finite, check_finite, read_input, read_outcomes
from suffice._table.encoding import Encoding
from suffice._table.table import Table, read_columns
from suffice._table.variables import Variables, VariableSet
from suffice.errors import InputValueError
from suffice.explanation import Explanations, SetsKind, check_sets_kind
from suffice.rules import Rule

Floats = NDArray[np.float64]
DEFAULT_MAX_SETS = 2**20  # all sets of 20 candidates


def _has_classes(explainer: SufficientExplainer) -> bool:
    task = getattr(explainer, "task_", explainer.task)
    if task == "regression" or (task == "auto" and task_of_forest(explainer.forest) == "regression"):
        raise AttributeError("`predict_proba` is for classification; for a regression see `cdf`.")
    return True


class SufficientExplainer(BaseEstimator):  # type: ignore[misc]
    """Explain outcomes of a table by the few variables that are enough to keep them.

    Fit it on data ``(X, y)``, or on a model's outputs by `for_model`. For a row and its outcome, the
    same-decision probability (SDP) of a set S of variables is the probability that the outcome stays the same when
    only the variables in S keep their values. A set is sufficient if its SDP is at least `pi` and no smaller part of
    it has that.

    Parameters
    ----------
    forest : estimator, default=None
        A scikit-learn RandomForest or ExtraTrees classifier or regressor. A fitted one is used as it is: `fit` then
        needs the table that it was fitted on. None fits a random forest of 100 trees.
    task : {"auto", "classification", "regression"}, default="auto"
        What `y` is. "auto" goes by the forest or, without one, by the values.
    pi : float, default=0.9
        The probability that a sufficient set must reach, in (0, 1].
    alpha : float, default=0.1
        Regression: the outcome is kept within the forest's conditional quantiles at levels ``alpha / 2`` and
        ``1 - alpha / 2``.
    radius : float, default=None
        Regression: if given, the outcome y is kept within ``[y - sqrt(radius), y + sqrt(radius)]`` instead.
    n_candidates : int, default=10
        How many variables are searched for sufficient sets, at most 128.
    candidates : {"splits", "impurity", "permutation"} or list of str or int, default="splits"
        How the candidates are chosen: by the number of splits on them, by impurity or permutation importance, or
        given by name or position.
    min_size, max_size : int, default=1, None
        The sizes of the sets. ``min_size=0`` allows the empty set: the outcome is kept whatever is known. None sets
        no largest size.
    max_sets : int, default=2**20
        How many sets of candidates the search of a row may go through, the smallest and those of the most important
        candidates first: all sets of 20 candidates, or all up to size 3 of 128. Beyond, the search ends, which is
        told by a warning and by ``is_search_complete``. None sets no limit.
    min_node_size : int, default=None
        A cell of the projected forest is not cut down below this many rows. None takes the forest's
        `min_samples_leaf`.
    reference_rows : int, default=None
        Of a larger training table, keep only so many rows, drawn at random, for all that is counted: SDPs, intervals,
        rules. The forest is fitted on all rows, and predicts by them. Memory and time for a row then go by the rows
        kept, and so does the noise of the counts; cells are as large as before (`min_node_size` goes down in
        proportion). None keeps all.
    groups : dict of str to list of str or int, or "detect", default=None
        Columns that are one variable, such as the indicators of a category. "detect" makes one of columns that share
        a prefix, hold only 0 and 1, and of which no two are 1 in the same row: those of an encoder.
    dates : {"parts"}, default=None
        What to do with columns of dates: take their year, month, day, weekday and hour, as one variable; or, by
        default, refuse them.
    unseen : {"error", "missing"}, default="error"
        What to do with categories that were not there at fit: refuse them, or take them as missing.
    extra_columns : {"error", "ignore"}, default="error"
        What to do with columns that were not there at fit.
    n_jobs : int, default=None
        The number of threads; None or -1 for all cores. It does not change the results.
    random_state : int, RandomState or None, default=None
        The seed of a forest that has none of its own, and of permutations.

    Attributes
    ----------
    forest_ : estimator
        The fitted forest.
    task_ : {"classification", "regression"}
        What was fitted.
    fidelity_ : float
        Out-of-bag accuracy (classification) or R2 (regression) of the forest on `y`: how far explanations can be
        trusted. NaN for a forest that has no rows out of bag.
    fidelity_by_class_ : dict of object to float
        Classification: for each class the out-of-bag share of its rows that the forest gets right; NaN if it has none.
    task_reason_ : str
        Why `task_` is what it is, in one line.
    classes_ : ndarray
        The labels (classification only).
    target_name_ : str
        The name of `y` if it had one, else "y".
    variable_names_ : tuple of str
        The variables: the columns, with each group as one.
    candidates_ : tuple of str
        The variables that are searched, the most important first.
    min_node_size_ : int
        The least size of a cell.
    model_ : object
        The model that is explained; only after `for_model`.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of str
        The names of the columns, if `X` had names.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from suffice import SufficientExplainer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> explainer = SufficientExplainer(random_state=0).fit(X, y)
    >>> explanation = explainer.explain(X[:1])[0]
    >>> explanation.is_sufficient
    True
    """

    def __init__(
        self,
        forest: Any = None,
        *,
        task: str = "auto",
        pi: float = 0.9,
        alpha: float = 0.1,
        radius: float | None = None,
        n_candidates: int = 10,
        candidates: str | Sequence[str | int] = "splits",
        min_size: int = 1,
        max_size: int | None = None,
        max_sets: int | None = DEFAULT_MAX_SETS,
        min_node_size: int | None = None,
        reference_rows: int | None = None,
        groups: Mapping[str, Sequence[str | int]] | Literal["detect"] | None = None,
        dates: Literal["parts"] | None = None,
        unseen: Literal["error", "missing"] = "error",
        extra_columns: Literal["error", "ignore"] = "error",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.forest = forest
        self.task = task
        self.pi = pi
        self.alpha = alpha
        self.radius = radius
        self.n_candidates = n_candidates
        self.candidates = candidates
        self.min_size = min_size
        self.max_size = max_size
        self.max_sets = max_sets
        self.min_node_size = min_node_size
        self.reference_rows = reference_rows
        self.groups = groups
        self.dates = dates
        self.unseen = unseen
        self.extra_columns = extra_columns
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, **unsupported: Any) -> SufficientExplainer:
        """Fit the forest, and choose the candidates.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The table: numbers, booleans, categories, text; and dates, on request. Any of them may be missing.
        y : array-like of shape (n_rows,)
            The outcomes: observed, or a model's outputs for `X`.
        **unsupported : dict
            Weights are not supported and are refused.

        Returns
        -------
        SufficientExplainer
            The fitted explainer.
        """
        if unsupported:
            name = next(iter(unsupported))
            hint = " Repeat rows instead of weighting them." if "weight" in name else ""
            raise TypeError(f"`fit` takes `X` and `y` only, got {name!r}.{hint}")
        check_settings(self)
        task_of_forest(self.forest)  # a wrong kind of forest is told first
        given = read_input(self, X, reset=True, min_rows=2)
        outcomes = read_outcomes(y, given.n_rows)
        self.task_, self.task_reason_ = decide_task(self.task, self.forest, outcomes)
        n_threads = count_threads(self.n_jobs)

        if self.task_ == "regression":
            outcomes = as_finite(outcomes)
        else:
            check_classification_targets(outcomes)
            if self.radius is not None:
                raise ValueError("`radius` is for regression, but `y` holds classes; leave it None.")
        values = np.unique(outcomes)
        if len(values) == 1:
            kind = "class" if self.task_ == "classification" else "value"
            raise ValueError(f"`y` has one {kind} only, {values.tolist()[0]!r}: there is nothing to explain.")

        self._encoding = Encoding.learn(given, outcomes, self.task_ == "classification", self.dates)
        if hasattr(self.forest, "estimators_"):
            self._encoding.check_numeric()
        table = self._encode(given, self.forest)
        variables = Variables.of_matrix(self._encoding, table, self.groups)
        self.forest_ = fit_forest(self.forest, self.task_, table, outcomes, n_threads, self.random_state)
        if self.task_ == "classification":
            self.classes_ = self.forest_.classes_
            outcomes = self._class_ranks(outcomes)
        fitted = FittedForest.of_training(
            self.forest_, table, outcomes, self.reference_rows, n_threads, self.random_state
        )
        if self.forest_ is self.forest:
            check_outcomes(self.forest_, outcomes)
        self.min_node_size_ = least_cell(self.min_node_size, self.forest_.min_samples_leaf, len(table), len(fitted.X))
        chosen = choose_candidates(
            replace(fitted, estimator=self.forest_), variables, self.candidates, self.n_candidates, self.random_state
        )
        self.target_name_ = str(getattr(y, "name", None) or "y")
        self._projected = ProjectedForest(fitted, variables, chosen, self.min_node_size_, n_threads)
        self._rule_finder = RuleFinder(self._projected, self._encoding, self.target_name_)
        self.variable_names_ = variables.names
        self.candidates_ = tuple(variables.names[v] for v in chosen)
        self.fidelity_, shares = fidelity(fitted, self.task_)
        if self.task_ == "classification":
            self.fidelity_by_class_ = dict(zip(self.classes_.tolist(), shares, strict=True))
        return self

    @classmethod
    def for_model(cls, model: Any, X: Any, *, probability_of: Any = None, **params: Any) -> SufficientExplainer:
        """Fit an explainer on what a model says of a table. Nothing but its outputs is used.

        The methods that take outcomes then ask the model for those that are not given; ``model_`` holds it.

        Parameters
        ----------
        model : estimator or callable
            Any model with `predict`, or a function of the table: a pipeline, a boosted model, a network. It gets the
            table as it is, and may encode it in its own way. Outputs with several columns are taken as scores of
            classes.
        X : array-like or frame of shape (n_rows, n_columns)
            The rows about which the model is asked, such as those that it was trained on.
        probability_of : object, default=None
            A class: explain the number that the model gives as its probability, instead of the class that it predicts.
        **params : dict
            Parameters of the explainer.

        Returns
        -------
        SufficientExplainer
            The fitted explainer; `fidelity_` tells how well its forest follows the model.

        Examples
        --------
        >>> import numpy as np
        >>> X = np.random.default_rng(0).normal(size=(200, 3))
        >>> explainer = SufficientExplainer.for_model(lambda X: X[:, 1] > 0, X, random_state=0)
        >>> explainer.explain(np.array([[0.0, 2.0, 0.0]]))[0].best_set.variables
        ('x1',)
        """
        explainer = cls(**params)
        if explainer.task == "auto" and explainer.forest is None and probability_of is None:
            explainer.task = task_of_model(model)
        outputs = ask_model(model, X, read_columns(X).n_rows, probability_of)
        explainer.fit(X, outputs)
        explainer.model_ = model
        explainer._probability_of = probability_of
        explainer.target_name_ = "prediction" if probability_of is None else f"probability of {probability_of}"
        explainer._rule_finder.target_name = explainer.target_name_
        return explainer

    def sdp(self, X: Any, S: Any, y: Any = None) -> Floats:
        """Compute the same-decision probability of sets of variables.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The rows.
        S : list of str or int, or one such list per row
            The variables that keep their values, by name or by position in `variable_names_`.
        y : array-like of shape (n_rows,), default=None
            The outcomes; None for the predictions of the model that is explained, or of the forest itself.

        Returns
        -------
        ndarray of shape (n_rows,)
            The probabilities.
        """
        table = self._check_table(X)
        sets = self._subsets(S, len(table))
        lo, hi = self._ranks(*self._outcomes(X, table, y))
        return self._projected.sdp(table, sets, lo, hi)

    def cdf(self, X: Any, S: Any, values: ArrayLike) -> Floats:
        """Compute the probability of Y <= value, given the variables in S (regression only).

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The rows.
        S : list of str or int, or one such list per row, or None
            The variables that keep their values; None for the forest's own distribution.
        values : array-like of shape (n_values,)
            Where to compute it.

        Returns
        -------
        ndarray of shape (n_rows, n_values)
            The probabilities.
        """
        table = self._check_table(X)
        self._only_regression("cdf")
        at = np.atleast_1d(np.asarray(values, dtype=np.float64))
        if at.ndim != 1 or np.isnan(at).any():
            raise ValueError("`values` must be a list of numbers without NaN.")
        order = np.argsort(at, kind="stable")
        end = np.searchsorted(self._projected.forest.y_values, at[order], side="right").astype(np.uint32)
        cdf = np.empty((len(table), len(at)))
        cdf[:, order] = self._projected.cumulative_shares(table, self._subsets_or_none(S, len(table)), end)
        return cdf

    def predict(self, X: Any, S: Any = None) -> NDArray[Any]:
        """Predict from the variables in S alone.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The rows.
        S : list of str or int, or one such list per row, default=None
            The variables that keep their values; None for the forest's own prediction.

        Returns
        -------
        ndarray of shape (n_rows,)
            The likeliest class, or the conditional mean.
        """
        table = self._check_table(X)
        sets = self._subsets_or_none(S, len(table))
        if self.task_ == "classification":
            return np.asarray(self.classes_[np.argmax(self._probabilities(table, sets), axis=1)])
        if sets is None:
            return self._projected.forest.predict_leaves(table)[:, 0]
        return self._projected.mean(table, sets)

    def score(self, X: Any, y: Any) -> float:
        """Measure how well the forest predicts outcomes, such as those of rows that it was not fitted on.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The rows.
        y : array-like of shape (n_rows,)
            Their outcomes.

        Returns
        -------
        float
            Accuracy (classification) or R2 (regression): `fidelity_` on other rows.
        """
        predictions = self.predict(X)
        outcomes = read_outcomes(y, len(predictions))
        measure = accuracy_score if self.task_ == "classification" else r2_score
        return float(measure(outcomes, predictions))

    @available_if(_has_classes)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any, S: Any = None) -> Floats:
        """Compute class probabilities from the variables in S alone (classification only).

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The rows.
        S : list of str or int, or one such list per row, default=None
            The variables that keep their values; None for the forest's own probabilities.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            The probabilities, in the order of `classes_`.
        """
        table = self._check_table(X)
        return self._probabilities(table, self._subsets_or_none(S, len(table)))

    def quantile(self, X: Any, levels: ArrayLike, S: Any = None) -> Floats:
        """Compute conditional quantiles: the smallest outcomes whose CDF reaches the levels (regression only).

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The rows.
        levels : float or array-like of shape (n_levels,)
            The levels, in [0, 1].
        S : list of str or int, or one such list per row, default=None
            The variables that keep their values; None for the forest's own distribution.

        Returns
        -------
        ndarray of shape (n_rows, n_levels), or (n_rows,) for a single number
            Outcomes of training rows.
        """
        table = self._check_table(X)
        self._only_regression("quantile")
        at = np.atleast_1d(np.asarray(levels, dtype=np.float64))
        if at.ndim != 1 or not np.all((at >= 0) & (at <= 1)):
            raise ValueError(f"`levels` must be in [0, 1], got {levels!r}.")
        quantiles = self._projected.quantiles(table, self._subsets_or_none(S, len(table)), at)
        return quantiles[:, 0] if np.ndim(levels) == 0 else quantiles

    def interval(self, X: Any, y: Any = None) -> Floats:
        """Give the interval within which each outcome counts as kept (regression only).

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The rows.
        y : array-like of shape (n_rows,), default=None
            The outcomes; None for predictions, as in `sdp`. They matter only if `radius` is set.

        Returns
        -------
        ndarray of shape (n_rows, 2)
            Low and high ends, both included.
        """
        table = self._check_table(X)
        self._only_regression("interval")
        _, intervals = self._outcomes(X, table, y)
        assert intervals is not None
        return intervals

    def rule(
        self,
        X: Any,
        S: Any,
        y: Any = None,
        *,
        check: Literal["rows", "everywhere"] = "rows",
        volume: Literal["rows", "lebesgue"] = "rows",
        max_nodes: int = 10_000,
    ) -> list[Rule | None]:
        """Find the maximal sufficient rule of each row for sets of your choice.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The rows.
        S : list of str or int, or one such list per row
            The variables of the rule; at least one.
        y : array-like of shape (n_rows,), default=None
            The outcomes; None for the predictions of the model that is explained, or of the forest itself.
        check : {"rows", "everywhere"}, default="rows"
            Where in the box the SDP must be at least `pi`: at every training row, or at every point.
        volume : {"rows", "lebesgue"}, default="rows"
            What is maximised: the training rows covered, or the volume within the range of the data.
        max_nodes : int, default=10000
            How many boxes the search may look at. Beyond, a rule is the best so far: `optimal` is False, and `bound`
            tells how much a better one could cover.

        Returns
        -------
        list of Rule or None
            None where the SDP at the row is below `pi`: then there is no rule.
        """
        table = self._check_table(X)
        sets = self._subsets(S, len(table))
        if not all(sets):
            raise ValueError("`S` must name at least one variable: a rule without variables has no bounds.")
        outcomes, intervals = self._outcomes(X, table, y)
        ranks = self._ranks(outcomes, intervals)
        options = RuleOptions(check, volume, max_nodes)
        return self._rule_finder.find(table, sets, outcomes, intervals, *ranks, self.pi, options)

    def explain(
        self,
        X: Any,
        y: Any = None,
        *,
        sets: SetsKind = "all",
        rules: SetsKind | None = "minimal",
        check: Literal["rows", "everywhere"] = "rows",
        volume: Literal["rows", "lebesgue"] = "rows",
        progress: bool | None = None,
    ) -> Explanations:
        """Find the sufficient sets of each row, and the rules that they make.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The rows to explain.
        y : array-like of shape (n_rows,), default=None
            Their outcomes; None explains the predictions of the model, or of the forest if there is no model.
        sets : {"all", "minimal"}, default="all"
            "all" finds every sufficient set among the candidates; "minimal" stops at the smallest size that has one.
        rules : {"minimal", "all", None}, default="minimal"
            Which sets get a maximal rule: the surest minimal one, every one that was found, or none.
        check, volume : str
            What a rule must fulfil and what it maximises: see `rule`.
        progress : bool, default=None
            Whether to show a progress bar; None shows one on a terminal or in a notebook if it takes over a second.

        Returns
        -------
        Explanations
            One explanation for each row, in their order.
        """
        check_is_fitted(self)
        check_sets_kind(sets)
        if rules not in ("minimal", "all", None):
            raise ValueError(f"`rules` must be 'minimal', 'all' or None, got {rules!r}.")
        options = RuleOptions(check, volume)
        check_settings(self)
        self._projected.use_threads(count_threads(self.n_jobs))
        given = read_input(self, X, extra_columns=self.extra_columns)
        table = self._encode(given, self.forest_)
        predictions = self._predict_leaves(table)
        outcomes, intervals = self._outcomes(X, table, y, predictions)
        lo, hi = self._ranks(outcomes, intervals)
        with progress_bar(len(table), progress) as tell:
            found = find_sufficient_sets(
                self._projected,
                table,
                lo,
                hi,
                pi=self.pi,
                min_size=self.min_size,
                max_size=self.max_size,
                minimal_only=sets == "minimal",
                max_sets=self.max_sets,
                progress=tell,
            )
        found_rules: list[tuple[Rule, ...]] = [()] * len(table)
        if rules is not None:
            rows, row_sets = found.sets_by_row(first_only=rules == "minimal")
            with progress_bar(len(rows), progress, "rules") as tell:
                each = self._rule_finder.find(
                    table[rows],
                    row_sets,
                    outcomes[rows],
                    None if intervals is None else intervals[rows],
                    lo[rows],
                    hi[rows],
                    self.pi,
                    options,
                    tell,
                )
            for row, rule in zip(rows, each, strict=True):
                if rule is not None:
                    found_rules[row] += (rule,)
        return Explanations(
            table,
            outcomes,
            intervals,
            found,
            found_rules,
            predictions,
            self._projected.variables,
            self._encoding,
            self.pi,
            sets,
            given.library,
            self._training(),
            self._about(),
        )

    @property
    def training(self) -> tuple[Table, NDArray[Any]]:
        """The training table and its outcomes, ready for `explain`. Of a column's rare categories only one is left."""
        matrix, outcomes = self._training()
        return self._encoding.decode(matrix), outcomes

    def _training(self) -> tuple[NDArray[np.float32], NDArray[Any]]:
        forest = self._projected.forest
        values = self.classes_ if self.task_ == "classification" else forest.y_values
        return forest.X, values[forest.y_rank]

    def _about(self) -> dict[str, Any]:
        return describe_explainer(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted explainer to one file, without pickle.

        The file holds the training table, the forest and the settings, but not the model that is explained.

        Parameters
        ----------
        path : path
            Where to; what is there is replaced only when the new file is whole.
        """
        from suffice._io.saved import save_explainer

        check_is_fitted(self)
        save_explainer(self, path)

    def app(self, X: Any = None, y: Any = None, *, port: int | None = None) -> str:
        """Show the explainer in the web app, which runs in a thread as long as the process does.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns), default=None
            The rows to look at; None for the training rows. It may have further columns.
        y : array-like of shape (n_rows,), default=None
            Their outcomes, if they are known.
        port : int, default=None
            Where it listens on this computer; None takes 8050 or the next that is free.

        Returns
        -------
        str
            The address for a browser. Other computers cannot reach it.
        """
        from suffice.app.server import make_app, serve_in_thread
        from suffice.app.state.desk import Desk
        from suffice.app.state.workspace import Workspace

        check_is_fitted(self)
        return serve_in_thread(make_app(Desk(Workspace.of(self, X, y))), port)[0]

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SufficientExplainer:
        """Read an explainer that `save` wrote. A file from elsewhere can at worst raise an error.

        Parameters
        ----------
        path : path
            The file.

        Returns
        -------
        SufficientExplainer
            The fitted explainer, with the same answers. Outcomes that are not given are the forest's own predictions.
        """
        from suffice._io.saved import load_explainer

        return load_explainer(path)

    # --- outcomes ---------------------------------------------------------------------------------------------------

    def _outcomes(
        self, X: Any, table: NDArray[np.float32], y: Any, predictions: NDArray[Any] | None = None
    ) -> tuple[NDArray[Any], Floats | None]:
        """Give the outcome of each row, and for a regression its interval."""
        if y is None and hasattr(self, "model_") and len(table):
            y = ask_model(self.model_, X, len(table), self._probability_of)
        if y is None:
            outcomes = self._predict_leaves(table) if predictions is None else predictions
        else:
            outcomes = read_outcomes(y, len(table))
        if self.task_ == "classification":
            self._class_ranks(outcomes)
            return outcomes, None
        outcomes = as_finite(outcomes)
        if self.radius is not None:
            half = math.sqrt(self.radius)
            return outcomes, np.stack([outcomes - half, outcomes + half], axis=1)
        levels = np.array([self.alpha / 2, 1 - self.alpha / 2])
        return outcomes, self._projected.quantiles(table, None, levels)

    def _predict_leaves(self, table: NDArray[np.float32]) -> NDArray[Any]:
        """Ask the forest itself."""
        predictions = self._projected.forest.predict_leaves(table)
        return self.classes_[np.argmax(predictions, axis=1)] if self.task_ == "classification" else predictions[:, 0]

    def _ranks(self, outcomes: NDArray[Any], intervals: Floats | None) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Turn outcomes into closed ranges of ranks; a range with lo > hi is empty."""
        if intervals is None:
            ranks = self._class_ranks(outcomes)
            return ranks, ranks
        values = self._projected.forest.y_values
        lo = np.searchsorted(values, intervals[:, 0], side="left")
        end = np.searchsorted(values, intervals[:, 1], side="right")
        is_empty = end <= lo
        lo, hi = np.where(is_empty, 1, lo), np.where(is_empty, 0, end - 1)
        return lo.astype(np.uint32), hi.astype(np.uint32)

    def _class_ranks(self, labels: NDArray[Any]) -> NDArray[np.uint32]:
        rank_of = {label: rank for rank, label in enumerate(self.classes_.tolist())}
        try:
            return np.array([rank_of[label] for label in labels.tolist()], dtype=np.uint32)
        except (KeyError, TypeError):
            row, unknown = next((row, label) for row, label in enumerate(labels.tolist()) if label not in rank_of)
            raise InputValueError(
                f"`y` holds the label {unknown!r}",
                f", which was not among the labels at fit: {self.classes_.tolist()}.",
                row=row,
                value=unknown,
            ) from None

    def _probabilities(self, table: NDArray[np.float32], sets: list[VariableSet] | None) -> Floats:
        if sets is None:
            return self._projected.forest.predict_leaves(table)
        end = np.arange(1, len(self.classes_) + 1, dtype=np.uint32)
        return np.diff(self._projected.cumulative_shares(table, sets, end), axis=1, prepend=0.0)

    # --- input ------------------------------------------------------------------------------------------------------

    def _check_table(self, X: Any) -> NDArray[np.float32]:
        check_is_fitted(self)
        self._projected.use_threads(count_threads(self.n_jobs))
        return self._encode(read_input(self, X, extra_columns=self.extra_columns), self.forest_)

    def _encode(self, table: Table, forest: Any) -> NDArray[np.float32]:
        matrix = self._encoding.encode(table, self.unseen)
        check_finite(matrix, [column.name for column in self._encoding.columns], takes_missing(forest))
        return matrix

    def _subsets(self, S: Any, n_rows: int) -> list[VariableSet]:
        return self._projected.variables.subsets(S, n_rows)

    def _subsets_or_none(self, S: Any, n_rows: int) -> list[VariableSet] | None:
        return None if S is None else self._subsets(S, n_rows)

    def _only_regression(self, name: str) -> None:
        if self.task_ != "regression":
            raise ValueError(f"`{name}` is for regression; `y` held classes. See `predict_proba`.")

    # --- scikit-learn -----------------------------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn what the estimator takes."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = self.forest is None or get_tags(self.forest).input_tags.allow_nan
        kind = self.task if self.task != "auto" or self.forest is None else task_of_forest(self.forest)
        if kind == "classification":
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        elif kind == "regression":
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        return tags

    def _repr_html_(self) -> str:
        if not hasattr(self, "forest_"):
            return str(estimator_html_repr(self))
        from suffice._show.cards import explainer_card

        return explainer_card(type(self).__name__, self._about())

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)
        return {**bundle, "text/html": self._repr_html_()} if "text/html" in bundle else bundle

    def __getstate__(self) -> dict[str, Any]:
        """Leave the compiled core out of pickles: it is built again from the forest and its table."""
        state: dict[str, Any] = dict(super().__getstate__())  # a copy: it may be the explainer's own `__dict__`
        projected = state.pop("_projected", None)
        state.pop("_rule_finder", None)
        if projected is not None:
            forest = projected.forest
            state["_parts"] = (
                forest.estimator, forest.X, forest.y_rank, forest.y_values, projected.variables, projected.candidates
            )  # fmt: skip
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Build the compiled core again."""
        parts = state.pop("_parts", None)
        super().__setstate__(state)
        if parts is not None:
            self._build_core(*parts)

    def _build_core(
        self,
        forest: Any,
        X: NDArray[np.float32],
        y_rank: NDArray[np.uint32],
        y_values: Floats,
        variables: Variables,
        candidates: VariableSet,
    ) -> None:
        """Build what answers questions from the forest and its training table."""
        n_threads = count_threads(self.n_jobs)
        fitted = FittedForest.from_estimator(forest, X, y_rank, y_values, n_threads)
        self._projected = ProjectedForest(fitted, variables, candidates, self.min_node_size_, n_threads)
        self._rule_finder = RuleFinder(self._projected, self._encoding, self.target_name_)
