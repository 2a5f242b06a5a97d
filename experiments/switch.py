"""The switch model: which variables each method finds (the paper's section 5, first experiment)."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestRegressor

from experiments.data.synthetic import SwitchData, make_switch
from experiments.metrics import detection, switch_mean
from experiments.runs import BY_DEFAULT, Claim, Experiment, Line, Outcome, Plan
from suffice import SufficientExplainer
from suffice._forest.fitting import consistent_leaf_size

# The share of the columns that a split tries, and the least leaf; None for t_n rows, 11 here.
FORESTS: dict[str, tuple[float, int | None]] = {
    "suffice": (0.7, None),
    "suffice, max_features=1": (1.0, None),
    **{f"suffice, leaves of {leaf}": (1.0, leaf) for leaf in (1, 5, 20, 40)},  # with the first seed
}
NEAR = 0.1  # of X5, to the switch
LABELS = {
    "TPR": "TPR",
    "FDR": "FDR",
    "P-MSE": "exact P-MSE",
    "P-MSE forest": "P-MSE",
    "P-MSE true": "P-MSE of the true sets",
    "P-MSE far": f"P-MSE where abs(X5) >= {NEAR}",
    "none": "rows without a set",
}
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
    train: SwitchData, seed: int, max_features: float = 0.7, leaf: int | None = None
) -> SufficientExplainer:
    """Fit the paper's forest, 20 trees with leaves of at least t_n rows."""
    forest = RandomForestRegressor(
        20,
        min_samples_leaf=leaf or least_leaf(len(train.X)),
        max_features=max_features,
        n_jobs=-1,
        random_state=seed,
    )
    return SufficientExplainer.paper(forest, random_state=seed).fit(train.X, train.y)


def run(plan: Plan, seed: int) -> Outcome:
    """Find the variables of test rows by every method."""
    outcome = Outcome()
    train, test = switch_data(plan, seed, plan.pick(1000, 100, 30))
    for key, (max_features, leaf) in FORESTS.items():
        if seed and leaf is not None:
            continue
        explainer = switch_explainer(train, seed, max_features, leaf)
        outcome.seconds[key] = _measure_ours(outcome, key, test, explainer)
        if key == "suffice":
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
    of_truth = explainer.predict(test.X, [sorted(S) for S in test.true_sets])
    outcome.figures[f"{key} P-MSE true"] = float(np.mean((of_truth - explainer.predict(test.X)) ** 2))
    outcome.figures[f"{key} none"] = float(np.mean([not e.is_sufficient for e in explanations]))
    outcome.figures[f"{key} R2"] = explainer.score(test.X, test.y)
    return seconds


def _measure(outcome: Outcome, key: str, sets: Any, test: SwitchData, explainer: SufficientExplainer) -> None:
    """Add TPR, FDR and P-MSE: exact, and as the forest estimates it."""
    tpr, fdr = detection(sets, test.true_sets)
    names = list(test.X.columns)
    X, mean = test.X.to_numpy(), test.mean.to_numpy()
    exact = [switch_mean(x, {names.index(v) for v in S}) for x, S in zip(X, sets, strict=True)]
    squares = (explainer.predict(test.X, [sorted(S) for S in sets]) - explainer.predict(test.X)) ** 2
    far = (test.X["X5"].abs() >= NEAR).to_numpy()
    outcome.figures |= {
        f"{key} TPR": tpr,
        f"{key} FDR": fdr,
        f"{key} size": float(np.mean([len(S) for S in sets])),
        f"{key} P-MSE": float(np.mean((np.array(exact) - mean) ** 2)),
        f"{key} P-MSE forest": float(np.mean(squares)),
        f"{key} P-MSE far": float(np.mean(squares[far])),
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


def _lines(method: str, paper: tuple[str, str, str] = ("", "", "")) -> list[Line]:
    ours = method.startswith("suffice")
    needs = () if ours else ("peers",)
    labels = {"TPR": paper[0], "FDR": paper[1], "P-MSE": "", "P-MSE forest": paper[2]}
    lines = [Line(method, LABELS[name], f"{method} {name}", p, needs=needs) for name, p in labels.items()]
    if ours:
        shown = ("P-MSE far", "none") if "leaves" in method else ("P-MSE true", "P-MSE far", "none")
        lines += [Line(method, LABELS[name], f"{method} {name}") for name in shown]
    return lines


EXPERIMENT = Experiment(
    name="switch",
    title="Variables found on the switch model",
    setting=(
        "10 000 training rows, 100 columns, 20 trees, leaves of at least t_n = 11 rows, pi = 0.9, alpha = 0.1; 1000 "
        "test rows. P-MSE is the mean squared distance of the forest from the projected forest of the set found for "
        "each row; the *exact* P-MSE uses the model's own means. The paper does not state max_features: `suffice` has "
        "the library's 0.7, the other variants try all columns, as scikit-learn does by default; leaves of other "
        "sizes are tried with the first seed. SHAP and LIME are given K = 3. INVASE is trained on 6000 batches of 250 "
        "rows at a rate of 0.001; the authors' 10 000 batches of 1000 rows at 0.0001 would take hours."
    ),
    lines=[
        *(line for key in (*FORESTS, DEFAULT) for line in _lines(key)),
        *_lines("INVASE", ("0.99", "0.87", "0.006")),
        *_lines("SHAP", ("0.73", "0.27", "0.79")),
        *_lines("LIME", ("0.50", "0.49", "5.01")),
    ],
    claims=[
        Claim("TPR", "0.99", "suffice TPR", f"{DEFAULT} TPR", ">="),
        Claim("FDR", "0.02", "suffice FDR", f"{DEFAULT} FDR", "<="),
        Claim("P-MSE", "0.02", "suffice P-MSE forest", f"{DEFAULT} P-MSE forest", "<="),
    ],
    run=run,
    reading=(
        "Why the P-MSE is above the paper's 0.02: it is the distance of two estimates, and with the *true* sets in "
        "place of those that are found it is larger still. Only sets with noise columns come lower: INVASE's have 14 "
        "columns. Rows near X5 = 0 are not the cause; half of it comes from one row in twenty, at large outcomes. "
        "Leaves of 5 to 11 rows are best: of one row, cells are too small for SDPs, and of 40 the forest is too "
        "coarse. Trees that try all columns and the default's 100 trees halve it. The *exact* P-MSE comes from the "
        "few rows whose set misses a variable. The paper's forest has an R2 of 0.99, ours 0.97 to 0.98 with leaves of "
        "t_n rows.\n\n"
        "By default the library counts rows that a tree did not draw and keeps a number within a narrower interval "
        "with a probability of 0.8: some more rows have no set.\n\n"
        "Chosen after looking at test rows of seed 0: INVASE's batch size and number of epochs."
    ),
    version=3,
)
