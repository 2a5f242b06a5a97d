import numpy as np
import pytest
from fitted_models import PIPELINES, SIZES, forest, number_table, predict_as_read, text_table, two, with_gaps
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from suffice.proofs.joining import of_float32
from suffice.proofs.reading import compare_outputs, read_model


@pytest.mark.parametrize("n_rows", SIZES)
@pytest.mark.parametrize("name", PIPELINES)
def test_a_pipeline_predicts_as_what_was_read_of_it(name, n_rows):
    model, ensemble, rows, _, decided = predict_as_read(*PIPELINES[name], n_rows, 1e100)
    np.testing.assert_array_equal(decided, model.predict(rows))
    assert [column.name for column in ensemble.columns] == list(rows.columns)
    assert len(np.unique(decided)) > 1


def test_tables_of_arrays_polars_and_float32_are_read():
    pl = pytest.importorskip("polars")
    X, score = with_gaps()
    for table in (X.to_numpy(), pl.from_pandas(X), X.astype("float32"), X.to_numpy().astype("float32")):
        for name in ("imputed and scaled", "scaled before lightgbm"):
            model = clone(PIPELINES[name][0]).fit(table, two(score))
            assert compare_outputs(read_model(model, table), table, model.predict(table)) == 0


def test_thresholds_are_those_of_the_users_numbers():
    X, score = with_gaps()
    y = two(score)
    model = make_pipeline(SimpleImputer(), forest()).fit(X, y)
    plain = read_model(model, X)
    own = np.concatenate([tree.tree_.threshold[tree.tree_.feature >= 0] for tree in model[-1].estimators_])
    np.testing.assert_array_equal(plain.threshold[plain.column >= 0], of_float32(own))


def test_steps_that_cannot_be_read_are_named():
    X, score = number_table()
    y = two(score)
    for step, name in ((PCA(2), "PCA"), (FunctionTransformer(np.abs), "FunctionTransformer")):
        with pytest.raises(ValueError, match=f"The step {name} before the model cannot be read; steps that select"):
            read_model(make_pipeline(step, forest()).fit(X, y), X)
    with pytest.raises(ValueError, match=r"SimpleImputer replaces the number 20\.0"):
        read_model(make_pipeline(SimpleImputer(missing_values=20.0), forest()).fit(X, y), X)
    model = make_pipeline(SimpleImputer(), forest()).fit(X, y)
    for table in (None, X[:0]):
        with pytest.raises(ValueError, match="pass `X`, rows as"):
            read_model(model, table)


def test_labels_that_the_encoder_has_not_seen_are_asked_about():
    X, score = text_table()
    X = X.drop(columns="rooms")
    model = clone(PIPELINES["one-hot of frequent labels"][0]).fit(X, two(score))
    X.loc[399, "job"] = "baker"
    ensemble = read_model(model, X)
    assert ensemble.columns[3].labels == ("cook", "judge", "nurse", "pilot", "smith", "baker")
    assert compare_outputs(ensemble, X, model.predict(X)) == 0
    with pytest.raises(ValueError, match=r"holds 'miner', which RandomForestClassifier \(15 trees\) does not know"):
        ensemble.encode(X.replace("baker", "miner"))
