"""What would change the outcomes of rows: changes as frozen values, with their sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from suffice._forest.fitted import Fitted
from suffice._table.condition import Condition
from suffice._table.encoding import Column
from suffice._table.frames import make_frame
from suffice._table.rows import move_rows
from suffice._text import (
    counted,
    format_category,
    format_level,
    format_number,
    format_outcome,
    format_percent,
    format_probability,
    format_value,
    join,
    name_model,
    printed,
    to_plain,
)
from suffice.errors import check_word
from suffice.explaining.row_answers import RowAnswers


def name_target(name: str) -> str:
    """Write what the outcomes are called, as the subject of a sentence."""
    return "the outcome" if name in ("y", "prediction") else name


def confirmation_text(model: str | None, confirmed: bool | None, share: float | None, n_asked: int) -> str:
    """Write whether the model confirms a change, and for how many moved rows it does; nothing if it was not asked."""
    if confirmed is None:
        return ""
    name = name_model(model)
    text = f"{name[0].upper()}{name[1:]} {'confirms' if confirmed else 'does NOT confirm'} this"
    if share is None:
        return f"{text}."
    return f"{text}; it agrees for {round(share * n_asked)} of {counted(n_asked, 'row')} moved into this range."


def quoted(label: Any) -> str:
    """Write a category; in quotes if it holds words of the sentence around it: "from 0 to 5 to 9" has two readings."""
    text = format_category(label)
    is_unclear = any(word in text for word in (" to ", " or ", " and ", ","))
    return f'"{text}"' if is_unclear and not text.startswith('"') else text


# Below this probability of the target, no nearest miss is named.
NEARLY_NOTHING = 0.01
ASSOCIATION = (
    "This describes similar rows in the data, not what would happen if someone intervened: association, not causation."
)
UNASKED = (
    "The model itself was not asked: this rests on its outputs for the training rows, and it may differ elsewhere."
)


@dataclass(frozen=True)
class Move:
    """What a change does to one column of the table.

    Parameters
    ----------
    column : str
        The column.
    before, after : object
        The row's own value and that of the least change; None if it is missing.
    text : str
        It in words: "lowering age from 63 to at most 56".
    """

    column: str
    before: Any
    after: Any
    text: str

    @printed
    def __str__(self) -> str:
        """Return what happens to the column, in words."""
        return self.text


@dataclass(frozen=True)
class Change:
    """A box of values that would change the outcome, and its point that is nearest to the row.

    Parameters
    ----------
    variables : tuple of str
        The variables that are free to change; all others keep the values of the row.
    conditions : tuple of Condition
        The box: what these variables must fulfil. The ends belong to it.
    moves : tuple of Move
        The least change: what moves, and how far.
    stays : tuple of Condition
        Conditions of the box that the row fulfils already: these must stay fulfilled.
    values : dict of str to object
        The least change as values of columns.
    probability : float
        The forest's probability of the target at the least change, cautiously stated.
    box_probability : float
        The probability of the target in the box, given what does not change (CRP): the mean of what the forest gives
        at the values of training rows in the box, without caution.
    mean : float
        The same as a share of training rows, by their weights. It decides with ``check="mean"``; leaves mix rows of
        the box with others near it, so it errs towards the share of the target elsewhere.
    plausibility : float
        The probability of the box, given what does not change.
    bound : float
        No box over these variables has a larger plausibility.
    cdp : float
        The probability of the target if the variables are free, given what does not change.
    support : int
        The training rows in the box that are like the row in what does not change.
    n_wanted : int
        How many of them have the target.
    rows : tuple of int
        Their positions in the training table.
    check : {"everywhere", "mean"}
        Whether the forest gives the target at every point of the box, or the rows in it do on average.
    confirmed : bool or None
        Whether the model that is explained gives the target at the least change; None if no model was asked.
    confirmed_share : float or None
        The share of rows moved into the box, with values of training rows there, for which it does.
    n_asked : int
        How many such rows it was asked about.
    pi : float
        The level that was required.
    by : {"forest", "model"}
        What the box rests on. "forest": the forest gives the target with probability `pi` there. "model": the forest
        only finds the target more likely than not, but the model was asked about rows moved there; the box is cut to
        where it agrees, and `confirmed_share` is about other rows, at least `pi` of them.
    """

    variables: tuple[str, ...]
    conditions: tuple[Condition, ...]
    moves: tuple[Move, ...]
    stays: tuple[Condition, ...]
    values: dict[str, Any] = field(hash=False)
    probability: float = 0.0
    box_probability: float = 0.0
    mean: float = 0.0
    plausibility: float = 0.0
    bound: float = 0.0
    cdp: float = 0.0
    support: int = 0
    n_wanted: int = 0
    rows: tuple[int, ...] = field(default=(), repr=False)
    check: Literal["everywhere", "mean"] = "everywhere"
    confirmed: bool | None = None
    confirmed_share: float | None = None
    n_asked: int = 0
    pi: float = 0.9
    by: Literal["forest", "model"] = "forest"

    @property
    def is_agreed(self) -> bool:
        """Whether the model gives the target at the least change, and for a share `pi` of the rows moved there."""
        return bool(self.confirmed) and (self.confirmed_share is None or self.confirmed_share >= self.pi)

    @property
    def optimal(self) -> bool:
        """Whether no box over these variables is proven to be more plausible."""
        return self.bound <= self.plausibility + 1e-9

    @property
    def sentence(self) -> str:
        """The least change in words, such as "raising income from 20 to at least 35"."""
        texts = [move.text for move in self.moves]
        has_lists = len(texts) > 2 and any(", " in text for text in texts)
        moved = f"{'; '.join(texts[:-1])}; and {texts[-1]}" if has_lists else join(texts)
        kept = join([f"keeping {condition}" for condition in self.stays])
        return f"{moved} while {kept}" if moved and kept else moved or kept

    @property
    def is_joint(self) -> bool:
        """Whether several columns move, which is stated for all of them together."""
        return len(self.moves) > 1

    @property
    def listed(self) -> str:
        """The least change as an item of a list; several moves are marked as belonging together."""
        return f"{self.sentence}, together" if self.is_joint else self.sentence

    @property
    def box_text(self) -> str:
        """The whole box, as the conditions of a rule."""
        return " AND ".join(map(str, self.conditions))

    def evidence(self, target: str) -> str:
        """Tell how many rows show it, and how probable it is.

        Parameters
        ----------
        target : str
            The wanted outcomes as part of a sentence: `RowChanges.goal`.

        Returns
        -------
        str
            A sentence.
        """
        fall = "falls" if self.support == 1 else "fall"
        flags = {c.name for c in self.conditions if c.reads == "yes/no"}
        shown = {name: bool(v) if name in flags and v in (0, 1) else v for name, v in self.values.items()}
        values = [f"{name} {quoted(v) if isinstance(v, str) else format_value(v)}" for name, v in shown.items()]
        point = f"with {join(values)}, " if values else ""
        return (
            f"{counted(self.support, 'similar training row')} {fall} in this range "
            f"({format_percent(self.plausibility)} % of similar rows by weight), and {target} for {self.n_wanted} of "
            f"them; {point}the forest gives this outcome probability {format_probability(self.probability)}."
        )

    def confirmation(self, model: str | None) -> str:
        """Tell whether the model agrees.

        Parameters
        ----------
        model : str or None
            What the model is called.

        Returns
        -------
        str
            A sentence; nothing if no model was asked.
        """
        return confirmation_text(model, self.confirmed, self.confirmed_share, self.n_asked)

    def to_dict(self) -> dict[str, Any]:
        """Return the change as plain Python values, ready for JSON.

        Returns
        -------
        dict
            Everything but the positions of the training rows in words and numbers.
        """
        return {
            "variables": list(self.variables),
            "sentence": self.sentence,
            "box": self.box_text,
            "moves": [dict(vars(move)) for move in self.moves],
            "values": dict(self.values),
            **{name: getattr(self, name) for name in _NUMBERS},
            "rows": list(self.rows),
        }

    @printed
    def __str__(self) -> str:
        """Return the least change in words."""
        return self.sentence


_NUMBERS = (
    *("probability", "box_probability", "mean", "plausibility", "bound", "optimal", "cdp", "support", "n_wanted"),
    *("check", "confirmed", "confirmed_share", "n_asked", "by"),
)


@dataclass(frozen=True)
class RowChanges:
    """What would change the outcome of one row.

    Parameters
    ----------
    outcome : object
        The present outcome.
    wanted : str
        The wanted outcomes, as they are written: "good", "at least 200".
    changes : tuple of Change
        The changes, best first. Their boxes do not overlap.
    is_reached : bool
        Whether the row has the target already; then there are no changes.
    nearest : Change or None
        If there are no changes: what comes nearest, marked by its probability or its plausibility.
    is_too_rare : bool
        Whether the nearest one reaches the level, but is not plausible enough.
    values : dict of str to object
        The row.
    pi : float
        The probability of the target that a change must reach.
    min_plausibility : float
        The plausibility that a change must have.
    max_size : int
        How many variables could change at most.
    n_changeable : int
        How many variables may change, within their bounds and directions.
    is_complete : bool
        Whether all sets of variables were searched.
    target : str
        What the outcomes are called.
    source : {"forest", "model", "given"}
        Where the present outcome comes from.
    model : str or None
        The class of the model that is explained; None if the data are.
    columns : tuple of Column
        The columns of the training table as the forest sees them.
    row : int or None
        The position of the row in the table.
    id : str or None
        The identifier of the row, if rows have any.
    notes : tuple of str
        What stays as it is, and bounds and directions beyond the training rows, as sentences.
    is_model_absent : bool
        Whether a model was explained that is not there: the explainer was loaded from a file.
    """

    outcome: Any
    wanted: str
    changes: tuple[Change, ...]
    is_reached: bool
    nearest: Change | None
    is_too_rare: bool
    values: dict[str, Any] = field(hash=False)
    pi: float = 0.9
    min_plausibility: float = 0.0
    max_size: int = 3
    n_changeable: int = 0
    is_complete: bool = True
    target: str = "y"
    source: Literal["forest", "model", "given"] = "forest"
    model: str | None = None
    columns: tuple[Column, ...] = field(default=(), compare=False, repr=False)
    row: int | None = None
    id: str | None = None
    notes: tuple[str, ...] = ()
    is_model_absent: bool = False

    @property
    def best(self) -> Change | None:
        """The best change, if there is one."""
        return self.changes[0] if self.changes else None

    @property
    def label(self) -> str:
        """What the row is called."""
        return "The row" if self.row is None else f"Row {self.row if self.id is None else self.id}"

    @property
    def outcome_text(self) -> str:
        """The present outcome, as it is written."""
        return format_outcome(self.outcome)

    @property
    def goal(self) -> str:
        """The wanted outcomes as a clause: "decision is good", "price is at least 200"."""
        return f"{name_target(self.target)} is {self.wanted}"

    @property
    def lead(self) -> str:
        """The answer in one sentence."""
        verb = "is predicted to be" if self.source == "forest" else "is"
        present = f"{name_target(self.target)} {verb} {self.outcome_text}"
        if self.row is not None:
            present = f"{self.label}: {present}"
        elif present.startswith("the "):  # the name of a column stays as it is
            present = f"The {present[4:]}"
        if self.is_reached:
            return f"{present}; the target ({self.wanted}) is already reached."
        best, model = self.best, name_model(self.model)
        if best is None:
            return f"No: {self._no_text}"
        effect = f"{best.sentence} would {'together ' if best.is_joint else ''}make it {self.wanted}"
        if best.by == "model":
            return f"{present}; according to {model}, {effect}."
        refused = f", but {model} does not confirm it" if best.confirmed is False else ""
        where = " on average over this range" if best.check == "mean" else ""
        return f"{present}; {effect} (probability >= {format_level(self.pi)}{where}){refused}."

    @property
    def _no_text(self) -> str:
        wanted = f"{name_target(self.target)} {self.wanted}"
        if not self.n_changeable:
            return f"`bounds` and `direction` leave this row no other value, so nothing can make {wanted}."
        count = counted(min(self.max_size, self.n_changeable), "variable")
        text = (
            f"no change of up to {count} makes {wanted} with probability >= {format_level(self.pi)} and plausibility "
            f">= {format_number(self.min_plausibility)}."
        )
        miss = self.nearest
        if miss is None:
            return f"{text} None of the variables that may change makes a difference."
        if self.is_too_rare:
            share = f"{int(1000 * miss.plausibility) / 10:g}"  # rounded down: less than the least one
            return f"{text} Closest: {miss.listed}, but only {share} % of similar rows fall in this range."
        if miss.probability < NEARLY_NOTHING:
            return f"{text} No change that is allowed gives it a probability above {NEARLY_NOTHING}."
        closest = f"letting {join(miss.variables)} vary" if miss.check == "mean" else miss.listed
        return f"{text} Closest: {closest} (probability {format_probability(miss.probability)})."

    @property
    @printed
    def text(self) -> str:
        """The answer in plain words: the changes with what supports them."""
        lines = [self.lead, *self.notes]
        for i, change in enumerate(self.changes):
            lines.append(f"{i + 1}. {change.listed}.")
            lines.append(f"   {change.evidence(self.goal)}")
            if change.confirmed is not None:
                lines.append(f"   {change.confirmation(self.model)}")
        if self.nearest is not None and self.nearest.confirmed is not None:
            lines.append(f"   {self.nearest.confirmation(self.model)}")
        if not self.is_complete:
            lines.append("Not all sets of variables were searched: raise `max_sets`.")
        if self.caveat:
            lines.append(self.caveat)
        return "\n".join(lines)

    @property
    def caveat(self) -> str:
        """What the changes do not say: that they are causes or, if the model was not asked, that it agrees."""
        if not self.changes:
            return ""
        if self.model is None:
            return UNASKED if self.is_model_absent else ASSOCIATION
        return UNASKED if all(change.confirmed is None for change in self.changes) else ""

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain Python values, ready for JSON.

        Returns
        -------
        dict
            The row, its outcome, the target, the changes, and the nearest miss if there are none.
        """
        return {
            **({} if self.id is None else {"id": self.id}),
            "row": self.row,
            "outcome": to_plain(self.outcome),
            "target": self.wanted,
            **{name: getattr(self, name) for name in ("is_reached", "pi", "min_plausibility", "is_complete")},
            "values": dict(self.values),
            "changes": [change.to_dict() for change in self.changes],
            "nearest": None if self.nearest is None else self.nearest.to_dict(),
            "is_too_rare": self.is_too_rare,
            "notes": list(self.notes),
            "text": self.text,
        }

    def __str__(self) -> str:
        """Return the answer in plain words."""
        return self.text

    def _repr_html_(self) -> str:
        from suffice._show.cards import change_card

        return change_card(self)


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
        from suffice._io.result_table import change_columns, changed_row_columns

        return make_frame(change_columns(self) if of == "changes" else changed_row_columns(self), self.library)

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

    @printed
    def __str__(self) -> str:
        """Return how many rows have a change, and what changes most often."""
        if not self.answers:
            return "No rows."
        n_reached, n_found = int(self.is_reached.sum()), int(self.has_change.sum())
        n_open = len(self) - n_reached
        if not n_open:
            return f"{counted(len(self), 'row')}, all of which already have the target."
        reached = f"{n_reached} already {'has' if n_reached == 1 else 'have'} the target"
        lines = [f"{counted(len(self), 'row')}; {reached}."] if n_reached else []
        found = f"{n_found} of {counted(n_open, 'row')} {'has' if 1 in (n_found, n_open) else 'have'} a change"
        lines.append(f"{found} that reaches the target (probability >= {format_level(self.answers[0].pi)}).")
        counts = Counter(variable for answer in self if answer.best for variable in answer.best.variables)
        if counts:
            ranked = ", ".join(f"{name} ({n})" for name, n in counts.most_common(5))
            lines.append(f"Changed most often: {ranked}.")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from suffice._show.cards import changes_card

        return changes_card(self)


@dataclass(frozen=True)
class RegionalChange:
    """IF a rule THEN an outcome, UNLESS some variables lie in a box.

    Parameters
    ----------
    conditions : tuple of Condition
        The rule.
    outcome : object
        Its outcome.
    wanted : str
        The wanted outcomes, as they are written.
    unless : tuple of Condition
        The box in which the wanted outcomes hold; empty if there is none.
    variables : tuple of str
        The variables of the box; the other variables stay as the rule has them.
    probability : float or None
        The probability of the wanted outcomes in the box; None if there is no box.
    plausibility : float or None
        The probability of the box, given what stays.
    bound : float or None
        No box over these variables has a larger plausibility.
    support : int
        The training rows in the box that are like those of the rule in what stays.
    n_wanted : int
        How many of them have a wanted outcome.
    reached : float or None
        The share of rows of the rule, moved to the values of training rows in the box, for which the forest predicts a
        wanted outcome; None if no training row is in the rule, or in the box.
    nearest : float or None
        If there is no box: the highest probability of the wanted outcomes that was found.
    nearest_variables : tuple of str
        The variables that it takes to be free.
    confirmed : bool or None
        Whether the model that is explained agrees: it gives a wanted outcome for at least a share `pi` of the rows of
        the rule that are moved into the box. None if no model was asked.
    confirmed_share : float or None
        That share.
    n_asked : int
        How many such rows it was asked about.
    model : str or None
        The class of the model that is explained; None if the data are.
    target : str
        What the outcomes are called.
    is_reached : bool
        Whether the outcome of the rule is a wanted one already; then nothing is searched.
    """

    conditions: tuple[Condition, ...]
    outcome: Any
    wanted: str
    unless: tuple[Condition, ...] = ()
    variables: tuple[str, ...] = ()
    probability: float | None = None
    plausibility: float | None = None
    bound: float | None = None
    support: int = 0
    n_wanted: int = 0
    reached: float | None = None
    nearest: float | None = None
    nearest_variables: tuple[str, ...] = ()
    confirmed: bool | None = None
    confirmed_share: float | None = None
    n_asked: int = 0
    model: str | None = None
    target: str = "y"
    is_reached: bool = False

    @property
    def optimal(self) -> bool:
        """Whether no box over these variables is more plausible."""
        return self.bound is not None and self.plausibility is not None and self.bound <= self.plausibility + 1e-9

    @property
    def rule_text(self) -> str:
        """The conditions of the rule."""
        return " AND ".join(map(str, self.conditions)) or "all rows"

    @property
    def unless_text(self) -> str:
        """The conditions of the box; nothing if there is none."""
        return " AND ".join(map(str, self.unless))

    @printed
    def __str__(self) -> str:
        """Return the rule with what changes it, in one sentence."""
        start = f"IF {self.rule_text} THEN {self.outcome_text}"
        if not self.unless:
            return f"{start}  ({self.no_text})"
        probability = format_probability(self.probability or 0.0)
        rows = f"{counted(self.support, 'row')}, {format_percent(self.plausibility or 0.0)} % of similar rows"
        share = "" if self.reached is None else f"; reached by {format_percent(self.reached)} % of rows moved there"
        text = f"{start} UNLESS {self.unless_text}: then {self.goal}  (probability {probability}, {rows}{share})"
        return text if self.confirmed is None else f"{text}. {self.confirmation}"

    @property
    def outcome_text(self) -> str:
        """The outcome of the rule, as it is written."""
        return format_outcome(self.outcome)

    @property
    def goal(self) -> str:
        """The wanted outcomes as a clause: "decision is good", "price is at least 200"."""
        return f"{name_target(self.target)} is {self.wanted}"

    @property
    def no_text(self) -> str:
        """That nothing was found, and what comes closest."""
        if self.is_reached:
            return "the target is already reached"
        text = f"no change makes {name_target(self.target)} {self.wanted}"
        if self.nearest is None:
            return text
        free = f", letting {join(self.nearest_variables)} vary" if self.nearest_variables else ""
        return f"{text}; highest probability: {format_probability(self.nearest)}{free}"

    @property
    def confirmation(self) -> str:
        """Whether the model confirms it, as a sentence; nothing if no model was asked."""
        return confirmation_text(self.model, self.confirmed, self.confirmed_share, self.n_asked)

    def to_dict(self) -> dict[str, Any]:
        """Return the change as plain Python values, ready for JSON.

        Returns
        -------
        dict
            The fields, with conditions as text.
        """
        return {
            "rule": self.rule_text,
            "outcome": to_plain(self.outcome),
            "unless": self.unless_text or None,
            "target": self.wanted,
            "is_reached": self.is_reached,
            "variables": list(self.variables),
            **{name: getattr(self, name) for name in _REGIONAL_NUMBERS},
        }


_REGIONAL_NUMBERS = (
    *("probability", "plausibility", "optimal", "support", "n_wanted", "reached"),
    *("confirmed", "confirmed_share", "n_asked", "nearest"),
)


class RegionalChanges(RowAnswers[RegionalChange]):
    """What would change the outcomes of rules, in their order. Made by ``SufficientExplainer.what_if_rules``.

    Parameters
    ----------
    answers : sequence of RegionalChange
        The best change of each rule.
    fitted : Fitted
        The fitted state of the explainer.
    library : str or None, default=None
        The kind of the frames that are made.
    """

    def to_frame(self) -> Any:
        """Return a table with one line for each rule: rule, outcome, unless, and what supports it.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table
            The frame.
        """
        lines = [change.to_dict() for change in self]
        names = lines[0] if lines else {}
        columns = {name: [line[name] for line in lines] for name in names}
        if columns:
            columns["variables"] = [", ".join(names) for names in columns["variables"]]
        return make_frame(columns, self.library)

    def to_dict(self) -> dict[str, Any]:
        """Return the changes as plain Python values, ready for JSON.

        Returns
        -------
        dict
            What the outcomes are called, the model that is explained, and the change of each rule.
        """
        return {
            "target_name": self.fitted.target,
            "model": self.fitted.model_name or self.fitted.absent_model,
            "rules": [change.to_dict() for change in self],
        }

    @printed
    def __str__(self) -> str:
        """Return one sentence for each rule."""
        return "\n".join(map(str, self))

    def _repr_html_(self) -> str:
        from suffice._show.cards import regional_card

        return regional_card(self)
