"""Variables: what a person names, as opposed to the columns that the forest sees.

A variable is one column, or a declared group of columns. This module turns names and indices into variables and
lists of them into sets; it knows nothing of forests.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from suffice.errors import did_you_mean

VariableSet: TypeAlias = tuple[int, ...]
"""Positions in ``Variables.names``, ascending and distinct."""


@dataclass(frozen=True)
class Variables:
    """The variables of a table.

    Parameters
    ----------
    names : tuple of str
        Their names; a group stands where its first column stood.
    columns : tuple of tuple of int
        The columns of each.
    column_names : tuple of str
        The names of all columns of the table.
    """

    names: tuple[str, ...]
    columns: tuple[tuple[int, ...], ...]
    column_names: tuple[str, ...]

    @classmethod
    def from_columns(
        cls, column_names: Sequence[str], groups: Mapping[str, Sequence[str | int]] | None = None
    ) -> Variables:
        """Make one variable of each group and of each column outside the groups.

        Parameters
        ----------
        column_names : sequence of str
            The columns of the table, in order.
        groups : mapping of str to sequence of str or int, optional
            Names of groups, and the names or positions of their columns.

        Returns
        -------
        Variables
            In the order of their first columns.

        Examples
        --------
        >>> Variables.from_columns(["hour", "rain", "snow"], {"weather": ["rain", "snow"]}).names
        ('hour', 'weather')
        """
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

    def __len__(self) -> int:
        """Return the number of variables."""
        return len(self.names)

    def position(self, variable: object) -> int:
        """Find a variable by its name or position.

        Parameters
        ----------
        variable : str or int
            A name, or a position in `names`.

        Returns
        -------
        int
            The position in `names`.
        """
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
        """Find a list of variables.

        Parameters
        ----------
        variables : collection of str or int
            Names or positions, in any order; one named twice counts once.

        Returns
        -------
        tuple of int
            Positions in `names`, ascending.
        """
        if not _is_collection(variables):
            raise TypeError(f"A set of variables is a list of names or numbers, got {variables!r}.")
        return tuple(sorted({self.position(variable) for variable in variables}))  # type: ignore[attr-defined]

    def subsets(self, S: Any, n_rows: int) -> list[VariableSet]:
        """Find the set of each row: one list of variables for all rows, or one list per row.

        Parameters
        ----------
        S : collection of variables, or sequence of such collections
            The set for all rows, or the sets of the rows.
        n_rows : int
            The number of rows.

        Returns
        -------
        list of tuple of int
            One set for each row.
        """
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
        """Give each column the number of the set that holds its variable.

        Parameters
        ----------
        sets : sequence of tuple of int
            Disjoint sets of variables.

        Returns
        -------
        ndarray of shape (n_columns,)
            For each column the position of its set, or -1 if none holds it.
        """
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
