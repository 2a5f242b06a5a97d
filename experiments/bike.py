"""Bike Sharing: the rules of all training rows as one model (Global-SR, section 5, second experiment)."""

from __future__ import annotations

import time

import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import mean_absolute_error, r2_score
from sklearn.model_selection import train_test_split

from experiments.runs import Experiment, Line, Outcome, Plan
from suffice import GlobalRulesRegressor, SufficientExplainer
from suffice.datasets import load_bike


def run(plan: Plan, seed: int) -> Outcome:
    """Fit the forest and the rule model on three quarters, and measure both on the rest."""
    outcome = Outcome()
    X, y = load_bike(plan.data)
    _printed_rules(outcome, X, y)
    if plan.scale != "full":
        part = np.random.default_rng(seed).permutation(len(X))[: plan.pick(0, 2000, 400)]
        X, y = X.iloc[part], y.iloc[part]
        outcome.notes.append(f"{len(part)} rows of 10886.")
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=seed)
    forest = RandomForestRegressor(20, max_depth=14, n_jobs=-1, random_state=seed)
    start = time.perf_counter()
    model = GlobalRulesRegressor(SufficientExplainer(forest)).fit(X_train, y_train)
    outcome.seconds["suffice, global rules"] = (time.perf_counter() - start) / len(X_train)
    predicted = model.explainer_.predict(X_test)
    outcome.figures |= {"RF MAE": mean_absolute_error(y_test, predicted), "RF R2": r2_score(y_test, predicted)}
    said = model.predict(X_test)
    is_covered = ~np.isnan(said)
    truth = y_test.to_numpy()[is_covered]
    outcome.figures |= {
        "coverage": float(is_covered.mean()),
        "MAE": mean_absolute_error(truth, said[is_covered]),
        "R2": r2_score(truth, said[is_covered]),
        "RF MAE covered": mean_absolute_error(truth, predicted[is_covered]),
        "RF R2 covered": r2_score(truth, predicted[is_covered]),
        "rules": len(model.rules_),
        "size": float(np.mean([len(line.rule.conditions) for line in model.rules_])),
    }
    whole = np.where(is_covered, said, predicted)
    outcome.figures |= {"MAE whole": mean_absolute_error(y_test, whole), "R2 whole": r2_score(y_test, whole)}
    outcome.data["sentences"] = [str(line) for line in model.rules_[:3]]
    return outcome


def _printed_rules(outcome: Outcome, X, y) -> None:
    """Measure the two rules that the paper prints, on all rows."""
    hour_6 = X["hour"] == 6
    printed = {
        "R1 as printed": hour_6 & X["workingday"],
        "R1 on other days": hour_6 & ~X["workingday"],
        "R2": (X["hour"] == 9) & (X["year"] <= 2011) & (X["month"] >= 5),
    }
    for name, inside in printed.items():
        outcomes = y[inside]
        outcome.figures |= {
            f"{name} mean": float(outcomes.mean()),
            f"{name} MAE": float(np.abs(outcomes - outcomes.mean()).mean()),
            f"{name} support": float(inside.sum()),
        }


EXPERIMENT = Experiment(
    name="bike",
    title="Global-SR on Bike Sharing",
    setting=(
        "10 886 rows, 12 columns (time split into hour, weekday, month and year; the two parts of the count left out), "
        "75 % for training; forest of 20 trees of depth 14; `GlobalRulesRegressor` with its defaults. MAE and R2 of "
        "the rules are on the rows that they cover, as in the paper; the forest's on the same rows stand beside them."
    ),
    lines=[
        Line("forest", "MAE", "RF MAE", "25", digits=1),
        Line("forest", "R2", "RF R2", "0.94"),
        Line("suffice", "MAE on covered rows", "MAE", "29", ("<=", 29), digits=1),
        Line("suffice", "R2 on covered rows", "R2", "0.90", (">=", 0.90)),
        Line("suffice", "coverage", "coverage", "0.78", (">=", 0.78)),
        Line("suffice", "variables a rule", "size", "4.5", ("<=", 4.5), digits=2),
        Line("suffice", "rules", "rules", digits=0),
        Line("forest", "MAE on the rows that rules cover", "RF MAE covered", digits=1),
        Line("forest", "R2 on the rows that rules cover", "RF R2 covered"),
        Line("suffice with the forest elsewhere", "MAE on all rows", "MAE whole", digits=1),
        Line("suffice with the forest elsewhere", "R2 on all rows", "R2 whole"),
        Line("the paper's R1, as printed", "mean", "R1 as printed mean", "20", digits=1),
        Line("the paper's R1, as printed", "MAE", "R1 as printed MAE", "12", digits=1),
        Line("its R1 on days off work", "mean", "R1 on other days mean", "20", digits=1),
        Line("its R1 on days off work", "MAE", "R1 on other days MAE", "12", digits=1),
        Line("the paper's R2", "mean", "R2 mean", "192", digits=1),
        Line("the paper's R2", "MAE", "R2 MAE", "30", digits=1),
    ],
    run=run,
    reading=(
        "R1 is printed with the wrong sign: at six o'clock on working days the mean is 103, on the other days 20. The "
        "supports printed (134 and 133) fit neither all rows (145 and 152) nor three quarters of them."
    ),
)
