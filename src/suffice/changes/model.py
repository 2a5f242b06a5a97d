"""Changes that the explained model is asked about: confirmed, put in order, and searched again where it disagrees."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice._forest.fitted import Fitted
from suffice._forest.outcomes import Target
from suffice._forest.progress import progress_bar, wants_bar
from suffice._table.rows import move_rows
from suffice.changes.limits import Limits, region_of_rows
from suffice.changes.making import ChangeMaker
from suffice.changes.regional import RowsToMove
from suffice.changes.search import ChangeOptions, FoundChange, evenly_spaced, find_changes
from suffice.changes.trimming import MovedRows, can_be_asked, moved_table, trim_box
from suffice.changes.values import Change, RowChanges

# Training rows whose values the model is asked about, for each change.
N_ASKED = 20
# Where it agrees with no change: the forest gives the target at least this probability in the boxes that it is asked
# about (the target is more likely than not), up to so many for each number of variables, with so many rows each.
PROPOSED_LEVEL, N_PROPOSED, N_ASKED_AGAIN = 0.5, 10, 100
# Rows whose boxes are asked about together.
N_TOGETHER = 64


@dataclass(frozen=True, eq=False)
class AskedModel:
    """A model that is asked about changes of rows."""

    state: Fitted
    movable: RowsToMove
    targets: list[Target]
    levels: NDArray[np.float64]
    limits: Limits
    options: ChangeOptions
    makers: list[ChangeMaker]

    def confirm(self, answers: Sequence[RowChanges]) -> list[RowChanges]:
        """Ask the model about every change: at the least change, and with the values of rows in its box."""
        state = self.state
        confirmed = [list(answer.changes or ([answer.nearest] if answer.nearest else [])) for answer in answers]
        questions: list[tuple[int, int, int]] = []  # row, change, number of rows that are moved
        rows: list[int] = []
        moved: list[dict[int, Any]] = []
        for i, changes in enumerate(confirmed):
            for j, change in enumerate(changes):
                free = [c for v in change.variables for c in state.variables.columns[state.variables.position(v)]]
                if not can_be_asked(state, free):
                    continue
                of_rows = change.rows[:: max(1, -(-len(change.rows) // N_ASKED))]
                points = [
                    {self._column(c).source: self._column(c).value_of(float(state.forest.X[row, c])) for c in free}
                    for row in of_rows
                ]
                questions.append((i, j, len(points)))
                rows += [i] * (1 + len(points))
                moved += [self._least(change), *points]
        if not questions:
            return list(answers)
        outputs = self.movable.ask(move_rows(self.movable.X, rows, moved, state.encoding.names), len(rows))
        place = 0
        for i, j, n_points in questions:
            agrees = self.targets[i].holds(outputs[place : place + 1 + n_points])
            place += 1 + n_points
            confirmed[i][j] = replace(
                confirmed[i][j],
                confirmed=bool(agrees[0]),
                confirmed_share=float(np.mean(agrees[1:])) if n_points else None,
                n_asked=n_points,
            )
        return [
            replace(answer, changes=tuple(sorted(changes, key=_disagreement)))
            if answer.changes
            else replace(answer, nearest=changes[0] if changes else None)
            for answer, changes in zip(answers, confirmed, strict=True)
        ]

    def search_again(
        self, answers: Sequence[RowChanges], n: int, progress: bool | None, *, is_ranked: bool
    ) -> list[RowChanges]:
        """Search changes of the rows for which the model agrees with none, in boxes that are cut to where it agrees.

        The fewest variables come first. A box in which the forest finds the target more likely than not is cut with the
        answers of the model for one half of the rows that are moved into it, and judged with those for the others.
        """
        answers = list(answers)
        left = [i for i, answer in enumerate(answers) if _is_open(answer)]
        for size in range(self.options.min_size, min(self.options.max_size, len(self.limits.changeable)) + 1):
            for begin in range(0, len(left), N_TOGETHER):
                some = left[begin : begin + N_TOGETHER]
                for i, changes in self._agreed(some, size, progress).items():
                    changes.sort(key=(lambda c: c.cost) if is_ranked else (lambda c: -c.plausibility))
                    answers[i] = replace(answers[i], changes=tuple(changes[:n]), nearest=None, is_too_rare=False)
            left = [i for i in left if _is_open(answers[i])]
        return answers

    def _agreed(self, rows: list[int], size: int, progress: bool | None) -> dict[int, list[Change]]:
        """Find changes of so many variables, for rows of the table, with which the model agrees."""
        names = self.state.encoding.names
        trimmed = self._trimmed(rows, size, progress)
        if not trimmed:
            return {}
        made = [(i, replace(self.makers[i].change(box, by="model"), **judged)) for i, box, judged in trimmed]
        least = [self._least(change) for _, change in made]
        outputs = self.movable.ask(move_rows(self.movable.X, [i for i, _ in made], least, names), len(made))
        agreed: dict[int, list[Change]] = {}
        for place, (i, change) in enumerate(made):
            if self.targets[i].holds(outputs[place : place + 1])[0]:
                agreed.setdefault(i, []).append(replace(change, confirmed=True))
        return agreed

    def _trimmed(
        self, rows: list[int], size: int, progress: bool | None
    ) -> list[tuple[int, FoundChange, dict[str, Any]]]:
        """Cut boxes to where the model agrees; with the row of each, and the share of other rows moved there."""
        state, matrix = self.state, self.movable.matrix[rows]
        options = replace(self.options, n=N_PROPOSED, min_size=size, max_size=size, sets="all")
        with progress_bar(len(rows), progress, "asking") if wants_bar(progress) else nullcontext() as report:
            found = find_changes(
                state,
                region_of_rows(matrix),
                self.limits.boxes(matrix),
                [self.targets[i] for i in rows],
                np.minimum(self.levels[rows], PROPOSED_LEVEL),
                self.limits,
                options,
                report,
            )
        boxes: list[tuple[int, FoundChange, NDArray[np.intp]]] = []
        moved: list[MovedRows] = []
        for i, of_row in zip(rows, found, strict=True):
            for box in of_row.changes:
                columns = [c for v in box.variables for c in state.variables.columns[v]]
                places = evenly_spaced(len(box.rows), N_ASKED_AGAIN)
                if can_be_asked(state, columns):
                    boxes.append((i, box, places))
                    moved.append(MovedRows(np.full(len(places), i), columns, box.rows[places]))
        if not boxes:
            return []
        ends = np.cumsum([0, *(len(copies.rows) for copies in moved)])
        outputs = self.movable.ask(moved_table(state, self.movable.X, moved), int(ends[-1]))
        trimmed = []
        for number, (i, box, places) in enumerate(boxes):
            agrees = self.targets[i].holds(outputs[ends[number] : ends[number + 1]])
            part = trim_box(state, box, self.targets[i], moved[number].columns, places[::2], agrees[::2])
            if part is None or part.plausibility < self.options.min_plausibility:
                continue
            judged = agrees[1::2][np.isin(box.rows[places[1::2]], part.rows)]
            if len(judged) and np.mean(judged) >= self.levels[i]:
                trimmed.append((i, part, {"confirmed_share": float(np.mean(judged)), "n_asked": len(judged)}))
        return trimmed

    def _column(self, c: int) -> Any:
        return self.state.encoding.columns[c]

    def _least(self, change: Change) -> dict[int, Any]:
        """Return the values of the least change, by position of the column in the user's table."""
        names = self.state.encoding.names
        return {names.index(name): value for name, value in change.values.items()}


def _is_open(answer: RowChanges) -> bool:
    """Return whether a row has no change with which the model agrees, or about which it cannot be asked."""
    if answer.is_reached or not answer.n_changeable:
        return False
    return not any(change.is_agreed or change.confirmed is None for change in answer.changes)


def _disagreement(change: Change) -> tuple[bool, bool]:
    return not change.is_agreed, change.confirmed is False
