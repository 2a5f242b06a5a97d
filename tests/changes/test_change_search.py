"""The search for changes, from Python."""

from __future__ import annotations

import numpy as np
import pytest
from loans import ROW, loan_explainer

from suffice._forest.outcomes import read_targets
from suffice.changes.limits import read_limits, region_of_rows
from suffice.changes.search import ChangeOptions, ChangeSearch, find_changes


def test_rows_keep_their_order_whatever_their_levels():
    state = loan_explainer().fitted_
    X = state.forest.X[:12]
    limits = read_limits(state, [], None, None, None)
    targets = read_targets(None, state.predict(X), state.classes)
    levels = np.where(np.arange(12) % 2, 0.7, 0.9)
    search = ChangeSearch(state, targets, levels, limits, ChangeOptions())
    both = find_changes(search, region_of_rows(X), limits.boxes(X))
    for i in range(12):
        row = X[i : i + 1]
        [one] = find_changes(search.take([i]), region_of_rows(row), limits.boxes(row))
        assert [c.plausibility for c in one.changes] == [c.plausibility for c in both[i].changes]
        assert [c.variables for c in one.changes] == [c.variables for c in both[i].changes]


@pytest.mark.parametrize(
    "options", [{"check": "rows"}, {"n": 0}, {"max_size": 0}, {"min_plausibility": 1.0}, {"sets": "x"}]
)
def test_options_are_checked(options):
    with pytest.raises(ValueError, match=f"`{next(iter(options))}` must be"):
        ChangeOptions(**options)


def test_the_cdp_is_the_sdp_of_what_does_not_change():
    explainer = loan_explainer()
    best = explainer.what_if(ROW, "good")[0].best
    others = [name for name in explainer.variable_names_ if name not in best.variables]
    # Changes are weighed in the cells of the trees' own splits, without those that separate categories.
    assert best.cdp == pytest.approx(explainer.sdp(ROW, others, ["good"])[0], abs=0.02)
