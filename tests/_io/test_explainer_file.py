"""Saved explainers as the command and the app read them."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

from suffice import SufficientExplainer
from suffice._io.explainer_file import load_explainer_file, text_columns, training_rows


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    return pl.DataFrame(
        {
            "city": rng.choice(["Paris", "Rome", "Oslo"], 90),
            "age": np.where(np.arange(90) % 7 == 0, np.nan, rng.integers(18, 80, 90)),
            "member": rng.random(90) > 0.5,
            "day": [datetime.date(2024, 1, 1 + i % 28) for i in range(90)],
        }
    )


def fit(X, **options):
    return SufficientExplainer(random_state=0, **options).fit(X, ["yes" if c == "Oslo" else "no" for c in X["city"]])


@pytest.fixture(scope="module")
def explainer(table):
    return fit(table.drop("day"))


def test_settings_replace_those_of_the_file_unless_they_are_none(explainer, tmp_path):
    path = str(tmp_path / "a.suffice")
    explainer.save(path)
    loaded = load_explainer_file(path)
    assert (loaded.pi, loaded.unseen) == (explainer.pi, "error")
    changed = load_explainer_file(path, {"pi": 0.7, "unseen": "missing", "extra_columns": None})
    assert (changed.pi, changed.unseen, changed.extra_columns) == (0.7, "missing", explainer.extra_columns)


def test_a_file_that_is_not_there_is_refused_in_one_sentence(tmp_path):
    with pytest.raises(ValueError, match=r"^There is no file '.*none\.suffice'\.$"):
        load_explainer_file(str(tmp_path / "none.suffice"))


def test_columns_of_text_are_known(explainer):
    assert text_columns(explainer) == {"city"}


def test_the_training_rows_come_back(explainer, table):
    X, y = training_rows(explainer)
    assert X.columns == ["city", "age", "member"]
    assert X["city"].to_list() == table["city"].to_list()
    assert X["age"].fill_nan(None).to_list() == table["age"].fill_nan(None).to_list()
    assert X["member"].cast(pl.Boolean).to_list() == table["member"].to_list()
    assert list(y) == ["yes" if c == "Oslo" else "no" for c in table["city"]]


def test_labels_of_several_types_come_back_as_they_were(table):
    """polars wrote the label False among texts as "false", which the explainer then refused."""
    city = [False if name == "Rome" else name for name in table["city"]]
    explainer = fit(pd.DataFrame({"city": pd.Categorical(city), "age": table["age"].to_list()}))
    X, _ = training_rows(explainer)
    assert X["city"].to_list() == city
    explainer.predict(X)


def test_dates_cannot_come_back(table):
    with pytest.raises(ValueError, match="fitted on dates and holds only their parts: name the table as well"):
        training_rows(fit(table, dates="parts"))
