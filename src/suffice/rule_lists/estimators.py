"""The two estimators that predict by a list of sufficient rules: one for labels, one for numbers."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.utils import Tags, estimator_html_repr, get_tags
from sklearn.utils.validation import check_is_fitted

from suffice._forest.bounds import Adjustment
from suffice._forest.fitted import Fitted
from suffice._table.condition import to_sql_literal
from suffice._table.input import as_finite, check_finite, read_input, read_outcomes
from suffice._table.table import Table
from suffice._text import counted, format_percent, name_model, printed
from suffice.checks.certificates import NONE_SET_ASIDE, FreshRows, read_fresh_rows, rows_set_aside
from suffice.errors import check_number, check_word
from suffice.explainer import SufficientExplainer
from suffice.explaining.certificate import Certificate, check_confidence, check_level
from suffice.explaining.explanations import Explanations
from suffice.explaining.rule import Promise, Rule
from suffice.rule_lists.certifying import certify_lines
from suffice.rule_lists.choosing import choose_lines, collect_lines, distinct_rules
from suffice.rule_lists.code import lines_to_frame, lines_to_python, lines_to_sql
from suffice.rule_lists.editing import edit_lines
from suffice.rule_lists.evaluating import Answers, Comparison, Evaluation, evaluate_lines, figures_text, measure_simpler
from suffice.rule_lists.measures import Bools, Floats, GlobalRule, Labels, Lines, Numbers
from suffice.rule_lists.mining import Check, mine_rules

__all__ = ["GlobalRulesClassifier", "GlobalRulesRegressor"]

N_RULES = 10  # as many rules as a person reads


class RuleList(BaseEstimator):  # type: ignore[misc]
    """What the classifier and the regressor share: everything but the predictions themselves."""

    _task: ClassVar[type[Labels] | type[Numbers]]

    lines_: Lines
    loss_: float
    certificate_: Certificate | None
    set_aside_: FreshRows | None

    def __init__(
        self,
        explainer: SufficientExplainer | None = None,
        *,
        max_rules: int | None = N_RULES,
        min_precision: float = 0.0,
        min_support: int = 1,
        abstain: bool = False,
        random_state: Any = None,
    ) -> None:
        self.explainer = explainer
        self.max_rules = max_rules
        self.min_precision = min_precision
        self.min_support = min_support
        self.abstain = abstain
        self.random_state = random_state

    @property
    def rules_(self) -> tuple[GlobalRule, ...]:
        """The rules in their order."""
        check_is_fitted(self, "lines_")
        return self.lines_.rules

    @property
    def default_(self) -> GlobalRule | None:
        """What rows that no rule covers are predicted to have; None if the list abstains."""
        check_is_fitted(self, "lines_")
        return None if self.abstain else self.lines_.default

    @property
    def training_outcomes_(self) -> NDArray[Any]:
        """The outcomes of the training rows."""
        return self.lines_.task.outcomes

    def fit(self, X: Any, y: Any, *, holdout: float | None = None) -> Any:
        """Fit the explainer, explain training rows with their outcomes, and collect the rules.

        With ``max_rules=None``, every training row is explained at the explainer's level `pi`. Otherwise up to 300 rows
        are explained at several levels, and the best rules are chosen.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The training table: any input that the explainer accepts.
        y : array-like of shape (n_rows,)
            The outcomes.
        holdout : float, default=None
            The share of the rows to set aside at random for `certify`. They are used for nothing else.

        Returns
        -------
        estimator
            The fitted list.
        """
        self._check_parameters()
        table, task = self._read_training(X, y)
        named = y if hasattr(y, "name") else task.outcomes  # the explainer names a regression's outcome after it
        self.explainer_ = self._fit_explainer(X, named, holdout)
        self.set_aside_ = _set_aside(self.explainer_.fitted_)
        if holdout is None:
            return self._collect(self._mine(table, task.outcomes), table, task)
        table, outcomes = self.explainer_.training
        task = self._task.of_training(outcomes)
        # Rules at a higher level are certified more often, others are larger. On eight tables, certified rules chosen
        # from both covered .29 of the rows on average; chosen from those at the higher level alone, .21.
        higher = (1 + self.explainer_.fitted_.settings.pi) / 2
        return self._collect(self._mine(table, task.outcomes, [higher]), table, task)

    @classmethod
    def paper(cls, forest: Any = None, **params: Any) -> Any:
        """Return a list as in the paper, which is not fitted yet.

        The rules of all training rows make the list, the most precise rule that covers a row decides, and other rows
        get no prediction. Rules for labels have a precision of at least 0.9.

        Parameters
        ----------
        forest : forest of scikit-learn, default=None
            See `SufficientExplainer.paper`.
        **params : dict
            Other parameters of the list.

        Returns
        -------
        estimator
            The list.
        """
        settings = {"max_rules": None, "abstain": True, "min_precision": 0.9 if cls._task is Labels else 0.0}
        return cls(SufficientExplainer.paper(forest), **{**settings, **params})

    @classmethod
    def from_explanations(cls, rules: Any, X: Any = None, y: Any = None, **params: Any) -> Any:
        """Make a list of rules that were found before.

        Parameters
        ----------
        rules : Explanations, or iterable of Rule or None
            The local rules; None, for a row without a rule, is skipped.
        X : array-like or frame of shape (n_rows, n_columns), default=None
            The table on which outputs, support and precision are measured. None takes the training table of the
            explainer that made the explanations.
        y : array-like of shape (n_rows,), default=None
            Its outcomes.
        **params : dict
            Parameters of the list; `max_rules` is None by default here, so that all rules stay.

        Returns
        -------
        estimator
            The fitted list.
        """
        return cls(**{"max_rules": None, **params}).fit_rules(rules, X, y)

    @classmethod
    def from_explainer(cls, explainer: SufficientExplainer, *, check: Check = "rows", **params: Any) -> Any:
        """Make a list of the rules of the training rows of a fitted explainer, as `fit` does, without fitting again.

        Parameters
        ----------
        explainer : SufficientExplainer
            The fitted explainer.
        check : {"rows", "everywhere"}, default="rows"
            Where within a rule the SDP must reach the level: see `SufficientExplainer.rule`.
        **params : dict
            Parameters of the list.

        Returns
        -------
        estimator
            The fitted list.
        """
        return cls(explainer, **params).fit_explainer(check)

    def fit_explainer(self, check: Check = "rows") -> Any:
        """Collect the rules of the training rows of `explainer`, which must be fitted. See `from_explainer`.

        Parameters
        ----------
        check : {"rows", "everywhere"}, default="rows"
            Where within a rule the SDP must reach the level.

        Returns
        -------
        estimator
            The fitted list.
        """
        self._check_parameters()
        explainer = self.explainer
        if explainer is None or not hasattr(explainer, "fitted_"):
            raise ValueError("The explainer is not fitted: fit it first, or call fit(X, y) of the list.")
        self.explainer_ = explainer
        table, task = self._take_training(explainer)
        self.set_aside_ = _set_aside(self.explainer_.fitted_)
        return self._collect(self._mine(table, task.outcomes, check=check), table, task)

    def fit_rules(self, rules: Any, X: Any = None, y: Any = None) -> Any:
        """Collect and measure rules that were found before. See `from_explanations`.

        Parameters
        ----------
        rules : Explanations, or iterable of Rule or None
            The local rules.
        X : array-like or frame of shape (n_rows, n_columns), default=None
            The table; None takes the training table of the explanations.
        y : array-like of shape (n_rows,), default=None
            Its outcomes.

        Returns
        -------
        estimator
            The fitted list.
        """
        self._check_parameters()
        if isinstance(rules, Explanations) and rules.has_set.any() and not any(rules.rules):
            raise ValueError(
                "These explanations hold no rules: explain(X, y, rules='minimal') finds them, if they cover the "
                "explainer's `min_support` training rows."
            )
        local_rules = rules.rules if isinstance(rules, Explanations) else rules
        table, task = self._take_training(rules) if X is None else self._read_training(X, y)
        self.__dict__.pop("explainer_", None)
        self.set_aside_ = _set_aside(rules.fitted) if isinstance(rules, Explanations) else None
        if self.explainer is not None and hasattr(self.explainer, "fitted_"):
            self.explainer_ = self.explainer
        return self._collect(local_rules, table, task)

    def simplify(self, *, max_rules: int | None = N_RULES, max_loss: float = 0.01) -> Any:
        """Make a shorter list that is nearly as good.

        The list becomes a sum of few rules: each time the rule is added that lowers the squared
        error of the training rows most (for classes, the Brier score), with a cost for each condition. The rules are
        made of the conditions of the collected rules, with at most three conditions each.

        Parameters
        ----------
        max_rules : int or None, default=10
            The maximum number of rules; None for no limit.
        max_loss : float, default=0.01
            The last rules are left out while the squared error grows by at most this share of what it is without rules,
            in [0, 1). The attribute `loss_` of the list is the actual loss.

        Returns
        -------
        estimator
            A new fitted list. This one stays as it is.
        """
        check_is_fitted(self, "lines_")
        _check_max_rules(max_rules)
        check_number("max_loss", max_loss, "in [0, 1)", lambda v: 0 <= v < 1)
        source = self if self.collected_ is None else self.collected_
        lines, loss = choose_lines(source.lines_, max_rules, max_loss, self.min_support, self.min_precision)
        return self._with_lines(lines, collected_=source, loss_=loss)

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

        A line promises its label or, for numbers, the interval of its rule. The training rows alone determine which
        rules are tested and in which order; rules mined at a higher level than `precision` (an explainer with
        ``pi=0.95`` for a precision of 0.9) are certified more often. At most `max_rules` rules are tested, chosen from
        all rules that were collected.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns), default=None
            Rows that had no part in making the list. None takes the rows that `fit` set aside (`holdout`).
        y : array-like of shape (n_rows,), default=None
            Their outcomes.
        precision : float, default=0.9
            The share of decided rows that must be right, in (0, 1].
        confidence : float, default=0.95
            The confidence, in (0, 1).
        of : {"rules", "list"}, default="rules"
            What is certified. "rules": each rule of the list alone. Few and large rules are tested, since each needs
            rows of its own. "list": the list as a whole, on the rows that it decides; single rules may be less
            precise. The length most likely to be confirmed is tested first and then, as long as the tests succeed, one
            rule more each time, which needs no adjustment.
        adjust : {"benjamini-hochberg", "holm"} or None, default="benjamini-hochberg"
            How the tests of single rules are adjusted for their number: see `SufficientExplainer.certify`.

        Returns
        -------
        estimator
            A new fitted list of some of the rules, or of none, each with a certificate. Its `certificate_` is that of
            the whole list, or None if single rules were certified.
        """
        check_is_fitted(self, "lines_")
        if self.collected_ is not None:
            return self.collected_.certify(X, y, precision=precision, confidence=confidence, of=of, adjust=adjust)
        check_word("of", of, ("rules", "list"))
        check_level(precision, "precision")
        check_confidence(confidence)
        rows = self._read_rows(X, y, "rows that were set aside")
        fresh = self.set_aside_ if rows is None else FreshRows(*rows, is_set_aside=False)
        if fresh is None:
            raise ValueError(NONE_SET_ASIDE)
        lines, whole = certify_lines(self.lines_, fresh, precision, confidence, of, adjust, self.max_rules)
        return self._with_lines(lines, certificate_=whole)

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
        return self._with_lines(self.lines_.with_certificates(certificates), certificate_=self.certificate_)

    def decision_path(self, X: Any) -> NDArray[np.int64]:
        """Find the rule that decides each row: the first that covers it, or the one that adds most to a sum.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The rows.

        Returns
        -------
        ndarray of shape (n_rows,), int
            The position of the rule in `rules_`; -1 if none covers the row.
        """
        return self.lines_.decide(self.lines_.covers_rows(self._read_table(X)))

    def covered(self, X: Any) -> Bools:
        """Return which rows some rule covers.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The rows.

        Returns
        -------
        ndarray of shape (n_rows,), bool
            Whether a rule decides the row, not the default line.
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

    def evaluate(self, X: Any = None, y: Any = None) -> Evaluation:
        """Measure the rules on rows, each alone and as a list, and write it in sentences.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns), default=None
            The rows; None for the training rows, whose figures are too high.
        y : array-like of shape (n_rows,), default=None
            Their outcomes. For the list of a model (`SufficientExplainer.for_model`), None asks the model.

        Returns
        -------
        Evaluation
            What the rules cover, and how precise they are there. On other rows than the training rows, the figures of
            a tree of as many leaves and of the most frequent class, or of the mean, stand beside those of the list.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> rule_list = GlobalRulesClassifier(max_rules=2, random_state=0).fit(X[::2], y[::2])
        >>> print(rule_list.evaluate(X[1::2], y[1::2]))
        2 rules on 75 fresh rows, of which 64 % are covered.
        The list: accuracy 0.947, Brier score 0.150.
        A tree of 3 leaves: accuracy 0.947, Brier score 0.100.
        The most frequent class for every row: accuracy 0.333, Brier score 0.667.
        1. IF x3 <= 0.7 THEN 0 +0.584: covers 25 rows (33 %), 1.00 of them 0 (0.33 of all rows; 1.00 in training).
        2. IF x3 > 1.65 THEN 2 +0.543: covers 23 rows (31 %), 0.96 of them 2 (0.33 of all rows; 0.96 in training).
        ELSE 1: covers 27 rows (36 %), 0.89 of them 1 (0.33 of all rows; 0.96 in training).
        """
        table, answers = self._answers(X, y)
        explainer = getattr(self, "explainer_", None)
        simpler = {} if table is None else measure_simpler(self.lines_, explainer, table, answers.outcomes)
        return evaluate_lines(self.lines_, answers, self.default_, simpler)

    def compare(self, other: RuleList, X: Any = None, y: Any = None) -> Comparison:
        """Compare the predictions with those of another list, such as an edited one.

        Parameters
        ----------
        other : GlobalRulesClassifier or GlobalRulesRegressor
            The other list.
        X : array-like or frame of shape (n_rows, n_columns), default=None
            The rows; None for the training rows.
        y : array-like of shape (n_rows,), default=None
            Their outcomes, as for `evaluate`.

        Returns
        -------
        Comparison
            The figures of both, and the rows whose prediction differs.
        """
        (_, before), (_, after) = self._answers(X, y), other._answers(X, y)
        if len(before.outcomes) != len(after.outcomes):
            raise ValueError("The lists were made of different training rows: pass `X` and `y`.")
        return before.compared_with(after, self.lines_.task)

    def edit(self, *, drop: Iterable[int] = (), add: Any = (), order: Iterable[int] = ()) -> Any:
        """Return the list with rules left out, added, or in another order.

        In a sum, what each rule adds is fitted again to the rules that remain, whatever its sign. Certificates of the
        single rules that remain are kept, since each is about one rule; `certificate_`, which is about the whole list,
        is not. `simplify` and `certify` of the new list start from its rules.

        Parameters
        ----------
        drop : iterable of int
            The positions in `rules_` of the rules that are left out.
        add : str, Rule, or iterable of these
            Rules that are added at the end: texts as for `suffice.rule`, which may state the class after THEN, or
            rules. By default, a rule is for the most frequent class of the training rows that it covers.
        order : iterable of int
            The positions of the rules that come first. Added rules count on from the last of `rules_`.

        Returns
        -------
        estimator
            A new fitted list. This one stays as it is; `compare` shows what is different.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> rule_list = GlobalRulesClassifier(max_rules=3, random_state=0).fit(X, y)
        >>> edited = rule_list.edit(drop=[2], add="`petal width (cm)` > 1.6 then 2")
        >>> print(rule_list.compare(edited))
        rules 3 -> 3, coverage 0.940 -> 0.680, accuracy 0.967 -> 0.960, Brier score 0.063 -> 0.088. The prediction
        changes in 9 of 150 rows: 4 of them become right, 5 wrong.
        """
        check_is_fitted(self, "lines_")
        rules = [add] if isinstance(add, str | Rule) else list(add)
        explainer = getattr(self, "explainer_", None)
        if rules and explainer is None:
            raise ValueError(
                "Only a list with an explainer knows its training rows: use from_explanations to add rules."
            )
        table = explainer.training[0] if rules and explainer is not None else None
        lines, alone = edit_lines(self.lines_, order, drop, rules, table)
        collected = None if lines is alone else self._with_lines(alone, collected_=None)
        return self._with_lines(lines, collected_=collected)

    def plot(self, X: Any = None, y: Any = None, *, ax: Any = None) -> Any:
        """Draw the list with the coverage and the precision of each rule: see `suffice.plots.coverage_precision`.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns), default=None
            The rows; None for the training rows.
        y : array-like of shape (n_rows,), default=None
            Their outcomes.
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        matplotlib.axes.Axes
            Where it was drawn.
        """
        from suffice.plots import coverage_precision

        return coverage_precision(self, X=X, y=y, ax=ax)

    def to_dict(self) -> dict[str, Any]:
        """Return the list as plain Python values, ready for JSON.

        Returns
        -------
        dict
            The task, the target, the number of training rows, the share of them that some rule covers, the rules, each
            as a sentence, in SQL, with its figures and its conditions, and the default line.
        """
        check_is_fitted(self, "lines_")
        return {
            "task": self._task.name,
            "target": self.target_name_,
            "n_rows": len(self.training_outcomes_),
            "coverage": self.lines_.coverage,
            **({} if self.certificate_ is None else {"certificate": self.certificate_.to_dict()}),
            **({} if self.lines_.base is None else {"base": self.lines_.base}),
            "rules": [line.to_dict() for line in self.rules_],
            "default": None if self.default_ is None else self.default_.to_dict(),
        }

    def to_json(self, **options: Any) -> str:
        """Return the list as JSON.

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

    def to_frame(self) -> Any:
        """Return the rules as a pandas frame.

        Returns
        -------
        pandas.DataFrame
            One line for each rule, in their order: its conditions, its output and its figures.
        """
        check_is_fitted(self, "lines_")
        return lines_to_frame(self.lines_)

    def to_sql(self) -> str:
        """Write the list as one SQL expression.

        Missing values must be NULL.

        Returns
        -------
        str
            ``CASE WHEN ... THEN ... ELSE ... END``, with the default line at the end, or NULL where there is none. Just
            that value if there is no rule.
        """
        default = "NULL" if self.default_ is None else to_sql_literal(self.default_.output)
        return lines_to_sql(self.lines_, default)

    def to_python(self) -> str:
        """Write the list as a Python function of one row that needs no library.

        Returns
        -------
        str
            The code of ``predict(row)``, where `row` is a mapping from columns to values, such as a dict or a line of a
            frame; None or NaN is a missing value.
        """
        default = None if self.default_ is None else self.default_.output
        return lines_to_python(self.lines_, default, self.heading)

    @property
    def heading(self) -> str:
        """How many rules there are, what they cover, and on which rows their figures were measured."""
        n_rows = counted(len(self.training_outcomes_), "training row")
        covered = f"coverage {format_percent(self.lines_.coverage)} % of {n_rows}"
        heading = f"{counted(len(self.rules_), 'rule')}, {covered}; {self.how}."
        if self.rules_:
            heading = f"{heading} {self._task.note}"
        model = self.explainer_.fitted_.model_name if hasattr(self, "explainer_") else None
        if model is not None:
            _, answers = self._answers(None, None)
            heading = f"{heading} Fidelity to {name_model(model)}: {figures_text(answers.figures(self.lines_.task))}."
        return heading if self.certificate_ is None else f"{heading} The list was {self.certificate_.sentence}."

    @property
    def how(self) -> str:
        """How several rules that cover a row make one prediction."""
        return self.lines_.how(self.target_name_)

    @printed
    def __str__(self) -> str:
        """Return the rules as numbered sentences."""
        if not hasattr(self, "rules_"):
            return str(self.__repr__())
        lines = [f"{i}. {line}" for i, line in enumerate(self.rules_, start=1)]
        return "\n".join([self.heading, *lines, *([self.otherwise] if self.otherwise else [])])

    @property
    def otherwise(self) -> str:
        """The last line of the text: what rows that no rule covers are predicted to have; empty if nothing."""
        return "" if self.default_ is None else f"ELSE {self.default_.default_text}"

    def _repr_html_(self) -> str:
        if not hasattr(self, "rules_"):
            return str(estimator_html_repr(self))
        from suffice._show.cards import global_rules_card

        return global_rules_card(self, len(self.training_outcomes_), self.lines_.coverage)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)
        return {**bundle, "text/html": self._repr_html_()} if "text/html" in bundle else bundle

    # --- deciding ----------------------------------------------------------------------------------------------------

    def _predict(self, X: Any, method: Literal["predict", "predict_proba"], missing: float | None) -> NDArray[Any]:
        table = self._read_table(X)  # refuses a list that is not fitted
        return self._values(self.lines_.covers_rows(table), method, missing)

    def _values(self, covers: Bools, method: str, missing: float | None) -> NDArray[Any]:
        """Return the values of the rules; for rows that no rule covers those of the default line, if there is one."""
        scores, is_covered = self.lines_.scores(covers), covers.any(axis=0)
        values = self.lines_.task.predicted(scores) if method == "predict" else self.lines_.shares(scores)
        if self.abstain and not is_covered.all():
            values = values.astype(object) if missing is None else values
            values[~is_covered] = missing
        return values

    def _answers(self, X: Any, y: Any) -> tuple[Table | None, Answers]:
        """Predict rows whose outcomes are known; the training rows have no table."""
        check_is_fitted(self, "lines_")
        rows = self._read_rows(X, y, "training rows")
        table, outcomes = (None, self.training_outcomes_) if rows is None else rows
        covers = self.lines_.covers if table is None else self.lines_.covers_rows(table)
        is_class = self._task is Labels
        predicted = self._values(covers, "predict", None if is_class else np.nan)
        shares = self._values(covers, "predict_proba", np.nan) if is_class else None
        return table, Answers(outcomes, predicted, shares, covers)

    # --- fitting -----------------------------------------------------------------------------------------------------

    def _mine(
        self, table: Table, y: NDArray[Any], further_levels: Sequence[float] = (), check: Check = "rows"
    ) -> Sequence[Rule | None]:
        """Find the rules of training rows, at the explainer's level and at further ones."""
        if self.max_rules is None:
            explainers = [self.explainer_, *(self.explainer_.with_settings(pi=level) for level in further_levels)]
            return [rule for explainer in explainers for rule in explainer.rules_of(table, y, check=check)]
        least = self.min_precision if self._task is Labels else 0.0
        return mine_rules(self.explainer_, table, y, further_levels=further_levels, least=least, check=check)

    def _collect(self, rules: Iterable[Rule | None], table: Table, task: Labels | Numbers) -> Any:
        """Measure rules, and choose the best ones if their number is limited."""
        distinct = distinct_rules(rules)
        self.lines_ = collect_lines(distinct, table, task, self.min_support, self.min_precision)
        self.collected_, self.loss_, self.certificate_ = None, 0.0, None
        self.target_name_ = distinct[0].target if distinct else "y"
        if self.max_rules is not None:
            self.collected_ = copy.copy(self)
            limits = self.min_support, self.min_precision
            self.lines_, self.loss_ = choose_lines(self.lines_, self.max_rules, 0.0, *limits)
        return self

    def _with_lines(self, lines: Lines, **attributes: Any) -> Any:
        """Return a copy of the list with other lines and attributes, and no certificate of the whole unless given."""
        changed = copy.copy(self)
        changed.__dict__.update({"certificate_": None, **attributes}, lines_=lines)
        return changed

    def _fit_explainer(self, X: Any, y: Any, holdout: float | None = None) -> SufficientExplainer:
        explainer = SufficientExplainer() if self.explainer is None else clone(self.explainer)
        if explainer.task not in ("auto", self._task.name):
            raise ValueError(
                f"`explainer` has the task {explainer.task!r}, {type(self).__name__} needs {self._task.name!r}."
            )
        explainer.set_params(task=self._task.name)
        if explainer.random_state is None:
            explainer.set_params(random_state=self.random_state)
        return explainer.fit(X, y, holdout=holdout)

    # --- input -------------------------------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        if self.explainer is not None and not isinstance(self.explainer, SufficientExplainer):
            raise TypeError(f"`explainer` must be None or a SufficientExplainer, got {type(self.explainer).__name__}.")
        _check_max_rules(self.max_rules)
        must_be, least = self._task.precision_range
        check_number("min_precision", self.min_precision, must_be, lambda v: least <= v <= 1)
        check_number("min_support", self.min_support, "a whole number >= 1", lambda v: v >= 1, Integral)

    def _take_training(self, source: Any) -> tuple[Table, Labels | Numbers]:
        """Take the training table of explanations, or of an explainer."""
        if not isinstance(source, Explanations | SufficientExplainer):
            raise ValueError("Give `X` and `y`: only explanations know the table that they come from.")
        table, y = source.training
        read_input(self, table, reset=True)
        return table, self._task.of_training(y)

    def _read_training(self, X: Any, y: Any) -> tuple[Table, Labels | Numbers]:
        table = self._read_table(X, reset=True)
        return table, self._task.of_training(read_outcomes(y, table.n_rows))

    def _read_rows(self, X: Any, y: Any, default_rows: str) -> tuple[Table, NDArray[Any]] | None:
        """Read rows with their outcomes; None if neither is there."""
        asks = X is not None and y is None and hasattr(self, "explainer_") and self.explainer_.fitted_.model is not None
        if (X is None) != (y is None) and not asks:
            raise ValueError(f"Give `X` and `y` together, or neither for the {default_rows}.")
        if X is None:
            return None
        table = self._read_table(X)
        if asks:
            return table, read_fresh_rows(self.explainer_.fitted_, X, table, None).outcomes
        outcomes = read_outcomes(y, table.n_rows)
        return table, outcomes if self._task is Labels else as_finite(outcomes)

    def _read_table(self, X: Any, reset: bool = False) -> Table:
        if not reset:
            check_is_fitted(self, "lines_")
        extra = "error" if self.explainer is None else self.explainer.extra_columns
        table = read_input(self, X, reset=reset, min_rows=1 if reset else 0, extra_columns=extra)
        if table.array is not None:
            check_finite(table.array, table.names, takes_missing=True)
        return table

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn which input is allowed."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.explainer is None or get_tags(self.explainer).input_tags.allow_nan
        return tags


def _check_max_rules(max_rules: int | None) -> None:
    if max_rules is not None:
        check_number("max_rules", max_rules, "None or a whole number >= 1", lambda v: v >= 1, Integral)


def _set_aside(fitted: Fitted) -> FreshRows | None:
    return None if fitted.set_aside is None else rows_set_aside(fitted)


class GlobalRulesClassifier(ClassifierMixin, RuleList):  # type: ignore[misc]
    """Classify by a list of sufficient rules.

    By default, few rules are chosen, and each rule that covers a row adds to the probabilities of the classes. With
    ``max_rules=None``, as in the paper, the list has the rules of all training rows, and the first that covers a row
    decides. Rows that no rule covers get what the training rows without a rule have: the default line, `default_`.

    Parameters
    ----------
    explainer : SufficientExplainer, default=None
        The explainer whose rules are collected; `fit` fits a clone of it. None takes ``SufficientExplainer()``.
    max_rules : int or None, default=10
        The maximum number of rules. They are chosen for the Brier score of their sum; see `simplify`. None keeps the
        rules of all training rows, as in the paper.
    min_precision : float, default=0.0
        Rules that are less accurate on the training rows that they cover are left out; in [0, 1].
    min_support : int, default=1
        Rules that cover fewer training rows are left out.
    abstain : bool, default=False
        Whether rows that no rule covers get no prediction: None, and NaN as their probabilities.
    random_state : int, RandomState or None, default=None
        The seed of the explainer, if it has none of its own.

    Attributes
    ----------
    rules_ : tuple of GlobalRule
        The rules in the order in which they were chosen, each with what it adds. With ``max_rules=None``, the most
        accurate rule comes first; equally accurate ones are sorted by support, the largest first, then by text.
    default_ : GlobalRule or None
        The line for rows that no rule covers, without conditions, measured on the training rows that no rule covers; on
        all of them, with a support of 0, if each is covered. None if the list abstains.
    collected_ : GlobalRulesClassifier or None
        The list of all rules from which the rules were chosen; None with ``max_rules=None``.
    loss_ : float
        How much of the squared error `simplify` gave up for a shorter list.
    classes_ : ndarray
        The labels.
    explainer_ : SufficientExplainer
        The fitted explainer; not set if the list was made of rules and needs none.
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
    ELSE busy  (support 1, few rows, coverage 25 %, precision 1.00, 0.35 expected)
    >>> rule_list.predict(X).tolist()
    ['calm', 'calm', 'busy', 'busy']
    >>> rule_list.covered(X).tolist()
    [True, True, False, True]
    """

    _task = Labels

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels."""
        return self.lines_.task.classes  # type: ignore[union-attr]

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict labels.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            The labels, of the dtype of `classes_`. If the list abstains and some row is not covered, an array of
            objects with None for such rows, which `score` refuses.
        """
        return self._predict(X, "predict", None)

    def predict_proba(self, X: Any) -> Floats:
        """Return the probabilities of the classes.

        In a sum of rules, they are the sums, where negative ones count as 0, divided by their total. In a list in which
        the first rule decides, they are the shares of the classes among the training rows that this rule covers.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            The probabilities, in the order of `classes_`. For a row that no rule covers, those of the default line;
            NaN if the list abstains.
        """
        return self._predict(X, "predict_proba", np.nan)


class GlobalRulesRegressor(RegressorMixin, RuleList):  # type: ignore[misc]
    """Predict numbers by a list of sufficient rules.

    By default, few rules are chosen, and each rule that covers a row adds to the prediction. With ``max_rules=None``,
    as in the paper, the list has the rules of all training rows, each predicts the mean of the rows that it covers,
    and the first that covers a row decides. Rows that no rule covers get the mean of the training rows without a rule:
    the default line, `default_`.

    Parameters
    ----------
    explainer : SufficientExplainer, default=None
        The explainer whose rules are collected; `fit` fits a clone of it. None takes ``SufficientExplainer()``.
    max_rules : int or None, default=10
        The maximum number of rules. They are chosen for the squared error of their sum; see `simplify`. None keeps the
        rules of all training rows, as in the paper.
    min_precision : float, default=-inf
        Rules with a lower precision, which is ``1 - MSE / var(y)``, are left out; at most 1. The precision is negative
        if the rows that a rule covers vary more than all rows.
    min_support : int, default=10
        Rules that cover fewer training rows are left out: the MSE of few rows may be small by chance.
    abstain : bool, default=False
        Whether rows that no rule covers get no prediction, but NaN.
    random_state : int, RandomState or None, default=None
        The seed of the explainer, if it has none of its own.

    Attributes
    ----------
    rules_ : tuple of GlobalRule
        The rules in the order in which they were chosen, each with what it adds. With ``max_rules=None``, sorted by the
        MSE on the training rows; equal ones by support, the largest first, then by text. A rule without conditions
        comes last.
    default_ : GlobalRule or None
        The line for rows that no rule covers, without conditions, measured on the training rows that no rule covers; on
        all of them, with a support of 0, if each is covered. None if the list abstains.
    collected_ : GlobalRulesRegressor or None
        The list of all rules from which the rules were chosen; None with ``max_rules=None``.
    loss_ : float
        How much of the squared error `simplify` gave up for a shorter list.
    explainer_ : SufficientExplainer
        The fitted explainer; not set if the list was made of rules and needs none.
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
    ELSE y = 9  (support 1, few rows, coverage 33 %, MSE 0, MAE 0)
    >>> rule_list.predict([[0.0], [3.0]])
    array([1.5, 9. ])
    """

    _task = Numbers

    def __init__(
        self,
        explainer: SufficientExplainer | None = None,
        *,
        max_rules: int | None = N_RULES,
        min_precision: float = -math.inf,
        min_support: int = 10,
        abstain: bool = False,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            explainer,
            max_rules=max_rules,
            min_precision=min_precision,
            min_support=min_support,
            abstain=abstain,
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
            The means; NaN for a row that no rule covers if the list abstains.
        """
        return self._predict(X, "predict", np.nan)
