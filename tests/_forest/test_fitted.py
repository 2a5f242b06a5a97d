"""The fitted state: frozen, shared, copied, and described."""

from __future__ import annotations

import copy
import dataclasses
import importlib.metadata
import pickle

import numpy as np
import pytest
from rentals import BUSY, COUNT, as_pandas, explainer_for
from small_explainers import CLASSES, NUMBERS, ROWS, X, classifier, regressor

from suffice._forest import fitted as fitted_module
from suffice._forest.fitted import Fitted
from suffice.explaining.search import ExplainOptions, find_maximal_rules, find_sufficient_sets


def answers(fitted, matrix):
    """All answers that the engine computes from the fitted state alone, as plain values."""
    outcomes = fitted.outcomes(matrix, fitted.predict(matrix))
    sets = find_sufficient_sets(fitted, matrix, outcomes, minimal_only=False, progress=None)
    boxes = find_maximal_rules(fitted, matrix, outcomes, sets.by_row(), ExplainOptions())
    arrays = [outcomes.values, outcomes.low, outcomes.high, sets.offset, sets.masks, sets.sdps, sets.best_sdps]
    return [array.tolist() for array in arrays], boxes, str(fitted.describe())


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(Fitted)])
def test_the_fitted_state_cannot_be_changed(explainer, name):
    with pytest.raises(dataclasses.FrozenInstanceError, match=f"cannot assign to field '{name}'"):
        setattr(explainer.fitted_, name, None)
    with pytest.raises(dataclasses.FrozenInstanceError, match=f"cannot delete field '{name}'"):
        delattr(explainer.fitted_, name)


@pytest.mark.parametrize("part", ["settings", "projected", "forest"])
def test_parts_of_the_fitted_state_cannot_be_changed(explainer, part):
    frozen = getattr(explainer.fitted_, part)
    for field in dataclasses.fields(frozen):
        with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign"):
            setattr(frozen, field.name, None)


@pytest.mark.parametrize("again", [lambda f: pickle.loads(pickle.dumps(f)), copy.deepcopy, copy.copy])
@pytest.mark.parametrize(("task", "y"), [("classification", BUSY), ("regression", COUNT)])
def test_a_copy_gives_the_same_answers(task, y, again):
    table = as_pandas()
    explainer = explainer_for(task, random_state=0).fit(table, y)
    fitted, matrix = explainer.fitted_, explainer.encode(table[:12])
    untouched = again(fitted)
    before = answers(fitted, matrix)
    assert len(fitted.projected.cells) > 0
    for twin in (untouched, again(fitted), again(again(fitted))):  # with empty and with filled caches
        assert type(twin) is Fitted
        assert answers(twin, matrix) == before
        with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign"):
            twin.task = "regression"
    assert answers(fitted, matrix) == before


def test_a_pickle_holds_no_cells_and_no_projections(explainer):
    explainer.explain(ROWS)
    twin = pickle.loads(pickle.dumps(explainer.fitted_))
    assert len(explainer.fitted_.projected.cells) > 0
    assert len(twin.projected.cells) == len(twin.projected.projections) == 0


def test_the_training_rows_are_those_of_the_fit():
    for fitted, y in ((classifier().fit(X, CLASSES).fitted_, CLASSES), (regressor().fit(X, NUMBERS).fitted_, NUMBERS)):
        matrix, outcomes = fitted.training
        np.testing.assert_array_equal(matrix, X.astype(np.float32))
        np.testing.assert_array_equal(outcomes, y)


# --- ranking ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("candidates", ["splits", "impurity"])
def test_the_ranking_begins_with_the_candidates_and_goes_on_as_more_of_them_would(candidates):
    few, many = (
        classifier(candidates=candidates, n_candidates=n, random_state=0).fit(X, CLASSES).fitted_ for n in (2, 64)
    )
    assert few.ranking() == many.candidates
    assert few.ranking()[:2] == few.candidates
    assert len(few.ranking()) == 4  # the last column is constant


def test_the_ranking_of_listed_candidates_is_their_list():
    assert classifier(candidates=[3, 1]).fit(X, CLASSES).fitted_.ranking() == (3, 1)


def test_a_ranking_begins_with_the_candidates_though_they_would_be_chosen_otherwise_now(monkeypatch):
    fitted = classifier(candidates="splits", n_candidates=2, random_state=0).fit(X, CLASSES).fitted_
    first, second = fitted.candidates
    others = [v for v in range(4) if v not in fitted.candidates]
    monkeypatch.setattr(fitted_module, "choose_candidates", lambda *_: (others[1], second, others[0], first))
    assert fitted.ranking() == (first, second, others[1], others[0])


# --- descriptions ----------------------------------------------------------------------------------------------------


def test_a_description_says_what_was_fitted_to_what(of_classes):
    about = of_classes.fitted_.describe()
    assert about == of_classes.describe()
    assert (about["task"], about["target"], about["n_rows"]) == ("classification", "y", len(X))
    assert about["classes"] == [0, 1, 2]
    assert about["candidates"] == list(of_classes.candidates_)
    assert about["forest"]["kind"] == "RandomForestClassifier"
    assert about["settings"]["min_node_size"] == of_classes.min_node_size_
    assert about["versions"]["suffice"] == importlib.metadata.version("suffice")


def test_the_versions_are_looked_up_once(of_classes, monkeypatch):
    """`importlib.metadata.version` takes 0.36 ms, and was called for every explained row."""
    names = []
    monkeypatch.setattr(fitted_module, "version", lambda name: names.append(name) or "1.2.3")
    fitted_module._versions.cache_clear()
    try:
        described = [of_classes.describe() for _ in range(3)]
    finally:
        monkeypatch.undo()
        fitted_module._versions.cache_clear()
    assert names == ["suffice"]
    assert described[0] == described[2]
    assert described[0]["versions"]["suffice"] == "1.2.3"


def test_a_changed_description_leaves_the_next_one_as_it_is(of_classes):
    of_classes.describe()["versions"]["suffice"] = "0"
    assert of_classes.describe()["versions"]["suffice"] == importlib.metadata.version("suffice")


def test_to_explain_takes_no_description(explainer, monkeypatch):
    expected = explainer.explain(ROWS).to_dict()

    def fail(*_):
        pytest.fail("described")

    monkeypatch.setattr(Fitted, "describe", fail)
    monkeypatch.setattr(importlib.metadata, "version", fail)
    monkeypatch.setattr(fitted_module, "version", fail)
    explanations = explainer.explain(ROWS)
    assert explanations.to_dict() == expected
    assert len(explanations.to_frame("rows")) == len(ROWS)
    monkeypatch.undo()
    assert explanations.about == explainer.describe()
