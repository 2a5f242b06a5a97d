"""What the experiments do with the answers of the other methods."""

import numpy as np
from experiments.peers import Anchor, top


def test_an_anchor_covers_rows_by_their_bins():
    anchor = Anchor(frozenset({(0, "geq", 1), (0, "leq", 2), (2, "eq", 0)}))
    bins = np.array([[1, 9, 0], [2, 9, 0], [3, 9, 0], [2, 9, 1]])
    assert anchor.covers(bins).tolist() == [False, True, False, False]
    assert anchor.columns == {0, 2}


def test_top_takes_the_greatest_absolute_weights():
    assert top(np.array([[0.1, -3.0, 2.0, 0.0]]), 2, "abcd") == [{"b", "c"}]
