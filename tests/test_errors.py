"""Errors that know their place, and warnings that name the caller's line."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

from suffice import SufficientExplainer
from suffice.errors import (
    FidelityWarning,
    InputError,
    InputTypeError,
    InputValueError,
    RareCategoriesWarning,
    SearchSizeWarning,
    did_you_mean,
    warn,
)

CLASSES = [(InputValueError, ValueError), (InputTypeError, TypeError)]


@pytest.mark.parametrize(("kind", "base"), CLASSES)
def test_an_input_error_is_caught_as_a_plain_one_and_knows_its_place(kind, base):
    with pytest.raises(base, match=r"^It holds 'x' \(row 3\), which is wrong\.$") as caught:
        raise kind("It holds 'x'", ", which is wrong.", row=3, column="a", value="x")
    error = caught.value
    assert isinstance(error, InputError)
    assert (error.row, error.column, error.value) == (3, "a", "x")


def test_an_input_error_without_a_place_has_a_plain_message():
    error = InputValueError("The table is empty.")
    assert str(error) == "The table is empty."
    assert (error.row, error.column, error.value) == (None, None, None)


@pytest.mark.parametrize(("kind", "base"), CLASSES)
def test_a_moved_error_differs_in_its_row_alone(kind, base):
    error = kind("It holds (row 1)", ": fill it in.", row=0, column="a", value="(row 1)")
    moved = error.moved(47)
    assert type(moved) is kind
    assert str(moved) == "It holds (row 1) (row 47): fill it in."
    assert (moved.row, moved.column, moved.value) == (47, "a", "(row 1)")
    assert str(error) == "It holds (row 1) (row 0): fill it in."
    assert str(error.moved(None)) == "It holds (row 1): fill it in."


def test_a_place_takes_the_place_of_the_row_number():
    error = InputValueError("It holds NaN", ": fill it in.", row=0, column="a").moved(5, "Row 5 of partition 1")
    assert str(error) == "Row 5 of partition 1: It holds NaN: fill it in."
    assert error.row == 5
    assert str(error.moved(6)) == "It holds NaN (row 6): fill it in."


@pytest.mark.parametrize("place", [None, "Row 5 of partition 1"])
@pytest.mark.parametrize(("kind", "base"), CLASSES)
def test_an_input_error_comes_back_from_another_process(kind, base, place):
    error = kind("It holds 2", ", not 1.", row=5, column="a", value=2, place=place)
    read = pickle.loads(pickle.dumps(error))
    assert type(read) is kind
    assert str(read) == str(error)
    assert vars(read) == vars(error)


def test_a_warning_of_the_package_names_the_callers_line():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn("Mind this.", UserWarning)
    assert [(Path(w.filename).name, str(w.message)) for w in caught] == [(Path(__file__).name, "Mind this.")]


def _fit_on_rare_categories():
    X = pd.DataFrame({"name": [f"n{i}" for i in range(60)]})
    SufficientExplainer(random_state=0).fit(X, np.arange(60) % 2)


def _fit_on_noise():
    rng = np.random.default_rng(0)
    SufficientExplainer(random_state=0).fit(rng.normal(size=(60, 2)), rng.normal(size=60))


def _end_early():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6))
    explainer = SufficientExplainer(RandomForestClassifier(5, random_state=0), max_sets=1, random_state=0)
    explainer.fit(X, X[:, 0] + X[:, 1] > 0).explain(X[:2])


def _ask_without_names():
    X = pd.DataFrame({"a": np.arange(100.0), "b": ["x", "y"] * 50})
    explainer = SufficientExplainer(random_state=0).fit(X, X["a"] > 50)
    explainer.explain(X[:1].to_numpy(dtype=object))


@pytest.mark.parametrize(
    ("act", "category", "text"),
    [
        (_fit_on_rare_categories, RareCategoriesWarning, "Most rows of the column 'name'"),
        (_fit_on_noise, FidelityWarning, "The variables say nothing about the outcomes"),
        (_end_early, SearchSizeWarning, "The search ended after 1 of"),
        (_ask_without_names, UserWarning, "X does not have valid feature names"),
    ],
)
def test_warnings_from_deep_inside_name_the_callers_line(act, category, text):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        act()
    chosen = [w for w in caught if issubclass(w.category, category) and str(w.message).startswith(text)]
    assert [w.filename for w in chosen] == [__file__]
    assert act.__code__.co_firstlineno < chosen[0].lineno


def test_a_near_word_is_suggested():
    assert did_you_mean("hours", ["hour", "temp"]) == " Did you mean 'hour'?"
    assert did_you_mean("wind", ["hour", "temp"]) == ""
