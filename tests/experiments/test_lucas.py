"""The SDP against its exact value, on data whose distribution is known: LUCAS, 12 binary variables."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from experiments.data.lucas_network import lucas_sdp, make_lucas

from suffice import SufficientExplainer


@pytest.mark.slow
def test_the_sdp_is_near_its_exact_value_for_all_small_sets():
    data = make_lucas(20_000, random_state=0)
    explainer = SufficientExplainer(random_state=0).fit(data.X, data.y)
    rows, outcomes = make_lucas(40, random_state=1).X, np.repeat([True, False], 20)
    errors = []
    for size in range(4):
        for S in combinations(data.X.columns, size):
            exact = lucas_sdp(rows, list(S), True)
            exact = np.where(outcomes, exact, 1 - exact)
            errors.append(np.abs(explainer.sdp(rows, list(S), outcomes) - exact).mean())
    assert len(errors) == 1 + 11 + 55 + 165
    assert np.mean(errors) < 0.03
