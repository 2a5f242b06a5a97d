"""Models explained by their outputs alone."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from xgboost import XGBClassifier, XGBRegressor

from suffice import SufficientExplainer
from suffice._forest.model_outputs import PROBABILITY_RADIUS, ask_model, task_of_model

RNG = np.random.default_rng(0)
N = 400
TABLE = pd.DataFrame(
    {
        "hour": RNG.integers(0, 24, N),
        "weather": pd.Categorical(RNG.choice(["clear", "mist", "rain"], N)),
        "temp": RNG.normal(15, 8, N).round(1),
        "wind": RNG.normal(size=N).round(2),
    }
)
DAY = np.where(TABLE["hour"].between(7, 19), 100.0, 10.0) + TABLE["temp"].to_numpy()
RIDES = np.where(TABLE["hour"].between(7, 19), 100.0, 10.0) * np.where(TABLE["weather"] == "rain", 0.2, 1.0)
BUSY = np.where(RIDES > 50, "busy", "calm")
NUMBERS = TABLE[["hour", "temp", "wind"]]
FOREST = {"n_estimators": 20, "min_samples_leaf": 5, "random_state": 0}


class Scores:
    """As a network: scores of two classes for each row."""

    def __call__(self, X):
        p = 1 / (1 + np.exp(-np.asarray(X)[:, 1]))
        return np.stack([1 - p, p], axis=1)


class Tensor:
    """As torch: an array only after it is detached and moved."""

    def __init__(self, values):
        self.values = values

    def detach(self):
        return self

    def cpu(self):
        return self.values


def logistic():
    encode = make_column_transformer((OneHotEncoder(), ["weather"]), (StandardScaler(), ["hour", "temp", "wind"]))
    return make_pipeline(encode, RandomForestClassifier(20, random_state=0)).fit(TABLE, BUSY)


MODELS = {
    "a pipeline that encodes by itself": (logistic, TABLE),
    "XGBoost": (lambda: XGBClassifier(n_estimators=20, n_jobs=1).fit(NUMBERS, DAY > 50), NUMBERS),
    "XGBoost, numbers": (lambda: XGBRegressor(n_estimators=20, n_jobs=1).fit(NUMBERS, DAY), NUMBERS),
    "XGBoost with categories": (
        lambda: XGBRegressor(n_estimators=20, n_jobs=1, enable_categorical=True).fit(TABLE, RIDES),
        TABLE,
    ),
    "LightGBM with categories": (
        lambda: LGBMClassifier(n_estimators=20, n_jobs=1, verbose=-1).fit(TABLE, BUSY),
        TABLE,
    ),
    "a function": (lambda: lambda X: np.where(X["hour"] > 12, "late", "early"), TABLE),
    "a network": (Scores, NUMBERS.to_numpy()),
}


@pytest.mark.parametrize("name", MODELS)
def test_any_model_is_explained_end_to_end(name):
    make, X = MODELS[name]
    model = make()
    paper = {"counts": "bootstrap", "min_size": 1}  # so that few rows are enough for sets
    explainer = SufficientExplainer.for_model(model, X, random_state=0, n_jobs=1, **paper)
    explanations = explainer.explain(X[:20])
    outputs = ask_model(model, X[:20], 20)
    assert [e.outcome for e in explanations] == outputs.tolist()
    assert sum(e.is_sufficient for e in explanations) >= 15
    assert explainer.fidelity_ > 0.8
    assert explainer.model_ is model
    assert all(e.rule.covers(X)[i] for i, e in enumerate(explanations) if e.rule)
    np.testing.assert_array_equal(
        explainer.sdp(X[:20], [e.best_set.variables for e in explanations]), [e.best_set.sdp for e in explanations]
    )


def test_a_model_with_categories_is_explained_in_its_own_words():
    """Many rides by day, except in the rain: the rule must say so by the hours and the names of the categories."""
    model = MODELS["XGBoost with categories"][0]()
    explainer = SufficientExplainer.for_model(model, TABLE, radius=20.0, random_state=0)
    noon = TABLE[TABLE["hour"].between(11, 13) & (TABLE["weather"] == "mist")][:1]
    rule = explainer.rule(noon, ["hour", "weather"])[0]
    assert re.match(r"IF \d+ <= hour <=? \d+ AND weather (= mist|in {clear, mist}) THEN prediction in \[", str(rule))


def test_the_probability_of_a_class_is_explained_as_a_number():
    model = logistic()
    explainer = SufficientExplainer.for_model(model, TABLE, probability_of="busy", random_state=0)
    assert explainer.task_ == "regression"
    assert explainer.target_name_ == "probability of busy"
    explanation = explainer.explain(TABLE[:1])[0]
    assert explanation.outcome == pytest.approx(model.predict_proba(TABLE[:1])[0, 0])
    assert "THEN probability of busy in [" in str(explanation.rule)
    of_function = SufficientExplainer.for_model(Scores(), NUMBERS.to_numpy(), probability_of=1, random_state=0)
    assert of_function.task_ == "regression"


def test_a_probability_is_kept_within_a_fifth():
    """The quantiles of a cell that holds probabilities near 0 and near 1 said "kept within [0.0009, 0.99996]"."""
    explainer = SufficientExplainer.for_model(logistic(), TABLE, probability_of="busy", random_state=0)
    explanations = explainer.explain(TABLE[:40])
    expected = np.c_[explanations.outcomes - 0.2, explanations.outcomes + 0.2].clip(0, 1)
    np.testing.assert_array_equal(explanations.intervals, expected)
    assert explanations.has_set.mean() > 0.9
    assert explainer.radius is None
    assert explainer.describe()["settings"]["radius"] == PROBABILITY_RADIUS == 0.2
    assert explainer.with_settings(pi=0.8).interval(TABLE[:40]).tolist() == expected.tolist()


def test_a_radius_or_a_level_of_the_user_decides_how_far_a_probability_may_move():
    settings = {"probability_of": "busy", "random_state": 0}
    model, rows = logistic(), TABLE[:9]
    default = SufficientExplainer.for_model(model, TABLE, **settings)
    outcomes = default.explain(rows).outcomes
    narrow = SufficientExplainer.for_model(model, TABLE, radius=0.05, **settings)
    np.testing.assert_array_equal(narrow.interval(rows), np.c_[outcomes - 0.05, outcomes + 0.05].clip(0, 1))
    np.testing.assert_array_equal(default.with_settings(radius=0.05).interval(rows), narrow.interval(rows))
    of_quantiles = SufficientExplainer.for_model(model, TABLE, alpha=0.1, **settings).interval(rows)
    assert of_quantiles.tolist() != default.interval(rows).tolist()
    np.testing.assert_array_equal(default.with_settings(alpha=0.1).interval(rows), of_quantiles)
    same_level = SufficientExplainer.for_model(model, TABLE, alpha=0.05, **settings).interval(rows)
    np.testing.assert_array_equal(default.with_settings(alpha=0.05).interval(rows), same_level)
    np.testing.assert_array_equal(default.set_params(alpha=0.1).interval(rows), of_quantiles)


def test_a_function_that_returns_probabilities_is_explained_with_the_radius_of_probabilities():
    """Where more than 90 % of a cell have one output, the interval was "[0.0125, 0.0125]"."""
    model = logistic()
    explainer = SufficientExplainer.for_model(lambda X: model.predict_proba(X)[:, 0], TABLE, random_state=0)
    by_class = SufficientExplainer.for_model(model, TABLE, probability_of="busy", random_state=0)
    np.testing.assert_array_equal(explainer.interval(TABLE[:40]), by_class.interval(TABLE[:40]))
    rides = SufficientExplainer.for_model(lambda X: 3 * model.predict_proba(X)[:, 0], TABLE, random_state=0)
    assert rides.fitted_.default_radius is None
    labels = SufficientExplainer.for_model(lambda X: (X["hour"] > 12).astype(float), TABLE, random_state=0)
    assert (labels.task_, labels.fitted_.is_probability) == ("classification", False)


def test_an_explainer_of_a_probability_can_be_fitted_to_classes_later():
    explainer = SufficientExplainer.for_model(logistic(), TABLE, probability_of="busy", random_state=0)
    assert explainer.fit(TABLE, BUSY).task_ == "classification"
    assert not explainer.fitted_.is_probability


def test_the_radius_of_a_probability_is_saved(tmp_path):
    explainer = SufficientExplainer.for_model(logistic(), TABLE, probability_of="busy", random_state=0)
    explainer.save(tmp_path / "m")
    loaded = SufficientExplainer.load(tmp_path / "m")
    outcomes = explainer.explain(TABLE[:9]).outcomes
    np.testing.assert_array_equal(loaded.interval(TABLE[:9], outcomes), explainer.interval(TABLE[:9]))
    quantiles = explainer.with_settings(alpha=0.05)
    quantiles.save(tmp_path / "m")
    loaded = SufficientExplainer.load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.interval(TABLE[:9], outcomes), quantiles.interval(TABLE[:9]))


def test_fidelity_is_reported_for_each_class():
    y = np.where(np.arange(N) % 10 == 0, "rare", BUSY)  # cannot be predicted from the table
    explainer = SufficientExplainer(RandomForestClassifier(**FOREST)).fit(TABLE, y)
    by_class = explainer.fidelity_by_class_
    assert list(by_class) == ["busy", "calm", "rare"]
    assert by_class["rare"] < 0.1
    assert by_class["busy"] > 0.95
    shares = np.array([np.mean(y == label) for label in by_class])
    assert explainer.fidelity_ == pytest.approx(shares @ list(by_class.values()))
    assert not hasattr(SufficientExplainer(RandomForestRegressor(**FOREST)).fit(TABLE, RIDES), "fidelity_by_class_")


def test_rows_where_forest_and_model_disagree_are_marked():
    explainer = SufficientExplainer(RandomForestClassifier(**FOREST)).fit(TABLE, BUSY)
    predictions = explainer.predict(TABLE[:5])
    others = np.where(predictions == "busy", "calm", "busy")
    for e, own, other in zip(explainer.explain(TABLE[:5], others), predictions, others, strict=True):
        assert (e.outcome, e.prediction, e.forest_agrees) == (other, own, False)
        assert f"The outcome is observed: {other} (" in str(e)
        assert f"Read with care. The forest predicts {own} here." in str(e)
    assert all(e.forest_agrees for e in explainer.explain(TABLE[:5]))
    assert explainer.explain(TABLE[:5], others).to_frame()["forest_agrees"].unique().tolist() == [False]


def test_numbers_far_from_what_the_forest_says_are_marked():
    explainer = SufficientExplainer(RandomForestRegressor(**FOREST), radius=2.0).fit(TABLE, RIDES)
    e = explainer.explain(TABLE[:1], [1000.0])[0]
    assert not e.forest_agrees
    assert "The forest predicts" in str(e)


def test_an_explainer_of_a_model_comes_back_from_a_pickle():
    explainer = SufficientExplainer.for_model(logistic(), TABLE, random_state=0)
    again = pickle.loads(pickle.dumps(explainer))
    assert [str(e) for e in again.explain(TABLE[:5])] == [str(e) for e in explainer.explain(TABLE[:5])]


def test_the_model_is_not_asked_about_given_outcomes_or_no_rows():
    def once(X):
        assert len(X) == N
        return BUSY

    explainer = SufficientExplainer.for_model(once, TABLE, random_state=0)
    assert explainer.explain(TABLE[:3], BUSY[:3])[0].outcome == BUSY[0]
    assert len(explainer.explain(TABLE[:0])) == 0


@pytest.mark.parametrize(
    ("outputs", "expected"),
    [
        ([1.0, 2.0], [1.0, 2.0]),
        ([[1.0], [2.0]], [1.0, 2.0]),
        ([[0.1, 0.9, 0.0], [0.5, 0.3, 0.2]], [1, 0]),
        (pd.Series(["a", "b"]), ["a", "b"]),
        (Tensor(np.array([[0.1, 0.9], [0.8, 0.2]])), [1, 0]),
    ],
)
def test_outputs_of_every_shape_are_read(outputs, expected):
    assert ask_model(lambda X: outputs, None, 2).tolist() == expected


def test_scores_take_the_names_of_the_classes():
    scores = Scores()
    scores.classes_ = ["no", "yes"]
    assert ask_model(scores, np.array([[0.0, 5.0], [0.0, -5.0]]), 2).tolist() == ["yes", "no"]
    scores.classes_ = ["no"]
    with pytest.raises(ValueError, match=r"`model` gave scores of 2 classes, but the model has 1\."):
        ask_model(scores, np.zeros((2, 2)), 2)


LINEAR = LogisticRegression().fit([[0.0], [1.0]], ["a", "b"])


@pytest.mark.parametrize(
    ("model", "options", "error", "message"),
    [
        (3, {}, TypeError, "`model` must have a method `predict` or be a function of the table, got int."),
        (lambda X: [1.0], {}, ValueError, "`model` must give one output for each of the 2 rows, or one score for each"),
        (lambda X: np.zeros((2, 3, 4)), {}, ValueError, "got shape (2, 3, 4)."),
        (lambda X: 1.0, {}, ValueError, "got shape ()."),
        (LINEAR, {"probability_of": "c"}, ValueError, "must be one of the model's classes, ['a', 'b'], got 'c'."),
        (lambda X: [0.5, 0.5], {"probability_of": 1}, ValueError, "needs one column for each class; `model` gave one"),
        (HistGradientBoostingRegressor(), {"probability_of": 1}, TypeError, "needs a model with `predict_proba` or a"),
    ],
)
def test_a_model_that_cannot_be_asked_is_refused(model, options, error, message):
    with pytest.raises(error, match=re.escape(message)):
        ask_model(model, [[0.0], [1.0]], 2, **options)


@pytest.mark.parametrize(
    ("model", "task"),
    [
        (XGBClassifier(), "classification"),
        (LINEAR, "classification"),
        (XGBRegressor(), "regression"),
        (make_pipeline(StandardScaler(), HistGradientBoostingRegressor()), "regression"),
        (type("OldRegressor", (), {"_estimator_type": "regressor"})(), "regression"),  # as XGBoost before 3.0 says it
        (len, "auto"),
        (Scores(), "auto"),
    ],
)
def test_the_task_is_that_of_the_model(model, task):
    assert task_of_model(model) == task


def test_what_the_model_says_of_itself_goes_before_its_outputs():
    """Labels of 24 classes look like counts, and a regression on 0 and 1 like classes."""
    hour, late = TABLE[["hour"]], (TABLE["hour"] > 12).astype(float)
    many = DecisionTreeClassifier().fit(hour, TABLE["hour"] + 100)
    few = DecisionTreeRegressor().fit(hour, late)
    assert SufficientExplainer.for_model(many, hour, random_state=0).task_ == "classification"
    assert SufficientExplainer.for_model(few, hour, random_state=0).task_ == "regression"
