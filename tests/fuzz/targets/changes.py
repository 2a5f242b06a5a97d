"""Changes on small forests: each has the level that it states, by the votes of the forest and a curve fitted here."""

from __future__ import annotations

import warnings

import numpy as np
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from suffice import SufficientExplainer
from suffice._forest.out_of_bag import calibration_of
from suffice._forest.outcomes import read_targets

CASES = st.integers(0, 2**62)
N_ROWS_ASKED = 8


def check(case):
    """The probability that a change states is its own, and no point of its box is below the level."""
    rng = np.random.default_rng(case)
    n, is_class = int(rng.integers(20, 101)), bool(rng.random() < 0.6)
    X = rng.normal(size=(n, int(rng.integers(1, 5)))).round(int(rng.integers(0, 3)))
    signal = X[:, 0] + rng.choice([0.0, 0.3, 1.0, 10.0]) * rng.normal(size=n)
    y = np.digitize(signal, [-0.5, 0.5][: rng.integers(1, 3)]) if is_class else signal
    kind = RandomForestClassifier if is_class else RandomForestRegressor
    leaf = int(rng.choice([1, 1, 5]))
    forest = kind(int(rng.integers(1, 11)), min_samples_leaf=leaf, random_state=int(rng.integers(1000)))
    wanted = y[int(rng.integers(n))].item() if is_class else tuple(np.sort(rng.choice(y, 2, replace=False)).tolist())
    options = {"pi": float(rng.choice([0.5, 0.6, 0.8, 0.9, 0.99])), "check": str(rng.choice(["everywhere", "mean"]))}
    options |= {"margin": float(rng.choice([0.0, 0.1])), "sets": str(rng.choice(["minimal", "all"]))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        explainer = SufficientExplainer(forest, n_jobs=1, task="classification" if is_class else "regression")
        explainer.fit(X, y)
        answers = explainer.what_if(X[:N_ROWS_ASKED], wanted, **options)
    n_compared = 1
    for row, answer in enumerate(answers):
        for change in answer.changes:
            point = X[row].copy()
            point[[int(name.removeprefix("x")) for name in change.values]] = [*change.values.values()]
            own = X[[row] * len(change.rows)]
            columns = [int(name.removeprefix("x")) for name in change.variables]
            own[:, columns] = X[list(change.rows)][:, columns]
            at_point, *inside = cautious_probabilities(explainer, wanted, np.concatenate([point[None], own]))
            assert abs(change.probability - at_point) < 1e-6, (change, at_point)
            if options["check"] == "everywhere":
                assert min([at_point, *inside]) >= options["pi"] - 1e-6, (change, at_point, inside)
            else:
                assert change.mean >= options["pi"] - 1e-9, change
                assert "on average over this range)" in answer.lead, answer.lead
            n_compared += 1
    return n_compared


def cautious_probabilities(explainer, wanted, points):
    """The probability of the wanted outcomes at points: the curve of the votes less its standard error."""
    state = explainer.fitted_
    if state.classes is None:
        low, high = wanted
        ends = explainer.cdf(points, None, [np.nextafter(low, -np.inf), high])
        [target] = read_targets(wanted, np.array([high + 1.0]), None)
        return calibration_of(state, target).probability(np.diff(ends, axis=1)[:, 0])
    [k] = np.flatnonzero(state.classes == wanted)
    votes, known = explainer.forest_.predict_proba(points)[:, k], ~np.isnan(state.out_of_bag[:, k])
    is_wanted, x = state.training[1][known] == wanted, logits(state.out_of_bag[known, k].astype(float))
    if is_wanted.all() or not is_wanted.any():
        return votes

    def loss(ab):
        return (
            np.logaddexp(0, np.where(is_wanted, -1, 1) * (ab[0] * x + ab[1])).sum()
            + ((ab[0] - 1) ** 2 + ab[1] ** 2) / 2
        )

    a, b = minimize(loss, [1.0, 0.0], method="BFGS", options={"gtol": 1e-9}).x
    share = expit(a * x + b)
    weight = share * (1 - share)
    information = np.array([[weight @ x**2 + 1, weight @ x], [weight @ x, weight.sum() + 1]])
    terms = np.column_stack([logits(votes), np.ones(len(votes))])
    error = np.sqrt(np.einsum("ij,jk,ik->i", terms, np.linalg.inv(information), terms))
    return expit(terms @ [a, b] - error)


def logits(votes):
    inside = np.clip(votes, 1e-3, 1 - 1e-3)
    return np.log(inside) - np.log1p(-inside)
