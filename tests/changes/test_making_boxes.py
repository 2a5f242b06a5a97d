"""Ends of changes that can be reached, and the nearest point."""

from __future__ import annotations

import numpy as np
from loans import loan_explainer, make_loans

from suffice._forest.outcomes import read_targets
from suffice.changes.limits import read_limits, region_of_rows
from suffice.changes.making import sides_of
from suffice.changes.search import ChangeOptions, ChangeSearch, find_changes


def test_ends_and_points_lie_in_the_box_of_the_core():
    """The written ends, as float32, are on the side of the thresholds that the box is on; so is the nearest point."""
    explainer = loan_explainer()
    state = explainer.fitted_
    X = explainer.encode(make_loans(60, seed=7)[0])
    limits = read_limits(state, [], None, None, None)
    targets = read_targets(None, state.predict(X), state.classes)
    search = ChangeSearch(state, targets, np.full(60, 0.8), limits, ChangeOptions(min_plausibility=0.01))
    found = find_changes(search, region_of_rows(X), limits.boxes(X))
    n_sides = 0
    for x, answer in zip(X, found, strict=True):
        for change in answer.changes:
            for side in sides_of(state, change, x, limits):
                c = side.column
                assert change.low[c] < np.float32(side.point) <= change.high[c]
                for end in (side.low, side.high):
                    if np.isfinite(end):
                        n_sides += 1
                        assert change.low[c] < np.float32(end) <= change.high[c]
                covered = state.forest.X[change.rows, c]
                assert (covered >= np.float32(side.low)).all()
                assert (covered <= np.float32(side.high)).all()
    assert n_sides > 20
