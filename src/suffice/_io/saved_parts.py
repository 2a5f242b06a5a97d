"""The parts of a saved explainer: what the header says of them is checked against the arrays, and these against it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from suffice._forest.drawn_rows import DrawnRows
from suffice._forest.fitted import SetAside
from suffice._forest.projection import MAX_CANDIDATES
from suffice._forest.trees import Counts, PlainForest, TreeArrays
from suffice._io.saved_content import Memory, Reader, read_flag, read_number, read_strings, read_whole
from suffice._table.encoding import MAX_WHOLE, Column, Encoding
from suffice._table.table import DATE_PARTS, WEEKDAYS
from suffice._table.variables import Variables

MAX_DEPTH = 20_000
"""How deep a tree may be. The trees of ordinary tables are 10 to 50 splits deep."""
# Types in the file; what a tree needs has those of TreeArrays in memory.
NODE_TYPES = {
    "left": "<i4",
    "right": "<i4",
    "column": "<i4",
    "threshold": "<f8",
    "missing_left": "|u1",
    "n_rows": "<f8",
    "value": "<f8",
}
# Bytes in memory, in Python and in the core: for each row that a tree counts, each node and each tree.
_ROW_BYTES, _NODE_BYTES, _TREE_BYTES = 20, 256, 2048
# What scikit-learn takes for a tree that it grows, whatever the number of rows: for each leaf and each row at most.
_LEAF_BYTES, _SAMPLE_BYTES = 128, 32
_SHARE_ERROR = 1e-3  # of float32 sums


def read_encoding(header: dict[str, Any]) -> Encoding:
    """Read how the table becomes numbers."""
    names = read_strings(header["names"], "columns")
    columns = [_read_column(values, names) for values in header["columns"]]
    if not columns:
        raise ValueError("it has no columns")
    places = [(column.source, column.part) for column in columns]
    whole = {source for source, part in places if part is None}
    if len(set(places)) < len(places) or any(part is not None and source in whole for source, part in places):
        raise ValueError("two of its columns come from the same values")
    if len({column.name for column in columns}) < len(columns):
        raise ValueError("its columns have no proper names: one of them occurs twice")
    return Encoding(tuple(columns), names, read_flag(header["has_names"], "whether its columns have names"))


def _read_column(values: dict[str, Any], names: tuple[str, ...]) -> Column:
    source, part = read_whole(values["source"], 0, len(names) - 1), values["part"]
    if values["kind"] not in ("number", "whole", "category"):
        raise ValueError("a column of it has no proper name or kind")
    if part is not None and part not in DATE_PARTS:
        raise ValueError(f"a column of it is the {part!r} of dates")
    if values["name"] != (names[source] if part is None else f"{names[source]}.{part}"):
        raise ValueError("a column of it has no proper name or kind")
    groups = values["labels"]
    if not isinstance(groups, list) or not all(isinstance(group, list) and group for group in groups):
        raise ValueError(f"the categories of {values['name']!r} cannot be read")
    extent = values["extent"]
    if not isinstance(extent, list) or len(extent) != 2:
        raise ValueError(f"the range of {values['name']!r} is {extent!r}")
    column = Column(
        name=values["name"],
        source=source,
        kind=values["kind"],
        part=part,
        labels=tuple(tuple(group) for group in groups),
        rare=None if values["rare"] is None else read_whole(values["rare"], 0, len(groups) - 1),
        extent=(read_number(extent[0], "an end of a range"), read_number(extent[1], "an end of a range")),
        is_ordered=values.get("is_ordered") is True,  # not in files of earlier versions
    )
    _check_labels(column)
    low, high = column.extent
    is_missing = math.isnan(low) and math.isnan(high)
    if not is_missing and not (-math.inf < low <= high < math.inf):
        raise ValueError(f"the range of {column.name!r} is from {low!r} to {high!r}")
    return column


def _check_labels(column: Column) -> None:
    labels = [label for group in column.labels for label in group]
    is_plain = all(isinstance(label, str | bool | int | float) and label == label for label in labels)  # noqa: PLR0124
    is_right = (column.kind == "category") == bool(labels) and is_plain and len(set(labels)) == len(labels)
    # Only the rare categories share a code.
    is_right &= all(len(group) == 1 for code, group in enumerate(column.labels) if code != column.rare)
    if column.part == "weekday":
        is_right &= labels == list(WEEKDAYS)
    elif column.part is not None:
        is_right &= column.kind == "whole"
    if not is_right:
        raise ValueError(f"the categories of {column.name!r} cannot be read")


def check_matrix(X: NDArray[np.float32], encoding: Encoding, takes_missing: bool = True) -> None:
    """Check that a table holds what its columns say."""
    with np.errstate(invalid="ignore"):
        is_finite = np.isfinite(X.sum(dtype=np.float64))  # one pass without a copy, true for nearly every table
    if len(X) < 2 or (not is_finite and np.isinf(X).any()):
        raise ValueError("its table holds infinite numbers, or too few rows")
    if not is_finite and not takes_missing and np.isnan(X).any():
        raise ValueError("its table has missing values, which its forest cannot take")
    for c, column in enumerate(encoding.columns):
        values = X[:, c]
        known = values[~np.isnan(values)]
        if column.kind != "number" and (known != np.floor(known)).any():
            raise ValueError(f"its table holds fractions of {column.name!r}, which is said to be whole")
        if column.kind == "category":
            if np.any((known < 0) | (known >= len(column.labels))):
                raise ValueError(f"its table holds unknown categories of {column.name!r}")
            continue
        if not len(known):
            continue
        low, high = known.min(), known.max()
        if column.kind == "whole" and max(abs(low), abs(high)) >= MAX_WHOLE:
            raise ValueError(f"its table holds too large numbers of {column.name!r}")
        # Some training rows may have been left out, so that the range in the file can be wider.
        if not (np.float32(column.extent[0]) <= low and high <= np.float32(column.extent[1])):
            raise ValueError(f"its table leaves the range of {column.name!r}")


def count_text(X: NDArray[np.float32], encoding: Encoding, memory: Memory) -> None:
    """Count the memory of a table whose rows have the names of their categories, as the app shows it."""
    for c, column in enumerate(encoding.columns):
        if column.kind == "category":
            codes = X[:, c]
            counts = np.bincount(codes[~np.isnan(codes)].astype(np.intp), minlength=len(column.labels))
            lengths = [max(len(str(label)) for label in labels) for labels in column.labels]
            memory.take(int(counts @ np.array(lengths, dtype=np.int64)), f"the categories of {column.name[:100]!r}")


def read_classes(header: dict[str, Any], n_classes: int, n_rows: int, memory: Memory) -> NDArray[Any] | None:
    """Read the labels of a classification."""
    if header["task"] == "regression":
        return None
    if header["task"] != "classification":
        raise ValueError(f"its task is {header['task']!r}")
    labels, kind = header["classes"], np.dtype(str(header["classes_type"]))
    types: Any = {"b": bool, "i": int, "u": int, "f": (int, float), "U": str}.get(kind.kind)
    if types is None or not isinstance(labels, list) or len(labels) != n_classes:
        raise ValueError("its classes cannot be read")
    if not all(isinstance(v, types) and (kind.kind == "b") == isinstance(v, bool) for v in labels):
        raise ValueError("its classes cannot be read: one of them has another type")
    if kind.kind == "U":
        longest = max(map(len, labels))
        if 4 * longest > kind.itemsize:
            raise ValueError("its classes cannot be read: one of them is too long")
        # Wider than its labels the type would only take memory, for the label of each row that is explained.
        kind = np.dtype(f"<U{max(longest, 1)}")
    memory.take((n_classes + n_rows) * kind.itemsize, "its classes")
    classes = np.array(labels, dtype=kind)
    if not np.all(classes[:-1] < classes[1:]):
        raise ValueError("its classes are not in order")
    return classes


def read_outcomes(reader: Reader, header: dict[str, Any], n_rows: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Read the outcomes of the training rows."""
    y_values = reader.read("y_values", "<f8", None)
    y_rank = reader.read("y_rank", "<u4", n_rows)
    if len(y_values) < 2 or not np.all(np.isfinite(y_values)) or np.any(np.diff(y_values) <= 0):
        raise ValueError("its outcomes are not in order")
    if y_rank.max() >= len(y_values):
        raise ValueError("a row of it has an unknown outcome")
    if header["task"] == "classification":
        if not np.array_equal(y_values, np.arange(len(y_values))):
            raise ValueError("its outcomes are not the numbers of its classes")
    elif np.any(np.bincount(y_rank, minlength=len(y_values)) == 0):
        raise ValueError("no row of it has one of its outcomes")
    is_probability = read_flag(header.get("is_probability", False), "whether its outcomes are probabilities")
    if is_probability and (header["task"] == "classification" or y_values[0] < 0 or y_values[-1] > 1):
        raise ValueError("its outcomes are no probabilities")
    return y_values, y_rank


def read_shares_by_class(header: dict[str, Any], classes: NDArray[Any] | None) -> dict[Any, float] | None:
    """Read how many rows of each class the forest gets right."""
    shares = [read_number(share, "the share of a class") for share in header["fidelity_by_class"]]
    if classes is None:
        return None
    if len(shares) != len(classes) or any(share < 0 or share > 1 for share in shares):
        raise ValueError("the shares of its classes cannot be read")
    return dict(zip(classes.tolist(), shares, strict=True))


def read_counts(header: dict[str, Any]) -> Counts:
    """Read which training rows are counted."""
    counts = header.get("counts", "bootstrap")
    if counts not in ("out-of-bag", "bootstrap"):
        raise ValueError(f"it counts the rows {counts!r}")
    return cast("Counts", counts)


def read_radius(header: dict[str, Any]) -> float | None:
    """Read the radius of the intervals."""
    radius = header.get("default_radius")
    if radius is not None and not 0 <= read_number(radius, "its radius") < math.inf:
        raise ValueError(f"its radius is {radius!r}")
    return None if radius is None else float(radius)


def read_out_of_bag(reader: Reader, n_rows: int, n_classes: int | None) -> NDArray[np.float32] | None:
    """Read the class probabilities of training rows out of bag."""
    if "out_of_bag" not in reader.names:
        return None
    if n_classes is None:
        raise ValueError("it has class probabilities, but no classes")
    shares = reader.read("out_of_bag", "<f4", n_rows, n_classes)
    total = shares.sum(axis=1)
    is_known = ~np.isnan(shares).all(axis=1)
    if np.any((shares < 0) | (shares > 1)) or not np.all(np.abs(total[is_known] - 1) < _SHARE_ERROR):
        raise ValueError("its probabilities out of bag are none")
    return shares


def read_scores(reader: Reader, is_regression: bool) -> NDArray[np.float64] | None:
    """Read the scores by which intervals are calibrated."""
    if "interval_scores" not in reader.names:
        return None
    scores = reader.read("interval_scores", "<f8", None)
    if not is_regression or not np.all(np.isfinite(scores)) or np.any(np.diff(scores) < 0):
        raise ValueError("the scores of its intervals are not in order")
    return scores


def read_set_aside(reader: Reader, encoding: Encoding, classes: NDArray[Any] | None) -> SetAside | None:
    """Read the rows that were set aside for certificates."""
    if "set_aside_X" not in reader.names:
        return None
    X = reader.read("set_aside_X", "<f4", None, len(encoding.columns))
    # These rows are no training rows: they may lie outside their range.
    check_matrix(X, Encoding(tuple(map(_anywhere, encoding.columns)), encoding.names, encoding.has_names))
    numbers = reader.read("set_aside_y", "<f8", len(X))
    if classes is None:
        if not np.all(np.isfinite(numbers)):
            raise ValueError("the outcomes of its set-aside rows are not finite")
        return SetAside(X, numbers)
    if not np.all(np.isin(numbers, np.arange(len(classes)))):
        raise ValueError("the outcomes of its set-aside rows are none of its classes")
    reader.memory.take(len(X) * classes.itemsize, "the classes of its set-aside rows")
    return SetAside(X, classes[numbers.astype(np.intp)])


def read_drawn(reader: Reader, encoding: Encoding, n_rows: int, n_classes: int | None) -> DrawnRows | None:
    """Read the rows that were drawn for the model to be asked about."""
    if "drawn_X" not in reader.names:
        return None
    X = reader.read("drawn_X", "<f4", None, len(encoding.columns))
    if len(X):
        check_matrix(np.concatenate([X, X]), encoding)  # there may be one row only
    outcomes = reader.read("drawn_y", "<f8", len(X))
    is_right = np.isfinite(outcomes) if n_classes is None else np.isin(outcomes, np.arange(n_classes))
    if not is_right.all():
        raise ValueError("the outcomes of its drawn rows are none")
    parents = reader.read("drawn_parents", "<u4", len(X), 2).astype(np.intp)
    if np.any(parents >= n_rows):
        raise ValueError("its drawn rows are made of rows that it does not have")
    return DrawnRows(X, outcomes, parents)


def _anywhere(column: Column) -> Column:
    return replace(column, kind="category" if column.kind == "category" else "number", extent=(-math.inf, math.inf))


def read_variables(header: dict[str, Any], encoding: Encoding) -> tuple[Variables, tuple[int, ...]]:
    """Read the variables, and which of them are searched."""
    names = read_strings(header["variables"]["names"], "variables")
    groups = header["variables"]["columns"]
    columns = tuple(tuple(read_whole(c, 0, len(encoding.columns) - 1) for c in group) for group in groups)
    if not all(columns):
        raise ValueError("its variables have no proper names or columns")
    shared_out = sorted(c for group in columns for c in group)
    if len(names) != len(columns) or shared_out != list(range(len(encoding.columns))):
        raise ValueError("its variables do not share the columns out")
    candidates = tuple(read_whole(v, 0, len(names) - 1) for v in header["candidates"])
    if not 1 <= len(candidates) <= MAX_CANDIDATES or len(set(candidates)) < len(candidates):
        raise ValueError("its candidates cannot be read")
    return Variables(names, columns, tuple(column.name for column in encoding.columns)), candidates


def read_forest(header: dict[str, Any], reader: Reader, n_rows: int, n_classes: int | None) -> PlainForest:
    """Read the trees."""
    n_nodes = reader.read("n_nodes", "<u4", None).tolist()
    total = sum(n_nodes)
    if not n_nodes or min(n_nodes) < 1:
        raise ValueError("its forest has no trees, or a tree without nodes")
    width = 1 if n_classes is None else n_classes
    nodes = {
        name: reader.read(name, kind, total, *((width,) if name == "value" else ()))
        for name, kind in NODE_TYPES.items()
    }
    n_drawn = reader.read("n_drawn", "|u1 <u4", len(n_nodes), n_rows)
    _check_values(nodes["value"], n_classes)
    reader.memory.take(_NODE_BYTES * total + _TREE_BYTES * len(n_nodes), "the nodes of its trees")
    reader.memory.take(_ROW_BYTES * int(n_drawn.sum(dtype=np.int64)), "the rows of its trees")
    _check_depth(nodes["left"], nodes["right"], n_nodes, reader.memory)
    trees = []
    begin = 0
    for tree, size in enumerate(n_nodes):
        part = slice(begin, begin + size)
        begin += size
        if not 1 <= n_drawn[tree].sum(dtype=np.int64) < 2**31:
            raise ValueError("a tree of it drew no rows, or too many")
        trees.append(
            TreeArrays(
                left=nodes["left"][part].astype(np.int64),
                right=nodes["right"][part].astype(np.int64),
                column=nodes["column"][part].astype(np.int64),
                threshold=nodes["threshold"][part],
                missing_left=nodes["missing_left"][part],
                n_rows=nodes["n_rows"][part],
                value=nodes["value"][part],
                rows=np.repeat(np.arange(n_rows, dtype=np.int32), n_drawn[tree]),
            )
        )
    params = dict(header["forest"])
    has_missing = read_flag(params.pop("takes_missing"), "whether its forest takes missing values")
    kind = params.pop("kind")
    if not isinstance(kind, str) or read_whole(params["n_estimators"], 1, 2**31) != len(trees):
        raise ValueError("its forest has another kind or another number of trees than it says")
    leaf = read_number(params["min_samples_leaf"], "the smallest size of a leaf")
    if not 0 < leaf < math.inf:
        raise ValueError(f"the smallest size of a leaf is {leaf!r}")
    _check_growth(params, reader.memory)
    return PlainForest(kind, params, has_missing, tuple(trees))


def _check_growth(params: dict[str, Any], memory: Memory) -> None:
    """Refuse parameters with which the forest could not be grown again, or would take too much memory."""
    for name, value in params.items():
        if isinstance(value, int) and abs(value) >= 2**31:
            raise ValueError(f"its forest has {value!r} as its {name}")
    directions = params.get("monotonic_cst")
    if directions is not None and not (isinstance(directions, list) and all(one in (-1, 0, 1) for one in directions)):
        raise ValueError(f"its forest has {directions!r} as its monotonic_cst")
    for name, n_bytes in (("max_leaf_nodes", _LEAF_BYTES), ("max_samples", _SAMPLE_BYTES)):
        value = params.get(name)
        if isinstance(value, int) and value > 0:
            memory.take(n_bytes * value, f"a tree that is grown again with {name}={value}")


def _check_values(values: NDArray[np.float64], n_classes: int | None) -> None:
    if not np.all(np.isfinite(values)):
        raise ValueError("its forest predicts infinite numbers")
    if n_classes is not None and not (np.all(values >= 0) and np.all(np.abs(values.sum(axis=1) - 1) < _SHARE_ERROR)):
        raise ValueError("its forest predicts probabilities that are none")


def _check_depth(left: NDArray[np.int32], right: NDArray[np.int32], n_nodes: list[int], memory: Memory) -> None:
    """Refuse trees that are too deep, from their roots down, all trees together."""
    sizes = np.array(n_nodes, dtype=np.int64)
    begin = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    at, tree = begin, np.arange(len(sizes))
    depth = np.zeros(len(sizes), dtype=np.int64)
    n_seen = len(at)
    for level in range(MAX_DEPTH + 1):
        is_split = left[at] >= 0
        at, tree = at[is_split], tree[is_split]
        if not len(at):
            break
        depth[tree] = level + 1
        children = np.stack([left[at], right[at]]).astype(np.int64)
        if np.any((children < 0) | (children >= sizes[tree])):
            raise ValueError("A tree node points outside its tree or its table.")
        at, tree = (children + begin[tree]).ravel(), np.tile(tree, 2)
        n_seen += len(at)
        if n_seen > len(left):
            raise ValueError("The nodes of a tree form a cycle.")
    else:
        raise ValueError(f"a tree of it is more than {MAX_DEPTH:,} splits deep")
    # The core marks the splits that are still open, at each level of a cell that is cut in two.
    memory.take(int((depth * sizes).max()) // 8, "the deepest of its trees")
