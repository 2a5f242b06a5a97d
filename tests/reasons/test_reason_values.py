"""Reasons as values: texts, counts, dictionaries and JSON."""

from __future__ import annotations

import json

import pytest
from loans import ROW, loan_explainer, make_loans

from suffice import Reasons
from suffice.reasons.values import REFUSALS, Reason, Refusal

X, Y = make_loans()


@pytest.fixture(scope="module")
def reasons():
    return loan_explainer().reasons(X[:60], Y[:60], adverse="bad", protected=["account"])


def test_rows_are_counted(reasons):
    statuses = [answer.status for answer in reasons]
    assert isinstance(reasons, Reasons)
    assert reasons.n_adverse == statuses.count("reasons") + statuses.count("refused")
    assert reasons.n_refused == statuses.count("refused") == sum(reasons.refusals.values())
    assert reasons.refusals["protected_variable"] > 3
    assert set(reasons.refusals) <= set(REFUSALS)
    assert sum(reasons.code_counts.values()) == sum(len(answer.reasons) for answer in reasons)


def test_the_summary_states_reasons_refusals_and_codes(reasons):
    first, second, third, fourth = str(reasons).splitlines()
    n_reasons = reasons.n_adverse - reasons.n_refused
    assert first == f"{n_reasons} of {reasons.n_adverse} rows whose outcome is bad have reasons."
    assert second == f"{60 - reasons.n_adverse} rows with another outcome need none."
    assert third.startswith(f"{reasons.n_refused} rows need human review: ")
    assert f"the outcome rests on a protected variable ({reasons.refusals['protected_variable']})" in third
    assert fourth.startswith("Most frequent codes: income (")


def test_a_slice_keeps_what_the_reasons_rest_on(reasons):
    part = reasons[3:9]
    assert [answer.row for answer in part] == [3, 4, 5, 6, 7, 8]
    assert (part.settings, part.codes) == (reasons.settings, reasons.codes)
    assert reasons[-1].row == 59


def test_json_holds_everything(reasons):
    content = json.loads(reasons.to_json())
    assert content["settings"] == {"n": 4, "adverse": ["bad"], "protected": ["account"], "model": None}
    assert content["n_adverse"] == reasons.n_adverse
    assert content["refusals"] == reasons.refusals
    for line, answer in zip(content["rows"], reasons, strict=True):
        assert line["status"] == answer.status
        assert line["values"] == answer.values
        assert [reason["loss"] for reason in line["reasons"]] == [reason.loss for reason in answer.reasons]
        assert (line["refusal"] is None) == (answer.refusal is None)
    refused = next(line for line in content["rows"] if line["refusal"])
    assert set(refused["refusal"]) == {"kind", "sentence", "variables"}


def test_a_row_in_words():
    [answer] = loan_explainer().reasons(ROW, adverse="bad")
    assert str(answer) == (
        "Row 0: 1 reason for loan = bad. This alone keeps the outcome with probability 1.00.\n1. income: 20"
    )
    [answer] = loan_explainer().reasons(ROW | {"income": 50, "account": "much"})
    assert "2 reasons for loan = good. Together, the variables of the set keep the outcome" in answer.text
    assert answer.codes == tuple(reason.code for reason in answer.reasons)


def test_texts_of_single_values():
    assert str(Reason(1, "R1", "Too low", ("a",), (("a", 1),), 0.5)) == "1. R1: Too low"
    assert str(Reason(2, "a", "a: 1", ("a",), (("a", 1),), 0.5)) == "2. a: 1"
    assert str(Refusal("no_set", "no set.")) == "no set."
