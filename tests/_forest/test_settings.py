"""Which values the settings may have, and what follows from them."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from small_explainers import NUMBERS, classifier
from small_explainers import X as TABLE

from suffice import SufficientExplainer
from suffice._forest.settings import CHANGEABLE, SETTINGS, Settings, least_cell

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
CLASSES = np.where(X[:, 0] > 0, "high", "low")
NAN, INF = np.nan, np.inf


def small(kind=RandomForestClassifier, **options):
    return SufficientExplainer(kind(n_estimators=5, random_state=0), **options)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"pi": 0}, ValueError, "`pi` must be in (0, 1], got 0."),
        ({"pi": -0.1}, ValueError, "`pi` must be in (0, 1], got -0.1."),
        ({"pi": 1.2}, ValueError, "`pi` must be in (0, 1], got 1.2."),
        ({"pi": NAN}, ValueError, "`pi` must be in (0, 1], got nan."),
        ({"pi": "0.9"}, TypeError, "`pi` must be in (0, 1], got '0.9'."),
        ({"pi": True}, TypeError, "`pi` must be in (0, 1], got True."),
        ({"levels": "odd"}, ValueError, "`levels` must be one of ['same', 'odds'], got 'odd'. Did you mean 'odds'?"),
        ({"confidence": 0}, ValueError, "`confidence` must be None or in (0, 1), got 0."),
        ({"confidence": 1.0}, ValueError, "`confidence` must be None or in (0, 1), got 1.0."),
        ({"confidence": "0.9"}, TypeError, "`confidence` must be None or in (0, 1), got '0.9'."),
        (
            {"counts": "oob"},
            ValueError,
            "`counts` must be one of ['auto', 'out-of-bag', 'bootstrap', 'all'], got 'oob'.",
        ),
        ({"counts": None}, ValueError, "`counts` must be one of ['auto', 'out-of-bag', 'bootstrap', 'all'], got None."),
        ({"alpha": 0}, ValueError, "`alpha` must be None or in (0, 1), got 0."),
        ({"alpha": 1.0}, ValueError, "`alpha` must be None or in (0, 1), got 1.0."),
        ({"radius": -1}, ValueError, "`radius` must be a number >= 0, got -1."),
        ({"radius": INF}, ValueError, "`radius` must be a number >= 0, got inf."),
        ({"radius": "1"}, TypeError, "`radius` must be a number >= 0, got '1'."),
        ({"radius": 1.0}, ValueError, "`radius` is for regression, but `y` holds classes; leave it None."),
        ({"n_candidates": 129}, ValueError, "`n_candidates` must be from 1 to 128, got 129."),
        ({"n_candidates": 0}, ValueError, "`n_candidates` must be from 1 to 128, got 0."),
        ({"n_candidates": 3.0}, TypeError, "`n_candidates` must be from 1 to 128, got 3.0."),
        ({"min_size": -1}, ValueError, "`min_size` must be a whole number >= 0, got -1."),
        ({"min_size": 0.5}, TypeError, "`min_size` must be a whole number >= 0, got 0.5."),
        ({"min_size": None, "max_size": 2}, TypeError, "`min_size` must be a whole number >= 0, got None."),
        ({"max_size": 0}, ValueError, "`max_size` must be None or at least 1, got 0."),
        ({"max_size": 0, "min_size": 0}, ValueError, "`max_size` must be None or at least 1, got 0."),
        ({"max_size": 1, "min_size": 2}, ValueError, "`max_size` must be None or at least 2, got 1."),
        ({"max_size": "2"}, TypeError, "`max_size` must be None or at least 1, got '2'."),
        ({"min_node_size": 0}, ValueError, "`min_node_size` must be None or at least 1, got 0."),
        ({"min_node_size": 0.1}, TypeError, "`min_node_size` must be None or at least 1, got 0.1."),
        ({"n_jobs": 0}, ValueError, "`n_jobs` must be None or a whole number other than 0, got 0."),
        ({"n_jobs": "2"}, TypeError, "`n_jobs` must be None or a whole number other than 0, got '2'."),
        ({"task": "ranking"}, ValueError, "`task` must be 'auto', 'classification' or 'regression', got 'ranking'."),
        ({"task": "regression"}, ValueError, "`task` is 'regression', but `forest` is for classification."),
        (
            {"groups": ["x0", "x1"]},
            TypeError,
            "`groups` must be a dict of names to lists of columns, got ['x0', 'x1'].",
        ),
        ({"groups": {"a": ["x9"]}}, ValueError, "In the group 'a': Unknown variable 'x9'."),
        (
            {"candidates": []},
            ValueError,
            "`candidates` must be one of ['auto', 'row', 'splits', 'impurity'] or a list of at least",
        ),
        ({"candidates": None}, ValueError, "or a list of at least one variable, got None."),
        ({"candidates": "split"}, ValueError, "or a list of variables, got 'split'. Did you mean 'splits'?"),
        ({"candidates": "shap"}, ValueError, "or a list of variables, got 'shap'."),
        ({"candidates": ["x0", "xx1"]}, ValueError, "Unknown variable 'xx1'. Did you mean 'x1'?"),
        ({"candidates": [0, 4]}, ValueError, "Unknown variable 4: there are 4, numbered from 0."),
        ({"candidates": [0.5]}, TypeError, "A variable is given by its name or its number, got 0.5."),
    ],
)
def test_a_wrong_parameter_is_refused_at_fit(options, error, message):
    with pytest.raises(error, match=re.escape(message)):
        small(**options).fit(X, CLASSES)


@pytest.mark.parametrize(("leaf", "least"), [(1, 1), (4, 4), (0.05, 8), (12, 12)])
def test_cells_are_as_large_as_leaves_by_default_and_hold_five_rows_out_of_bag(leaf, least):
    forest = RandomForestRegressor(n_estimators=5, min_samples_leaf=leaf, random_state=0)
    assert SufficientExplainer(forest, counts="bootstrap").fit(TABLE, NUMBERS).min_node_size_ == least
    assert SufficientExplainer(forest).fit(TABLE, NUMBERS).min_node_size_ == max(5, least)
    assert SufficientExplainer(forest, min_node_size=2).fit(TABLE, NUMBERS).min_node_size_ == 2
    assert SufficientExplainer(forest, min_node_size=30).fit(TABLE, NUMBERS).min_node_size_ == 30


@pytest.mark.parametrize("max_sets", [0, -1, 2.5, "many", 2**64])
def test_a_wrong_limit_of_sets_is_refused(max_sets):
    with pytest.raises((TypeError, ValueError), match="max_sets"):
        classifier(max_sets=max_sets).fit(X, CLASSES)


# --- what follows from them ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_jobs", "n_threads"), [(None, 4), (1, 1), (3, 3), (7, 7), (-1, 4), (-2, 3), (-4, 1), (-100, 1), (np.int64(2), 2)]
)
def test_threads_are_counted_as_scikit_learn_counts_them(n_jobs, n_threads, monkeypatch):
    monkeypatch.setattr("suffice._forest.settings.cpu_count", lambda: 4)
    settings = Settings.of(SufficientExplainer(n_jobs=n_jobs))
    assert settings.n_threads == n_threads
    assert type(settings.n_threads) is int


def test_the_settings_are_all_parameters_but_the_forest():
    assert sorted((*SETTINGS, "forest")) == sorted(SufficientExplainer().get_params(deep=False))
    explainer = SufficientExplainer(pi=0.7, candidates=["a"], n_jobs=2)
    settings = Settings.of(explainer)
    for name in SETTINGS:
        assert getattr(settings, name) is getattr(explainer, name)
    assert set(CHANGEABLE) < set(SETTINGS)


def test_settings_are_frozen_and_checked_again_when_replaced():
    settings = Settings.of(SufficientExplainer())
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'pi'"):
        settings.pi = 0.5
    assert dataclasses.replace(settings, n_jobs=3).n_threads == 3
    with pytest.raises(ValueError, match=r"`pi` must be in \(0, 1\], got 2."):
        dataclasses.replace(settings, pi=2)


@pytest.mark.parametrize(
    ("min_node_size", "leaf", "n_rows", "n_counted", "least"),
    [
        (None, 5, 100, 100, 5),
        (None, 0.05, 150, 150, 8),  # a share is rounded up, as scikit-learn does
        (None, 8, 400, 100, 2),
        (None, 8, 400, 101, 3),
        (None, 1, 400, 2, 1),
        (None, 0.05, 150, 15, 1),
        (7, 5, 100, 100, 7),
        (7, 8, 400, 100, 7),
        (np.int64(7), 0.5, 100, 100, 7),
    ],
)
def test_the_least_cell_is_that_of_the_leaves_in_proportion_to_the_rows_counted(
    min_node_size, leaf, n_rows, n_counted, least
):
    assert least_cell(min_node_size, leaf, n_rows, n_counted) == least
    assert least_cell(min_node_size, leaf, n_rows, n_counted, 6) == (max(least, 6) if min_node_size is None else least)


def test_classes_and_numbers_have_levels_of_their_own_by_default(tmp_path):
    for y, level in ((NUMBERS, 0.8), (NUMBERS > 3, 0.9)):
        for holdout in (None, 0.3):
            explainer = SufficientExplainer(RandomForestRegressor(5) if level == 0.8 else None, random_state=0)
            explainer.fit(TABLE, y, holdout=holdout)
            assert (explainer.pi, explainer.pi_, explainer.explain(TABLE[:2]).pi) == (None, level, level)
            state = explainer.fitted_
            explainer.explain(TABLE[:2])
            assert explainer.fitted_ is state  # nothing was changed
            assert explainer.with_settings(pi=0.5).with_settings(pi=None).pi_ == level
            assert explainer.set_params(pi=0.7).explain(TABLE[:2]).pi == 0.7
            assert explainer.set_params(pi=None).explain(TABLE[:2]).pi == level
            explainer.save(tmp_path / "a.suffice")
            assert SufficientExplainer.load(tmp_path / "a.suffice").pi_ == level


def test_only_numbers_have_a_radius():
    settings = Settings.of(SufficientExplainer(radius=1.0))
    settings.for_task("regression")
    Settings.of(SufficientExplainer()).for_task("classification")
    with pytest.raises(ValueError, match="`radius` is for regression"):
        settings.for_task("classification")
