"""Fitted explainers in files: one file, without pickle, that can be read without the model and by later versions.

A file is: a mark, the number of its format, the length of a header, the header (JSON), the arrays that it lists, one
after the other and not compressed, and the SHA-256 of all that. Reading a forged file can at worst raise an error:
sizes are bounded by that of the file, nothing in it is run, and every number is checked before the core sees it.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import struct
from collections.abc import Iterator
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from suffice._engine.ends import Ends
from suffice._engine.fitted import Fitted
from suffice._engine.forest import FittedForest
from suffice._engine.outcomes import rank_classes
from suffice._engine.projection import MAX_CANDIDATES, ProjectedForest
from suffice._engine.set_aside import SetAside
from suffice._engine.settings import Settings
from suffice._engine.trees import Counts, PlainForest, TreeArrays, forest_params, list_trees, takes_missing
from suffice._io.writing import replacing
from suffice._table.encoding import Column, Encoding
from suffice._table.table import DATE_PARTS
from suffice._table.variables import Variables
from suffice.explainer import SufficientExplainer
from suffice.words import to_plain

MARK = b"SUFFICE\n"
# 1: version 0.1, which counts the rows that a tree drew. 2: `radius` is the square of the distance.
FORMAT = 3
_PREFIX = struct.Struct("<8sIQ")
_N_DIGEST = 32
_ALIGNMENT = 16

# Parameters that a loaded explainer does not need: the forest is in the file, and its seed is used in fitting only.
_NOT_SAVED = ("forest", "n_jobs", "random_state")
# Types in the file; what a tree needs has those of TreeArrays in memory.
_NODE_TYPES = {
    "left": "<i4",
    "right": "<i4",
    "column": "<i4",
    "threshold": "<f8",
    "missing_left": "|u1",
    "n_rows": "<f8",
    "value": "<f8",
}

Arrays = dict[str, NDArray[Any]]


def save_explainer(explainer: SufficientExplainer, path: str | os.PathLike[str]) -> None:
    """Write a fitted explainer to a file.

    Parameters
    ----------
    explainer : SufficientExplainer
        The explainer.
    path : path
        The file to write. An existing file is replaced only when the new one is complete.
    """
    with replacing(path) as written, open(written, "wb") as file:
        for part in _parts(explainer):
            file.write(part)


def to_bytes(explainer: SufficientExplainer) -> bytes:
    """Return what `save_explainer` writes.

    Parameters
    ----------
    explainer : SufficientExplainer
        The explainer.

    Returns
    -------
    bytes
        The content of the file. Its last 32 bytes are a checksum that identifies it.
    """
    return b"".join(_parts(explainer))


def _parts(explainer: SufficientExplainer) -> Iterator[bytes | memoryview[int]]:
    header, arrays = _describe(explainer)
    offset = 0
    header["arrays"] = {}
    for name, array in arrays.items():
        header["arrays"][name] = {"type": array.dtype.str, "shape": list(array.shape), "offset": offset}
        offset += array.nbytes
    text = json.dumps(header, ensure_ascii=False).encode()
    digest = hashlib.sha256()
    parts: list[bytes | memoryview[int]] = [_PREFIX.pack(MARK, FORMAT, len(text)), text]
    parts += [array.data.cast("B") for array in arrays.values() if array.size]
    for part in parts:
        digest.update(part)
        yield part
    yield digest.digest()


def load_explainer(path: str | os.PathLike[str]) -> SufficientExplainer:
    """Read an explainer from a file.

    Parameters
    ----------
    path : path
        A file that `save_explainer` wrote.

    Returns
    -------
    SufficientExplainer
        The fitted explainer. It gives the same answers as the saved one. If that explained a model, the model itself
        is not in the file.
    """
    return _from_content(_read_aligned(path), os.fspath(path))


def _read_aligned(path: str | os.PathLike[str]) -> memoryview:
    """Read a file such that its arrays begin at an aligned address: the table need not be copied then."""
    with open(path, "rb") as file:
        prefix = file.read(_PREFIX.size)
        if not file.seekable():
            return memoryview(prefix + file.read())
        n_before = _PREFIX.size + (_PREFIX.unpack(prefix)[2] if len(prefix) == _PREFIX.size else 0)
        begin = -n_before % _ALIGNMENT
        size = os.fstat(file.fileno()).st_size
        # NumPy's memory begins at a multiple of 16 at least.
        content = np.empty(begin + size, dtype=np.uint8).data[begin:]
        file.seek(0)
        n_read = 0
        while n_read < size and (n := file.readinto(content[n_read:])):
            n_read += n
    return content[:n_read]


def from_bytes(content: bytes, shown: str = "bytes") -> SufficientExplainer:
    """Read an explainer from what `to_bytes` gave.

    Parameters
    ----------
    content : bytes
        The content of a file.
    shown : str, default="bytes"
        What errors call it.

    Returns
    -------
    SufficientExplainer
        The fitted explainer, as from `load_explainer`.
    """
    return _from_content(memoryview(content), shown)


def _from_content(content: memoryview, shown: str) -> SufficientExplainer:
    number, header, data = _split(content, shown)
    try:
        return _rebuild(header, _Reader(header["arrays"], data), number)
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        detail = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
        raise ValueError(f"{shown!r} is not a valid suffice file: {detail}") from None


def digest_of(content: bytes) -> bytes:
    """Return the checksum of a saved explainer, which identifies it.

    Parameters
    ----------
    content : bytes
        The content of its file.

    Returns
    -------
    bytes
        The checksum.
    """
    return content[-_N_DIGEST:]


def read_origin(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read which format a file has, and which versions wrote it.

    Parameters
    ----------
    path : path
        A file that `load_explainer` reads.

    Returns
    -------
    dict
        The number of the "format", and the "versions" of the packages used.
    """
    with open(path, "rb") as file:
        _, number, n_bytes = _PREFIX.unpack(file.read(_PREFIX.size))
        header = json.loads(file.read(n_bytes))
    return {"format": number, "versions": header["about"]["versions"]}


def _describe(explainer: SufficientExplainer) -> tuple[dict[str, Any], Arrays]:
    """Turn an explainer into plain values and arrays."""
    about = explainer.describe()
    fitted = explainer.fitted_
    forest, variables, encoding = fitted.forest, fitted.variables, fitted.encoding
    params = {k: _plain(v) for k, v in explainer.get_params(deep=False).items() if k not in _NOT_SAVED}
    header = {
        "about": _plain(about),
        "params": params,
        "task": fitted.task,
        "task_reason": fitted.task_reason,
        "target": fitted.target,
        "classes": None if fitted.classes is None else fitted.classes.tolist(),
        "classes_type": None if fitted.classes is None else fitted.classes.dtype.str,
        "fidelity": fitted.fidelity,
        "fidelity_by_class": list((fitted.fidelity_by_class or {}).values()),
        "has_signal": fitted.has_signal,
        "min_node_size": fitted.min_node_size,
        "counts": fitted.counts,
        "is_probability": fitted.is_probability,
        "default_radius": fitted.default_radius,
        "names": list(encoding.names),
        "has_names": encoding.has_names,
        "columns": [_plain(vars(column)) for column in encoding.columns],
        "variables": {"names": list(variables.names), "columns": _plain(variables.columns)},
        "candidates": list(fitted.candidates),
        "forest": {**_plain(forest_params(fitted.estimator)), "takes_missing": takes_missing(fitted.estimator)},
    }
    trees = list(list_trees(forest.trees))
    arrays: Arrays = {
        "X": forest.X,
        "y_rank": forest.y_rank.astype("<u4"),
        "y_values": forest.y_values.astype("<f8"),
        "n_nodes": np.array([len(tree.left) for tree in trees], dtype="<u4"),
        # How often each tree drew each row: a quarter of the size of the rows themselves.
        "n_drawn": np.stack([_count(tree.rows, len(forest.X)) for tree in trees]),
    }
    if fitted.out_of_bag is not None:
        arrays["out_of_bag"] = fitted.out_of_bag.astype("<f4")
    if fitted.interval_scores is not None:
        arrays["interval_scores"] = fitted.interval_scores.astype("<f8")
    if fitted.set_aside is not None:
        arrays["set_aside_X"] = fitted.set_aside.X
        arrays["set_aside_y"] = _outcome_numbers(fitted.set_aside.outcomes, fitted.classes)
    for name, kind in _NODE_TYPES.items():
        arrays[name] = np.concatenate([getattr(tree, name) for tree in trees]).astype(kind)
    return header, {name: np.ascontiguousarray(array) for name, array in arrays.items()}


def _outcome_numbers(outcomes: NDArray[Any], classes: NDArray[Any] | None) -> NDArray[np.float64]:
    numbers = outcomes if classes is None else rank_classes(outcomes, classes)
    return numbers.astype("<f8")


def _read_set_aside(reader: _Reader, encoding: Encoding, classes: NDArray[Any] | None) -> SetAside | None:
    if "set_aside_X" not in reader.names:
        return None
    X = reader.read("set_aside_X", "<f4", None, len(encoding.columns))
    _check_matrix(X, encoding)
    numbers = reader.read("set_aside_y", "<f8", len(X))
    if classes is None:
        if not np.all(np.isfinite(numbers)):
            raise ValueError("the outcomes of its set-aside rows are not finite")
        return SetAside(X, numbers)
    if not np.all(np.isin(numbers, np.arange(len(classes)))):
        raise ValueError("the outcomes of its set-aside rows are none of its classes")
    return SetAside(X, classes[numbers.astype(np.intp)])


def _count(rows: NDArray[np.int32], n_rows: int) -> NDArray[Any]:
    counts = np.bincount(rows, minlength=n_rows)
    # A row is drawn 256 times only if there are few rows or the forest draws many.
    return counts.astype("<u4" if counts.max() > 255 else "|u1")


def _plain(value: Any) -> Any:
    """Turn tuples and NumPy's values into values that JSON has."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(item) for item in value]
    plain = to_plain(value)
    return plain if plain is None or isinstance(plain, str | bool | int | float) else str(plain)


def _split(content: memoryview, shown: str) -> tuple[int, Any, memoryview]:
    """Check that a file is complete, and split it into the number of its format, its header and its arrays."""
    if len(content) < _PREFIX.size + _N_DIGEST or content[: len(MARK)] != MARK:
        raise ValueError(f"{shown!r} is not a file of suffice: save one with explainer.save(path).")
    _, number, length = _PREFIX.unpack_from(content)
    if number > FORMAT:
        raise ValueError(
            f"{shown!r} was written by a later version of suffice (format {number}, this version reads up to {FORMAT})."
        )
    body = content[:-_N_DIGEST]
    if hashlib.sha256(body).digest() != content[-_N_DIGEST:]:
        raise ValueError(f"{shown!r} is damaged: its content does not match its checksum. Save it again.")
    text = bytes(body[_PREFIX.size : _PREFIX.size + length])
    try:
        header = json.loads(text)
        header["arrays"].items()
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError):
        raise ValueError(f"{shown!r} is not a valid suffice file: its header cannot be read.") from None
    return number, header, body[_PREFIX.size + length :]


class _Reader:
    """Arrays of a file, checked against its size."""

    def __init__(self, listed: dict[str, Any], data: memoryview) -> None:
        self._listed = listed
        self._data = data

    @property
    def names(self) -> set[str]:
        """The arrays that the file lists."""
        return set(self._listed)

    def read(self, name: str, kinds: str, *shape: int | None) -> NDArray[Any]:
        """Read an array of one of the given types and of a given shape, None standing for any length."""
        entry = self._listed[name]
        if entry["type"] not in kinds.split():
            raise ValueError(f"the array {name!r} has the type {entry['type']!r}")
        sizes = [int(size) for size in entry["shape"]]
        if len(sizes) != len(shape) or any(
            size < 0 or want not in (None, size) for size, want in zip(sizes, shape, strict=True)
        ):
            raise ValueError(f"the array {name!r} has the shape {sizes}")
        kind, offset = np.dtype(entry["type"]), int(entry["offset"])
        n_values = 1
        for size in sizes:
            n_values *= size
        if offset < 0 or offset + n_values * kind.itemsize > len(self._data):
            raise ValueError(f"the array {name!r} reaches beyond the end")
        array = np.frombuffer(self._data, kind, n_values, offset).reshape(sizes)
        # A copy is aligned, and does not keep the content of the file in memory. The table is most of that content.
        is_kept = array.flags.aligned and array.flags.writeable and 2 * array.nbytes > len(self._data)
        return array if is_kept else array.copy()


def _read_params(header: dict[str, Any], number: int) -> dict[str, Any]:
    """Read the parameters of the explainer, in the meaning that they have today."""
    params = {name: header["params"][name] for name in header["params"] if name not in _NOT_SAVED}
    params = {"counts": "bootstrap", "min_support": 0, **params}  # as in version 0.1
    if number < 3 and params.get("radius") is not None:
        params["radius"] = math.sqrt(params["radius"])
    return params


def _rebuild(header: dict[str, Any], reader: _Reader, number: int) -> SufficientExplainer:
    explainer = SufficientExplainer(**_read_params(header, number))
    settings = Settings.of(explainer)
    encoding = _read_encoding(header)
    X = reader.read("X", "<f4", None, len(encoding.columns))
    _check_matrix(X, encoding)
    y_values = reader.read("y_values", "<f8", None)
    y_rank = reader.read("y_rank", "<u4", len(X))
    if len(y_values) < 2 or not np.all(np.isfinite(y_values)) or np.any(np.diff(y_values) <= 0):
        raise ValueError("its outcomes are not in order")
    classes = None
    if header["task"] == "classification":
        classes = _read_classes(header, len(y_values))
    elif header["task"] != "regression":
        raise ValueError(f"its task is {header['task']!r}")
    trees = _read_forest(header, reader, len(X), 1 if classes is None else len(classes))
    shares = [float(share) for share in header["fidelity_by_class"]]
    variables, candidates = _read_variables(header, encoding)
    min_node_size = _whole(header["min_node_size"], 1, 2**31)
    explainer.fitted_ = Fitted(
        estimator=trees,
        # The projection takes most of the time, and an explainer may be loaded for other questions.
        projected=ProjectedForest(
            FittedForest(trees, X, y_rank, y_values), variables, candidates, min_node_size, on_demand=True
        ),
        encoding=encoding,
        ends=Ends(encoding, X),
        counts=_read_counts(header),
        task=header["task"],
        task_reason=str(header["task_reason"]),
        classes=classes,
        target=str(header["target"]),
        fidelity=float(header["fidelity"]),
        fidelity_by_class=None if classes is None else dict(zip(classes.tolist(), shares, strict=True)),
        has_signal=bool(header.get("has_signal", True)),
        out_of_bag=_read_out_of_bag(header, reader, (len(X), 0 if classes is None else len(classes))),
        interval_scores=_read_scores(header, reader),
        settings=settings,
        set_aside=_read_set_aside(reader, encoding, classes),
        is_probability=bool(header.get("is_probability", False)),
        default_radius=_read_default_radius(header),
    )
    explainer.n_features_in_ = len(encoding.names)
    if encoding.has_names:
        explainer.feature_names_in_ = np.array(encoding.names, dtype=object)
    return explainer


def _read_default_radius(header: dict[str, Any]) -> float | None:
    radius = header.get("default_radius")
    if radius is not None and not 0 <= float(radius) < math.inf:
        raise ValueError(f"its radius is {radius!r}")
    return None if radius is None else float(radius)


def _read_counts(header: dict[str, Any]) -> Counts:
    counts = header.get("counts", "bootstrap")
    if counts not in ("out-of-bag", "bootstrap"):
        raise ValueError(f"it counts the rows {counts!r}")
    return cast("Counts", counts)


def _read_out_of_bag(header: dict[str, Any], reader: _Reader, shape: tuple[int, int]) -> NDArray[np.float32] | None:
    if "out_of_bag" not in header["arrays"]:
        return None
    shares = reader.read("out_of_bag", "<f4", *shape)
    if np.any((shares < 0) | (shares > 1)):
        raise ValueError("its probabilities out of bag are none")
    return shares


def _read_scores(header: dict[str, Any], reader: _Reader) -> NDArray[np.float64] | None:
    if "interval_scores" not in header["arrays"]:
        return None
    scores = reader.read("interval_scores", "<f8", None)
    if not np.all(np.isfinite(scores)) or np.any(np.diff(scores) < 0):
        raise ValueError("the scores of its intervals are not in order")
    return scores


def _whole(value: Any, least: int, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise ValueError(f"a number of it is {value!r}")
    return value


def _read_encoding(header: dict[str, Any]) -> Encoding:
    names = tuple(header["names"])
    if not names or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise ValueError("its columns have no proper names")
    columns = []
    for values in header["columns"]:
        column = Column(
            name=values["name"],
            source=_whole(values["source"], 0, len(names) - 1),
            kind=values["kind"],
            part=values["part"],
            labels=tuple(tuple(labels) for labels in values["labels"]),
            rare=values["rare"] if values["rare"] is None else _whole(values["rare"], 0, len(values["labels"]) - 1),
            extent=(float(values["extent"][0]), float(values["extent"][1])),
        )
        if not isinstance(column.name, str) or column.kind not in ("number", "whole", "category"):
            raise ValueError("a column of it has no proper name or kind")
        if column.part is not None and column.part not in DATE_PARTS:
            raise ValueError(f"a column of it is the {column.part!r} of dates")
        labels = [label for group in column.labels for label in group]
        is_plain = all(isinstance(label, str | bool | int | float) for label in labels)
        if (column.kind == "category") != bool(labels) or not is_plain or not all(column.labels):
            raise ValueError(f"the categories of {column.name!r} cannot be read")
        columns.append(column)
    if not columns:
        raise ValueError("it has no columns")
    return Encoding(tuple(columns), names, bool(header["has_names"]))


def _check_matrix(X: NDArray[np.float32], encoding: Encoding) -> None:
    with np.errstate(invalid="ignore"):
        is_finite = np.isfinite(X.sum(dtype=np.float64))  # one pass without a copy, true for nearly every table
    if len(X) < 2 or (not is_finite and np.isinf(X).any()):
        raise ValueError("its table holds infinite numbers, or too few rows")
    for c, column in enumerate(encoding.columns):
        if column.kind == "category":
            codes = X[~np.isnan(X[:, c]), c]
            if np.any((codes < 0) | (codes >= len(column.labels)) | (codes != np.floor(codes))):
                raise ValueError(f"its table holds unknown categories of {column.name!r}")


def _read_classes(header: dict[str, Any], n_classes: int) -> NDArray[Any]:
    kind = np.dtype(str(header["classes_type"]))
    if kind.kind not in "biufU" or len(header["classes"]) != n_classes:
        raise ValueError("its classes cannot be read")
    return np.array(header["classes"], dtype=kind)


def _read_variables(header: dict[str, Any], encoding: Encoding) -> tuple[Variables, tuple[int, ...]]:
    names, groups = header["variables"]["names"], header["variables"]["columns"]
    columns = tuple(tuple(_whole(c, 0, len(encoding.columns) - 1) for c in group) for group in groups)
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names) or not all(columns):
        raise ValueError("its variables have no proper names or columns")
    shared_out = sorted(c for group in columns for c in group)
    if len(names) != len(columns) or shared_out != list(range(len(encoding.columns))):
        raise ValueError("its variables do not share the columns out")
    candidates = tuple(_whole(v, 0, len(names) - 1) for v in header["candidates"])
    if not 1 <= len(candidates) <= MAX_CANDIDATES or len(set(candidates)) < len(candidates):
        raise ValueError("its candidates cannot be read")
    return Variables(tuple(names), columns, tuple(column.name for column in encoding.columns)), candidates


def _read_forest(header: dict[str, Any], reader: _Reader, n_rows: int, n_values: int) -> PlainForest:
    n_nodes = reader.read("n_nodes", "<u4", None).tolist()
    total = sum(n_nodes)
    if not n_nodes or min(n_nodes) < 1:
        raise ValueError("its forest has no trees, or a tree without nodes")
    nodes = {
        name: reader.read(name, kind, total, *((n_values,) if name == "value" else ()))
        for name, kind in _NODE_TYPES.items()
    }
    n_drawn = reader.read("n_drawn", "|u1 <u4", len(n_nodes), n_rows)
    if not np.all(np.isfinite(nodes["value"])):
        raise ValueError("its forest predicts infinite numbers")
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
    has_missing = bool(params.pop("takes_missing"))
    return PlainForest(str(params.pop("kind")), params, has_missing, tuple(trees))
