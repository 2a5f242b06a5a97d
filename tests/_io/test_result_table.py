"""The result table: its columns and types, the same for every library, and for the command."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from mixed_table import COLUMNS, as_arrow, expected_line, make_case
from sklearn.ensemble import RandomForestClassifier

from suffice import SufficientExplainer
from suffice._cli.main import main
from suffice._io.result_table import (
    RESULT_COLUMNS,
    VALUE_TYPES,
    check_kept,
    result_columns,
    result_frame,
    result_types,
    types_in,
    value_type_of,
)
from suffice.explaining.explanation import Explanation

TASKS = {"classification": "label", "regression": "number"}


@pytest.fixture(scope="module", params=TASKS)
def case(table, request):
    return make_case(table, TASKS[request.param], request.param)


def lines_of(frame):
    """The lines of a frame of any library as plain values."""
    if isinstance(frame, pl.DataFrame):
        return frame.to_dicts()
    return (frame if isinstance(frame, pa.Table) else pa.Table.from_pandas(frame, preserve_index=False)).to_pylist()


def in_library(table, library):
    if library == "array":
        return table[["amount", "count"]].astype(float).to_numpy()
    return {
        "pandas": lambda: table,
        "polars": lambda: pl.from_arrow(as_arrow(table)),
        "pyarrow": lambda: as_arrow(table),
    }[library]()


# --- values ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", ["minimal", None])
@pytest.mark.parametrize("observed", [True, False])
def test_columns_hold_what_the_explanations_hold(case, table, rules, observed):
    y = table[case.target] if observed else None
    explanations = case.explainer.explain(table[COLUMNS], y, rules=rules)
    lines = [expected_line(explanation) for explanation in explanations]
    columns = result_columns(explanations)
    assert list(columns) == list(RESULT_COLUMNS) == list(lines[0])
    assert columns == {name: [line[name] for line in lines] for name in RESULT_COLUMNS}
    for name, values in columns.items():
        assert [type(value) for value in values] == [type(line[name]) for line in lines]


def test_columns_are_made_without_an_explanation_of_each_row(case, table, monkeypatch):
    explanations = case.explainer.explain(table[COLUMNS])
    monkeypatch.setattr(Explanation, "__init__", lambda self, **_: pytest.fail("made one"))
    assert len(result_columns(explanations)["sdp"]) == len(table)


def test_the_text_of_a_rule_is_its_sentence_whatever_its_labels_say():
    """The figures were cut off at the last "  (coverage", and the sentence with them if nothing followed."""
    X = pd.DataFrame({"a": np.arange(60.0)})
    explainer = SufficientExplainer(RandomForestClassifier(5, random_state=0), min_size=0, pi=0.6)
    explanations = explainer.fit(X, np.where(X["a"] < 30, "x  (coverage", "y")).explain(X[:2])
    assert [rule.endswith("THEN x  (coverage") for rule in result_columns(explanations)["rule"]] == [True, True]


# --- types ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("library", ["polars", "pyarrow", "pandas", "pandas with pyarrow", "spark"])
def test_every_library_has_every_type(library):
    if library == "spark":
        pytest.importorskip("pyspark")
    assert list(types_in(library)) == list(VALUE_TYPES)
    assert {value_type for value_type in RESULT_COLUMNS.values() if value_type != "outcome"} <= set(VALUE_TYPES)


@pytest.mark.parametrize(
    ("labels", "value_type"),
    [([True], "bool"), ([1], "int"), ([1.5], "float"), (["a"], "str"), ([b"a"], "bytes")],
)
def test_labels_have_a_type_even_if_there_are_none(labels, value_type):
    assert value_type_of(np.array(labels)) == value_type_of(np.array(labels)[:0]) == value_type
    assert value_type_of(np.array([3], dtype=np.uint8)) == "int"


def test_the_types_are_those_of_the_columns():
    types = result_types("str")
    assert list(types) == list(RESULT_COLUMNS)
    assert (types["outcome"], types["prediction"], types["sdp"]) == ("str", "str", "float")
    assert {**types, "outcome": "int", "prediction": "bool"} == result_types("bool", "int")


@pytest.mark.parametrize("n_rows", [0, 1, 120])
def test_types_do_not_depend_on_the_rows(case, table, n_rows):
    explanations = case.explainer.explain(table[COLUMNS][:n_rows], sets="minimal")
    outcome = "float" if explanations.intervals is not None else "str"
    types = {"row": "int", **result_types(outcome)}
    frame = result_frame(explanations, "polars")
    assert frame.schema == {name: types_in("polars")[value_type] for name, value_type in types.items()}
    frame = result_frame(explanations, "pyarrow")
    assert frame.schema.types == [types_in("pyarrow")[value_type] for value_type in types.values()]
    frame = result_frame(explanations, "pandas")
    assert frame.dtypes.tolist() == [types_in("pandas")[value_type] for value_type in types.values()]
    assert len(frame) == n_rows


def test_the_type_of_the_outcomes_may_be_set(case, table):
    explanations = case.explainer.explain(table[COLUMNS][:0])
    frame = result_frame(explanations, "polars", outcome_type="int")
    assert frame.schema["outcome"] == pl.Int64
    assert frame.schema["prediction"] == types_in("polars")[value_type_of(explanations.predictions)]


# --- frames ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("library", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("pyarrow", pa.Table)]
)
def test_a_frame_of_rows_is_of_the_library_of_the_table(case, table, library, kind):
    rows = in_library(table[COLUMNS], library)
    explanations = case.explainer.explain(rows, table[case.target].tolist(), sets="minimal")
    frame = explanations.to_frame("rows")
    assert isinstance(frame, kind)
    lines = lines_of(frame)
    assert lines == [{"row": i, **expected_line(explanation)} for i, explanation in enumerate(explanations)]
    assert list(lines[0]) == ["row", *RESULT_COLUMNS]


def test_explanations_of_an_array_come_as_a_pandas_frame(table):
    X = in_library(table, "array")
    explainer = SufficientExplainer(random_state=0).fit(X, table["label"])
    explanations = explainer.explain(X[:20])
    frame = explanations.to_frame("rows")
    assert isinstance(frame, pd.DataFrame)
    assert lines_of(frame) == [{"row": i, **expected_line(e)} for i, e in enumerate(explanations)]
    assert frame["best_set"][0] == list(explanations[0].best_set.variables)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_rows_may_have_positions_and_columns_of_the_users_table(case, table, library):
    explanations = case.explainer.explain(table[COLUMNS][40:43], sets="minimal").with_ids(None, [40, 41, 42])
    rows = in_library(table[40:43], library)
    frame = result_frame(explanations, library, kept={"id": rows["id"], "flag": rows["flag"]})
    lines = lines_of(frame)
    assert list(lines[0])[:4] == ["row", "id", "flag", "outcome"]
    assert [line["row"] for line in lines] == [40, 41, 42]
    assert [line["id"] for line in lines] == table["id"][40:43].tolist()


@pytest.mark.parametrize(
    ("name", "with_row", "is_taken"), [("row", True, True), ("row", False, False), ("sdp", False, True)]
)
def test_a_kept_column_must_not_have_the_name_of_one_of_the_result(name, with_row, is_taken):
    check_kept(["id", "city"], "--id", with_row=with_row)
    if not is_taken:
        check_kept(["id", name], "--id", with_row=with_row)
        return
    with pytest.raises(ValueError, match=f"^--id: '{name}' is also the name of a column of the result, so rename it"):
        check_kept(["id", name], "--id", with_row=with_row)


@pytest.mark.parametrize("observed", [True, False])
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_frame_of_rows_is_what_the_command_writes(case, table, tmp_path, monkeypatch, library, observed):
    monkeypatch.chdir(tmp_path)
    case.explainer.save("m.suffice")
    rows = as_arrow(table[[*COLUMNS, case.target]])
    pl.from_arrow(rows).write_parquet("rows.parquet")
    command = ["explain", "m.suffice", "rows.parquet", "-o", "out.parquet", "--ignore-extra"]
    with pytest.raises(SystemExit) as ended:
        main([*command, *(["--target", case.target] if observed else [])])
    assert not ended.value.code
    written = pl.read_parquet("out.parquet")
    X = in_library(table[COLUMNS], library)
    y = table[case.target].to_numpy() if observed else None
    frame = SufficientExplainer.load("m.suffice").explain(X, y).to_frame("rows")
    assert lines_of(frame) == written.to_dicts()
    if library != "pandas":
        assert pl.DataFrame(frame).schema == written.schema
