"""Which forest is fitted, to which task, and how well it follows the outcomes."""

from __future__ import annotations

import math
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, make_classification, make_regression
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

from suffice import SufficientExplainer
from suffice._forest.fitting import MOST_GROWN, consistent_leaf_size, decide_task, default_forest, least_counted
from suffice._table.input import read_outcomes
from suffice._text import format_share
from suffice.errors import FidelityWarning

X, LABELS = make_classification(n_samples=200, n_features=5, random_state=0)
_, NUMBERS = make_regression(n_samples=200, n_features=5, random_state=0)
NUMBERS = NUMBERS + X[:, 0] * 300
KINDS = [RandomForestClassifier, RandomForestRegressor, ExtraTreesClassifier, ExtraTreesRegressor]


def outcomes_for(kind):
    return LABELS if "Classifier" in kind.__name__ else NUMBERS


@pytest.mark.parametrize(
    ("y", "task"),
    [
        (["yes", "no"] * 50, "classification"),
        (np.array(["yes", "no"] * 50, dtype=object), "classification"),
        (pd.Series(["yes", "no"] * 50, dtype="category"), "classification"),
        ([True, False] * 50, "classification"),
        ([0, 1] * 50, "classification"),
        ([0.0, 1.0] * 50, "classification"),
        ([-1, 1] * 50, "classification"),
        ([1, 1000], "classification"),
        (np.arange(30) % 3, "regression"),
        (np.arange(31) % 3, "classification"),
        (np.arange(100) % 9, "classification"),
        (np.arange(100) % 10, "regression"),
        (np.arange(201) % 20, "classification"),
        (np.arange(1000) % 20, "classification"),
        (np.arange(1000) % 21, "regression"),
        (np.arange(100), "regression"),
        (np.arange(100).astype(np.uint8), "regression"),
        (np.random.default_rng(0).poisson(200, size=100), "regression"),
        (np.linspace(0, 1, 100), "regression"),
        ([0.5, 1.5] * 50, "regression"),
        (np.float32([0.25, 1] * 50), "regression"),
        (["1", "2"] * 50, "classification"),
    ],
)
def test_the_outcomes_decide_the_task(y, task):
    decided, reason = decide_task("auto", None, read_outcomes(y, len(y)))
    assert decided == task
    assert reason.startswith(f"{task}: the outcomes are ")


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_user_decides_the_task_over_the_outcomes(task):
    assert decide_task(task, None, LABELS)[0] == task
    assert decide_task(task, None, NUMBERS)[0] == task


@pytest.mark.parametrize("kind", KINDS)
def test_the_forest_decides_the_task_over_the_outcomes(kind):
    task = "classification" if "Classifier" in kind.__name__ else "regression"
    assert decide_task("auto", kind(), LABELS)[0] == task
    assert decide_task(task, kind(), LABELS)[0] == task
    other = {"classification": "regression", "regression": "classification"}[task]
    with pytest.raises(ValueError, match=f"`task` is '{other}', but `forest` is for {task}."):
        decide_task(other, kind(), LABELS)


def test_an_unknown_task_is_refused():
    with pytest.raises(ValueError, match=r"`task` must be 'auto', 'classification' or 'regression', got 'ranking'."):
        decide_task("ranking", None, LABELS)


@pytest.mark.parametrize("forest", ["forest", RandomForestClassifier, GradientBoostingRegressor(), 3])
def test_another_kind_of_forest_is_refused(forest):
    message = (
        "`forest` must be None or a scikit-learn RandomForest or ExtraTrees classifier or regressor, got "
        f"{type(forest).__name__}. To explain another model, use SufficientExplainer.for_model(model, X)."
    )
    with pytest.raises(TypeError, match=re.escape(message)):
        SufficientExplainer(forest).fit(X, LABELS)


# --- the forest that is fitted ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("task", "kind"), [("classification", RandomForestClassifier), ("regression", RandomForestRegressor)]
)
def test_the_default_forest_is_a_random_forest(task, kind):
    forest = default_forest(task, n_rows=200, counts="out-of-bag", n_jobs=2, random_state=7)
    assert type(forest) is kind
    assert (forest.n_estimators, forest.n_jobs, forest.random_state) == (100, 2, 7)


@pytest.mark.parametrize(("n_rows", "leaf"), [(2, 5), (100, 5), (2500, 5), (10_000, 11)])
def test_the_leaves_of_the_default_forest_grow_with_the_table(n_rows, leaf):
    for counts in ("bootstrap", "out-of-bag"):
        assert default_forest("regression", n_rows, counts, 1, 0).min_samples_leaf == leaf
    assert default_forest("classification", n_rows, "bootstrap", 1, 0).min_samples_leaf == leaf
    of_classes = {2: 5, 100: 5, 2500: 10}.get(n_rows, leaf)
    assert default_forest("classification", n_rows, "out-of-bag", 1, 0).min_samples_leaf == of_classes


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_trees_of_a_large_table_draw_some_of_its_rows_and_have_as_many_leaves(task):
    small, large, huge = (
        default_forest(task, n_rows, "out-of-bag", 1, 0) for n_rows in (MOST_GROWN, 4 * MOST_GROWN, 10**9)
    )
    assert (small.max_samples, small.min_samples_leaf) == (None, consistent_leaf_size(MOST_GROWN))
    assert (large.max_samples, large.min_samples_leaf) == (0.25, consistent_leaf_size(4 * MOST_GROWN) // 4)
    assert huge.min_samples_leaf == {"classification": 10, "regression": 5}[task]


@pytest.mark.parametrize(("counts", "least"), [("out-of-bag", 14), ("bootstrap", 10), ("all", 10)])
def test_cells_of_a_large_table_are_those_of_a_forest_that_draws_all_rows(counts, least, monkeypatch):
    """Leaves of 20 of 200 rows are 10 of 100 counted ones. Of 200 / e rows out of bag, 50 count: 20 * 50 * e / 200."""
    monkeypatch.setattr("suffice._forest.fitting.MOST_GROWN", 100)
    monkeypatch.setattr("suffice._forest.fitting.consistent_leaf_size", lambda n_rows: n_rows // 10)
    monkeypatch.setattr("suffice._forest.trees.MOST_COUNTED", 100 if counts != "out-of-bag" else 50)
    explainer = SufficientExplainer(counts=counts, random_state=0).fit(X, NUMBERS)
    assert len(X) == 200
    assert (explainer.forest_.max_samples, explainer.forest_.min_samples_leaf) == (0.5, 10)
    assert {len(rows) for rows in explainer.forest_.estimators_samples_} == {100}
    assert explainer.min_node_size_ == least


def test_cells_are_as_large_as_leaves_if_all_drawn_rows_are_counted(monkeypatch):
    """They were smaller in proportion to the rows of the table, though trees that draw few rows count all of them."""
    monkeypatch.setattr("suffice._forest.trees.MOST_COUNTED", 100)
    for max_samples, least in ((0.4, 6), (None, 3)):
        forest = RandomForestRegressor(5, min_samples_leaf=6, max_samples=max_samples, random_state=0)
        assert SufficientExplainer(forest, counts="bootstrap").fit(X, NUMBERS).min_node_size_ == least


@pytest.mark.parametrize(("n_rows", "least"), [(2, 5), (719, 5), (720, 6), (1280, 8), (2000, 10), (10**6, 10)])
def test_cells_of_small_tables_are_smaller(n_rows, least):
    """With 10 rows in each cell, no row of the iris table had a sufficient set."""
    assert least_counted(n_rows) == least


def test_rows_of_a_small_table_have_sufficient_sets():
    table, species = load_iris(return_X_y=True, as_frame=True)
    explanations = SufficientExplainer(random_state=0, n_jobs=1).fit(table, species).explain(table, sets="minimal")
    assert explanations.has_set.mean() > 0.8


@pytest.mark.parametrize(
    ("counts", "features"), [("auto", 1.0), ("out-of-bag", 1.0), ("bootstrap", "sqrt"), ("all", "sqrt")]
)
def test_the_default_forest_is_fitted_if_none_is_given(counts, features):
    explainer = SufficientExplainer(counts=counts, candidates="row", random_state=0).fit(X, LABELS)
    same = RandomForestClassifier(min_samples_leaf=5, max_features=features, random_state=0).fit(
        X.astype(np.float32), LABELS
    )
    assert explainer.forest is None
    assert explainer.min_node_size_ == 5
    assert explainer.fitted_.counts == ("out-of-bag" if counts == "auto" else counts)
    np.testing.assert_array_equal(explainer.predict_proba(X), same.predict_proba(X))


@pytest.mark.parametrize("kind", KINDS)
def test_an_unfitted_forest_is_cloned_and_left_unfitted(kind):
    forest = kind(n_estimators=7, max_depth=3, random_state=1)
    explainer = SufficientExplainer(forest, counts="bootstrap").fit(X, outcomes_for(kind))
    assert not hasattr(forest, "estimators_")
    assert explainer.forest_ is not forest
    assert explainer.forest_.get_params() == forest.get_params()
    assert len(explainer.forest_.estimators_) == 7


@pytest.mark.parametrize("kind", KINDS)
def test_a_fitted_forest_is_used_as_it_is(kind):
    forest = kind(n_estimators=7, random_state=1).fit(X, outcomes_for(kind))
    trees = list(forest.estimators_)
    explainer = SufficientExplainer(forest, counts="bootstrap").fit(X, outcomes_for(kind))
    assert explainer.forest_ is forest
    assert forest.estimators_ == trees


OTHER_ROWS = "The rows that `forest` drew do not fall into its leaves as they did when it was fitted."
OTHER_OUTCOMES = "`forest` is fitted already, but on other outcomes: pass the very `y` that it was fitted on."


@pytest.mark.parametrize(
    ("kind", "table", "y", "message"),
    [
        (RandomForestRegressor, X[::-1], NUMBERS[::-1], OTHER_ROWS),
        (RandomForestClassifier, X + 1, LABELS, OTHER_ROWS),
        (RandomForestClassifier, X[:, ::-1], LABELS, OTHER_ROWS),
        (RandomForestClassifier, X[:150], LABELS[:150], OTHER_ROWS),
        (ExtraTreesClassifier, X[:199], LABELS[:199], OTHER_ROWS),
        (RandomForestRegressor, X, NUMBERS + 1, OTHER_OUTCOMES),
        (RandomForestRegressor, X, NUMBERS[::-1], OTHER_OUTCOMES),
        (ExtraTreesRegressor, X, NUMBERS * 1.01, OTHER_OUTCOMES),
        (RandomForestClassifier, X, 1 - LABELS, OTHER_OUTCOMES),
        (
            RandomForestClassifier,
            X,
            np.where(LABELS, "a", "b"),
            "`y` holds the label .*, which was not among the labels",
        ),
        (RandomForestClassifier, X[:, :4], LABELS, "`forest` was fitted on 5 columns, `X` has 4."),
    ],
)
@pytest.mark.parametrize("counts", ["bootstrap", "out-of-bag"])
def test_a_fitted_forest_with_other_data_is_refused(kind, table, y, message, counts):
    # Without rows out of bag, extra trees are fitted as they are by default.
    bootstrap = counts == "out-of-bag" or kind().bootstrap
    forest = kind(n_estimators=7, bootstrap=bootstrap, random_state=1).fit(X, outcomes_for(kind))
    with pytest.raises(ValueError, match=message):
        SufficientExplainer(forest, counts=counts).fit(table, y)


def test_a_fitted_forest_of_two_outputs_is_refused():
    forest = RandomForestRegressor(n_estimators=3).fit(X, np.c_[NUMBERS, NUMBERS])
    with pytest.raises(ValueError, match=r"`forest` predicts 2 outputs; explain one output at a time."):
        SufficientExplainer(forest).fit(X, NUMBERS)


# --- random_state ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("forest", [None, RandomForestClassifier(n_estimators=7)])
def test_a_seed_makes_a_forest_without_one_repeatable(forest):
    first, second, other = (
        SufficientExplainer(forest, random_state=seed).fit(X, LABELS).sdp(X, [0]) for seed in (3, 3, 4)
    )
    np.testing.assert_array_equal(first, second)
    assert (first != other).any()


def test_a_forest_keeps_its_own_seed():
    forest = RandomForestClassifier(n_estimators=7, random_state=5)
    first, second = (SufficientExplainer(forest, random_state=seed).fit(X, LABELS) for seed in (3, 4))
    assert first.forest_.random_state == 5
    np.testing.assert_array_equal(first.sdp(X, [0]), second.sdp(X, [0]))


def test_a_generator_of_random_numbers_is_a_seed():
    first, second = (
        SufficientExplainer(RandomForestClassifier(n_estimators=7), random_state=np.random.RandomState(3))
        .fit(X, LABELS)
        .sdp(X, [0])
        for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)


# --- fidelity --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (RandomForestClassifier, {}),
        (RandomForestRegressor, {}),
        (RandomForestClassifier, {"max_samples": 0.4}),
        (RandomForestRegressor, {"max_samples": 30}),
        (ExtraTreesClassifier, {"bootstrap": True}),
        (ExtraTreesRegressor, {"bootstrap": True}),
    ],
)
def test_fidelity_is_the_out_of_bag_score(kind, options):
    forest = kind(n_estimators=60, oob_score=True, random_state=0, **options).fit(X, outcomes_for(kind))
    explainer = SufficientExplainer(forest).fit(X, outcomes_for(kind))
    assert explainer.fidelity_ == pytest.approx(forest.oob_score_, abs=1e-12)
    assert 0.3 < explainer.fidelity_ < 0.99


@pytest.mark.parametrize("kind", KINDS)
def test_fidelity_is_unknown_without_rows_out_of_bag(kind):
    forest = kind(n_estimators=3, bootstrap=False)
    explainer = SufficientExplainer(forest, counts="bootstrap").fit(X, outcomes_for(kind))
    assert math.isnan(explainer.fidelity_)
    assert explainer.fitted_.has_signal


NOISE = np.random.default_rng(1)


@pytest.mark.parametrize(
    ("y", "measure"),
    [
        (NOISE.integers(0, 2, size=200), "accuracy 0\\.[3-6]"),
        (NOISE.random(200) < 0.05, "accuracy 0\\.9"),
        (NOISE.normal(size=200), "R2 -?0\\.[0-3]"),
    ],
)
def test_poor_fidelity_warns(y, measure):
    message = f"The forest follows the outcomes poorly: out-of-bag {measure}., hardly better than a constant prediction"
    message += "" if measure.startswith("R2") else rf" \({format_share(np.bincount(y.astype(int)).max() / len(y))}\)\."
    with pytest.warns(FidelityWarning, match=message) as caught:
        explainer = SufficientExplainer(random_state=0, counts="bootstrap").fit(X, y)
    assert [warning.filename for warning in caught] == [__file__]
    assert explainer.fitted_.has_signal  # the counts of the paper have no gate


def test_a_forest_of_medians_refuses_other_outcomes():
    forest = RandomForestRegressor(3, criterion="absolute_error", min_samples_leaf=5, random_state=0).fit(X, NUMBERS)
    SufficientExplainer(forest).fit(X, NUMBERS)
    with pytest.raises(ValueError, match="on other outcomes"):
        SufficientExplainer(forest).fit(X, NUMBERS + 1)


# --- leaves ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_rows", "size"), [(1, 0), (2, 0), (100, 0), (1000, 2), (2500, 4), (10_000, 11), (100_000, 49), (1_000_000, 205)]
)
def test_the_consistent_size_of_a_leaf_is_that_of_the_paper(n_rows, size):
    assert consistent_leaf_size(n_rows) == size == math.floor(n_rows**0.5 * math.log(n_rows) ** 1.5 / 250)


def test_the_default_forest_has_leaves_of_the_consistent_size_once_it_exceeds_five():
    for n_rows in (10, 3000, 4000, 50_000):
        leaf = default_forest("classification", n_rows, "bootstrap", 1, 0).min_samples_leaf
        assert leaf == max(5, consistent_leaf_size(n_rows))
