"""Lists of rules as arrays, against plain loops."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from rule_boxes import LEFT, MIDDLE, RIGHT, classifier

MATRICES = st.integers(0, 6).flatmap(lambda n_rows: arrays(bool, (3, n_rows)))


@given(MATRICES)
def test_the_first_line_that_covers_a_row_decides_it(covers):
    lines = classifier([LEFT, MIDDLE, RIGHT]).lines_
    before = covers.copy()
    expected = [next((line for line in range(3) if of_row[line]), -1) for of_row in covers.T]
    assert lines.decide(covers).tolist() == expected
    np.testing.assert_array_equal(covers, before)
