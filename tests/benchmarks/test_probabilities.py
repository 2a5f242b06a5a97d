import numpy as np
import pytest
from benchmarks.probabilities import INTERVALS, MEASURES, compare


@pytest.mark.filterwarnings("ignore")
def test_most_rows_have_a_set_within_intervals_of_both_kinds():
    means = compare(("breast cancer",), 10)
    assert list(means) == list(INTERVALS)
    of_quantiles, of_radius = (dict(zip(MEASURES, means[name], strict=True)) for name in ("quantiles", "radius 0.2"))
    assert min(of_radius["sets"], of_quantiles["sets"]) > 0.5
    assert all(np.isfinite(values).all() for values in means.values())
