"""The search for changes: boxes that the core finds for rows and regions, with what supports them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from suffice import _core
from suffice._forest.out_of_bag import Calibration, calibration_of, uses_votes
from suffice._forest.outcomes import Target, wanted_flags
from suffice._forest.progress import after
from suffice.errors import check_number, check_word

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from suffice._forest.fitted import Fitted
    from suffice._table.variables import VariableSet
    from suffice.changes.limits import Boxes, Limits

# The probability of the target that a change of a row must reach; docs/evidence/what_if.md has figures.
LEVEL = 0.8
CHECKS = ("everywhere", "mean")
MIN_PLAUSIBILITY = 0.02
MAX_SIZE = 3
# With less, the probability at least changes falls short of the level where laws are known (docs/evidence/what_if.md).
MARGIN = 0.1
MAX_NODES = 10_000


@dataclass(frozen=True)
class ChangeOptions:
    """What is searched."""

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
    """A box as the core found it."""

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
    """What was found for one row or region."""

    changes: tuple[FoundChange, ...]
    miss: FoundChange | None
    is_too_rare: bool
    is_complete: bool


def columns_of(state: Fitted, variables: VariableSet) -> list[int]:
    """List the columns of some variables."""
    return [c for v in variables for c in state.variables.columns[v]]


def holds_at_rows(state: Fitted, target: Target, rows: NDArray[Any]) -> NDArray[np.bool_]:
    """Check which training rows have a wanted outcome."""
    outcomes = state.forest.y_values if state.classes is None else state.classes
    is_wanted: NDArray[np.bool_] = target.holds(outcomes)[state.forest.y_rank[rows]]
    return is_wanted


def at_level(state: Fitted, pi: float | None) -> Fitted:
    """Return the state with the probability that changes must reach, whatever the target."""
    return state if pi is None else state.with_settings(replace(state.settings, pi=pi))


@dataclass(frozen=True, eq=False)
class ChangeSearch:
    """What is searched: the wanted outcomes of some rows or regions, how likely they must be, and what may change."""

    state: Fitted
    targets: Sequence[Target]
    levels: NDArray[np.float64]
    limits: Limits
    options: ChangeOptions

    def take(self, rows: Sequence[int], **options: Any) -> ChangeSearch:
        """Return the search for some of the rows, with some other options."""
        chosen = replace(self.options, **options) if options else self.options
        return replace(self, targets=[self.targets[i] for i in rows], levels=self.levels[rows], options=chosen)


def find_changes(
    search: ChangeSearch, regions: Boxes, reach: Boxes, progress: Callable[[int], object] | None = None
) -> list[FoundChanges]:
    """Find what would change the outcomes of rows or regions, within reach of each."""
    state, targets, limits, options = search.state, search.targets, search.limits, search.options
    flags, number = wanted_flags(targets, state.forest.y_values, state.classes)
    sets = [(v,) for v in limits.changeable]
    out: dict[int, FoundChanges] = {}
    everywhere = options.check == "everywhere"
    least = 0.0 if state.classes is None else 0.5
    curve_of = {target: calibration_of(state, target) if everywhere else Calibration() for target in targets}
    goals = list(zip(targets, search.levels.tolist(), strict=True))
    vote_of = {(target, level): curve_of[target].vote_for(level, least) for target, level in dict.fromkeys(goals)}
    needed = np.array([vote_of[goal] for goal in goals])
    allowed = [limits.labels.get(column, ()) for column in range(len(state.encoding.columns))]
    n_done = 0
    for level in np.unique(needed):
        rows = np.flatnonzero(needed == level)
        answers = _core.find_changes(
            forest=state.forest.core,
            options=_core.ChangeOptions(
                variable_of=state.variables.number_columns(sets).tolist(),
                allowed=allowed,
                pi=float(level),
                min_plausibility=options.min_plausibility,
                everywhere=everywhere,
                votes=uses_votes(state),
                minimal_only=options.sets == "minimal",
                min_size=options.min_size,
                max_size=min(options.max_size, len(sets)),
                n_changes=options.n,
                max_sets=state.settings.max_sets or 2**62,
                max_nodes=options.max_nodes,
                n_candidates=state.settings.n_candidates,
                min_node_size=state.min_node_size,
            ),
            regions=_boxes(regions, rows),
            limits=_boxes(reach, rows),
            wanted=flags,
            target=number[rows],
            n_threads=state.settings.n_threads,
            progress=after(n_done, progress),
        )
        n_done += len(rows)
        for row, found in zip(rows.tolist(), _read(answers, limits.changeable), strict=True):
            out[row] = found
            if found.miss is not None:
                probability = curve_of[targets[row]].probability(np.array(found.miss.probability))
                out[row] = replace(found, miss=replace(found.miss, probability=float(probability)))
    return [out[row] for row in range(len(targets))]


def _boxes(boxes: Boxes, rows: NDArray[np.intp]) -> _core.ValueBoxes:
    return _core.ValueBoxes(**{name: np.ascontiguousarray(values[rows]) for name, values in boxes.items()})


def _read(answers: Sequence[tuple[Any, Any, bool, bool]], changeable: VariableSet) -> list[FoundChanges]:
    def found(mask: int, **fields: Any) -> FoundChange:
        return FoundChange(variables=tuple(v for bit, v in enumerate(changeable) if mask >> bit & 1), **fields)

    return [
        FoundChanges(tuple(found(**change) for change in changes), miss and found(**miss), is_too_rare, is_complete)
        for changes, miss, is_too_rare, is_complete in answers
    ]
