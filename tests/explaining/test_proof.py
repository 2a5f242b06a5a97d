import pytest

from suffice.explaining.proof import Proof


def test_an_exception_is_stated_with_its_place_among_the_rows():
    proof = Proof("refuted", "a model", 3, 2, {"age": 31, "job": None}, 4.5, 0.25, 2, 0.0, 1.0, 4.5, False)
    assert proof.text == (
        "An exception exists: a model predicts 4.5 at age = 31 and job = missing. Its predictions lie from 1 to 4.5. "
        "It differs from the nearest row of the table in 2 columns (distance 0.25); none of the rows are as far from "
        "any other. The model agrees at 2 of 3 rows of the table within these bounds."
    )
    assert Proof.from_dict(proof.to_dict()) == proof


def test_a_comment_holds_no_value_of_the_table():
    proof = Proof("refuted", "*/ DROP", 1, 1, {"*/": "*/"}, "*/")
    assert "*/" not in proof.summary


def test_no_row_within_the_bounds_is_said():
    assert Proof("proven", "a model", 0, 0).agreement_text == "No row of the table is within these bounds."


def test_what_is_no_proof_is_refused():
    with pytest.raises(ValueError, match="`verdict` must be one of"):
        Proof("certain", "a model", 1, 1)
    with pytest.raises(ValueError, match="counterexample if, and only if"):
        Proof("refuted", "a model", 1, 1)
    with pytest.raises(ValueError, match="not the fields of a proof"):
        Proof.from_dict({"verdict": "open"})
