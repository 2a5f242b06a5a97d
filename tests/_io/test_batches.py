"""Requests, batches and the explainers of workers, without an engine."""

from __future__ import annotations

import re
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from mixed_table import COLUMNS, as_arrow, expected_line, make_case, sorted_lines
from sklearn.ensemble import RandomForestClassifier

from suffice import SufficientExplainer
from suffice._io import batches
from suffice._io.batches import (
    BatchRequest,
    batch_types,
    explain_batch,
    load_in_worker,
    read_explainer,
    read_options,
)
from suffice._io.result_table import CHECK_COLUMNS, RESULT_COLUMNS, result_columns
from suffice._io.saved import from_bytes, to_bytes
from suffice._table.cache import LastUsed
from suffice.errors import InputError
from suffice.explaining.search import ExplainOptions

OPTIONS = ExplainOptions(sets="minimal")
NAMES = [*COLUMNS, "id", "label", "number"]


def request_of(explainer, target=None, keep="id", drop=(), **changes):
    spare = {*([keep] if isinstance(keep, str) else keep), target}
    names = [name for name in NAMES if name in {*COLUMNS, *spare} - set(drop)]
    return BatchRequest.of(explainer, names, target, keep, ExplainOptions(**{"sets": "minimal", **changes}))


def as_lines(frame):
    return pa.Table.from_pandas(frame, preserve_index=False).to_pylist()


# --- answers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_rows", [13, 1000])
def test_a_batch_is_answered_as_the_whole_table_is(case, table, monkeypatch, n_rows):
    monkeypatch.setattr(batches, "N_ROWS", n_rows)
    request = request_of(case.explainer, case.target)
    parts = [explain_batch(case.explainer, part, request) for part in (table[:50], table[50:50], table[50:])]
    assert [line for part in parts for line in as_lines(part)] == case.lines
    assert pd.concat(parts).index.tolist() == table.index.tolist()


def test_an_arrow_table_is_answered_as_a_frame_is(case, table):
    """A narrow cast of account numbers beyond 2**53 was refused by Arrow: "must hold numbers, got something else"."""
    request = request_of(case.explainer, case.target)
    results = list(request.explain(case.explainer, as_arrow(table), "the table"))
    lines = [{"id": i, **line} for i, line in zip(table["id"].tolist(), results[0].to_pylist(), strict=True)]
    assert len(results) == 1
    assert lines == case.lines


def test_no_more_rows_than_n_rows_are_explained_at_a_time(labels, table, monkeypatch):
    monkeypatch.setattr(batches, "N_ROWS", 50)
    results = request_of(labels.explainer, "label").explain(labels.explainer, table, "the table")
    assert [batch.num_rows for batch in results] == [50, 50, 20]


@pytest.mark.parametrize("dtype", [object, "datetime64[us]"])
def test_a_batch_may_have_no_date_at_all(labels, table, dtype):
    """A column of objects without a single date did not look like one of dates."""
    rows = table[:5].assign(when=pd.Series([None] * 5, dtype=dtype))
    expected = labels.explainer.explain(table[:5].assign(when=pd.NaT)[COLUMNS], rows["label"], sets="minimal")
    result = explain_batch(labels.explainer, rows, request_of(labels.explainer, "label", keep=()))
    assert as_lines(result) == [expected_line(explanation) for explanation in expected]


def few_trees():
    return SufficientExplainer(RandomForestClassifier(5, random_state=0), counts="bootstrap", min_size=1)


def test_labels_come_back_in_the_type_that_they_had_at_fit(table):
    X = table[["amount", "count"]].astype(float).fillna(0.0)
    explainer = few_trees().set_params(min_support=1).fit(X, table["number"] > 1.5)
    for y in ([1.0, 0.0, 1.0], [1, 0, 1], [True, False, True]):
        rows = X[:3].assign(y=y)
        request = BatchRequest.of(explainer, ["amount", "count", "y"], "y", (), OPTIONS)
        result = explain_batch(explainer, rows, request)
        assert result["outcome"].tolist() == [True, False, True]
        assert result["outcome"].dtype == result["prediction"].dtype == pd.BooleanDtype()
        with_rule = result[result["rule"].notna()]
        assert len(with_rule) > 0
        for rule, outcome in zip(with_rule["rule"], with_rule["outcome"], strict=True):
            assert rule.endswith(f"THEN {outcome}")


def test_decimal_numbers_are_numbers(table):
    case = make_case(table, "number", "regression")
    decimals = as_arrow(table)
    cast = decimals["number"].cast(pa.decimal128(10, 2))
    decimals = decimals.set_column(decimals.schema.get_field_index("number"), "number", cast)
    result = next(request_of(case.explainer, "number").explain(case.explainer, decimals, "the table"))
    assert result["outcome"].to_pylist() == [line["outcome"] for line in case.lines]


def test_an_explainer_without_names_takes_the_columns_in_their_order(table):
    X = table[["amount", "account"]].astype(float).fillna(0.0)
    explainer = few_trees().fit(X.to_numpy(), table["label"])
    rows = X.set_axis(["b", "a"], axis=1).assign(id=range(len(X)))
    names = ["b", "id", "a"]
    request = BatchRequest.of(explainer, names, None, "id", OPTIONS)
    result = explain_batch(explainer, rows[["b", "id", "a"]], request)
    expected = explainer.explain(X.to_numpy(), sets="minimal")
    assert as_lines(result) == [{"id": i, **expected_line(explanation)} for i, explanation in enumerate(expected)]
    with pytest.raises(ValueError, match=r"has the columns \['b'\] besides .* was fitted on 2 columns without names"):
        BatchRequest.of(explainer, names[:2], None, "id", OPTIONS)


# --- types ----------------------------------------------------------------------------------------------------------


def test_the_types_do_not_depend_on_the_rows(case, table):
    request = request_of(case.explainer, case.target)
    parts = [explain_batch(case.explainer, rows, request) for rows in (table[:0], table[:1], table)]
    assert [len(part) for part in parts] == [0, 1, len(table)]
    for part in parts[1:]:
        pd.testing.assert_series_equal(part.dtypes, parts[0].dtypes)
    assert parts[0].dtypes["id"] == np.int64
    assert "object" not in parts[0].dtypes.astype(str).tolist()


@pytest.mark.parametrize(
    ("classes", "kind"),
    [([False, True], "bool"), ([3, 5], "int"), ([1.0, 2.0], "float"), (["a", "b"], "str")],
)
def test_outcomes_have_the_kind_of_the_classes(classes, kind):
    X = np.arange(40.0)[:, None]
    explainer = SufficientExplainer(RandomForestClassifier(3, random_state=0), task="classification")
    explainer.fit(X, np.repeat(classes, 20))
    held_types = batch_types(explainer)
    assert list(held_types) == list(RESULT_COLUMNS)
    assert held_types["outcome"] == held_types["prediction"] == kind
    result = explain_batch(explainer, pd.DataFrame({"x": [3.0]}), BatchRequest.of(explainer, ["x"], None, (), OPTIONS))
    assert result["outcome"].tolist() == classes[:1]


# --- faults ---------------------------------------------------------------------------------------------------------


FAULTS = {
    "an unseen category": ("city", "Bonn", ValueError, "Column 'city' of `X` holds 'Bonn', which was not among"),
    "an infinite number": ("amount", np.inf, ValueError, "Column 'amount' of `X` holds infinity or a number too large"),
    "a missing outcome": ("label", None, ValueError, "`y` has a missing value: leave out the rows"),
    "an unknown label": ("label", "stays", ValueError, "`y` holds the label 'stays', which was not among the labels"),
    "a list": ("city", ["Rome"], TypeError, "Column 'city' of `X` must hold numbers, labels or dates, got list"),
}


@pytest.mark.parametrize("row", [0, 49, 77])
@pytest.mark.parametrize("fault", FAULTS)
def test_an_error_names_the_first_row_at_fault(labels, table, monkeypatch, fault, row):
    monkeypatch.setattr(batches, "N_ROWS", 50)
    column, value, kind, message = FAULTS[fault]
    rows = table.astype({column: object if column != "amount" else float}).set_index(table["id"].to_numpy() + 1)
    for position in {row, 119}:
        rows.iat[position, rows.columns.get_loc(column)] = value
    whole = f"Row {1000 + row} of partition 3 (index={2**60 + row + 1}, id={2**60 + row}): {message}"
    with pytest.raises(kind, match=re.escape(whole)) as caught:
        explain_batch(labels.explainer, rows, request_of(labels.explainer, "label"), "partition 3", first=1000)
    error = caught.value
    assert "(row " not in str(error)
    assert isinstance(error, InputError)
    assert (error.row, error.column, error.value) == (1000 + row, None if column == "label" else column, value)


def test_a_fault_is_located_without_reading_the_rows_again(labels, table, monkeypatch):
    rows = table.copy()
    rows.loc[77, "city"] = "Bonn"
    n_reads = []
    read = BatchRequest._read
    monkeypatch.setattr(BatchRequest, "_read", lambda *args: n_reads.append(1) or read(*args))
    with pytest.raises(ValueError, match=r"^Row 77 of the table"):
        explain_batch(labels.explainer, rows, request_of(labels.explainer, "label"))
    assert len(n_reads) == 1


def test_a_fault_of_a_whole_column_names_the_rows(labels, table):
    rows = table.assign(when="soon")
    message = r"^Partition 3, rows 7 to 126: Column 'when' of `X` must hold dates\.$"
    with pytest.raises(TypeError, match=message) as caught:
        explain_batch(labels.explainer, rows, request_of(labels.explainer, "label"), "partition 3", first=7)
    assert caught.value.column == "when"


def test_an_error_names_an_unnamed_row_by_its_position(labels, table):
    rows = as_arrow(table.assign(amount=[0.0] * 60 + [-np.inf] * 60))
    with pytest.raises(ValueError, match=r"^Row 60 of partition 0: Column 'amount' of `X` holds infinity"):
        list(request_of(labels.explainer, "label", keep=()).explain(labels.explainer, rows, "partition 0"))


def test_an_error_that_no_single_row_causes_names_all_rows_of_the_batch(labels, table, monkeypatch):
    def refuse(*_, **__):
        raise ValueError("no")

    monkeypatch.setattr(SufficientExplainer, "explain", refuse)
    with pytest.raises(ValueError, match=r"^Partition 3, rows 7 to 126: no$"):
        explain_batch(labels.explainer, table, request_of(labels.explainer, "label"), "partition 3", first=7)


# --- requests -------------------------------------------------------------------------------------------------------


def test_a_request_lists_the_columns_that_are_read(labels):
    names = [name for name in NAMES if name != "number"]
    request = BatchRequest.of(labels.explainer, names, "label", ["id", "city", "id"], OPTIONS)
    assert request.keep == ("id", "city")
    assert request.columns == tuple(COLUMNS)
    assert request.needed == ("id", "city", "label", *(name for name in COLUMNS if name != "city"))


def test_extra_columns_are_for_the_explainer_to_judge(labels):
    with pytest.raises(ValueError, match=r"unexpected \['number'\]. With extra_columns='ignore' they are left out"):
        BatchRequest.of(labels.explainer, NAMES, "label", "id", OPTIONS)
    tolerant = labels.explainer.with_settings(extra_columns="ignore")
    assert "number" not in BatchRequest.of(tolerant, NAMES, "label", "id", OPTIONS).needed


WRONG_REQUESTS = [
    ({"keep": ["id", "idd"]}, ValueError, "`keep`: the table has no column 'idd'. Did you mean 'id'?"),
    ({"target": "labels"}, ValueError, "`target`: the table has no column 'labels'."),
    ({"drop": ["city"]}, ValueError, "missing ['city'], unexpected []"),
    ({"sets": "some"}, ValueError, "`sets` must be one of ['minimal', 'all'], got 'some'"),
    ({"rules": "some"}, ValueError, "`rules` must be one of ['minimal', 'all', None], got 'some'"),
    ({"check": "row"}, ValueError, "`check` must be one of ['rows', 'everywhere'], got 'row'. Did you mean 'rows'?"),
    ({"volume": "area"}, ValueError, "`volume` must be one of"),
]


@pytest.mark.parametrize(("changes", "kind", "message"), WRONG_REQUESTS)
def test_what_cannot_be_done_is_refused_before_a_row_is_read(labels, changes, kind, message):
    with pytest.raises(kind, match=re.escape(message)):
        request_of(labels.explainer, **changes)


@pytest.mark.parametrize(
    ("column", "values", "kind", "message"),
    [
        ("amount", "city", TypeError, "Column 'amount' of `X` must hold numbers, got the text '"),
        ("count", "when", TypeError, "Column 'count' of `X` must hold numbers, got something else"),
        ("city", "count", ValueError, "Column 'city' of `X` holds "),
        ("flag", "city", ValueError, "Column 'flag' of `X` holds "),
        ("grade", "when", ValueError, "Column 'grade' of `X` holds "),
        ("when", "city", TypeError, "Column 'when' of `X` must hold dates"),
    ],
)
def test_a_column_of_another_kind_is_named(labels, table, column, values, kind, message):
    with pytest.raises(kind, match=re.escape(message)):
        explain_batch(labels.explainer, table.assign(**{column: table[values]}), request_of(labels.explainer))


def test_two_columns_of_one_name_are_refused(labels):
    with pytest.raises(ValueError, match="two columns named 'city'; rename one"):
        BatchRequest.of(labels.explainer, [*COLUMNS, "city"], None, (), OPTIONS)


def test_a_kept_column_must_not_have_the_name_of_one_of_the_result(labels):
    with pytest.raises(ValueError, match="`keep`: 'rule' is also the name of a column of the result, so rename it"):
        BatchRequest.of(labels.explainer, [*COLUMNS, "rule"], None, "rule", OPTIONS)


def test_outcomes_that_only_the_model_knows_must_be_given(table):
    X = table[["amount"]].fillna(0.0)
    explainer = SufficientExplainer.for_model(lambda X: X["amount"] > 0, X, random_state=0)
    with pytest.raises(ValueError, match=r"do not have the model .* put its outputs for the rows into a column"):
        BatchRequest.of(explainer, ["amount"], None, (), OPTIONS)
    request = BatchRequest.of(explainer, ["amount", "answer"], "answer", (), OPTIONS)
    result = explain_batch(explainer, X.assign(answer=X["amount"] > 0), request)
    assert as_lines(result) == [expected_line(explanation) for explanation in explainer.explain(X, sets="minimal")]


# --- explainers -----------------------------------------------------------------------------------------------------


def test_bytes_are_what_a_file_holds(labels, tmp_path):
    labels.explainer.save(tmp_path / "explainer.suffice")
    content = (tmp_path / "explainer.suffice").read_bytes()
    assert to_bytes(labels.explainer) == content
    assert read_explainer(labels.explainer)[1] == content
    read, same = read_explainer(str(tmp_path / "explainer.suffice"))
    assert same == content
    assert to_bytes(read) == content
    with pytest.raises(ValueError, match=r"^'bytes' is damaged"):
        from_bytes(content[:-1] + b"x")
    with pytest.raises(
        TypeError, match="`explainer` must be a SufficientExplainer or the path of a saved one, got dict"
    ):
        read_explainer({})


def test_a_process_loads_an_explainer_once(labels, monkeypatch):
    content = to_bytes(labels.explainer)
    n_loads = []
    monkeypatch.setattr(batches, "_loaded", LastUsed(batches.N_LOADED))
    monkeypatch.setattr(batches, "from_bytes", lambda content: n_loads.append(1) or from_bytes(content))
    at_once = threading.Barrier(3)

    def load(_):
        at_once.wait()
        return load_in_worker(content[-32:], lambda: content, 1)

    with ThreadPoolExecutor(3) as pool:
        explainers = list(pool.map(load, range(3)))
    assert len(n_loads) == 1
    assert len({id(explainer.fitted_.forest.core) for explainer in explainers}) == 1
    assert {explainer.fitted_.settings.n_threads for explainer in explainers} == {1}
    other = load_in_worker(content[-32:], lambda: pytest.fail("read again"), 2)
    assert other.n_jobs == other.fitted_.settings.n_threads == 2
    assert other.fitted_.forest.core is explainers[0].fitted_.forest.core
    assert explainers[0].n_jobs == explainers[0].fitted_.settings.n_threads == 1


@pytest.mark.parametrize("n_threads", [1, 3])
def test_the_answers_do_not_depend_on_the_number_of_threads(labels, table, n_threads):
    content = to_bytes(labels.explainer)
    explainer = load_in_worker(content[-32:], lambda: content, n_threads)
    assert as_lines(explain_batch(explainer, table, request_of(explainer, "label"))) == labels.lines


def test_a_process_keeps_the_explainers_that_came_last(labels, monkeypatch):
    monkeypatch.setattr(batches, "_loaded", LastUsed(batches.N_LOADED))
    content = {}
    for pi in (0.7, 0.8, 0.9):
        content[pi] = to_bytes(labels.explainer.with_settings(pi=pi))
        assert load_in_worker(content[pi][-32:], lambda pi=pi: content[pi], 1).pi == pi
    assert list(batches._loaded) == [content[0.8][-32:], content[0.9][-32:]]


def test_threads_may_explain_at_the_same_time(labels, table):
    content = to_bytes(labels.explainer)
    request = request_of(labels.explainer, "label")

    def explain(begin):
        explainer = load_in_worker(content[-32:], lambda: content, 1)
        return as_lines(explain_batch(explainer, table[begin : begin + 10], request))

    with ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(explain, range(0, 120, 10)))
    assert sorted_lines(line for part in parts for line in part) == labels.lines


def test_options_are_those_of_explain_and_minimal_sets_by_default():
    assert read_options({}) == ExplainOptions() == ExplainOptions(sets="minimal")
    assert read_options({"sets": "all", "check": "everywhere"}) == ExplainOptions(sets="all", check="everywhere")
    with pytest.raises(TypeError, match=r"has no option 'chek': use sets, rules, check, volume\. Did you mean"):
        read_options({"chek": "rows"})
    with pytest.raises(ValueError, match=r"`rules` must be one of \['minimal', 'all', None\], got 'some'"):
        read_options({"rules": "some"})


def test_batches_have_the_columns_of_certificates_after_a_holdout():
    X = np.random.default_rng(0).normal(size=(200, 2))
    explainer = SufficientExplainer(random_state=0, n_jobs=1)
    assert "n_checked" not in batch_types(explainer.fit(X, X[:, 0] > 0))
    explainer.fit(X, X[:, 0] > 0, holdout=0.3)
    lines = result_columns(explainer.explain(X[:3]))
    assert list(batch_types(explainer)) == list(lines) == [*RESULT_COLUMNS, *CHECK_COLUMNS]
    assert list(result_columns(explainer.explain(X[:0]))) == list(lines)
