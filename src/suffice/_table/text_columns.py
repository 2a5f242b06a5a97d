"""Columns of text that hold something else: numbers with blanks, nearly numbers, or dates.

Numbers written as text are read as numbers, blanks as missing values. Dates stay categories; the user is told.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from suffice.errors import TextColumnWarning, warn
from suffice.words import counted, join

# Texts that stand for a missing value, in a file and in a column of numbers; "none" may well be a category.
MISSING_TEXTS = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NAN", "null", "NULL", "None")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_CODE = re.compile(r"[+-]?0\d")  # such as the postal code 02139
_DAY = r"(?:\d{4}([-/.])\d{1,2}\1\d{1,2}|\d{1,2}([-/.])\d{1,2}\2\d{4})"
_TIME = r"\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?\s*(?:Z|UTC|[+-]\d{2}:?\d{2}|[AaPp][Mm])?"
_DATE = re.compile(rf"{_DAY}(?:[T ]\s*{_TIME})?")

# Up to this many different numbers without a blank are taken for names, as they are written: text.
MAX_NUMERIC_LABELS = 20
# A column is nearly one of numbers, or one of dates, from this share of its known rows on.
NEARLY_ALL = 0.95


def is_number(text: str) -> bool:
    """Return whether a text reads as a number.

    Parameters
    ----------
    text : str
        The text.

    Returns
    -------
    bool
        Whether it does.
    """
    try:
        float(text)
    except ValueError:
        return False
    return True


def to_number(value: Any) -> float | None:
    """Read a value as a number.

    Parameters
    ----------
    value : object
        A number, or a text.

    Returns
    -------
    float or None
        The number; NaN for a text that stands for a missing value; None if the value is no number.

    Examples
    --------
    >>> to_number("29.85"), to_number(" "), to_number("two")
    (29.85, nan, None)
    """
    if not isinstance(value, str):
        return float(value)
    text = value.strip()
    if text in MISSING_TEXTS:
        return math.nan
    return float(text) if _NUMBER.fullmatch(text) else None


@dataclass(frozen=True)
class TextColumn:
    """What a column of text holds.

    Parameters
    ----------
    name : str
        The column.
    holds : {"labels", "numbers", "nearly numbers", "dates"}
        What it holds.
    n_blank : int, default=0
        How many rows hold a text that stands for a missing value.
    n_odd : int, default=0
        How many rows of a column that is nearly one of numbers hold something else.
    example : str, default=""
        The first of these texts, or a date.
    row : int, default=0
        The row of the example.
    """

    name: str
    holds: Literal["labels", "numbers", "nearly numbers", "dates"]
    n_blank: int = 0
    n_odd: int = 0
    example: str = ""
    row: int = 0


def inspect_text(name: str, labels: Sequence[Any], codes: NDArray[np.intp]) -> TextColumn:
    """Find out what a column of text holds.

    Parameters
    ----------
    name : str
        The column.
    labels : sequence of object
        Its distinct values; numbers may be among them.
    codes : ndarray of shape (n_rows,)
        The position of each row's value in `labels`; -1 if it is missing.

    Returns
    -------
    TextColumn
        What it holds. Numbers without a blank are labels if there are few of them, or if one has a leading zero.
    """
    n_rows = np.bincount(codes[codes >= 0], minlength=len(labels))
    numbers = [to_number(label) for label in labels]
    is_blank = np.array([number is not None and math.isnan(number) for number in numbers], dtype=bool)
    is_odd = np.array([number is None for number in numbers], dtype=bool)
    n_blank, n_odd, n_known = int(n_rows[is_blank].sum()), int(n_rows[is_odd].sum()), int(n_rows[~is_blank].sum())
    n_numbers = int(np.count_nonzero(~is_blank & ~is_odd))
    is_code = any(isinstance(label, str) and _CODE.match(label.strip()) for label in labels)
    is_mixed = any(isinstance(label, Real) for label in labels)
    if n_numbers and not n_odd:
        is_numbers = is_mixed or (not is_code and (n_blank > 0 or n_numbers > MAX_NUMERIC_LABELS))
        return TextColumn(name, "numbers" if is_numbers else "labels", n_blank)
    if n_numbers > MAX_NUMERIC_LABELS and not is_code and n_known - n_odd >= NEARLY_ALL * n_known:
        first = int(np.argmax(is_odd))
        return TextColumn(name, "nearly numbers", n_blank, n_odd, labels[first], int(np.argmax(codes == first)))
    is_date = np.array(
        [isinstance(label, str) and bool(_DATE.fullmatch(label.strip())) for label in labels], dtype=bool
    )
    if n_known and np.count_nonzero(is_date) > 1 and n_rows[is_date].sum() >= NEARLY_ALL * n_known:
        first = int(np.argmax(is_date))
        return TextColumn(name, "dates", n_blank, 0, labels[first], int(np.argmax(codes == first)))
    return TextColumn(name, "labels", n_blank)


def warn_of_text(columns: Sequence[TextColumn]) -> None:
    """Warn of columns of text that hold something else, once for each kind.

    Parameters
    ----------
    columns : sequence of TextColumn
        The columns of text.
    """
    of_numbers = [column for column in columns if column.holds == "numbers"]
    if of_numbers:
        listed = join([f"{c.name!r} ({counted(c.n_blank, 'blank') if c.n_blank else 'no blanks'})" for c in of_numbers])
        warn(
            f"Text that holds numbers is read as numbers, and blanks as missing values: {listed}. To keep labels, make "
            "the column categorical; to avoid this notice, convert it: pandas.to_numeric(column, errors='coerce').",
            TextColumnWarning,
        )
    nearly = [column for column in columns if column.holds == "nearly numbers"]
    if nearly:
        listed = join([f"{c.name!r} (not numbers: {c.n_odd}, such as {c.example!r} in row {c.row})" for c in nearly])
        warn(
            f"Text is read as categories, although nearly all of it holds numbers: {listed}. Correct these values or "
            "leave them empty, and the rest is read as numbers.",
            TextColumnWarning,
        )
    of_dates = [column for column in columns if column.holds == "dates"]
    if of_dates:
        listed = join([f"{c.name!r} (such as {c.example!r})" for c in of_dates])
        warn(
            f"Dates that are written as text are read as categories: {listed}. Parse them first, as by "
            "pandas.to_datetime, and use their parts by dates='parts'; or leave them out.",
            TextColumnWarning,
        )
