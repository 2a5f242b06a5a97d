"""Warnings of the package, so that users can filter them, and the wording of suggestions.

Errors are plain ``TypeError`` (wrong kind) and ``ValueError`` (wrong value).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class FidelityWarning(UserWarning):
    """The forest follows the outcomes poorly, so explanations drawn from it say little."""


class RareCategoriesWarning(UserWarning):
    """Most rows of a column hold categories that are too rare to tell apart."""


class SearchSizeWarning(UserWarning):
    """The search ended before it had gone through all sets of candidates."""


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """Suggest the known word nearest to an unknown one.

    Parameters
    ----------
    word : object
        What the user wrote.
    known : iterable of str
        What would have been right.

    Returns
    -------
    str
        A sentence with a leading space, or nothing if no known word is near.
    """
    near = difflib.get_close_matches(str(word), list(known), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""
