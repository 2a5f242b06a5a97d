"""A sequence with one answer for each row of a table: what ``Changes`` and ``Reasons`` share."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, TypeVar, overload

if TYPE_CHECKING:
    from typing import Self

    from suffice._forest.fitted import Fitted

Answer = TypeVar("Answer")


class RowAnswers(Sequence[Answer]):
    """Answers in the order of the rows.

    Parameters
    ----------
    answers : sequence of object
        The answer for each row.
    fitted : Fitted
        The fitted state of the explainer.
    library : str or None, default=None
        The kind of the table, and of the frames that are made.
    """

    def __init__(self, answers: Sequence[Answer], fitted: Fitted, library: str | None = None) -> None:
        self.answers = tuple(answers)
        self.fitted = fitted
        self.library = library

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.answers)

    @overload
    def __getitem__(self, index: int) -> Answer: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> Answer | Self:
        """Return the answer for a row, or the answers for several."""
        if not isinstance(index, slice):
            return self.answers[index]
        part = copy(self)
        part.answers = self.answers[index]
        return part

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return all answers as plain Python values, ready for JSON."""

    def to_json(self, **options: Any) -> str:
        """Return all answers as JSON.

        Parameters
        ----------
        **options : dict
            Passed to `json.dumps`, such as ``indent=2``.

        Returns
        -------
        str
            The JSON text of `to_dict`.
        """
        return json.dumps(self.to_dict(), default=str, **options)
