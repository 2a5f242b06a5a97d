"""Times of this checkout against another version of suffice: ``python -m benchmarks.against PYTHON``.

PYTHON is the interpreter of an environment in which the other version is installed, such as that of an earlier commit
in a separate checkout. Both versions run the same calls on the same data, one thread each, in two processes that take
turns; the best CPU time of the rounds counts, since noise on a busy machine only ever adds. "Memory" is the ratio of
the peaks of both processes. Cases that the other version cannot run are named.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import pickle
import sys
import tempfile
import warnings
from functools import partial
from pathlib import Path

from benchmarks.turns import Worker, best_in_turns, serve

WORST = 1.05
N_BULK = 10_000
MAX_SECONDS = 20.0  # a case that has taken this long takes no further turn


# --- the worker: only public names that every version has -----------------------------------------------------------


def make_cases(folder):
    """The calls that are timed, by name."""
    import pandas as pd
    from sklearn.datasets import load_breast_cancer, load_diabetes
    from sklearn.ensemble import RandomForestRegressor

    from suffice import GlobalRulesClassifier, SufficientExplainer

    # Version 0.1 counts the rows that grew the trees, lets all trees vote, searches the variables with the most splits
    # but not the empty set, and gives every rule. It has no `SufficientExplainer.paper`.
    first = {"counts": "bootstrap", "voters": "all", "min_size": 1, "candidates": "splits", "min_support": 0}
    known = SufficientExplainer().get_params()
    paper = {name: value for name, value in first.items() if name in known}

    tables = pickle.loads((folder / "tables.pkl").read_bytes())
    switch = tables.pop("switch model")
    leaf = int(switch["leaf"])
    forest = RandomForestRegressor(20, min_samples_leaf=leaf, random_state=0)
    on_switch = SufficientExplainer(forest, n_jobs=1, **paper).fit(switch["X"], switch["y"])
    rows = switch["X_test"]
    data = load_breast_cancer(as_frame=True)
    X, y = data.data, pd.Series(data.target_names[data.target])
    cancer = SufficientExplainer(random_state=0, n_jobs=1, **paper).fit(X, y)
    array = X.to_numpy()
    on_array = SufficientExplainer(random_state=0, n_jobs=1, **paper).fit(array, y)
    numbers = load_diabetes(as_frame=True)
    diabetes = SufficientExplainer(random_state=0, n_jobs=1, **paper).fit(numbers.data, numbers.target)
    explained = cancer.explain(X[:200], y[:200], sets="minimal")
    return default_cases(tables) | {
        "switch model, minimal sets, 300 rows": lambda: on_switch.explain(rows[:300], sets="minimal", rules=None),
        "switch model, all sets, 100 rows": lambda: on_switch.explain(rows[:100], rules=None),
        "switch model, rules, 100 rows": lambda: on_switch.explain(rows[:100], sets="minimal"),
        "breast cancer, one row": lambda: [on_array.explain(array[:1]) for _ in range(20)],
        "breast cancer, minimal sets": lambda: on_array.explain(array, sets="minimal", rules=None),
        "breast cancer, all sets, 50 rows": lambda: on_array.explain(array[:50], rules=None),
        "breast cancer, rules, 200 rows": lambda: cancer.explain(X[:200], sets="minimal"),
        "breast cancer, everywhere, 50 rows": lambda: cancer.explain(X[:50], sets="minimal", check="everywhere"),
        "diabetes, rules, 50 rows": lambda: diabetes.explain(numbers.data[:50], sets="minimal"),
        "breast cancer, SDP of a set": lambda: on_array.sdp(array, [0, 7, 22]),
        "breast cancer, fit": lambda: SufficientExplainer(random_state=0, n_jobs=1, **paper).fit(array, y),
        "list of rules": lambda: GlobalRulesClassifier.from_explanations(explained).simplify(),
        "frame of sets": explained.to_frame,
        "cards of 20 rows": lambda: [e._repr_html_() for e in explained[:20]],
        "report of 200 rows": lambda: explained.report(folder / "report.html"),
    }


def default_cases(tables):
    """Calls with the default forest and the default settings of a version."""
    import pandas as pd

    from suffice import SufficientExplainer

    cases = {}
    for name, table in tables.items():
        rows = pd.DataFrame(table["rows"])
        explainer = SufficientExplainer(random_state=0, n_jobs=1).fit(pd.DataFrame(table["X"]), table["y"])
        minimal = partial(explainer.explain, sets="minimal", rules=None, progress=False)
        singles = [rows.iloc[[i]] for i in range(20)]
        cases |= {
            f"{name}, defaults, minimal sets, 300 rows": partial(minimal, rows[:300]),
            f"{name}, defaults, all sets and rules, 50 rows": partial(explainer.explain, rows[:50], progress=False),
            f"{name}, defaults, 20 single rows": lambda m=minimal, s=singles: [m(row) for row in s],
        }
        if len(rows) >= N_BULK:
            cases[f"{name}, defaults, minimal sets, {N_BULK} rows"] = partial(minimal, rows[:N_BULK])
    return cases


def work(folder, only):
    """Offer the cases that this version can run."""
    warnings.simplefilter("ignore")
    works = {}
    for name, case in make_cases(folder).items():
        if only not in name:
            continue
        with contextlib.suppress(AttributeError, TypeError):  # a later version added what it calls
            case()
            works[name] = lambda n, case=case: case()
    serve(works)


# --- the comparison -------------------------------------------------------------------------------------------------


def compare(other, n_rounds, only):
    from benchmarks.run import head

    print(head())
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        (folder / "tables.pkl").write_bytes(pickle.dumps(load_tables()))
        workers = []
        for i, python in enumerate((sys.executable, other)):
            own = folder / str(i)
            own.mkdir()
            (own / "tables.pkl").symlink_to(folder / "tables.pkl")
            workers.append(Worker(python, "benchmarks.against", "--worker", own, "--only", only, folder=own))
            stack.callback(workers[-1].close)
        print(f"ms, best of up to {n_rounds}: this checkout, the other version, their ratio (at most {WORST}), memory")
        for case in workers[0].names:
            if case not in workers[1].names:
                print(f"  {case:52s} the other version cannot run it")
            else:
                ours, theirs = best_in_turns([(w, case, None) for w in workers], n_rounds, MAX_SECONDS)
                ratio = ours.seconds / theirs.seconds
                times = f"{1000 * ours.seconds:9.2f} {1000 * theirs.seconds:9.2f}   {ratio:.2f}"
                mark = "" if ratio <= WORST else "   <- slower"
                print(f"  {case:52s} {times}   memory {ours.peak / theirs.peak:.2f}{mark}", flush=True)


def load_tables():
    """The tables as plain arrays, which every version of pandas reads; real ones only if their folder is known."""
    from benchmarks.speed_tables import TABLES
    from benchmarks.switch import switch_forest

    sizes = {"breast cancer": 300}
    if os.environ.get("SUFFICE_DATA"):
        sizes |= {"bank": N_BULK, "bike": 300}
    else:
        print("Bank and bike: left out, SUFFICE_DATA names no folder of data.")
    tables = {}
    for name, n_rows in sizes.items():
        table = TABLES[name](n_rows)
        X, rows = ({c: frame[c].to_numpy() for c in frame.columns} for frame in (table.X, table.rows))
        tables[name] = {"X": X, "y": table.y, "rows": rows}
    train, test, forest = switch_forest(10_000)
    tables["switch model"] = {
        "X": train.X.to_numpy(),
        "y": train.y.to_numpy(),
        "X_test": test.X.to_numpy(),
        "leaf": forest.min_samples_leaf,
    }
    return tables


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("python", nargs="?", help="the interpreter with the other version")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", default="", metavar="TEXT", help="only cases whose name contains this")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        work(arguments.worker, arguments.only)
    elif arguments.python:
        compare(arguments.python, arguments.rounds, arguments.only)
    else:
        parser.error("give the interpreter of the other version")
