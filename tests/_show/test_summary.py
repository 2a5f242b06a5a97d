"""Counts of explained rows, and their warnings."""

from __future__ import annotations

import numpy as np
import pytest

from suffice import SufficientExplainer
from suffice._show.picture import Share, all_cautions, size_shares
from suffice._text import counted


def test_rows_are_counted_by_size_with_warnings_of_those_that_disagree_or_ended_early():
    X = np.random.default_rng(0).normal(size=(200, 4))
    explainer = SufficientExplainer(random_state=0, max_sets=3).fit(X, (X[:, 1] > 0) & (X[:, 2] > -0.5))
    with pytest.warns(UserWarning, match="ended"):
        explanations = explainer.explain(X[:40], np.arange(40) < 20, rules=None, progress=False)
    rows = list(explanations)
    sizes = [len(row.best_set.variables) for row in rows if row.is_sufficient]
    assert 0 < len(sizes) < 40
    expected = [
        Share(counted(n, "variable") if n else "no variable needed", sizes.count(n) / 40, str(sizes.count(n)))
        for n in sorted(set(sizes))
    ]
    n_none = 40 - len(sizes)
    assert size_shares(explanations) == [*expected, Share("no such set", n_none / 40, str(n_none))]
    n_disagree, n_incomplete = (
        sum(not getattr(row, name) for row in rows) for name in ("forest_agrees", "is_search_complete")
    )
    assert n_disagree > 0
    assert n_incomplete > 0
    cautions = all_cautions(explanations)
    assert cautions[:2] == [
        f"The forest does not agree with the outcome of {counted(n_disagree, 'row')}: read these with care.",
        f"The search ended before all sets of {counted(n_incomplete, 'row')} were looked at: there may be others.",
    ]
    good = explainer.with_settings(max_sets=4096).explain(X[:40], rules=None, progress=False)
    assert not any("agree" in caution or "ended" in caution for caution in all_cautions(good))
