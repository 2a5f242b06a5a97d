"""What may change, as boxes."""

from __future__ import annotations

import numpy as np
import pytest
from loans import loan_explainer

from suffice.changes.limits import at_most, below, read_limits, region_of_rows


@pytest.mark.parametrize("end", [0.1, 1.0, -3.7, 1e-30, 16777217.0])
def test_ends_of_float64_part_float32_values(end):
    values = np.array([np.nextafter(np.float32(end), np.float32(w)) for w in (-np.inf, np.inf)] + [np.float32(end)])
    assert ((values > below(end)) == (values.astype(np.float64) >= end)).all()
    assert ((values <= at_most(end)) == (values.astype(np.float64) <= end)).all()


def test_directions_begin_at_the_row():
    limits = read_limits(
        loan_explainer().fitted_, ["age"], None, {"income": "up", "debt": "down"}, {"income": (None, 50)}
    )
    row = np.array([[20.0, 1.0, 40.0, 2.5]], dtype=np.float32)
    boxes = limits.boxes(row)
    assert boxes["low"][0, 0] < 20 <= np.nextafter(boxes["low"][0, 0], np.float32(np.inf))
    assert boxes["high"][0].tolist() == [50.0, np.inf, np.inf, 2.5]
    assert limits.ends(0, 20.0) == (20.0, 50)
    assert limits.changeable == (0, 1, 3)


def test_a_region_holds_its_row_only():
    region = region_of_rows(np.array([[1.5, np.nan]], dtype=np.float32))
    assert region["high"][0, 0] == 1.5
    assert np.nextafter(region["low"][0, 0], np.float32(np.inf)) == 1.5
    assert region["missing"].tolist() == [[0, 1]]
    assert region["has_values"].tolist() == [[1, 0]]
