import numpy as np
import pytest
from benchmarks.probabilities import INTERVALS, MEASURES, compare


@pytest.mark.filterwarnings("ignore")
def test_a_fixed_radius_gives_more_rows_a_set_than_quantiles_on_separated_classes():
    means = compare(("breast cancer",), 10)
    assert list(means) == list(INTERVALS)
    of_quantiles, of_radius = (dict(zip(MEASURES, means[name], strict=True)) for name in ("quantiles", "radius 0.2"))
    assert of_radius["sets"] > of_quantiles["sets"]
    assert all(np.isfinite(values).all() for values in means.values())
