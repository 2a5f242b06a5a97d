"""Variables: what the user calls a variable, which the forest may see as several columns.

A variable is one column, or a declared group of columns. This module turns names and indices into variables and
lists of them into sets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from suffice.errors import did_you_mean

if TYPE_CHECKING:
    from suffice._table.encoding import Encoding

VariableSet: TypeAlias = tuple[int, ...]
"""Positions in ``Variables.names``, ascending and distinct."""


@dataclass(frozen=True)
class Variables:
    """The variables of a table."""

    names: tuple[str, ...]
    columns: tuple[tuple[int, ...], ...]
    column_names: tuple[str, ...]

    @classmethod
    def from_columns(
        cls, column_names: Sequence[str], groups: Mapping[str, Sequence[str | int]] | None = None
    ) -> Variables:
        """Make one variable from each group and from each column outside the groups."""
        columns_by_name = _check_groups(column_names, groups or {})
        grouped = {column for columns in columns_by_name.values() for column in columns}
        for column, name in enumerate(column_names):
            if column in grouped:
                continue
            if name in columns_by_name:
                if name in (groups or {}):
                    raise ValueError(f"The group {name!r} has the name of a column outside it; name it otherwise.")
                raise ValueError(f"`X` has two columns named {name!r}; rename one.")
            columns_by_name[name] = (column,)
        names = sorted(columns_by_name, key=lambda name: columns_by_name[name])
        return cls(tuple(names), tuple(columns_by_name[name] for name in names), tuple(column_names))

    @classmethod
    def of_encoding(cls, encoding: Encoding, groups: Mapping[str, Sequence[str | int]] | None) -> Variables:
        """Make the variables of a table, with their columns in its matrix; the parts of a date are one variable."""
        columns_of: dict[int, tuple[int, ...]] = {}
        for c, column in enumerate(encoding.columns):
            columns_of[column.source] = (*columns_of.get(column.source, ()), c)
        of_table = cls.from_columns(encoding.names, groups)
        names, columns = [], []
        for name, sources in zip(of_table.names, of_table.columns, strict=True):
            in_matrix = tuple(c for source in sources for c in columns_of.get(source, ()))
            if in_matrix:  # a date whose parts are all the same leaves no columns
                names.append(name)
                columns.append(in_matrix)
        return cls(tuple(names), tuple(columns), tuple(column.name for column in encoding.columns))

    def __len__(self) -> int:
        """Return the number of variables."""
        return len(self.names)

    def position(self, variable: object) -> int:
        """Return the position of a variable."""
        if isinstance(variable, str):
            if variable in self.names:
                return self.names.index(variable)
            for name, columns in zip(self.names, self.columns, strict=True):
                if variable in [self.column_names[c] for c in columns]:
                    raise ValueError(f"Column {variable!r} belongs to the variable {name!r}: name that instead.")
            raise ValueError(f"Unknown variable {variable!r}.{did_you_mean(variable, self.names)}")
        if isinstance(variable, int | np.integer) and not isinstance(variable, bool):
            if not 0 <= variable < len(self):
                raise ValueError(f"Unknown variable {int(variable)}: there are {len(self)}, numbered from 0.")
            return int(variable)
        raise TypeError(f"A variable is given by its name or its number, got {variable!r}.")

    def subset(self, variables: object) -> VariableSet:
        """Return the positions of some variables."""
        if not _is_collection(variables):
            raise TypeError(f"A set of variables is a list of names or numbers, got {variables!r}.")
        return tuple(sorted({self.position(variable) for variable in variables}))  # type: ignore[attr-defined]

    def read(self, name: str, chosen: Any) -> VariableSet:
        """Read a list of variables; the argument is named in messages."""
        if isinstance(chosen, str) or not isinstance(chosen, Iterable):
            hint = f": write [{chosen!r}]" if isinstance(chosen, str) else ""
            raise TypeError(f"`{name}` must be a list of variables, got {chosen!r}{hint}.")
        try:
            return self.subset(list(chosen))
        except ValueError as error:
            raise ValueError(f"In `{name}`: {error}") from None

    def subsets(self, S: Any, n_rows: int) -> list[VariableSet]:
        """Return the set of each row: one list of variables for all rows, or one list per row."""
        if not _is_collection(S):
            raise TypeError(f"`S` must be a list of variables, or one such list per row, got {S!r}.")
        are_sets = [_is_collection(item) for item in S]
        if not any(are_sets):
            return [self.subset(S)] * n_rows
        if not all(are_sets) or isinstance(S, AbstractSet):
            raise TypeError("`S` mixes variables and lists of variables: give one list, or one list per row.")
        if len(S) != n_rows:
            raise ValueError(f"`S` has {len(S)} sets for the {n_rows} rows of `X`: give one per row, or one list.")
        return [self.subset(item) for item in S]

    def number_columns(self, sets: Sequence[VariableSet]) -> NDArray[np.int32]:
        """Return for each column the number of the set that holds its variable."""
        numbers = np.full(len(self.column_names), -1, dtype=np.int32)
        for number, variables in enumerate(sets):
            for variable in variables:
                numbers[list(self.columns[variable])] = number
        return numbers


def _is_collection(value: object) -> bool:
    return isinstance(value, Sequence | AbstractSet | np.ndarray) and not isinstance(value, str | bytes)


def _check_groups(column_names: Sequence[str], groups: Mapping[str, Sequence[str | int]]) -> dict[str, tuple[int, ...]]:
    if not isinstance(groups, Mapping):
        raise TypeError(f"`groups` must be a dict of names to lists of columns, got {groups!r}.")
    singles = Variables(tuple(column_names), tuple((i,) for i in range(len(column_names))), tuple(column_names))
    group_of: dict[int, str] = {}
    checked: dict[str, tuple[int, ...]] = {}
    for name, columns in groups.items():
        if not isinstance(name, str):
            raise TypeError(f"The name of a group must be a string, got {name!r}.")
        try:
            checked[name] = singles.subset(columns)
        except (TypeError, ValueError) as error:
            raise type(error)(f"In the group {name!r}: {error}") from None
        if not checked[name]:
            raise ValueError(f"The group {name!r} has no columns.")
        for column in checked[name]:
            if column in group_of:
                raise ValueError(
                    f"Column {column_names[column]!r} is in two groups, {group_of[column]!r} and {name!r}: keep one."
                )
            group_of[column] = name
    return checked
