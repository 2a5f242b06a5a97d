"""The parts of a saved explainer, each checked before it is used: the header against the arrays, and vice versa.

How much memory the parts may take is bounded before it is taken. The order of the parts is left to ``saved``.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from suffice._forest.fitted import SetAside
from suffice._forest.intervals import N_STEPS, OutOfBagErrors
from suffice._forest.projection import MAX_CANDIDATES
from suffice._forest.trees import Counts, PlainForest, TreeArrays
from suffice._io.sources import memory_limit
from suffice._table.encoding import MAX_WHOLE, Column, Encoding
from suffice._table.table import DATE_PARTS, WEEKDAYS
from suffice._table.variables import Variables

if TYPE_CHECKING:
    from numpy.typing import NDArray

LIMIT_VARIABLE = "SUFFICE_MAX_BYTES"
"""The environment variable that sets how much memory a saved explainer may take."""
# A saved explainer takes about 5 to 20 times the size of its file. Small files may take this much in any case.
LEAST_LIMIT = 256 * 2**20
TIMES_SIZE = 64
HOW_TO_RAISE = f"set {LIMIT_VARIABLE}, or load it with `max_bytes`"

MAX_DEPTH = 20_000
"""The largest depth of a tree. The trees of ordinary tables are 10 to 50 splits deep."""
# Types in the file; in memory, a tree has the types of TreeArrays.
NODE_TYPES = {
    **dict.fromkeys(("left", "right", "column"), "<i4"),
    "threshold": "<f8",
    "missing_left": "|u1",
    "n_rows": "<f8",
    "value": "<f8",
}
# Bytes in memory, in Python and in the core: for each row that a tree counts, each node and each tree.
_ROW_BYTES, _NODE_BYTES, _TREE_BYTES = 20, 256, 2048
# Bytes that scikit-learn takes at most to grow a tree, for each leaf and each row, whatever the size of the table.
_LEAF_BYTES, _SAMPLE_BYTES = 128, 32
_SHARE_ERROR = 1e-3  # of float32 sums


def saved_limit(n_file: int) -> int:
    """Return how much memory a saved explainer may take by default."""
    return memory_limit(LIMIT_VARIABLE, max(LEAST_LIMIT, TIMES_SIZE * n_file))


class Memory:
    """How much memory a file may take, and how much of it is used up. It is counted before the memory is taken."""

    def __init__(self, n_file: int, max_bytes: int | None = None) -> None:
        self._limit = saved_limit(n_file) if max_bytes is None else max_bytes
        self._used = 0

    def take(self, n_bytes: int, what: str) -> None:
        """Count memory that is about to be taken, and refuse it if that is too much."""
        self._used += n_bytes
        if self._used > self._limit:
            raise ValueError(
                f"it would take {self._used:,} bytes of memory, of which {n_bytes:,} for {what}, and the limit is "
                f"{self._limit:,}. If you trust the file, raise the limit: {HOW_TO_RAISE}"
            )


class Reader:
    """Arrays of a file, checked against its size."""

    def __init__(self, listed: dict[str, Any], data: memoryview, memory: Memory) -> None:
        self._listed = listed
        self._data = data
        self.memory = memory

    @property
    def names(self) -> set[str]:
        """The arrays that the file lists."""
        return set(self._listed)

    def read(self, name: str, kinds: str, *shape: int | None) -> NDArray[Any]:
        """Read an array."""
        entry = self._listed[name]
        require(entry["type"] in kinds.split(), f"array {name!r} has type {entry['type']!r}")
        sizes = [read_integer(size, 0, 2**62) for size in entry["shape"]]
        is_expected = len(sizes) == len(shape) and all(
            want in (None, size) for size, want in zip(sizes, shape, strict=True)
        )
        require(is_expected, f"array {name!r} has shape {sizes}")
        kind, offset = np.dtype(entry["type"]), read_integer(entry["offset"], 0, 2**62)
        n_values = math.prod(sizes)
        n_bytes = n_values * kind.itemsize
        require(offset + n_bytes <= len(self._data), f"array {name!r} reaches beyond the end of the file")
        self.memory.take(n_bytes, f"array {name!r}")
        array = np.frombuffer(self._data, kind, n_values, offset).reshape(sizes)
        # A copy is aligned, and does not keep the content of the file in memory. The table is most of that content.
        is_kept = array.flags.aligned and array.flags.writeable and 2 * array.nbytes > len(self._data)
        return array if is_kept else array.copy()


def require(is_valid: Any, problem: str) -> None:
    """Refuse the file unless a condition holds."""
    if not is_valid:
        raise ValueError(problem)


def read_integer(value: Any, least: int, most: int) -> int:
    """Read an integer of the header."""
    is_valid = isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
    require(is_valid, f"invalid integer in header: {value!r}")
    return int(value)


def read_number(value: Any, what: str) -> float:
    """Read a number of the header, which may be NaN."""
    require(isinstance(value, int | float) and not isinstance(value, bool), f"invalid {what}: {value!r}")
    return float(value)


def read_positive(value: Any, what: str, most: float = math.inf) -> float:
    """Read a number of the header above 0 and below some other number."""
    require(0 < read_number(value, what) < most, f"invalid {what}: {value!r}")
    return float(value)


def read_flag(value: Any, what: str) -> bool:
    """Read a value of the header that must be true or false."""
    require(isinstance(value, bool), f"invalid {what}: {value!r}")
    return bool(value)


def read_names(values: Any, what: str) -> tuple[str, ...]:
    """Read a list of distinct names."""
    is_list = isinstance(values, list) and len(values) > 0 and all(isinstance(value, str) for value in values)
    require(is_list, f"invalid {what} names")
    require(len(set(values)) == len(values), f"invalid {what} names: one of them occurs twice")
    return tuple(values)


# --- the table ------------------------------------------------------------------------------------------------------


def read_encoding(header: dict[str, Any]) -> Encoding:
    """Read how the table becomes numbers."""
    names = read_names(header["names"], "column")
    columns = [_read_column(values, names) for values in header["columns"]]
    require(columns, "no columns")
    places = [(column.source, column.part) for column in columns]
    whole = {source for source, part in places if part is None}
    is_shared = len(set(places)) < len(places) or any(part is not None and source in whole for source, part in places)
    require(not is_shared, "two columns have the same source")
    is_distinct = len({column.name for column in columns}) == len(columns)
    require(is_distinct, "invalid column names: one of them occurs twice")
    return Encoding(tuple(columns), names, read_flag(header["has_names"], "has_names"))


def _read_column(values: dict[str, Any], names: tuple[str, ...]) -> Column:
    name, source, part = values["name"], read_integer(values["source"], 0, len(names) - 1), values["part"]
    require(part is None or part in DATE_PARTS, f"invalid date part: {part!r}")
    is_named = name == (names[source] if part is None else f"{names[source]}.{part}")
    require(is_named and values["kind"] in ("number", "whole", "category"), "invalid column name or kind")
    groups, extent = values["labels"], values["extent"]
    is_list = isinstance(groups, list) and all(isinstance(group, list) and group for group in groups)
    require(is_list, f"invalid categories of {name!r}")
    require(isinstance(extent, list) and len(extent) == 2, f"invalid range of {name!r}: {extent!r}")
    low, high = (read_number(bound, f"range of {name!r}") for bound in extent)
    is_missing = math.isnan(low) and math.isnan(high)
    require(is_missing or -math.inf < low <= high < math.inf, f"invalid range of {name!r}: {extent!r}")
    column = Column(
        name=name,
        source=source,
        kind=values["kind"],
        part=part,
        labels=tuple(tuple(group) for group in groups),
        rare=None if values["rare"] is None else read_integer(values["rare"], 0, len(groups) - 1),
        extent=(low, high),
        is_ordered=values.get("is_ordered") is True,  # not in files of earlier versions
    )
    _check_labels(column)
    return column


def _check_labels(column: Column) -> None:
    labels = [label for group in column.labels for label in group]
    is_plain = all(isinstance(label, str | bool | int | float) and label == label for label in labels)  # noqa: PLR0124
    is_valid = (column.kind == "category") == bool(labels) and is_plain and len(set(labels)) == len(labels)
    # Only the rare categories share a code.
    is_valid &= all(len(group) == 1 for code, group in enumerate(column.labels) if code != column.rare)
    if column.part == "weekday":
        is_valid &= labels == list(WEEKDAYS)
    elif column.part is not None:
        is_valid &= column.kind == "whole"
    require(is_valid, f"invalid categories of {column.name!r}")


def check_matrix(X: NDArray[np.float32], encoding: Encoding, takes_missing: bool = True) -> None:
    """Check that a table holds what its columns declare."""
    with np.errstate(invalid="ignore"):
        is_finite = np.isfinite(X.sum(dtype=np.float64))  # one pass without a copy, true for nearly every table
    require(len(X) >= 2 and (is_finite or not np.isinf(X).any()), "the table holds infinity or fewer than two rows")
    lacks_values = not is_finite and not takes_missing and np.isnan(X).any()
    require(not lacks_values, "the table has missing values, which the forest does not support")
    # Row by row, in a fifth of the time that the columns take one by one; missing values are passed over.
    lows, highs = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
    for c, column in enumerate(encoding.columns):
        values, low, high, name = X[:, c], lows[c], highs[c], f"column {column.name!r}"
        if np.isnan(low):
            continue
        if column.kind != "number":
            is_whole = np.all((values == np.floor(values)) | np.isnan(values))
            require(is_whole, f"{name} holds fractions, but is declared as whole numbers")
        if column.kind == "category":
            require(low >= 0 and high < len(column.labels), f"{name} holds unknown categories")
        else:
            is_large = column.kind == "whole" and max(abs(low), abs(high)) >= MAX_WHOLE
            require(not is_large, f"{name} holds whole numbers that are too large")
            # Some training rows may have been left out, so that the range in the file can be wider.
            is_within = np.float32(column.extent[0]) <= low and high <= np.float32(column.extent[1])
            require(is_within, f"{name} holds numbers outside its range")


def count_text(X: NDArray[np.float32], encoding: Encoding, memory: Memory) -> None:
    """Count the memory of a table whose rows have the names of their categories, as the app shows it."""
    for c, column in enumerate(encoding.columns):
        if column.kind == "category":
            codes = X[:, c]
            counts = np.bincount(codes[~np.isnan(codes)].astype(np.intp), minlength=len(column.labels))
            lengths = [max(len(str(label)) for label in labels) for labels in column.labels]
            memory.take(int(counts @ np.array(lengths, dtype=np.int64)), f"the categories of {column.name[:100]!r}")


def read_variables(header: dict[str, Any], encoding: Encoding) -> tuple[Variables, tuple[int, ...]]:
    """Read the variables, and which of them are searched."""
    names = read_names(header["variables"]["names"], "variable")
    groups = header["variables"]["columns"]
    columns = tuple(tuple(read_integer(c, 0, len(encoding.columns) - 1) for c in group) for group in groups)
    used = sorted(c for group in columns for c in group)
    is_partition = len(names) == len(columns) and all(columns) and used == list(range(len(encoding.columns)))
    require(is_partition, "the variables do not partition the columns")
    candidates = tuple(read_integer(v, 0, len(names) - 1) for v in header["candidates"])
    is_valid = 1 <= len(candidates) <= MAX_CANDIDATES and len(set(candidates)) == len(candidates)
    require(is_valid, "invalid candidates")
    return Variables(names, columns, tuple(column.name for column in encoding.columns)), candidates


# --- outcomes -------------------------------------------------------------------------------------------------------


def read_classes(header: dict[str, Any], n_classes: int, n_rows: int, memory: Memory) -> NDArray[Any] | None:
    """Read the labels of a classification."""
    if header["task"] == "regression":
        return None
    require(header["task"] == "classification", f"invalid task: {header['task']!r}")
    labels, kind = header["classes"], np.dtype(str(header["classes_type"]))
    types: Any = {"b": bool, "i": int, "u": int, "f": (int, float), "U": str}.get(kind.kind)
    require(types is not None and isinstance(labels, list) and len(labels) == n_classes, "invalid classes")
    is_typed = all(isinstance(label, types) and (kind.kind == "b") == isinstance(label, bool) for label in labels)
    require(is_typed, "invalid classes: one of them has another type")
    if kind.kind == "U":
        longest = max(map(len, labels))
        require(4 * longest <= kind.itemsize, "invalid classes: one of them is too long")
        # A type wider than its labels would only take memory, for the label of each row that is explained.
        kind = np.dtype(f"<U{max(longest, 1)}")
    memory.take((n_classes + n_rows) * kind.itemsize, "the classes")
    classes = np.array(labels, dtype=kind)
    require(np.all(classes[:-1] < classes[1:]), "the classes are not sorted")
    return classes


def read_outcomes(reader: Reader, header: dict[str, Any], n_rows: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Read the outcomes of the training rows."""
    y_values = reader.read("y_values", "<f8", None)
    y_rank = reader.read("y_rank", "<u4", n_rows)
    is_sorted = len(y_values) >= 2 and np.all(np.isfinite(y_values)) and np.all(np.diff(y_values) > 0)
    require(is_sorted, "the outcomes are not sorted")
    require(y_rank.max() < len(y_values), "a row has an unknown outcome")
    is_class = header["task"] == "classification"
    if is_class:
        require(np.array_equal(y_values, np.arange(len(y_values))), "the outcomes do not match the classes")
    else:
        require(np.all(np.bincount(y_rank, minlength=len(y_values)) > 0), "no row has one of the outcomes")
    if read_flag(header["is_probability"], "is_probability"):
        is_share = not is_class and y_values[0] >= 0 and y_values[-1] <= 1
        require(is_share, "the outcomes are not probabilities")
    return y_values, y_rank


def read_shares_by_class(header: dict[str, Any], classes: NDArray[Any] | None) -> dict[Any, float] | None:
    """Read the share of the rows of each class that the forest predicts correctly."""
    shares = [read_number(share, "class share") for share in header["fidelity_by_class"]]
    if classes is None:
        return None
    is_valid = len(shares) == len(classes) and not any(share < 0 or share > 1 for share in shares)
    require(is_valid, "invalid class shares")
    return dict(zip(classes.tolist(), shares, strict=True))


def read_out_of_bag(reader: Reader, n_rows: int, n_classes: int | None) -> NDArray[np.float32] | None:
    """Read the class probabilities of training rows out of bag."""
    if "out_of_bag" not in reader.names:
        return None
    require(n_classes is not None, "class probabilities without classes")
    shares = reader.read("out_of_bag", "<f4", n_rows, n_classes)
    total = shares.sum(axis=1)[~np.isnan(shares).all(axis=1)]
    is_valid = not np.any((shares < 0) | (shares > 1)) and np.all(np.abs(total - 1) < _SHARE_ERROR)
    require(is_valid, "invalid out-of-bag probabilities")
    return shares


def read_scores(reader: Reader, is_regression: bool) -> NDArray[np.float64] | None:
    """Read the scores by which intervals are calibrated."""
    if "interval_scores" not in reader.names:
        return None
    scores = reader.read("interval_scores", "<f8", None)
    is_valid = is_regression and np.all(np.isfinite(scores)) and np.all(np.diff(scores) >= 0)
    require(is_valid, "the interval scores are not sorted")
    return scores


def read_errors(reader: Reader, is_regression: bool) -> OutOfBagErrors | None:
    """Read the errors out of bag by which intervals are made."""
    if "own_errors" not in reader.names:
        return None
    own, near = reader.read("own_errors", "<f8", None), reader.read("near_errors", "<f8", N_STEPS + 1)
    [least_spread] = reader.read("least_spread", "<f8", 1).tolist()
    is_sorted = all(np.all(np.isfinite(errors)) and np.all(np.diff(errors) >= 0) for errors in (own, near))
    require(is_regression and is_sorted and len(own) > 0, "the errors out of bag are not sorted")
    return OutOfBagErrors(own, near, read_positive(least_spread, "spread"))


# --- rows besides the training rows ---------------------------------------------------------------------------------


def read_set_aside(reader: Reader, encoding: Encoding, classes: NDArray[Any] | None) -> SetAside | None:
    """Read the rows that were set aside for certificates."""
    if "set_aside_X" not in reader.names:
        return None
    X = reader.read("set_aside_X", "<f4", None, len(encoding.columns))
    # These rows may lie outside the range of the training rows.
    anywhere = [replace(c, extent=(-math.inf, math.inf)) for c in encoding.columns]
    anywhere = [c if c.kind == "category" else replace(c, kind="number") for c in anywhere]
    check_matrix(X, replace(encoding, columns=tuple(anywhere)))
    numbers = reader.read("set_aside_y", "<f8", len(X))
    if classes is None:
        require(np.all(np.isfinite(numbers)), "the outcomes of the set-aside rows are not finite")
        return SetAside(X, numbers)
    is_class = np.all(np.isin(numbers, np.arange(len(classes))))
    require(is_class, "the outcomes of the set-aside rows are not among the classes")
    reader.memory.take(len(X) * classes.itemsize, "the classes of the set-aside rows")
    return SetAside(X, classes[numbers.astype(np.intp)])


# --- the forest -----------------------------------------------------------------------------------------------------


def read_counts(header: dict[str, Any]) -> Counts:
    """Read which training rows are counted."""
    counts = header["counts"]
    require(counts in ("out-of-bag", "bootstrap", "all"), f"invalid counts: {counts!r}")
    return cast("Counts", counts)


def read_forest(header: dict[str, Any], reader: Reader, n_rows: int, n_classes: int | None) -> PlainForest:
    """Read the trees."""
    n_nodes = reader.read("n_nodes", "<u4", None).tolist()
    total = sum(n_nodes)
    require(n_nodes and min(n_nodes) >= 1, "the forest has no trees, or a tree without nodes")
    width = 1 if n_classes is None else n_classes
    nodes = {
        name: reader.read(name, kind, total, *((width,) if name == "value" else ()))
        for name, kind in NODE_TYPES.items()
    }
    require(np.all(np.isfinite(nodes["value"])), "the forest predicts infinite numbers")
    reader.memory.take(_NODE_BYTES * total + _TREE_BYTES * len(n_nodes), "the nodes of the trees")
    rows = _read_rows(reader, len(n_nodes), n_rows)
    _check_depth(nodes["left"], nodes["right"], n_nodes, reader.memory)
    nodes |= {name: nodes[name].astype(np.int64) for name in ("left", "right", "column")}
    trees = []
    begin = 0
    for of_tree, size in zip(rows, n_nodes, strict=True):
        trees.append(TreeArrays(rows=of_tree, **{name: nodes[name][begin : begin + size] for name in NODE_TYPES}))
        begin += size
    params = dict(header["forest"])
    takes_missing, kind = read_flag(params.pop("takes_missing"), "takes_missing"), params.pop("kind")
    is_described = isinstance(kind, str) and read_integer(params["n_estimators"], 1, 2**31) == len(trees)
    require(is_described, "the kind or the number of trees differs from the header")
    read_positive(params["min_samples_leaf"], "leaf size")
    _check_growth(params, reader.memory)
    return PlainForest(kind, params, takes_missing, tuple(trees))


def _read_rows(reader: Reader, n_trees: int, n_rows: int) -> list[NDArray[np.int32]]:
    """Read the rows that each tree counts: a list of them, or how often it counts each row."""
    are_listed = "counted" in reader.names
    if are_listed:
        n_counted = reader.read("n_counted", "<u4", n_trees).astype(np.int64)
    else:
        n_drawn = reader.read("n_drawn", "|u1 <u4", n_trees, n_rows)
        n_counted = n_drawn.sum(axis=1, dtype=np.int64)
    reader.memory.take(_ROW_BYTES * int(n_counted.sum()), "the rows of the trees")
    require(np.all((n_counted >= 1) & (n_counted < 2**31)), "a tree drew no rows, or too many")
    if not are_listed:
        return [np.repeat(np.arange(n_rows, dtype=np.int32), of_tree) for of_tree in n_drawn]
    counted = reader.read("counted", "<u2 <u4", int(n_counted.sum()))
    require(counted.max() < n_rows, "a tree counts an unknown row")
    rows = np.split(counted.astype(np.int32), np.cumsum(n_counted)[:-1])
    require(all(np.all(of_tree[:-1] <= of_tree[1:]) for of_tree in rows), "the rows of a tree are not in order")
    return rows


def _check_growth(params: dict[str, Any], memory: Memory) -> None:
    """Refuse parameters with which the forest could not be grown again, or would take too much memory."""
    for name, value in params.items():
        require(not isinstance(value, int) or abs(value) < 2**31, f"invalid {name} of the forest: {value!r}")
    signs = params.get("monotonic_cst")
    is_valid = signs is None or (isinstance(signs, list) and all(sign in (-1, 0, 1) for sign in signs))
    require(is_valid, f"invalid monotonic_cst of the forest: {signs!r}")
    for name, n_bytes in (("max_leaf_nodes", _LEAF_BYTES), ("max_samples", _SAMPLE_BYTES)):
        value = params.get(name)
        if isinstance(value, int) and value > 0:
            memory.take(n_bytes * value, f"a tree that is grown again with {name}={value}")


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
        is_inside = np.all((children >= 0) & (children < sizes[tree]))
        require(is_inside, "A tree node points outside its tree or its table.")  # as in the core
        at, tree = (children + begin[tree]).ravel(), np.tile(tree, 2)
        n_seen += len(at)
        require(n_seen <= len(left), "The nodes of a tree form a cycle.")
    else:
        raise ValueError(f"a tree is more than {MAX_DEPTH:,} splits deep")
    # The core marks the splits that are still open, at each level of a cell that is cut in two.
    memory.take(int((depth * sizes).max()) // 8, "the deepest tree")
