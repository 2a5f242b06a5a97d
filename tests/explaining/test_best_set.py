"""Which of the smallest sufficient sets is the best one: ties within the error, and the arrays that hold it.

The choice itself is compared with the oracle where reasons are tested.
"""

from __future__ import annotations

import numpy as np
from small_explainers import CLASSES, ROWS, X, classifier

from suffice.explaining.best_set import Estimate, put_best_first, rank_alone
from suffice.explaining.search import find_sufficient_sets


def near(value, error=0.01):
    return Estimate(value, error**2)


def test_within_one_standard_error_the_average_decides_and_then_the_name():
    names, averages = ["d", "c", "b", "a"], [near(0.3), near(0.2), near(0.1), near(0.09)]

    def rank(*values):
        return list(rank_alone(dict(enumerate(map(near, values))), averages.__getitem__, names))

    assert rank(0.5, 0.6, 0.7, 0.8) == [3, 2, 1, 0]  # the values are apart
    assert rank(0.8, 0.8, 0.5, 0.5) == [0, 1, 3, 2]  # equal ones: by the average, then by the name
    assert rank(0.79, 0.8, 0.51, 0.5) == [0, 1, 3, 2]  # as good as equal
    assert rank(0.78, 0.8, 0.52, 0.5) == [1, 0, 2, 3]  # more than 0.014 apart
    # What is equal to the best comes first, even if it is not equal to what comes next.
    assert rank(0.79, 0.80, 0.785, 0.7) == [0, 1, 2, 3]


def test_the_average_is_not_asked_for_where_values_are_apart():
    assert list(rank_alone({0: near(0.5), 1: near(0.8)}, None, ["a", "b"])) == [1, 0]
    assert list(rank_alone({0: near(0.5)}, None, ["a"])) == [0]


def test_the_best_set_comes_first_and_all_others_stay():
    explainer = classifier(pi=0.6).fit(X, CLASSES)
    state, matrix, outcomes = explainer.fitted_, explainer.encode(ROWS), explainer.outcomes(ROWS)
    sets = find_sufficient_sets(state, matrix, outcomes, minimal_only=False, progress=None)
    for i, row in enumerate(np.split(sets.masks, sets.offset[1:-1])):
        assert len(row) == 0 or row[0].tolist() == sets.best_masks[i].tolist()
        assert len(np.unique(row, axis=0)) == len(row)
    again = put_best_first(state, matrix, outcomes, sets)
    assert again.best_masks.tolist() == sets.best_masks.tolist()
