"""What benchmarks.speed times: ``python -m benchmarks.speed_worker METHODS FOLDER``, in the interpreter of the methods.

METHODS is "suffice", "peers" (shap, shapiq, woodelf, XGBoost) or "fasttreeshap". The folder holds the table. The worker
of suffice fits its forest and leaves it there, with the encoded rows, for the other methods.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import pickle
import sys
import time
import warnings
from pathlib import Path

import numpy as np

from benchmarks.turns import serve

SET_UP, CHECK = "set-up", "check"
MAX_APART = 10_000  # rows among which the rows that the forest distinguishes are counted
N_BOOSTED = (5, 10, 20, 50, 100, 200, 300)  # the numbers of trees that a boosted model may have


# --- suffice ----------------------------------------------------------------------------------------------------------


def suffice_cases(folder):
    from suffice import SufficientExplainer

    table = read(folder, "table")
    rows = table["rows"]
    explainer = SufficientExplainer(table["forest"], random_state=0, n_jobs=1, **table["settings"])
    explain = functools.partial(explainer.explain, progress=False)
    return {
        SET_UP: lambda n: fit(explainer, table, folder),
        "minimal sets": lambda n: explain(rows[:n], sets="minimal", rules=None),
        "minimal sets and a rule": lambda n: explain(rows[:n], sets="minimal"),
        "all sets and a rule": lambda n: explain(rows[:n]),
    }


def fit(explainer, table, folder):
    """Fit the explainer, leave what the other methods need, and return figures of the fit."""
    from sklearn.ensemble._forest import BaseForest

    with time_calls(BaseForest, ["fit"]) as in_forest:
        whole = cpu_seconds(lambda: explainer.fit(table["X"], table["y"]))
    # Plain arrays: the other methods have an environment without suffice.
    matrix, rows, fresh = (np.asarray(explainer.encode(X)) for X in (table["X"], table["rows"], table["fresh"][0]))
    forest = explainer.forest_
    write(folder, "forest", forest)
    write(folder, "training", (matrix, np.asarray(table["y"])))
    write(folder, "rows", rows)
    write(folder, "fresh", (fresh, np.asarray(table["fresh"][1])))
    trees = [tree.tree_ for tree in forest.estimators_]
    return {
        "fit": whole,
        "forest": sum(in_forest),
        "n_trees": len(trees),
        "n_leaves": float(np.mean([tree.n_leaves for tree in trees])),
        "depth": float(np.mean([tree.max_depth for tree in trees])),
        "n_missing": int(np.isnan(matrix).any(axis=0).sum()),
        "n_apart": len(np.unique(forest.apply(rows[:MAX_APART]), axis=0)),
    }


@contextlib.contextmanager
def time_calls(owner, names):
    """Collect the seconds of all calls of some functions of a module or a class."""
    spent = []
    functions = {name: getattr(owner, name) for name in names}
    kept = {name: vars(owner)[name] for name in names}  # as it is in a class, such as a class method

    def timed(function):
        @functools.wraps(function)
        def call(*arguments, **keywords):
            start = time.process_time()
            try:
                return function(*arguments, **keywords)
            finally:
                spent.append(time.process_time() - start)

        return call

    for name, function in functions.items():
        is_bound = inspect.isclass(owner) and inspect.ismethod(function)  # a class method
        setattr(owner, name, staticmethod(timed(function)) if is_bound else timed(function))
    try:
        yield spent
    finally:
        for name, function in kept.items():
            setattr(owner, name, function)


# --- the other methods ------------------------------------------------------------------------------------------------


def peer_cases(folder):
    import pandas as pd

    for name in ("shap", "shapiq", "woodelf.explainer", "xgboost"):
        with contextlib.suppress(ImportError):  # one that is missing fails in its set-up
            importlib.import_module(name)
    forest, rows = read(folder, "forest"), read(folder, "rows")
    frame = pd.DataFrame(rows, columns=[f"x{i}" for i in range(rows.shape[1])])
    cases = functools.partial(cases_of, forest, rows)
    return {
        **cases(
            "shap",
            lambda: shap_explainer(forest),
            lambda explainer, n: explainer.shap_values(rows[:n], check_additivity=False),
            lambda values: values[..., 1] if values.ndim == 3 else values,
        ),
        **cases(
            "shapiq",
            lambda: shapiq_explainer(forest, rows),
            lambda explainer, n: explainer.explain_X(rows[:n]),
            lambda values: np.column_stack([v for k, v in values.values.items() if len(k) == 1]),
        ),
        **cases(
            "woodelf",
            lambda: woodelf_explainer(forest, frame),
            lambda explainer, n: explainer.shap_values(frame[:n], verbose=False),
            lambda values: -values if hasattr(forest, "classes_") else values,  # it takes the first class
        ),
        **cases("XGBoost", lambda: Boosted(folder, forest), lambda model, n: model.contributions(rows[:n]), None),
    }


def fast_cases(folder):
    import fasttreeshap

    forest, rows = read(folder, "forest"), read(folder, "rows")
    return cases_of(
        forest,
        rows,
        "fasttreeshap",
        lambda: fasttreeshap.TreeExplainer(forest, algorithm="auto", n_jobs=1),
        lambda explainer, n: explainer.shap_values(rows[:n], check_additivity=False),
        lambda values: values[1] if isinstance(values, list) else values,
    )


def cases_of(forest, rows, name, make, explain, read_values):
    """The set-up of a method, the explanation of the first n rows, and how far its values miss the forest's outputs."""
    made = []

    def set_up(n):
        made[:] = [make()]
        return getattr(made[0], "figures", None)

    def check(n):
        if read_values is None:
            return 0.0
        return largest_error(forest, rows[:n], np.asarray(read_values(explain(made[0], n))))

    return {f"{name}, {SET_UP}": set_up, f"{name}, {CHECK}": check, name: lambda n: explain(made[0], n)}


def largest_error(forest, rows, values):
    """By how much values and the mean output miss the output, as a share of the standard deviation of outputs."""
    is_class = hasattr(forest, "classes_")
    outputs = forest.predict_proba(rows)[:, 1] if is_class else forest.predict(rows)
    at_root = np.mean([tree.tree_.value[0, 0, 1 if is_class else 0] for tree in forest.estimators_])
    return float(np.abs(values.sum(axis=1) + at_root - outputs).max() / outputs.std())


def shap_explainer(forest):
    import shap

    return shap.TreeExplainer(forest, feature_perturbation="tree_path_dependent")


def shapiq_explainer(forest, rows):
    import shapiq

    explainer = shapiq.TreeExplainer(forest, index="SV", max_order=1)
    explainer.explain_X(rows[:1])  # what it builds at the first row is set-up
    return explainer


def woodelf_explainer(forest, frame):
    from woodelf import WoodelfExplainer

    explainer = WoodelfExplainer(forest, feature_perturbation="tree_path_dependent")
    # It reads the forest at its first call; the rest of a call takes as long for one row as for many.
    explainer.model = load_woodelf_model(forest, list(frame.columns))
    explainer.model_was_loaded = True
    return explainer


def load_woodelf_model(forest, names):
    from woodelf.core.trees.parse_models import load_decision_tree_ensemble_model

    return load_decision_tree_ensemble_model(forest, names)


class Boosted:
    """A boosted model with the fewest trees that reach the forest's score on fresh rows, or with the best score."""

    def __init__(self, folder, forest):
        import xgboost

        X, y = read(folder, "training")
        fresh, y_fresh = read(folder, "fresh")
        self.is_class = hasattr(forest, "classes_")
        if self.is_class:
            y, y_fresh = (np.searchsorted(forest.classes_, values) for values in (y, y_fresh))
        goal = self.score(forest.predict_proba(fresh)[:, 1] if self.is_class else forest.predict(fresh), y_fresh)
        objective = "binary:logistic" if self.is_class else "reg:squarederror"
        settings = {"objective": objective, "nthread": 1, "seed": 0}
        training, test = xgboost.DMatrix(X, y, nthread=1), xgboost.DMatrix(fresh, nthread=1)
        self.booster = xgboost.train(settings, training, max(N_BOOSTED))
        scores = {n: self.score(self.booster.predict(test, iteration_range=(0, n)), y_fresh) for n in N_BOOSTED}
        reached = [n for n, score in scores.items() if score >= goal]
        self.n_trees = reached[0] if reached else max(scores, key=scores.get)
        self.figures = {"score": scores[self.n_trees], "forest": goal, "n_trees": self.n_trees}

    def score(self, predictions, y):
        """Accuracy of probabilities, or R2."""
        if self.is_class:
            return float(np.mean((predictions > 0.5) == y))
        return 1 - float(np.mean((y - predictions) ** 2) / np.var(y))

    def contributions(self, rows):
        import xgboost

        matrix = xgboost.DMatrix(rows, nthread=1)
        return self.booster.predict(matrix, pred_contribs=True, iteration_range=(0, self.n_trees))


# --- files and times --------------------------------------------------------------------------------------------------


def read(folder, name):
    return pickle.loads((folder / f"{name}.pkl").read_bytes())


def write(folder, name, value):
    (folder / f"{name}.pkl").write_bytes(pickle.dumps(value))


def cpu_seconds(action):
    start = time.process_time()
    action()
    return time.process_time() - start


def main():
    warnings.simplefilter("ignore")
    methods, folder = sys.argv[1], Path(sys.argv[2])
    serve({"suffice": suffice_cases, "peers": peer_cases, "fasttreeshap": fast_cases}[methods](folder))


if __name__ == "__main__":
    main()
