"""CDP, CRP and fresh rows of boxes on a made-up table with a known law."""

from __future__ import annotations

import time
from itertools import combinations
from typing import Any

import numpy as np

from experiments.data.cell_law import CellLaw, make_cell_law
from experiments.runs import Experiment, Line, Outcome, Plan
from suffice import SufficientExplainer

NAMES = ("A", "B", "C", "U", "V")  # U and V are noise
PI = 0.9
CHECKS = ("everywhere", "mean")
N_FRESH = 200
READING = (
    "Every point of a box of `check='everywhere'` has to reach pi, so it lies in cells with the probability 0.97. "
    "The share of the rows in a box (`check='mean'`) is too small in a box of good cells, since leaves mix them with "
    "others."
)


def run(plan: Plan, seed: int) -> Outcome:
    """Compare estimates with the law for test rows: CDP of all sets of A, B and C, CRP of the boxes that are found."""
    outcome = Outcome()
    law = make_cell_law(random_state=seed)
    frame, y = _draw(law, plan.pick(20_000, 2_000, 600), 1000 + seed)
    rows, _ = _draw(law, plan.pick(200, 20, 10), 2000 + seed)
    explainer = SufficientExplainer(pi=PI, random_state=seed).fit(frame, y)
    X = rows.to_numpy()
    gaps = []
    for free in (S for k in (1, 2, 3) for S in combinations(range(law.n_columns), k)):
        kept = [name for position, name in enumerate(NAMES) if position not in free]
        estimates = explainer.sdp(rows, kept, np.ones(len(rows), dtype=int))
        gaps.append(np.abs(estimates - [law.chance(x, free)[0] for x in X[:, : law.n_columns]]))
    outcome.figures |= {"CDP mean": float(np.mean(gaps)), "CDP max": float(np.max(gaps))}
    asked = rows[explainer.predict(rows) == 0]
    for check in CHECKS:
        _check_boxes(outcome, law, explainer, asked, check, seed)
    return outcome


def _check_boxes(outcome: Outcome, law: CellLaw, explainer: Any, rows: Any, check: str, seed: int) -> None:
    """Compare the CRP and the plausibility of boxes with the law, and draw fresh outcomes of rows in them."""
    start = time.perf_counter()
    changes = explainer.what_if(rows, 1, n=1, check=check, pi=0.9)
    outcome.seconds[f"suffice, check={check!r}"] = (time.perf_counter() - start) / len(rows)
    X = rows.to_numpy()[:, : law.n_columns]
    rng = np.random.default_rng(seed)
    estimates, truths, fresh = [], [], []
    for x, answer in zip(X, changes, strict=True):
        if (change := answer.best) is not None:
            # Noise has no say in the law: a box is one over A, B and C, and U and V may be anything.
            free = [NAMES.index(name) for name in change.variables if NAMES.index(name) < law.n_columns]
            box = {NAMES.index(c.column): (c.low, c.high) for c in change.conditions if c.column in NAMES[:3]}
            truths.append(law.chance(x, free, box))
            points, rows_counted = change.box_probability, change.mean
            stated, other = (points, rows_counted) if check == "everywhere" else (rows_counted, points)
            estimates.append((stated, change.plausibility, other))
            fresh.append(float(law.draw_inside(x, free, box, N_FRESH, rng).mean()))
    found, known = np.array(estimates).reshape(-1, 3), np.array(truths).reshape(-1, 2)
    gaps = np.abs(found - known[:, [0, 1, 0]]) if len(found) else np.full((1, 3), np.nan)
    outcome.figures |= {
        f"{check} found": len(found) / len(rows),
        f"{check} CRP mean": float(gaps[:, 0].mean()),
        f"{check} CRP max": float(gaps[:, 0].max()),
        f"{check} other mean": float(gaps[:, 2].mean()),
        f"{check} plausibility mean": float(gaps[:, 1].mean()),
        f"{check} true CRP": float(known[:, 0].mean()) if len(found) else float("nan"),
        f"{check} fresh": float(np.mean(fresh)) if fresh else float("nan"),
        f"{check} below": float(np.mean(known[:, 0] < PI - 0.02)) if len(found) else float("nan"),
        f"{check} proven": float(np.mean([a.best.optimal for a in changes if a.best])) if len(found) else float("nan"),
    }


def _draw(law: CellLaw, n_rows: int, seed: int) -> tuple[Any, Any]:
    """Draw rows of A, B and C, with two columns of noise."""
    import pandas as pd

    X, y = law.draw(n_rows, seed)
    noise = np.random.default_rng(seed + 1).random((n_rows, 2))
    return pd.DataFrame(np.hstack([X, noise]), columns=list(NAMES)), y


def _lines() -> list[Line]:
    lines = [
        Line("CDP of all sets of A, B, C", "mean distance from the truth", "CDP mean"),
        Line("CDP of all sets of A, B, C", "largest distance from the truth", "CDP max"),
    ]
    for check in CHECKS:
        for figure, label in (
            ("CRP mean", "mean distance from the truth"),
            ("CRP max", "largest distance from the truth"),
            ("true CRP", "true CRP"),
            ("fresh", "fresh rows of the boxes that reach the target"),
            ("below", "boxes with a true CRP below 0.88"),
            ("found", "rows with a box"),
            ("proven", "boxes proven optimal"),
        ):
            lines.append(Line(f"CRP of boxes, check={check!r}", label, f"{check} {figure}"))
    return lines


EXPERIMENT = Experiment(
    name="changes-law",
    title="Counterfactual probabilities against a known law",
    setting=(
        "A made-up table of 20 000 rows: three dependent columns A, B and C in four parts each; the outcome 1 has the "
        "probability 0.03 or, in four cells of ten, 0.97; two columns of noise. 200 test rows that the default forest "
        "predicts to be 0 are to become 1, with pi = 0.9. The true CRP of a box is a sum over cells."
    ),
    lines=_lines(),
    run=run,
    reading=READING,
)
