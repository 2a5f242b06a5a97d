"""Small ensembles for the tests of proofs: by hand, and drawn."""

from __future__ import annotations

import numpy as np

from suffice.proofs.ensemble import Ensemble, ModelColumn
from suffice.proofs.joining import of_float32


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


def draw_tree(rng, kinds, depth, n_outputs):
    """Draw a tree as the oracle takes it; what leaves add are eighths, so that ties happen and sums are exact."""
    if depth == 0 or rng.random() < 0.15:
        return tuple((rng.integers(-8, 9, size=n_outputs) / 8).tolist())
    column = int(rng.integers(len(kinds)))
    if kinds[column] == "labels":
        asked = frozenset(np.flatnonzero(rng.random(3) < 0.5).astype(float).tolist())
    else:
        asked = float(rng.integers(0, 5)) + (0.5 if rng.random() < 0.7 else 0.0)
    left, right = (draw_tree(rng, kinds, depth - 1, n_outputs) for _ in range(2))
    return (column, asked, bool(rng.random() < 0.5), left, right)


def draw_case(seed):
    """Draw a small model, the kinds of its columns and rows of a table."""
    rng = np.random.default_rng(seed)
    kinds = [str(kind) for kind in rng.choice(["number", "whole", "labels"], size=rng.integers(1, 5))]
    decides_by = str(rng.choice(["largest", "positive", "number"]))
    n_outputs = int(rng.integers(2, 4)) if decides_by == "largest" else 1
    trees = [draw_tree(rng, kinds, int(rng.integers(1, 4)), n_outputs) for _ in range(rng.integers(1, 6))]
    start = (rng.integers(-4, 5, size=n_outputs) / 8).tolist()
    model = {"trees": trees, "start": start, "decides_by": decides_by, "cut": float(rng.integers(-1, 2) / 8)}
    rows = np.column_stack([_draw_column(rng, kind, 8) for kind in kinds])
    return model, kinds, rows


def _draw_column(rng, kind, n):
    if kind == "labels":
        values = rng.integers(0, 3, size=n).astype(float)
    else:
        values = rng.integers(0, 11, size=n) / 2 if kind == "number" else rng.integers(0, 6, size=n).astype(float)
        if kind == "number":
            values[0] = 0.25  # not whole
    if rng.random() < 0.4:
        values[rng.integers(1, n)] = np.nan
    return values


def ensemble_of(model, kinds):
    """Make an ensemble of a model of the oracle."""
    nodes, sets = [], []

    def add(tree):
        i = len(nodes)
        nodes.append(None)
        if not isinstance(tree[-1], tuple):
            nodes[i] = (-1, 0.0, -1, False, -1, -1, tree)
            return i
        column, asked, missing_left, left, right = tree
        label_set = -1
        if isinstance(asked, frozenset):
            sets.append([float(code) in asked for code in range(3)])
            label_set, asked = len(sets) - 1, np.nan
        at_left, at_right = add(left), add(right)
        nodes[i] = (column, asked, label_set, missing_left, at_left, at_right, [0.0] * len(model["start"]))
        return i

    roots = [add(tree) for tree in model["trees"]]
    column, threshold, label_set, missing_left, left, right, value = map(list, zip(*nodes, strict=True))
    n_classes = {"largest": len(model["start"]), "positive": 2, "number": None}[model["decides_by"]]
    return Ensemble(
        columns=tuple(ModelColumn(f"c{i}", ("u", "v", "w") if k == "labels" else None) for i, k in enumerate(kinds)),
        classes=None if n_classes is None else np.arange(n_classes),
        roots=np.array(roots, dtype=np.int32),
        column=np.array(column, dtype=np.int32),
        threshold=np.array(threshold),
        label_set=np.array(label_set, dtype=np.int32),
        label_sets=np.array(sets, dtype=bool).reshape(-1, 3),
        missing_left=np.array(missing_left),
        left=np.array(left, dtype=np.int32),
        right=np.array(right, dtype=np.int32),
        value=np.array(value, dtype=float),
        start=np.array(model["start"]),
        decides_by=model["decides_by"],
        rounding=0.0,
        name="a drawn model",
        cut=model["cut"],
    )


def forest_ensemble(forest, names):
    """Make an ensemble of a classifier of scikit-learn on a table of numbers."""
    parts = [tree.tree_ for tree in forest.estimators_]
    begin = np.cumsum([0, *(tree.node_count for tree in parts)])
    is_leaf = np.concatenate([tree.children_left < 0 for tree in parts])
    left, right = (
        np.concatenate([getattr(tree, side) + first for tree, first in zip(parts, begin, strict=False)])
        for side in ("children_left", "children_right")
    )
    n = len(is_leaf)
    return Ensemble(
        columns=tuple(ModelColumn(name) for name in names),
        classes=forest.classes_,
        roots=begin[:-1].astype(np.int32),
        column=np.where(is_leaf, -1, np.concatenate([tree.feature for tree in parts])).astype(np.int32),
        threshold=of_float32(np.concatenate([tree.threshold for tree in parts])),
        label_set=np.full(n, -1, dtype=np.int32),
        label_sets=np.zeros((0, 0), dtype=bool),
        missing_left=np.concatenate([tree.missing_go_to_left for tree in parts]).astype(bool),
        left=left.astype(np.int32),
        right=right.astype(np.int32),
        value=np.concatenate([tree.value[:, 0, :] for tree in parts]) / len(parts),
        start=np.zeros(len(forest.classes_)),
        decides_by="largest",
        rounding=1e-12,
        name=f"RandomForestClassifier ({len(parts)} trees)",
    )
