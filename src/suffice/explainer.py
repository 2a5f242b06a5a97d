"""``SufficientExplainer``: fit it, and ask one question by one method each.

The methods read the rows and hand them with the fitted state to the room that answers the question.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import ClassifierTags, RegressorTags, Tags, estimator_html_repr, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from suffice._forest import asked_rows
from suffice._forest.asked_rows import AskedRows, ask_about
from suffice._forest.fitted import Declared, Fitted
from suffice._forest.fitting import fit, refuse_arguments, state_of_model, task_of_forest
from suffice._forest.model_outputs import ExplainedModel, ask_model, task_of_model
from suffice._forest.settings import CHANGEABLE, DEFAULT_MAX_SETS, DEFAULT_PI, PAPER, Settings, check_changes
from suffice._table.encoding import EncodedRows
from suffice._table.frames import for_model
from suffice._table.input import read_input, read_outcomes
from suffice._table.rows import read_ids
from suffice._table.table import Table, read_columns
from suffice.changes.finding import find_for_rows, find_for_rules
from suffice.changes.limits import read_limits
from suffice.changes.model import MovableRows
from suffice.changes.search import LEVEL, MARGIN, MAX_SIZE, MIN_PLAUSIBILITY, ChangeOptions, at_level
from suffice.checks.certificates import certify_rules, check_each, check_explanations, read_fresh_rows, rows_set_aside
from suffice.checks.quality import N_EXPLAINED, Quality, quality_of_table, quality_of_training
from suffice.checks.refits import SignalCheck, check_signal, measure_stability
from suffice.errors import check_number
from suffice.explaining.explanations import Explanations, explain, importance_of_columns
from suffice.explaining.search import MAX_NODES, ExplainOptions, find_only_rules, find_rules_of_sets
from suffice.proofs.finding import explain_over_model, find_certain_reasons
from suffice.proofs.proving import prove_rules
from suffice.reasons.search import N_REASONS, find_reasons, read_wishes

if TYPE_CHECKING:
    from suffice._forest.bounds import Adjustment
    from suffice._forest.outcomes import Floats, Outcomes
    from suffice.changes.values import Changes, RegionalChanges
    from suffice.checks import CertifiedRules
    from suffice.explaining.importance import SetsKind
    from suffice.explaining.rule import Rule
    from suffice.explaining.stability import SetStability
    from suffice.proofs import CertainReasons, ProvenRules
    from suffice.reasons.values import Reasons


def _has_classes(explainer: SufficientExplainer) -> bool:
    task = explainer.fitted_.task if hasattr(explainer, "fitted_") else explainer.task
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
        needs the table that it was fitted on. None fits a random forest of 100 trees, each of which draws at most
        100,000 rows.
    task : {"auto", "classification", "regression"}, default="auto"
        What `y` is. "auto" goes by the forest or, without one, by the values.
    pi : float, default=None
        The probability that a sufficient set must reach, in (0, 1]. None takes 0.9 for classes and 0.8 for numbers.
    levels : {"odds", "same"}, default="odds"
        Classification: whether a rare class has a level of its own, or every class must reach `pi`. With "odds" the
        level of a class is the probability whose odds are ``pi / (1 - pi)`` times those of the class among the training
        rows, but at most `pi` and at least 0.5: a set is then sufficient if it makes the class 9 times as likely, in
        odds, as it is on average, and more likely than not. "same" is the paper's.
    confidence : float, default=None
        If given, such as 0.95, a set is sufficient only if the lower bound of its SDP at this confidence reaches the
        level, not only its estimate.
    alpha : float, default=None
        Regression: the outcome is kept within an interval that holds 1 - alpha of the outcomes of such rows: the
        forest's prediction plus and minus its errors out of bag. None takes 0.1, or less where all variables together
        would not be counted to keep the outcome with probability `pi` in so narrow an interval; a number is taken as it
        is, also if few rows then have a sufficient set. Unless rows out of bag are counted, the interval lies between
        the conditional quantiles at ``alpha / 2`` and ``1 - alpha / 2``.
    radius : float, default=None
        Regression: if given, the outcome y is kept within ``[y - radius, y + radius]`` instead.
    n_candidates : int, default=10
        How many variables are searched for sufficient sets, at most 128.
    candidates : {"auto", "row", "splits", "impurity"} or list of str or int, default="auto"
        Which variables are searched. "auto" chooses those of each row: six of ten are the variables that keep its
        outcome most surely, one after the other, and the other four those whose splits gain most on the row's own paths
        through the trees, which finds variables that matter only together with others. Variables whose splits gain no
        more on the counted rows than noise would are left out, and the default forest of classes is fitted without
        them. "row" chooses all ten in the first way, and leaves none out. Or the same variables at all rows: by the
        number of splits on them (as in the paper), by impurity importance, or given by name or position.
    min_size, max_size : int, default=0, None
        The sizes of the sets. The empty set is sufficient if the outcome is kept whatever is known; ``min_size=1``
        leaves it out. None sets no largest size.
    max_sets : int, default=2**12
        How many sets of candidates the search of a row may go through, the smallest and those of the most important
        candidates first: all sets of 12 candidates, or all up to size 4 of 18. If there are more, the search ends
        there, with a warning and ``is_search_complete=False``. None sets no limit.
    min_support : int, default=10
        How many training rows the rule of a row covers at least. If that of its first sufficient set covers fewer, the
        next sets are tried; if none does, there is no rule. 0 takes the rule of the first set, whatever it covers.
    min_node_size : int, default=None
        A cell of the projected forest is not cut down below this many rows. None takes the forest's
        `min_samples_leaf`; if rows out of bag are counted, at least 10.
    counts : {"auto", "out-of-bag", "bootstrap", "all"}, default="auto"
        Which training rows a tree counts: those that it did not draw; those that it drew, as in the paper; or all, as
        the authors' package acv-exp does. The rows that grew a tree agree with it by construction, so counting them
        gives probabilities that are too high. "auto" counts the rows out of bag if there are any.
    voters : {"informed", "all"}, default="informed"
        Which trees vote on a set of variables: those that split on at least one of them, or all trees, as in the paper.
        A tree that splits on none of them knows nothing about the set, and would vote with the share of the outcome
        among all rows.
    groups : dict of str to list of str or int, default=None
        Columns that are one variable, such as the indicators of a category.
    dates : {"parts"}, default=None
        What to do with columns of dates: use their year, month, day, weekday and hour as one variable, or refuse
        them (the default).
    unseen : {"error", "missing"}, default="error"
        What to do with categories that were not there at fit: refuse them, or treat them as missing.
    extra_columns : {"error", "ignore"} or list of str, default="error"
        What to do with columns that were not there at fit: refuse them, ignore them, or ignore those of these names.
    n_jobs : int, default=None
        The number of threads; None or -1 for all cores. It does not change the results.
    random_state : int, RandomState or None, default=None
        The seed of a forest that has none of its own.

    Attributes
    ----------
    fitted_ : Fitted
        Everything that `fit` learnt, frozen; the attributes below are views of it.
    forest_ : estimator or PlainForest
        The fitted forest; after `load` its trees alone, which are not a scikit-learn estimator.
    task_ : {"classification", "regression"}
        What was fitted.
    fidelity_ : float
        Out-of-bag accuracy (classification) or R2 (regression) of the forest on `y`: how far explanations can be
        trusted. NaN for a forest without rows out of bag.
    fidelity_by_class_ : dict of object to float
        Classification: for each class the out-of-bag share of its rows that the forest gets right; NaN if it has none.
    task_reason_ : str
        Why `task_` is what it is, in one line.
    classes_ : ndarray
        The labels (classification only).
    focus_ : object
        The class that people care about; None if there is none.
    target_name_ : str
        The name of `y` if it had one, else "y".
    variable_names_ : tuple of str
        The variables: the columns, with each group as one.
    candidates_ : tuple of str
        The variables that may be searched, the most important first.
    pi_ : float
        The probability that a sufficient set must reach.
    min_node_size_ : int
        The least size of a cell.
    model_ : object
        The model that is explained; only after `for_model`.
    probability_of_ : object
        The class whose probability is explained, or None; only after `for_model`.
    model_rows_ : object
        The table that `for_model` was given, as it is; `save` leaves it out.
    feature_importances_ : ndarray of shape (n_columns,)
        The mean importance of the columns for the outcomes of up to 1,000 training rows; computed when first read.
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

    _importances: tuple[Fitted, Floats] | None = None

    def __init__(
        self,
        forest: Any = None,
        *,
        task: str = "auto",
        pi: float | None = None,
        levels: Literal["odds", "same"] = "odds",
        confidence: float | None = None,
        alpha: float | None = None,
        radius: float | None = None,
        n_candidates: int = 10,
        candidates: str | Sequence[str | int] = "auto",
        min_size: int = 0,
        max_size: int | None = None,
        max_sets: int | None = DEFAULT_MAX_SETS,
        min_support: int = 10,
        min_node_size: int | None = None,
        counts: Literal["auto", "out-of-bag", "bootstrap", "all"] = "auto",
        voters: Literal["informed", "all"] = "informed",
        groups: Mapping[str, Sequence[str | int]] | None = None,
        dates: Literal["parts"] | None = None,
        unseen: Literal["error", "missing"] = "error",
        extra_columns: Literal["error", "ignore"] | Sequence[str] = "error",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.forest = forest
        self.task = task
        self.pi = pi
        self.levels = levels
        self.confidence = confidence
        self.alpha = alpha
        self.radius = radius
        self.n_candidates = n_candidates
        self.candidates = candidates
        self.min_size = min_size
        self.max_size = max_size
        self.max_sets = max_sets
        self.min_support = min_support
        self.min_node_size = min_node_size
        self.counts = counts
        self.voters = voters
        self.groups = groups
        self.dates = dates
        self.unseen = unseen
        self.extra_columns = extra_columns
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        holdout: float | None = None,
        focus: Any = None,
        fixed: Sequence[str | int] = (),
        **unsupported: Any,
    ) -> SufficientExplainer:
        """Fit the forest, and choose the candidates.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The table: numbers, booleans, categories, text; and dates, on request. Any of them may be missing.
        y : array-like of shape (n_rows,)
            The outcomes: observed, or a model's outputs for `X`.
        holdout : float, default=None
            The share of the rows, in (0, 1), that is set aside at random (`random_state`; in the same share of every
            class). The forest never sees them. `explain` then checks every rule on them, and so does `certify`.
        focus : object, default=None
            Classification: the class that people care about, such as customers who leave. `reasons` are given for its
            rows by default, `quality` measures how well it is predicted, and reports and the app show its rows first.
            None takes the rarer one of two classes (the second if both are as frequent); of more classes, none.
        fixed : list of str or int, default=()
            Variables that people cannot change, such as age: `what_if` leaves them as they are unless the call says
            otherwise.
        **unsupported : dict
            Weights are not supported and are refused.

        Returns
        -------
        SufficientExplainer
            The fitted explainer.
        """
        refuse_arguments(unsupported)
        self._fit(X, y, holdout, Declared(focus, fixed))
        return self

    def _fit(self, X: Any, y: Any, holdout: float | None, declared: Declared) -> None:
        settings = Settings.of(self)
        task_of_forest(self.forest)  # a forest of the wrong kind is refused first
        table = read_input(self, X, reset=True, min_rows=2)
        target = str(getattr(y, "name", None) or "y")
        outcomes = read_outcomes(y, table.n_rows)
        self.fitted_ = fit(table, outcomes, target, self.forest, settings, holdout, declared)

    @classmethod
    def for_model(
        cls,
        model: Any,
        X: Any,
        *,
        probability_of: Any = None,
        holdout: float | None = None,
        focus: Any = None,
        fixed: Sequence[str | int] = (),
        **params: Any,
    ) -> SufficientExplainer:
        """Fit an explainer on the outputs of a model for a table. Nothing else of the model is used.

        Methods that take outcomes then use the model's outputs by default; ``model_`` holds the model.

        Parameters
        ----------
        model : estimator or callable
            Any model with `predict`, or a function of the table: a pipeline, a boosted model, a network. It gets the
            table as it is, and may encode it in its own way. Outputs with several columns are scores of classes.
        X : array-like or frame of shape (n_rows, n_columns)
            The rows for which the model predicts, such as those that it was trained on.
        probability_of : object, default=None
            A class: explain the number that the model gives as its probability, instead of the class that it predicts.
            A probability is kept within plus or minus 0.2, unless you set `radius` or `alpha`; this also holds for a
            function that returns one number in [0, 1] for each row.
        holdout : float, default=None
            The share of the rows that is set aside: see `fit`.
        focus, fixed : object
            The class that people care about, and what they cannot change: see `fit`.
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
        X = for_model(X)
        explained = ExplainedModel(model, probability_of, X)
        outputs = ask_model(model, X, read_columns(X).n_rows, probability_of)
        explainer._fit(X, outputs, holdout, Declared(focus, fixed))
        explainer.fitted_ = state_of_model(explainer.fitted_, explained, outputs, has_alpha="alpha" in params)
        return explainer

    @classmethod
    def paper(cls, forest: Any = None, **params: Any) -> SufficientExplainer:
        """Make an explainer with the settings of the paper, to compare with its figures.

        Trees count the rows that they drew, all trees vote on every set, the ten variables with the most splits are
        searched, the empty set is not, numbers are kept between the quantiles at levels 0.05 and 0.95, and a rule may
        cover few rows. The rows that grew a tree agree with it by construction, so that probabilities come out too
        high; the defaults are made to keep what they state.

        Parameters
        ----------
        forest : estimator, default=None
            The forest, fitted or not; None fits a random forest of 100 trees.
        **params : dict
            Other parameters of the explainer. They replace those of the paper: ``counts="all"`` counts all rows once,
            as the authors' package acv-exp does.

        Returns
        -------
        SufficientExplainer
            The explainer, not fitted.

        Examples
        --------
        >>> import numpy as np
        >>> X = np.random.default_rng(0).normal(size=(200, 3))
        >>> explainer = SufficientExplainer.paper(random_state=0).fit(X, X[:, 1] > 0)
        >>> explainer.counts, explainer.voters, explainer.candidates
        ('bootstrap', 'all', 'splits')
        >>> explainer.explain(X[:1])[0].best_set.variables
        ('x1',)
        """
        return cls(forest, **PAPER | params)

    def with_settings(self, **changes: Any) -> SufficientExplainer:
        """Return a fitted explainer with other settings, without fitting again.

        The copy shares the forest and what was computed with it, so it costs nothing. This explainer stays as it is.
        Several threads may use both.

        Parameters
        ----------
        **changes : dict
            Parameters by name: `pi`, `levels`, `confidence`, `alpha`, `radius`, `n_candidates`, `candidates`,
            `min_size`, `max_size`, `max_sets`, `min_support`, `unseen`, `extra_columns`, `n_jobs`. All others
            need `fit`.

        Returns
        -------
        SufficientExplainer
            The copy.

        Examples
        --------
        >>> import numpy as np
        >>> X = np.random.default_rng(0).normal(size=(200, 3))
        >>> explainer = SufficientExplainer(random_state=0).fit(X, X[:, 1] > 0)
        >>> explainer.with_settings(pi=0.95, candidates=["x0", "x1"]).candidates_
        ('x0', 'x1')
        """
        state = self._state()
        check_changes(type(self).with_settings, changes, ValueError)
        copy = type(self)(**{**self.get_params(deep=False), **changes})
        copy.__dict__.update({name: value for name, value in vars(self).items() if name.endswith("_")})
        copy.fitted_ = state.with_changes(changes)
        return copy

    # --- explaining ------------------------------------------------------------------------------------------------

    @overload
    def explain(self, X: Any, y: Any = None, *, over: Literal["data"] = "data", **options: Any) -> Explanations: ...
    @overload
    def explain(self, X: Any, *, pi: float = 1, over: Literal["model"], **options: Any) -> CertainReasons: ...
    def explain(
        self,
        X: Any,
        y: Any = None,
        *,
        over: Literal["data", "model"] = "data",
        ids: Any = None,
        sets: SetsKind = "minimal",
        rules: SetsKind | None = "minimal",
        check: Literal["rows", "everywhere"] = "everywhere",
        volume: Literal["rows", "lebesgue"] = "rows",
        progress: bool | None = None,
        **settings: Any,
    ) -> Explanations | CertainReasons:
        """Find the sufficient sets of each row, and the rules that they make.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The rows to explain. They may also be a list of dicts of values, and one row a dict or a pandas Series such
            as ``frame.iloc[0]``.
        y : array-like of shape (n_rows,), default=None
            Their outcomes; None explains the predictions of the model, or of the forest if there is no model.
        over : {"data", "model"}, default="data"
            Over what an outcome is kept with probability `pi`: rows as those of the data, or all points that the model
            can be given. There only ``pi=1`` can be proven, on the trees of the model: ``explain(X, pi=1,
            over="model")`` returns what `certain_reasons` does, and takes its options, such as ``model=``.
        ids : str or array-like of shape (n_rows,), default=None
            What the rows are called in texts, reports and tables: a column of `X`, or a list. None takes the index of a
            pandas frame, unless it just counts the rows from 0.
        sets : {"minimal", "all"}, default="minimal"
            "minimal" finds the smallest sufficient sets among the candidates; "all" finds every set that has no smaller
            sufficient part, which takes longer.
        rules : {"minimal", "all", None}, default="minimal"
            Which sets get a maximal rule: the best one of each row (if its rule covers `min_support` training rows),
            every one that was found, or none.
        check, volume : str
            What a rule must fulfil and what it maximises: see `rule`.
        progress : bool, default=None
            Whether to show a progress bar; None shows one on a terminal or in a notebook if it takes over a second.
        **settings : dict
            Settings for this call only, such as ``pi=0.8`` or ``max_size=3``: those of `with_settings`. Nothing is
            fitted again.

        Returns
        -------
        Explanations or CertainReasons
            One explanation, or one certain reason, for each row, in their order.

        Examples
        --------
        >>> import numpy as np
        >>> X = np.random.default_rng(0).normal(size=(200, 3))
        >>> explainer = SufficientExplainer(random_state=0).fit(X, X[:, 1] > 0)
        >>> explainer.explain(X[:5], pi=0.8).pi, explainer.pi_
        (0.8, 0.9)
        """
        options = ExplainOptions(sets, rules, check, volume)
        if over != "data":
            return explain_over_model(self._state(), over, X, options, y=y, ids=ids, progress=progress, **settings)
        state = self._state("explain", settings)
        return check_explanations(explain(state, self._read(state, X, y, ids), options, progress))

    __call__ = explain  # explainer(X), as explainers of shap are called

    def rule(
        self,
        X: Any,
        S: Any,
        y: Any = None,
        *,
        check: Literal["rows", "everywhere"] = "everywhere",
        volume: Literal["rows", "lebesgue"] = "rows",
        max_nodes: int = MAX_NODES,
        **settings: Any,
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
        check : {"rows", "everywhere"}, default="everywhere"
            Where in the box the SDP must be at least `pi`: at every point, or only at the training rows in it. Rules
            of the second kind cover more rows.
        volume : {"rows", "lebesgue"}, default="rows"
            What is maximised: the training rows covered, or the volume within the range of the data.
        max_nodes : int, default=10000
            How many boxes the search may look at. Beyond, a rule is the best so far: `optimal` is False, and `bound`
            tells how much a better one could cover.
        **settings : dict
            Settings for this call only, such as ``pi=0.8``: those of `with_settings`.

        Returns
        -------
        list of Rule or None
            None where the SDP at the row is below `pi`: then there is no rule.
        """
        state = self._state("rule", settings)
        rows = self._read(state, X, y)
        options = ExplainOptions(check=check, volume=volume, max_nodes=max_nodes)
        return find_rules_of_sets(state, rows, S, options)

    def rules_of(
        self,
        X: Any,
        y: Any = None,
        *,
        check: Literal["rows", "everywhere"] = "everywhere",
        progress: bool | None = None,
    ) -> tuple[Rule | None, ...]:
        """Find the rule of each row and nothing else: faster than `explain` for many rows, of which some have none.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The rows.
        y : array-like of shape (n_rows,), default=None
            Their outcomes; None takes the predictions of the model, or of the forest if there is no model.
        check : {"rows", "everywhere"}, default="everywhere"
            What a rule must fulfil: see `rule`.
        progress : bool, default=None
            Whether to show a progress bar; None shows one on a terminal or in a notebook if it takes over a second.

        Returns
        -------
        tuple of Rule or None
            The rules of ``explain(X, y, sets="minimal", check=check)``.
        """
        state = self._state()
        rules = find_only_rules(state, self._read(state, X, y), ExplainOptions("minimal", check=check), progress)
        return tuple(of_row[0] if of_row else None for of_row in check_each(rules, state))

    # --- what would change it --------------------------------------------------------------------------------------

    def what_if(
        self,
        X: Any,
        target: Any = None,
        y: Any = None,
        *,
        fixed: Sequence[str | int] | None = None,
        only: Sequence[str | int] | None = None,
        direction: Mapping[str, Literal["up", "down"]] | None = None,
        bounds: Mapping[str, Any] | None = None,
        n: int = 3,
        pi: float | None = None,
        min_plausibility: float = MIN_PLAUSIBILITY,
        max_size: int = MAX_SIZE,
        min_size: int = 1,
        margin: float = MARGIN,
        check: Literal["everywhere", "mean"] = "everywhere",
        sets: Literal["minimal", "all"] = "minimal",
        ids: Any = None,
        confirm: bool = True,
        progress: bool | None = None,
        **settings: Any,
    ) -> Changes:
        """Find what would change the outcome of each row: the fewest variables, and the values that they would need.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The rows. One row may also be a dict of values, or a pandas Series.
        target : object, default=None
            The wanted outcomes. Classification: a class, a list of classes, ``{"not": label}``, or None for any class
            but that of the row, which leads rows of the focus class away from it. Regression: ``(low, high)``,
            ``{"above": v}``, ``{"below": v}``, ``{"more": d}`` or ``{"less": d}``; ends are included, and the last two
            count from the outcome of the row.
        y : array-like of shape (n_rows,), default=None
            The present outcomes; None for the predictions of the model that is explained, or of the forest itself.
        fixed : list of str or int, default=None
            Variables that must not change. None takes those that `fit` was told, unless `only` names them.
        only : list of str or int, default=None
            The variables that may change; None for all that are not fixed.
        direction : dict of str to {"up", "down"}, default=None
            Numbers that may only grow, or only shrink; categories with an order of their own (an ordered Categorical
            of pandas, an Enum of polars) that may only go up, or only down.
        bounds : dict of str to tuple or list, default=None
            ``(low, high)`` for numbers, either of which may be None; a list of allowed values for categories.
        n : int, default=3
            How many changes of a row are returned at most. They do not overlap.
        pi : float, default=None
            The probability of the target that a change must reach; None takes 0.8.
        min_plausibility : float, default=0.02
            How probable the values of a change must be at least, given what does not change.
        max_size : int, default=3
            How many variables may change at most.
        min_size : int, default=1
            How many variables are free to change at least, also where fewer would do. A change of more values can lead
            to a more usual row.
        margin : float, default=0.1
            How far inside its box the least change lies, so that it holds if it is not made exactly: in each number
            that moves, such a share of the training rows lies between it and the end of the box. It goes no farther
            than the middle of the rows in the box. 0 takes the end itself.
        check : {"everywhere", "mean"}, default="everywhere"
            "everywhere": the forest gives the target with probability `pi` at every point of the box. "mean": the rows
            in the box that are like the row in what does not change have it with probability `pi`.
        sets : {"minimal", "all"}, default="minimal"
            "minimal" stops at the smallest number of variables that has a change; "all" goes on to `max_size` until
            there are `n` changes.
        ids : str or array-like of shape (n_rows,), default=None
            What the rows are called: see `explain`.
        confirm : bool, default=True
            Whether the model that is explained, if there is one, is asked about every change. If it agrees with none
            of those of a row, or if there is none, it is asked about further boxes, which are cut to where it agrees.
        progress : bool, default=None
            Whether to show a progress bar: see `explain`.
        **settings : dict
            Settings for this call only: those of `with_settings`.

        Returns
        -------
        Changes
            One answer for each row, in their order.

        Examples
        --------
        >>> from suffice import SufficientExplainer
        >>> X = np.random.default_rng(0).uniform(size=(500, 3)).round(2)
        >>> explainer = SufficientExplainer(random_state=0).fit(X, np.where(X[:, 1] > 0.6, "good", "bad"))
        >>> print(explainer.what_if([[0.5, 0.25, 0.5]], "good")[0].best)
        raising x1 from 0.25 to at least 0.606
        """
        state = at_level(self._state("what_if", settings), LEVEL if pi is None else pi)
        options = ChangeOptions(check, n, max_size, min_plausibility, sets, margin=margin, min_size=min_size)
        limits = read_limits(state, fixed, only, direction, bounds)
        rows = self._read(state, X, y, ids)
        return find_for_rows(state, rows, target, options, limits, confirm=confirm, progress=progress)

    def what_if_rules(
        self,
        rules: Any,
        target: Any = None,
        *,
        fixed: Sequence[str | int] | None = None,
        only: Sequence[str | int] | None = None,
        bounds: Mapping[str, Any] | None = None,
        pi: float | None = None,
        min_plausibility: float = MIN_PLAUSIBILITY,
        max_size: int = 2,
        check: Literal["mean", "everywhere"] = "mean",
        X: Any = None,
        confirm: bool = True,
        **settings: Any,
    ) -> RegionalChanges:
        """Find what would change the outcome of all rows that a rule covers: IF rule THEN outcome UNLESS change.

        Parameters
        ----------
        rules : Rule, iterable of Rule or None, Explanation, Explanations, or fitted list of global rules
            The rules, such as those of explanations, or one of your own:
            ``suffice.rule("age <= 30 and job = student", explainer)``.
        target : object, default=None
            The wanted outcomes, as for `what_if`; None takes any class but that of the rule.
        fixed, only, bounds : object
            What may change, and how far: see `what_if`.
        pi : float, default=None
            The probability of the target that a change must reach; None takes that of the explainer.
        min_plausibility : float, default=0.02
            How probable the values of a change must be at least, given what does not change.
        max_size : int, default=2
            How many variables may change at most.
        check : {"mean", "everywhere"}, default="mean"
            "mean": the rows in the box that are like those of the rule in what does not change have the target with
            probability `pi`; of several such boxes, one that changes the forest's prediction for most rows of the rule
            is chosen. "everywhere": the forest gives the target with probability `pi` at every point of the box,
            whatever the rule leaves open.
        X : array-like or frame of shape (n_rows, n_columns), default=None
            Rows that the model that is explained, if there is one, is asked about: up to 20 of each rule, each moved to
            the values of up to 20 training rows in the box. None takes the rows that `for_model` was given.
        confirm : bool, default=True
            Whether it is asked. Its answers, not those of the forest, then decide which box is chosen.
        **settings : dict
            Settings for this call only: those of `with_settings`.

        Returns
        -------
        RegionalChanges
            The best change of each rule, in their order.

        Examples
        --------
        >>> from suffice import SufficientExplainer
        >>> X = np.random.default_rng(0).uniform(size=(500, 3)).round(2)
        >>> explainer = SufficientExplainer(random_state=0).fit(X, np.where(X[:, 1] > 0.6, "good", "bad"))
        >>> rule = explainer.explain(X[:1]).rules[0]
        >>> explainer.what_if_rules([rule])[0].variables
        ('x1',)
        """
        state = at_level(self._state("what_if_rules", settings), pi)
        options = ChangeOptions(check, max_size=max_size, min_plausibility=min_plausibility)
        limits = read_limits(state, fixed, only, None, bounds)
        X = state.model.rows if X is None and state.model is not None else X
        movable = None
        if confirm and state.model is not None and X is not None:
            movable = MovableRows(state, X, state.encode(self._read_table(state, X)))
        return find_for_rules(state, rules, target, options, limits, movable)

    # --- reasons ---------------------------------------------------------------------------------------------------

    def reasons(
        self,
        X: Any,
        y: Any = None,
        *,
        codes: Any = None,
        n: int = N_REASONS,
        adverse: Any = None,
        protected: Sequence[str | int] = (),
        model: Any = None,
        ids: Any = None,
        progress: bool | None = None,
        **settings: Any,
    ) -> Reasons:
        """Find the reasons of each row's outcome, or refuse them where they would not be true.

        The reasons are the variables of one of the row's smallest sufficient sets, the one whose variables keep the
        outcome most often alone; the variable without which most is lost comes first: docs/method.md, section 8. A row
        is refused if the forest does not give its outcome, if it has no sufficient set or needs no variable at all, if
        the outcome rests on a protected variable, if the model does not use a variable of the set, or if the code book
        has no line for a value.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The rows. One row may also be a dict of values, or a pandas Series.
        y : array-like of shape (n_rows,), default=None
            The outcomes, such as decisions that were made; None takes the outputs of `model`, of the model that the
            explainer was fitted for, or of the forest itself.
        codes : CodeBook, path, dict or list, default=None
            The code book, or what `CodeBook.read` reads. None takes the names of the variables as codes.
        n : int, default=4
            How many reasons a row gets at most.
        adverse : object, default=None
            The outcomes that need reasons. Classification: a class, a list of classes, or ``{"not": label}``.
            Regression: ``(low, high)``, ``{"above": v}`` or ``{"below": v}``, ends included; sets then keep the outcome
            in this range. None takes the focus class (`focus_`); if there is none, every row gets reasons, as with
            ``explainer.classes_``.
        protected : list of str or int, default=()
            Variables on which an outcome must not rest.
        model : estimator or callable, default=None
            The model that decides; None takes the one of `for_model`, if there is one. It is asked whether it uses the
            variables of each set.
        ids : str or array-like of shape (n_rows,), default=None
            What the rows are called: see `explain`.
        progress : bool, default=None
            Whether to show a progress bar: see `explain`.
        **settings : dict
            Settings for this call only: those of `with_settings`.

        Returns
        -------
        Reasons
            One answer for each row, in their order.

        Examples
        --------
        >>> from suffice import SufficientExplainer
        >>> X = np.random.default_rng(0).uniform(size=(500, 3)).round(2)
        >>> explainer = SufficientExplainer(random_state=0).fit(X, np.where(X[:, 1] > 0.6, "good", "bad"))
        >>> reasons = explainer.reasons([[0.5, 0.25, 0.5]], adverse="bad", codes={
        ...     "x0": ("R0", "Age"), "x1": ("R1", "Score of {value} is {bound}"), "x2": ("R2", "Debt")})
        >>> print(reasons[0].reasons[0])
        1. R1: Score of 0.25 is at most 0.605
        """
        state = self._state("reasons", settings)
        wishes = read_wishes(state, codes, n, adverse, protected)
        deciding = state.model
        if model is not None:
            deciding = ExplainedModel(model, None if state.model is None else state.model.probability_of)
        X, row_ids = read_ids(X, ids, state.encoding.names)
        table = self._read_table(state, X)
        rows = ask_about(replace(state, model=deciding), X, state.encode(table), y, table.library, row_ids)
        return find_reasons(state, rows, table, wishes, deciding, progress)

    # --- checks ----------------------------------------------------------------------------------------------------

    def quality(self, X: Any = None, y: Any = None, *, n_explained: int = N_EXPLAINED, **settings: Any) -> Quality:
        """Measure how well the forest predicts, and for how many rows of each class a sufficient set exists.

        After `for_model`, the forest is compared with the model's outputs; if observed outcomes are passed, `model` of
        the result compares the model's outputs with them.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns), default=None
            Rows that the forest was not fitted on. None takes the training rows, each predicted by the trees that did
            not draw it.
        y : array-like of shape (n_rows,), default=None
            The observed outcomes of `X`; needed unless a model is explained.
        n_explained : int, default=200
            How many rows are searched for sufficient sets: as many of each class, drawn with a fixed seed. 0 searches
            none.
        **settings : dict
            Settings for this call only: those of `with_settings`.

        Returns
        -------
        Quality
            The confusion matrix with recall and precision, or R2 and the mean absolute error, and the share of rows
            with a sufficient set.
        """
        state = self._state("quality", settings)
        check_number("n_explained", n_explained, "a whole number >= 0", lambda v: v >= 0, Integral)
        if X is None:
            return quality_of_training(state, y, n_explained)
        return quality_of_table(state, self._read(state, X, None), y, n_explained)

    def check_signal(self, *, n_rows: int = 200, random_state: Any = None, **settings: Any) -> SignalCheck:
        """Compare the share of rows that get a sufficient set with the share if the outcomes were shuffled.

        It costs as much as fitting the forest once more and explaining ``2 * n_rows`` rows. If the two shares are near,
        it warns. (`fit` itself makes a check that costs nothing: if the forest is no better than a constant prediction
        on rows out of bag, no set of variables is called sufficient.)

        Parameters
        ----------
        n_rows : int, default=200
            How many training rows are explained, drawn at random.
        random_state : int, Generator or None, default=None
            The seed of the rows and of the shuffled outcomes.
        **settings : dict
            Settings for this call only: those of `with_settings`.

        Returns
        -------
        SignalCheck
            The two shares.

        Examples
        --------
        >>> from suffice import SufficientExplainer
        >>> X = np.random.default_rng(0).normal(size=(300, 3))
        >>> explainer = SufficientExplainer(random_state=0).fit(X, X[:, 1] > 0)
        >>> explainer.check_signal(random_state=0).shuffled_share
        0.0
        """
        return check_signal(self._state("check_signal", settings), n_rows, random_state)

    def stability(
        self,
        X: Any,
        y: Any = None,
        *,
        n_seeds: int = 20,
        n_resamples: int = 20,
        random_state: Any = None,
        progress: bool | Callable[[int], object] | None = None,
        **settings: Any,
    ) -> SetStability:
        """Grow the forest again, and count how often the best sets of rows return.

        The forest is grown again on all training rows with other seeds, and on halves of the training rows that are
        drawn at random; there leaves and cells of more than 5 rows are half as large, but not smaller than 5. All else
        stays the same: the parameters of the forest, the candidates, the outcomes of the rows and their intervals.
        It takes ``n_seeds + n_resamples`` times as long as to fit the forest and explain the rows.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The rows.
        y : array-like of shape (n_rows,), default=None
            Their outcomes; None for the predictions of the model that is explained, or of the forest itself.
        n_seeds : int, default=20
            How many forests are grown on all training rows.
        n_resamples : int, default=20
            How many forests are grown on half of the training rows.
        random_state : int, Generator or None, default=None
            The seed of the seeds and of the halves.
        progress : bool or callable, default=None
            Whether to show a progress bar; None shows one on a terminal or in a notebook if it takes over a second. A
            function is called with the number of forests that are done, and ends the work if it raises an error.
        **settings : dict
            Settings for this call only: those of `with_settings`.

        Returns
        -------
        SetStability
            The counts for each row. ``explain(X).with_stability(...)`` adds them to the explanations.

        Examples
        --------
        >>> from suffice import SufficientExplainer
        >>> X = np.random.default_rng(0).normal(size=(300, 3))
        >>> explainer = SufficientExplainer(random_state=0).fit(X, X[:, 1] > 0)
        >>> print(explainer.stability([[0.0, 1.0, 0.0]], n_seeds=5, n_resamples=5, random_state=0))
        The same best set in 5 of 5 other forests and in 5 of 5 resampled tables. Some set is sufficient in 5 of 5
        other forests and in 5 of 5 resampled tables.
        """
        state = self._state("stability", settings)
        return measure_stability(state, self._read(state, X, y), (n_seeds, n_resamples), random_state, progress)

    def certify(
        self,
        what: Any,
        X: Any = None,
        y: Any = None,
        *,
        confidence: float = 0.95,
        level: float | None = None,
        adjust: Adjustment | None = "benjamini-hochberg",
        **settings: Any,
    ) -> CertifiedRules:
        """Check rules on rows that nobody has used before, and certify those that hold.

        Each distinct rule (the same conditions, and the same class or interval) is tested once. A rule is right at a
        row that it covers if the row has the class, or if its number lies in the interval.

        Parameters
        ----------
        what : Rule, iterable of Rule or None, Explanation, Explanations, or fitted list of global rules
            The rules.
        X : array-like or frame of shape (n_rows, n_columns), default=None
            Rows that had no part in fitting, in choosing settings or in choosing the rules. None takes the rows that
            `fit` has set aside by `holdout`.
        y : array-like of shape (n_rows,), default=None
            Their outcomes. After `for_model`, None asks the model.
        confidence : float, default=0.95
            The confidence of the lower bounds and of the tests, in (0, 1).
        level : float, default=None
            The precision that is to be certified, in (0, 1]; None takes `pi`, or the level of the rule's class.
        adjust : {"benjamini-hochberg", "holm"} or None, default="benjamini-hochberg"
            How the tests are adjusted for the number of rules. With "benjamini-hochberg", at most a share of
            ``1 - confidence`` of the certified rules is expected to be below the level; with "holm", the probability
            that any of them is, is at most ``1 - confidence``. None tests each rule as if it were the only one. Lower
            bounds are those of each rule alone.
        **settings : dict
            Settings for this call only: those of `with_settings`.

        Returns
        -------
        CertifiedRules
            The distinct rules with their certificates, and in `attached` what was passed with these certificates.

        Examples
        --------
        >>> from suffice import SufficientExplainer
        >>> X = np.random.default_rng(0).normal(size=(600, 3))
        >>> explainer = SufficientExplainer(random_state=0).fit(X, X[:, 1] > 0, holdout=0.4)
        >>> explainer.certify(explainer.explain(X[:5])).certified[0].certificate.is_certified
        True
        """
        state = self._state("certify", settings)
        fresh = rows_set_aside(state, y) if X is None else read_fresh_rows(state, X, self._read_table(state, X), y)
        needed = state.level_of_rules() if level is None else level
        return certify_rules(what, fresh, level=needed, confidence=confidence, adjustment=adjust)

    def prove(self, what: Any, model: Any = None, X: Any = None, **options: Any) -> ProvenRules:
        """Check rules for every point within their bounds, on the trees of a model.

        A rule is proven if the model decides no point of the domain within the bounds otherwise (predicts no number
        outside of the interval), refuted if there is such a point, and open if the budget ends before that is known:
        docs/method.md, section 9. A proof is about the model, not about the world.

        Parameters
        ----------
        what : Rule, iterable of Rule or None, Explanation, Explanations, or fitted list of global rules
            The rules.
        model : estimator, default=None
            A model of trees, or a pipeline that ends in one; None takes the model of `for_model`.
        X : array-like or frame of shape (n_rows, n_columns), default=None
            Rows of the table that the model is given: they tell which values the columns have. None takes those that
            the explainer was fitted on.
        **options : dict
            `domain`, a dict of columns to (low, high) or lists of labels, in place of the values of the rows;
            `constraints`, such as ``["low_rate <= high_rate"]``; `max_nodes` (20,000) boxes and `max_seconds` (10)
            after which a search ends.

        Returns
        -------
        ProvenRules
            The distinct rules with their proofs, and in `attached` what was passed with the proofs attached.
        """
        return prove_rules(self._state("prove"), what, model, X, **options)

    def certain_reasons(self, X: Any, model: Any = None, **options: Any) -> CertainReasons:
        """Find smallest sets of variables that fix the model's decision at rows, whatever the others are.

        This is ``explain(X, pi=1, over="model")``: over all points of the model instead of the rows of the data.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The rows.
        model : estimator, default=None
            As in `prove`.
        **options : dict
            `table`, `domain`, `constraints` and `max_nodes`: as `X` and the options of `prove`. `excluded`, variables
            that no reason may hold; `preferred`, variables that are kept rather than others. `interval`, for numbers:
            (low, high) that is to hold the prediction, or a function that returns it for a prediction.
            ``smallest=False`` ends with a set of which no variable can be left out, which is found many times as fast
            as a smallest one. ``nearest=False`` leaves out the nearest other decision, for which the variables
            declared `fixed` keep their values. `max_seconds` (5), the time for the set of a row, and again for the
            nearest other decision; what is not proven by then is marked.

        Returns
        -------
        CertainReasons
            One answer for each row.
        """
        return find_certain_reasons(self._state("certain_reasons"), X, model, **options)

    # --- probabilities ---------------------------------------------------------------------------------------------

    def sdp(self, X: Any, S: Any, y: Any = None, **settings: Any) -> Floats:
        """Compute the same-decision probability of sets of variables.

        For the set of all variables it differs from `sdp_of_all`, which explanations state as "all variables together":
        that one is calibrated, while a cell of at least `min_node_size` rows mixes a row with its neighbours.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The rows.
        S : list of str or int, or one such list per row
            The variables that keep their values, by name or by position in `variable_names_`.
        y : array-like of shape (n_rows,), default=None
            The outcomes; None for the predictions of the model that is explained, or of the forest itself.
        **settings : dict
            Settings for this call only: those of `with_settings`.

        Returns
        -------
        ndarray of shape (n_rows,)
            The probabilities.
        """
        state = self._state("sdp", settings)
        return asked_rows.sdp(state, self._read(state, X, y), S)

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
        return asked_rows.predict(*self._encode(X), S)

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
        return asked_rows.probabilities(*self._encode(X), S)

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
        return asked_rows.cdf(*self._encode(X), S, values)

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
        return asked_rows.quantile(*self._encode(X), levels, S)

    def interval(self, X: Any, y: Any = None, **settings: Any) -> Floats:
        """Return the interval within which each outcome counts as kept (regression only).

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The rows.
        y : array-like of shape (n_rows,), default=None
            The outcomes; None for predictions, as in `sdp`. They matter only if `radius` is set.
        **settings : dict
            Settings for this call only: those of `with_settings`.

        Returns
        -------
        ndarray of shape (n_rows, 2)
            Low and high ends, both included.
        """
        state = self._state("interval", settings)
        return asked_rows.interval(state, self._read(state, X, y))

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
        return asked_rows.score(self._state(), self.predict(X), y)

    # --- rows as they are read -------------------------------------------------------------------------------------

    def encode(self, X: Any) -> NDArray[np.float32]:
        """Turn a table into the numbers that the forest sees.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The rows.

        Returns
        -------
        ndarray of shape (n_rows, n_matrix_columns), float32
            Numbers as they are, categories as codes, the parts of dates; NaN for missing values. Methods that take rows
            also take this matrix, or rows of it, unless a model is explained.
        """
        state, matrix = self._encode(X)
        return EncodedRows.of(matrix, state.encoding)

    def outcomes(self, X: Any, y: Any = None) -> Outcomes:
        """Return the outcomes of rows: what `explain` explains.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The rows.
        y : array-like of shape (n_rows,), default=None
            The outcomes; None for the predictions of the model that is explained, or of the forest itself.

        Returns
        -------
        Outcomes
            The values and, for a regression, the intervals.
        """
        state = self._state()
        return self._read(state, X, y).outcomes(state)

    def _state(self, method: str = "", settings: Mapping[str, Any] | None = None) -> Fitted:
        """Return the fitted state, with settings for one call. Parameters set since the fit take effect if they can."""
        if not hasattr(self, "fitted_"):
            check_is_fitted(self)  # which takes 1 % of the time of a row
        kept = self.fitted_.settings
        current = {name: getattr(self, name) for name in CHANGEABLE}
        if self.pi is None:
            current["pi"] = DEFAULT_PI[self.fitted_.task]
        if any(getattr(kept, name) is not value for name, value in current.items()):
            self.fitted_ = self.fitted_.with_changes(current)
        if not settings:
            return self.fitted_
        check_changes(getattr(type(self), method), settings, TypeError)
        return self.fitted_.with_changes(settings)

    def _read_table(self, state: Fitted, X: Any) -> Table:
        """Read rows that have the columns of the training table; those that said nothing at fit may be absent."""
        extra, fillers = state.settings.extra_columns, state.encoding.fillers
        return read_input(self, EncodedRows.read(X), extra_columns=extra, fillers=fillers)

    def _encode(self, X: Any) -> tuple[Fitted, NDArray[np.float32]]:
        state = self._state()
        return state, state.encode(self._read_table(state, X))

    def _read(self, state: Fitted, X: Any, y: Any, ids: Any = None) -> AskedRows:
        """Read the rows of a question, and their outcomes."""
        X, row_ids = read_ids(X, ids, state.encoding.names)
        table = self._read_table(state, X)
        return ask_about(state, X, state.encode(table), y, table.library, row_ids)

    # --- what was fitted -------------------------------------------------------------------------------------------

    def describe(self) -> dict[str, Any]:
        """Describe what was fitted to what, and by which settings.

        Returns
        -------
        dict
            Plain values by name: the task, the target, the forest and its fidelity, settings and versions.
        """
        return self._state().describe()

    @property
    def forest_(self) -> Any:
        """The fitted forest."""
        return self.fitted_.estimator

    @property
    def task_(self) -> str:
        """What was fitted: "classification" or "regression"."""
        return self.fitted_.task

    @property
    def task_reason_(self) -> str:
        """Why `task_` is what it is, in one line."""
        return self.fitted_.task_reason

    @property
    def fidelity_(self) -> float:
        """Out-of-bag accuracy or R2 of the forest."""
        return self.fitted_.fidelity

    @property
    def fidelity_by_class_(self) -> dict[Any, float]:
        """Classification: for each class the out-of-bag share of its rows that the forest gets right."""
        shares = self.fitted_.fidelity_by_class
        if shares is None:
            raise AttributeError("`fidelity_by_class_` is for classification.")
        return shares

    @property
    def classes_(self) -> NDArray[Any]:
        """Classification: the labels."""
        classes = self.fitted_.classes
        if classes is None:
            raise AttributeError("`classes_` is for classification.")
        return classes

    @property
    def focus_(self) -> Any:
        """The class that people care about; None if there is none."""
        return self.fitted_.focus

    @property
    def target_name_(self) -> str:
        """The name of the outcomes."""
        return self.fitted_.target

    @property
    def variable_names_(self) -> tuple[str, ...]:
        """The variables: the columns, with each group as one."""
        return self.fitted_.variables.names

    @property
    def candidates_(self) -> tuple[str, ...]:
        """The variables that may be searched, the most important first; `n_candidates` of them at each row."""
        return self.fitted_.candidate_names

    @property
    def feature_importances_(self) -> Floats:
        """The mean importance of the columns for the outcomes of training rows, in the order of the columns.

        The importance of a variable at a row is the share of the row's minimal sufficient sets that hold it (LXI); rows
        without a set do not count. A variable of several columns shares its importance equally among them. Up to 1,000
        training rows are explained, drawn by `random_state`, when the attribute is first read; later it is at hand.
        """
        state = self._state()
        if self._importances is None or self._importances[0] is not state:
            self._importances = state, importance_of_columns(state, self.random_state)
        return self._importances[1].copy()

    @property
    def pi_(self) -> float:
        """The probability that a sufficient set must reach."""
        return self.fitted_.settings.pi

    @property
    def min_node_size_(self) -> int:
        """The smallest size of a cell."""
        return self.fitted_.min_node_size

    @property
    def model_(self) -> Any:
        """The model that is explained; only after `for_model`."""
        return self._explained_model("model_").model

    @property
    def probability_of_(self) -> Any:
        """The class whose probability is explained, or None; only after `for_model`."""
        return self._explained_model("probability_of_").probability_of

    @property
    def model_rows_(self) -> Any:
        """The table that `for_model` was given, as it is; `save` leaves it out."""
        return self._explained_model("model_rows_").rows

    def _explained_model(self, name: str) -> ExplainedModel:
        if "fitted_" not in vars(self) or self.fitted_.model is None:
            raise AttributeError(f"`{name}` is there after `for_model` only.")
        return self.fitted_.model

    @property
    def training(self) -> tuple[Table, NDArray[Any]]:
        """The training table and its outcomes, ready for `explain`. One category stands for all rare ones."""
        return self._state().training_table

    # --- files, the app, and what is shown -------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write training table, forest and settings to one file, without pickle and without the explained model.

        Parameters
        ----------
        path : path
            Where to; what is there is replaced only when the new file is whole.
        """
        from suffice._io.saved import save_explainer

        check_is_fitted(self)
        save_explainer(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], max_bytes: int | None = None) -> SufficientExplainer:
        """Read an explainer that `save` wrote. A forged file can at worst raise an error.

        Parameters
        ----------
        path : path
            The file.
        max_bytes : int, default=None
            How much memory it may take; None reads SUFFICE_MAX_BYTES or takes 64 times the file, 256 MiB at least.

        Returns
        -------
        SufficientExplainer
            The fitted explainer, with the same answers but without the explained model: without `y`, the forest's own
            predictions are explained. ``forest_`` is then a `PlainForest`, the trees alone.
        """
        from suffice._io.saved import load_explainer

        return load_explainer(path, max_bytes)

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
        from suffice.app.server import show_explainer

        check_is_fitted(self)
        return show_explainer(self, X, y, port)

    def _repr_html_(self) -> str:
        if not hasattr(self, "fitted_"):
            return str(estimator_html_repr(self))
        from suffice._show.cards import explainer_card

        return explainer_card(type(self).__name__, self.describe())

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)
        return {**bundle, "text/html": self._repr_html_()} if "text/html" in bundle else bundle

    def __sklearn_tags__(self) -> Tags:
        """Return the tags by which scikit-learn knows which input is allowed."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = self.forest is None or get_tags(self.forest).input_tags.allow_nan
        kind = self.task if self.task != "auto" or self.forest is None else task_of_forest(self.forest)
        if kind == "classification":
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        elif kind == "regression":
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        return tags
