"""How much memory a table file may take: declared here, and checked before the memory is taken."""

from __future__ import annotations

import math
import os
import re

TABLE_VARIABLE, UPLOAD_VARIABLE = "SUFFICE_MAX_TABLE", "SUFFICE_MAX_UPLOAD"
_DEFAULTS = {TABLE_VARIABLE: 4 * 2**30, UPLOAD_VARIABLE: 2**30}
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}
_SIZE = re.compile(r"(\d{1,15})\s*([KMG]?)(?:i?B)?", re.IGNORECASE)


def memory_limit(variable: str = TABLE_VARIABLE, default: int | None = None) -> int:
    """Return the number of bytes that a file may take in memory.

    Parameters
    ----------
    variable : {"SUFFICE_MAX_TABLE", "SUFFICE_MAX_UPLOAD"}, default="SUFFICE_MAX_TABLE"
        The environment variable that changes the limit: of a file that the user names, 4 GiB by default, or of one that
        is uploaded to the app, 1 GiB by default. It holds a number of bytes, or a number with K, M or G.
    default : int, default=None
        The limit without it, for other variables than these two.

    Returns
    -------
    int
        The limit.
    """
    text = os.environ.get(variable, "").strip()
    if not text:
        return _DEFAULTS[variable] if default is None else default
    match = _SIZE.fullmatch(text)
    if match is None or not int(match[1]):
        raise ValueError(f"{variable} must be a number of bytes, or a number with K, M or G such as 8G, got {text!r}.")
    return int(match[1]) * _UNITS[match[2].upper()]


def check_memory(n_bytes: float, name: str, variable: str = TABLE_VARIABLE) -> None:
    """Refuse a table that would take more memory than the limit.

    Parameters
    ----------
    n_bytes : float
        The memory that it would take; infinity if it is only known to be more than the limit.
    name : str
        The name of the file.
    variable : str, default="SUFFICE_MAX_TABLE"
        The environment variable that changes the limit.
    """
    limit = memory_limit(variable)
    if n_bytes > limit:
        size = f"more than {format_bytes(limit)}" if math.isinf(n_bytes) else format_bytes(n_bytes)
        raise ValueError(
            f"{name} would take {size} in memory, and the limit is {format_bytes(limit)}: take fewer rows or columns, "
            f"or raise the limit with the environment variable {variable}, as in {variable}=16G."
        )


def format_bytes(n_bytes: float) -> str:
    """Write a number of bytes.

    Parameters
    ----------
    n_bytes : float
        The number.

    Returns
    -------
    str
        Three digits and a unit.

    Examples
    --------
    >>> format_bytes(1000), format_bytes(2**30), format_bytes(2.5 * 2**40)
    ('1000 bytes', '1 GiB', '2560 GiB')
    """
    if n_bytes < 2**10:
        return f"{n_bytes:.0f} bytes"
    unit, size = next(
        (unit, n_bytes / size) for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)) if n_bytes >= size
    )
    return f"{size:.0f} {unit}" if size >= 100 else f"{size:.3g} {unit}"
