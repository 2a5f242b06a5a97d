import math
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from suffice import SufficientExplainer
from suffice._table.table import inspect_text, is_number, to_number, warn_of_text
from suffice.errors import FidelityWarning, TextColumnWarning

RNG = np.random.default_rng(0)
N = 200


def inspect(values):
    labels = tuple(dict.fromkeys(value for value in values if value is not None))
    codes = np.array([-1 if value is None else labels.index(value) for value in values], dtype=np.intp)
    return inspect_text("a", labels, codes)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        *[("29.85", 29.85), (" -3 ", -3.0), ("+.5e2", 50.0), ("7.", 7.0), (4, 4.0), (2.5, 2.5)],
        *[(text, None) for text in ("two", "1,5", "1_000", "inf", "0x1", "1 2", "-", ".", "none")],
    ],
)
def test_numbers_are_read_as_files_read_them(text, number):
    assert to_number(text) == number


@pytest.mark.parametrize("text", ["", " ", "NA", "nan", "None", " NULL "])
def test_blanks_are_missing_values(text):
    assert math.isnan(to_number(text))


def test_text_that_python_reads_as_a_number_is_one():
    assert [is_number(text) for text in ("1", " 2.5 ", "nan", "a", "")] == [True, True, True, False, False]


DATES = ["2024-03-01", "2024-03-02", "2023-12-31"]


@pytest.mark.parametrize(
    ("values", "holds"),
    [
        (["29.85", " ", "56"], "numbers"),
        (["29.85", None, "56"], "labels"),
        ([str(i) for i in range(20)], "labels"),
        ([str(i) for i in range(21)], "numbers"),
        ([f"{i:05}" for i in range(90)], "labels"),
        (["01", "02", " "], "labels"),
        ([1, 2, "3"], "numbers"),
        ([1, 2, " "], "numbers"),
        ([" ", ""], "labels"),
        (["a", " ", "b"], "labels"),
        ([*map(str, range(99)), "x"], "nearly numbers"),
        ([*map(str, range(90)), *"abcdefghij"], "labels"),
        ([*["1", "2", "3"] * 40, "other"], "labels"),
        (DATES, "dates"),
        ([*DATES, " ", None], "dates"),
        (["03/01/2024 10:00", "03/02/2024 9:30"], "dates"),
        (["1.3.2024", "2.3.2024"], "dates"),
        (["2024-03-01T10:00:00Z", "2024-03-01T11:00:00.5+02:00"], "dates"),
        (["3/1/2024 10:00 AM", "3/2/2024 10:00 PM"], "dates"),
        (["2024-03-01", "2024-03-01"], "labels"),
        (["2024-03/01", "2024-03/02"], "labels"),
        (["1-2-3", "1-2-4"], "labels"),
        ([*DATES, "tomorrow"], "labels"),
        ([], "labels"),
    ],
)
def test_what_a_column_of_text_holds(values, holds):
    assert inspect(values).holds == holds


def test_what_is_odd_is_counted_and_named():
    column = inspect([None, "x", *map(str, range(99)), "x", " ", "y", *map(str, range(99))])
    assert (column.holds, column.note) == ("nearly numbers", "not numbers: 3, such as 'x' in row 1")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"paid": ["1.5", " ", "", "2"], "fee": [*map(str, range(30))], "town": ["a", "b"]},
            (
                "Text that holds numbers is read as numbers, and blanks as missing values: 'paid' (2 blanks) and 'fee' "
                "(no blanks). To keep labels, make the column categorical; to avoid this notice, convert it:"
            ),
        ),
        (
            {"paid": [*map(str, range(99)), "free"]},
            (
                "Text is read as categories, although nearly all of it holds numbers: 'paid' (not numbers: 1, such as "
                "'free' in row 99). Correct these values or leave them empty, and the rest is read as numbers."
            ),
        ),
        (
            {"when": DATES},
            (
                "Dates that are written as text are read as categories: 'when' (such as '2024-03-01'). Parse them "
                "first, as by pandas.to_datetime, and use their parts by dates='parts'; or leave them out."
            ),
        ),
    ],
)
def test_one_notice_names_all_columns(columns, message):
    texts = []
    for name, values in columns.items():
        labels = tuple(dict.fromkeys(values))
        texts.append(inspect_text(name, labels, np.array([labels.index(value) for value in values])))
    with pytest.warns(TextColumnWarning, match=re.escape(message)) as caught:
        warn_of_text(texts)
    assert len(caught) == 1


def make_frame(texts):
    return pd.DataFrame({"fare": texts, "hour": np.arange(N) % 24, "town": ["Oslo", "Rome"] * (N // 2)})


AMOUNTS = RNG.uniform(1, 99, N).round(2)
BLANK = RNG.random(N) < 0.1
FARES = np.where(BLANK, " ", AMOUNTS.astype(str)).astype(object)
OUTCOMES = np.where(BLANK | (RNG.random(N) < 0.05), "free", np.where(AMOUNTS > 50, "dear", "cheap"))


@pytest.mark.parametrize("kind", ["pandas", "polars", "array"])
def test_numbers_with_blanks_are_numbers_with_missing_values(kind, tmp_path):
    of_numbers = make_frame(np.where(BLANK, np.nan, AMOUNTS))
    of_text = of_numbers.assign(fare=FARES)
    if kind == "polars":
        of_text = pl.from_pandas(of_text)
    elif kind == "array":
        of_text, of_numbers = of_text.to_numpy(dtype=object), of_numbers.set_axis([0, 1, 2], axis=1)
    settings = {"random_state": 0, "n_jobs": 1, "pi": 0.8}
    with pytest.warns(TextColumnWarning, match=rf"'(fare|x0)' \({BLANK.sum()} blanks\)") as caught:
        explainer = SufficientExplainer(**settings).fit(of_text, OUTCOMES)
    assert len(caught) == 1
    same = SufficientExplainer(**settings).fit(of_numbers, OUTCOMES)
    assert list(explainer.explain(of_text)) == list(same.explain(of_numbers))
    explainer.save(tmp_path / "m")
    loaded = SufficientExplainer.load(tmp_path / "m")
    rows = of_text[:30]
    assert list(loaded.explain(rows)) == list(explainer.explain(rows)) == list(same.explain(of_numbers[:30]))
    rules = [e.rule for e in explainer.explain(rows) if e.rule is not None]
    assert rules
    for rule in rules:
        assert rule.covers(of_text).tolist() == rule.covers(of_numbers).tolist()


def warnings_at_fit(frame):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        explainer = SufficientExplainer(random_state=0).fit(frame, OUTCOMES)
    by_class = {w.category.__name__: str(w.message) for w in caught if w.category is not FidelityWarning}
    return by_class, explainer.fitted_.encoding.columns[0].kind


def test_one_value_that_is_no_number_keeps_a_column_text_with_a_notice():
    row = int(np.flatnonzero(~BLANK)[3])
    messages, kind = warnings_at_fit(make_frame(np.where(np.arange(N) == row, "free", FARES)))
    assert list(messages) == ["TextColumnWarning"]  # and not one of rare categories besides
    assert f"'fare' (not numbers: 1, such as 'free' in row {row})" in messages["TextColumnWarning"]
    assert kind == "category"


def test_declared_categories_and_text_identifiers_stay_what_they_are():
    for values in (pd.Categorical(FARES), [f"c{i}" for i in range(N)]):
        messages, kind = warnings_at_fit(make_frame(values))
        assert list(messages) == ["RareCategoriesWarning"]
        assert "Most rows of the column 'fare'" in messages["RareCategoriesWarning"]
        assert kind == "category"


def test_a_number_that_is_an_identifier_and_text_dates_are_named_at_fit():
    frame = make_frame(AMOUNTS).assign(customer=RNG.permutation(N) + 5000, when=RNG.choice(DATES, N))
    messages, _ = warnings_at_fit(frame)
    assert sorted(messages) == ["IdentifierWarning", "TextColumnWarning"]
    assert "look like identifiers: 'customer'. Leave the column out" in messages["IdentifierWarning"]
    assert "'when' (such as '20" in messages["TextColumnWarning"]
    assert warnings_at_fit(frame.drop(columns=["customer", "when"]))[0] == {}


def test_text_in_another_column_does_not_make_a_number_an_error():
    """One bad value makes text of a whole array, and the error named a value of the first column, "1"."""
    table = np.c_[np.arange(N) % 7, RNG.integers(0, 24, N)].astype(float)
    explainer = SufficientExplainer(random_state=0).fit(table, table[:, 0] > 3)
    rows = table[:4].astype(str)
    assert list(explainer.explain(rows)) == list(explainer.explain(table[:4]))
    rows[2, 1] = "late"
    with pytest.raises(TypeError, match=r"Column 'x1' of `X` must hold numbers, got the text 'late' \(row 2\)\."):
        explainer.explain(rows)
