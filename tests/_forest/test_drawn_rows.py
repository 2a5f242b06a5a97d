"""Rows that are drawn near the training rows: made of real values, asked about, grown on, and never counted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from oracle import Oracle, trees_of
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier, RandomForestRegressor

from suffice import SufficientExplainer
from suffice._forest.drawn_rows import SHARE_MOVED, DrawnRows
from suffice._table.rows import recombine_rows
from suffice.checks.refits import regrow, shuffle_outcomes

N = 120


def make_table(seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "a": rng.normal(size=N),
            "b": np.where(rng.random(N) < 0.1, np.nan, rng.normal(size=N).round(2)),
            "city": rng.choice(["Oslo", "Rome", "Bonn"], N),
            "hot_x": np.arange(N) % 2,
            "hot_y": 1 - np.arange(N) % 2,
        }
    )


def decide(X):
    """A model of a pandas frame: yes or no."""
    return np.where((X["a"] > 0) & (X["city"] != "Rome"), "yes", "no")


def small_forest(**params):
    return RandomForestClassifier(**{"n_estimators": 8, "min_samples_leaf": 2, "random_state": 0, **params})


def fit(n_drawn=300, model=decide, X=None, **params):
    X = make_table() if X is None else X
    params = {"forest": small_forest(), "groups": {"hot": ["hot_x", "hot_y"]}, "random_state": 0, **params}
    return SufficientExplainer.for_model(model, X, drawn_rows=n_drawn, **params)


def test_drawn_rows_are_made_of_two_near_training_rows_variable_by_variable():
    tables_of_calls = []

    def model(X):
        tables_of_calls.append(X)
        return decide(X)

    X = make_table()
    explainer = fit(600, model)
    made, drawn = tables_of_calls[1], explainer.fitted_.drawn
    assert (made.dtypes == X.dtypes).all()
    assert explainer.describe()["n_drawn"] == len(made) == len(drawn.X) == 600
    own, other = (X.iloc[parents].reset_index(drop=True) for parents in drawn.parents.T)
    assert (drawn.parents[:, 0] != drawn.parents[:, 1]).all()
    assert np.bincount(drawn.parents[:, 0]).tolist() == [5] * N
    moved = []
    for columns in (["a"], ["b"], ["city"], ["hot_x", "hot_y"]):  # the columns of a group come from one row
        of_own, of_other = (
            np.all([made[c].eq(parent[c]) | (made[c].isna() & parent[c].isna()) for c in columns], axis=0)
            for parent in (own, other)
        )
        assert (of_own | of_other).all()
        moved.append(np.mean(~of_own[~(of_own & of_other)]))
    np.testing.assert_allclose(moved[:2], SHARE_MOVED, atol=0.08)  # near rows mostly agree in the others
    np.testing.assert_array_equal(drawn.X, explainer.encode(made))
    np.testing.assert_array_equal(explainer.classes_[drawn.outcomes.astype(int)], decide(made))


def test_parents_are_among_the_ten_nearest_rows():
    explainer = fit(300)
    X, encoding, drawn = explainer.fitted_.forest.X, explainer.fitted_.encoding, explainer.fitted_.drawn
    names = [column.name for column in encoding.columns]
    for own, other in drawn.parents[:40].tolist():
        distance = np.zeros(N)
        for name, weight in (("a", 1), ("b", 1), ("city", 1), ("hot_x", 0.5), ("hot_y", 0.5)):
            values = X[:, names.index(name)]
            if name == "city":
                gap = values != values[own]
            else:
                known = np.unique(values[~np.isnan(values)])
                n_below = np.array([np.sum(values < v) for v in values], dtype=float)
                n_equal = np.array([np.sum(values == v) for v in values])
                rank = n_below + (n_equal + 1) / 2
                low, high = (rank[values == v][0] for v in (known[0], known[-1]))
                scaled = np.where(np.isnan(values), 2, (rank - low) / (high - low))
                gap = np.minimum(np.abs(scaled - scaled[own]), 1)
            distance += weight * gap
        distance[own] = np.inf
        assert distance[other] <= np.sort(distance)[9] + 1e-9


@pytest.mark.parametrize("counts", ["out-of-bag", "bootstrap", "all"])
@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_only_training_rows_are_counted_as_the_oracle_counts_them(counts, kind):
    X, params = make_table(), {"counts": counts, "groups": None, "min_node_size": 3}
    if kind == "classes":
        explainer = fit(300, X=X, **params)
    else:
        forest = RandomForestRegressor(6, min_samples_leaf=2, random_state=1)
        explainer = fit(300, lambda X: 3 * X["a"] + (X["city"] == "Rome"), X, forest=forest, **params)
    state = explainer.fitted_
    y = state.forest.y_rank if kind == "classes" else state.forest.y_values[state.forest.y_rank]
    trees = [replace(tree, n_levels=state.forest.n_levels) for tree in trees_of(explainer.forest_, counts, N)]
    oracle = Oracle(trees, state.forest.X, y, 3)
    for row in range(4):
        x = state.forest.X[row]
        for S in [(), (0,), (0, 2), (1, 2, 3)]:
            names = [state.variables.names[v] for v in S]
            if kind == "classes":
                truth = oracle.sdp(x, S, y[row])
                assert explainer.sdp(X[row : row + 1], names)[0] == pytest.approx(float(truth), abs=1e-12)
            else:
                assert explainer.predict(X[row : row + 1], names)[0] == pytest.approx(oracle.mean(x, S), abs=1e-9)


def test_a_tree_sees_only_drawn_rows_whose_parents_it_drew():
    """Otherwise a training row out of bag would have had a part in the splits of the tree that counts it."""
    explainer = fit(300)
    forest, drawn = explainer.forest_, explainer.fitted_.drawn
    for tree, rows in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        in_bag = set(rows.tolist())
        n_seen = sum(own in in_bag and other in in_bag for own, other in drawn.parents.tolist())
        assert tree.tree_.weighted_n_node_samples[0] == len(rows) + n_seen
        both = np.concatenate([explainer.fitted_.forest.X[rows]] + [drawn.X[[i]] for i, (own, other)
            in enumerate(drawn.parents.tolist()) if own in in_bag and other in in_bag])  # fmt: skip
        sizes = np.bincount(tree.tree_.apply(both), minlength=tree.tree_.node_count)
        is_leaf = tree.tree_.children_left < 0
        np.testing.assert_array_equal(sizes[is_leaf], tree.tree_.weighted_n_node_samples[is_leaf])


def test_the_forest_follows_a_model_of_a_small_table_better():
    rng = np.random.default_rng(3)
    X, fresh = rng.normal(size=(150, 6)), rng.normal(size=(2000, 6))
    model = lambda X: (X[:, :4].sum(axis=1) > 0.5).astype(int)  # noqa: E731
    alone, helped = (
        np.mean(fit(n, model, X, forest=None, groups=None).predict(fresh) == model(fresh)) for n in (0, 5000)
    )
    assert helped > alone + 0.03


def test_the_same_seed_draws_the_same_rows_with_any_number_of_threads():
    first, second = fit(200, n_jobs=1), fit(200, n_jobs=2)
    np.testing.assert_array_equal(first.fitted_.drawn.X, second.fitted_.drawn.X)
    X = make_table(1)[:20]
    assert list(first.explain(X)) == list(second.explain(X))
    assert not np.array_equal(first.fitted_.drawn.X, fit(200, random_state=1).fitted_.drawn.X)


def test_a_holdout_has_no_part_in_drawn_rows():
    X = make_table()
    explainer = fit(200, X=X, holdout=0.3)
    state = explainer.fitted_
    training = {tuple(row) for row in np.nan_to_num(state.forest.X).tolist()}
    assert len(training) == len(state.forest.X) == N - len(state.set_aside.X)
    own = np.nan_to_num(state.drawn.X)[:, :1]
    assert np.isin(own, np.nan_to_num(state.forest.X)[:, 0]).all()
    assert state.drawn.parents.max() < len(state.forest.X)


@pytest.mark.parametrize("kind", ["pandas", "polars", "array"])
def test_every_kind_of_table_can_be_asked_about(kind):
    X = make_table()[["a", "hot_x"]]
    table = {"pandas": X.set_index(np.arange(N) + 7), "polars": pl.from_pandas(X), "array": X.to_numpy()}[kind]
    first = (lambda X: X[:, 0]) if kind == "array" else (lambda X: np.asarray(X["a"]))
    explainer = fit(50, lambda X: first(X) > 0, table, groups=None)
    np.testing.assert_array_equal(explainer.fitted_.drawn.outcomes, explainer.fitted_.drawn.X[:, 0] > 0)


def test_recombined_rows_keep_their_types_and_take_columns_with_any_names():
    X = pd.DataFrame({0: [1, 2, 3], "c": pd.Categorical(["u", "v", "u"], ["v", "u"], ordered=True)}, index=[5, 5, 6])
    made = recombine_rows(X, np.array([[2, 1], [0, 0]]))
    pd.testing.assert_frame_equal(made, pd.DataFrame({0: [3, 1], "c": pd.Categorical(["v", "u"], ["v", "u"], True)}))


def test_a_class_that_no_training_row_has_is_left_out():
    X = make_table()
    tables_of_calls = []

    def model(X):
        tables_of_calls.append(X)
        answers = decide(X)
        if len(tables_of_calls) > 1:
            answers[::3] = "new"
        return answers

    explainer = fit(90, model, X)
    assert explainer.classes_.tolist() == ["no", "yes"]
    assert len(explainer.fitted_.drawn.X) == 60
    np.testing.assert_array_equal(
        explainer.fitted_.drawn.X, np.delete(explainer.encode(tables_of_calls[1]), np.s_[::3], axis=0)
    )


def test_a_saved_explainer_has_its_drawn_rows_and_grows_again_as_before(tmp_path):
    explainer = fit(200)
    explainer.save(tmp_path / "a.suffice")
    loaded = SufficientExplainer.load(tmp_path / "a.suffice")
    X = make_table(1)[:20]
    assert list(loaded.explain(X)) == list(explainer.explain(X, explainer.predict(X)))
    assert loaded.describe()["n_drawn"] == 200
    for name in ("X", "outcomes", "parents"):
        np.testing.assert_array_equal(getattr(loaded.fitted_.drawn, name), getattr(explainer.fitted_.drawn, name))
    first, second = (regrow(e.fitted_, 5).forest.predict_leaves(explainer.encode(X), 1) for e in (explainer, loaded))
    np.testing.assert_array_equal(first, second)


def test_a_forest_that_grows_again_on_some_rows_takes_the_drawn_rows_made_of_them():
    explainer = fit(400)
    rows = np.sort(np.random.default_rng(0).integers(N, size=N))
    grown = regrow(explainer.fitted_, 5, rows)
    kept = [i for i, parents in enumerate(explainer.fitted_.drawn.parents) if np.isin(parents, rows).all()]
    np.testing.assert_array_equal(grown.drawn.X, explainer.fitted_.drawn.X[kept])
    np.testing.assert_array_equal(rows[grown.drawn.parents], explainer.fitted_.drawn.parents[kept])
    np.testing.assert_array_equal(np.searchsorted(rows, rows[grown.drawn.parents]), grown.drawn.parents)


def test_shuffled_outcomes_are_shuffled_among_the_drawn_rows_as_well():
    state = fit(300).fitted_
    shuffled = shuffle_outcomes(state, np.random.default_rng(0)).drawn
    np.testing.assert_array_equal(np.sort(shuffled.outcomes), np.sort(state.drawn.outcomes))
    assert np.mean(shuffled.outcomes == state.drawn.outcomes) < 0.8
    assert isinstance(shuffled, DrawnRows)


def test_what_does_not_go_with_drawn_rows_is_refused():
    X = make_table()
    fitted = RandomForestClassifier(3).fit(X[["a"]].to_numpy(), decide(X))
    cases = [
        ({"n_drawn": -1}, ValueError, r"^`drawn_rows` must be a whole number >= 0, got -1\.$"),
        ({"n_drawn": 2.5}, TypeError, r"^`drawn_rows` must be a whole number >= 0, got 2\.5\.$"),
        ({"forest": fitted}, ValueError, r"^`forest` is fitted already, so that it cannot be grown on `drawn_rows`"),
    ]
    for params, error, message in cases:
        with pytest.raises(error, match=message):
            fit(**params)


def test_a_forest_that_draws_all_rows_grows_on_all_drawn_rows():
    explainer = fit(50, forest=ExtraTreesClassifier(3, random_state=0), counts="bootstrap")
    assert [tree.tree_.weighted_n_node_samples[0] for tree in explainer.forest_.estimators_] == [N + 50] * 3
