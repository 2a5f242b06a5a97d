"""The switch model: the Sufficient Rule of one row."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from experiments.runs import BY_DEFAULT, Claim, Experiment, Line, Outcome, Plan
from experiments.switch import switch_data, switch_explainer
from suffice import SufficientExplainer

SET = ["X3", "X4", "X5"]
FIGURES = (
    ("the row: lower end on X5", "row X5 low", 2),
    ("the row: distance of two bounds on X3", "row width X3", 2),
    ("the row: seeds with two bounds on X3", "row bounded X3", 1),
    ("the row: seeds with two bounds on X4", "row bounded X4", 1),
    ("rows with the set X3, X4, X5 and a rule", "true set", 3),
    ("their rules: lower end on X5 within 0.3 of 0", "near 0", 3),
    ("their rules: no upper end on X5", "no upper end", 3),
    ("their rules: proven maximal", "proven", 3),
    ("their rules: mean coverage", "coverage", 4),
)
PAPER_ROW = {"X3": -3.64, "X4": -4.41, "X5": 0.68}


def run(plan: Plan, seed: int) -> Outcome:
    """Take the test row nearest to the paper's among those whose sufficient set is X3, X4, X5, and find its rule."""
    outcome = Outcome()
    train, test = switch_data(plan, seed, plan.pick(3000, 500, 200))
    explainer = switch_explainer(train, seed)
    rows = test.X[test.X["X5"] > 0]
    start = time.perf_counter()
    explanations = explainer.explain(rows, sets="minimal")
    outcome.seconds["suffice, with rule"] = (time.perf_counter() - start) / len(rows)
    _measure(outcome, "", explanations, rows)
    default = SufficientExplainer(random_state=seed).fit(train.X, train.y).explain(rows, sets="minimal")
    _measure(outcome, f"{BY_DEFAULT} ", default, rows)
    return outcome


def _measure(outcome: Outcome, key: str, explanations: Any, rows: Any) -> None:
    """Add the figures of the rules of the rows with the set X3, X4, X5, and of the row nearest to the paper's."""
    is_true = np.array([e.rule is not None and set(e.best_set.variables) == set(SET) for e in explanations])
    rules = [e.rule for e, t in zip(explanations, is_true, strict=True) if t]
    if not rules:
        outcome.notes.append("No row has the set X3, X4, X5.")
        outcome.figures |= {f"{key}{figure}": math.nan for _, figure, _ in FIGURES}
        return
    outcome.figures[f"{key}true set"] = float(is_true.mean())
    lows = np.array([_bounds(r, "X5")[0] for r in rules])
    outcome.figures[f"{key}proven"] = float(np.mean([r.optimal for r in rules]))
    outcome.figures[f"{key}near 0"] = float(np.mean(np.abs(lows) < 0.3))
    outcome.figures[f"{key}no upper end"] = float(np.mean([_bounds(r, "X5")[1] == math.inf for r in rules]))
    outcome.figures[f"{key}coverage"] = float(np.mean([r.coverage for r in rules]))
    distance = sum((rows[name][is_true] - value) ** 2 for name, value in PAPER_ROW.items()).to_numpy()
    nearest = int(np.argmin(distance))
    chosen = rules[nearest]
    row = rows[is_true].iloc[nearest]
    outcome.figures[f"{key}row X5 low"] = _bounds(chosen, "X5")[0]
    for name in ("X3", "X4"):
        low, high = _bounds(chosen, name)
        outcome.figures[f"{key}row bounded {name}"] = float(math.isfinite(high - low))
        outcome.figures[f"{key}row width {name}"] = high - low if math.isfinite(high - low) else math.nan
    outcome.figures[f"{key}row proven"] = float(chosen.optimal)
    values = ", ".join(f"{name} = {row[name]:.2f}" for name in SET)
    sentence = f"The row with {values}: {chosen}; {'' if chosen.optimal else 'not '}proven maximal."
    outcome.data.setdefault("sentences", []).append(sentence)


def _bounds(rule, column):
    return next(((c.low, c.high) for c in rule.conditions if c.column == column), (-math.inf, math.inf))


EXPERIMENT = Experiment(
    name="rule",
    title="The Sufficient Rule of a row of the switch model",
    setting=(
        "The forest of [the switch model](reproduce-switch.md). The row is the test row nearest to the paper's (X3 = "
        "-3.64, X4 = -4.41, X5 = 0.68) among those with the set X3, X4, X5. The paper's rule is X5 > 0 AND -4.45 <= "
        "X4 <= -4.06 AND -3.67 <= X3 <= -3.58."
    ),
    lines=[
        Line(method, label, f"{key}{figure}", digits=digits)
        for method, key in (("the paper's settings", ""), (BY_DEFAULT, f"{BY_DEFAULT} "))
        for label, figure, digits in FIGURES
    ],
    claims=[Claim("lower end of the rule on X5", "0", "row X5 low", f"{BY_DEFAULT} row X5 low", "==", 2)],
    run=run,
    reading=(
        "The rule must keep the forest's interval at the row, which is several units of Y wide in this corner with "
        "few rows. It is proven to be the largest such box and needs no narrow bounds on X3 and X4; the paper states "
        "no interval. The lower end on X5 is above 0 because some trees cut X5 a little above 0, and the rule must "
        "reach pi at every point."
    ),
    version=3,
)
