"""Boosted trees of XGBoost, LightGBM and CatBoost, read from the JSON that each library documents."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice._table.table import Table
from suffice.proofs.ensemble import LEAF, Ensemble, ModelColumn, invert_link
from suffice.proofs.joining import DOUBLE, SINGLE, Tree, join_trees, names_of, unreadable

Labels = tuple[Any, ...] | None
# How the objectives decide, and the link of predicted numbers.
_NUMBER, _AMOUNT, _SHARE = ("number", "identity"), ("number", "exp"), ("number", "logistic")
_MARGIN, _LARGEST = ("positive", "identity"), ("largest", "identity")
_XGBOOST = (
    {"binary:logistic": _MARGIN, "reg:logistic": _SHARE, "multi:softprob": _LARGEST, "multi:softmax": _LARGEST}
    | dict.fromkeys(("reg:squarederror", "reg:absoluteerror", "reg:pseudohubererror", "reg:quantileerror"), _NUMBER)
    | dict.fromkeys(("count:poisson", "reg:gamma", "reg:tweedie"), _AMOUNT)
)
_LIGHTGBM = (
    {"binary": _MARGIN, "multiclass": _LARGEST, "cross_entropy": _SHARE}
    | dict.fromkeys(("regression", "regression_l1", "huber", "fair", "quantile", "mape"), _NUMBER)
    | dict.fromkeys(("poisson", "gamma", "tweedie"), _AMOUNT)
)
_CATBOOST = (
    {"Logloss": _MARGIN, "MultiClass": _LARGEST}
    | dict.fromkeys(("RMSE", "MAE", "Quantile", "MAPE", "Huber"), _NUMBER)
    | dict.fromkeys(("Poisson", "Tweedie"), _AMOUNT)
)
MOST = 1_000_000  # nodes of a tree, columns, and codes of categories that a dump may state
_NEAR_0 = float(np.float32(1e-35))  # LightGBM takes numbers up to this size for 0
_BELOW_0 = float(np.nextafter(-_NEAR_0, -1))


def _count(name: str, number: Any, most: int = MOST) -> int:
    """Read a number of columns or outputs before arrays of that size are made."""
    if not 0 <= int(number) <= most:
        raise unreadable(name, f"it states {number} where at most {most} can be")
    return int(number)


def _decision(name: str, objective: str, known: Mapping[str, tuple[str, str]], classes: Any) -> dict[str, Any]:
    """Return how an objective decides, as an ensemble states it."""
    if objective not in known:
        raise unreadable(name, f"the objective {objective!r}; these can be: {list(known)}")
    decides_by, link = known[objective]
    return {"decides_by": decides_by, "link": link, "classes": None if decides_by == "number" else classes}


def read_xgboost(model: Any, table: Table | None) -> Ensemble:
    """Read XGBoost: float32 numbers go left if they are below the threshold, categories if they are not in the set."""
    name, booster = type(model).__name__, model
    if hasattr(model, "get_booster"):
        booster, missing = model.get_booster(), model.missing
        if missing is not None and not math.isnan(missing):
            raise unreadable(name, f"it takes {missing!r} for missing; give NaN, and fit with `missing=np.nan`")
        last = booster.attr("best_iteration")  # its `predict` stops there; that of a Booster does not
        booster = booster if last is None else booster[: int(last) + 1]
    learner = json.loads(booster.save_raw("json"))["learner"]
    shape, boosting = learner["learner_model_param"], learner["gradient_booster"]
    objective = learner["objective"]["name"]
    if boosting["name"] != "gbtree":
        raise unreadable(name, f"the booster {boosting['name']!r}; only 'gbtree' can be")
    if int(shape.get("num_target", 1)) != 1:
        raise unreadable(name, f"it predicts {shape['num_target']} outcomes; only models of one outcome can be")
    n_outputs = max(_count(name, shape["num_class"], len(boosting["model"]["trees"])), 1)
    how = _decision(name, objective, _XGBOOST, np.arange(max(n_outputs, 2)))
    if objective == "binary:logistic" and name.endswith("Regressor"):
        how = _decision(name, "reg:logistic", _XGBOOST, None)
    names = names_of(learner["feature_names"] or None, _count(name, shape["num_feature"]), table)
    labels = _xgboost_labels(boosting["model"], learner["feature_types"] or ["float"] * len(names), names, table)
    columns = [ModelColumn(column, known) for column, known in zip(names, labels, strict=True)]
    base = _singles(np.ravel(json.loads(str(shape["base_score"])))).astype(np.float64)
    base = invert_link("logistic" if objective == "binary:logistic" else how["link"], base)
    start = np.broadcast_to(base, n_outputs).astype(np.float64)
    pairs = zip(boosting["model"]["trees"], boosting["model"]["tree_info"], strict=True)
    trees = [_read_xgboost_tree(tree, output, columns, name) for tree, output in pairs]
    # The base as a margin, and the probabilities that are compared, are float32 as well: 8 roundings.
    slack = 8 * 2.0**-SINGLE * (1 + float(np.abs(start).max()))
    return join_trees(trees, columns, start, name, is_float32=True, bits=SINGLE, slack=slack, **how)


def _singles(values: Any) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):
        return np.array(values, dtype=np.float64).astype(np.float32)


def _xgboost_labels(model: Any, kinds: Sequence[str], names: list[str], table: Table | None) -> list[Labels]:
    """Return the labels of each column: those that the model stores, those that the table declares, or codes."""
    stored = (model.get("cats") or {}).get("enc") or [{}] * len(names)
    labels: list[Labels] = [None] * len(names)
    for i, (column, kind) in enumerate(zip(names, kinds, strict=True)):
        values, ends = stored[i].get("values"), stored[i].get("offsets")
        if kind != "c":
            continue
        if values:  # text stands there as bytes, one label after another
            labels[i] = tuple(bytes(values[a:b]).decode() for a, b in pairwise(ends)) if ends else tuple(values)
        elif table is None:
            raise ValueError(f"Column {column!r} of this model holds categories: pass `X`, rows as it is given them.")
        else:
            at = table.position(column) if table.has_names else i
            labels[i] = table.categories(at) if table.kind(at) != "number" else _codes(table.numbers(at))
    return labels


def _codes(values: Any) -> tuple[int, ...]:
    """Return the labels of a column of whole numbers that are codes themselves."""
    return tuple(range(_count("The model", np.nanmax(values, initial=0)) + 1))


def _read_xgboost_tree(tree: Any, output: int, columns: Sequence[ModelColumn], name: str) -> Tree:
    if int(tree["tree_param"]["size_leaf_vector"]) > 1:
        raise unreadable(name, "its trees have several outputs")
    left, right, column = (np.array(tree[part]) for part in ("left_children", "right_children", "split_indices"))
    is_leaf, kinds, at = left < 0, np.array(tree["split_type"]), _singles(tree["split_conditions"])
    if np.setdiff1d(kinds[~is_leaf], [0, 1]).size:
        raise unreadable(name, f"a split is of the unknown type {kinds[~is_leaf].max()}")
    parts = (tree[f"categories_{part}"] for part in ("nodes", "segments", "sizes"))
    sets, chosen = {}, np.array(tree["categories"], dtype=int)
    for node, first, size in zip(*parts, strict=True):
        labels = columns[column[node]].labels
        sets[node] = ~np.isin(np.arange(len(labels or ())), chosen[first : first + size])
    if {*np.flatnonzero(~is_leaf & (kinds == 1)).tolist()} != {*sets}:
        raise unreadable(name, "a split by categories has no categories")
    below = np.nextafter(at, np.float32(-np.inf)).astype(np.float64)  # x < t in float32
    column = np.where(is_leaf, LEAF, column)
    return Tree(column, below, np.array(tree["default_left"]), left, right, at.astype(np.float64), sets, output)


def read_lightgbm(model: Any, table: Table | None) -> Ensemble:
    """Read LightGBM: float64 numbers go left if they are at most the threshold, categories if they are in the set."""
    booster, name = getattr(model, "booster_", model), type(model).__name__
    dump = booster.dump_model()  # of the best iteration, as `predict` uses it
    objective, *parameters = dump.get("objective", "none").split()
    if "sqrt" in parameters or dump.get("average_output"):
        raise unreadable(name, "it was fitted with `reg_sqrt=True` or `boosting_type='rf'`")
    n_outputs, own = _count(name, dump["num_tree_per_iteration"], len(dump["tree_info"])), dump["feature_names"]
    how = _decision(name, objective, _LIGHTGBM, getattr(model, "classes_", np.arange(max(2, n_outputs))))
    # Those of a booster have no blanks.
    fitted = None if own == [f"Column_{i}" for i in range(len(own))] else getattr(model, "feature_names_in_", own)
    names = names_of(fitted, len(own), table)
    labels = _lightgbm_labels(dump, [dump["feature_infos"].get(c, {}).get("values") or [] for c in own], names, table)
    columns = [ModelColumn(column, known) for column, known in zip(names, labels, strict=True)]
    roots = [tree["tree_structure"] for tree in dump["tree_info"]]
    trees = [_read_lightgbm_tree(root, i % n_outputs, columns, name) for i, root in enumerate(roots)]
    # Probabilities are compared, at a scale that the objective states.
    scale = min((float(p.partition(":")[2]) for p in parameters if p.startswith("sigmoid:")), default=1.0)
    return join_trees(trees, columns, np.zeros(n_outputs), name, slack=8 * 2.0**-DOUBLE / scale, **how)


def _lightgbm_labels(dump: Any, seen: list[list[int]], names: list[str], table: Table | None) -> list[Labels]:
    """Return the labels of each column: the stored categories, or whole numbers that are codes themselves."""
    declared = dump.get("pandas_categorical") or []
    at = [i if table is None or not table.has_names else table.position(name) for i, name in enumerate(names)]
    holds_labels = [
        bool(codes) if table is None else table.kind(i) in ("category", "ordered")
        for i, codes in zip(at, seen, strict=True)
    ]
    if declared and sum(holds_labels) != len(declared):
        n_given = sum(holds_labels)
        raise ValueError(f"The model was fitted on {len(declared)} columns of categories, `X` has {n_given}.")
    stored = iter(declared)
    labels: list[Labels] = [tuple(next(stored)) if declared and holds else None for holds in holds_labels]
    for i, codes in enumerate(seen):
        if codes and labels[i] is None:
            labels[i] = _codes([*codes, *([] if table is None else table.numbers(at[i]))])
    return labels


def _read_lightgbm_tree(root: Any, output: int, columns: Sequence[ModelColumn], name: str) -> Tree:
    """Flatten the nested nodes of a tree."""
    nodes: list[list[Any]] = []  # column, threshold, missing left, left, right, value
    sets: dict[int, Any] = {}
    waiting: list[tuple[Any, int, int]] = [(root, -1, -1)]
    while waiting:
        node, parent, side = waiting.pop()
        at = len(nodes)
        if parent >= 0:
            nodes[parent][side] = at
        if at > MOST or node.get("leaf_coeff"):
            raise unreadable(name, "it was fitted with `linear_tree=True`, or a tree is too large")
        if "split_feature" not in node:
            nodes.append([LEAF, 0.0, False, LEAF, LEAF, node["leaf_value"]])
            continue
        feature, (threshold, missing_left, chosen) = node["split_feature"], _read_question(node, name)
        if chosen is not None:
            sets[at] = np.isin(np.arange(len(columns[feature].labels or ())), chosen)
        nodes.append([feature, threshold, missing_left, LEAF, LEAF, 0.0])
        waiting += [(node["right_child"], at, 4), (node["left_child"], at, 3)]
    column, at_most, to_left, left, right, leaf = (np.array(part) for part in zip(*nodes, strict=True))
    return Tree(column, at_most, to_left, left, right, leaf, sets, output)


def _read_question(node: Any, name: str) -> tuple[float, bool, list[int] | None]:
    """Return the threshold of a node, whether missing values go left, and the categories that do."""
    threshold, kind, missing = node["threshold"], node["decision_type"], node["missing_type"]
    if kind == "==":
        return 0.0, False, [int(code) for code in str(threshold).split("||")]  # a missing category is in no set
    if missing == "Zero":
        raise unreadable(name, "it was fitted with `zero_as_missing=True`; give NaN for missing values")
    if kind != "<=" or missing not in ("None", "NaN"):
        raise unreadable(name, f"a split is of the type {kind!r}, with missing values {missing!r}")
    missing_left = node["default_left"] if missing == "NaN" else threshold >= 0  # else it is taken for 0
    if -_NEAR_0 <= threshold < _NEAR_0:
        threshold = _NEAR_0 if threshold >= 0 else _BELOW_0  # so are small numbers
    return float(threshold), bool(missing_left), None


def dump_catboost(model: Any, X: Any) -> Any:
    """Return the JSON of CatBoost; the hashes of its categories are those of the table."""
    import catboost

    places = model.get_cat_feature_indices()
    with TemporaryDirectory() as folder:
        path = Path(folder, "model.json")
        pool = catboost.Pool(X, cat_features=places) if places and X is not None else None
        model.save_model(str(path), format="json", pool=pool)
        return json.loads(path.read_text())


def read_catboost(dump: Any, table: Table | None) -> Ensemble:
    """Read the JSON of CatBoost: numbers above the border, and one category, set a bit of the number of the leaf."""
    features, info, name = dump["features_info"], dump["model_info"], "CatBoost"
    if not dump.get("oblivious_trees"):
        raise unreadable(name, "it was not grown with the default `grow_policy='SymmetricTree'`")
    classes = np.array(info.get("class_params", {}).get("class_names", []))
    how = _decision(name, info["params"]["loss_function"]["type"], _CATBOOST, classes)
    floats, labelled = features.get("float_features") or [], features.get("categorical_features") or []
    by_place = sorted([*floats, *labelled], key=lambda feature: int(feature["flat_feature_index"]))
    own = [str(feature.get("feature_name") or feature["feature_id"]) for feature in by_place]
    names = names_of(own if all(own) else None, len(own), table)
    columns = [ModelColumn(column) for column in names]
    hash_of = {pair["value"]: int(pair["hash"]) for pair in features.get("cat_features_hash") or []}
    for i in (feature["flat_feature_index"] for feature in labelled):
        if table is None:
            raise ValueError(f"Column {names[i]!r} of this model holds categories: pass `X`, rows as it is given them.")
        labels = table.labels(table.position(names[i]) if table.has_names else i)[0]
        columns[i] = ModelColumn(names[i], tuple(label for label in labels if str(label) in hash_of))

    def read_split(split: Any) -> tuple[int, float, bool, Any]:
        if split["split_type"] == "FloatFeature":
            feature = floats[split["float_feature_index"]]
            goes_left = feature["nan_value_treatment"] != "AsTrue"
            return feature["flat_feature_index"], float(np.float32(split["border"])), goes_left, None
        if split["split_type"] != "OneHotFeature":
            why = f"a split is of the type {split['split_type']!r}: it encodes categories by outcomes"
            raise unreadable(name, f"{why}. Fit with `one_hot_max_size` of at least the number of categories")
        i = labelled[split["cat_feature_index"]]["flat_feature_index"]
        others = [hash_of[str(label)] != split["value"] % 2**32 for label in columns[i].labels or ()]
        return i, 0.0, True, np.array(others, dtype=bool)

    scale, bias = dump["scale_and_bias"]
    trees = []
    for tree in dump["oblivious_trees"]:
        # A heap, whose root asks the last split: it is the highest bit of the number of the leaf.
        splits = [read_split(split) for split in (tree.get("splits") or [])[::-1]] + [(LEAF, 0.0, False, None)]
        n_leaves = len(tree["leaf_values"]) // np.size(bias)
        if n_leaves != 2 ** (len(splits) - 1):
            raise unreadable(name, f"a tree with {len(splits) - 1} splits has {n_leaves} leaves")
        nodes = np.arange(2 * n_leaves - 1)
        level = np.frexp(nodes + 1.0)[1] - 1
        column, threshold, missing_left = (np.array([split[k] for split in splits])[level] for k in range(3))
        sets = {int(node): splits[level[node]][3] for node in nodes if splits[level[node]][3] is not None}
        leaves = np.zeros((len(nodes), np.size(bias)))
        leaves[n_leaves - 1 :] = scale * np.reshape(tree["leaf_values"], (n_leaves, -1))
        trees.append(Tree(column, threshold, missing_left, 2 * nodes + 1, 2 * nodes + 2, leaves, sets))
    start = np.ravel(np.array(bias, dtype=float))
    return join_trees(trees, columns, start, name, is_float32=True, is_as_added=False, **how)
