"""The importances that are drawn, their mean and their order; the drawings are tested with the public functions."""

from __future__ import annotations

import pytest
from drawn_plots import all_explanations

from suffice._show.importance_figure import gather_importances


@pytest.mark.parametrize("sets", ["minimal", "all"])
def test_explanations_and_a_list_of_them_have_the_same_importances_and_order(sets):
    explanations = all_explanations()
    gathered, listed = (gather_importances(rows, sets) for rows in (explanations, list(explanations)))
    assert gathered.names == listed.names
    assert gathered.matrix.tolist() == listed.matrix.tolist()
    assert gathered.has_set.tolist() == listed.has_set.tolist()
    ranked = explanations.ranked_importance(sets)
    assert [gathered.names[v] for v in gathered.ranked] == [name for name, _ in ranked]
    assert gathered.mean[gathered.ranked].tolist() == [value for _, value in ranked]
    assert listed.ranked == gathered.ranked


@pytest.mark.parametrize("sets", ["minimal", "all"])
def test_one_row_has_the_order_of_its_own_sets(sets):
    explanation = all_explanations()[0]
    gathered = gather_importances(explanation, sets)
    assert [gathered.names[v] for v in gathered.ranked] == [name for name, _ in explanation.ranked_importance(sets)]
