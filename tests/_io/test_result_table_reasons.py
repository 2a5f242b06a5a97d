"""Reasons as frames."""

from __future__ import annotations

import pandas as pd
import pytest
from loans import ROW, loan_explainer, make_loans

ROWS = pd.DataFrame([ROW, ROW | {"income": 50, "account": "much"}, ROW | {"income": 55}], index=["a", "b", "c"])


def test_one_line_for_each_row():
    reasons = loan_explainer().reasons(ROWS, adverse="bad", protected=["debt"], n=2)
    frame = reasons.to_frame()
    assert frame["id"].tolist() == ["a", "b", "c"]
    assert frame["status"].tolist() == [answer.status for answer in reasons]
    assert frame["code_1"].tolist()[0] == "income"
    assert frame["text_1"].tolist()[0] == "income: 20"
    assert frame["code_2"].isna().all()
    assert "code_3" not in frame
    assert frame["sdp"].tolist()[0] == reasons[0].best_set.sdp
    assert frame["best_set"].tolist()[0] == "income"


def test_refusals_are_in_the_frame():
    frame = loan_explainer().reasons(ROWS, adverse="bad", protected=["income"]).to_frame()
    assert frame["refusal"].tolist()[0] == "protected_variable"
    assert frame["refusal_text"].tolist()[0] == "the outcome rests on income, which is protected."


def test_one_line_for_each_reason():
    reasons = loan_explainer().reasons(make_loans()[0][:20])
    frame = reasons.to_frame("reasons")
    flat = [(a.row, r.rank, r.code, r.loss) for a in reasons for r in a.reasons]
    assert list(frame[["row", "rank", "code", "loss"]].itertuples(index=False, name=None)) == flat
    assert "id" not in frame


def test_other_frames_are_refused():
    with pytest.raises(ValueError, match=r"`of` must be one of \['rows', 'reasons'\], got 'codes'"):
        loan_explainer().reasons(ROWS).to_frame("codes")
