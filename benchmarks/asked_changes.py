"""What it is worth to ask the explained model about changes, on four tables with a forest and a network as the model.

The ways are compared on some tables (`CHOSEN_ON`); the one that is taken is then measured on others (`REPORTED_ON`).
The tables, the models and what is measured are those of the experiments (``python -m experiments changes-california``),
with a split of their own.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from experiments.counterfactual_ours import OursOnTable
from experiments.counterfactual_tables import Columns, Judge, OnFrames, Problem, fit_model
from experiments.counterfactuals import LOADERS, MODELS, MOVES
from experiments.runs import Plan
from sklearn.model_selection import train_test_split

from benchmarks.change_defaults import only_confirmed
from benchmarks.printing import number, print_table
from suffice import SufficientExplainer
from suffice._forest import out_of_bag
from suffice._forest.out_of_bag import Calibration, calibration_of, probabilities_at
from suffice._forest.outcomes import read_targets
from suffice.changes import model as changes_of_model

CHOSEN_ON, REPORTED_ON = ("Diabetes", "California"), ("Compas", "Nhanesi")
SEED, N_ROWS = 0, 40
# Rows that are moved, in up to three variables, to the values of other rows, for calibration.
N_MOVED, MOST_MOVED = 2000, 3


@dataclass(frozen=True)
class Way:
    """A way to use the model.

    Parameters
    ----------
    name : str
        Its name.
    options : dict
        Arguments of `what_if`.
    context : callable
        Makes what the library does differently, for an explainer and a target.
    """

    name: str
    options: dict[str, Any]
    context: Callable[[Any, Any], AbstractContextManager[Any]] = lambda explainer, target: nullcontext()


def calibrated_on_moved_rows(explainer: Any, target: Any) -> AbstractContextManager[Any]:
    """Replace the curve of a target by one that is fitted to moved rows, about which the model is asked."""
    state, rng = explainer.fitted_, np.random.default_rng(SEED)
    X, variables = explainer.model_rows_, state.variables.columns
    own, other = rng.integers(len(X), size=(2, N_MOVED))
    picks = np.repeat(own[:, None], len(state.encoding.names), axis=1)
    for i in range(N_MOVED):
        for v in rng.choice(len(variables), min(rng.integers(1, MOST_MOVED + 1), len(variables)), replace=False):
            for c in variables[v]:
                picks[i, state.encoding.columns[c].source] = other[i]
    moved = pd.DataFrame({name: X[name].to_numpy()[picks[:, c]] for c, name in enumerate(X)}).astype(X.dtypes)
    [wanted] = read_targets(target, np.asarray(state.training[1][:1]), state.classes)
    calibration_of(state, wanted)
    known = out_of_bag._LEARNT[state.forest]
    with patch.dict(known, {wanted: Calibration()}):
        votes = probabilities_at(state, wanted, explainer.encode(moved))
    curve = Calibration.learn(votes, wanted.holds(explainer.model_.predict(moved)))
    return patch.dict(known, {wanted: curve})


def proposed_at(level: float) -> Callable[[Any, Any], AbstractContextManager[Any]]:
    """Ask the model about boxes in which the forest gives the target with some probability."""
    return lambda explainer, target: patch.object(changes_of_model, "PROPOSED_LEVEL", level)


NOT_ASKED = Way("not asked", {"n": 1, "confirm": False})
DEFAULT = Way("asked again, in boxes from 0.5 (default)", {"n": 1})
WAYS = (
    NOT_ASKED,
    Way("not asked, calibrated on moved rows", {"n": 1, "confirm": False}, calibrated_on_moved_rows),
    Way("first agreed of ten changes", {"n": 10, "sets": "all"}, lambda explainer, target: only_confirmed()),
    DEFAULT,
    Way("asked again, in boxes from 0.3", {"n": 1}, proposed_at(0.3)),
    Way("asked again, in boxes from 0.7", {"n": 1}, proposed_at(0.7)),
    Way("asked again, calibrated on moved rows", {"n": 1}, calibrated_on_moved_rows),
)


def measure(name: str, kind: str, ways: Sequence[Way]) -> list[list[str]]:
    """The figures of a table and a model, both directions together."""
    X, y = LOADERS[name](None)
    columns = Columns.of_frame(X)
    outcomes = np.asarray(y, dtype=np.float64 if name == "California" else np.int64)
    train, test, y_train, _ = train_test_split(columns.encode(X), outcomes, test_size=0.25, random_state=SEED)
    model = fit_model(kind, columns, train, y_train, SEED)
    on_frames = OnFrames(model, columns)
    explainer = SufficientExplainer.for_model(on_frames, columns.decode(train), random_state=SEED, n_jobs=1)
    lines = []
    for move in MOVES[name]:
        rows = test[move.concerns(model.predict(test))][:N_ROWS]
        judge = Judge(Problem(columns, train, model, move.target), (0.01,), 50, SEED)
        for way in ways:
            with way.context(explainer, move.target):
                start = time.process_time()
                changes = explainer.what_if(columns.decode(rows), move.target, progress=False, **way.options)
                ms = 1000 * (time.process_time() - start) / len(rows)
            points = np.full(rows.shape, np.nan)
            for i, answer in enumerate(changes):
                if answer.best is not None:
                    points[i] = columns.encode(columns.decode(rows[[i]]).assign(**answer.best.values))[0]
            figures = judge.measure(rows, points)
            best = [answer.best for answer in changes if answer.best]
            shares = [change.confirmed_share for change in best if change.confirmed_share is not None]
            names = ("found", "accuracy", "plausibility", "product", "both", "sparsity", "stability 0.01")
            values = [number(figures[figure], 2) if best or figure in ("found", "both") else "-" for figure in names]
            moved = number(float(np.mean(shares)), 2) if shares else "-"
            lines.append([name, f"{kind}, {move.name}", way.name, *values, moved, f"{ms:.0f}"])
            print(*lines[-1], sep=" | ", file=sys.stderr, flush=True)
    return lines


def print_asked(names: Sequence[str] = CHOSEN_ON, ways: Sequence[Way] = WAYS) -> None:
    """Compare ways to use the model."""
    print(f"\nThe model is asked: {', '.join(names)}\n")
    lines = [line for name in names for kind in MODELS for line in measure(name, kind, ways)]
    head = ["table", "model", "way", "found", "accuracy", "plausibility", "product", "both", "size", "stability"]
    print_table([*head, "moved rows", "ms"], lines)


def measure_rules(name: str, kind: str) -> list[list[str]]:
    """Regional rules of a table and a model, with boxes that the forest and that the model chooses."""
    X, y = LOADERS[name](None)
    columns = Columns.of_frame(X)
    train, test, y_train, _ = train_test_split(
        columns.encode(X), np.asarray(y, dtype=np.int64), test_size=0.25, random_state=SEED
    )
    model = fit_model(kind, columns, train, y_train, SEED)
    ours = OursOnTable(columns, train, model, SEED, Plan("full"))
    lines = []
    for move in MOVES[name]:
        rows = test[move.concerns(model.predict(test))][:N_ROWS]
        problem = Problem(columns, train, model, move.target)
        rules = ours.authors.explain(columns.decode(rows), sets="minimal").rules
        with_rule = [i for i, rule in enumerate(rules) if rule is not None]
        for confirm in (False, True):
            start = time.process_time()
            changes = ours.authors.what_if_rules([rules[i] for i in with_rule], move.target, confirm=confirm)
            ms = 1000 * (time.process_time() - start) / max(1, len(with_rule))
            boxes = [[(c.unless, c.variables)] if c.unless else [] for c in changes]
            accuracies = []
            for is_best in (True, False):
                points = ours._points_inside(rows[with_rule], boxes, is_best=is_best)
                is_found = ~np.isnan(points).any(axis=1)
                accuracies.append(number(float(problem.reaches(points[is_found]).mean()), 2) if is_found.any() else "-")
            size = [len(change.variables) for change in changes if change.unless]
            plausibility = [change.plausibility for change in changes if change.unless]
            found = number(len(size) / len(rows), 2)
            figures = [number(float(np.mean(values)), 2) if values else "-" for values in (size, plausibility)]
            chosen_by = "the model" if confirm else "the forest"
            lines.append([name, f"{kind}, {move.name}", chosen_by, found, *accuracies, *figures, f"{ms:.0f}"])
            print(*lines[-1], sep=" | ", file=sys.stderr, flush=True)
    return lines


def print_asked_rules(names: Sequence[str] = ("Diabetes", "Compas", "Nhanesi")) -> None:
    """Measure regional rules with and without questions to the model."""
    print("\nRegional rules: who chooses among the boxes\n")
    lines = [line for name in names for kind in MODELS for line in measure_rules(name, kind)]
    head = ["table", "model", "chosen by", "found", "accuracy, usual point", "accuracy, any point", "size"]
    print_table([*head, "plausibility", "ms"], lines)


def print_asked_reported() -> None:
    """Measure the way that is taken on tables that had no part in the choice."""
    print_asked(REPORTED_ON, (NOT_ASKED, DEFAULT))
