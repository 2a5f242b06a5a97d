import numpy as np
import pytest
import xgboost as xgb
from fitted_models import MODELS, SIZES, number_table, predict_as_read, two
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from suffice.proofs.reading import compare_outputs, read_model


@pytest.mark.parametrize("n_rows", SIZES)
@pytest.mark.parametrize("name", MODELS)
def test_a_model_predicts_as_what_was_read_of_it(name, n_rows):
    model, make_table, outcomes, margins_of, largest = MODELS[name]
    model, ensemble, rows, margins, decided = predict_as_read(model, make_table, outcomes, n_rows, largest)
    if margins_of is not None:
        own = np.asarray(margins_of(model)(rows), dtype=float).reshape(margins.shape)
        assert np.abs(own - margins).max() <= ensemble.rounding
    if ensemble.classes is not None:
        np.testing.assert_array_equal(decided, model.predict(rows))
    assert compare_outputs(ensemble, rows, model.predict(rows)) == 0
    assert len(np.unique(decided)) > 1


def test_models_that_cannot_be_read_are_named():
    X, score = number_table()
    y = two(score)
    voting = VotingClassifier([("forest", RandomForestClassifier(5))])
    for model in (SVC(), LogisticRegression(), voting, CalibratedClassifierCV(RandomForestClassifier(5))):
        with pytest.raises(
            TypeError, match=f"A {type(model).__name__} cannot be read as trees. Models that can be read"
        ):
            read_model(model.fit(X, y), X)
    with pytest.raises(TypeError, match="A function cannot be read"):
        read_model(lambda X: X, X)
    with pytest.raises(ValueError, match="is not fitted"):
        read_model(RandomForestClassifier(), X)
    with pytest.raises(ValueError, match="pass `X`"):
        read_model(make_pipeline(RandomForestClassifier(5)).fit(X, y))


def test_a_table_of_another_model_is_named():
    X, score = number_table()
    model = RandomForestClassifier(5).fit(X, two(score))
    with pytest.raises(ValueError, match=r"missing \['debt'\], unexpected \['debts'\]"):
        read_model(model, X.rename(columns={"debt": "debts"}))
    with pytest.raises(ValueError, match="`X` has 2 columns, the model was fitted on 3"):
        read_model(model, X.to_numpy()[:, :2])
    with pytest.raises(ValueError, match="fitted on 3 without names"):
        read_model(RandomForestClassifier(5).fit(X.to_numpy(), two(score)), X[["age", "debt"]])


def test_outputs_of_another_model_are_counted():
    X, score = number_table()
    model = RandomForestClassifier(5, random_state=0).fit(X, two(score))
    ensemble, outputs = read_model(model, X), model.predict(X)
    outputs[:100] = np.where(outputs[:100] == "yes", "no", "yes")
    assert compare_outputs(ensemble, X, outputs) == 0.25
    with pytest.raises(ValueError, match="`outputs` has 3 values for 400 rows"):
        compare_outputs(ensemble, X, outputs[:3])
    numbers = xgb.XGBRegressor(n_estimators=5).fit(X, score)
    assert compare_outputs(read_model(numbers, X), X, numbers.predict(X) + 0.001 * (np.arange(400) == 7)) == 1 / 400
    assert compare_outputs(read_model(numbers, X), X, np.full(400, np.nan)) == 1
