"""The content of a saved explainer: its header and its arrays, and how much memory they may take."""

from __future__ import annotations

import hashlib
import json
import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice._io.sources import memory_limit

MARK = b"SUFFICE\n"
# 1: version 0.1, which counts the rows that a tree drew. 2: `radius` is the square of the distance.
FORMAT = 3
PREFIX = struct.Struct("<8sIQ")
N_DIGEST = 32

LIMIT_VARIABLE = "SUFFICE_MAX_BYTES"
"""The environment variable that sets how much memory a saved explainer may take."""
# A saved explainer takes about 5 to 20 times the size of its file. Small files may take this much in any case.
LEAST_LIMIT = 256 * 2**20
TIMES_SIZE = 64
HOW_TO_RAISE = f"set {LIMIT_VARIABLE}, or load it with `max_bytes`"


def saved_limit(n_file: int) -> int:
    """Return how much memory a saved explainer may take, if nothing else is said."""
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


def split_content(content: memoryview, shown: str) -> tuple[int, Any, memoryview]:
    """Check that a file is complete, and split it."""
    if len(content) < PREFIX.size + N_DIGEST or content[: len(MARK)] != MARK:
        raise ValueError(f"{shown!r} is not a file of suffice: save one with explainer.save(path).")
    _, number, length = PREFIX.unpack_from(content)
    if number > FORMAT:
        raise ValueError(
            f"{shown!r} was written by a later version of suffice (format {number}, this version reads up to {FORMAT})."
        )
    body = content[:-N_DIGEST]
    if hashlib.sha256(body).digest() != content[-N_DIGEST:]:
        raise ValueError(f"{shown!r} is damaged: its content does not match its checksum. Save it again.")
    try:
        if number < 1 or length > len(body) - PREFIX.size:
            raise ValueError("the header is longer than the file")
        header = json.loads(bytes(body[PREFIX.size : PREFIX.size + length]))
        header["arrays"].items()
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError):
        raise ValueError(f"{shown!r} is not a valid suffice file: its header cannot be read.") from None
    return number, header, body[PREFIX.size + length :]


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
        if entry["type"] not in kinds.split():
            raise ValueError(f"the array {name!r} has the type {entry['type']!r}")
        sizes = [read_whole(size, 0, 2**62) for size in entry["shape"]]
        if len(sizes) != len(shape) or any(want not in (None, size) for size, want in zip(sizes, shape, strict=True)):
            raise ValueError(f"the array {name!r} has the shape {sizes}")
        kind, offset = np.dtype(entry["type"]), read_whole(entry["offset"], 0, 2**62)
        n_values = 1
        for size in sizes:
            n_values *= size
        if offset + n_values * kind.itemsize > len(self._data):
            raise ValueError(f"the array {name!r} reaches beyond the end")
        self.memory.take(n_values * kind.itemsize, f"the array {name!r}")
        array = np.frombuffer(self._data, kind, n_values, offset).reshape(sizes)
        # A copy is aligned, and does not keep the content of the file in memory. The table is most of that content.
        is_kept = array.flags.aligned and array.flags.writeable and 2 * array.nbytes > len(self._data)
        return array if is_kept else array.copy()


def read_whole(value: Any, least: int, most: int) -> int:
    """Read a whole number of the header."""
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise ValueError(f"a number of it is {value!r}")
    return value


def read_number(value: Any, what: str) -> float:
    """Read a number of the header, which may be NaN."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise ValueError(f"{what} is {value!r}")
    return float(value)


def read_flag(value: Any, what: str) -> bool:
    """Read a value of the header that must be true or false."""
    if not isinstance(value, bool):
        raise ValueError(f"{what} is {value!r}")
    return value


def read_strings(values: Any, what: str) -> tuple[str, ...]:
    """Read a list of different strings."""
    if not isinstance(values, list) or not values or not all(isinstance(value, str) for value in values):
        raise ValueError(f"its {what} have no proper names")
    if len(set(values)) < len(values):
        raise ValueError(f"its {what} have no proper names: one of them occurs twice")
    return tuple(values)
