"""What an explainer reports about itself: its task, its fidelity, and where its forest disagrees."""

from __future__ import annotations

import numpy as np
import pytest
from rentals import BUSY, COUNT, N_ROWS, as_pandas, explainer_for, take

from suffice import SufficientExplainer

pytestmark = [
    pytest.mark.filterwarnings("ignore:The forest follows the outcomes poorly"),
    pytest.mark.filterwarnings("ignore:The variables say nothing about the outcomes"),
]


@pytest.mark.parametrize(
    ("y", "options", "task", "reason"),
    [
        (np.arange(N_ROWS), {}, "regression", "the outcomes are 300 different whole numbers in 300 rows"),
        (np.arange(N_ROWS) % 40, {}, "regression", "the outcomes are 40 different whole numbers in 300 rows"),
        (np.arange(N_ROWS) % 2, {}, "classification", "the outcomes are 2 different whole numbers in 300 rows"),
        (np.arange(N_ROWS) % 5, {}, "classification", "the outcomes are 5 different whole numbers in 300 rows"),
        (COUNT, {}, "regression", "the outcomes are numbers with fractions"),
        (BUSY, {}, "classification", "the outcomes are text"),
        (BUSY == "busy", {}, "classification", "the outcomes are booleans"),
        (np.arange(N_ROWS) % 5, {"task": "regression"}, "regression", "as given by `task`"),
    ],
)
def test_the_task_is_reported_with_its_reason(y, options, task, reason):
    explainer = SufficientExplainer(random_state=0, **options).fit(as_pandas()[["temp", "hour"]], y)
    assert explainer.task_ == task
    assert explainer.task_reason_.startswith(f"{task}: {reason}")
    other = {"classification": "regression", "regression": "classification"}[task]
    assert (f"(task='{other}' to change)" in explainer.task_reason_) == (not options)


def test_a_forest_decides_the_task_and_the_reason_says_so():
    explainer = explainer_for("regression").fit(as_pandas(), np.arange(N_ROWS) % 2)
    assert explainer.task_reason_ == "regression: that is what the forest is for"


def test_fidelity_is_reported_for_each_class():
    X = as_pandas()
    explainer = explainer_for().fit(X, BUSY)
    assert list(explainer.fidelity_by_class_) == ["busy", "quiet"]
    n_rows = {label: int((label == BUSY).sum()) for label in explainer.fidelity_by_class_}
    mean = sum(explainer.fidelity_by_class_[label] * n for label, n in n_rows.items()) / N_ROWS
    assert mean == pytest.approx(explainer.fidelity_, abs=0.02)  # a few rows are in the bag of every tree
    assert all(0.5 < share < 1 for share in explainer.fidelity_by_class_.values())
    lopsided = explainer_for(leaf=1).fit(X, np.where(np.sort(COUNT)[-4] < COUNT, "top", "other"))
    assert lopsided.fidelity_by_class_["top"] < lopsided.fidelity_by_class_["other"]
    assert not hasattr(explainer_for("regression").fit(X, COUNT), "fidelity_by_class_")


def test_an_explanation_shows_if_the_forest_disagrees(of_rentals):
    X = take(as_pandas())
    predictions = of_rentals.predict(X)
    contradicted = np.where(predictions == "busy", "quiet", "busy")
    for explanation, label, prediction in zip(
        of_rentals.explain(X, contradicted), contradicted, predictions, strict=True
    ):
        assert not explanation.forest_agrees
        assert explanation.outcome == label
        assert explanation.prediction == prediction
        assert str(explanation).startswith(f"The outcome is observed: {label} (")
        assert f"Read with care. The forest predicts {prediction} here." in str(explanation).splitlines()[0]
        assert explanation.to_dict()["forest_agrees"] is False
    for explanation in of_rentals.explain(X):
        assert explanation.forest_agrees
        assert "The forest predicts" not in str(explanation)
    assert of_rentals.explain(X, contradicted).to_frame()["forest_agrees"].tolist().count(True) == 0


def test_an_explanation_of_a_number_shows_if_the_forest_disagrees():
    X = take(as_pandas())
    explainer = explainer_for("regression", radius=5.0).fit(as_pandas(), COUNT)
    predictions = explainer.predict(X)
    for explanation, prediction in zip(explainer.explain(X, predictions + 5.5), predictions, strict=True):
        assert not explanation.forest_agrees
        assert explanation.prediction == prediction
        assert "Read with care. The forest predicts " in str(explanation).splitlines()[0]
    assert all(explanation.forest_agrees for explanation in explainer.explain(X, predictions + 4.5))
    outside = explainer_for("regression").fit(as_pandas(), COUNT).explain(X, predictions + 1e6)
    assert not any(explanation.forest_agrees for explanation in outside)
    assert all("Read with care. The outcome lies outside the interval" in str(explanation) for explanation in outside)
