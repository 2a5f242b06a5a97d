"""The switch model: the Sufficient Rule of one row."""

from __future__ import annotations

import math
import time

import numpy as np

from experiments.runs import Experiment, Line, Outcome, Plan
from experiments.switch import switch_data, switch_explainer

SET = ["X3", "X4", "X5"]
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
    is_true = np.array([e.is_sufficient and set(e.best_set.variables) == set(SET) for e in explanations])
    outcome.figures["true set"] = float(is_true.mean())
    rules = [e.rule for e, t in zip(explanations, is_true, strict=True) if t]
    if not rules:
        outcome.notes.append("No row has the set X3, X4, X5.")
        return outcome
    lows = np.array([_bounds(r, "X5")[0] for r in rules])
    outcome.figures["proven"] = float(np.mean([r.optimal for r in rules]))
    outcome.figures["near 0"] = float(np.mean(np.abs(lows) < 0.3))
    outcome.figures["no upper end"] = float(np.mean([_bounds(r, "X5")[1] == math.inf for r in rules]))
    outcome.figures["coverage"] = float(np.mean([r.coverage for r in rules]))
    distance = sum((rows[name][is_true] - value) ** 2 for name, value in PAPER_ROW.items()).to_numpy()
    nearest = int(np.argmin(distance))
    chosen = rules[nearest]
    row = rows[is_true].iloc[nearest]
    outcome.figures["row X5 low"] = _bounds(chosen, "X5")[0]
    for name in ("X3", "X4"):
        low, high = _bounds(chosen, name)
        outcome.figures[f"row bounded {name}"] = float(math.isfinite(high - low))
        outcome.figures[f"row width {name}"] = high - low if math.isfinite(high - low) else math.nan
    outcome.figures["row proven"] = float(chosen.optimal)
    values = ", ".join(f"{name} = {row[name]:.2f}" for name in SET)
    outcome.data["sentences"] = [f"The row with {values}: {chosen}; {'' if chosen.optimal else 'not '}proven maximal."]
    return outcome


def _bounds(rule, column):
    return next(((c.low, c.high) for c in rule.conditions if c.column == column), (-math.inf, math.inf))


EXPERIMENT = Experiment(
    name="rule",
    title="The Sufficient Rule of a row of the switch model",
    setting=(
        "The same forest. The row is the test row nearest to the paper's (X3 = -3.64, X4 = -4.41, X5 = 0.68) among "
        "those whose minimal sufficient set is X3, X4, X5. The paper's rule is X5 > 0 AND -4.45 <= X4 <= -4.06 AND "
        "-3.67 <= X3 <= -3.58. Figures over all rows with that set follow."
    ),
    lines=[
        Line("the row", "lower end on X5", "row X5 low", "0", digits=2),
        Line("the row", "share of seeds with two bounds on X3", "row bounded X3", "1", digits=1),
        Line("the row", "distance of the bounds on X3", "row width X3", "0.09", digits=2),
        Line("the row", "share of seeds with two bounds on X4", "row bounded X4", "1", digits=1),
        Line("the row", "distance of the bounds on X4", "row width X4", "0.39", digits=2),
        Line("the row", "its rule is proven maximal", "row proven", "", ("==", 1.0), digits=2),
        Line("all rows", "share with the set X3, X4, X5", "true set"),
        Line("all rows", "lower end on X5 within 0.3 of 0", "near 0"),
        Line("all rows", "no upper end on X5", "no upper end"),
        Line("all rows", "proven maximal", "proven"),
        Line("all rows", "mean coverage", "coverage", digits=4),
    ],
    run=run,
    reading=(
        "The rule must keep the forest's interval at the row, from its 5 % to its 95 % quantile. This interval is "
        "several units of Y wide, because there are few rows in this corner. The rule is the largest box that keeps "
        "it, and needs no narrow bounds on X3 and X4. The paper does not state its interval; its rule may come from "
        "a narrower one. Both rules have a lower end on X5."
    ),
    version=2,
)
