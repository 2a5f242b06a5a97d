"""Trees of scikit-learn: forests, single trees, gradient boosting and its histogram variant.

Of the latter, scikit-learn publishes no dump, so that its private arrays of nodes are read here and nowhere else.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.proofs.ensemble import LEAF, Ensemble, Floats, ModelColumn
from suffice.proofs.joining import Tree, join_trees, unreadable

_LINKS = {"IdentityLink": "identity", "LogLink": "exp"}
_AT_LEAST_0 = float(np.nextafter(0, -1))  # margins above this are those from 0 on
MAX_CODES = 256  # categories that a histogram tells apart


def _read_tree(tree: Any, leaves: Floats, output: int = 0) -> Tree:
    """Read the arrays that scikit-learn documents as ``tree_``."""
    left, right = tree.children_left, tree.children_right
    column = np.where(left == right, LEAF, tree.feature)
    return Tree(column, tree.threshold, tree.missing_go_to_left, left, right, leaves, {}, output)


def read_forest(model: Any, names: list[str], name: str) -> Ensemble:
    """Read a forest or a single tree: the class of the largest sum of probabilities, or the mean of numbers."""
    if model.n_outputs_ != 1:
        raise unreadable(name, f"it predicts {model.n_outputs_} outcomes; only models of one outcome can be")
    members = [member.tree_ for member in getattr(model, "estimators_", [model])]
    classes = getattr(model, "classes_", None)
    # Of shares the sum and not the mean: sums of many leaves are exact, so that ties are ties.
    n_added, start = (1, np.zeros(len(classes))) if classes is not None else (len(members), np.zeros(1))
    trees = [_read_tree(tree, tree.value[:, 0, :] / n_added) for tree in members]
    columns = [ModelColumn(column) for column in names]
    how: dict[str, Any] = {"decides_by": "number" if classes is None else "largest", "classes": classes}
    return join_trees(trees, columns, start, name, is_float32=True, is_as_added=n_added == 1, **how)


def read_boosted(model: Any, names: list[str], name: str) -> Ensemble:
    """Read gradient boosting, whose initial outputs must be the same for all rows."""
    kind, strategy = type(model.init_).__name__, getattr(model.init_, "strategy", "")
    if kind not in ("str", "DummyClassifier", "DummyRegressor") or strategy in ("stratified", "uniform"):
        raise unreadable(name, f"it starts from the outputs of a {kind}; with `init=None` or 'zero' it can be")
    start = model._raw_predict_init(np.zeros((1, len(names)), dtype=np.float32))[0]  # noqa: SLF001
    trees = [
        _read_tree(member.tree_, model.learning_rate * member.tree_.value[:, 0, 0], output)
        for members in model.estimators_
        for output, member in enumerate(members)
    ]
    how = {"is_as_added": False, "cut": _AT_LEAST_0, **_decision(model, start)}
    return join_trees(trees, [ModelColumn(column) for column in names], start, name, is_float32=True, **how)


def _decision(model: Any, start: Floats) -> dict[str, Any]:
    classes = getattr(model, "classes_", None)
    decides_by = "number" if classes is None else "positive" if len(start) == 1 else "largest"
    return {"decides_by": decides_by, "classes": classes}


def encoder_of(model: Any) -> Any:
    """Return the step that encodes the columns of histogram gradient boosting; None if none holds categories."""
    return getattr(model, "_preprocessor", None)


def read_histogram_boosted(model: Any, names: list[str], name: str) -> Ensemble:
    """Read histogram gradient boosting, over the columns that its encoder makes."""
    start = np.ravel(model._baseline_prediction).astype(np.float64)  # noqa: SLF001
    trees = []
    for members in model._predictors:  # noqa: SLF001
        for output, member in enumerate(members):
            nodes, words = member.nodes, np.ascontiguousarray(member.raw_left_cat_bitsets, dtype="<u4")
            goes_left = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little").astype(bool)
            is_leaf = nodes["is_leaf"].astype(bool)
            of_labels = np.flatnonzero(~is_leaf & nodes["is_categorical"].astype(bool))
            sets = {int(i): goes_left[nodes["bitset_idx"][i]] for i in of_labels}
            column = np.where(is_leaf, LEAF, nodes["feature_idx"])
            left, right = (nodes[side].astype(np.int64) for side in ("left", "right"))
            missing_left = nodes["missing_go_to_left"]
            trees.append(Tree(column, nodes["num_threshold"], missing_left, left, right, nodes["value"], sets, output))
    columns = [ModelColumn(column) for column in names]
    if encoder_of(model) is not None:  # it puts categories first, and its columns have no names
        codes, is_category = tuple(map(float, range(MAX_CODES))), model._is_categorical_remapped  # noqa: SLF001
        columns = [ModelColumn(f"x{i}", codes if is_label else None) for i, is_label in enumerate(is_category)]
    how = _decision(model, start)
    if how["classes"] is None:
        how["link"] = _LINKS[type(model._loss.link).__name__]  # noqa: SLF001
    return join_trees(trees, columns, start, name, **how)


# By what stands before Classifier or Regressor in the name of a model.
READERS = {
    **dict.fromkeys(("DecisionTree", "ExtraTree", "RandomForest", "ExtraTrees"), read_forest),
    "GradientBoosting": read_boosted,
    "HistGradientBoosting": read_histogram_boosted,
}
