"""CatBoost is read from its JSON; `make test-catboost` installs it, in an environment of its own, and runs these."""

import json

import numpy as np
import pytest
from fitted_models import FLOAT32, as_is, coded, mixed_table, positive, rows_at_thresholds, three, two, with_gaps

from suffice._io.model_file import read_model_file
from suffice.proofs.reading import compare_outputs, read_model

catboost = pytest.importorskip("catboost")
QUICK = {"iterations": 20, "depth": 4, "verbose": 0, "allow_writing_files": False, "thread_count": 1}
LABELLED = {"one_hot_max_size": 10, "cat_features": ["job"], **QUICK}


def labelled_table():
    X, score = mixed_table()
    return X.assign(job=X.job.astype(object).where(X.job.notna(), "none")), score


@pytest.mark.parametrize("n_rows", [1_000, pytest.param(100_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("model", "make_table", "outcomes"),
    [
        (catboost.CatBoostClassifier(**QUICK), with_gaps, two),
        (catboost.CatBoostClassifier(**QUICK), with_gaps, coded(three)),
        (catboost.CatBoostRegressor(nan_mode="Max", **QUICK), with_gaps, as_is),
        (catboost.CatBoostClassifier(**LABELLED), labelled_table, two),
        (catboost.CatBoostRegressor(loss_function="Poisson", **LABELLED), labelled_table, positive),
    ],
)
def test_a_model_predicts_as_what_was_read_of_it(model, make_table, outcomes, n_rows):
    X, score = make_table()
    model.fit(X, outcomes(score))
    ensemble = read_model(model, X)
    rows = rows_at_thresholds(ensemble, X, n_rows, FLOAT32)
    margins = ensemble.margins(ensemble.encode(rows))
    own = model.predict(rows, prediction_type="RawFormulaVal").reshape(margins.shape)
    assert np.abs(own - margins).max() <= ensemble.rounding
    assert compare_outputs(ensemble, rows, model.predict(rows).ravel()) == 0


def test_a_file_is_read_as_its_model(tmp_path):
    X, score = labelled_table()
    model = catboost.CatBoostClassifier(**LABELLED).fit(X, two(score))
    model.save_model(str(tmp_path / "model.json"), format="json", pool=catboost.Pool(X, cat_features=["job"]))
    assert compare_outputs(read_model_file(tmp_path / "model.json", X), X, model.predict(X)) == 0
    with pytest.raises(ValueError, match="Column 'job' of this model holds categories: pass `X`"):
        read_model_file(tmp_path / "model.json")
    dump = json.loads((tmp_path / "model.json").read_text())
    dump["oblivious_trees"][0]["leaf_values"] *= 3
    (tmp_path / "forged.json").write_text(json.dumps(dump))
    with pytest.raises(ValueError, match="a tree with 4 splits has 48 leaves"):
        read_model_file(tmp_path / "forged.json", X)


def test_other_models_are_named():
    X, score = labelled_table()
    with pytest.raises(ValueError, match="type 'OnlineCtr': it encodes categories by outcomes"):
        read_model(catboost.CatBoostClassifier(**{**LABELLED, "one_hot_max_size": 2}).fit(X, two(score)), X)
    X, score = with_gaps()
    with pytest.raises(ValueError, match="grow_policy='SymmetricTree'"):
        read_model(catboost.CatBoostClassifier(grow_policy="Lossguide", **QUICK).fit(X, two(score)), X)
    with pytest.raises(ValueError, match="the objective 'CrossEntropy'"):
        read_model(catboost.CatBoostClassifier(loss_function="CrossEntropy", **QUICK).fit(X, coded(two)(score)), X)
