"""The page on the stability of reasons: what it states, and that it is one safe file."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.reason_study.agreement import ChangedReasons, ReasonStability
from benchmarks.reason_study.page import make_stability_page

ABOUT = {
    "target": "loan <b>",
    "model": None,
    "n_rows": 1200,
    "settings": {"pi": 0.9},
    "versions": {"suffice": "0.1.0"},
}


def stability(shap=True, is_kept=True):
    kept = np.full((2, 2), is_kept)
    reasons = ((("debt",), ("age", "debt")), (("debt",), ()))
    tops = ((("age",), ("age",)), (("debt",), ("age",))) if shap else None
    changes = tuple(
        ChangedReasons(kind, kept, reasons, tops, "" if shap else "No SHAP.") for kind in ("seeds", "noise")
    )
    before = (("debt",), ("age",))
    labels = ("Row 3", "Row <i>")
    return ReasonStability(labels, before, before if shap else None, changes, 3, {"no_set": 1}, 4, 0.05, ABOUT, "Note.")


def test_the_page_states_the_figures_of_both():
    page = make_stability_page(stability())
    assert "Stability of the reasons for loan &lt;b&gt;" in page
    assert "2 of 3 rows with an adverse outcome have reasons and are looked at." in page
    assert '<td class="number">3 (75 %)</td><td class="number">2 (50 %)</td><td class="number">1 (25 %)</td>' in page
    assert "refused: no sufficient set (1)" in page
    assert "age (2), no reasons (2)" in page
    assert "1 of 2 rows keep their first reason under all changes." in page


def test_the_page_is_one_safe_file():
    page = make_stability_page(stability(), title="<script>alert(1)</script>")
    assert "<script" not in page
    assert "Row &lt;i&gt;" in page
    assert "http://" not in page
    assert "https://" not in page
    assert "default-src 'none'" in page


def test_without_shap_the_page_says_why():
    page = make_stability_page(stability(shap=False))
    assert "-: No SHAP." in page
    assert "Note." in page


def test_without_any_kept_decision_there_are_no_shares():
    page = make_stability_page(stability(is_kept=False))
    assert "nan" not in page
    assert "There are none." in page


def test_the_page_is_written_to_a_file(tmp_path):
    path = stability().report(tmp_path / "page.html", title="A title")
    assert path.read_text(encoding="utf-8") == make_stability_page(stability(), title="A title")
    with pytest.raises(FileNotFoundError, match="does not exist"):
        stability().report(tmp_path / "no" / "page.html")
