"""The bytes of a file or of standard input: reading, unpacking, and why a file cannot be read.

What the bytes mean is left to ``files``.
"""

from __future__ import annotations

import bz2
import difflib
import gzip
import hashlib
import io
import json
import lzma
import math
import os
import re
import signal
import sys
import threading
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

TABLE_VARIABLE, UPLOAD_VARIABLE = "SUFFICE_MAX_TABLE", "SUFFICE_MAX_UPLOAD"
_DEFAULTS = {TABLE_VARIABLE: 4 * 2**30, UPLOAD_VARIABLE: 2**30}
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}
_SIZE = re.compile(r"(\d{1,15})\s*([KMG]?)(?:i?B)?", re.IGNORECASE)
_MAX_DIGITS = 308  # of the largest float
NUMBER, TEXT = 8, 16  # bytes of a number in memory, and of a text without its characters
COLUMN = 4096  # bytes of a column of a text file while it is read, without its values


def parse_json(text: str, name: str, **options: Any) -> Any:
    """Read JSON, and refuse whole numbers that no float can hold, before Python does so in words of its own."""

    def whole(digits: str) -> int:
        if len(digits) > _MAX_DIGITS:
            raise ValueError(f"{name} has a number of {len(digits):,} digits, which is too long.")
        return int(digits)

    return json.loads(text, parse_int=whole, **options)


def memory_limit(variable: str = TABLE_VARIABLE, default: int | None = None) -> int:
    """Return the number of bytes that a file may take in memory."""
    text = os.environ.get(variable, "").strip()
    if not text:
        return _DEFAULTS[variable] if default is None else default
    match = _SIZE.fullmatch(text)
    if match is None or not int(match[1]):
        raise ValueError(f"{variable} must be a number of bytes, or a number with K, M or G such as 8G, got {text!r}.")
    return int(match[1]) * _UNITS[match[2].upper()]


def check_memory(n_bytes: float, name: str, variable: str = TABLE_VARIABLE) -> None:
    """Refuse a table that would take more memory than the limit."""
    limit = memory_limit(variable)
    if n_bytes > limit:
        size = f"more than {format_bytes(limit)}" if math.isinf(n_bytes) else format_bytes(n_bytes)
        raise ValueError(
            f"{name} would take {size} in memory, and the limit is {format_bytes(limit)}: take fewer rows or columns, "
            f"or raise the limit with the environment variable {variable}, as in {variable}=16G."
        )


def format_bytes(n_bytes: float) -> str:
    """Write a number of bytes."""
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if n_bytes >= size:
            return f"{n_bytes / size:.0f} {unit}" if n_bytes >= 100 * size else f"{n_bytes / size:.3g} {unit}"
    return f"{n_bytes:.0f} bytes"


STDIO = "-"
_CHUNK = 2**20  # bytes that are read at a time
_OPENERS: dict[bytes, Callable[[Any], Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\x00": lzma.open}


class TableFileWarning(UserWarning):
    """Something in a file had to be guessed, or is probably not what was meant."""


def read_bytes(source: str, limit: str = TABLE_VARIABLE) -> bytes:
    """Read a whole file."""
    # Windows has no siginterrupt.
    if hasattr(signal, "siginterrupt") and threading.current_thread() is threading.main_thread():
        # The signal handler of polars resumes an interrupted read, so Ctrl-C would wait for a slow pipe.
        signal.siginterrupt(signal.SIGINT, True)
    if source == STDIO:
        if sys.stdin.isatty():
            raise ValueError("Standard input is a terminal: name a file, or pipe a table, as in `cat table.csv | ...`.")
        return _read_within(sys.stdin.buffer, "Standard input", limit)
    try:
        with open(source, "rb", buffering=0) as file:
            check_memory(os.fstat(file.fileno()).st_size, source, limit)
            return _read_within(file, source, limit)
    except OSError as error:
        raise cannot_read(source, error) from None


def _read_within(file: Any, name: str, limit: str) -> bytes:
    """Read a whole file, but little more than the limit."""
    data, largest = io.BytesIO(), memory_limit(limit)
    while chunk := file.read(_CHUNK):
        data.write(chunk)
        if data.tell() > largest:
            check_memory(math.inf, name, limit)
    return data.getvalue()


def cannot_read(source: str, error: OSError) -> ValueError:
    """Return an error that states in one sentence why a file cannot be read."""
    path = Path(source)
    if isinstance(error, FileNotFoundError):
        near = difflib.get_close_matches(path.name, os.listdir(path.parent) if path.parent.is_dir() else [], n=1)
        hint = f" Did you mean {str(path.parent / near[0])!r}?" if near else ""
        return ValueError(f"There is no file {source!r}.{hint}")
    if path.is_dir():  # Windows calls this a missing permission
        return ValueError(f"{source!r} is a folder, not a file.")
    if isinstance(error, PermissionError):
        return ValueError(f"You do not have permission to read {source!r}.")
    return ValueError(f"{source!r} cannot be read: {error.strerror or error}.")


def file_digest(source: str) -> str:
    """Compute the SHA-256 of a file."""
    digest = hashlib.sha256()
    try:
        with open(source, "rb") as file:
            for data in iter(lambda: file.read(2**20), b""):
                digest.update(data)
    except OSError as error:
        raise cannot_read(source, error) from None
    return digest.hexdigest()


def unpack(data: bytes, name: str, limit: str = TABLE_VARIABLE) -> bytes:
    """Unpack the content of a file that is compressed by gzip, bzip2 or xz."""
    open_packed = next((opener for magic, opener in _OPENERS.items() if data.startswith(magic)), None)
    if open_packed is None:
        return data
    try:
        with open_packed(io.BytesIO(data)) as file:
            return _read_within(file, name, limit)
    except (OSError, EOFError, zlib.error, lzma.LZMAError):
        raise ValueError(f"{name} is compressed, but damaged or cut off.") from None
