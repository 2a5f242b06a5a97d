"""The order of the importances that are drawn, and their mean; the drawings are tested with the public functions."""

from __future__ import annotations

import pytest
from drawn_plots import all_explanations

from suffice._show.importance_figure import rank_importances


@pytest.mark.parametrize("sets", ["minimal", "all"])
def test_explanations_and_a_list_of_them_have_the_same_importances_and_order(sets):
    explanations = all_explanations()
    ranked = explanations.ranked_importance(sets)
    n_with = int(explanations.has_set.sum())
    assert rank_importances(explanations, sets) == (ranked, explanations.variable_names, n_with)
    listed, names, n_listed = rank_importances(list(explanations), sets)
    assert (names, n_listed) == (explanations.variable_names, n_with)
    assert [name for name, _ in listed] == [name for name, _ in ranked]
    assert [value for _, value in listed] == pytest.approx([value for _, value in ranked], abs=1e-12)


@pytest.mark.parametrize("sets", ["minimal", "all"])
def test_one_row_has_the_order_of_its_own_sets(sets):
    explanation = all_explanations()[0]
    assert rank_importances([explanation], sets)[0] == explanation.ranked_importance(sets)
