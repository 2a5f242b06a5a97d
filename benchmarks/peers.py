"""What other explainers answer for the same rows of the same forest: ``make bench-peers``, or name TABLES and METHODS.

One forest of 100 trees is fitted to at most 1000 training rows of each table, and held-out rows of it are explained:

- suffice: `SufficientExplainer.for_model(model, table)` as it is, the best set and its rule;
- acv: the authors' ACXplainer on the forest's outputs, `importance_sdp_rf` and `compute_sdp_maxrules`, the same pi;
- PyXAI: a sufficient reason of the forest, which is proven;
- Anchors: anchor-exp at the level pi; LORE: lore_sa's genetic neighbourhood;
- RuleXAI: of its rules for the forest's outputs the one that covers the row and most training rows;
- calibrated: calibrated-explanations, which weighs one condition for each variable and has no rule.

Every method gets the categories as numbers, which three of them need. Measured with two seeds of each method: rows
with an answer among those begun in the time, variables of an answer, the share of fresh held-out rows that a rule
covers, the share of these with the forest's outcome and with the true one (for numbers: inside the interval), how
often two seeds give a row the same variables and the same rule (covered rows), and CPU seconds of a row.
"""

from __future__ import annotations

import argparse
import itertools
import json
import pickle
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from experiments.data.loaders import load_lucas
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from benchmarks.printing import print_table
from benchmarks.real_tables import RealTable, load_table
from benchmarks.turns import ROOT, Worker, WorkerError

TABLES = ("german credit", "bank", "compas", "attrition", "breast cancer", "lucas", "california")
ENVIRONMENTS = {
    "suffice": None,
    "acv": ".venv-acv",
    "PyXAI": ".venv-pyxai",
    "Anchors": ".venv-calibrated",
    "LORE": ".venv-calibrated",
    "RuleXAI": ".venv-rulexai",
    "calibrated": ".venv-calibrated",
}
FOR_NUMBERS = ("suffice", "acv", "calibrated")  # of a forest; PyXAI explains boosted trees of numbers
MAX_TRAIN, MAX_MORE, MAX_HELD, N_ROWS, N_SEEDS, MAX_SECONDS = 1000, 300, 2000, 20, 2, 12.0
N_TEXTS, N_SHOWN = 2, 10  # rows of each table, and of all, whose answers are on the page
COLUMNS = ("rows answered", "variables", "coverage", "precision, forest", "precision, truth")
COLUMNS += ("same variables", "same rule", "s, fit", "s, row")


def as_codes(X):
    """Categories as their codes, and the positions of their columns."""
    is_category = [X[name].dtype.kind not in "iuf" for name in X]
    codes = {name: X[name].astype("category").cat.codes for name, flag in zip(X, is_category, strict=True) if flag}
    return X.assign(**codes).to_numpy(dtype=np.float64), np.flatnonzero(is_category).tolist()


def _load(name):
    if name != "lucas":
        return load_table(name)
    X, y = load_lucas()
    return RealTable(name, X, y.to_numpy(), True)


def prepare(name, folder, n_rows):
    """Write what the workers read; the outcomes of the held-out rows, of the forest and true."""
    table = _load(name)
    parts = table.split(0, n_rows)
    X, categories = as_codes(pd.concat([part.X for part in parts]))
    labels = np.concatenate([part.y for part in parts])
    if table.is_class:
        labels = np.unique(labels, return_inverse=True)[1]
    ends = np.cumsum([len(part.y) for part in parts])
    rest = np.arange(ends[1], ends[2])
    n_more = min(MAX_MORE, len(rest) // 3)
    rows = {
        "train": np.arange(ends[0])[:MAX_TRAIN],
        "rows": np.arange(ends[0], ends[1]),
        "more": rest[:n_more],
        "held": rest[n_more:][:MAX_HELD],
    }
    make = RandomForestClassifier if table.is_class else RandomForestRegressor
    model = make(100, min_samples_leaf=5, random_state=0).fit(X[rows["train"]], labels[rows["train"]])
    arrays = {key: X[chosen] for key, chosen in rows.items()}
    outputs = {key: model.predict(of) for key, of in arrays.items()}
    arrays |= {"outputs": outputs["train"], "row_outputs": outputs["rows"], "labels": labels[rows["more"]]}
    for key, array in arrays.items():
        np.save(folder / f"{key}.npy", array)
    (folder / "model.pkl").write_bytes(pickle.dumps(model))
    meta = {"names": list(parts[0].X), "categories": categories, "is_class": table.is_class}
    meta["pi"] = 0.9 if table.is_class else 0.8  # the defaults of suffice
    (folder / "meta.json").write_text(json.dumps(meta))
    return outputs["rows"], outputs["held"], labels[rows["held"]]


def ask(method, folder, n_rows, n_seeds):
    """Answers and CPU seconds of each row by seed, until the time is up, and the seconds of the fits."""
    environment = ENVIRONMENTS[method]
    python = sys.executable if environment is None else ROOT / environment / "bin" / "python"
    worker, answers, fits = Worker(python, "benchmarks.peers_worker", method, folder, folder=folder), [], []
    try:
        for seed in range(n_seeds):
            fits.append(worker.measure("fit", seed)["seconds"])
            answers.append([])
            while len(answers[-1]) < n_rows and sum(seconds for _, seconds in answers[-1]) < MAX_SECONDS:
                given = worker.measure("row", len(answers[-1]))
                answers[-1].append((given["result"]["answer"], given["seconds"]))
    finally:
        worker.close()
    return answers, fits


def judge(answers, fits, outputs, held_outputs, held_labels):
    """The figures of a method on a table, in the order of `COLUMNS`."""
    begun = [pair for of_seed in answers for pair in of_seed]
    given = [(i, answer) for of_seed in answers for i, (answer, _) in enumerate(of_seed) if answer is not None]
    shares, precisions = [], {"forest": [], "truth": []}
    for i, answer in given:
        if answer["covered"] is None:
            continue
        covered = np.asarray(answer["covered"], dtype=int)
        shares.append(len(covered) / len(held_labels))
        for key, values in (("forest", held_outputs), ("truth", held_labels)):
            if len(covered):
                inside = values[covered]
                ends = answer["interval"]
                kept = inside == outputs[i] if ends is None else (inside >= ends[0]) & (inside <= ends[1])
                precisions[key].append(kept.mean())
    same = {"variables": [], "covered": []}
    for one, other in itertools.combinations(answers, 2):
        for (a, _), (b, _) in zip(one, other, strict=False):
            if a is not None and b is not None:
                for key in same:
                    same[key] += [a[key] == b[key]] * (a[key] is not None)
    sizes = [answer.get("n_conditions", len(answer["variables"])) for _, answer in given]
    figures = [_mean(sizes, 1), *(_mean(values, 2) for values in (shares, *precisions.values(), *same.values()))]
    seconds = [_mean(fits, 2), f"{np.median([s for _, s in begun]):.3f}"]
    return [f"{len(given)} of {len(begun)}", *figures, *seconds]


def _mean(values, digits):
    return f"{np.mean(values):.{digits}f}" if values else "-"


def average(lines):
    """The means over the tables with classes of each method."""
    rows = []
    for method in dict.fromkeys(line[1] for line in lines):
        chosen = [line[2:] for line in lines if line[1] == method and line[0] != "california"]
        if chosen:
            answered = np.sum([[int(n) for n in line[0].split(" of ")] for line in chosen], axis=0)
            columns = [
                [float(cell) for cell in column if cell != "-"] for column in list(zip(*chosen, strict=True))[1:]
            ]
            digits = (1, 2, 2, 2, 2, 2, 2, 3)
            means = (_mean(values, n) for values, n in zip(columns, digits, strict=True))
            rows.append([method, str(len(chosen)), f"{answered[0]} of {answered[1]}", *means])
    return rows


PAGE = """# The same rows, explained by seven methods

`make bench-peers` prints the figures and writes this file; docs/comparison.md says what they mean. Categories are
numbers, since three of the methods take nothing else. Answers are printed as the methods print them: `suffice` and acv
a rule with its SDP, PyXAI a proven reason, Anchors, LORE and RuleXAI a rule, calibrated-explanations its calibrated
prediction and the three conditions with the largest weights.
"""


def make_page(lines, texts):
    """Ten rows with the answers to them, and the figures of each table."""
    parts = [PAGE]
    shown = [text for i in range(N_TEXTS) for text in texts[i::N_TEXTS]][:N_SHOWN]
    for text in sorted(shown, key=texts.index):
        answers = [f"- {method}: {answer}" for method, answer in text["answers"].items()]
        parts.append(f"## {text['table']}, forest: {text['output']:.4g}\n\n" + "\n".join(answers))
    head, *figures = [f"| {' | '.join(row)} |" for row in (("table", "method", *COLUMNS), *lines)]
    parts.append("\n".join(["## Figures of each table\n", head, f"|{' --- |' * (len(COLUMNS) + 2)}", *figures]))
    return "\n\n".join(parts) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="*", default=TABLES)
    parser.add_argument("--methods", nargs="*", default=tuple(ENVIRONMENTS))
    parser.add_argument("--rows", type=int, default=N_ROWS)
    parser.add_argument("--seeds", type=int, default=N_SEEDS)
    parser.add_argument("--page", type=Path, help="a file for the figures and ten rows with the answers to them")
    options = parser.parse_args()
    lines, texts = [], []
    for name in options.tables:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            outputs, held_outputs, held_labels = prepare(name, folder, options.rows)
            texts += [{"table": name, "output": float(output), "answers": {}} for output in outputs[:N_TEXTS]]
            for method in options.methods:
                if name == "california" and method not in FOR_NUMBERS:
                    continue
                try:
                    answers, fits = ask(method, folder, len(outputs), options.seeds)
                except (WorkerError, OSError) as error:
                    print(f"{name}, {method}: {str(error)[:300]}", flush=True)
                    continue
                lines.append([name, method, *judge(answers, fits, outputs, held_outputs, held_labels)])
                print(*lines[-1], sep=" | ", flush=True)
                for text, (answer, _) in zip(texts[-N_TEXTS:], answers[0], strict=False):
                    text["answers"][method] = answer["text"] if answer else "no answer"
    print()
    print_table(("table", "method", *COLUMNS), lines)
    print()
    print_table(("method", "tables", *COLUMNS), average(lines))
    if options.page:
        options.page.write_text(make_page(lines, texts))


if __name__ == "__main__":
    main()
