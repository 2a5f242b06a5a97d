"""The certain reasons of rows, in the user's values."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from suffice._forest.fitted import Fitted
from suffice._table.condition import Condition
from suffice._text import join
from suffice.errors import check_word, did_you_mean
from suffice.explaining.search import ExplainOptions
from suffice.proofs.domain import ROUNDED, Box, Domain, check_names, read_range, round_within
from suffice.proofs.ensemble import Ensemble
from suffice.proofs.model_trees import ModelTrees, check_options, read_trees_of
from suffice.proofs.reasons import UNIT, AxisSet, ReasonSearch
from suffice.proofs.values import CertainReason, CertainReasons, NearestOther


@dataclass(frozen=True)
class Wishes:
    """What is asked about each row."""

    excluded: Sequence[str] = ()
    preferred: Sequence[str] = ()
    interval: Any = None
    nearest: bool = True
    smallest: bool = True
    max_seconds: float = 5.0  # for the set of a row, and again for the nearest other decision


OPTIONS = (*(field.name for field in fields(Wishes)), "domain", "constraints", "max_nodes")


def explain_over_model(
    state: Fitted, over: str, X: Any, searched: ExplainOptions, *, pi: float = 1, model: Any = None, **options: Any
) -> CertainReasons:
    """Answer `explain` over all points of a model, and refuse what only rows of the data have."""
    check_word("over", over, ("data", "model"))
    if pi != 1:
        raise ValueError(
            f'With `over="model"`, `pi` must be 1, got {pi!r}: what a model decides at every point is proven or not. '
            "For a probability, leave `over` out."
        )
    options["progress"] = options.get("progress") or None  # no bar is what certain reasons do
    of_data = {field.name for field in fields(searched) if getattr(searched, field.name) != field.default}
    of_data |= {name for name in ("y", "ids", "progress") if options.pop(name, None) is not None}
    if of_data:
        raise ValueError(
            f'With `over="model"`, {join([f"`{name}`" for name in sorted(of_data)])} cannot be set: the decisions of '
            "the model itself are explained, and there are no rules of rows. `certain_reasons` says what can be set."
        )
    return find_certain_reasons(state, X, model, **options)


def find_certain_reasons(state: Fitted, X: Any, model: Any, table: Any = None, **options: Any) -> CertainReasons:
    """Find a certain reason of each row, and the nearest other decision."""
    check_options("Certain reasons", options, OPTIONS)
    wishes = Wishes(**{field.name: options.pop(field.name) for field in fields(Wishes) if field.name in options})
    for name in ("nearest", "smallest"):
        check_word(name, getattr(wishes, name), (True, False))
    model_trees = read_trees_of(state, model, table, also=X, max_seconds=wishes.max_seconds, **options)
    domain, ensemble, prover = model_trees.domain, model_trees.domain.ensemble, model_trees.prover
    rows = ensemble.encode(X)
    declared = [state.variables.names[v] for v in state.variables.read("fixed", state.declared.fixed)]
    named = {"excluded": wishes.excluded, "preferred": wishes.preferred, "fixed": declared}
    excluded, preferred, fixed = (_axes(domain, argument, names) for argument, names in named.items())
    domain.check_rows(rows)
    prover.trees  # noqa: B018 (made once, before there are threads)
    outcomes = ensemble.decide(rows).tolist()
    decisions = [_decision(ensemble, outcome, wishes.interval) for outcome in outcomes]

    def find(i: int) -> CertainReason:
        search = ReasonSearch(prover, rows[i], decisions[i], excluded=excluded, max_seconds=wishes.max_seconds)
        known = search.find(preferred, smallest=wishes.smallest)._asdict()
        axes = known.pop("axes")
        return CertainReason(
            i,
            outcomes[i],
            None if axes is None else tuple(domain.axes[a].name for a in sorted(axes)),
            () if axes is None else _conditions(search, search.grow(axes), axes),
            **known,
            nearest=_nearest(model_trees, search, fixed) if wishes.nearest else None,
            model=ensemble.name,
            interval=decisions[i] if ensemble.classes is None else None,
        )

    with ThreadPoolExecutor(state.settings.n_threads) as pool:
        return CertainReasons(pool.map(find, range(len(rows))))


def _axes(domain: Domain, argument: str, names: Sequence[str]) -> AxisSet:
    known = [axis.name for axis in domain.axes]
    for name in check_names(argument, names):
        if name not in known:
            raise ValueError(f"In `{argument}`: unknown variable {name!r}.{did_you_mean(name, known)}")
    return frozenset(known.index(name) for name in names)


def _decision(model: Ensemble, outcome: Any, interval: Any) -> Any:
    """Return what is to be kept: the position of a class, or an interval of numbers."""
    if (interval is None) == (model.classes is None):
        raise ValueError(
            "A model of numbers needs an `interval`: (low, high) that is to hold its prediction."
            if interval is None
            else f"`interval` is for numbers; {model.name} decides classes."
        )
    if model.classes is not None:
        return model.classes.tolist().index(outcome)
    low, high = read_range("interval", interval(outcome) if callable(interval) else interval)
    if not low <= outcome <= high:
        raise ValueError(f"The prediction {outcome:g} of a row is not in the `interval` {(low, high)}.")
    return low, high


def _nearest(model_trees: ModelTrees, search: ReasonSearch, fixed: AxisSet) -> NearestOther | None:
    found = search.nearest_other(fixed)
    if found is None or np.array_equal(found[0], search.values, equal_nan=True):
        return None
    values, least, is_exact = found
    domain, own = model_trees.domain, search.values
    values = domain.shorten(search.box(fixed), values, 1 / UNIT)
    gaps = domain.gaps(own, values[None])[0]
    changes = {
        domain.ensemble.columns[c].name: (domain.value_of(c, own[c]), domain.value_of(c, values[c]))
        for c in np.flatnonzero(gaps).tolist()
    }
    n_changed = len({domain.axis_of[c] for c in np.flatnonzero(gaps).tolist()})
    return NearestOther(changes, model_trees.decide(values), n_changed, float(gaps.sum()), is_exact, least)


def _conditions(search: ReasonSearch, box: Box, axes: AxisSet) -> tuple[Condition, ...]:
    """Write the box of a reason as conditions."""
    conditions = []
    for i in sorted(axes):
        for c in search.domain.axes[i].columns:
            column, first = search.domain.ensemble.columns[c], search.domain.whole.first[c]
            missing = bool(np.isnan(first[box.allowed[i]]).any())
            known = np.flatnonzero(box.allowed[i] & ~np.isnan(first))
            if not len(known):
                conditions.append(Condition(column.name, missing=True, values=False))
            elif column.labels is not None:
                labels = tuple(column.labels[int(code)] for code in first[known])
                conditions.append(Condition(column.name, labels=tuple(dict.fromkeys(labels)), missing=missing))
            else:
                condition = Condition(column.name, *_ends(search, c, known), True, True, missing)
                conditions += [] if condition.is_trivial else [condition]
    return tuple(conditions)


def _ends(search: ReasonSearch, c: int, known: Any) -> tuple[float, float]:
    """Return the ends of pieces of numbers, rounded inwards; none at an end of the domain."""
    first, last = search.domain.whole.first[c], search.domain.whole.last[c]
    own, slack = search.values[c], ROUNDED * search.domain.spread[c]
    low, high = first[known].min(), last[known].max()
    if np.isnan(own) or not low <= own <= high:
        return float(low), float(high)
    return (
        -np.inf if low <= np.nanmin(first) else round_within(low, min(own, low + slack)),
        np.inf if high >= np.nanmax(last) else round_within(high, max(own, high - slack)),
    )
