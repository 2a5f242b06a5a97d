"""Model files: true ones are read as their models, forged ones are refused and end nothing."""

from __future__ import annotations

from contextlib import suppress

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb

from suffice._io.model_file import read_model_file
from suffice.proofs.reading import compare_outputs, read_model

RNG = np.random.default_rng(0)
X = pd.DataFrame({"age": RNG.normal(size=300).round(2), "job": pd.Categorical(RNG.choice(["cook", "smith"], 300))})
Y = ((X["age"] > 0) ^ (X["job"] == "cook")).astype(int)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files of two models, and what they predict."""
    folder = tmp_path_factory.mktemp("models")
    boosted = xgb.XGBClassifier(n_estimators=3, enable_categorical=True).fit(X, Y)
    boosted.save_model(folder / "model.json")
    boosted.save_model(folder / "model.ubj")
    leaves = lgb.LGBMClassifier(n_estimators=3, n_jobs=1, verbose=-1).fit(X, Y)
    leaves.booster_.save_model(folder / "model.txt")
    return folder, boosted, leaves


@pytest.mark.parametrize("kind", ["json", "ubj", "txt"])
def test_files_are_read_as_their_models(kind, folder):
    folder, boosted, leaves = folder
    model = leaves if kind == "txt" else boosted
    read = read_model_file(folder / f"model.{kind}", X)
    assert compare_outputs(read, X, model.predict(X)) == 0
    assert read.columns == read_model(model, X).columns
    assert read.name == f"Booster ({len(read.roots)} trees)"


FORGED = [("num_leaves=", "num_leaves=9"), ("left_child=", "left_child=99 "), ("leaf_value=", "leaf_value=x ")]
FORGED += [
    ("split_feature=", "split_feature=-5 "),
    ("Tree=1", "Tree"),
    ("num_cat=", "num_cat=99"),
    ("end of trees", ""),
]


@pytest.mark.parametrize("edit", FORGED, ids=repr)
def test_a_forged_file_ends_nothing(edit, folder, tmp_path):
    """98 of 200 forged files of LightGBM ended the process that read them, by a segmentation fault or an abort."""
    text = (folder[0] / "model.txt").read_text()
    assert edit[0] in text
    (tmp_path / "forged.txt").write_text(text.replace(*edit))
    with suppress(ValueError):  # some forged files are models
        read_model_file(tmp_path / "forged.txt", X)


def test_a_file_that_occupies_its_library_for_ever_is_refused(folder, tmp_path, monkeypatch):
    """LightGBM never ended reading the text after a zero byte: 8 of 150 forged files kept the command waiting."""
    monkeypatch.setattr("suffice._io.model_file.MAX_SECONDS", 3)
    text = (folder[0] / "model.txt").read_text()
    (tmp_path / "zero.txt").write_text(text.replace("pandas_cat", "pandas_c\0"))
    with pytest.raises(ValueError, match=r"zero\.txt' is no model of LightGBM: its library ended while reading it\.$"):
        read_model_file(tmp_path / "zero.txt", X)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("cut.json", "{" + "[" * 100_000, r"is no model of XGBoost: .{10,300}$"),
        ("escape.json", '{"learner": \x1b[31m}', r"is no model of XGBoost: [^\x1b]*$"),
        ("number.json", '{"oblivious_trees": ' + "9" * 5000 + "}", "is no model of CatBoost"),
        ("list.json", '["oblivious_trees"]', r"list\.json' cannot be read: .* not what catboost documents: TypeError"),
        ("deep.json", '{"oblivious_trees":' + "[" * 100_000, "is no model of CatBoost"),
        ("empty.ubj", "", "is no model of XGBoost"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_in_a_line(name, text, message, tmp_path):
    """XGBoost adds the state of its stack, and what it found in the file as it is."""
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=message) as caught:
        read_model_file(tmp_path / name, X)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("model.pkl", "A pickle, which may run any code, is not loaded"),
        ("model.cbm", "must be a model file, as its library saves it"),
        ("model", "must be a model file"),
        ("model.txt", "is no model of LightGBM"),
        ("model.json", "is no model of XGBoost"),
    ],
)
def test_files_of_no_model_are_refused(tmp_path, name, message):
    (tmp_path / name).write_text('{"a": 1}')
    with pytest.raises(ValueError, match=message):
        read_model_file(tmp_path / name)
