import numpy as np
import pytest
from fitted_models import number_table, two
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from suffice.proofs.reading import read_model


def test_the_votes_of_whole_trees_are_exact():
    X, score = number_table()
    model = RandomForestClassifier(10, random_state=0, bootstrap=False, max_features=1).fit(X.to_numpy(), two(score))
    ensemble = read_model(model)
    assert ensemble.rounding == 0
    rows = np.random.default_rng(0).normal(X.mean(), X.std(), (3_000, 3)).astype(np.float32)
    margins = ensemble.margins(rows)
    ties = margins[:, 0] == margins[:, 1]
    assert ties.sum() > 10
    np.testing.assert_array_equal(ensemble.decide(rows), model.predict(rows))


def test_models_of_several_outcomes_and_other_starts_are_named():
    X, score = number_table()
    y = two(score)
    with pytest.raises(ValueError, match="predicts 2 outcomes"):
        read_model(RandomForestClassifier(5).fit(X, np.column_stack([y, y])), X)
    for init in (LogisticRegression(), DummyClassifier(strategy="uniform")):
        with pytest.raises(ValueError, match=f"starts from the outputs of a {type(init).__name__}"):
            read_model(GradientBoostingClassifier(init=init, n_estimators=2).fit(X, y), X)


def test_a_margin_of_0_is_the_second_class_of_gradient_boosting_and_the_first_of_histograms():
    X, y = np.array([[0.0], [0.0]]), np.array(["a", "b"])
    for model, label in (
        (GradientBoostingClassifier(n_estimators=1), "b"),
        (HistGradientBoostingClassifier(max_iter=1), "a"),
    ):
        ensemble = read_model(model.fit(X, y), X)
        assert ensemble.margins(X).tolist() == [[0.0], [0.0]]
        assert ensemble.decide(X)[0] == model.predict(X)[0] == label
