"""What would change the outcomes of many rows: a sequence, frames, dictionaries and text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from suffice._engine.fitted import Fitted
from suffice._table.checks import check_word
from suffice._table.frames import make_frame
from suffice._table.moved_rows import move_rows
from suffice.changes import ASSOCIATION, RowChanges
from suffice.row_answers import RowAnswers
from suffice.words import counted, format_level


class Changes(RowAnswers[RowChanges]):
    """What would change the outcomes of some rows, in their order. Made by ``SufficientExplainer.what_if``.

    Parameters
    ----------
    answers : sequence of RowChanges
        The answer for each row.
    fitted : Fitted
        The fitted state of the explainer.
    library : str or None
        The kind of the table, and of the frames that are made.
    table : array-like or frame
        The rows, as the user has them.
    """

    def __init__(self, answers: Sequence[RowChanges], fitted: Fitted, library: str | None, table: Any) -> None:
        super().__init__(answers, fitted, library)
        self.table = table

    @property
    def has_change(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Whether each row has a change."""
        return np.array([answer.best is not None for answer in self], dtype=bool)

    @property
    def is_reached(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Whether each row has the target already."""
        return np.array([answer.is_reached for answer in self], dtype=bool)

    def to_frame(self, of: Literal["changes", "rows"] = "changes") -> Any:
        """Return the changes as a frame of the same kind as the table; for an array, as a pandas frame.

        Parameters
        ----------
        of : {"changes", "rows"}, default="changes"
            "changes": one line for each change. "rows": one line for each row, with its best change, and the nearest
            miss if it has none.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table
            The frame.
        """
        check_word("of", of, ("changes", "rows"))
        from suffice._io.change_table import change_columns, row_columns

        return make_frame(change_columns(self) if of == "changes" else row_columns(self), self.library)

    def points(self) -> Any:
        """Return the least change of each row as a table: the rows with the values of their best change.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table
            One line for each row. A row without a change keeps its values, and so does every column that does not
            move; parts of a date do not make a date, so that it stays as it is.
        """
        names = self.fitted.encoding.names
        best = [answer.best.values if answer.best is not None else {} for answer in self]
        moved = [{names.index(name): value for name, value in values.items() if name in names} for values in best]
        table = move_rows(self.table, [answer.row or 0 for answer in self], moved, names)
        if isinstance(table, np.ndarray):
            return make_frame({name: table[:, c].tolist() for c, name in enumerate(names)}, self.library)
        return table

    def to_dict(self) -> dict[str, Any]:
        """Return all answers as plain Python values, ready for JSON.

        Returns
        -------
        dict
            What the answers rest on, and the answers in the order of the rows.
        """
        model = self.fitted.model_name or self.fitted.absent_model
        caveats = [answer.caveat for answer in self if answer.caveat]
        return {
            "target_name": self.fitted.target,
            "model": model,
            "note": caveats[0] if caveats else None if model else ASSOCIATION,
            "rows": [answer.to_dict() for answer in self],
        }

    def plot(self, row: int = 0, number: int = 0, **options: Any) -> Any:
        """Draw a change: the box on the distributions of rows like the row, with the row and the least change.

        Parameters
        ----------
        row : int, default=0
            Which of these rows.
        number : int, default=0
            Which of its changes.
        **options : dict
            Passed to `suffice.plots.change`, such as ``column`` and ``ax``.

        Returns
        -------
        matplotlib.axes.Axes or ndarray of Axes
            Where it was drawn.
        """
        from suffice import plots

        return plots.change(self, row, number, **options)

    def __str__(self) -> str:
        """Return how many rows have a change, and what changes most often."""
        if not self.answers:
            return "No rows."
        n_reached, n_found = int(self.is_reached.sum()), int(self.has_change.sum())
        n_open = len(self) - n_reached
        level = format_level(self.answers[0].pi)
        if not n_open:
            return f"{counted(len(self), 'row')}, all of which have the target already."
        reached = f"{n_reached} {'has' if n_reached == 1 else 'have'} the target already"
        lines = [f"{counted(len(self), 'row')}; {reached}."] if n_reached else []
        found = f"{n_found} of {counted(n_open, 'row')} {'has' if n_found == 1 else 'have'} a change"
        lines.append(f"{found} that reaches the target (probability {level}).")
        counts: dict[str, int] = {}
        for answer in self:
            for variable in answer.best.variables if answer.best else ():
                counts[variable] = counts.get(variable, 0) + 1
        if counts:
            ranked = sorted(counts, key=lambda name: -counts[name])[:5]
            lines.append("Changed most often: " + ", ".join(f"{name} ({counts[name]})" for name in ranked) + ".")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from suffice._show.change_cards import changes_card

        return changes_card(self)
