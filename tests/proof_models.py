"""Small ensembles for the tests of proofs: by hand, and drawn."""

from __future__ import annotations

import numpy as np

from suffice.proofs.ensemble import Ensemble, ModelColumn


def stump_model(**changes):
    """Two trees on `age` (numbers) and `job` (labels): the second class from age 30 on, or for nurses."""
    arrays = {
        "columns": (ModelColumn("age"), ModelColumn("job", ("cook", "nurse", "smith"))),
        "classes": np.array(["no", "yes"]),
        "roots": np.array([0, 3], dtype=np.int32),
        "column": np.array([0, -1, -1, 1, -1, -1], dtype=np.int32),
        "threshold": np.array([30.0, 0, 0, np.nan, 0, 0]),
        "label_set": np.array([-1, -1, -1, 0, -1, -1], dtype=np.int32),
        "label_sets": np.array([[True, False, True]]),
        "missing_left": np.array([False, False, False, True, False, False]),
        "left": np.array([1, -1, -1, 4, -1, -1], dtype=np.int32),
        "right": np.array([2, -1, -1, 5, -1, -1], dtype=np.int32),
        "value": np.array([[0.0], [-1.0], [1.0], [0.0], [-0.5], [2.5]]),
        "start": np.array([-0.25]),
        "decides_by": "positive",
        "rounding": 0.0,
        "name": "two stumps",
    }
    return Ensemble(**{**arrays, **changes})
