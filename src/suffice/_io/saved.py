"""Fitted explainers in files: one file, without pickle, that can be read without the model and by later versions.

A file is: a mark, the number of its format, the length of a header, the header (JSON), the arrays that it lists, one
after the other and not compressed, and the SHA-256 of all that. Reading a forged file can at worst raise an error:
nothing in it is run, its memory is bounded before it is taken, and everything in it is checked before the core sees it
(``saved_parts``).
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice._forest.fitted import Declared, Fitted
from suffice._forest.intervals import EARLIER_ALPHA
from suffice._forest.outcomes import rank_classes
from suffice._forest.projection import ProjectedForest
from suffice._forest.rounded_bounds import Ends
from suffice._forest.settings import LEAST_LEVEL, Settings
from suffice._forest.trees import FittedForest
from suffice._io import saved_parts as parts
from suffice._io.saved_parts import NODE_TYPES, Memory, Reader, require
from suffice._io.writing import replacing
from suffice._text import to_plain
from suffice.explainer import SufficientExplainer

MARK = b"SUFFICE\n"
# 3: version 0.2, with cells of the trees' own splits. 4: they separate categories, if `n_levels` says so, and trees may
# list their rows.
OLDEST, FORMAT = 3, 4
PREFIX = struct.Struct("<8sIQ")
N_DIGEST = 32
_ALIGNMENT = 16

# Parameters that a loaded explainer does not need: the forest is in the file, and its seed is used in fitting only.
_NOT_SAVED = ("forest", "n_jobs", "random_state")

# What the header holds as it is in the fitted state.
_PLAIN = (
    *("task", "task_reason", "target", "fidelity", "has_signal", "min_node_size", "counts", "calibrates_all"),
    *("least_level", "is_probability", "default_radius", "default_alpha"),
)

Arrays = dict[str, NDArray[Any]]


def save_explainer(explainer: SufficientExplainer, path: str | os.PathLike[str]) -> None:
    """Write a fitted explainer to a file."""
    with replacing(path) as written, open(written, "wb") as file:
        for part in _parts(explainer):
            file.write(part)


def to_bytes(explainer: SufficientExplainer) -> bytes:
    """Return what `save_explainer` writes."""
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
    content: list[bytes | memoryview[int]] = [PREFIX.pack(MARK, FORMAT, len(text)), text]
    content += [array.data.cast("B") for array in arrays.values() if array.size]
    for part in content:
        digest.update(part)
        yield part
    yield digest.digest()


def load_explainer(path: str | os.PathLike[str], max_bytes: int | None = None) -> SufficientExplainer:
    """Read an explainer from a file."""
    return _from_content(_read_aligned(path), os.fspath(path), max_bytes)


def _read_aligned(path: str | os.PathLike[str]) -> memoryview:
    """Read a file such that its arrays begin at an aligned address: the table need not be copied then."""
    # Not mapped, which would save 10 ms for 100 MB: a file could then change, or end the process, after its checks.
    with open(path, "rb") as file:
        prefix = file.read(PREFIX.size)
        if not file.seekable():
            return memoryview(prefix + file.read())
        n_before = PREFIX.size + (PREFIX.unpack(prefix)[2] if len(prefix) == PREFIX.size else 0)
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
    """Read an explainer from what `to_bytes` gave."""
    return _from_content(memoryview(content), shown)


def _split(content: memoryview, shown: str) -> tuple[int, Any, memoryview]:
    """Check that a file is complete, and split it."""
    if len(content) < PREFIX.size + N_DIGEST or content[: len(MARK)] != MARK:
        raise ValueError(f"{shown!r} is not a suffice file: save one with explainer.save(path).")
    _, number, length = PREFIX.unpack_from(content)
    if number > FORMAT:
        raise ValueError(
            f"{shown!r} was written by a later version of suffice (format {number}, this version reads up to {FORMAT})."
        )
    if number < OLDEST:
        raise ValueError(
            f"{shown!r} was written before version 0.2 of suffice (format {number}): fit the explainer again."
        )
    body = content[:-N_DIGEST]
    if hashlib.sha256(body).digest() != content[-N_DIGEST:]:
        raise ValueError(f"{shown!r} is damaged: its content does not match its checksum. Save it again.")
    try:
        if length > len(body) - PREFIX.size:
            raise ValueError("the header is longer than the file")
        header = json.loads(bytes(body[PREFIX.size : PREFIX.size + length]))
        header["arrays"].items()
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError):
        raise ValueError(f"{shown!r} is not a valid suffice file: its header cannot be read.") from None
    return number, header, body[PREFIX.size + length :]


def _from_content(content: memoryview, shown: str, max_bytes: int | None = None) -> SufficientExplainer:
    number, header, data = _split(content, shown)
    try:
        return _rebuild(header, Reader(header["arrays"], data, Memory(len(content), max_bytes)), number)
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        detail = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
        raise ValueError(f"{shown!r} is not a valid suffice file: {detail}") from None


def digest_of(content: bytes) -> bytes:
    """Return the checksum of a saved explainer, which identifies it."""
    return content[-N_DIGEST:]


def read_origin(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the format of a file, and the versions of the libraries that wrote it."""
    try:
        with open(path, "rb") as file:
            _, number, n_bytes = PREFIX.unpack(file.read(PREFIX.size))
            versions = json.loads(file.read(min(n_bytes, os.fstat(file.fileno()).st_size)))["about"]["versions"]
        named = {str(name): str(version) for name, version in versions.items()}
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError, struct.error):
        raise ValueError(f"{os.fspath(path)!r} does not state which versions wrote it.") from None
    return {"format": number, "versions": named}


def _describe(explainer: SufficientExplainer) -> tuple[dict[str, Any], Arrays]:
    """Turn an explainer into plain values and arrays."""
    about = explainer.describe()  # refuses an explainer that is not fitted
    fitted = explainer.fitted_
    forest, variables, encoding, plain = fitted.forest, fitted.variables, fitted.encoding, fitted.forest.trees
    params = {k: _plain(v) for k, v in explainer.get_params(deep=False).items() if k not in _NOT_SAVED}
    header = {
        "about": _plain(about),
        "params": params,
        **{name: getattr(fitted, name) for name in _PLAIN},
        "classes": None if fitted.classes is None else fitted.classes.tolist(),
        "classes_type": None if fitted.classes is None else fitted.classes.dtype.str,
        "focus": fitted.focus,
        "fixed": list(fitted.declared.fixed),
        "fidelity_by_class": list((fitted.fidelity_by_class or {}).values()),
        "names": list(encoding.names),
        "has_names": encoding.has_names,
        "n_levels": list(forest.n_levels),
        "columns": [_plain(vars(column)) for column in encoding.columns],
        "variables": {"names": list(variables.names), "columns": _plain(variables.columns)},
        "candidates": list(fitted.candidates),
        "forest": {"kind": plain.kind, **_plain(plain.params), "takes_missing": plain.takes_missing},
    }
    arrays: Arrays = {
        "X": forest.X,
        "y_rank": forest.y_rank.astype("<u4"),
        "y_values": forest.y_values.astype("<f8"),
        "n_nodes": np.array([len(tree.left) for tree in plain], dtype="<u4"),
        **_counted_rows([tree.rows for tree in plain], len(forest.X)),
    }
    if fitted.out_of_bag is not None:
        arrays["out_of_bag"] = fitted.out_of_bag.astype("<f4")
    if fitted.errors is not None:
        arrays |= {"own_errors": fitted.errors.own, "near_errors": fitted.errors.near}
        arrays["least_spread"] = np.array([fitted.errors.least_spread])
    if fitted.interval_scores is not None:
        arrays["interval_scores"] = fitted.interval_scores.astype("<f8")
    if fitted.set_aside is not None:
        arrays["set_aside_X"] = fitted.set_aside.X
        outcomes, classes = fitted.set_aside.outcomes, fitted.classes
        arrays["set_aside_y"] = (outcomes if classes is None else rank_classes(outcomes, classes)).astype("<f8")
    for name, kind in NODE_TYPES.items():
        arrays[name] = np.concatenate([getattr(tree, name) for tree in plain]).astype(kind)
    return header, {name: np.ascontiguousarray(array) for name, array in arrays.items()}


def _counted_rows(of_trees: list[NDArray[np.int32]], n_rows: int) -> Arrays:
    """Return the rows that each tree counts, as their numbers or, if that is shorter, how often it counts each row."""
    counted = np.concatenate(of_trees).astype("<u2" if n_rows <= 2**16 else "<u4")
    if counted.nbytes < n_rows * len(of_trees):
        return {"n_counted": np.array([len(rows) for rows in of_trees], dtype="<u4"), "counted": counted}
    counts = np.stack([np.bincount(rows, minlength=n_rows) for rows in of_trees])
    # A row is drawn 256 times only if there are few rows or the forest draws many.
    return {"n_drawn": counts.astype("<u4" if counts.max() > 255 else "|u1")}


def _plain(value: Any) -> Any:
    """Turn tuples and NumPy's values into values that JSON has."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(item) for item in value]
    plain = to_plain(value)
    return plain if plain is None or isinstance(plain, str | bool | int | float) else str(plain)


def _read_params(header: dict[str, Any]) -> dict[str, Any]:
    """Read the parameters of the explainer, in the meaning that they have today."""
    params = {name: header["params"][name] for name in header["params"] if name not in _NOT_SAVED}
    params = {"voters": "all", **params}  # as in version 0.2
    params.pop("reference_rows", None)  # of version 0.2: the file has only the rows that were kept
    candidates = params["candidates"]
    if candidates == "permutation":  # of version 0.2
        candidates = params["candidates"] = [header["variables"]["names"][v] for v in header["candidates"]]
    are_names = isinstance(candidates, list) and all(isinstance(name, str | int) for name in candidates)
    require(isinstance(candidates, str) or are_names, f"invalid candidates: {candidates!r}")
    return params


def _rebuild(header: dict[str, Any], reader: Reader, number: int) -> SufficientExplainer:
    explainer = SufficientExplainer(**_read_params(header))
    settings = Settings.of(explainer)
    encoding = parts.read_encoding(header)
    X = reader.read("X", "<f4", None, len(encoding.columns))
    y_values, y_rank = parts.read_outcomes(reader, header, len(X))
    classes = parts.read_classes(header, len(y_values), len(X), reader.memory)
    n_classes = None if classes is None else len(classes)
    settings = settings.for_task(header["task"])
    trees = parts.read_forest(header, reader, len(X), n_classes)
    parts.check_matrix(X, encoding, trees.takes_missing)
    parts.count_text(X, encoding, reader.memory)
    n_levels = tuple(header.get("n_levels", ()))
    require(n_levels in ((), encoding.n_levels), f"invalid numbers of categories: {n_levels!r}")
    variables, candidates = parts.read_variables(header, encoding)
    n_candidates, least = len(candidates), settings.min_size
    require(least <= n_candidates, f"`min_size` is {least}, but there are only {n_candidates} candidates")
    min_node_size = parts.read_integer(header["min_node_size"], 1, 2**31)
    model, radius = header["about"]["model"], header["default_radius"]  # the class of the model
    require(model is None or isinstance(model, str), f"invalid model: {model!r}")
    require(isinstance(header["target"], str) and isinstance(header["task_reason"], str), "invalid target name")
    forest = FittedForest(trees, X, y_rank, y_values, n_levels)
    explainer.fitted_ = Fitted(
        **{name: header[name] for name in ("task", "task_reason", "target", "is_probability")},
        estimator=trees,
        projected=ProjectedForest(forest, variables, candidates, min_node_size, settings.voters == "all"),
        encoding=encoding,
        ends=Ends(encoding, X),
        counts=parts.read_counts(header),
        classes=classes,
        fidelity=parts.read_number(header["fidelity"], "fidelity"),
        fidelity_by_class=parts.read_shares_by_class(header, classes),
        has_signal=parts.read_flag(header["has_signal"], "has_signal"),
        out_of_bag=parts.read_out_of_bag(reader, len(X), n_classes),
        interval_scores=parts.read_scores(reader, classes is None),
        errors=parts.read_errors(reader, classes is None),
        calibrates_all=parts.read_flag(header.get("calibrates_all", number >= 4), "calibrates_all"),
        least_level=parts.read_number(header.get("least_level", LEAST_LEVEL if number >= 4 else 0.0), "least_level"),
        settings=settings,
        set_aside=parts.read_set_aside(reader, encoding, classes),
        default_radius=None if radius is None else parts.read_positive(radius, "radius"),
        default_alpha=parts.read_positive(header.get("default_alpha", EARLIER_ALPHA), "default_alpha", 1.0),
        absent_model=model,
        declared=Declared(header.get("focus"), header.get("fixed", [])).read(classes, y_rank, variables),
    )
    explainer.n_features_in_ = len(encoding.names)
    if encoding.has_names:
        explainer.feature_names_in_ = np.array(encoding.names, dtype=object)
    return explainer
