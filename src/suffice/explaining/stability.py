"""Whether the best set of a row returns when the forest is grown again: counts, and their words.

The forests are grown by ``checks.refits``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice._table.frames import make_frame
from suffice._text import counted, format_percent, join, printed

# A variable belongs to the core of a row if it is in the best sets of at least this share of the forests.
CORE_SHARE = 0.8


Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Recurrence:
    """How often the explanations of some rows return in refits of one kind.

    If a row has a sufficient set in the fitted forest and none in a refit, or the other way round, its best set does
    not return in that refit, and neither do its variables: the set nearest to `pi` is often a large one that holds them
    by chance.
    """

    n_refits: int
    n_same_set: Integers
    n_sufficient: Integers
    n_holding: Integers


@dataclass(frozen=True)
class RowStability:
    """Whether the best set of one row returns when the forest is grown again.

    Parameters
    ----------
    best_set : tuple of str
        The best set of the row, in the order of the table.
    is_sufficient : bool
        Whether the row has a sufficient set.
    n_seeds, n_resamples : int
        How many forests were grown with other seeds on all training rows, and how many on half of them.
    same_set : tuple of int
        In how many forests of both kinds the row has the same best set, and again a sufficient one or none.
    sufficient : tuple of int
        In how many forests of both kinds the row has a sufficient set.
    shares : tuple of (str, float)
        For each variable the share of forests in which it is in the best set, the most frequent first; a forest in
        which the row loses or gains a sufficient set does not count for any. The forests are those of resampled rows
        or, if there are none, of other seeds.
    """

    best_set: tuple[str, ...]
    is_sufficient: bool
    n_seeds: int
    n_resamples: int
    same_set: tuple[int, int]
    sufficient: tuple[int, int]
    shares: tuple[tuple[str, float], ...]

    @property
    def core(self) -> tuple[str, ...]:
        """The variables that recur in at least 80 % of the forests, the most frequent first."""
        return tuple(name for name, share in self.shares if share >= CORE_SHARE)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain Python values, ready for JSON.

        Returns
        -------
        dict
            The counts, the shares of the variables, and the core.
        """
        return {
            "n_seeds": self.n_seeds,
            "n_resamples": self.n_resamples,
            "same_set": {"seeds": self.same_set[0], "resamples": self.same_set[1]},
            "sufficient": {"seeds": self.sufficient[0], "resamples": self.sufficient[1]},
            "shares": dict(self.shares),
            "core": list(self.core),
        }

    @printed
    def __str__(self) -> str:
        """Return one or two sentences."""
        sentence = f"The same best set in {self._both(self.same_set)}"
        if self.best_set and self.same_set != (self.n_seeds, self.n_resamples):
            share_of = dict.fromkeys(self.best_set, 0.0) | dict(self.shares)
            first, *others = sorted(self.best_set, key=lambda name: -share_of[name])
            percent = {name: f"{format_percent(share_of[name])} %" for name in self.best_set}
            recurring = [f"{first} recurs in {percent[first]}", *(f"{name} in {percent[name]}" for name in others)]
            sentence += f"; {join(recurring)} of the {'tables' if self.n_resamples else 'forests'}"
        return f"{sentence}. Some set is sufficient in {self._both(self.sufficient)}."

    def _both(self, counts: tuple[int, int]) -> str:
        pairs = zip(counts, (self.n_seeds, self.n_resamples), strict=True)
        return _both_kinds([f"{n} of {n_refits}" if n_refits else "" for n, n_refits in pairs])


def _both_kinds(texts: Sequence[str]) -> str:
    kinds = zip(texts, ("other forests", "resampled tables"), strict=True)
    return " and in ".join(f"{text} {kind}" for text, kind in kinds if text)


@dataclass(frozen=True, eq=False)
class SetStability:
    """Whether the best sets of rows return when the forest is grown again. Made by ``SufficientExplainer.stability``.

    Parameters
    ----------
    candidates : tuple of str
        The variables that were searched, the same ones in all forests.
    best_sets : tuple of tuple of str
        The best set of each row.
    is_sufficient : ndarray of shape (n_rows,), bool
        Whether each row has a sufficient set.
    seeds : Recurrence
        The counts in forests that were grown with other seeds on all training rows.
    resamples : Recurrence
        The counts in forests that were grown on half of the training rows, drawn without repeating any.
    library : str or None
        The kind of the table, and of the frame that is made.
    """

    candidates: tuple[str, ...]
    best_sets: tuple[tuple[str, ...], ...]
    is_sufficient: NDArray[np.bool_]
    seeds: Recurrence
    resamples: Recurrence
    library: str | None = None

    @property
    def shares(self) -> NDArray[np.float64]:
        """The share of forests in which each candidate is in the best set, of shape (n_rows, n_candidates).

        The forests are those of the resampled tables or, if there are none, of the other seeds.
        """
        counts = self.resamples if self.resamples.n_refits else self.seeds
        return counts.n_holding / counts.n_refits

    @property
    def core(self) -> tuple[tuple[str, ...], ...]:
        """The core of each row: the variables that recur in at least 80 % of the forests, the most frequent first."""
        return tuple(row.core for row in map(self.__getitem__, range(len(self))))

    def take(self, rows: NDArray[np.intp]) -> SetStability:
        """Return the stability of some of the rows.

        Parameters
        ----------
        rows : ndarray of int
            Their places, from 0.

        Returns
        -------
        SetStability
            Their stability.
        """
        seeds, resamples = (
            Recurrence(of.n_refits, of.n_same_set[rows], of.n_sufficient[rows], of.n_holding[rows])
            for of in (self.seeds, self.resamples)
        )
        best_sets = tuple(self.best_sets[row] for row in rows)
        is_sufficient = self.is_sufficient[rows]
        return replace(self, best_sets=best_sets, is_sufficient=is_sufficient, seeds=seeds, resamples=resamples)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.best_sets)

    def __getitem__(self, row: int) -> RowStability:
        """Return the stability of one row."""
        shares = sorted(zip(self.candidates, self.shares[row].tolist(), strict=True), key=lambda pair: -pair[1])
        return RowStability(
            best_set=self.best_sets[row],
            is_sufficient=bool(self.is_sufficient[row]),
            n_seeds=self.seeds.n_refits,
            n_resamples=self.resamples.n_refits,
            same_set=(int(self.seeds.n_same_set[row]), int(self.resamples.n_same_set[row])),
            sufficient=(int(self.seeds.n_sufficient[row]), int(self.resamples.n_sufficient[row])),
            shares=tuple((name, share) for name, share in shares if share > 0),
        )

    def to_frame(self) -> Any:
        """Return one line for each row, as a frame of the kind of the table; for an array, as a pandas frame.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table
            The best set, the core, and for each kind of refits the shares with the same best set and with a
            sufficient set.
        """
        columns: dict[str, Any] = {"best_set": list(self.best_sets), "core": list(self.core)}
        for name, counts in (("seeds", self.seeds), ("resamples", self.resamples)):
            if counts.n_refits:
                columns[f"same_set_{name}"] = counts.n_same_set / counts.n_refits
                columns[f"sufficient_{name}"] = counts.n_sufficient / counts.n_refits
        return make_frame(columns, self.library)

    @printed
    def __str__(self) -> str:
        """Return the sentences of a row, or a summary of several."""
        if len(self) == 1:
            return str(self[0])
        shares = [
            f"{format_percent(float(counts.n_same_set.mean()) / counts.n_refits)} % of {counts.n_refits}"
            if counts.n_refits and len(self)
            else ""
            for counts in (self.seeds, self.resamples)
        ]
        if not any(shares):
            return "0 rows."
        n_core = sum(bool(core) for core in self.core)
        return (
            f"{counted(len(self), 'row')}. On average the same best set in {_both_kinds(shares)}. "
            f"{n_core} of them {'has' if n_core == 1 else 'have'} a core: variables that recur in at least "
            f"{format_percent(CORE_SHARE)} % of the forests."
        )

    __repr__ = __str__
