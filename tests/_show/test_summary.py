"""Counts of explained rows, and their warnings."""

from __future__ import annotations

import numpy as np
import pytest

from suffice import SufficientExplainer
from suffice._show.picture import Summary, summarize


def test_a_summary_warns_of_rows_that_disagree_and_of_searches_that_ended_early():
    assert Summary(9, 5, 0, 0, {1: 5}).cautions == ()
    assert Summary(9, 5, 1, 3, {1: 5}).cautions == (
        "The forest does not agree with the outcome of 1 row: read these with care.",
        "The search ended before all sets of 3 rows were looked at: there may be others.",
    )


def test_rows_are_counted_by_the_size_of_their_smallest_set():
    X = np.random.default_rng(0).normal(size=(200, 4))
    explainer = SufficientExplainer(random_state=0, max_sets=3).fit(X, (X[:, 1] > 0) & (X[:, 2] > -0.5))
    with pytest.warns(UserWarning, match="ended"):
        explanations = explainer.explain(X[:40], rules=None, progress=False)
    summary = summarize(explanations)
    rows = list(explanations)
    sizes = [len(row.best_set.variables) for row in rows if row.is_sufficient]
    assert summary.sizes == {size: sizes.count(size) for size in sorted(set(sizes))}
    assert (summary.n_rows, summary.n_sufficient) == (40, len(sizes))
    assert summary.n_disagree == sum(not row.forest_agrees for row in rows)
    assert summary.n_incomplete == sum(not row.is_search_complete for row in rows) > 0
