"""Figures of scale: ``make bench-scale``, or ``python -m benchmarks.scale PART ...``.

Each measurement is a separate process, so that peaks of memory do not mix; ratios compare processes of one run. The
flights need the folder of data files in SUFFICE_DATA.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from experiments.data.loaders import load_flights
from experiments.data.synthetic import make_switch
from experiments.switch import least_leaf
from sklearn.ensemble import RandomForestRegressor

from benchmarks.large_tables import score_rules
from benchmarks.real_tables import Part
from benchmarks.run import best_times, head, status
from suffice import SufficientExplainer
from suffice.errors import FidelityWarning

GIB = 2**30
N_TREES = 20
N_COLUMNS = 10  # of the synthetic tables
N_EXPLAINED, N_TIMED = 10_000, 200  # flights


def run_job(name, *arguments):
    """Run a job in a separate process, and return its figures."""
    command = [sys.executable, "-m", "benchmarks.scale", "--job", name, *map(str, arguments)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[-1])


def peak():
    return status("VmHWM")


def reset_peak():
    """Reset the peak of memory to what is held now, and return that."""
    gc.collect()
    ctypes.CDLL("libc.so.6").malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    return status("VmRSS")


def seconds(action):
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


# --- the flights of a year --------------------------------------------------------------------------------------------


def flights_table(n_train):
    """Flights drawn again with noise, as many as asked for, and other flights to explain."""
    X, y = load_flights(late=True)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(X))
    drawn = rng.choice(order[:-N_EXPLAINED], n_train)
    train = X.iloc[drawn].reset_index(drop=True)
    for name, values in train.select_dtypes("float").items():
        train[name] = values + rng.normal(0, 0.01 * values.std(), n_train)
    rest = order[-N_EXPLAINED:]
    return train, y.to_numpy()[drawn], X.iloc[rest].reset_index(drop=True), y.to_numpy()[rest]


def flights_explained(n_train, path):
    """Fit the default explainer, and explain other rows; `path` keeps it."""
    X, y, rows, outcomes = flights_table(int(n_train))
    before = reset_peak()
    explainer = SufficientExplainer(random_state=0, unseen="missing")
    figures = {"fit": seconds(lambda: explainer.fit(X, y)), "grown": peak() - before}
    explainer.save(path)
    loaded = SufficientExplainer.load(path).set_params(n_jobs=1)
    figures |= {"size": Path(path).stat().st_size, "first": seconds(lambda: loaded.explain(rows[:1], progress=False))}
    some, others = rows[:N_TIMED], Part(rows[N_TIMED:], outcomes[N_TIMED:])
    figures["sets"] = per_row(loaded, some, 1, rules=None)
    start = time.process_time()
    explanations = loaded.explain(some, progress=False)
    figures["rules"] = 1000 * (time.process_time() - start) / len(some)
    figures["has_set"] = float(np.mean(explanations.has_set))
    figures["stated"], figures["fresh"] = (float(np.mean(of)) for of in score_rules(explanations.rules, others))
    return figures


def flights():
    sizes = (30_000, 300_000, 1_000_000)
    with tempfile.TemporaryDirectory() as folder:
        figures = [run_job("flights_explained", n, f"{folder}/flights.suffice") for n in sizes]
    print(f"Late flights, drawn again with noise; the default explainer, {N_TIMED} other rows, ms a row, one thread")
    for n, one in zip(sizes, figures, strict=True):
        print(
            f"  {n:8d} rows: sets {one['sets']:.1f}, with a rule {one['rules']:.1f}, first row after loading "
            f"{one['first']:.2f} s; fit {one['fit']:.0f} s, {one['grown'] / GIB:.2f} GiB beyond the table, file "
            f"{one['size'] / 1e6:.0f} MB; rows with a set {one['has_set']:.3f}, precision stated {one['stated']:.3f}, "
            f"fresh {one['fresh']:.3f}"
        )
    for what in ("sets", "rules"):
        ratio = figures[-1][what] / figures[0][what]
        print(f"  {what}: {ratio:.2f} times, exponent {math.log(ratio) / math.log(sizes[-1] / sizes[0]):.2f}")


# --- synthetic tables -------------------------------------------------------------------------------------------------


def switch_explainer(n_rows, n_trees=N_TREES, n_jobs=None, **options):
    """An explainer of the switch model, and rows to explain."""
    rng = np.random.default_rng(0)
    train = make_switch(n_rows, n_columns=N_COLUMNS, random_state=rng)
    rows = make_switch(1000, n_columns=N_COLUMNS, random_state=rng).X.to_numpy(np.float32)
    X, y = train.X.to_numpy(np.float32), train.y.to_numpy()
    forest = RandomForestRegressor(
        n_trees, min_samples_leaf=max(5, least_leaf(n_rows)), max_features=0.7, n_jobs=-1, random_state=0
    )
    return SufficientExplainer.paper(forest, n_jobs=n_jobs, random_state=0, **options), X, y, rows


def per_row(explainer, rows, n_rounds=3, **options):
    """CPU milliseconds a row, the best of some rounds."""
    return 1000 * best_times([lambda: explainer.explain(rows, progress=False, **options)], n_rounds)[0] / len(rows)


def threads_times():
    explainer, X, y, rows = switch_explainer(100_000)
    explainer.fit(X, y)
    times = {1: math.inf, 2: math.inf}
    for _ in range(5):
        for n_jobs, best in times.items():
            explainer.set_params(n_jobs=n_jobs)
            took = seconds(lambda: explainer.explain(rows, sets="minimal", rules=None, progress=False))
            times[n_jobs] = min(best, took)
    return {"one": times[1], "two": times[2]}


def threads():
    times = run_job("threads_times")
    print(
        f"Switch model, 10^5 rows, minimal sets of 1000 rows: {times['one']:.2f} s with one thread, "
        f"{times['two']:.2f} s with two: {times['one'] / times['two']:.2f} times as fast"
    )


def wide_times():
    rng = np.random.default_rng(0)
    train, test = make_switch(10_000, random_state=rng), make_switch(20, random_state=rng)
    forest = RandomForestRegressor(
        N_TREES, min_samples_leaf=least_leaf(10_000), max_features=0.7, n_jobs=-1, random_state=0
    )
    explainer = SufficientExplainer.paper(forest, n_jobs=1, max_size=3, candidates=list(range(100))).fit(
        train.X, train.y
    )
    explanations = explainer.explain(test.X, sets="minimal", rules=None, progress=False)
    same = np.mean([set(e.best_set.variables) == T for e, T in zip(explanations, test.true_sets, strict=True)])
    return {"ms": per_row(explainer, test.X, sets="minimal", rules=None), "same": same}


def wide():
    figures = run_job("wide_times")
    print(
        f"Switch model, all 100 columns as candidates, sets up to size 3 (166 750): {figures['ms'] / 1000:.2f} s a row "
        f"with one thread; {100 * figures['same']:.0f} % of 20 rows get exactly the true set"
    )


def growth_times():
    times = {}
    for n_trees in (10, 40):
        explainer, X, y, rows = switch_explainer(10_000, n_trees, n_jobs=1)
        times[f"trees {n_trees}"] = per_row(explainer.fit(X, y), rows[:200], sets="minimal", rules=None)
    rng = np.random.default_rng(0)
    train, test = make_switch(10_000, random_state=rng), make_switch(20, random_state=rng)
    forest = RandomForestRegressor(N_TREES, min_samples_leaf=least_leaf(10_000), n_jobs=-1, random_state=0).fit(
        train.X, train.y
    )
    for n_candidates in (10, 20, 40, 80):
        explainer = SufficientExplainer.paper(forest, n_jobs=1, n_candidates=n_candidates, max_size=2, pi=1.0)
        times[f"candidates {n_candidates}"] = per_row(explainer.fit(train.X, train.y), test.X, sets="all", rules=None)
    explainer.set_params(n_candidates=40).fit(train.X, train.y)
    for max_size in (1, 2, 3):
        explainer.set_params(max_size=max_size)
        times[f"sets of 40 up to size {max_size}"] = per_row(explainer, test.X, sets="all", rules=None)
    return times


def growth():
    times = run_job("growth_times")
    print("Switch model, 10^4 rows, CPU ms a row")
    for name, ms in times.items():
        print(f"  {name}: {ms:.3f}")
    trees = math.log(times["trees 40"] / times["trees 10"]) / math.log(4)
    print(f"  exponent in the trees {trees:.2f}; in the candidates, sets up to size 2 (so 2 is expected):")
    for few, many in ((10, 20), (20, 40), (40, 80)):
        exponent = math.log2(times[f"candidates {many}"] / times[f"candidates {few}"])
        print(f"    {exponent:.2f} from {few} to {many}")


def stream_files(folder, n_rows):
    """Write an explainer of 5 columns and 10 trees, and rows to explain."""
    rng = np.random.default_rng(0)
    train = make_switch(2000, n_columns=5, random_state=rng)
    forest = RandomForestRegressor(10, min_samples_leaf=20, random_state=0)
    SufficientExplainer.paper(forest).fit(train.X, train.y).save(f"{folder}/explainer.suffice")
    make_switch(int(n_rows), n_columns=5, random_state=rng).X.to_parquet(f"{folder}/rows.parquet")
    return {}


def stream_peak(folder):
    """Peak memory of the command. The memory of this process would count too, so another process writes the files."""
    command = [Path(sys.executable).with_name("suffice"), "explain", f"{folder}/explainer.suffice"]
    command += [f"{folder}/rows.parquet", "--sets", "minimal", "--rules", "none", "-o", f"{folder}/why.parquet"]
    took = seconds(lambda: subprocess.run(command, check=True, capture_output=True))
    return {"peak": 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, "seconds": took}


def stream():
    for n in (10_000, 100_000, 1_000_000):
        with tempfile.TemporaryDirectory() as folder:
            run_job("stream_files", folder, n)
            figures = run_job("stream_peak", folder)
        print(f"suffice explain, {n} rows of Parquet: peak {figures['peak'] / 1e6:.0f} MB, {figures['seconds']:.0f} s")


def engines():
    subprocess.run([sys.executable, "-m", "benchmarks.engines"], check=True)


PARTS = {
    "threads": threads,
    "wide": wide,
    "growth": growth,
    "stream": stream,
    "engines": engines,
    "flights": flights,
}
JOBS = {
    job.__name__: job
    for job in (
        flights_explained,
        threads_times,
        wide_times,
        growth_times,
        stream_files,
        stream_peak,
    )
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all by default")
    parser.add_argument("--job", nargs="+", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.job:
        warnings.simplefilter("ignore", FidelityWarning)
        print(json.dumps(JOBS[arguments.job[0]](*arguments.job[1:])))
        return
    unknown = set(arguments.parts) - set(PARTS)
    if unknown:
        parser.error(f"unknown part {unknown.pop()!r}; there are {', '.join(PARTS)}")
    print(head(), flush=True)
    for part in arguments.parts or PARTS:
        if part == "flights" and not os.environ.get("SUFFICE_DATA"):
            print("Flights: left out, SUFFICE_DATA names no folder of data.")
            continue
        PARTS[part]()
        sys.stdout.flush()


if __name__ == "__main__":
    main()
