"""Whether rows keep their reasons when the forest, the training table or the row itself changes a little.

Beside our reasons stand the variables that SHAP puts first for the same rows under the same changes, if the package
shap is installed. What comes of it is held by ``reason_agreement``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
from benchmarks.reason_study.agreement import ChangedReasons, ChangeKind, ReasonStability, Variables
from benchmarks.reason_study.tree_shap import NOT_INSTALLED, shap_towards, top_variables
from experiments.noisy_rows import noise_of_columns, noisy_copies
from numpy.typing import NDArray
from sklearn.base import clone

from suffice._forest.progress import report_steps
from suffice._forest.trees import PlainForest
from suffice._table.frames import as_frame, for_model
from suffice._table.input import check_number, read_outcomes
from suffice._table.table import read_columns
from suffice._text import counted
from suffice.checks.refits import check_refits, regrow
from suffice.explainer import SufficientExplainer
from suffice.reasons.values import REFUSALS, Reasons

ONLY_MODEL = "SHAP depends on the model alone, which does not change here."


def reason_stability(
    explainer: SufficientExplainer,
    X: Any,
    y: Any = None,
    *,
    adverse: Any = None,
    protected: Sequence[str | int] = (),
    n: int = 4,
    training: tuple[Any, Any] | None = None,
    n_rows: int = 100,
    n_changes: int = 10,
    scale: float = 0.05,
    random_state: Any = None,
    progress: bool | Callable[[int], object] | None = None,
) -> ReasonStability:
    """Count how often rows keep their reasons under changes that should not matter much.

    The forest is grown again with other seeds; it is grown on bootstrap samples of the training table; if the explainer
    has a model and `training` is passed, the model itself is fitted again on bootstrap samples; and the rows get small
    noise. Pairs of a row and a change count if the row has reasons before the change and the same decision after it. A
    row that has no reasons after a change has not kept them.

    If shap is installed, ``shap.TreeExplainer`` ranks the variables of the same rows under the same changes: for the
    model that is explained or, without one, for the forest itself.
    """
    for name, number, least in (("n", n, 1), ("n_rows", n_rows, 1), ("n_changes", n_changes, 1)):
        check_number(name, number, f"a whole number >= {least}", lambda v: v >= 1, Integral)
    check_number("scale", scale, "a number >= 0", lambda v: 0 <= v < np.inf)
    explainer = explainer.with_settings()  # parameters that were set since the fit take effect
    check_refits(explainer.fitted_)
    if explainer.fitted_.classes is None and adverse is None:
        raise ValueError("`adverse` is needed for numbers: it says which need reasons, such as {'below': 600}.")
    model = None if y is not None else getattr(explainer, "model_", None)
    refits = _Refits.of(explainer, model, training)
    rng = np.random.default_rng(random_state)
    options = {"adverse": adverse, "protected": protected, "n": int(n), "progress": False}
    sample = _Sample.draw(explainer, X, y, int(n_rows), options, rng)
    peer = _Peer(model, explainer, sample, int(n))
    kinds: list[ChangeKind] = ["seeds", "bootstraps", *(["refits"] if refits is not None else []), "noise"]  # type: ignore[list-item]
    changes = []
    with report_steps(len(kinds) * int(n_changes), progress, "changing", "change") as step:
        for kind in kinds:
            changed = _changed(kind, explainer, sample, refits, int(n_changes), float(scale), rng)
            changes.append(_compare(kind, sample, peer, changed, step))
    return ReasonStability(
        labels=tuple(answer.label for answer in sample.answers),
        reasons=sample.variables,
        shap=peer.before,
        changes=tuple(changes),
        n_rows=sample.n_rows,
        refusals=sample.refusals,
        n_reasons=int(n),
        scale=float(scale),
        about=explainer.describe(),
        shap_of=peer.note,
    )


def _variables(reasons: Reasons) -> tuple[Variables, ...]:
    """Return the first variable of each reason of each row."""
    return tuple(tuple(reason.variables[0] for reason in answer.reasons) for answer in reasons)


@dataclass(frozen=True, eq=False)
class _Sample:
    """The sampled rows that have reasons."""

    X: Any
    y: NDArray[Any] | None
    answers: Reasons
    variables: tuple[Variables, ...]
    n_rows: int
    refusals: dict[str, int]
    options: dict[str, Any]

    @classmethod
    def draw(
        cls,
        explainer: SufficientExplainer,
        X: Any,
        y: Any,
        n_rows: int,
        options: dict[str, Any],
        rng: np.random.Generator,
    ) -> _Sample:
        X = for_model(X)
        outcomes = None if y is None else read_outcomes(y, read_columns(X).n_rows)
        reasons = explainer.reasons(X, outcomes, **options)
        adverse = np.array([i for i, answer in enumerate(reasons) if answer.is_adverse], dtype=np.intp)
        if not len(adverse):
            raise ValueError("No row has an adverse outcome: there are no reasons to look at.")
        chosen = np.sort(rng.choice(adverse, min(n_rows, len(adverse)), replace=False))
        refused = [reasons[i].refusal for i in chosen.tolist()]
        kinds = [refusal.kind for refusal in refused if refusal is not None]
        kept = chosen[[refusal is None for refusal in refused]]
        if not len(kept):
            raise ValueError(
                f"None of {counted(len(chosen), 'row')} with an adverse outcome has reasons: "
                + "; ".join(f"{REFUSALS[kind]} ({kinds.count(kind)})" for kind in REFUSALS if kind in kinds)
                + ". Nothing can be compared."
            )
        answers = Reasons(
            [reasons[i] for i in kept.tolist()], reasons.settings, reasons.codes, reasons.fitted, reasons.library
        )
        counts: dict[str, int] = {kind: kinds.count(kind) for kind in REFUSALS if kind in kinds}
        own = None if outcomes is None else outcomes[kept]
        return cls(take_rows(X, kept), own, answers, _variables(answers), len(chosen), counts, options)

    @property
    def outcomes(self) -> list[Any]:
        return [answer.outcome for answer in self.answers]

    def ask(self, explainer: SufficientExplainer, X: Any) -> tuple[tuple[Variables, ...], NDArray[np.bool_]]:
        """Return the reasons of another explainer or other values, and which rows keep their decision."""
        reasons = explainer.reasons(X, self.y, **self.options)
        is_number = explainer.fitted_.classes is None
        is_kept = [
            after.is_adverse and (is_number or after.outcome == before.outcome)
            for before, after in zip(self.answers, reasons, strict=True)
        ]
        return _variables(reasons), np.array(is_kept, dtype=bool)


def take_rows(X: Any, rows: NDArray[np.intp]) -> Any:
    """Take rows of a table."""
    frame = as_frame(X)
    if frame is None:
        return np.asarray(X)[rows]
    taken = frame[rows.tolist()].to_native()
    return taken.reset_index(drop=True) if hasattr(taken, "reset_index") else taken


@dataclass(frozen=True, eq=False)
class _Refits:
    """A model that can be fitted again, with its training table."""

    explainer: SufficientExplainer
    model: Any
    X: Any
    y: NDArray[Any]

    @classmethod
    def of(cls, explainer: SufficientExplainer, model: Any, training: Any) -> _Refits | None:
        if training is None:
            return None
        if model is None:
            raise ValueError("`training` is for a model that is fitted again, but no model is explained here.")
        if not hasattr(model, "get_params") or not hasattr(model, "fit"):
            raise TypeError(f"The model cannot be fitted again: {type(model).__name__} has no `get_params` and `fit`.")
        X, y = training
        X = for_model(X)
        return cls(explainer, model, X, read_outcomes(y, read_columns(X).n_rows))

    def draw(self, seed: int, rng: np.random.Generator) -> tuple[Any, SufficientExplainer]:
        rows = rng.integers(len(self.y), size=len(self.y))
        X = take_rows(self.X, rows)
        model = clone(self.model).fit(X, self.y[rows])
        # A rare category may be missing in the sample.
        params = {**self.explainer.get_params(deep=False), "random_state": seed, "unseen": "missing"}
        fitted = SufficientExplainer.for_model(
            model,
            X,
            probability_of=self.explainer.probability_of_,
            drawn_rows=self.explainer.describe()["n_drawn"],
            **params,
        )
        return model, fitted


Changed: TypeAlias = Iterator[tuple[SufficientExplainer, Any, Any]]
"""The explainer, the model and the rows after each change."""


def _changed(
    kind: ChangeKind,
    explainer: SufficientExplainer,
    sample: _Sample,
    refits: _Refits | None,
    n_changes: int,
    scale: float,
    rng: np.random.Generator,
) -> Changed:
    """Make the changes of one kind, one after the other."""
    state, model = explainer.fitted_, getattr(explainer, "model_", None)
    seeds = rng.integers(2**31 - 1, size=n_changes).tolist()
    if kind == "noise":
        noise = noise_of_columns(explainer.training[0], state.encoding.columns, scale)
        for _ in seeds:
            yield explainer, model, noisy_copies(sample.X, state.encoding.names, noise, 1, rng)
        return
    for seed in seeds:
        if kind == "refits":
            assert refits is not None
            fitted_model, fitted = refits.draw(seed, rng)
            yield fitted, fitted_model, sample.X
            continue
        rows = None if kind == "seeds" else np.sort(rng.integers(len(state.forest.X), size=len(state.forest.X)))
        grown = copy(explainer)
        grown.fitted_ = regrow(state, seed, rows)
        yield grown, model, sample.X


class _Peer:
    """SHAP beside our reasons, or why it is not there."""

    def __init__(self, model: Any, explainer: SufficientExplainer, sample: _Sample, n: int) -> None:
        self._has_model, self._sample, self._n = model is not None, sample, n
        self._explainer = self._base = explainer
        state = explainer.fitted_
        if not self._has_model and isinstance(state.estimator, PlainForest):
            # A saved file does not hold scikit-learn's forest: SHAP starts from one of the same kind.
            self._base = copy(explainer)
            self._base.fitted_ = regrow(state, 0)
        kind = type(model).__name__ if self._has_model else "the forest itself"
        self.note = f"SHAP ranks the variables of {kind} (shap.TreeExplainer)."
        self.before: tuple[Variables, ...] | None = None
        try:
            self.before = self.tops(self._base, model, sample.X)
        except (ImportError, ValueError) as error:
            self.note = str(error) if not isinstance(error, ImportError) else NOT_INSTALLED

    def is_constant(self, kind: ChangeKind) -> bool:
        """Return whether changes of a kind leave what SHAP sees as it is."""
        return self._has_model and kind in ("seeds", "bootstraps")

    def tops(self, explainer: SufficientExplainer, model: Any, X: Any) -> tuple[Variables, ...]:
        """Return the variables that SHAP puts first."""
        explainer = self._base if explainer is self._explainer else explainer
        state = explainer.fitted_
        columns = state.encoding.columns
        outcomes = self._sample.outcomes
        if self._has_model:
            classes = getattr(model, "classes_", None)
            label = getattr(explainer, "probability_of_", None)
            towards = outcomes if label is None else [label] * len(outcomes)
            values = shap_towards(model, X, classes, np.array(towards))
            places = [sorted({columns[c].source for c in of}) for of in state.variables.columns]
        else:
            classes = state.classes
            ranks = None if classes is None else np.arange(len(classes))
            codes = np.array(outcomes) if classes is None else np.searchsorted(classes, np.array(outcomes))
            values = shap_towards(state.estimator, explainer.encode(X), ranks, codes)
            places = [list(of) for of in state.variables.columns]
        by_variable = np.stack([values[:, of].sum(axis=1) for of in places], axis=1)
        return tuple(top_variables(by_variable, state.variables.names, self._n))


def _compare(
    kind: ChangeKind, sample: _Sample, peer: _Peer, changed: Changed, step: Callable[[], object]
) -> ChangedReasons:
    """Compute the reasons after each change, and what SHAP puts first."""
    reasons, shap, is_kept = [], [], []
    has_shap = peer.before is not None and not peer.is_constant(kind)
    for explainer, model, X in changed:
        after, kept = sample.ask(explainer, X)
        reasons.append(after)
        is_kept.append(kept)
        if has_shap:
            shap.append(peer.tops(explainer, model, X))
        step()
    note = ONLY_MODEL if peer.before is not None and peer.is_constant(kind) else ""
    return ChangedReasons(kind, np.array(is_kept), tuple(reasons), tuple(shap) if has_shap else None, note)
