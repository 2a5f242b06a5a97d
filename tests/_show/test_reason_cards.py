"""Cards of reasons."""

from __future__ import annotations

from loans import ROW, loan_explainer, make_loans

SCRIPT = "<script>alert(1)</script>"
CODES = {name: (name.upper(), f"{name} {SCRIPT} {{value}}") for name in ROW}


def test_a_card_shows_the_reasons_with_text_escaped():
    [answer] = loan_explainer().reasons(ROW, adverse="bad", codes=CODES)
    assert answer.reasons[0].text == f"income {SCRIPT} 20"
    card = answer._repr_html_()
    assert "<script" not in card
    assert "1. income &lt;script&gt;alert(1)&lt;/script&gt; 20" in card
    assert "lost without it" in card
    assert "1 reason" in card


def test_a_card_shows_a_refusal():
    [answer] = loan_explainer().reasons(ROW, adverse="bad", protected=["income"])
    card = answer._repr_html_()
    assert "refused" in card
    assert "the outcome rests on income, which is protected." in card
    [answer] = loan_explainer().reasons(ROW, adverse="good")
    assert "no reasons needed" in answer._repr_html_()


def test_the_card_of_many_rows_counts_codes_and_refusals():
    rows = make_loans()[0][:40]
    reasons = loan_explainer().reasons(rows, adverse="bad", codes=CODES, protected=["account"])
    card = reasons._repr_html_()
    assert f"{reasons.n_adverse - reasons.n_refused} of {reasons.n_adverse} with reasons" in card
    assert "INCOME" in card
    assert "the outcome rests on a protected variable" in card
    assert "<script" not in card


def test_the_card_of_many_rows_states_refusals_once():
    reasons = loan_explainer().reasons(make_loans()[0][:40], adverse=["bad", "good"], protected=["account", "income"])
    assert reasons.n_refused > 20
    card = reasons._repr_html_()
    assert card.count("Needs human review") == 1
