"""``CodeBook``: which code and which wording a variable gets as the reason of a decision.

How a code book is read from a file or a dictionary is left to ``_io.code_book_file``.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

from suffice._table.condition import Condition
from suffice._text import format_category, format_exactly, join
from suffice.errors import did_you_mean

Direction: TypeAlias = Literal["low", "high"]
"""On which side a number is when it keeps the outcome."""

PLACEHOLDERS = ("value", "bound")
_BRACES = re.compile(r"\{\{|\}\}|\{([^{}]*)\}")
# Categories that a bound lists before it only counts them.
N_LISTED = 5
# Unknown variables that a message names.
MAX_NAMED = 20
ANY_VALUE = "any value"


@dataclass(frozen=True)
class CodeLine:
    """One line of a code book: the code and the text of a variable, perhaps only for some of its values.

    Parameters
    ----------
    variable : str
        The variable.
    code : str
        The code.
    text : str
        The wording. ``{value}`` stands for the row's value and ``{bound}`` for what the rule of the row asks of the
        variable; two braces stand for one.
    condition : Condition or None, default=None
        Which values the line is for; None for all.
    direction : {"low", "high"} or None, default=None
        Numbers: whether the line is for values that keep the outcome because they are low, or because they are high.
    fixed : bool, default=False
        Whether people cannot change the variable, such as their age: records then propose no change of it.

    Examples
    --------
    >>> line = CodeLine("income", "R1", "Income of {value} is not above {bound}", direction="low")
    >>> line.write("20", "30.5")
    'Income of 20 is not above 30.5'
    """

    variable: str
    code: str
    text: str
    condition: Condition | None = None
    direction: Direction | None = None
    fixed: bool = False

    def __post_init__(self) -> None:
        """Refuse a line that cannot be used."""
        for name in ("variable", "code", "text"):
            value = getattr(self, name)
            if not isinstance(value, str) or not value.strip():
                raise ValueError(f"`{name}` must be a text that is not empty, got {value!r}.")
        for name in _BRACES.findall(self.text):
            if name and name not in PLACEHOLDERS:
                raise ValueError(
                    f"The text of code {self.code!r} holds {{{name}}}: only {{value}} and {{bound}} are filled in; "
                    "write {{ and }} for braces."
                )
        if self.direction not in (None, "low", "high"):
            raise ValueError(f"`direction` must be 'low' or 'high', got {self.direction!r}.")
        if not isinstance(self.fixed, bool):
            raise ValueError(f"`fixed` must be yes or no, got {self.fixed!r}.")

    @property
    def key(self) -> tuple[str, Condition | None, str | None]:
        """What the line is for: no other line of a code book is for the same."""
        return self.variable, self.condition, self.direction

    def write(self, value: str, bound: str) -> str:
        """Fill in the text.

        Parameters
        ----------
        value : str
            The row's value.
        bound : str
            What the rule asks of the variable.

        Returns
        -------
        str
            The wording of the reason.
        """
        words = {"{{": "{", "}}": "}", "{value}": value, "{bound}": bound}
        return _BRACES.sub(lambda match: words.get(match[0], match[0]), self.text)

    def to_dict(self) -> dict[str, Any]:
        """Return the line as plain Python values, ready for JSON.

        Returns
        -------
        dict
            The variable, what of it the line is for, the code and the text, and whether the variable is fixed.
        """
        return {
            "variable": self.variable,
            "condition": None if self.condition is None else str(self.condition).removeprefix(f"{self.variable} "),
            "direction": self.direction,
            "code": self.code,
            "text": self.text,
            **({"fixed": True} if self.fixed else {}),  # the digests of other books stay as they were
        }


@dataclass(frozen=True)
class CodeBook:
    """The codes and texts of variables. The first line that is for a row's value counts.

    Parameters
    ----------
    lines : tuple of CodeLine
        The lines.
    is_default : bool, default=False
        Whether the names of the variables serve as codes, because there is no code book.

    Examples
    --------
    >>> book = CodeBook.read({"income": ("R1", "Income too low"), "debt": ("R2", "Too much debt: {value}")})
    >>> book.find("debt", 7.5, None).write("7.5", "")
    'Too much debt: 7.5'
    """

    lines: tuple[CodeLine, ...]
    is_default: bool = False

    def __post_init__(self) -> None:
        """Refuse lines that contradict each other."""
        object.__setattr__(self, "lines", tuple(self.lines))
        seen: dict[Any, CodeLine] = {}
        text_of: dict[str, str] = {}
        for line in self.lines:
            if line.key in seen:
                about = "" if line.condition is None else f" with the condition {line.condition}"
                about += "" if line.direction is None else f" with the direction {line.direction!r}"
                raise ValueError(
                    f"The code book has two lines for {line.variable!r}{about}: "
                    f"codes {seen[line.key].code!r} and {line.code!r}. Keep one."
                )
            seen[line.key] = line
            if text_of.setdefault(line.code, line.text) != line.text:
                raise ValueError(
                    f"Code {line.code!r} has two texts, {text_of[line.code]!r} and {line.text!r}: give it one."
                )

    @classmethod
    def read(cls, source: Any) -> CodeBook:
        """Read a code book.

        Parameters
        ----------
        source : path, mapping, iterable of mapping, or CodeBook
            A CSV file with the columns variable, code and text, and perhaps condition, direction and fixed (yes or no);
            a JSON file with a list of such objects, or with one object for each variable; or the same as a dictionary
            or a list. In a dictionary a variable has a text, a pair (code, text), or an object or list of objects with
            code, text, condition, direction and fixed. Conditions are written as ``< 20000``, ``20000..30000``,
            ``= rent``, ``in {rent, free}``, ``is missing``.

        Returns
        -------
        CodeBook
            The code book.

        Examples
        --------
        >>> lines = [
        ...     {"variable": "income", "direction": "low", "code": "R1", "text": "Income not above {bound}"},
        ...     {"variable": "income", "code": "R2", "text": "Income"},
        ... ]
        >>> CodeBook.read(lines).variables
        ('income',)
        """
        if isinstance(source, CodeBook):
            return source
        from suffice._io.code_book_file import read_code_book

        if not isinstance(source, str | os.PathLike | Mapping | Iterable):
            raise TypeError(f"A code book is a file, a dictionary or a list of lines, got {type(source).__name__}.")
        return cls(read_code_book(source))

    @classmethod
    def of_names(cls, names: Iterable[str]) -> CodeBook:
        """Make the code book in which the names of variables are the codes.

        Parameters
        ----------
        names : iterable of str
            The variables.

        Returns
        -------
        CodeBook
            A line for each variable: its name and its value.
        """
        lines = (CodeLine(name, name, f"{name.replace('{', '{{').replace('}', '}}')}: {{value}}") for name in names)
        return cls(tuple(lines), is_default=True)

    @cached_property
    def _by_variable(self) -> dict[str, list[CodeLine]]:
        by_variable: dict[str, list[CodeLine]] = {}
        for line in self.lines:
            by_variable.setdefault(line.variable, []).append(line)
        return by_variable

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables that have a line."""
        return tuple(self._by_variable)

    @property
    def fixed(self) -> tuple[str, ...]:
        """The variables that people cannot change: ``explainer.fit(X, y, fixed=book.fixed)``."""
        return tuple(dict.fromkeys(line.variable for line in self.lines if line.fixed))

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the lines, whatever file they came from."""
        content = [line.to_dict() for line in self.lines]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    def find(self, variable: str, value: Any, direction: Direction | None) -> CodeLine | None:
        """Find the first line that is for a row's value.

        Parameters
        ----------
        variable : str
            The variable.
        value : object
            The row's value: a number, a label, or None if it is missing.
        direction : {"low", "high"} or None
            On which side the value is; None if that is not known, as for labels.

        Returns
        -------
        CodeLine or None
            The line; None if no line is for it.
        """
        for line in self._by_variable.get(variable, ()):
            if line.direction is not None and line.direction != direction:
                continue
            if line.condition is None or satisfies(line.condition, value):
                return line
        return None

    def needs_direction(self, variable: str) -> bool:
        """Check whether the code of a variable depends on its direction.

        Parameters
        ----------
        variable : str
            The variable.

        Returns
        -------
        bool
            Whether one of its lines has a direction.
        """
        return any(line.direction is not None for line in self._by_variable.get(variable, ()))

    def check(self, columns_of: Mapping[str, Sequence[Any]], needed: Iterable[str]) -> None:
        """Refuse a code book that does not suit an explainer.

        Parameters
        ----------
        columns_of : mapping of str to sequence of Column
            The columns of each variable of the table.
        needed : iterable of str
            The variables that may come out, and therefore need a code.
        """
        unknown = [name for name in self.variables if name not in columns_of]
        if unknown:
            near = did_you_mean(unknown[0], columns_of)
            more = f" and {len(unknown) - MAX_NAMED:,} more" if len(unknown) > MAX_NAMED else ""
            names = unknown[:MAX_NAMED]
            raise ValueError(f"The code book names variables that the explainer does not have: {names}{more}.{near}")
        for line in self.lines:
            columns = columns_of[line.variable]
            is_plain = len(columns) == 1 and columns[0].part is None
            if not is_plain and (line.condition is not None or line.direction is not None):
                raise ValueError(
                    f"The code book has a condition or a direction for {line.variable!r}, which stands for several "
                    f"columns: {join([column.name for column in columns])}. Leave them empty."
                )
            if line.direction is not None and columns[0].kind == "category":
                raise ValueError(
                    f"The code book has a direction for {line.variable!r}, which holds labels, not numbers."
                )
            if line.condition is not None:
                _check_kind(line.condition, columns[0])
        missing = sorted(name for name in needed if name not in self._by_variable)
        if missing:
            raise ValueError(
                f"{len(missing)} variable{'s' if len(missing) > 1 else ''} may come out as a reason and "
                f"{'have' if len(missing) > 1 else 'has'} no code: {missing}. Add lines to the code book."
            )


def _check_kind(condition: Condition, column: Any) -> None:
    """Refuse a condition on labels for numbers, and on numbers for labels."""
    is_category = column.kind == "category"
    if condition.labels and not is_category:
        raise ValueError(f"The code book asks for labels of {column.name!r} ({condition}), which holds numbers.")
    has_ends = condition.low > -math.inf or condition.high < math.inf
    if has_ends and is_category:
        raise ValueError(f"The code book asks for numbers of {column.name!r} ({condition}), which holds labels.")
    if condition.labels:
        known = {label for labels in column.labels for label in labels}
        unknown = [label for label in condition.labels if label not in known]
        if unknown:
            raise ValueError(
                f"The code book asks for {unknown[0]!r} of {column.name!r}, which has no such label."
                f"{did_you_mean(unknown[0], map(str, known))}"
            )


def satisfies(condition: Condition, value: Any) -> bool:
    """Check whether one value satisfies a condition: `Condition.covers`, without making a table."""
    if value is None:
        return condition.missing
    if not condition.values:
        return False
    if condition.labels is not None:
        return (value in condition.labels) != condition.excluded
    if condition.low == -math.inf and condition.high == math.inf:
        return True
    is_above = value >= condition.low if condition.low_closed else value > condition.low or condition.low == -math.inf
    return bool(is_above and (value <= condition.high if condition.high_closed else value < condition.high))


def direction_of(condition: Condition | None, value: Any, median: float) -> Direction | None:
    """Tell whether a number keeps the outcome because it is low or because it is high."""
    if value is None:
        return None
    has_low = condition is not None and condition.low > -math.inf
    has_high = condition is not None and condition.high < math.inf
    if has_low != has_high:
        return "low" if has_high else "high"
    return "low" if value <= median else "high"


def bound_text(condition: Condition | None, direction: Direction | None = None) -> str:
    """Write what a rule asks of a column."""
    if condition is None:
        return ANY_VALUE
    if not condition.values:
        return "missing"
    if condition.shown.labels or direction is None:  # one end of "above 18.5" stays 18.5
        condition = condition.shown
    low, high = condition.low > -math.inf, condition.high < math.inf
    if direction == "low" and high:
        return format_exactly(condition.high)
    if direction == "high" and low:
        return format_exactly(condition.low)
    if condition.labels:
        shown = [format_category(label) for label in condition.labels[:N_LISTED]]
        n_more = len(condition.labels) - len(shown)
        text = f"{', '.join(shown)} or {n_more} more" if n_more else join(shown, "or")
        text = f"not {text}" if condition.excluded else text
    elif low and high and condition.low == condition.high:
        text = format_exactly(condition.low)
    else:
        ends = [f"{'at least' if condition.low_closed else 'above'} {format_exactly(condition.low)}"] if low else []
        ends += [f"{'at most' if condition.high_closed else 'below'} {format_exactly(condition.high)}"] if high else []
        text = " and ".join(ends) or "known"
    return f"{text} or missing" if condition.missing else text
