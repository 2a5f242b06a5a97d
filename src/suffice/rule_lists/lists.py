"""Lists of sufficient rules: collecting the local rules of rows, measuring them, and deciding rows by them.

Each distinct box becomes one line, measured on the table; the first line of the list that covers a row decides. How
local rules are found is the concern of ``explainer``, and what a box covers that of ``rules``.
"""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import Tags, estimator_html_repr, get_tags
from sklearn.utils.validation import check_is_fitted

from suffice._table.condition import to_sql_literal
from suffice._table.frames import as_frame, load_pandas
from suffice._table.input import check_finite, check_number, read_input, read_outcomes
from suffice._table.table import Table
from suffice._text import counted, format_percent
from suffice.checks.certificates import rows_set_aside
from suffice.errors import did_you_mean
from suffice.explainer import SufficientExplainer
from suffice.explaining.explanations import Explanations
from suffice.explaining.rule import Rule
from suffice.rule_lists.certifying import CertifiableList
from suffice.rule_lists.choosing import (
    Bools,
    Choice,
    Floats,
    LabelGains,
    NumberGains,
    choose_greedily,
    first_two,
    of_first_rules,
    shorten,
)
from suffice.rule_lists.measures import Evaluation, GlobalRule
from suffice.rule_lists.mining import mine_rules
from suffice.rule_lists.simplifying import merge_rules, without_idle_conditions

N_RULES = 20  # as many rules as a person reads


class ShortList(CertifiableList):
    """What a list of rules needs in order to be made shorter, and how that is done."""

    loss_: float

    def simplify(
        self, tolerance: float | None = None, *, max_rules: int | None = N_RULES, max_loss: float = 0.01
    ) -> Any:
        """Make a list with few rules that is nearly as good.

        Rules are chosen one after another: each time the one that gains most on the training rows that no chosen rule
        covers. For classes, a rule gains the number of rows that it adds, times the estimated share of them that have
        its label beyond the share of all rows that have it. For numbers, it gains the squared error that it removes.
        Both are discounted for the number of rows behind them, as estimates for new rows. The value of a list is the
        sum of its gains, as a share of the training rows or of the variance of their outcomes. Conditions that change
        no row covered are left out, and two rules for one label become one where a single rule says the same.

        Parameters
        ----------
        tolerance : float or None, default=None
            If given, in [0, 1), the list is shortened with a guarantee on the training rows instead: rules are removed,
            those that decide no row first, as long as both coverage and precision stay within the tolerance of this
            list's; the order and the rules themselves stay as they are. `max_rules` and `max_loss` are not used.
        max_rules : int or None, default=20
            The number of rules at most; None for any number.
        max_loss : float, default=0.01
            How much of the value of all rules may be lost, in [0, 1). The shortest list within this loss is returned;
            if it is longer than `max_rules`, its first rules, and the loss is greater. The list states it as `loss_`.

        Returns
        -------
        estimator
            A new fitted list. This one stays as it is.
        """
        check_is_fitted(self, "rules_")
        if tolerance is not None:
            return self._within_tolerance(tolerance)
        check_max_rules(max_rules)
        check_number("max_loss", max_loss, "in [0, 1)", lambda v: 0 <= v < 1)
        choice = choose_greedily(self._training_covers(), self._gains(self.rules_))
        short = choice.within(max_loss).first(max_rules)
        return self._with_choice(short, float(choice.gains.sum() - short.gains.sum()))

    def _within_tolerance(self, tolerance: float) -> Any:
        """Remove rules while coverage and precision on the training rows stay within a tolerance."""
        check_number("tolerance", tolerance, "in [0, 1)", lambda v: 0 <= v < 1)
        outputs, outcomes = self.outputs_, self.training_outcomes_
        kept = shorten(
            np.ascontiguousarray(self._training_covers().T),
            lambda rules, rows: self._losses(outputs[rules], outcomes[rows]),
            tolerance,
        )
        return self._with_lines(kept.tolist(), None)

    def _with_choice(self, choice: Choice, loss: float) -> Any:
        """Return the list with the rules chosen, in the order of the choice, each as simple as possible."""
        lines, covers = self._simpler_lines(choice.in_order.tolist())
        short = copy.copy(self)
        short.rules_ = tuple(lines)
        short.simpler_rules_ = tuple(line.rule for line in lines)
        short.packed_covers_ = np.packbits(covers, axis=1)
        short.collected_ = None
        short.loss_ = loss
        short.certificate_ = None
        return short

    def _simpler_lines(self, chosen: Sequence[int]) -> tuple[list[GlobalRule], Bools]:
        """Write the rules chosen without idle conditions, and those that say the same of neighbouring rows as one."""
        all_covers = self._training_covers()
        covers = [all_covers[i] for i in chosen]
        rules, parts = merge_rules([self.simpler_rules_[i] for i in chosen])
        unions = [np.logical_or.reduce([covers[i] for i in group]) for group in parts]
        outcomes = self.training_outcomes_
        lines = [self._measure(rule, outcomes[rows]) for rule, rows in zip(rules, unions, strict=True)]
        return lines, np.array(unions, dtype=np.bool_).reshape(len(lines), len(outcomes))

    # --- what the list itself knows ----------------------------------------------------------------------------------

    @property
    def outputs_(self) -> NDArray[Any]:
        """What each rule predicts."""
        raise NotImplementedError

    def _gains(self, lines: Sequence[GlobalRule]) -> LabelGains | NumberGains:
        """Compute what rules gain when they are added to a list."""
        raise NotImplementedError

    def _measure(self, rule: Rule, outcomes: NDArray[Any]) -> GlobalRule:
        """Measure a rule on the outcomes of the rows that it covers."""
        raise NotImplementedError

    def _losses(self, outputs: NDArray[Any], outcomes: NDArray[Any]) -> Floats:
        """Compute what outputs cost: precision is 1 minus the mean."""
        raise NotImplementedError


def check_max_rules(max_rules: int | None) -> None:
    """Check a number of rules."""
    if max_rules is not None:
        check_number("max_rules", max_rules, "None or a whole number >= 1", lambda v: v >= 1, Integral)


class RuleList(ShortList):
    """What the classifier and the regressor share: collecting, measuring, deciding and writing rules."""

    _task: str
    _constant: str  # the fallback that predicts the same for every row
    _precision_range: tuple[str, float]  # in words, and the lower end
    _about_figures: str  # on which rows the figures of a line were measured

    def __init__(
        self,
        explainer: SufficientExplainer | None = None,
        *,
        max_rules: int | None = N_RULES,
        min_precision: float = 0.0,
        min_support: int = 1,
        fallback: Any = None,
        random_state: Any = None,
    ) -> None:
        self.explainer = explainer
        self.max_rules = max_rules
        self.min_precision = min_precision
        self.min_support = min_support
        self.fallback = fallback
        self.random_state = random_state

    def fit(self, X: Any, y: Any, *, holdout: float | None = None) -> Any:
        """Fit the explainer, explain training rows with their outcomes, and collect the rules.

        With ``max_rules=None`` every training row is explained, at the explainer's level `pi`. Otherwise up to 500
        rows are, at several levels, and the best rules are chosen.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns)
            The table: whatever the explainer takes.
        y : array-like of shape (n_rows,)
            The outcomes.
        holdout : float, default=None
            The share of the rows that is set aside at random for `certify`. Nothing else looks at them.

        Returns
        -------
        estimator
            The fitted list.
        """
        self._check_parameters()
        table, outcomes = self._check_training(X, y)
        native = self._table_for_others(X, table)
        named = y if hasattr(y, "name") else outcomes  # the explainer calls a regression's outcome by it
        self.explainer_ = self._fit_explainer(native, named, holdout)
        self.set_aside_ = None
        if holdout is not None:
            self.set_aside_ = rows_set_aside(self.explainer_.fitted_)
            return self._fit_on_the_rest()
        if self.max_rules is not None:
            return self._collect(self._mine(table, outcomes), X, table, outcomes)
        return self._collect(self.explainer_.rules_of(native, outcomes), X, table, outcomes)

    def _mine(
        self,
        table: Table,
        y: NDArray[Any],
        further_levels: Iterable[float] = (),
        check: Literal["rows", "everywhere"] = "rows",
    ) -> list[Rule]:
        least = self.min_precision if self._task == "classification" else 0.0
        return mine_rules(self.explainer_, table, y, further_levels=further_levels, least=least, check=check)

    def _fit_on_the_rest(self) -> Any:
        """Collect the rules of the rows that were not set aside."""
        if self.fallback is not None and not isinstance(self.fallback, str):
            raise ValueError(
                "`holdout` needs a fallback by name, or none: other estimators would need the table itself."
            )
        table, y = self.explainer_.training
        rules: list[Rule | None] = []
        pi = self.explainer_.fitted_.settings.pi
        # Surer rules are certified more often, others are larger. On eight tables, certified rules chosen from both
        # covered .29 of the rows in the mean; chosen from the surer ones alone, .21.
        if self.max_rules is not None:
            outcomes = self._read_outcomes(y)
            return self._collect(self._mine(table, outcomes, [(1 + pi) / 2]), None, table, outcomes)
        for level in (pi, (1 + pi) / 2):
            explainer = self.explainer_.with_settings(pi=level)
            rules += explainer.rules_of(table, y)
        return self._collect(rules, None, table, self._read_outcomes(y))

    @classmethod
    def from_explanations(cls, rules: Any, X: Any = None, y: Any = None, **params: Any) -> Any:
        """Make a list of rules that are already there.

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
            Parameters of the list; here `max_rules` is None by default, and all rules stay. A fitted `explainer` is
            used as it is by ``fallback="forest"``; otherwise that fallback fits one on `X` and `y`.

        Returns
        -------
        estimator
            The fitted list.
        """
        return cls(**{"max_rules": None, **params}).fit_rules(rules, X, y)

    @classmethod
    def from_explainer(
        cls, explainer: SufficientExplainer, *, check: Literal["rows", "everywhere"] = "rows", **params: Any
    ) -> Any:
        """Make a list of the rules of the training rows of a fitted explainer, as `fit` does, without fitting again.

        Parameters
        ----------
        explainer : SufficientExplainer
            The fitted explainer.
        check : {"rows", "everywhere"}, default="rows"
            Where in a box the SDP must reach the level: see `SufficientExplainer.rule`.
        **params : dict
            Parameters of the list.

        Returns
        -------
        estimator
            The fitted list.
        """
        return cls(explainer, **params).fit_explainer(check)

    def fit_explainer(self, check: Literal["rows", "everywhere"] = "rows") -> Any:
        """Collect the rules of the training rows of the parameter `explainer`, which is fitted. See `from_explainer`.

        Parameters
        ----------
        check : {"rows", "everywhere"}, default="rows"
            Where in a box the SDP must reach the level.

        Returns
        -------
        estimator
            The fitted list.
        """
        self._check_parameters()
        explainer = self.explainer
        if explainer is None or not self._has_fitted_explainer():
            raise ValueError("The explainer is not fitted: fit it first, or call fit(X, y) of the list.")
        self.explainer_ = explainer
        table, y = self._take_training(explainer)
        has_rows = explainer.fitted_.set_aside is not None
        self.set_aside_ = rows_set_aside(explainer.fitted_) if has_rows else None
        if self.max_rules is not None:
            return self._collect(self._mine(table, y, check=check), None, table, y)
        return self._collect(explainer.rules_of(table, y, check=check), None, table, y)

    def fit_rules(self, rules: Any, X: Any = None, y: Any = None) -> Any:
        """Collect rules that are already there, and measure them. See `from_explanations`.

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
        if X is None:
            table, outcomes = self._take_training(rules)
        else:
            table, outcomes = self._check_training(X, y)
        self.__dict__.pop("explainer_", None)
        has_rows = isinstance(rules, Explanations) and rules.fitted.set_aside is not None
        self.set_aside_ = rows_set_aside(rules.fitted) if has_rows else None
        if self._has_fitted_explainer():
            self.explainer_ = self.explainer
        elif isinstance(self.fallback, str) and self.fallback == "forest":
            self.explainer_ = self._fit_explainer(self._table_for_others(X, table), outcomes)
        return self._collect(local_rules, X, table, outcomes)

    def _has_fitted_explainer(self) -> bool:
        return self.explainer is not None and hasattr(self.explainer, "fitted_")

    def _take_training(self, source: Any) -> tuple[Table, NDArray[Any]]:
        """Take the training table of explanations, or of an explainer."""
        if not isinstance(source, Explanations | SufficientExplainer):
            raise ValueError("Give `X` and `y`: only explanations know the table that they come from.")
        by_forest = isinstance(self.fallback, str) and self.fallback == "forest" and self._has_fitted_explainer()
        is_constant = isinstance(self.fallback, str) and self.fallback == self._constant
        if not (self.fallback is None or is_constant or by_forest):
            raise ValueError(f"Give `X` and `y`, on which the fallback {self.fallback!r} is fitted.")
        table, y = source.training
        self.n_features_in_ = len(table.names)
        self.__dict__.pop("feature_names_in_", None)
        if table.has_names:
            self.feature_names_in_ = np.array(table.names, dtype=object)
        return table, self._read_outcomes(y)

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
        """Return which rows some rule covers.

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

    def evaluate(self, X: Any = None, y: Any = None) -> Evaluation:
        """Measure the rules on rows, each alone and as a list.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_columns), default=None
            The rows; None for the training rows.
        y : array-like of shape (n_rows,), default=None
            Their outcomes.

        Returns
        -------
        Evaluation
            What the rules cover, and how precise they are there.
        """
        check_is_fitted(self, "rules_")
        if (X is None) != (y is None):
            raise ValueError("Give `X` and `y` together, or neither for the training rows.")
        if X is None:
            covers, outcomes = self._training_covers(), self.training_outcomes_
        else:
            table = self._check_table(X)
            outcomes = self._read_other_outcomes(read_outcomes(y, table.n_rows))
            covers = np.array([line.rule.covers(table) for line in self.rules_], dtype=bool)
            covers = covers.reshape(len(self.rules_), table.n_rows)
        outputs, n_rules = self.outputs_, len(self.rules_)
        first, _ = first_two(np.ascontiguousarray(covers.T))
        is_covered = first < n_rules
        losses = np.zeros(len(outcomes))
        losses[is_covered] = self._losses(outputs[first[is_covered]], outcomes[is_covered])
        precision = np.full(n_rules, np.nan)
        for i in np.flatnonzero(covers.any(axis=1)):
            precision[i] = 1 - self._losses(outputs[i], outcomes[covers[i]]).mean()
        coverage_of_first, precision_of_first = of_first_rules(first, losses, n_rules)
        mae = None
        if self._task == "regression":
            errors = np.abs(outputs[first[is_covered]] - outcomes[is_covered])
            mae = float(errors.mean()) if len(errors) else math.nan
        return Evaluation(
            covers=covers,
            outcomes=outcomes,
            first=np.where(is_covered, first, -1),
            coverage=covers.mean(axis=1) if len(outcomes) else np.full(n_rules, np.nan),
            precision=precision,
            coverage_of_first=coverage_of_first,
            precision_of_first=precision_of_first,
            mae=mae,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the list as plain Python values, ready for JSON.

        Returns
        -------
        dict
            The task, the target, the number of training rows, the share of them that some rule covers, and the rules:
            each as a sentence, in SQL, with its figures and its conditions.
        """
        check_is_fitted(self, "rules_")
        return {
            "task": self._task,
            "target": self.target_name_,
            "n_rows": len(self.training_outcomes_),
            "coverage": self._training_coverage(),
            **({} if self.certificate_ is None else {"certificate": self.certificate_.to_dict()}),
            "rules": [line.to_dict() for line in self.rules_],
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
            One line for each rule, in their order: what it asks, its output and its figures.
        """
        check_is_fitted(self, "rules_")
        pd = load_pandas()
        measures = ["frequencies"] if self._task == "classification" else ["std", "mse", "mae"]
        columns = ["text", "output", "support", "coverage", "precision", *measures, "expected"]
        checked = ["n_rows", "share", "lower", "is_certified"] if any(line.certificate for line in self.rules_) else []
        lines = [
            [getattr(line, name) for name in columns] + [getattr(line.certificate, name, None) for name in checked]
            for line in self.rules_
        ]
        names = {"text": "rule", "n_rows": "n_checked", "share": "checked_share", "lower": "checked_lower"}
        return pd.DataFrame(lines, columns=[names.get(name, name) for name in [*columns, *checked]])

    def to_sql(self) -> str:
        """Write the list as one SQL expression.

        Missing values must be NULL. The fallback is not part of it.

        Returns
        -------
        str
            ``CASE WHEN ... THEN ... ELSE NULL END``, NULL where no rule covers a row; just NULL if there is no rule.
        """
        check_is_fitted(self, "rules_")
        if not self.rules_:
            return "NULL"
        cases = "\n".join(f"  WHEN {line.to_sql()} THEN {to_sql_literal(line.output)}" for line in self.rules_)
        return f"CASE\n{cases}\n  ELSE NULL\nEND"

    @property
    def heading(self) -> str:
        """How many rules there are, what they cover, and on which rows their figures were measured."""
        n_rows = counted(len(self.training_outcomes_), "training row")
        covered = f"coverage {format_percent(self._training_coverage())} % of {n_rows}"
        heading = f"{counted(len(self.rules_), 'rule')}, {covered}; the first that covers a row decides."
        if self.rules_:
            heading = f"{heading} {self._about_figures}"
        return heading if self.certificate_ is None else f"{heading} The list was {self.certificate_.sentence}."

    def __str__(self) -> str:
        """Return the rules as numbered sentences."""
        if not hasattr(self, "rules_"):
            return str(self.__repr__())
        lines = [self.heading, *(f"{i}. {line}" for i, line in enumerate(self.rules_, start=1))]
        if self.fallback_name_ is not None:
            lines.append(f"ELSE {self.fallback_name_}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        if not hasattr(self, "rules_"):
            return str(estimator_html_repr(self))
        from suffice._show.cards import global_rules_card

        return global_rules_card(self, len(self.training_outcomes_), self._training_coverage())

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)
        return {**bundle, "text/html": self._repr_html_()} if "text/html" in bundle else bundle

    # --- what differs between labels and numbers ---------------------------------------------------------------------

    def _read_outcomes(self, y: NDArray[Any]) -> NDArray[Any]:
        """Check the training outcomes."""
        raise NotImplementedError

    def _read_other_outcomes(self, y: NDArray[Any]) -> NDArray[Any]:
        """Check the outcomes of other rows."""
        raise NotImplementedError

    def _constant_model(self) -> Any:
        raise NotImplementedError

    # --- collecting --------------------------------------------------------------------------------------------------

    def _collect(self, rules: Iterable[Rule | None], X: Any, table: Table, y: NDArray[Any]) -> Any:
        self.training_outcomes_ = y
        self.certificate_ = None
        surest: dict[frozenset[Any], Rule] = {}
        for rule in rules:
            if rule is None:
                continue
            if not isinstance(rule, Rule):
                raise TypeError(f"`rules` must hold Rule values or None, got {rule!r}.")
            box = frozenset(rule.conditions)
            if box not in surest or rule.sdp > surest[box].sdp:
                surest[box] = rule
        lines: list[tuple[GlobalRule, Rule, NDArray[np.uint8]]] = []  # with the simpler rule, and the rows as bits
        for rule in surest.values():
            simpler, covered = without_idle_conditions(rule, table)
            if np.count_nonzero(covered) >= self.min_support:
                line = self._measure(rule, y[covered])
                if line.precision >= self.min_precision:
                    lines.append((line, simpler, np.packbits(covered)))
        # For a regression the best precision is the smallest MSE; the MSE itself is free of one more rounding.
        lines.sort(key=lambda entry: _order(entry[0]))
        self.rules_ = tuple(line for line, _, _ in lines)
        self.simpler_rules_ = tuple(simpler for _, simpler, _ in lines)
        n_bytes = (table.n_rows + 7) // 8
        self.packed_covers_ = np.array([bits for _, _, bits in lines], dtype=np.uint8).reshape(len(lines), n_bytes)
        self.collected_, self.loss_ = None, 0.0
        self.target_name_ = next((rule.target for rule in surest.values()), "y")
        self.fallback_ = self._fit_fallback(self._table_for_others(X, table), y)
        name = self.fallback if isinstance(self.fallback, str) else type(self.fallback).__name__
        self.fallback_name_ = None if self.fallback is None else name
        if self.max_rules is not None:
            collected = copy.copy(self)
            self.__dict__.update(vars(collected.simplify(max_rules=self.max_rules, max_loss=0.0)))
            self.collected_ = collected
        return self

    def _fit_explainer(self, X: Any, y: Any, holdout: float | None = None) -> Any:
        explainer = SufficientExplainer() if self.explainer is None else clone(self.explainer)
        if explainer.task not in ("auto", self._task):
            raise ValueError(
                f"`explainer` has the task {explainer.task!r}, {type(self).__name__} needs {self._task!r}."
            )
        explainer.set_params(task=self._task)
        if explainer.random_state is None:
            explainer.set_params(random_state=self.random_state)
        return explainer.fit(X, y, holdout=holdout)

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

    def _training_covers(self) -> Bools:
        """Return which rule (row) covers which training row (column)."""
        return np.unpackbits(self.packed_covers_, axis=1, count=len(self.training_outcomes_)).astype(np.bool_)

    def _training_coverage(self) -> float:
        return np.count_nonzero(self._training_covers().any(axis=0)) / len(self.training_outcomes_)

    # --- input -------------------------------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        if self.explainer is not None and not isinstance(self.explainer, SufficientExplainer):
            raise TypeError(f"`explainer` must be None or a SufficientExplainer, got {type(self.explainer).__name__}.")
        check_max_rules(self.max_rules)
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
        """Return a frame with the columns of the training table in their order, or the numbers of an array."""
        frame = as_frame(X)
        if frame is None:
            return X if table.array is None else table.array
        return frame.select(table.names).to_native() if table.has_names else X

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn which input is allowed."""
        tags = super().__sklearn_tags__()
        others = [other for other in (self.explainer, self.fallback) if hasattr(other, "__sklearn_tags__")]
        tags.input_tags.allow_nan = all(get_tags(other).input_tags.allow_nan for other in others)
        return tags


def _order(line: GlobalRule) -> tuple[bool, float, int, str]:
    """Return by what lines are sorted. No line after one without conditions would decide a row, so it comes last."""
    quality = -line.precision if line.mse is None else line.mse
    return not line.rule.conditions, quality, -line.support, line.text
