"""``SufficientExplainer``: from a table to sufficient explanations."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, Literal

from numpy.typing import NDArray
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from suffice._engine.drawn_rows import Question, question_about
from suffice._engine.fitting import NO_WEIGHTS, fit, task_of_forest
from suffice._engine.giveaways import warn_of_giveaways
from suffice._engine.holdout import fit_with_holdout
from suffice._engine.model_outputs import PROBABILITY_RADIUS, are_probabilities, ask_model, task_of_model
from suffice._engine.progress import progress_bar, wants_bar
from suffice._engine.rule_search import MAX_NODES, ExplainOptions, find_boxes
from suffice._engine.search import find_sufficient_sets
from suffice._engine.settings import DEFAULT_MAX_SETS, Settings, check_changes
from suffice._table.checks import read_input, read_outcomes
from suffice._table.row_ids import read_ids
from suffice._table.table import Table, read_columns
from suffice.answers import Answers, OutcomeSource
from suffice.certification import check_each
from suffice.explanations import Explanations
from suffice.importance import SetsKind
from suffice.local_rules import find_rules, make_rules
from suffice.reasoning import ReasonedForest
from suffice.rules import Rule


class SufficientExplainer(ReasonedForest):
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
    levels : {"same", "odds"}, default="same"
        Classification: whether every class must reach `pi`, or a rare class a level of its own: the probability whose
        odds are ``pi / (1 - pi)`` times those of the class among the training rows, and at most `pi`. A rare class
        seldom reaches 0.9; with "odds" a set is sufficient if it makes the class 9 times as likely, in odds, as it is
        on average.
    confidence : float, default=None
        If given, such as 0.95, a set is sufficient only if the lower bound of its SDP at this confidence reaches the
        level, not only its estimate.
    alpha : float, default=0.05
        Regression: the outcome is kept within an interval that holds 1 - alpha of the outcomes of such rows. It lies
        between two conditional quantiles of the forest, whose levels are calibrated on rows out of bag; with
        ``counts="bootstrap"`` the levels are ``alpha / 2`` and ``1 - alpha / 2``.
    radius : float, default=None
        Regression: if given, the outcome y is kept within ``[y - radius, y + radius]`` instead.
    n_candidates : int, default=10
        How many variables are searched for sufficient sets, at most 128.
    candidates : {"row", "splits", "impurity", "permutation"} or list of str or int, default="row"
        Which variables are searched: at each row those that keep its outcome most surely, chosen one after the other
        (with more than 64 variables, among the 64 of the highest impurity importance); or the same ones at all rows,
        by the number of splits on them (as in the paper), by impurity or permutation importance, or given by name or
        position.
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
    counts : {"auto", "out-of-bag", "bootstrap"}, default="auto"
        Which training rows a tree counts: those that it did not draw, or those that it drew, as in the paper. The rows
        that grew a tree agree with it by construction, so counting them gives probabilities that are too high. "auto"
        counts the rows out of bag if there are any.
    reference_rows : int, default=None
        Keep only this many training rows, drawn at random, to count on: SDPs, intervals and rules. The forest is still
        fitted on all rows. Memory, time for a row and the noise of the counts then depend on the rows kept; cells are
        as large as before (`min_node_size` shrinks in proportion). None keeps all rows.
    groups : dict of str to list of str or int, or "detect", default=None
        Columns that are one variable, such as the indicators of a category. "detect" groups the columns of an encoder:
        those that share a prefix, hold only 0 and 1, and are never 1 together in a row.
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
        The seed of a forest that has none of its own, and of permutations.

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
    target_name_ : str
        The name of `y` if it had one, else "y".
    variable_names_ : tuple of str
        The variables: the columns, with each group as one.
    candidates_ : tuple of str
        The variables that may be searched, the most important first.
    min_node_size_ : int
        The least size of a cell.
    model_ : object
        The model that is explained; only after `for_model`.
    probability_of_ : object
        The class whose probability is explained, or None; only after `for_model`.
    model_rows_ : object
        The table that `for_model` was given, as it is; `save` leaves it out.
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
        levels: Literal["same", "odds"] = "same",
        confidence: float | None = None,
        alpha: float = 0.05,
        radius: float | None = None,
        n_candidates: int = 10,
        candidates: str | Sequence[str | int] = "row",
        min_size: int = 0,
        max_size: int | None = None,
        max_sets: int | None = DEFAULT_MAX_SETS,
        min_support: int = 10,
        min_node_size: int | None = None,
        counts: Literal["auto", "out-of-bag", "bootstrap"] = "auto",
        reference_rows: int | None = None,
        groups: Mapping[str, Sequence[str | int]] | Literal["detect"] | None = None,
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
        self.reference_rows = reference_rows
        self.groups = groups
        self.dates = dates
        self.unseen = unseen
        self.extra_columns = extra_columns
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, *, holdout: float | None = None, **unsupported: Any) -> SufficientExplainer:
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
        **unsupported : dict
            Weights are not supported and are refused.

        Returns
        -------
        SufficientExplainer
            The fitted explainer.
        """
        if unsupported:
            name = next(iter(unsupported))
            hint = f" {NO_WEIGHTS}" if "weight" in name else ""
            raise TypeError(f"`fit` takes `X` and `y` only, got {name!r}.{hint}")
        self._fit(X, y, holdout)
        warn_of_giveaways(self.fitted_)
        return self

    def _fit(self, X: Any, y: Any, holdout: float | None, question: Question | None = None) -> None:
        for name in ("model_", "probability_of_", "model_rows_"):  # an earlier `for_model` left them
            self.__dict__.pop(name, None)
        settings = Settings.of(self)
        task_of_forest(self.forest)  # a forest of the wrong kind is refused first
        table = read_input(self, X, reset=True, min_rows=2)
        target = str(getattr(y, "name", None) or "y")
        outcomes = read_outcomes(y, table.n_rows)
        if holdout is None:
            self.fitted_ = fit(table, outcomes, target, self.forest, settings, question)
        else:
            self.fitted_ = fit_with_holdout(table, outcomes, target, self.forest, settings, holdout, question)

    @classmethod
    def for_model(
        cls,
        model: Any,
        X: Any,
        *,
        probability_of: Any = None,
        holdout: float | None = None,
        drawn_rows: int = 0,
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
        drawn_rows : int, default=0
            About how many further rows the model is asked: copies of rows of `X` with values of near neighbours. They
            help the forest to follow the model on small tables; probabilities are counted on rows of `X` alone.
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
        target = "prediction" if probability_of is None else f"probability of {probability_of}"
        question = question_about(explainer, model, X, probability_of, drawn_rows)
        explainer._fit(X, outputs, holdout, question)  # a model may well use one column only: no warning of giveaways
        is_probability = explainer.task_ == "regression" and are_probabilities(model, outputs, probability_of)
        explainer.fitted_ = replace(
            explainer.fitted_,
            target=target,
            model_name=type(model).__name__,
            is_probability=is_probability,
            default_radius=PROBABILITY_RADIUS if is_probability and "alpha" not in params else None,
        )
        explainer.model_ = model
        explainer.probability_of_ = probability_of
        explainer.model_rows_ = X
        return explainer

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
        copy.fitted_ = state.with_settings(Settings.of(copy))
        if "alpha" in changes:  # even if it is the value of before
            copy.fitted_ = replace(copy.fitted_, default_radius=None)
        return copy

    def rule(
        self,
        X: Any,
        S: Any,
        y: Any = None,
        *,
        check: Literal["rows", "everywhere"] = "rows",
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
        check : {"rows", "everywhere"}, default="rows"
            Where in the box the SDP must be at least `pi`: at every training row, or at every point.
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
        if settings:
            changed = self._changed("rule", settings)
            return changed.rule(X, S, y, check=check, volume=volume, max_nodes=max_nodes)
        matrix, state = self.encode(X), self.fitted_
        sets = self._sets(S, len(matrix))
        if not all(sets):
            raise ValueError("`S` must name at least one variable: a rule without variables has no bounds.")
        options = ExplainOptions(check=check, volume=volume, max_nodes=max_nodes)
        outcomes = state.outcomes(matrix, self._outcome_values(X, matrix, y))
        row_sets = list(enumerate(sets))
        return make_rules(state, find_boxes(state, matrix, outcomes, row_sets, options), outcomes, row_sets)

    def rules_of(
        self,
        X: Any,
        y: Any = None,
        *,
        check: Literal["rows", "everywhere"] = "rows",
        progress: bool | None = None,
    ) -> tuple[Rule | None, ...]:
        """Find the rule of each row and nothing else: faster than `explain` for many rows, of which some have none.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The rows.
        y : array-like of shape (n_rows,), default=None
            Their outcomes; None takes the predictions of the model, or of the forest if there is no model.
        check : {"rows", "everywhere"}, default="rows"
            What a rule must fulfil: see `rule`.
        progress : bool, default=None
            Whether to show a progress bar; None shows one on a terminal or in a notebook if it takes over a second.

        Returns
        -------
        tuple of Rule or None
            The rules of ``explain(X, y, sets="minimal", check=check)``.
        """
        matrix, state = self.encode(X), self.fitted_
        outcomes = state.outcomes(matrix, self._outcome_values(X, matrix, y))
        has_bar = wants_bar(progress)
        with progress_bar(len(matrix), progress) if has_bar else nullcontext() as report_progress:
            sets = find_sufficient_sets(
                state, matrix, outcomes, minimal_only=True, progress=report_progress, needs_nearest=False
            )
        rules = find_rules(state, matrix, outcomes, sets, ExplainOptions("minimal", check=check), progress, has_bar)
        if state.set_aside is not None:
            rules = check_each(rules, state)
        return tuple(of_row[0] if of_row else None for of_row in rules)

    def explain(
        self,
        X: Any,
        y: Any = None,
        *,
        ids: Any = None,
        sets: SetsKind = "all",
        rules: SetsKind | None = "minimal",
        check: Literal["rows", "everywhere"] = "rows",
        volume: Literal["rows", "lebesgue"] = "rows",
        progress: bool | None = None,
        **settings: Any,
    ) -> Explanations:
        """Find the sufficient sets of each row, and the rules that they make.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The rows to explain. One row may also be a dict of values, or a pandas Series such as ``frame.iloc[0]``.
        y : array-like of shape (n_rows,), default=None
            Their outcomes; None explains the predictions of the model, or of the forest if there is no model.
        ids : str or array-like of shape (n_rows,), default=None
            What the rows are called in texts, reports and tables: a column of `X`, or a list. None takes the index of a
            pandas frame, unless it just counts the rows from 0.
        sets : {"all", "minimal"}, default="all"
            "all" finds every sufficient set among the candidates; "minimal" stops at the smallest size that has one.
        rules : {"minimal", "all", None}, default="minimal"
            Which sets get a maximal rule: one of each row (the first whose rule covers `min_support` training rows),
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
        Explanations
            One explanation for each row, in their order.

        Examples
        --------
        >>> import numpy as np
        >>> X = np.random.default_rng(0).normal(size=(200, 3))
        >>> explainer = SufficientExplainer(random_state=0).fit(X, X[:, 1] > 0)
        >>> explainer.explain(X[:5], pi=0.8).pi, explainer.pi
        (0.8, 0.9)
        """
        if settings:
            changed = self._changed("explain", settings)
            return changed.explain(X, y, ids=ids, sets=sets, rules=rules, check=check, volume=volume, progress=progress)
        state = self._state()
        options = ExplainOptions(sets, rules, check, volume)
        X, row_ids = read_ids(X, ids, state.encoding.names)
        matrix, library = self._encode(X)
        predictions = state.predict(matrix)
        source: OutcomeSource = "given" if y is not None else "model" if hasattr(self, "model_") else "forest"
        outcomes = state.outcomes(matrix, predictions if source == "forest" else self._outcome_values(X, matrix, y))
        has_bar = wants_bar(progress)
        with progress_bar(len(matrix), progress) if has_bar else nullcontext() as report_progress:
            found_sets = find_sufficient_sets(
                state,
                matrix,
                outcomes,
                minimal_only=sets == "minimal",
                progress=report_progress,
            )
        rules_of: list[tuple[Rule, ...]] = [()] * len(matrix)
        if rules is not None:
            rules_of = find_rules(state, matrix, outcomes, found_sets, options, progress, has_bar)
            if state.set_aside is not None:
                rules_of = check_each(rules_of, state)
        known = state.projected.leaf_sdp(matrix, outcomes, state.settings.n_threads)
        answers = Answers(matrix, outcomes, predictions, found_sets, rules_of, known, source, row_ids)
        answers = answers._replace(rules_searched=rules is not None)
        return Explanations(answers, state, sets, library)

    def _changed(self, method: str, settings: Mapping[str, Any]) -> SufficientExplainer:
        """Return a copy with other settings for one call of a method."""
        check_is_fitted(self)
        check_changes(getattr(type(self), method), settings, TypeError)
        return self.with_settings(**settings)

    @property
    def training(self) -> tuple[Table, NDArray[Any]]:
        """The training table and its outcomes, ready for `explain`. One category stands for all rare ones."""
        state = self._state()
        matrix, outcomes = state.training
        return state.encoding.decode(matrix), outcomes

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

    def _repr_html_(self) -> str:
        if not hasattr(self, "fitted_"):
            return str(estimator_html_repr(self))
        from suffice._show.cards import explainer_card

        return explainer_card(type(self).__name__, self.describe())

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)
        return {**bundle, "text/html": self._repr_html_()} if "text/html" in bundle else bundle
