"""A single row that is read quickly has the numbers of the general way, or is left to it."""

import contextlib
import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from suffice import SufficientExplainer
from suffice._table.rows import read_single_row
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
def explainers(table):
    y = (table["whole"] > 25) ^ (table["text"] == "red")
    fitted = SufficientExplainer(dates="parts", random_state=0, n_jobs=1)
    with pytest.warns(TextColumnWarning, match="'written'"):
        fitted.fit(table, y)
    return {"error": fitted, "missing": fitted.with_settings(unseen="missing")}


VALUES = [
    0,
    7,
    -3,
    2.5,
    -0.0,
    float("nan"),
    float("inf"),
    -1e300,
    2**53,
    LARGE,
    2**63,
    10**400,
    True,
    False,
    None,
    pd.NA,
    pd.NaT,
    "red",
    "violet",
    "S",
    "XL",
    "12",
    " 7 ",
    "",
    "NA",
    "twelve",
    b"red",
    1j,
    np.float32(0.1),
    np.int8(2),
    np.uint64(2**63),
    np.str_("red"),
    np.datetime64("2024-02-03T04:05"),
    datetime.date(2024, 2, 3),
    datetime.datetime(2024, 2, 3, 4, 5, tzinfo=datetime.timezone(datetime.timedelta(hours=9))),
    pd.Timestamp("2024-02-03 04:05:06"),
    pd.Timestamp("2024-02-03 04:05", tz="Asia/Tokyo"),
    datetime.timedelta(hours=3),
    decimal.Decimal("2.5"),
    (1, 2),
    [1],
]
DTYPES = ["Int64", "float32", "boolean", "string", "category", "uint64"]


def answer(read):
    """The numbers as bytes, or the error."""
    try:
        return read().tobytes()
    except Exception as error:
        return type(error), str(error)


def compare(explainer, X):
    """Compare both ways for a row, and tell whether it was read quickly."""
    state = explainer.fitted_
    general = answer(lambda: state.encode(explainer._read_table(explainer.fitted_, X)))
    assert answer(lambda: explainer._encode(explainer.fitted_, X)[0]) == general
    plain = read_single_row(X, state.encoding)
    if plain is not None:
        assert plain[1] == explainer._read_table(explainer.fitted_, X).library
    return plain is not None


def forms(frame):
    """A row in all its forms, where they can hold its values."""
    row = {name: frame[name].iloc[0] for name in frame}
    made = [frame, frame.iloc[0], row, frame[frame.columns[::-1]]]
    with contextlib.suppress(Exception):  # polars has no type for some mixtures
        made.append(pl.from_pandas(frame))
    with contextlib.suppress(Exception):
        made.append(pl.DataFrame({name: [value] for name, value in row.items()}))
    return made


def test_plain_rows_are_read_quickly_in_every_form(explainers, table):
    for i in range(20):
        row = table.iloc[[i]]
        # polars 1.4 takes no categories that are numbers from pandas, which leaves five forms.
        quick = [compare(explainers["error"], form) for form in forms(row)]
        assert quick in ([True] * 6, [True] * 5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "unseen"),
    [
        *((name, "error") for name in ("whole", "number", "text", "flag", "size", "code", "written", "day")),
        *((name, "missing") for name in ("text", "size", "code")),
    ],
)
def test_any_value_gives_the_numbers_or_the_error_of_the_general_way(explainers, table, name, unseen):
    n_quick = 0
    for value in VALUES:
        column = pd.Series([value], index=[3], dtype=object)
        objects = table.iloc[[3]].assign(**{name: column})
        rows = [objects, *forms(objects.infer_objects())]
        for dtype in DTYPES:
            try:
                rows.append(objects.assign(**{name: column.astype(dtype)}))
            except Exception:  # a value that the type cannot hold
                continue
        n_quick += sum(compare(explainers[unseen], row) for row in rows)
    assert n_quick > 0


def test_large_whole_numbers_among_others_are_told_apart(table):
    """The row of a frame of numbers has one type, in which the categories 2**53 and 2**53 + 1 would be one."""
    code = np.where(np.arange(N) % 2 == 0, LARGE - 1, LARGE)
    frame = pd.DataFrame({"code": pd.Categorical(code), "number": table["number"].fillna(0.0)})
    explainer = SufficientExplainer(random_state=0, n_jobs=1).fit(frame, code == LARGE)
    rows = pd.DataFrame({"code": code, "number": frame["number"]})
    assert [compare(explainer, rows.iloc[[i]]) for i in range(4)] == [True] * 4
    assert (
        explainer._encode(explainer.fitted_, rows.iloc[[0]])[0][0, 0]
        != explainer._encode(explainer.fitted_, rows.iloc[[1]])[0][0, 0]
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda row: row.drop(columns="text"),
        lambda row: row.assign(more=1),
        lambda row: row.rename(columns={"text": "words"}),
        lambda row: pd.concat([row, row[["text"]]], axis=1),
        lambda row: pd.concat([row.drop(columns="text"), row[["day"]]], axis=1),
        lambda row: pd.concat([row, row]),
        lambda row: row.iloc[:0],
        lambda row: row.set_axis(range(row.shape[1]), axis=1),
        lambda row: row.to_numpy(),
        type("Own", (pd.DataFrame,), {}),
        lambda row: pl.DataFrame(row.to_dict("list")).lazy(),
    ],
)
def test_other_tables_are_left_to_the_general_way(explainers, table, change):
    assert not compare(explainers["error"], change(table.iloc[[5]]))


def test_a_forest_without_missing_values_refuses_them_in_a_single_row(table):
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(5, monotonic_cst=[0, 0], random_state=0)
    known = table[["whole", "number"]].fillna(0.0)
    explainer = SufficientExplainer(forest, random_state=0, n_jobs=1).fit(known, known["whole"] > 25)
    with pytest.raises(ValueError, match="Column 'number' of `X` holds NaN"):
        explainer._encode(explainer.fitted_, {"whole": 3, "number": None})


def test_columns_of_an_array_have_no_names_to_go_by():
    X = np.random.default_rng(0).normal(size=(60, 2))
    explainer = SufficientExplainer(random_state=0, n_jobs=1).fit(X, X[:, 0] > 0)
    with pytest.warns(UserWarning, match="X has feature names"):
        explainer._encode(explainer.fitted_, pd.DataFrame(X[:1], columns=["x0", "x1"]))


def test_groups_are_read_quickly(table):
    frame = table[["whole", "number", "flag"]].fillna(0.0)
    explainer = SufficientExplainer(groups={"both": ["whole", "number"]}, random_state=0, n_jobs=1)
    explainer.fit(frame, frame["flag"])
    assert all(compare(explainer, form) for form in forms(frame.iloc[[7]]))


def test_explanations_of_a_row_are_those_among_others(explainers, table):
    explainer = explainers["error"]
    together = explainer.explain(table[:6], progress=False)
    for i in range(6):
        for form in forms(table.iloc[[i]]):
            alone = explainer.explain(form, progress=False)
            for name in ("best_masks", "best_sdps", "best_squares", "offered"):
                ours, theirs = getattr(alone.answers.sets, name)[0], getattr(together.answers.sets, name)[i]
                np.testing.assert_array_equal(ours, theirs)
            assert alone[0].rules == together[i].rules
