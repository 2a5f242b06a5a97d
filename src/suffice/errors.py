"""Errors and warnings of the package, so that users can catch or filter them, and the wording of suggestions.

An error about the values of a table or about the outcomes is an `InputError`: it knows the row, the column and the
value. Every other error is a plain ``TypeError`` (wrong kind) or ``ValueError`` (wrong value).
"""

from __future__ import annotations

import difflib
import inspect
import warnings
from collections.abc import Callable, Iterable, Sequence
from numbers import Real
from pathlib import Path
from typing import Any, TypeVar

__all__ = [
    "CountsWarning",
    "FidelityWarning",
    "IdentifierWarning",
    "InputError",
    "InputTypeError",
    "InputValueError",
    "PrecisionWarning",
    "RareCategoriesWarning",
    "SearchSizeWarning",
    "TextColumnWarning",
]

_PACKAGE = str(Path(__file__).parent)

AnyInputError = TypeVar("AnyInputError", bound="InputError")


class InputError(Exception):
    """A value of a table, or an outcome, that cannot be used.

    Raised as `InputValueError` or `InputTypeError`, so that ``except ValueError`` and ``except TypeError`` catch it.

    Parameters
    ----------
    problem : str
        What is wrong, up to where the message names the row.
    detail : str, default=""
        The rest of the message, with the punctuation that it begins with.
    row : int or None, default=None
        The position of the row; the first is 0. None if the error is not about one row.
    column : str or None, default=None
        The name of the column; None for the outcomes.
    value : object, default=None
        The value at fault; None if it is missing or not known.
    place : str or None, default=None
        What the message calls the row, in place of "(row N)".

    Examples
    --------
    >>> error = InputValueError("Column 'age' of `X` holds NaN", ": fill it in.", row=2, column="age")
    >>> str(error), str(error.moved(102))
    ("Column 'age' of `X` holds NaN (row 2): fill it in.", "Column 'age' of `X` holds NaN (row 102): fill it in.")
    >>> str(error.moved(5, "Row 5 of partition 1"))
    "Row 5 of partition 1: Column 'age' of `X` holds NaN: fill it in."
    """

    def __init__(
        self,
        problem: str,
        detail: str = "",
        *,
        row: int | None = None,
        column: str | None = None,
        value: Any = None,
        place: str | None = None,
    ) -> None:
        super().__init__(problem, detail)  # what pickle makes the error of again, besides the attributes
        self.row = row
        self.column = column
        self.value = value
        self.place = place

    def __str__(self) -> str:
        """Return the message, with the row in it."""
        problem, detail = self.args
        if self.place is not None:
            return f"{self.place}: {problem}{detail}"
        return f"{problem}{'' if self.row is None else f' (row {self.row})'}{detail}"

    def moved(self: AnyInputError, row: int | None, place: str | None = None) -> AnyInputError:
        """Return the same error for another row number.

        Parameters
        ----------
        row : int or None
            The position of the row in the user's own table, of which the table at fault was a part. None leaves the
            row out of the message.
        place : str or None, default=None
            What the message calls the row, in place of "(row N)".

        Returns
        -------
        InputError
            An error of the same class.
        """
        return type(self)(*self.args, row=row, column=self.column, value=self.value, place=place)


class InputValueError(InputError, ValueError):
    """A value of the right kind that cannot be used, such as an unknown category or infinity."""


class InputTypeError(InputError, TypeError):
    """A value of the wrong kind, such as text in a column of numbers."""


class CountsWarning(UserWarning):
    """The forest leaves no rows out of bag, so the rows that grew its trees are counted."""


class FidelityWarning(UserWarning):
    """The forest follows the outcomes poorly, so its explanations say little."""


class IdentifierWarning(UserWarning):
    """A column of numbers seems only to name the rows."""


class PrecisionWarning(UserWarning):
    """A column holds numbers that float32, in which forests compare, cannot tell apart."""


class RareCategoriesWarning(UserWarning):
    """Most rows of a column hold categories that are too rare to be kept apart."""


class SearchSizeWarning(UserWarning):
    """The search ended before it had gone through all sets of candidates."""


class TextColumnWarning(UserWarning):
    """A column of text holds numbers or dates."""


def warn(message: str, category: type[Warning]) -> None:
    """Warn about the line of the user's code that called the package, however deep inside the package this happens.

    Parameters
    ----------
    message : str
        What was done, and what the user may do.
    category : type
        The class of the warning.
    """
    level, frame = 1, inspect.currentframe()
    while frame is not None and Path(frame.f_code.co_filename).is_relative_to(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """Suggest the known word nearest to an unknown one.

    Parameters
    ----------
    word : object
        What the user wrote.
    known : iterable of str
        The words that would have been right.

    Returns
    -------
    str
        A sentence with a leading space, or nothing if no known word is near.
    """
    near = difflib.get_close_matches(str(word), list(known), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


def check_number(name: str, value: Any, must_be: str, is_right: Callable[[Any], bool], kind: Any = Real) -> None:
    """Refuse a parameter that is not a number of the right kind and range."""
    if not isinstance(value, kind) or isinstance(value, bool):
        raise TypeError(f"`{name}` must be {must_be}, got {value!r}.")
    if not is_right(value):
        raise ValueError(f"`{name}` must be {must_be}, got {value!r}.")


def check_word(name: str, value: object, known: Sequence[object]) -> None:
    """Refuse a parameter that is not one of the known words."""
    if not any(value is word or (isinstance(value, str) and value == word) for word in known):
        raise ValueError(f"`{name}` must be one of {list(known)}, got {value!r}.{did_you_mean(value, map(str, known))}")
