"""Changes of rows and regions: the search in the core, with boxes and the nearest points in the user's own values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from suffice import _core
from suffice._engine.calibration import Calibration, calibration_of, uses_votes
from suffice._engine.change_limits import Limits
from suffice._engine.fitted import Fitted
from suffice._engine.targets import Target, wanted_flags
from suffice._table.checks import check_number, check_word
from suffice._table.variables import VariableSet

CHECKS = ("everywhere", "mean")
MIN_PLAUSIBILITY = 0.02
MAX_SIZE = 3
# With less, the probability at least changes falls short of the level where laws are known (docs/what-if.md).
MARGIN = 0.1
MAX_NODES = 10_000


@dataclass(frozen=True)
class ChangeOptions:
    """What is searched.

    Parameters
    ----------
    check : {"everywhere", "mean"}
        Whether the forest must give the target at every point of a box, or the rows in it on average.
    n : int
        How many changes of each row are returned.
    max_size : int
        How many variables may change at most.
    min_plausibility : float
        How probable the values of a change must be at least, given what does not change.
    sets : {"minimal", "all"}
        Whether the search stops at the smallest number of variables that has a change.
    max_nodes : int
        How many boxes the search for one of them may look at.
    margin : float
        How far inside its box the least change lies, as a share of the training rows.
    min_size : int
        How many variables may change at least. Sets with a change among their parts are searched if these are smaller.
    """

    check: Literal["everywhere", "mean"] = "everywhere"
    n: int = 3
    max_size: int = MAX_SIZE
    min_plausibility: float = MIN_PLAUSIBILITY
    sets: Literal["minimal", "all"] = "minimal"
    max_nodes: int = MAX_NODES
    margin: float = MARGIN
    min_size: int = 1

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        check_word("check", self.check, CHECKS)
        check_word("sets", self.sets, ("minimal", "all"))
        for name in ("n", "max_size", "max_nodes", "min_size"):
            check_number(name, getattr(self, name), "a whole number >= 1", lambda v: v >= 1, int)
        if self.min_size > self.max_size:
            raise ValueError(f"`min_size` must be at most `max_size`, got {self.min_size} and {self.max_size}.")
        check_number("min_plausibility", self.min_plausibility, "in [0, 1)", lambda v: 0 <= v < 1)
        check_number("margin", self.margin, "in [0, 0.5]", lambda v: 0 <= v <= 0.5)


@dataclass(frozen=True, eq=False)
class FoundChange:
    """A box as the core found it.

    Parameters
    ----------
    variables : tuple of int
        The variables that change.
    low, high : ndarray of shape (n_columns,), float32
        The values of the box, low < value <= high; infinite in columns that do not change.
    has_values, missing : ndarray of shape (n_columns,), bool
        Whether values, and whether missing values, lie in the box.
    cdp : float
        The probability of the target given what does not change.
    plausibility : float
        The probability of the box given what does not change.
    bound : float
        No box over these variables has a larger plausibility.
    mean : float
        The probability of the target in the box, given what does not change.
    probability : float
        A miss: what the forest gives for the target at its point.
    rows : ndarray of int
        The training rows in the box that are like the row in what does not change.
    weights : ndarray of float
        Their weights.
    """

    variables: VariableSet
    low: NDArray[np.float32]
    high: NDArray[np.float32]
    has_values: NDArray[np.bool_]
    missing: NDArray[np.bool_]
    cdp: float
    plausibility: float
    bound: float
    mean: float
    probability: float
    rows: NDArray[np.int64]
    weights: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FoundChanges:
    """What was found for one row or region.

    Parameters
    ----------
    changes : tuple of FoundChange
        The changes, best first.
    miss : FoundChange or None
        If there are none, what comes nearest.
    is_too_rare : bool
        Whether the miss reaches the level, but is not plausible enough.
    is_complete : bool
        Whether all sets were searched.
    """

    changes: tuple[FoundChange, ...]
    miss: FoundChange | None
    is_too_rare: bool
    is_complete: bool


def find_changes(
    state: Fitted,
    regions: dict[str, NDArray[Any]],
    reach: dict[str, NDArray[Any]],
    targets: Sequence[Target],
    levels: NDArray[np.float64],
    limits: Limits,
    options: ChangeOptions,
    progress: Callable[[int], object] | None = None,
) -> list[FoundChanges]:
    """Find what would change the outcomes of rows or regions.

    Parameters
    ----------
    state : Fitted
        The fitted state.
    regions : dict of str to ndarray
        The boxes that hold the rows.
    reach : dict of str to ndarray
        The boxes that they may move to.
    targets : sequence of Target
        The wanted outcomes of each.
    levels : ndarray of shape (n_rows,)
        The probability that must be reached.
    limits : Limits
        Which variables and which categories may change.
    options : ChangeOptions
        What is searched.
    progress : callable or None
        Called with the number of rows done, several times a second.

    Returns
    -------
    list of FoundChanges
        One entry for each.
    """
    flags, number = wanted_flags(targets, state.forest.y_values, state.classes)
    sets = [(v,) for v in limits.changeable]
    out: list[FoundChanges | None] = [None] * len(targets)
    n_done = 0
    everywhere = options.check == "everywhere"
    votes, least = everywhere and uses_votes(state), 0.0 if state.classes is None else 0.5
    curves = [calibration_of(state, target) if everywhere else Calibration() for target in targets]
    needed = np.array([curve.vote_for(level, least) for curve, level in zip(curves, levels.tolist(), strict=True)])
    space = _core.ChangeSpace(
        forest=state.forest.core,
        variable_of=state.variables.number_columns(sets),
        n_variables=len(sets),
        allowed=[(column, [float(code) for code in codes]) for column, codes in limits.labels.items()],
        n_candidates=state.settings.n_candidates,
        min_node_size=state.min_node_size,
    )
    for level in np.unique(needed):
        rows = np.flatnonzero(needed == level)
        arrays = _core.find_changes(
            space=space,
            regions=_boxes(regions, rows),
            limits=_boxes(reach, rows),
            wanted=flags,
            target=number[rows],
            options=_core.ChangeOptions(
                pi=float(level),
                min_plausibility=options.min_plausibility,
                check="votes" if votes else options.check,
                minimal_only=options.sets == "minimal",
                min_size=options.min_size,
                max_size=min(options.max_size, len(sets)),
                n_changes=options.n,
                max_sets=state.settings.max_sets or 2**62,
                max_nodes=options.max_nodes,
            ),
            n_threads=state.settings.n_threads,
            progress=None if progress is None else _after(progress, n_done),
        )
        n_done += len(rows)
        for row, found in zip(rows.tolist(), _read(arrays, len(rows), limits.changeable), strict=True):
            miss = found.miss
            if miss is not None:
                miss = replace(miss, probability=float(curves[row].probability(np.array(miss.probability))))
            out[row] = replace(found, miss=miss)
    return [found for found in out if found is not None]


def _after(progress: Callable[[int], object], n_before: int) -> Callable[[int], object]:
    return lambda n_done: progress(n_before + n_done)


def _boxes(arrays: dict[str, NDArray[Any]], rows: NDArray[np.intp]) -> _core.ValueBoxes:
    return _core.ValueBoxes(**{name: np.ascontiguousarray(values[rows]) for name, values in arrays.items()})


def _read(arrays: dict[str, Any], n_rows: int, changeable: VariableSet) -> list[FoundChanges]:
    changes: list[list[FoundChange]] = [[] for _ in range(n_rows)]
    for i, row in enumerate(arrays["changes"]["row"].tolist()):
        changes[row].append(_one(arrays["changes"], i, changeable))
    misses: list[FoundChange | None] = [None] * n_rows
    is_too_rare = [False] * n_rows
    for i, row in enumerate(arrays["misses"]["row"].tolist()):
        misses[row] = _one(arrays["misses"], i, changeable)
        is_too_rare[row] = bool(arrays["is_too_rare"][i])
    return [
        FoundChanges(tuple(changes[row]), misses[row], is_too_rare[row], bool(arrays["is_complete"][row]))
        for row in range(n_rows)
    ]


def _one(arrays: dict[str, NDArray[Any]], i: int, changeable: VariableSet) -> FoundChange:
    mask = int(arrays["set"][i])
    begin, end = arrays["begin"][i : i + 2].tolist()
    fields: dict[str, Any] = {name: arrays[name][i] for name in ("low", "high", "has_values", "missing")}
    for name in ("cdp", "plausibility", "bound", "mean", "probability"):
        fields[name] = float(arrays[name][i])
    return FoundChange(
        variables=tuple(v for bit, v in enumerate(changeable) if mask >> bit & 1),
        rows=arrays["rows"][begin:end],
        weights=arrays["weights"][begin:end],
        **fields,
    )
