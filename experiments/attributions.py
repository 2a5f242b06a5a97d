"""LXI beside SHAP on the two moons: one row, and the mean over rows (appendix C.1, figures)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from experiments.moons import moons_model
from experiments.runs import Experiment, Line, Outcome, Plan

TRUE = ("X1", "X2", "Z1")


def run(plan: Plan, seed: int) -> Outcome:
    """Compute LXI and SHAP values of test rows, and pick one with Z1 > 0 whose X2 alone determines the moon."""
    outcome = Outcome()
    explainer, _, test = moons_model(plan, seed)
    rows = test.X[: plan.pick(1000, 100, 30)]
    start = time.perf_counter()
    explanations = explainer.explain(rows, sets="minimal", rules=None)
    outcome.seconds["suffice"] = (time.perf_counter() - start) / len(rows)
    lxi = explanations.to_frame("importance")
    # The top of the upper moon: no row of the other one is as high.
    high = ((rows["X2"] - 0.9).abs() + 10 * (rows["Z1"] <= 0) + 10 * (rows["X1"].abs() > 0.4)).to_numpy()
    row = int(np.argmin(high))
    tables = {"LXI": lxi.to_numpy()}
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
        "The forest of the experiment above, 1000 test rows, minimal sets; absolute SHAP values of the second class. "
        "The row has Z1 > 0 and lies at the top of the upper moon, where X2 determines the moon for any value of X1."
    ),
    lines=[
        Line("LXI", "row: X2", "LXI row X2", "above 0", digits=2),
        Line("LXI", "row: Z1", "LXI row Z1", "above 0", digits=2),
        Line("LXI", "row: X1", "LXI row X1", "0", ("==", 0.0), digits=2),
        Line("LXI", "row: share of noise columns", "LXI row noise share", "0", ("==", 0.0), digits=3),
        Line("LXI", "mean: share of noise columns", "LXI mean noise share", "about 0"),
        Line("SHAP", "row: X1", "SHAP row X1", "above 0", needs=("peers",)),
        Line("SHAP", "row: share of noise columns", "SHAP row noise share", "above 0", needs=("peers",)),
        Line("SHAP", "row: noise columns that are not 0", "SHAP row noise columns", digits=0, needs=("peers",)),
        Line("SHAP", "mean: share of noise columns", "SHAP mean noise share", "above 0", needs=("peers",)),
    ],
    run=run,
    draw=draw,
)
