"""Records: what they hold, their canonical bytes, and how lines are read and compared."""

from __future__ import annotations

import hashlib
import json

import pytest
from loans import ROW, loan_explainer, make_loans

from suffice import __version__
from suffice._io.records import (
    RecordContext,
    answer_settings,
    count_statuses,
    differences,
    digest_of,
    label_of,
    lines_of,
    make_records,
    read_line,
    record_bytes,
)

CONTEXT = RecordContext("0" * 64)
X, _ = make_loans()


def records_of(rows=None, context=CONTEXT, **options):
    explainer = loan_explainer()
    reasons = explainer.reasons(ROW if rows is None else rows, adverse="bad", **options)
    return list(make_records(reasons, context, explainer)), reasons


def test_a_record_holds_what_the_decision_rests_on():
    [record], [answer] = records_of(protected=["age"])
    assert record["outcome"] == "bad"
    assert record["values"] == ROW
    assert record["reasons"] == [reason.to_dict() for reason in answer.reasons]
    assert record["best_set"]["sdp"] == answer.best_set.sdp
    assert record["rule"] == answer.rule.to_dict()
    assert record["versions"]["suffice"] == __version__
    assert record["sha256"]["explainer"] == "0" * 64
    assert record["sha256"]["row"] == hashlib.sha256(json.dumps(ROW, separators=(",", ":")).encode()).hexdigest()
    settings = record["settings"]
    assert (settings["n"], settings["adverse"], settings["protected"]) == (4, ["bad"], ["age"])
    assert settings["explainer"] == answer_settings(loan_explainer().fitted_)
    assert settings["explainer"]["pi"] == 0.9
    assert "n_jobs" not in settings["explainer"]
    assert record["change"] is None


def test_the_digest_covers_all_other_values():
    [record], _ = records_of()
    content = {name: value for name, value in record.items() if name != "digest"}
    line = json.dumps(content, separators=(",", ":")).encode()
    assert record["digest"] == hashlib.sha256(line).hexdigest() == digest_of(content)


def test_a_line_is_ascii_and_read_as_it_was_written():
    rows = X[:3].assign(account=["some", "much", "empty"])
    records, reasons = records_of(rows)
    lines = lines_of(reasons, CONTEXT, loan_explainer()).splitlines(keepends=True)
    assert lines == [record_bytes(record) for record in records]
    for line, record in zip(lines, records, strict=True):
        assert line.isascii()
        assert read_line(line) == (json.loads(json.dumps(record)), None)
    assert record_bytes({"a": "ü", "b": 0.1}) == b'{"a":"\\u00fc","b":0.1}\n'


def test_what_would_change_the_outcome_is_recorded_on_request():
    context = RecordContext("0" * 64, change="good")
    [record, good], _ = records_of(X.assign(**ROW).iloc[:1].reindex([0, 0]).assign(income=[20, 50]), context)
    assert record["change"]["variables"] == ["income"]
    best = loan_explainer().what_if(ROW, "good")[0].best
    assert record["change"]["values"] == best.values
    assert record["change"]["text"] == best.sentence
    assert record["change"]["probability"] == best.probability
    assert good["change"] is None
    # A protected variable stays as it is.
    [record], _ = records_of(ROW | {"account": "empty", "income": 50}, context, protected=["income"])
    assert record["change"]["variables"] == ["account"]


def test_statuses_are_counted_by_the_start_of_a_line():
    _, reasons = records_of(X[:60], protected=["account"])
    lines = lines_of(reasons, CONTEXT, loan_explainer()).splitlines(keepends=True)
    statuses = [answer.status for answer in reasons]
    expected = {status: statuses.count(status) for status in ("reasons", "refused", "not_adverse")}
    assert count_statuses(lines) == expected | reasons.refusals
    forged = b'{"record":1,"row":3,"status":"reasons","refusal":null,"id":"x","values":{"status":"refused"}}\n'
    assert count_statuses([forged]) == {"reasons": 1}


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"\n", "this is not JSON: it was edited."),
        (b'{"record":1,"ro', "this is not JSON: it was cut off or edited."),
        (b"[1]\n", "this is not a record of `suffice reasons`."),
        (b'{"record":1}\n', "this is not a record of `suffice reasons`."),
        (b'{"record":2,"row":1,"digest":""}\n', "the record has format 2; this version of suffice reads format 1."),
        (b"[" * 100_000 + b"\n", "this is not JSON: it was edited."),
        (b"\xff\xfe\n", "this is not JSON: it was edited."),
    ],
)
def test_lines_that_hold_no_record(line, problem):
    assert read_line(line) == (None, problem)


def test_edits_of_values_and_of_spaces_are_told_apart():
    [record], _ = records_of()
    line = record_bytes(record)
    edited = line.replace(b'"income":20', b'"income":25')
    assert read_line(edited)[1] == "the record was edited: its digest does not match."
    for same in (line.replace(b":", b": ", 1), line[:-1], line[:-1] + b"\r\n", line.replace(b"0.9,", b"0.90,", 1)):
        assert same != line
        assert read_line(same)[1] == "the record was edited: its values are the same, its bytes are not."
    assert read_line(line.replace(b"0.9,", b"NaN,", 1))[1] == "the record was edited: its digest does not match."


def test_differences_name_the_place_and_both_values():
    record = {"a": {"b": [1, 2]}, "c": "x", "d": 1, "e": [1]}
    again = {"a": {"b": [1, 3]}, "c": "y", "f": 1, "e": [1, 2]}
    assert list(differences(record, again)) == [
        "a.b[1] is 2, computed again 3",
        'c is "x", computed again "y"',
        "d should not be there",
        "e is [1], computed again [1, 2]",
        "f is missing",
    ]
    assert list(differences({"a": 1}, {"a": True})) == ["a is 1, computed again true"]
    assert list(differences({"a": 1.0}, {"a": 1})) == ["a is 1.0, computed again 1"]
    assert list(differences(record, record)) == []
    long = "x" * 200
    [sentence] = differences({"a": f"{long}p{long}"}, {"a": f"{long}q{long}"})
    assert "p" in sentence.split(", computed again ")[0]
    assert len(sentence) < 250


def test_what_a_row_is_called():
    assert label_of({"row": 7, "id": None}) == "row 7"
    assert label_of({"row": 7, "id": "c7"}) == "row c7"
    assert label_of(loan_explainer().reasons(ROW)[0]) == "row 0"
