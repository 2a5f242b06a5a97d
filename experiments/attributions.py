"""LXI beside SHAP on the two moons: one row, and the mean over rows (appendix C.1, figures)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from experiments.moons import moons_model
from experiments.runs import BY_DEFAULT, Claim, Experiment, Line, Outcome, Plan
from suffice import SufficientExplainer

TRUE = ("X1", "X2", "Z1")


def run(plan: Plan, seed: int) -> Outcome:
    """Compute LXI and SHAP values of test rows, and pick one with Z1 > 0 whose X2 alone determines the moon."""
    outcome = Outcome()
    explainer, train, test = moons_model(plan, seed)
    rows = test.X[: plan.pick(1000, 100, 30)]
    start = time.perf_counter()
    explanations = explainer.explain(rows, sets="minimal", rules=None)
    outcome.seconds["suffice"] = (time.perf_counter() - start) / len(rows)
    lxi = explanations.to_frame("importance")
    # The top of the upper moon: no row of the other one is as high.
    high = ((rows["X2"] - 0.9).abs() + 10 * (rows["Z1"] <= 0) + 10 * (rows["X1"].abs() > 0.4)).to_numpy()
    row = int(np.argmin(high))
    default = SufficientExplainer(random_state=seed).fit(train.X, train.y).explain(rows, sets="minimal", rules=None)
    tables = {"LXI": lxi.to_numpy(), f"LXI, {BY_DEFAULT}": default.to_frame("importance").to_numpy()}
    if plan.peers:
        from experiments.peers import shap_values

        explainer.forest_.n_jobs = 1
        tables["SHAP"] = np.abs(shap_values(explainer.forest_, rows))
    names = list(rows.columns)
    is_noise = np.array([name not in TRUE for name in names])
    for key, values in tables.items():
        mean = values.mean(axis=0)
        for where, of in (("row", values[row]), ("mean", mean)):
            share = of / of.sum()
            for name in TRUE:
                outcome.figures[f"{key} {where} {name}"] = float(of[names.index(name)])
            outcome.figures[f"{key} {where} noise share"] = float(share[is_noise].sum())
            outcome.figures[f"{key} {where} noise columns"] = float(np.count_nonzero(of[is_noise] > 0))
            outcome.data[f"{key} {where}"] = {names[j]: float(of[j]) for j in np.argsort(-of, kind="stable")[:8]}
    return outcome


def draw(summary: Mapping[str, Any]) -> Any:
    """Draw the eight largest values of each."""
    from matplotlib.figure import Figure

    data = summary["data"]
    kinds = [kind for kind in ("LXI", "SHAP") if f"{kind} row" in data]
    figure = Figure(figsize=(9, 5.2), layout="constrained")
    axes = figure.subplots(2, len(kinds), squeeze=False)
    for j, kind in enumerate(kinds):
        for i, where in enumerate(("row", "mean")):
            ax, values = axes[i, j], data[f"{kind} {where}"]
            colors = ["#0072B2" if name in TRUE else "#999999" for name in values]
            bars = ax.barh(list(values), list(values.values()), color=colors)
            ax.bar_label(bars, [f"{v:.2g}" for v in values.values()], padding=3, fontsize="small")
            ax.invert_yaxis()
            ax.margins(x=0.15)
            ax.set_title(
                f"{'|SHAP|' if kind == 'SHAP' else kind}, {'one row' if where == 'row' else 'mean over rows'}",
                loc="left",
            )
            ax.spines[["top", "right"]].set_visible(False)
    figure.suptitle("Blue: the variables that the label depends on; the eight greatest of 102", fontsize="small")
    return figure


EXPERIMENT = Experiment(
    name="attributions",
    title="LXI and SHAP on the two moons",
    setting=(
        "The forest of [the two moons](reproduce-moons.md), 1000 test rows, minimal sets; absolute SHAP values. The "
        "row has Z1 > 0 and lies at the top of the upper moon, where X2 decides for any X1."
    ),
    version=2,
    lines=[
        Line(method, label, f"{method} {key}", digits=digits, needs=("peers",) if method == "SHAP" else ())
        for method in ("LXI", f"LXI, {BY_DEFAULT}", "SHAP")
        for label, key, digits in (
            ("row: X1", "row X1", 2),
            ("row: X2", "row X2", 2),
            ("row: Z1", "row Z1", 2),
            ("row: share of noise columns", "row noise share", 3),
            ("row: noise columns that are not 0", "row noise columns", 0),
            ("mean: share of noise columns", "mean noise share", 3),
        )
    ],
    claims=[
        Claim("LXI of X1, where X2 decides", "0", "LXI row X1", f"LXI, {BY_DEFAULT} row X1", "<=", 2),
        Claim("LXI of a row: share of noise", "0", "LXI row noise share", f"LXI, {BY_DEFAULT} row noise share", "<="),
    ],
    run=run,
    draw=draw,
)
