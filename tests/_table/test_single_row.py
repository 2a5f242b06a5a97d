"""A single row has the numbers and the answers that it has among others, in every form."""

import contextlib

import numpy as np
import pandas as pd
import polars as pl
import pytest

from suffice import SufficientExplainer
from suffice.errors import TextColumnWarning

N = 120
LARGE = 2**53 + 1  # as float64 it is the number before it


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 90 * 24, N), unit="h")
    return pd.DataFrame(
        {
            "whole": rng.integers(0, 50, N),
            "number": np.where(rng.random(N) < 0.1, np.nan, rng.normal(size=N)),
            "text": rng.choice(["red", "green", "blue"], N),
            "flag": rng.random(N) < 0.5,
            "size": pd.Categorical(rng.choice(["S", "M", "L"], N), categories=["S", "M", "L"], ordered=True),
            "code": pd.Categorical(rng.choice([1, 2, LARGE - 1, LARGE], N)),
            "written": rng.integers(0, 1000, N).astype(str),
            "day": days,
        }
    )


@pytest.fixture(scope="module")
def explainer(table):
    y = (table["whole"] > 25) ^ (table["text"] == "red")
    fitted = SufficientExplainer(dates="parts", random_state=0, n_jobs=1)
    with pytest.warns(TextColumnWarning, match="'written'"):
        fitted.fit(table, y)
    return fitted


def forms(frame):
    """A row in all its forms, where they can hold its values."""
    row = {name: frame[name].iloc[0] for name in frame}
    made = [frame, frame.iloc[0], row, frame[frame.columns[::-1]]]
    with contextlib.suppress(Exception):  # polars has no type for some mixtures
        made.append(pl.from_pandas(frame))
    with contextlib.suppress(Exception):
        made.append(pl.DataFrame({name: [value] for name, value in row.items()}))
    return made


def test_a_row_has_the_numbers_that_it_has_among_others(explainer, table):
    matrix = explainer.encode(table[:20])
    for i in range(20):
        made = forms(table.iloc[[i]])
        assert len(made) >= 5  # polars 1.4 takes no categories that are numbers from pandas
        for form in made:
            np.testing.assert_array_equal(explainer.encode(form), matrix[[i]])


def test_large_whole_numbers_among_others_are_told_apart(table):
    """The row of a frame of numbers has one type, in which the categories 2**53 and 2**53 + 1 would be one."""
    code = np.where(np.arange(N) % 2 == 0, LARGE - 1, LARGE)
    frame = pd.DataFrame({"code": pd.Categorical(code), "number": table["number"].fillna(0.0)})
    explainer = SufficientExplainer(random_state=0, n_jobs=1).fit(frame, code == LARGE)
    rows = pd.DataFrame({"code": code, "number": frame["number"]})
    first, second = (explainer.encode(rows.iloc[[i]]) for i in range(2))
    assert first[0, 0] != second[0, 0]


def test_a_forest_without_missing_values_refuses_them_in_a_single_row(table):
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(5, monotonic_cst=[0, 0], random_state=0)
    known = table[["whole", "number"]].fillna(0.0)
    explainer = SufficientExplainer(forest, random_state=0, n_jobs=1).fit(known, known["whole"] > 25)
    with pytest.raises(ValueError, match="Column 'number' of `X` holds NaN"):
        explainer.encode({"whole": 3, "number": None})


def test_columns_of_an_array_have_no_names_to_go_by():
    X = np.random.default_rng(0).normal(size=(60, 2))
    explainer = SufficientExplainer(random_state=0, n_jobs=1).fit(X, X[:, 0] > 0)
    with pytest.warns(UserWarning, match="X has feature names"):
        explainer.encode(pd.DataFrame(X[:1], columns=["x0", "x1"]))


def test_explanations_of_a_row_are_those_among_others(explainer, table):
    together = explainer.explain(table[:6], progress=False)
    for i in range(6):
        for form in forms(table.iloc[[i]]):
            alone = explainer.explain(form, progress=False)
            for name in ("best_masks", "best_sdps", "best_squares", "offered"):
                ours, theirs = getattr(alone.answers.sets, name)[0], getattr(together.answers.sets, name)[i]
                np.testing.assert_array_equal(ours, theirs)
            assert alone[0].rules == together[i].rules
