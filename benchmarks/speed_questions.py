"""Single questions of speed, without other methods: parts of ``python -m benchmarks.speed``.

One row end to end and its readings, all sets among many candidates, fit by part, saved files, imports, growth with the
training rows, many rows in one call, and lists of rules. CPU time of one thread. An interpreter with another version of
suffice answers them for that version.
"""

from __future__ import annotations

import hashlib
import math
import subprocess
import sys
import tempfile
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from experiments.data.synthetic import make_switch
from sklearn.ensemble import RandomForestRegressor
from sklearn.ensemble._forest import BaseForest

from benchmarks.decision_tables import adult_like, telco_like
from benchmarks.printing import print_table
from benchmarks.real_tables import load_table
from benchmarks.run import best_times, memory_of
from benchmarks.scale import N_COLUMNS
from benchmarks.speed_page import print_section
from benchmarks.speed_tables import TABLES
from benchmarks.speed_worker import cpu_seconds, time_calls
from suffice import GlobalRulesClassifier, GlobalRulesRegressor, SufficientExplainer, _core
from suffice._forest.projection import ProjectedForest
from suffice._forest.trees import FittedForest

N_SINGLE = 50  # rows that are explained one by one
N_GROWTH = 300  # rows that are explained after fits on more and more rows
MIB = 2**20


def quietly(question):
    """Run a part without the warnings that belong to its tables."""

    def run(options):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            question(options)

    return run


def fitted(name, n_rows, **settings):
    table = TABLES[name](n_rows)
    explainer = SufficientExplainer(table.forest, random_state=0, n_jobs=1, **table.settings | settings)
    return explainer.fit(table.X, table.y), table


# --- one row ----------------------------------------------------------------------------------------------------------


def one_row(options):
    print_section("One row at a time")
    print(f"CPU ms of `explain(frame.iloc[[i]])`, mean of {N_SINGLE} rows.\n")
    lines, readings = [], []
    for name in ("breast cancer", "german credit", "bank", "bike", "telco-like", "adult-like"):
        explainer, rows = fitted_to_decisions(name) if name in DECISIONS else fitted_with_rows(name)
        for label, settings in (("minimal sets", {"sets": "minimal", "rules": None}), ("default", {})):
            mean, worst, outside = times_of_single_rows(explainer, rows, settings)
            lines.append([name, label, f"{mean:.2f}", f"{worst:.2f}", f"{outside:.2f}"])
        readings.append([name, f"{mean:.2f}", *(f"{ms:.2f}" for ms in times_of_reading(explainer, rows))])
    print_table(["table", "question", "ms", "slowest row", "outside of the core"], lines)
    print("\nWhat reading one row takes after its default question, in CPU ms:\n")
    print_table(["table", "default", *READINGS], readings)


DECISIONS = {"adult-like": (adult_like, 30_000), "telco-like": (telco_like, 7_000)}
READINGS = {
    "text": lambda explanations: str(explanations[0]),
    "dict": lambda explanations: explanations[0].to_dict(),
    "JSON": lambda explanations: explanations.to_json(),
    "frame": lambda explanations: explanations.to_frame(),
}


def fitted_with_rows(name):
    explainer, table = fitted(name, N_SINGLE)
    return explainer, table.rows


def fitted_to_decisions(name):
    draw, n_rows = DECISIONS[name]
    table = draw(n_rows + N_SINGLE, 0)
    explainer = SufficientExplainer(random_state=0, n_jobs=1).fit(table.X[:n_rows], table.y[:n_rows])
    return explainer, table.X[n_rows:]


def times_of_reading(explainer, rows):
    """Mean milliseconds of each reading of one row, the first time that it is read."""
    means = []
    for read in READINGS.values():
        times = []
        for i in range(len(rows)):
            explanations = explainer.explain(rows.iloc[[i]], progress=False)
            fresh = [explanations[[0]] for _ in range(3)]  # what is computed when it is read is kept
            times.append(min(cpu_seconds(lambda e=e: read(e)) for e in fresh))  # noqa: B023 - called at once
        means.append(1000 * np.mean(times))
    return means


def times_of_single_rows(explainer, rows, settings):
    """Mean and largest milliseconds of a row, and the mean of those outside of the compiled core."""
    frames = [rows.iloc[[i]] for i in range(len(rows))]

    def seconds(frame):
        return cpu_seconds(lambda: explainer.explain(frame, progress=False, **settings))

    times = np.min([[seconds(frame) for frame in frames] for _ in range(3)], axis=0)
    functions = [name for name, function in vars(_core).items() if name[0].islower() and callable(function)]
    with time_calls(_core, functions) as in_core:
        together = sum(seconds(frame) for frame in frames)
    outside = 1 - sum(in_core) / together
    return 1000 * times.mean(), 1000 * times.max(), 1000 * times.mean() * outside


# --- all sets among many candidates -----------------------------------------------------------------------------------


def all_sets(options):
    print_section("All sets among many candidates")
    lines = []
    for n_candidates in (10, 12, 15, 18):
        explainer, table = fitted("german credit", 100, candidates="splits", n_candidates=n_candidates)
        seconds, n_complete, n_sets = [], 0, []
        for i in range(len(table.rows)):
            start = time.process_time()
            explanation = explainer.explain(table.rows.iloc[[i]], rules=None, progress=False)[0]
            seconds.append(time.process_time() - start)
            n_complete += explanation.is_search_complete
            n_sets.append(len(explanation.sufficient_sets))
            if sum(seconds) > options.seconds:
                break
        lines.append(
            [
                str(n_candidates),
                str(len(seconds)),
                f"{np.mean(seconds):.3f}",
                f"{max(seconds):.3f}",
                f"{np.mean(n_sets):.1f}",
                f"{n_complete / len(seconds):.2f}",
            ]
        )
    print("german credit, candidates='splits', default limits, without rules.\n")
    print_table(["candidates", "rows", "s a row", "slowest row", "sets found", "complete searches"], lines)


# --- fit, save, load --------------------------------------------------------------------------------------------------


def fit_parts(options):
    print_section("Fit")
    print("CPU seconds of `fit`, of the forests in it, and of the rest as a share of the forests.\n")
    lines = []
    for name in ("breast cancer", "bank", "bike", "telco-like", "adult-like", "flights"):
        X, y, settings = training_rows(name)
        explainer = SufficientExplainer(random_state=0, n_jobs=1, **settings)
        with time_calls(BaseForest, ["fit"]) as in_forest:
            grown, _ = memory_of(lambda e=explainer, X=X, y=y: e.fit(X, y))
            in_forest.clear()
            # What is imported or made once is not counted.
            whole = cpu_seconds(lambda e=explainer, X=X, y=y: e.fit(X, y))
        forest = sum(in_forest)
        figures = [f"{whole:.2f}", f"{forest:.2f}", f"{(whole - forest) / forest:.2f}", f"{grown / MIB:.0f}"]
        lines.append([name, str(len(X)), *figures])
    print_table(["table", "rows", "fit, s", "forests, s", "rest / forests", "peak of memory, MiB more"], lines)


def training_rows(name):
    if name in DECISIONS:
        draw, n_rows = DECISIONS[name]
        table = draw(n_rows, 0)
        return table.X, table.y, {}
    table = TABLES[name](1)
    return table.X, table.y, table.settings


def saved(options):
    n_rows, n_columns, n_trees = 290_000, 70, 50
    drawn = make_switch(n_rows, n_columns=n_columns, random_state=np.random.default_rng(0))
    X, y = drawn.X.to_numpy(np.float32), drawn.y.to_numpy()
    # Trees on few rows, since the forest is not what is timed.
    forest = RandomForestRegressor(
        n_trees, min_samples_leaf=100, max_features=0.2, max_samples=20_000, n_jobs=-1, random_state=0
    )
    explainer = SufficientExplainer(forest, n_jobs=1, random_state=0).fit(X, y)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "switch.suffice"
        save = cpu_seconds(lambda: explainer.save(path))
        size = path.stat().st_size
        start = time.process_time()
        grown, again = memory_of(lambda: SufficientExplainer.load(path))
        load = time.process_time() - start
        content = path.read_bytes()
        digest = cpu_seconds(lambda: hashlib.sha256(content))
        with time_calls(FittedForest, ["__post_init__"]) as in_forest:
            SufficientExplainer.load(path)
        with time_calls(ProjectedForest, ["_project"]) as in_projection:
            first = cpu_seconds(lambda: again.explain(X[:1], sets="minimal", rules=None, progress=False))
    print_section("Saved files")
    print(
        f"Switch model, {n_rows} rows, {n_columns} columns, {n_trees} trees: a file of "
        f"{size / 1e6:.0f} MB. Save {save:.2f} s, load {load:.2f} s with {grown / MIB:.0f} MiB more memory at "
        f"the peak, of which the checksum {digest:.2f} s and the forest of the core {sum(in_forest):.2f} s; the first "
        f"row after it {1000 * first:.0f} ms, of which the projection {1000 * sum(in_projection):.0f} ms."
    )


def imports(options):
    print_section("Imports")
    print("CPU ms in a new process, the median of 9 that take turns.\n")
    statements = ("import suffice", "import sklearn.ensemble", "from suffice import SufficientExplainer")
    code = "import time; start = time.process_time(); {}; print(time.process_time() - start)"
    seconds = [
        [float(subprocess.check_output([sys.executable, "-c", code.format(one)])) for one in statements]
        for _ in range(9)
    ]
    medians = 1000 * np.median(seconds, axis=0)
    print_table(["statement", "ms"], [[f"`{s}`", f"{ms:.0f}"] for s, ms in zip(statements, medians, strict=True)])


# --- growth with the training rows ------------------------------------------------------------------------------------


def growth(options):
    print_section("Growth with the training rows")
    print(f"Switch model, 10 columns, the default explainer, {N_GROWTH} fresh rows in one call.\n")
    fresh = make_switch(2 * N_GROWTH, n_columns=N_COLUMNS, random_state=np.random.default_rng(1))
    rows, others = fresh.X[:N_GROWTH], fresh.X[N_GROWTH:]
    outcomes = fresh.y.to_numpy()[N_GROWTH:]
    times, lines = {}, []
    for n in (30_000, 100_000, 300_000, 1_000_000):
        table = make_switch(n, n_columns=N_COLUMNS, random_state=np.random.default_rng(0))
        explainer = SufficientExplainer(random_state=0, n_jobs=1)
        fit = cpu_seconds(lambda e=explainer, t=table: e.fit(t.X, t.y))
        explain = partial(explainer.explain, rows, progress=False)
        first = cpu_seconds(lambda e=explainer: e.explain(rows[:1], progress=False))
        times[n] = [best_times([ask], 2)[0] / N_GROWTH for ask in (partial(explain, rules=None), explain)]
        rules = [explanation.rule for explanation in explain() if explanation.rule is not None]
        held = [np.mean(is_within(rule, outcomes[rule.covers(others)])) for rule in rules if rule.covers(others).any()]
        stated = np.mean([rule.precision for rule in rules])
        share = len(rules) / N_GROWTH
        figures = [f"{1000 * seconds:.2f}" for seconds in times[n]]
        lines.append(
            [str(n), f"{fit:.0f}", f"{first:.2f}", *figures, f"{share:.2f}", f"{stated:.3f}", f"{np.mean(held):.3f}"]
        )
    print_table(
        [
            "training rows",
            "fit, s",
            "first row, s",
            "sets, ms a row",
            "with a rule",
            "rows with a rule",
            "stated",
            "fresh",
        ],
        lines,
    )
    least, most = min(times), max(times)
    exponents = [math.log(a / b) / math.log(most / least) for a, b in zip(times[most], times[least], strict=True)]
    print(f"\nExponent {exponents[0]:.2f} for sets, {exponents[1]:.2f} with a rule.")


def is_within(rule, outcomes):
    return (rule.interval[0] <= outcomes) & (outcomes <= rule.interval[1])


# --- many rows --------------------------------------------------------------------------------------------------------


def many_rows(options):
    print_section("Many rows in one call")
    print("CPU ms a row, minimal sets without rules: one row at a time, and all rows in one call.\n")
    lines = []
    for name, n_rows in (("bank", 2000), ("bike", 1000), ("flights", 300)):
        explainer, table = fitted(name, n_rows)
        explain = partial(explainer.explain, sets="minimal", rules=None, progress=False)
        explain(table.rows[:1])  # projects the forest
        single = [table.rows.iloc[[i]] for i in range(N_SINGLE)]
        alone = 1000 * cpu_seconds(lambda: [explain(row) for row in single]) / N_SINGLE  # noqa: B023 - called at once
        together = 1000 * cpu_seconds(lambda: explain(table.rows)) / n_rows  # noqa: B023
        lines.append([name, f"{alone:.2f}", f"{together:.2f} ({n_rows} rows)", f"{together / alone:.2f}"])
    print_table(["table", "one row", "in one call", "ratio"], lines)


# --- lists of rules ---------------------------------------------------------------------------------------------------


def global_rules(name, options):
    table = load_table(name)
    n_rows, model = {"bank": (7_000, GlobalRulesClassifier), "bike": (11_000, GlobalRulesRegressor)}[name]
    rows = np.random.default_rng(0).permutation(len(table.y))[:n_rows]
    made = model(SufficientExplainer(random_state=0, n_jobs=1), random_state=0)
    seconds = cpu_seconds(lambda: made.fit(table.X.iloc[rows].reset_index(drop=True), table.y[rows]))
    print_section(f"A list of rules for {name}")
    print(f"{model.__name__} on {len(rows)} rows, default settings: {seconds:.0f} s, {len(made.rules_)} rules.")


QUESTIONS = {
    "one-row": quietly(one_row),
    "all-sets": quietly(all_sets),
    "fit": quietly(fit_parts),
    "saved": quietly(saved),
    "imports": quietly(imports),
    "growth": quietly(growth),
    "many-rows": quietly(many_rows),
    "rules-of-bank": quietly(partial(global_rules, "bank")),
    "rules-of-bike": quietly(partial(global_rules, "bike")),
}
