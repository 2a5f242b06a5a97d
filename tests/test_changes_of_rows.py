"""Changes of many rows: frames, JSON, points and a summary."""

from __future__ import annotations

import json

import numpy as np
import pytest
from loans import loan_explainer, make_loans


@pytest.fixture(scope="module")
def explainer():
    return loan_explainer()


def test_frames_and_json_hold_every_change(explainer):
    X, _ = make_loans(10, seed=2)
    changes = explainer.what_if(X, "good")
    frame = changes.to_frame()
    assert len(frame) == sum(len(answer.changes) for answer in changes)
    rows = changes.to_frame("rows")
    assert len(rows) == 10
    assert rows["n_changes"].tolist() == [len(answer.changes) for answer in changes]
    read = json.loads(changes.to_json())
    assert [len(row["changes"]) for row in read["rows"]] == rows["n_changes"].tolist()
    assert str(changes).count("have a change") == 1
    assert len(changes[:3]) == 3


def test_points_are_the_rows_at_their_best_change(explainer):
    X, _ = make_loans(30, seed=5)
    changes = explainer.what_if(X, "good")
    points = changes.points()
    for i, answer in enumerate(changes):
        expected = {**X.iloc[i].to_dict(), **(answer.best.values if answer.best else {})}
        assert points.iloc[i]["account"] == expected["account"]
        assert points.iloc[i]["income"] == expected["income"]
    assert np.array_equal(changes.has_change, [answer.best is not None for answer in changes])
