"""An explainer with a table, and the answers about a view that pages show.

The explainer is never changed: the settings of a view go into a copy. Calls that may reach the explained model are made
under a lock, because the model may not take calls from several threads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import polars as pl

from suffice._forest.out_of_bag import class_probabilities
from suffice._table.cache import LastUsed
from suffice._table.input import match_columns
from suffice._table.rows import read_ids
from suffice._text import format_value
from suffice.app.state.jobs import run_on_explainer
from suffice.app.state.tables import as_polars, find_ids, find_rows, plain_value, read_date

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice._show.row_figures import CurveView
    from suffice._table.encoding import Column
    from suffice._table.table import Table
    from suffice.app.state.view import View
    from suffice.checks.quality import Quality
    from suffice.explainer import SufficientExplainer
    from suffice.explaining.explanation import Explanation
    from suffice.explaining.explanations import Explanations
    from suffice.explaining.proof import Proof
    from suffice.explaining.rule import Rule
    from suffice.explaining.stability import SetStability
    from suffice.proofs import CertainReason

F = TypeVar("F", bound=Callable[..., Any])

N_KEPT = 64  # answers that are kept for the next click
N_REFITS = 10  # forests of each kind that a page grows to measure the stability of a row
N_LOOKED_AT = 250  # first rows of the table, and others of all of it, among which the first one to show is sought
N_TRIED, N_AT_ONCE = 80, 8  # rows of the outcome that matters, and of others, that are explained for it
PROOF_SECONDS = 3.0  # for the proof of a rule, and again for what is certain about a row
MAX_SEARCHED = 14  # variables that a view may search; with more, one click takes seconds


def _kept(key: Callable[..., Hashable], *, is_locked: bool = False) -> Callable[[F], F]:
    """Keep the last answers of a method, by a key of its arguments."""

    def decorate(method: F) -> F:
        @wraps(method)
        def answer(self: Workspace, *args: Any) -> Any:
            with self.lock if is_locked else nullcontext():
                return self._answers.get((method.__name__, key(*args)), lambda: method(self, *args))

        return answer  # type: ignore[return-value]

    return decorate


@dataclass(eq=False)
class Workspace:
    """An explainer, and a table of rows to look at."""

    explainer: SufficientExplainer
    frame: pl.DataFrame
    observed: list[Any] | None
    name: str
    pandas_rows: Any = None
    ids: Sequence[str] | None = None
    lock: Any = field(default_factory=threading.RLock, repr=False)
    _answers: LastUsed = field(default_factory=lambda: LastUsed(N_KEPT), repr=False)

    def __post_init__(self) -> None:
        """Look for a column with the identifiers of the rows, if they were not passed."""
        if self.ids is None:
            self.ids = find_ids(self.frame, {*self.explainer.fitted_.encoding.names, self.explainer.target_name_})

    @classmethod
    def of(cls, explainer: SufficientExplainer, X: Any = None, y: Any = None, name: str = "") -> Workspace:
        """Make a workspace from a table in any form, or from the explainer's training rows."""
        names = explainer.fitted_.encoding.names
        if X is None:
            from suffice._io.explainer_file import training_rows

            frame, y = training_rows(explainer)
        elif isinstance(X, pl.DataFrame):
            frame = X
        else:
            frame = as_polars(X, names)
        match_columns(frame.columns, names, "ignore")
        target = explainer.target_name_
        observed = None if y is None else [plain_value(value) for value in np.asarray(y).tolist()]
        if y is None and target in frame.columns and target not in names:
            observed = [plain_value(value) for value in frame[target].to_list()]
        if frame.height == 0:
            raise ValueError("The table has no rows.")
        is_pandas = type(X).__module__.partition(".")[0] == "pandas"
        ids = read_ids(X, None, names)[1] if is_pandas else None
        title = name or f"training rows of {target}"
        return cls(explainer, frame, observed, title, X[:0] if is_pandas else None, ids)

    @property
    def is_regression(self) -> bool:
        """Whether outcomes are numbers."""
        return bool(self.explainer.task_ == "regression")

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the columns that the explainer knows."""
        return tuple(self.explainer.fitted_.encoding.names)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The encoded columns."""
        return tuple(self.explainer.fitted_.encoding.columns)

    @cached_property
    def training(self) -> tuple[NDArray[np.float32], NDArray[Any], Table]:
        """The encoded training rows, their outcomes, and the rows as a table."""
        fitted = self.explainer.fitted_
        matrix, outcomes = fitted.training
        return matrix, outcomes, fitted.encoding.decode(matrix)

    @cached_property
    def positions_of(self) -> dict[str, tuple[int, ...]]:
        """The positions of the encoded columns of each variable."""
        variables = self.explainer.fitted_.variables
        return dict(zip(variables.names, variables.columns, strict=True))

    @cached_property
    def ranking(self) -> tuple[str, ...]:
        """All variables that can be candidates, the most important first."""
        fitted = self.explainer.fitted_
        return tuple(fitted.variables.names[v] for v in fitted.ranking())

    @cached_property
    def first_row(self) -> int:
        """The row that is shown first: one with a sufficient set, of the outcome that matters if there is one."""
        explainer = self.explainer.with_settings(extra_columns="ignore")
        n_rows = self.frame.height
        rows = np.unique([*range(min(n_rows, N_LOOKED_AT)), *np.linspace(0, n_rows - 1, N_LOOKED_AT, dtype=np.intp)])
        is_wanted = np.zeros(len(rows), dtype=np.bool_)
        try:
            with self.lock:
                if explainer.focus_ is not None:
                    is_wanted = explainer.outcomes(self.as_input(self.frame[rows.tolist()])).values == explainer.focus_
                found = (self._first_with_set(explainer, rows[chosen][:N_TRIED]) for chosen in (is_wanted, ~is_wanted))
                return next((row for row in found if row is not None), 0)
        except ValueError:  # such as an unseen category: the page says so when the row is shown
            return 0

    def _first_with_set(self, explainer: SufficientExplainer, rows: NDArray[np.intp]) -> int | None:
        """Find the first row with a sufficient set, preferably one that other values do not contest."""
        contested = None
        for tried in np.split(rows, range(N_AT_ONCE, len(rows), N_AT_ONCE)):
            if len(tried):
                explained = explainer.explain(self.as_input(self.frame[tried.tolist()]), rules=None, progress=False)
                for row in tried[explained.has_set & ~explained.is_contested].tolist():
                    return int(row)
                contested = next(iter(tried[explained.has_set].tolist()), None) if contested is None else contested
        return contested

    @cached_property
    def source_names(self) -> tuple[str, ...]:
        """The columns of the table that the explainer knows, those of the candidates first."""
        first = self.sources_of(self.explainer.candidates_)
        return tuple(dict.fromkeys([*(self.names[i] for i in first), *self.names]))

    def sources_of(self, variables: Sequence[str]) -> list[int]:
        """List the positions of the columns of the table that variables are made of."""
        return list(dict.fromkeys(self.columns[c].source for name in variables for c in self.positions_of[name]))

    @_kept(lambda view: view.settings)
    def explainer_for(self, view: View) -> SufficientExplainer:
        """Return a copy of the explainer with the settings of a view; it shares the forest."""
        changes: dict[str, Any] = {"extra_columns": "ignore"}
        if view.candidates:
            changes["candidates"] = list(view.candidates)
            changes["n_candidates"] = len(view.candidates)
        settings = {"pi": view.pi, "alpha": view.alpha, "levels": view.levels, "confidence": view.confidence}
        changes |= {name: value for name, value in settings.items() if value is not None}
        if view.confidence == 0:
            changes["confidence"] = None
        if view.unseen:
            changes["unseen"] = "missing"
        return self.explainer.with_settings(**changes)

    def check(self, view: View) -> View:
        """Replace what a link asks for and the table does not have."""
        edits = {name: value for name, value in view.edits.items() if name in self.names}
        known = set(self.explainer.variable_names_)
        candidates = tuple(name for name in view.candidates if name in known)[:MAX_SEARCHED]
        outcome = view.outcome if self.observed is not None else "prediction"
        return view.with_(
            row=min(view.row, self.frame.height - 1),
            edits=edits,
            candidates=candidates,
            outcome=outcome,
            levels=None if self.is_regression else view.levels,
        )

    # --- rows ---------------------------------------------------------------------------------------------------------

    def values(self, row: int) -> dict[str, Any]:
        """Return the values of a row."""
        values = self.frame.row(row, named=True)
        return {name: plain_value(values[name]) for name in self.names}

    def name_of(self, row: int) -> str:
        """Return what a row is called."""
        return f"row {row}" if self.ids is None else f"row {self.ids[row]} (number {row})"

    def named(self, explanations: Explanations, rows: Sequence[int]) -> Explanations:
        """Give explanations the positions and the identifiers of their rows."""
        return explanations.with_ids(None if self.ids is None else [self.ids[row] for row in rows], rows)

    def row_of(self, view: View) -> Any:
        """Return the row of a view, with its edits, in the form that the explainer takes."""
        return self.as_input(self.edited_row(view))

    def edited_row(self, view: View) -> pl.DataFrame:
        """Return the row of a view, with its edits, as a frame."""
        row = self.frame[view.row].select(self.names)
        edited = []
        for name, value in view.edits.items():
            dtype = row.schema[name]
            if value is None:
                series = pl.Series(name, [None], dtype=dtype)
            elif dtype.is_numeric() and isinstance(value, int | float):
                series = pl.Series(name, [float(value)])
            elif dtype.is_temporal():
                series = pl.Series(name, [read_date(name, str(value))])
            else:
                series = pl.Series(name, [value], strict=False)
            edited.append(series)
        return row.with_columns(edited)

    def as_input(self, frame: pl.DataFrame) -> Any:
        """Return rows in the form that the explainer, and the model it explains, take."""
        frame = frame.select(self.names)
        if not self.explainer.fitted_.encoding.has_names:
            return frame.to_numpy()
        if self.pandas_rows is None:
            return frame
        import pandas as pd

        native = pd.DataFrame({name: frame[name].to_list() for name in frame.columns})
        for name, dtype in self.pandas_rows.dtypes.items():
            if name in native.columns:
                try:
                    native[name] = native[name].astype(dtype)
                except (TypeError, ValueError):  # an edit put a fraction or a gap among whole numbers
                    continue
        return native

    def observed_at(self, rows: list[int]) -> list[Any] | None:
        """Return the observed outcomes of some rows."""
        if self.observed is None:
            return None
        outcomes = [self.observed[row] for row in rows]
        return None if any(outcome is None for outcome in outcomes) else outcomes

    @_kept(lambda text: text)
    def find(self, text: str) -> NDArray[np.intp]:
        """Find rows by conditions, such as ``hour > 17 AND weather = clear``, or by words in any column."""
        return find_rows(self.frame, text)

    # --- answers ------------------------------------------------------------------------------------------------------

    @_kept(lambda view: view.key, is_locked=True)
    def explain(self, view: View) -> Explanation:
        """Explain the row of a view."""
        return self.explanations(view)[0]

    @_kept(lambda view: view.key, is_locked=True)
    def explanations(self, view: View) -> Explanations:
        """Explain the row of a view, as the only row of a table."""
        y = self.observed_at([view.row]) if view.is_of_observed else None
        explained = self.explainer_for(view).explain(self.row_of(view), y, progress=False)
        return self.named(explained, [view.row])

    @_kept(lambda view, step: view.key)
    def stability(self, view: View, step: Callable[[int], None]) -> SetStability:
        """Measure, in a process of its own, whether the best set of a view's row returns in forests grown again."""
        outcome = self.explain(view).outcome  # so that the model is not asked in another process
        arguments = (self.row_of(view), outcome, N_REFITS)
        stability: SetStability = run_on_explainer("measure_stability", self.explainer_for(view), *arguments, step=step)
        step(2 * N_REFITS)
        return stability

    @cached_property
    def can_prove(self) -> bool:
        """Whether the explainer knows its model, and the model's trees can be read."""
        from suffice.proofs.model_trees import read_trees_of

        if self.explainer.fitted_.model is None:
            return False
        try:
            read_trees_of(self.explainer.fitted_, None, None)
        except (TypeError, ValueError):
            return False
        return True

    @_kept(lambda view: view.key, is_locked=True)
    def proof(self, view: View) -> tuple[Proof | None, CertainReason]:
        """Prove the rule of a view for the model, and find what is certain about its row."""
        explainer, rule = self.explainer_for(view), self.explain(view).rule
        proofs = () if rule is None else explainer.prove(rule, max_seconds=PROOF_SECONDS).proofs
        interval = self.explain(view).interval if self.is_regression else None
        row = self.row_of(view)
        reasons = explainer.certain_reasons(row, interval=interval, nearest=False, max_seconds=PROOF_SECONDS)
        return next(iter(proofs), None), reasons[0]

    @_kept(lambda of_table: of_table)
    def quality(self, of_table: bool) -> Quality:
        """Measure how well the forest predicts, with the settings of the explainer."""
        explainer = self.explainer.with_settings(extra_columns="ignore")
        if not of_table:
            return explainer.quality()
        observed = self.observed or [None] * self.frame.height
        known = [row for row, outcome in enumerate(observed) if outcome is not None or self.observed is None]
        with self.lock if hasattr(explainer, "model_") else nullcontext():
            return explainer.quality(self.as_input(self.frame[known]), self.observed_at(known))

    @_kept(lambda view, S: (view.key, S), is_locked=True)
    def rule_of(self, view: View, S: tuple[str, ...]) -> Rule | None:
        """Compute the rule of a sufficient set of the row of a view."""
        outcomes = [self.explain(view).outcome]
        rules: list[Rule | None] = self.explainer_for(view).rule(self.row_of(view), list(S), outcomes)
        return rules[0]

    def distribution(self, view: View, values: Any = None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Compute the distribution of the outcome given the best set, and given all variables."""
        S = list(self.explain(view).best_set.variables)
        explainer, X = self.explainer_for(view), self.row_of(view)
        with self.lock:
            if self.is_regression:
                return explainer.cdf(X, S, values)[0], explainer.cdf(X, None, values)[0]
            of_all = class_probabilities(explainer.fitted_, explainer.encode(X))[0]
            return explainer.predict_proba(X, S)[0], of_all

    @_kept(lambda view, column: (view.key, column))
    def curve(self, view: View, column: int) -> CurveView:
        """Compute the probability that the outcome of a view is kept along one column."""
        from suffice._show.row_figures import view_curve

        return view_curve(self.explanations(view), 0, self.explain(view), column)

    def text_of(self, name: str, value: Any) -> str:
        """Write a value of a column of the table."""
        return next((column.text_of(value) for column in self.columns if column.name == name), format_value(value))

    def encoded(self, view: View) -> NDArray[np.float32]:
        """Encode the row of a view."""
        return np.asarray(self.explainer_for(view).encode(self.row_of(view))[0])

    def keeps(self, explanation: Explanation) -> NDArray[np.bool_]:
        """Check which training rows have the explained outcome."""
        return explanation.keeps(self.training[1])
