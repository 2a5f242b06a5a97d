"""Proofs on the trees of models, beside PyXAI: ``make bench-proofs``, or ``python -m benchmarks.proofs TABLE ...``.

For each table, XGBoost models of 20, 100 and 500 trees and of depth 3, 6 and 10 are fitted on the training rows (a
forest of scikit-learn and a LightGBM model of 100 trees of depth 6 beside them), and explainers on their outputs.
Measured are

- the rules of held-out rows: proven, refuted or open within 1 s each, by the clock;
- the bounds of the certain reasons, given back as rules, which can be proven: how many are, within 1 s each;
- certain reasons of held-out rows: whether a set is known to be minimal within 5 s (``smallest=False``), its size and
  the CPU time; and the same of the default, which goes on to a set of which it is known that none is smaller;
- PyXAI's reasons for the same rows of the same models: the tree-specific reason of boosted trees (its only one for
  them in version 2), of one run and of its default of 50, and the sufficient reason of the forest. It holds bounds,
  and its size is the number of the columns in them, so that it may be compared with a set of variables.

Every exception is confirmed by the model itself; every rule that is proven, and every certain reason, is tried at
drawn points, whose columns come from different rows. CPU seconds, one thread, the methods in turns row by row.
"""

from __future__ import annotations

import argparse
import pickle
import tempfile
import time
import warnings
from pathlib import Path

import lightgbm
import numpy as np
import pandas as pd
import xgboost
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from benchmarks.printing import print_table
from benchmarks.real_tables import load_table
from benchmarks.turns import ROOT, Worker, WorkerError
from suffice import SufficientExplainer
from suffice.explaining.rule import Promise
from suffice.proofs.finding import _conditions
from suffice.proofs.model_trees import read_trees_of
from suffice.proofs.proving import prove_promise
from suffice.proofs.reasons import ReasonSearch

TABLES = ("german credit", "bank", "compas", "attrition", "california", "breast cancer")
N_TREES, DEPTHS = (20, 100, 500), (3, 6, 10)
MAX_TRAIN, N_RULE_ROWS, N_ROWS, N_DRAWN = 1000, 25, 10, 2000
RULE_SECONDS, REASON_SECONDS, PEER_SECONDS = 1.0, 5.0, 20.0
# Searches for reasons end by the clock, after so many times their CPU seconds: other programs use the machine, too.
WALL = 5
WIDTH = 0.1  # of a predicted number, on both sides, as a share of the range of the outcomes
PEER = ROOT / ".venv-pyxai" / "bin" / "python"
NAMES = ("model", "rules", "proven", "refuted", "open", "s, rule", "bounds proven", "s, bounds")
NAMES += ("minimal in 5 s", "size", "s, minimal", "smallest", "least size", "s, smallest", "s, 90 %")
PEER_NAMES = ("PyXAI: size", "s, one run", "size, 50 runs", "s, 50 runs")


def as_numbers(X):
    """Categories as their codes, so that every library takes the same table."""
    codes = {name: X[name].astype("category").cat.codes for name in X if X[name].dtype.kind not in "iuf"}
    X = X.assign(**codes).astype(float)
    return X.set_axis([f"c{i}" for i in range(X.shape[1])], axis=1)  # PyXAI reads names up to a blank


def fit(kind, n_trees, depth, X, y, is_class):
    if kind == "forest":
        make = RandomForestClassifier if is_class else RandomForestRegressor
        return make(n_trees, max_depth=depth, random_state=0).fit(X, y)
    if kind == "LightGBM":
        make = lightgbm.LGBMClassifier if is_class else lightgbm.LGBMRegressor
        return make(n_estimators=n_trees, max_depth=depth, n_jobs=1, random_state=0, verbose=-1).fit(X, y)
    make = xgboost.XGBClassifier if is_class else xgboost.XGBRegressor
    return make(n_estimators=n_trees, max_depth=depth, n_jobs=1, random_state=0).fit(X, y)


def draw_points(X, random):
    """Rows whose columns come from different rows of a table."""
    rows = random.integers(0, len(X), (N_DRAWN, X.shape[1]))
    return pd.DataFrame({name: X[name].to_numpy()[rows[:, i]] for i, name in enumerate(X)})


def prove(explainer, model, rows, X, random):
    """Check the rules of rows; verdicts, CPU seconds, and how many answers the model contradicts."""
    shown = {rule.promise: rule for rule in explainer.explain(rows).rules if rule is not None}
    model_trees = read_trees_of(explainer.fitted_, model, None, max_seconds=RULE_SECONDS)
    model_trees.prover.trees  # noqa: B018 (made once)
    verdicts, seconds, n_wrong = [], [], 0
    points = draw_points(X, random)
    for promise, rule in shown.items():
        start = time.process_time()
        proof = prove_promise(promise, model_trees)
        seconds.append(time.process_time() - start)
        verdicts.append(proof.verdict)
        if proof.verdict == "refuted":
            case = pd.DataFrame([proof.counterexample])[list(X)]
            n_wrong += bool(promise.keeps(model.predict(case))[0]) or not rule.covers(case)[0]
        elif proof.verdict == "proven":
            inside = points[rule.covers(points)]
            n_wrong += len(inside) > 0 and not promise.keeps(model.predict(inside)).all()
    return verdicts, seconds, n_wrong


def find_reason(model_trees, model, row, width, points):
    """A minimal and a smallest certain reason of a row: CPU seconds, whether they are contradicted, and the bounds."""
    values = model_trees.domain.ensemble.encode(row)[0]
    own, ensemble = model.predict(row)[0], model_trees.domain.ensemble
    decision = (float(own) - width, float(own) + width) if width is not None else ensemble.classes.tolist().index(own)
    searches, reasons, seconds = [], [], []
    for smallest in (False, True):
        start = time.process_time()
        searches.append(ReasonSearch(model_trees.prover, values, decision, max_seconds=WALL * REASON_SECONDS))
        reasons.append(searches[-1].find(smallest=smallest))
        seconds.append(time.process_time() - start)
    search, found = searches[-1], reasons[-1]
    kept = [model_trees.domain.axes[i].name for i in found.axes]
    tried = points.assign(**{name: row[name].iloc[0] for name in kept})
    predicted = model.predict(tried)
    is_wrong = bool((predicted != own).any() if width is None else (np.abs(predicted - own) > width * 1.001).any())
    conditions = _conditions(search, search.grow(found.axes), found.axes)
    interval = None if width is None else decision
    return seconds, reasons, is_wrong, Promise(conditions, own, interval)


def prove_reasons(model_trees, promises):
    """Check the bounds of certain reasons as rules, of their own budget: verdicts and CPU seconds."""
    verdicts, seconds = [], []
    for promise in promises:
        start = time.process_time()
        verdict = prove_promise(promise, model_trees).verdict
        seconds.append(time.process_time() - start)
        verdicts.append(verdict)
    return verdicts, seconds


def measure(kind, n_trees, depth, train, explained, is_class, n_rows):
    """One line of the table."""
    X, random = train.X, np.random.default_rng(0)
    model = fit(kind, n_trees, depth, X, train.y, is_class)
    explainer = SufficientExplainer.for_model(model, X, random_state=0, n_jobs=1)
    verdicts, seconds, n_wrong = prove(explainer, model, explained.X[: n_rows[0]], X, random)
    width = None if is_class else WIDTH * float(np.ptp(train.y))
    rows = explained.X[N_RULE_ROWS : N_RULE_ROWS + n_rows[1]]
    model_trees = read_trees_of(explainer.fitted_, model, None, also=rows, max_seconds=WALL * REASON_SECONDS)
    model_trees.prover.trees  # noqa: B018 (made once)
    points, own, peer = draw_points(X, random), [], {"one": [], "most": []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        X.assign(label=train.y).to_csv(folder / "table.csv", index=False)
        np.save(folder / "rows.npy", rows.to_numpy())
        if kind == "forest":
            (folder / "model.pkl").write_bytes(pickle.dumps(model))
        elif kind == "XGBoost":
            model.save_model(folder / "model.json")
        problem, worker = None, None
        try:
            if kind == "LightGBM":
                raise WorkerError("PyXAI was not asked about LightGBM")
            kinds = (folder, "class" if is_class else "number")
            worker = Worker(PEER, "benchmarks.proofs_pyxai", *kinds, folder=folder)
        except (WorkerError, OSError) as error:
            problem = str(error)
        for i in range(len(rows)):
            own.append(find_reason(model_trees, model, rows.iloc[[i]], width, points))
            problem = problem or ask_peer(worker, i, peer, kind)
        if worker is not None:
            worker.close()
    counts = [str(verdicts.count(verdict)) for verdict in ("proven", "refuted", "open")]
    quick = read_trees_of(explainer.fitted_, model, None, also=rows, max_seconds=RULE_SECONDS)
    quick.prover.trees  # noqa: B018 (made once)
    of_reasons, reason_seconds = prove_reasons(quick, [line[3] for line in own])
    line = [f"{kind}, {n_trees} x {depth}", str(len(verdicts)), *counts, f"{np.median(seconds):.3f}"]
    line += [f"{of_reasons.count('proven')} of {len(of_reasons)}", f"{np.median(reason_seconds):.3f}"]
    for i, word in enumerate(("is_minimal", "is_smallest")):
        reasons, times = [line[1][i] for line in own], [line[0][i] for line in own]
        n_known = sum(getattr(f, word) and t <= REASON_SECONDS for f, t in zip(reasons, times, strict=True))
        line += [f"{n_known} of {len(reasons)}"]
        line += [f"{np.mean([len(f.axes) for f in reasons]):.1f}", f"{np.median(times):.3f}"]
    line.append(f"{np.quantile(times, 0.9):.3f}")
    for answers in peer.values():
        line += (
            [f"{np.mean([s for s, _ in answers]):.1f}", f"{np.median([t for _, t in answers]):.3f}"]
            if answers
            else ["-", "-"]
        )
    return line, n_wrong + sum(wrong for _, _, wrong, _ in own) + of_reasons.count("refuted"), problem


def ask_peer(worker, i, answers, kind):
    """Ask PyXAI about a row, unless it has taken too long; what has failed."""
    for name, kept in answers.items():
        spent = sum(seconds for _, seconds in kept)
        is_slow = name == "most" and (kind == "forest" or answers["one"][-1][1] * 25 > REASON_SECONDS)
        if spent > PEER_SECONDS or is_slow:
            continue
        try:
            answer = worker.measure(name, i)
        except WorkerError as error:
            return str(error)[:200]
        if answer["result"]["names"] is None:
            return "it gave no reason"
        kept.append((len(answer["result"]["names"]), answer["seconds"]))
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="*", default=TABLES)
    parser.add_argument("--trees", type=int, nargs="*", default=N_TREES)
    parser.add_argument("--depths", type=int, nargs="*", default=DEPTHS)
    parser.add_argument("--rows", type=int, nargs=2, default=(N_RULE_ROWS, N_ROWS), help="for rules, and for reasons")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    lines, notes = [], []
    for name in options.tables:
        table = load_table(name)
        train, explained, _ = table.split(0, N_RULE_ROWS + N_ROWS)
        codes = {label: code for code, label in enumerate(np.unique(table.y).tolist())} if table.is_class else None
        numbers = as_numbers(pd.concat([train.X, explained.X]))
        parts = []
        for part, X in ((train, numbers[: len(train.X)]), (explained, numbers[len(train.X) :])):
            y = part.y if codes is None else np.array([codes[label] for label in part.y.tolist()])
            parts.append(type(part)(X[:MAX_TRAIN].reset_index(drop=True), y[:MAX_TRAIN]))
        shapes = [("XGBoost", n_trees, depth) for n_trees in options.trees for depth in options.depths]
        if 100 in options.trees and 6 in options.depths:
            shapes += [("LightGBM", 100, 6), *[("forest", 100, 6)] * table.is_class]
        for kind, n_trees, depth in shapes:
            line, n_wrong, problem = measure(kind, n_trees, depth, *parts, table.is_class, options.rows)
            lines.append([name, *line])
            notes += [f"{name}, {line[0]}: {n_wrong} answers contradicted."] if n_wrong else []
            notes += [f"{name}, {line[0]}: PyXAI: {problem}."] if problem and kind != "LightGBM" else []
            print(*lines[-1], sep=" | ", flush=True)
    print()
    print_table(("table", *NAMES, *PEER_NAMES), lines)
    print()
    for sentence in (*summarize(lines), *notes):
        print(sentence, flush=True)


def summarize(lines):
    """The counts over all models, and the medians beside PyXAI's."""
    columns = {name: [line[i + 1] for line in lines] for i, name in enumerate((*NAMES, *PEER_NAMES))}

    def share(name):
        pairs = [cell.split(" of ") for cell in columns[name]]
        return f"{sum(int(n) for n, _ in pairs)} of {sum(int(n) for _, n in pairs)}"

    counts = {name: sum(map(int, columns[name])) for name in ("rules", "proven", "refuted", "open")}
    yield f"Rules: {counts['rules']}, within 1 s each {', '.join(f'{counts[n]} {n}' for n in list(counts)[1:])}."
    yield f"Bounds of certain reasons, given back as rules: {share('bounds proven')} proven within 1 s."
    yield f"Certain reasons: {share('minimal in 5 s')} known to be minimal, {share('smallest')} known to be smallest."
    for kind, peer, what in (
        ("XGBoost", "s, one run", "PyXAI, one run"),
        ("XGBoost", "s, 50 runs", "PyXAI, its default of 50 runs"),
        ("forest", "s, one run", "PyXAI"),
    ):
        chosen = [i for i, line in enumerate(lines) if line[1].startswith(kind) and columns[peer][i] != "-"]
        if chosen:
            minimal, smallest, theirs = (
                np.array([float(columns[name][i]) for i in chosen]) for name in ("s, minimal", "s, smallest", peer)
            )
            yield (
                f"{kind}, {len(chosen)} models, s at the median of the models: minimal reason {np.median(minimal):.3f} "
                f"(faster on {np.sum(minimal < theirs)}), smallest {np.median(smallest):.3f} (faster on "
                f"{np.sum(smallest < theirs)}), {what} {np.median(theirs):.3f}."
            )


if __name__ == "__main__":
    main()
