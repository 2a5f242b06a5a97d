"""The content of a saved explainer: its header and its arrays, and how much memory they may take."""

from __future__ import annotations

import hashlib
import json
import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice._io.limits import memory_limit

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
    """Return how much memory a saved explainer may take, if nothing else is said.

    Parameters
    ----------
    n_file : int
        The size of the file in bytes.

    Returns
    -------
    int
        The environment variable SUFFICE_MAX_BYTES or, without it, 64 times the size, and 256 MiB at least.
    """
    return memory_limit(LIMIT_VARIABLE, max(LEAST_LIMIT, TIMES_SIZE * n_file))


class Memory:
    """How much memory a file may take, and how much of it is used up. It is counted before the memory is taken.

    Parameters
    ----------
    n_file : int
        The size of the file in bytes.
    max_bytes : int or None, default=None
        The limit; None takes that of `saved_limit`.
    """

    def __init__(self, n_file: int, max_bytes: int | None = None) -> None:
        self._limit = saved_limit(n_file) if max_bytes is None else max_bytes
        self._used = 0

    def take(self, n_bytes: int, what: str) -> None:
        """Count memory that is about to be taken, and refuse it if that is too much.

        Parameters
        ----------
        n_bytes : int
            How many bytes.
        what : str
            What they are for.
        """
        self._used += n_bytes
        if self._used > self._limit:
            raise ValueError(
                f"it would take {self._used:,} bytes of memory, of which {n_bytes:,} for {what}, and the limit is "
                f"{self._limit:,}. If you trust the file, raise the limit: {HOW_TO_RAISE}"
            )


def split_content(content: memoryview, shown: str) -> tuple[int, Any, memoryview]:
    """Check that a file is complete, and split it.

    Parameters
    ----------
    content : memoryview
        The content of the file.
    shown : str
        What errors call it.

    Returns
    -------
    number : int
        The number of its format.
    header : dict
        Its header.
    data : memoryview
        Its arrays.
    """
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
    """Arrays of a file, checked against its size.

    Parameters
    ----------
    listed : dict
        What the header says of each array.
    data : memoryview
        The arrays.
    memory : Memory
        How much memory they may take.
    """

    def __init__(self, listed: dict[str, Any], data: memoryview, memory: Memory) -> None:
        self._listed = listed
        self._data = data
        self.memory = memory

    @property
    def names(self) -> set[str]:
        """The arrays that the file lists."""
        return set(self._listed)

    def read(self, name: str, kinds: str, *shape: int | None) -> NDArray[Any]:
        """Read an array.

        Parameters
        ----------
        name : str
            Its name.
        kinds : str
            The types that it may have.
        *shape : int or None
            The shape that it must have; None stands for any length.

        Returns
        -------
        ndarray
            The array.
        """
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
    """Read a whole number of the header.

    Parameters
    ----------
    value : object
        The value.
    least, most : int
        The smallest and the largest number that it may be.

    Returns
    -------
    int
        The number.
    """
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise ValueError(f"a number of it is {value!r}")
    return value


def read_number(value: Any, what: str) -> float:
    """Read a number of the header, which may be NaN.

    Parameters
    ----------
    value : object
        The value.
    what : str
        What an error calls it.

    Returns
    -------
    float
        The number.
    """
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise ValueError(f"{what} is {value!r}")
    return float(value)


def read_flag(value: Any, what: str) -> bool:
    """Read a value of the header that must be true or false.

    Parameters
    ----------
    value : object
        The value.
    what : str
        What an error calls it.

    Returns
    -------
    bool
        The value.
    """
    if not isinstance(value, bool):
        raise ValueError(f"{what} is {value!r}")
    return value


def read_strings(values: Any, what: str) -> tuple[str, ...]:
    """Read a list of different strings.

    Parameters
    ----------
    values : object
        The values.
    what : str
        What an error calls them.

    Returns
    -------
    tuple of str
        The strings.
    """
    if not isinstance(values, list) or not values or not all(isinstance(value, str) for value in values):
        raise ValueError(f"its {what} have no proper names")
    if len(set(values)) < len(values):
        raise ValueError(f"its {what} have no proper names: one of them occurs twice")
    return tuple(values)
