"""Counting how often reasons stay the same: cases worked out by hand."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from benchmarks.reason_study.agreement import Agreement, ChangedReasons, ReasonStability


def stability(**other):
    seeds = ChangedReasons(
        "seeds",
        np.array([[True, True, False], [True, True, True]]),
        ((("a", "b"), ("b",), ("c",)), (("b", "a"), (), ("a",))),
        ((("a",), ("a",), ("a",)), (("a",), ("c",), ("a",))),
    )
    noise = ChangedReasons("noise", np.zeros((1, 3), dtype=bool), ((("a",), ("b",), ("c",)),), None, "Nothing here.")
    values = {
        "labels": ("Row 0", "Row 4", "Row 7"),
        "reasons": (("a", "b"), ("b",), ("c",)),
        "shap": (("a",), ("a",), ("c",)),
        "changes": (seeds, noise),
        "n_rows": 5,
        "refusals": {"no_set": 2},
        "n_reasons": 4,
        "scale": 0.05,
        "about": {},
        "shap_of": "SHAP ranks the variables of Model.",
    }
    return ReasonStability(**values | other)


def test_pairs_count_if_the_decision_is_kept():
    ours = stability().ours(stability().changes[0])
    # Kept pairs: (ab, ab), (b, b), (ab, ba), (b, none), (c, a).
    assert ours == Agreement(n_pairs=5, n_same_top=2, n_same_set=3, n_none=1)
    assert (ours.same_top, ours.same_set) == (0.4, 0.6)
    assert stability().of_shap(stability().changes[0]) == Agreement(5, 3, 3, 0)


def test_without_any_pair_there_is_no_share():
    nothing = stability().ours(stability().changes[1])
    assert (nothing.n_pairs, math.isnan(nothing.same_top), math.isnan(nothing.same_set)) == (0, True, True)
    assert stability().of_shap(stability().changes[1]) is None
    assert stability(shap=None).of_shap(stability().changes[0]) is None


def test_rows_without_reasons_before_do_not_count():
    counts = Agreement.of([(), ("a",)], [[("a",), ("a",)]], np.ones((1, 2), dtype=bool))
    assert counts == Agreement(1, 1, 1, 0)


def test_the_share_of_a_row_is_over_the_changes_that_keep_its_decision():
    assert stability().same_top_by_row() == pytest.approx([0.5, 0.5, 0.0])
    never = stability(changes=(stability().changes[1],)).same_top_by_row()
    assert np.isnan(never).all()


def test_the_text_states_rows_refusals_and_shares():
    assert str(stability()).splitlines() == [
        "3 of 5 rows have reasons.",
        "No sufficient set: 2 rows.",
        "Another seed of the forest: 40 | 60 % of 5 have the same first reason | reasons (SHAP 60 | 60 %).",
        "Small noise on the row: no row keeps its decision.",
        "SHAP ranks the variables of Model.",
    ]


def test_the_figures_are_plain_values():
    plain = json.loads(json.dumps(stability().to_dict()))
    assert plain["n_with_reasons"] == 3
    assert plain["changes"][0]["ours"] == {"n_pairs": 5, "n_same_top": 2, "n_same_set": 3, "n_none": 1}
    assert plain["changes"][1] == {
        "change": "noise",
        "n_changes": 1,
        "ours": {"n_pairs": 0, "n_same_top": 0, "n_same_set": 0, "n_none": 0},
        "shap": None,
        "note": "Nothing here.",
    }
