"""What is timed for benchmarks.speed: ``python -m benchmarks.speed_worker METHODS FOLDER``.

It runs in the interpreter that has the methods: METHODS is "suffice", "peers" (shap, shapiq, woodelf, XGBoost) or "fasttreeshap". The folder holds the table. The worker
of suffice fits its default forest and leaves it there, with the encoded rows, for the other methods.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import pickle
import sys
import time
import warnings
from pathlib import Path

import numpy as np

from benchmarks.turns import serve

SET_UP = "set-up"
MAX_APART = 10_000  # of these rows it is counted how many the forest tells apart
N_BOOSTED = (5, 10, 20, 50, 100, 200, 300)  # the numbers of trees that a boosted model may have


# --- suffice ----------------------------------------------------------------------------------------------------------


def suffice_cases(folder):
    from sklearn.base import clone

    from suffice import SufficientExplainer

    table = read(folder, "table")
    rows = table["rows"]
    settings = {k: v for k, v in table["settings"].items() if k in SufficientExplainer().get_params()}
    explainer = SufficientExplainer(table["forest"], random_state=0, n_jobs=1, **settings)
    y = table["y"]

    def fit(n_rows):
        """Seconds of the whole fit and of its forest alone; what the peers need is written."""
        whole = cpu_seconds(lambda: explainer.fit(table["X"], y))
        matrix = explainer.encode(table["X"])
        alone = cpu_seconds(lambda: clone(explainer.forest_).fit(matrix, y))
        fresh, y_fresh = table["fresh"]
        encoded = explainer.encode(rows)
        write(folder, "forest", explainer.forest_)
        write(folder, "training", (matrix, np.asarray(y)))
        write(folder, "rows", encoded)
        write(folder, "fresh", (explainer.encode(fresh), np.asarray(y_fresh)))
        trees = [tree.tree_ for tree in explainer.forest_.estimators_]
        return {
            "fit": whole,
            "forest": alone,
            "score": float(explainer.score(fresh, y_fresh)),
            "n_trees": len(trees),
            "n_leaves": float(np.mean([tree.n_leaves for tree in trees])),
            "depth": float(np.mean([tree.max_depth for tree in trees])),
            "leaf": int(explainer.forest_.min_samples_leaf),
            "n_missing": int(np.isnan(matrix).any(axis=0).sum()),
            "apart": len(np.unique(explainer.forest_.apply(encoded[:MAX_APART]), axis=0)),
        }

    explain = functools.partial(explainer.explain, progress=False)
    return {
        SET_UP: fit,
        "minimal sets": lambda n: explain(rows[:n], sets="minimal", rules=None),
        "all sets and a rule": lambda n: explain(rows[:n]),
        "minimal sets and a rule": lambda n: explain(rows[:n], sets="minimal"),
        "one row": lambda n: one_row(explainer, rows[:n]),
        "rows with a set": lambda n: float(np.mean(explain(rows[:n], sets="minimal", rules=None).has_set)),
    }


def one_row(explainer, rows):
    """Milliseconds of single rows, one call each, and of those the ones outside of the compiled core."""
    from suffice import _core

    frames = [rows.iloc[[i]] for i in range(len(rows))]
    figures = {}
    for name, options in (("minimal sets", {"sets": "minimal", "rules": None}), ("default", {})):
        # The wrappers of a second pass cost some microseconds themselves: the first pass is the time.
        whole = [cpu_seconds(lambda f=f, o=options: explainer.explain(f, progress=False, **o)) for f in frames]
        with time_in_core(_core) as spent:
            for frame in frames:
                explainer.explain(frame, progress=False, **options)
        ms, in_core = 1000 * float(np.mean(whole)), 1000 * sum(spent) / len(frames)
        figures[name] = {"ms": ms, "python": ms - in_core, "worst": 1000 * max(whole)}
    return figures


@contextlib.contextmanager
def time_in_core(core):
    """Collect the seconds of all calls of functions of the compiled core."""
    spent = []
    functions = {n: f for n, f in vars(core).items() if n.islower() and not n.startswith("_") and callable(f)}

    def timed(function, *arguments, **keywords):
        start = time.process_time()
        try:
            return function(*arguments, **keywords)
        finally:
            spent.append(time.process_time() - start)

    for name, function in functions.items():
        setattr(core, name, functools.partial(timed, function))
    try:
        yield spent
    finally:
        for name, function in functions.items():
            setattr(core, name, function)


# --- the other methods ------------------------------------------------------------------------------------------------


def peer_cases(folder):
    import pandas as pd

    for name in ("shap", "shapiq", "woodelf.explainer", "xgboost"):
        with contextlib.suppress(ImportError):  # one that is missing fails in its set-up
            importlib.import_module(name)
    forest, rows = read(folder, "forest"), read(folder, "rows")
    frame = pd.DataFrame(rows, columns=[f"x{i}" for i in range(rows.shape[1])])
    return {
        **cases_of("shap", lambda: shap_explainer(forest), lambda e, n: e.shap_values(rows[:n], check_additivity=False)),
        **cases_of("shapiq", lambda: shapiq_explainer(forest, rows), lambda e, n: e.explain_X(rows[:n])),
        **cases_of(
            "woodelf", lambda: woodelf_explainer(forest, frame), lambda e, n: e.shap_values(frame[:n], verbose=False)
        ),
        **cases_of("XGBoost", lambda: Boosted(folder, forest), lambda model, n: model.contributions(rows[:n])),
    }


def fast_cases(folder):
    import fasttreeshap

    forest, rows = read(folder, "forest"), read(folder, "rows")
    return cases_of(
        "fasttreeshap",
        lambda: fasttreeshap.TreeExplainer(forest, algorithm="auto", n_jobs=1),
        lambda explainer, n: explainer.shap_values(rows[:n], check_additivity=False),
    )


def cases_of(name, make, explain):
    """The set-up of a method, and the explanation of the first n rows."""
    made = []

    def set_up(n):
        made[:] = [make()]
        return getattr(made[0], "figures", None)

    return {f"{name}, {SET_UP}": set_up, name: lambda n: explain(made[0], n)}


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
    """A boosted model with the fewest trees that reach the score of the forest on fresh rows, or with the best score."""

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
