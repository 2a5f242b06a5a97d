"""Figures of the engine, each a ratio within one run: ``make bench``, or ``python -m benchmarks.run PART ...``.

Times are CPU times of one thread, taken in turns with shap's on the same forest and rows; the best of the rounds
counts, since noise on a busy machine only ever adds.
"""

from __future__ import annotations

import argparse
import ctypes
import datetime
import gc
import math
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

from benchmarks.rules import against_anchors, global_rules, moons, switch_rules
from benchmarks.switch import switch_forest
from suffice import SufficientExplainer, _core

N_ROUNDS = 7


def best_times(jobs, n_rounds=N_ROUNDS):
    """Best CPU seconds of each job, the jobs taking turns."""
    best = [math.inf] * len(jobs)
    for _ in range(n_rounds):
        for i, job in enumerate(jobs):
            start = time.process_time()
            job()
            best[i] = min(best[i], time.process_time() - start)
    return best


def against_shap(name, explainer, X, goals):
    import shap

    peer = shap.TreeExplainer(explainer.forest_)
    jobs = [
        lambda: peer.shap_values(X, check_additivity=False),
        lambda: explainer.explain(X, sets="minimal", rules=None),
        lambda: explainer.explain(X, sets="all", rules=None),
    ]
    times = [1000 * t / len(X) for t in best_times(jobs)]
    print(f"{name}: {len(X)} rows, {len(explainer.forest_.estimators_)} trees, 1 thread, ms a row (best of {N_ROUNDS})")
    print(f"  shap.TreeExplainer      {times[0]:7.3f}")
    for kind, value, goal in zip(("minimal sets", "all sets"), times[1:], goals, strict=True):
        print(f"  suffice, {kind:13s}  {value:7.3f}   {value / times[0]:.2f} of shap's (goal {goal})")


def speed():
    train, test, forest = switch_forest(10_000)
    explainer = SufficientExplainer.paper(forest, n_jobs=1).fit(train.X.to_numpy(), train.y.to_numpy())
    against_shap("Switch model, 10^4 rows", explainer, test.X.to_numpy(), ("at most 0.33, aim 0.20", "at most 3"))
    X, y = load_breast_cancer(return_X_y=True)
    forest = RandomForestClassifier(20, random_state=0)
    explainer = SufficientExplainer.paper(forest, n_jobs=1).fit(X, y)
    against_shap("Breast cancer", explainer, X, ("at most 1", "none"))


def detection():
    print("Switch model, 10^4 rows, best minimal set of 1000 test rows against the truth (paper: TPR 0.99, FDR 0.02)")
    for max_features in (1.0, 0.7):
        for seed in range(3):
            train, test, forest = switch_forest(10_000, seed, max_features=max_features)
            explainer = SufficientExplainer.paper(forest).fit(train.X, train.y)
            explanations = explainer.explain(test.X, sets="minimal", rules=None)
            sets = [set(e.best_set.variables) for e in explanations]
            truth = test.true_sets
            tpr = np.mean([len(S & T) / len(T) for S, T in zip(sets, truth, strict=True)])
            fdr = np.mean([len(S - T) / len(S) for S, T in zip(sets, truth, strict=True)])
            exact = np.mean([S == T for S, T in zip(sets, truth, strict=True)])
            none = sum(not e.is_sufficient for e in explanations)
            print(
                f"  max_features {max_features:.1f}, seed {seed}: TPR {tpr:.3f}, FDR {fdr:.3f}, exactly the truth "
                f"{exact:.3f}, no sufficient set {none}; R2 of the forest {explainer.score(test.X, test.y):.3f}"
            )


def memory_of(action):
    """Peak growth of this process's memory during an action, in bytes (Linux)."""
    gc.collect()
    ctypes.CDLL("libc.so.6").malloc_trim(0)  # memory that was freed before must not hide new memory
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    before = status("VmRSS")
    result = action()
    return status("VmHWM") - before, result


def status(field, process="self"):
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return 1024 * int(line.split()[1])
    raise RuntimeError(f"the system does not tell {field}")


def growth():
    explainers, rows = [], []
    for n in (10_000, 100_000):
        train, test, forest = switch_forest(n)
        X, y = train.X.to_numpy(), train.y.to_numpy()
        forest.fit(X, y)
        grown, explainer = memory_of(lambda X=X, y=y, f=forest: SufficientExplainer.paper(f, n_jobs=1).fit(X, y))
        explainers.append(explainer)
        rows.append(test.X.to_numpy()[:200])
        size = explainer.fitted_.projected.on_candidates().n_bytes
        print(
            f"Switch model, {n} rows: fit grows memory by {grown / n / 20:.0f} bytes a row and tree at its peak "
            f"(goal at most 100), of which the projection {size / n / 20:.0f}"
        )
    jobs = [lambda e=e, x=x: e.explain(x, sets="minimal", rules=None) for e, x in zip(explainers, rows, strict=True)]
    small, large = (1000 * t / 200 for t in best_times(jobs))
    print(
        f"Switch model, minimal sets, ms a row: {small:.3f} at 10^4 rows, {large:.3f} at 10^5: "
        f"{large / small:.1f} times (goal at most 12)"
    )


def imports():
    code = (
        "import time, sklearn.ensemble; start = time.perf_counter(); from suffice import SufficientExplainer; "
        "print(time.perf_counter() - start)"
    )
    times = [
        float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout) for _ in range(7)
    ]
    print(f"importing SufficientExplainer takes {min(times):.3f} s after sklearn.ensemble (goal 0.15)")


PARTS = {
    "imports": imports,
    "speed": speed,
    "detection": detection,
    "growth": growth,
    "rules": switch_rules,
    "anchors": against_anchors,
    "moons": moons,
    "global": global_rules,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all by default")
    parts = parser.parse_args().parts or list(PARTS)
    unknown = set(parts) - set(PARTS)
    if unknown:
        parser.error(f"unknown part {unknown.pop()!r}; there are {', '.join(PARTS)}")
    print(head())
    for part in parts:
        PARTS[part]()


def head():
    """When and where the figures were taken."""
    return (
        f"{datetime.date.today()}, {processor()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"kernels {_core.kernel_names()[0]}"
    )


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return platform.processor()


if __name__ == "__main__":
    main()
