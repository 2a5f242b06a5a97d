"""The answers behind explanations: choosing and joining rows."""

from __future__ import annotations

import numpy as np
import pytest

from suffice import SufficientExplainer

X = np.random.default_rng(0).normal(size=(200, 3))
NAMES = [f"c{i}" for i in range(12)]


@pytest.fixture(scope="module", params=[False, True], ids=["classes", "numbers"])
def answers(request):
    y = X[:, 0] + X[:, 1] if request.param else X[:, 0] > 0
    return SufficientExplainer(random_state=0).fit(X, y).explain(X[:12], ids=NAMES).answers


def test_rows_are_taken_with_their_names_and_positions(answers):
    rows = np.array([7, 2, 2])
    taken = answers.take(rows)
    assert taken.ids == ("c7", "c2", "c2")
    assert taken.row_positions.tolist() == [7, 2, 2]
    assert taken.take(np.array([1])).row_positions.tolist() == [2]
    assert np.array_equal(taken.X, answers.X[rows])
    assert taken.predictions.tolist() == answers.predictions[rows].tolist()
    assert taken.rules == [answers.rules[7], answers.rules[2], answers.rules[2]]
    assert taken.sets.n_by_row().tolist() == answers.sets.n_by_row()[rows].tolist()
    assert taken.sdps_of_all.tolist() == answers.sdps_of_all[rows].tolist()
    assert taken.source == answers.source == "forest"


def test_joined_parts_are_the_whole(answers):
    parts = [answers.take(np.arange(5)), answers.take(np.arange(5, 12))]
    joined = type(answers).joined(parts)
    assert joined.ids == answers.ids
    assert joined.positions is None
    assert joined.source == "forest"
    assert np.array_equal(joined.X, answers.X)
    assert joined.rules == list(answers.rules)
    assert np.array_equal(joined.sets.masks, answers.sets.masks)


def test_joined_parts_are_named_only_if_all_are(answers):
    parts = [answers, answers._replace(ids=None, source="given")]
    joined = type(answers).joined(parts)
    assert joined.ids is None
    assert joined.source == "given"
