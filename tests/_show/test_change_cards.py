"""Cards of changes, and their section in the report."""

from __future__ import annotations

import pytest
from loans import ROW, loan_explainer, make_loans


def test_a_card_says_what_changes_and_runs_no_script():
    changes = loan_explainer().what_if({**ROW, "account": "empty"}, "good")
    html = changes[0]._repr_html_()
    assert "income" in html
    assert "association, not causation" in html
    assert "<script" not in html
    assert "1 row" in changes._repr_html_()


def test_a_plain_no_has_a_card_too():
    html = loan_explainer().what_if(ROW, "good", fixed=["income"])[0]._repr_html_()
    assert "no change" in html


def test_the_report_has_a_section(tmp_path):
    X, _ = make_loans(5, seed=1)
    explainer = loan_explainer()
    explanations, changes = explainer.explain(X), explainer.what_if(X, "good")
    text = explanations.report(tmp_path / "report.html", changes=changes).read_text()
    assert "What would change it" in text
    assert "What would change it" not in explanations.report(tmp_path / "plain.html").read_text()
    with pytest.raises(TypeError, match="must be what `what_if` returns"):
        explanations.report(tmp_path / "report.html", changes=explanations)
