"""The other methods, each called in its own way: SHAP, LIME, Anchors, RuleFit and SkopeRules. For INVASE see `invase`.

Nothing of theirs is imported before it is called. Anchors runs in a separate process, with a limit on its time and
memory: on 100 columns it asks for more than 11 GB.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import resource
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def shap_values(forest: Any, X: Any) -> Floats:
    """Compute SHAP values by shap.TreeExplainer, path-dependent by default; of a classifier those of its last class."""
    import shap

    values = np.asarray(shap.TreeExplainer(forest).shap_values(np.asarray(X, dtype=np.float64)))
    return values[:, :, -1] if values.ndim == 3 else values


def lime_weights(predict: Any, X_train: Floats, rows: Floats, n_features: int, seed: int) -> Floats:
    """Compute LIME's weights of the `n_features` columns that it selects, with its own defaults; 0 for the others."""
    from lime.lime_tabular import LimeTabularExplainer

    explainer = LimeTabularExplainer(X_train, mode="regression", random_state=seed)
    weights = np.zeros(rows.shape)
    for i, row in enumerate(rows):
        local = explainer.explain_instance(row, predict, num_features=n_features).as_map()[1]
        for column, weight in local:
            weights[i, column] = weight
    return weights


# --- Anchors ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Anchor:
    """An anchor: conditions on binned columns.

    Parameters
    ----------
    conditions : frozenset of (int, str, int)
        Column, "leq" or "geq" (which means greater) or "eq", and the number of the bin.
    """

    conditions: frozenset[tuple[int, str, int]]

    @property
    def columns(self) -> frozenset[int]:
        """The columns in its conditions."""
        return frozenset(column for column, _, _ in self.conditions)

    def covers(self, bins: NDArray[np.int_]) -> NDArray[np.bool_]:
        """Return which rows, passed as bins, satisfy it."""
        covered = np.ones(len(bins), dtype=np.bool_)
        for column, sign, edge in self.conditions:
            of_column = bins[:, column]
            covered &= {"leq": of_column <= edge, "geq": of_column > edge, "eq": of_column == edge}[sign]
        return covered


@dataclass(frozen=True)
class AnchorsRun:
    """What Anchors gave within its limits.

    Parameters
    ----------
    anchors : list of Anchor or None
        One for each row that was begun, in their order; None where a limit was hit.
    seconds : list of float
        Wall seconds of each.
    bins : ndarray of shape (n_unseen, n_columns)
        The unseen rows as the bins of Anchors.
    notes : list of str
        Which limits were hit.
    """

    anchors: list[Anchor | None]
    seconds: list[float]
    bins: NDArray[np.int_]
    notes: list[str]


@dataclass(frozen=True)
class AnchorsSettings:
    """The parameters of Anchors, and its limits.

    Parameters
    ----------
    threshold, delta, batch_size : float, float, int
        Anchors' parameters; 0.95 and 0.05 are the paper's, 100 is anchor-exp's own.
    total_seconds, row_seconds : float
        After `total_seconds` no further row is begun; a row that takes `row_seconds` is given up.
    gigabytes : float
        The limit on the address space of the process.
    """

    threshold: float = 0.95
    delta: float = 0.05
    batch_size: int = 100
    total_seconds: float = 120.0
    row_seconds: float = 60.0
    gigabytes: float = 6.0


def run_anchors(
    model: Any,
    X_train: Floats,
    rows: Floats,
    unseen: Floats,
    *,
    seed: int,
    labels: Sequence[int] | None = None,
    settings: AnchorsSettings,
) -> AnchorsRun:
    """Explain rows by anchor-exp in a separate process, until the time is up.

    Columns of 0 and 1 are passed as categories, and rounded: cut at quartiles, most of them would have one bin. The
    others are cut at quartiles, anchor-exp's default.

    Parameters
    ----------
    model : estimator
        The model that is explained.
    X_train, rows, unseen : ndarray of shape (n, n_columns)
        Rows to draw from, rows to explain, and rows to turn into bins.
    seed : int
        The seed; each row starts with its own state.
    labels : sequence of int, default=None
        The outcome of each row that is explained; None for the model's predictions.
    settings : AnchorsSettings
        The parameters and limits. A row is given up by stopping the process.

    Returns
    -------
    AnchorsRun
        The anchors.
    """
    context = multiprocessing.get_context("spawn")
    total_seconds, row_seconds = settings.total_seconds, settings.row_seconds
    outcomes = [None] * len(rows) if labels is None else list(labels)
    anchors: list[Anchor | None] = []
    seconds: list[float] = []
    notes: list[str] = []
    bins = None
    used = 0.0  # without the start of the processes and their imports
    while len(anchors) < len(rows) and used < total_seconds:
        ours, theirs = context.Pipe()
        rest = slice(len(anchors), None)
        arguments = (theirs, model, X_train, rows[rest], outcomes[rest], unseen, seed + len(anchors), settings)
        process = context.Process(target=_explain_by_anchors, args=arguments, daemon=True)
        process.start()
        theirs.close()
        problem = None
        try:
            if not ours.poll(180.0):
                raise TimeoutError("it did not start")
            bins = ours.recv()
            while len(anchors) < len(rows) and used < total_seconds:
                begun = time.perf_counter()
                is_there = ours.poll(min(row_seconds, total_seconds - used))
                used += time.perf_counter() - begun
                if not is_there and used >= total_seconds:
                    break
                if not is_there:
                    problem = f"more than {row_seconds:g} s"
                    break
                answer = ours.recv()
                anchors.append(answer if isinstance(answer, Anchor) else None)
                seconds.append(time.perf_counter() - begun)
                if not isinstance(answer, Anchor):
                    notes.append(f"Anchors gave up a row: {answer}.")
        except (EOFError, ConnectionError):
            problem = f"its process ended, at a limit of {settings.gigabytes:g} GB"
        finally:
            process.kill()
            process.join()
        if problem is not None:
            anchors.append(None)
            notes.append(f"Anchors gave up a row: {problem}.")
    if len(anchors) < len(rows):
        notes.append(f"Anchors' time of {total_seconds:g} s was up before all of the {len(rows)} rows were explained.")
    return AnchorsRun(anchors, seconds, np.empty((0, rows.shape[1]), int) if bins is None else bins, notes)


def _explain_by_anchors(
    pipe: Any,
    model: Any,
    X_train: Floats,
    rows: Floats,
    labels: Sequence[int | None],
    unseen: Floats,
    seed: int,
    settings: AnchorsSettings,
) -> None:
    """Send the bins of the unseen rows, then the anchor of each row, through a pipe."""
    from anchor.anchor_tabular import AnchorTabularExplainer

    class Explainer(AnchorTabularExplainer):
        def add_names_to_exp(self, data_row: Any, hoeffding_exp: Any, mapping: Any) -> None:
            # Before names round the ends of bins to two decimals.
            self.conditions = frozenset(
                (int(f), op, int(v)) for f, op, v in (mapping[i] for i in hoeffding_exp["feature"])
            )
            super().add_names_to_exp(data_row, hoeffding_exp, mapping)

    limit = int(settings.gigabytes * 2**30)
    options = {"threshold": settings.threshold, "delta": settings.delta, "batch_size": settings.batch_size}
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    if hasattr(model, "n_jobs"):
        model.n_jobs = 1
    names = [f"x{i}" for i in range(X_train.shape[1])]
    indicators = np.flatnonzero(((X_train == 0) | (X_train == 1)).all(axis=0))
    rows, unseen = rows.copy(), unseen.copy()
    for table in (rows, unseen):
        table[:, indicators] = np.clip(np.round(table[:, indicators]), 0, 1)
    categories = {int(i): ["0", "1"] for i in indicators}
    explainer = Explainer([str(c) for c in model.classes_], names, X_train, categories)
    pipe.send(explainer.disc.discretize(unseen).astype(int))
    for i, (row, label) in enumerate(zip(rows, labels, strict=True)):
        np.random.seed(seed + i)  # noqa: NPY002 (anchor-exp draws from it)
        try:
            explainer.explain_instance(row, model.predict, desired_label=label, **options)
            pipe.send(Anchor(explainer.conditions))
        except MemoryError:
            pipe.send(f"more than {settings.gigabytes:g} GB of memory")


# --- rule models ------------------------------------------------------------------------------------------------------


def rule_models(seed: int) -> dict[str, Any]:
    """Make the global rule models of the paper's table, unfitted, with their own defaults."""
    from imodels import RuleFitClassifier, SkopeRulesClassifier

    class AnyRule(SkopeRulesClassifier):
        """Decides as skope-rules itself: a row that any rule covers is of the second class."""

        def predict(self, X: Any) -> Any:
            return self.classes_[(self._eval_weighted_rule_sum(X) > 0).astype(int)]

    return {
        "RuleFit": RuleFitClassifier(random_state=seed),
        "SkopeRules": AnyRule(random_state=seed),
        "SkopeRules, vote": SkopeRulesClassifier(random_state=seed),
    }


def fit_and_score(model: Any, X_train: Any, y_train: Any, X_test: Any, y_test: Any) -> Floats:
    """Fit a model on arrays, and return for each test row whether it is right."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(None):
        warnings.simplefilter("ignore")  # the peers use deprecated functions of scikit-learn
        model.fit(np.asarray(X_train), np.asarray(y_train))
        return np.asarray(model.predict(np.asarray(X_test))) == np.asarray(y_test)


def top(weights: Floats, k: int, names: Sequence[str]) -> list[set[str]]:
    """Take the k columns of the greatest absolute weight in each row."""
    return [{names[j] for j in np.argsort(-np.abs(row), kind="stable")[:k]} for row in weights]
