"""Columns of whole numbers that only name the rows: a running number, a key of a database."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from suffice.errors import IdentifierWarning, warn
from suffice.words import join

# The share of rows that may repeat the number of another row.
MAX_REPEATED = 0.01
# How many repeated numbers chance alone would give a measured quantity of the same range, at least.
LEAST_EXPECTED = 10.0
# The same for a column whose name says that it is an identifier.
LEAST_EXPECTED_NAMED = 1.0
# Chance would repeat at least this many times as many numbers as the column does.
LEAST_RATIO = 20.0
_NAMED = re.compile(r"(?:^|[^a-z])(?:id|ids|key|uuid|nr|no|num|number|index|idx|rowid|record)$")


def is_identifier(name: str, numbers: NDArray[np.floating | np.integer]) -> bool:
    """Return whether a column of numbers only names the rows.

    If n whole numbers are drawn from a range of R, at least n - R (1 - (1 - 1/R)^n) of them repeat another one on
    average: a measured quantity, which is not spread evenly, repeats more. Numbers that repeat far less were made to
    differ.

    Parameters
    ----------
    name : str
        The name of the column, which supports the decision.
    numbers : ndarray of shape (n_rows,)
        Its values; NaN where one is missing.

    Returns
    -------
    bool
        Whether nearly all values are different whole numbers, and chance would repeat many of them.

    Examples
    --------
    >>> is_identifier("customer", np.arange(1000, 2000)), is_identifier("amount", np.arange(1000, 2000) ** 2)
    (True, False)
    """
    known = numbers[~np.isnan(numbers)] if numbers.dtype.kind == "f" else numbers
    if len(known) < 2 or (known.dtype.kind == "f" and np.any(known != np.floor(known))):
        return False
    n = len(known)
    n_values = float(known.max()) - float(known.min()) + 1
    n_expected = n + n_values * math.expm1(n * math.log1p(-1 / n_values)) if n_values > 1 else n - 1.0
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    least = LEAST_EXPECTED_NAMED if _NAMED.search(snake) else LEAST_EXPECTED
    if n_values < (1 - MAX_REPEATED) * n or n_expected < least:
        return False  # most columns end here, before their values are sorted
    n_repeated = n - len(np.unique(known))
    return n_repeated <= MAX_REPEATED * n and n_repeated * LEAST_RATIO <= n_expected


def warn_of_identifiers(names: Sequence[str]) -> None:
    """Warn of columns that only name the rows.

    Parameters
    ----------
    names : sequence of str
        The columns.
    """
    if names:
        are = "looks like an identifier: its" if len(names) == 1 else "look like identifiers: their"
        listed = join([repr(name) for name in names])
        warn(
            f"The column{'' if len(names) == 1 else 's'} {listed} {are} whole numbers differ from row to row. Leave "
            f"{'it' if len(names) == 1 else 'them'} out if {'it' if len(names) == 1 else 'they'} only name"
            f"{'s' if len(names) == 1 else ''} the rows.",
            IdentifierWarning,
        )
