"""Which trees vote on a set, and variables that matter only together with others."""

from __future__ import annotations

import numpy as np
import pytest
from oracle import Oracle, trees_of
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from suffice import SufficientExplainer, _core
from suffice._forest.candidates import LEAST_GAIN, measure_gains, n_by_paths
from suffice.checks.refits import regrow


@pytest.fixture(scope="module")
def parity():
    """The outcome is whether one of the first two columns is positive, and not both; ten others are noise."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(2000, 12))
    return X, ((X[:, 0] > 0) ^ (X[:, 1] > 0)).astype(int)


def test_informed_trees_vote_as_in_the_oracle():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 6))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    forest = RandomForestClassifier(12, max_depth=2, max_features=2, random_state=0).fit(X, y)
    explainer = SufficientExplainer(forest, counts="bootstrap", voters="informed", min_node_size=5, n_jobs=1).fit(X, y)
    oracle = Oracle(trees_of(forest), X.astype(np.float32), y, 5, voters="informed")
    others = Oracle(trees_of(forest), X.astype(np.float32), y, 5)
    differs = False
    for S in [(), (0,), (5,), (0, 5), (2, 3, 4)]:
        sdps = explainer.sdp(X[:8], [f"x{v}" for v in S], y[:8])
        expected = [float(oracle.sdp(x, S, k)) for x, k in zip(X[:8].astype(np.float32), y[:8], strict=True)]
        np.testing.assert_allclose(sdps, expected, rtol=0, atol=1e-14)
        differs |= expected != [float(others.sdp(x, S, k)) for x, k in zip(X[:8].astype(np.float32), y, strict=False)]
    assert differs


def test_one_variable_is_enough_where_its_rule_says_so():
    """About half of the trees split on it; the others know nothing about it."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    sizes = []
    for voters in ("all", "informed"):
        explainer = SufficientExplainer(voters=voters, random_state=0, n_jobs=1).fit(X, y)
        [row] = explainer.explain(X.iloc[[21]], progress=False)
        sizes.append(len(row.best_set.variables))
    assert sizes[0] > 1
    assert sizes[1] == 1


def test_variables_that_matter_only_together_are_found(parity, tmp_path):
    X, y = parity
    found = {}
    for candidates in ("row", "auto"):
        explainer = SufficientExplainer(candidates=candidates, random_state=0, n_jobs=1).fit(X, y)
        rows = explainer.explain(X[:40], progress=False, rules=None)
        found[candidates] = [row.is_sufficient and set(row.best_set.variables) == {"x0", "x1"} for row in rows]
    assert np.mean(found["auto"]) >= 0.9
    assert np.mean(found["row"]) < 0.9
    assert {"x0", "x1"} <= set(explainer.candidates_)
    assert len(explainer.candidates_) <= 6
    explainer.save(tmp_path / "parity.suffice")
    loaded = SufficientExplainer.load(tmp_path / "parity.suffice")
    assert [str(row) for row in loaded.explain(X[:3], progress=False)] == [
        str(row) for row in explainer.explain(X[:3], progress=False)
    ]
    # The forest is grown again without the noise, too.
    own, again = (fitted.forest.count_splits() > 0 for fitted in (explainer.fitted_, regrow(explainer.fitted_, 1)))
    assert not (again & ~own).any()
    assert not own.all()


def path_gains(trees, X, y, x):
    """The gains of the splits on the paths of x, by column, as docs/method.md defines them."""
    total = np.zeros(X.shape[1])
    outcomes = np.eye(trees[0].value.shape[1])[y]
    for tree in trees:
        node, rows = 0, tree.rows
        while tree.left[node] >= 0:
            column = tree.column[node]
            goes_left = X[rows, column] <= tree.threshold[node]
            left, right = rows[goes_left], rows[~goes_left]
            if len(left) and len(right):
                predicted = tree.value[tree.left[node]] - tree.value[tree.right[node]]
                counted = outcomes[left].mean(axis=0) - outcomes[right].mean(axis=0)
                total[column] += len(left) * len(right) / len(rows) ** 2 * predicted @ counted
            node, rows = (tree.left[node], left) if x[column] <= tree.threshold[node] else (tree.right[node], right)
    return total


def gains_of_rows(trees, X, outcomes, columns):
    """What the splits on some columns gain by each row, as docs/method.md defines it."""
    of_rows = np.zeros(len(X))

    def visit(tree, node, rows):
        if tree.left[node] < 0:
            return
        goes_left = X[rows, tree.column[node]] <= tree.threshold[node]
        if tree.column[node] in columns and goes_left.any() and not goes_left.all():
            predicted = tree.value[tree.left[node]] - tree.value[tree.right[node]]
            differences = (outcomes[rows] - outcomes[rows].mean(axis=0)) @ predicted
            share = np.where(goes_left, (~goes_left).mean(), -goes_left.mean())
            np.add.at(of_rows, rows, share * differences / len(tree.rows))
        visit(tree, tree.left[node], rows[goes_left])
        visit(tree, tree.right[node], rows[~goes_left])

    for tree in trees:
        visit(tree, 0, tree.rows)
    return of_rows


@pytest.mark.parametrize("counts", ["out-of-bag", "bootstrap"])
@pytest.mark.parametrize("is_class", [True, False], ids=["classes", "numbers"])
def test_gains_and_their_errors_are_those_of_the_page(parity, is_class, counts):
    X, _ = parity
    y = np.where(X[:, 4] > 0, X[:, 0], X[:, 2])
    y = np.digitize(y, [-0.5, 0.5]) if is_class else y
    forest = (RandomForestClassifier if is_class else RandomForestRegressor)(9, min_samples_leaf=20, random_state=0)
    groups = {"first": [0, 1], "second": [2, 5]}
    fitted = SufficientExplainer(forest.fit(X, y), counts=counts, groups=groups, n_jobs=1).fit(X, y).fitted_
    gains, errors = measure_gains(fitted.forest, fitted.variables, 2)
    outcomes = np.eye(3)[y] if is_class else y[:, None]
    trees = list(fitted.forest.trees)
    for v, columns in enumerate(fitted.variables.columns):
        of_rows = gains_of_rows(trees, fitted.forest.X, outcomes, columns)
        np.testing.assert_allclose(gains[v], of_rows.sum(), rtol=1e-9, atol=1e-15)
        np.testing.assert_allclose(errors[v], np.sqrt(2 * (of_rows**2).sum()), rtol=1e-9)


@pytest.mark.filterwarnings("ignore:The variables say nothing", "ignore:The forest follows")
def test_few_noise_columns_gain():
    """Over tables of noise, gains have mean 0 and the stated error, and few are above the least one."""
    ratios = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(300, 10)), rng.integers(2, size=300)
        forest = RandomForestClassifier(60, min_samples_leaf=10, max_features=0.7, random_state=seed).fit(X, y)
        fitted = SufficientExplainer(forest, n_jobs=1).fit(X, y).fitted_
        gains, errors = measure_gains(fitted.forest, fitted.variables, 1)
        ratios += list(gains / errors)
    assert abs(np.mean(ratios)) < 0.3
    assert 0.6 < np.std(ratios) < 1.2
    assert np.mean(np.array(ratios) > LEAST_GAIN) < 0.1


def test_candidates_by_paths_are_those_whose_splits_gain_most(parity):
    X, _ = parity
    y = np.where(X[:, 4] > 0, X[:, 0] > 0, X[:, 2] > 0).astype(int)
    forest = RandomForestClassifier(15, min_samples_leaf=20, random_state=0).fit(X, y)
    fitted = SufficientExplainer(forest, n_jobs=1, candidates="row").fit(X, y).fitted_
    projected, X = fitted.projected, fitted.forest.X
    options = {"pi": 0.0, "min_node_size": 20, "min_size": 2, "max_size": 2, "minimal_only": False, "max_sets": 2**20}
    arrays = _core.search(
        projection=projected.on_candidates(),
        rows=_core.Rows(X=X[:20], lo=y[:20].astype(np.uint32), hi=y[:20].astype(np.uint32)),
        options=_core.SearchOptions(**options, n_by_row=2, n_by_paths=2, least_sdp=np.zeros(0)),
        n_threads=1,
    )[0]
    pairs = [{projected.candidates[i] for i in range(12) if int(mask[0]) >> i & 1} for mask in arrays.masks]
    trees = list(fitted.forest.trees)
    gains = [path_gains(trees, X, y, x) for x in X[:20]]
    assert pairs == [set(np.argsort(-gain)[:2].tolist()) for gain in gains]
    assert len({tuple(sorted(pair)) for pair in pairs}) > 1


@pytest.mark.parametrize("is_class", [True, False], ids=["classes", "numbers"])
def test_variables_without_gain_are_no_candidates(parity, is_class):
    X, _ = parity
    y = (X[:, 3] > 0.2).astype(int) if is_class else X[:, 3] + X[:, 7]
    forest = (RandomForestClassifier if is_class else RandomForestRegressor)(30, min_samples_leaf=5, random_state=0)
    fitted = SufficientExplainer(forest, n_jobs=1).fit(X, y).fitted_
    gains, errors = measure_gains(fitted.forest, fitted.variables, 1)
    gaining = [v for v in np.argsort(-gains) if gains[v] > LEAST_GAIN * errors[v]]
    assert list(fitted.candidates) == gaining
    assert {3} <= set(gaining) < set(range(12))
    assert (fitted.forest.count_splits() > 0).all()


def test_tables_may_have_more_variables_than_a_search():
    """The gains of more than 128 variables were refused, so that the default could not be fitted."""
    X = np.random.default_rng(0).normal(size=(200, 150))
    explainer = SufficientExplainer(random_state=0, n_jobs=1).fit(X, (X[:, 140] > 0).astype(int))
    assert explainer.explain(X[:1], progress=False)[0].best_set.variables == ("x140",)
    gains, errors = measure_gains(explainer.fitted_.forest, explainer.fitted_.variables, 1)
    assert len(gains) == len(errors) == 150
    assert np.argmax(gains) == 140
    with pytest.raises(ValueError, match="one entry for each column"):
        _core.gains(forest=explainer.fitted_.forest.core, variable_of=np.zeros(2, np.int32), n_variables=1, n_threads=1)


def test_four_of_ten_candidates_are_chosen_by_paths():
    assert [n_by_paths("auto", n) for n in (1, 5, 10, 20)] == [0, 2, 4, 8]
    assert n_by_paths("row", 10) == n_by_paths(["x0", "x1"], 2) == 0


def test_the_way_of_voting_is_checked():
    with pytest.raises(ValueError, match="`voters` must be one of"):
        SufficientExplainer(voters="some").fit(np.eye(4), [0, 1, 0, 1])
