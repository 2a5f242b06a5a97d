"""The quality of predictions, and the shares of rows with a sufficient set."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import confusion_matrix, mean_absolute_error, precision_score, r2_score, recall_score
from small_explainers import CLASSES, NUMBERS, X

from suffice import Quality, SufficientExplainer
from suffice.checks.quality import SetShare

SHARES = (
    "83 % of rows have a sufficient set (probability 0.9; 4 rows searched): 50 % of the rows explained as busy, 100 % "
    "of the rows explained as calm."
)


def by_hand(**changes):
    plain = {
        "target": "mood",
        "predictor": "the forest",
        "reference": "the observed outcomes",
        "rows": "6 rows",
        "observed": np.array(["busy", "busy", "calm", "calm", "calm", "calm"]),
        "predicted": np.array(["busy", "calm", "calm", "calm", "calm", "busy"]),
        "classes": ("busy", "calm", "never"),
        "sets": (SetShare("busy", 2, 2, 1), SetShare("calm", 4, 2, 2), SetShare("never", 0, 0, 0)),
        "level": "probability 0.9",
    }
    return Quality(**{**plain, **changes})


def test_the_confusion_matrix_has_observed_classes_as_rows():
    quality = by_hand()
    assert quality.confusion.tolist() == [[1, 1, 0], [1, 3, 0], [0, 0, 0]]
    assert quality.accuracy == pytest.approx(4 / 6)
    assert quality.accuracy_of_constant == pytest.approx(4 / 6)
    busy, calm, never = quality.by_class
    assert (busy.recall, busy.precision) == (0.5, 0.5)
    assert (calm.recall, calm.precision) == (0.75, 0.75)
    assert np.isnan(never.recall)
    assert np.isnan(never.precision)


def test_the_share_of_rows_with_a_set_weights_the_classes_by_their_rows():
    assert by_hand().share_with_set == pytest.approx((2 * 0.5 + 4 * 1.0) / 6)
    assert np.isnan(by_hand(sets=()).share_with_set)


def test_the_text_states_the_figures():
    assert str(by_hand()).split("\n") == [
        "Quality of the forest, mood: 6 rows.",
        "Accuracy 0.67; always predicting the most frequent class would give 0.67.",
        "observed \\ predicted  busy  calm  never  rows  recall",
        "busy                     1     1      0     2    0.50",
        "calm                     1     3      0     4    0.75",
        "never                    0     0      0     0       -",
        "precision             0.50  0.75      -     6",
        SHARES,
    ]
    numbers = by_hand(observed=np.array([1.0, 2.0, 4.0]), predicted=np.array([1.0, 2.5, 3.0]), classes=None, sets=())
    assert str(numbers).split("\n")[1] == "R2 0.73, mean absolute error 0.5."


def test_the_dictionary_is_plain():
    plain = json.loads(json.dumps(by_hand(model=by_hand(sets=())).to_dict(), allow_nan=False))
    assert plain["confusion"] == [[1, 1, 0], [1, 3, 0], [0, 0, 0]]
    assert plain["by_class"][2] == {"label": "never", "n_rows": 0, "n_predicted": 0, "recall": None, "precision": None}
    assert plain["sets"][0] == {"outcome": "busy", "n_rows": 2, "n_explained": 2, "n_with_set": 1}
    assert "sets" not in plain["model"]


def test_out_of_bag_quality_of_classes_is_the_fidelity(of_classes):
    quality = of_classes.quality(n_explained=30)
    assert quality.accuracy == pytest.approx(of_classes.fidelity_)
    recalls = {one.label: one.recall for one in quality.by_class}
    assert recalls == pytest.approx(of_classes.fidelity_by_class_)
    assert quality.rows == f"{quality.n_rows} training rows, predicted out of bag"


def test_out_of_bag_quality_of_numbers_is_the_fidelity(of_numbers):
    quality = of_numbers.quality(n_explained=30)
    assert quality.r2 == pytest.approx(of_numbers.fidelity_)
    assert quality.mae == pytest.approx(np.mean(np.abs(quality.observed - quality.predicted)))
    with pytest.raises(AttributeError, match="`confusion` is for classification"):
        quality.confusion  # noqa: B018
    assert quality.by_class == ()


def test_the_shares_are_those_of_the_explanations(of_classes):
    quality = of_classes.quality(n_explained=10**6)
    explanations = of_classes.explain(X, rules=None)
    for share in quality.sets:
        is_class = explanations.outcomes == share.outcome
        assert share.n_rows == share.n_explained == np.count_nonzero(is_class)
        assert share.n_with_set == np.count_nonzero(explanations.has_set[is_class])
    assert quality.share_with_set == pytest.approx(explanations.has_set.mean())


def test_as_many_rows_of_each_class_are_searched_and_always_the_same(of_classes):
    quality = of_classes.quality(n_explained=30)
    assert [share.n_explained for share in quality.sets] == [10, 10, 10]
    assert of_classes.quality(n_explained=30).sets == quality.sets
    assert of_classes.quality(n_explained=0).sets == ()


def test_other_rows_are_compared_with_their_outcomes(of_classes, of_numbers):
    of_rows = of_classes.quality(X[:40], CLASSES[:40], n_explained=5)
    predicted = of_classes.predict(X[:40])
    assert np.array_equal(of_rows.confusion, confusion_matrix(CLASSES[:40], predicted, labels=of_classes.classes_))
    recalls = recall_score(CLASSES[:40], predicted, average=None)
    assert [one.recall for one in of_rows.by_class] == pytest.approx(recalls)
    precisions = precision_score(CLASSES[:40], predicted, average=None)
    assert [one.precision for one in of_rows.by_class] == pytest.approx(precisions)
    numbers = of_numbers.quality(X[:40], NUMBERS[:40], n_explained=5)
    assert numbers.r2 == pytest.approx(r2_score(NUMBERS[:40], of_numbers.predict(X[:40])))
    assert numbers.mae == pytest.approx(mean_absolute_error(NUMBERS[:40], of_numbers.predict(X[:40])))


def test_the_forest_is_compared_with_an_explained_model_and_the_model_with_outcomes():
    model = LogisticRegression(max_iter=1000).fit(X, CLASSES)
    explainer = SufficientExplainer.for_model(model, X, random_state=0)
    of_bag = explainer.quality(n_explained=6)
    assert of_bag.is_agreement
    assert of_bag.title.startswith("Agreement of the forest with the outputs of LogisticRegression: 150")
    assert of_bag.accuracy == pytest.approx(explainer.fidelity_)
    of_rows = explainer.quality(X[:60], n_explained=6)
    assert np.array_equal(of_rows.observed, model.predict(X[:60]))
    assert of_rows.model is None
    observed = explainer.quality(X[:60], CLASSES[:60], n_explained=6)
    assert observed.is_agreement
    assert observed.model.accuracy == pytest.approx(model.score(X[:60], CLASSES[:60]))
    assert "Quality of LogisticRegression: " in str(observed)


def test_a_function_is_called_the_model():
    """The title said "the outputs of function, prediction"."""
    X = np.random.default_rng(0).normal(size=(150, 2))
    explainer = SufficientExplainer.for_model(lambda rows: np.where(rows[:, 0] > 0, "up", "down"), X, random_state=0)
    assert explainer.quality(n_explained=5).title == (
        "Agreement of the forest with the outputs of the model: 150 training rows, predicted out of bag."
    )
    assert "Quality of the model: 150 rows." in str(explainer.quality(X, np.where(X[:, 0] > 0, "up", "down")))


def test_a_probability_is_compared_with_whether_the_class_was_observed():
    model = LogisticRegression(max_iter=1000).fit(X, CLASSES)
    explainer = SufficientExplainer.for_model(model, X, probability_of=2, random_state=0)
    quality = explainer.quality(X[:60], CLASSES[:60], n_explained=6).model
    assert np.array_equal(quality.observed, CLASSES[:60] == 2)
    assert quality.predicted == pytest.approx(model.predict_proba(X[:60])[:, 2])


def test_a_model_of_numbers_is_compared_with_numbers():
    model = LinearRegression().fit(X, NUMBERS)
    explainer = SufficientExplainer.for_model(model, X, random_state=0)
    quality = explainer.quality(X[:60], NUMBERS[:60], n_explained=6)
    assert quality.model.r2 == pytest.approx(r2_score(NUMBERS[:60], model.predict(X[:60])))


def test_wrong_arguments_are_refused(of_classes):
    with pytest.raises(ValueError, match="`y` was passed without `X`"):
        of_classes.quality(y=CLASSES)
    with pytest.raises(ValueError, match="`y` is needed: predictions are compared with the observed outcomes"):
        of_classes.quality(X)
    with pytest.raises(ValueError, match="`y` holds the label 'x'"):
        of_classes.quality(X[:2], ["x", "y"])
    with pytest.raises(ValueError, match="`n_explained` must be a whole number >= 0"):
        of_classes.quality(n_explained=-1)
    without = SufficientExplainer(
        RandomForestClassifier(n_estimators=5, bootstrap=False, random_state=0), counts="bootstrap"
    ).fit(X, CLASSES)
    with pytest.raises(ValueError, match="Pass rows that the forest was not fitted on, as in"):
        without.quality()


def test_frames_and_categories_are_read_as_by_explain(of_rentals):
    quality = of_rentals.quality(n_explained=4)
    assert isinstance(quality.classes, tuple)
    assert pd.Series(quality.predicted).isin(quality.classes).all()
