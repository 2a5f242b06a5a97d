"""The certain reasons of rows, in the user's values."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice._table.condition import Condition
from suffice._text import to_plain
from suffice.errors import did_you_mean
from suffice.proofs.asking import AskedModel, read_asked_of
from suffice.proofs.domain import ROUNDED, Box, Domain, round_within
from suffice.proofs.ensemble import Floats
from suffice.proofs.reasons import UNIT, AxisSet, FoundReason, ReasonSearch
from suffice.proofs.values import CertainReason, CertainReasons, NearestOther

if TYPE_CHECKING:
    from suffice._forest.fitted import Fitted


@dataclass(frozen=True)
class Wishes:
    """What is asked about each row."""

    excluded: Sequence[str] = ()
    preferred: Sequence[str] = ()
    interval: Any = None
    sets: Sequence[Sequence[str]] | None = None
    nearest: bool = True
    max_seconds: float = 5.0  # for the set of a row, and again for the nearest other decision


def find_certain_reasons(state: Fitted, X: Any, model: Any, table: Any = None, **options: Any) -> CertainReasons:
    """Find a certain reason of each row, and the nearest other decision."""
    wishes = Wishes(**{field.name: options.pop(field.name) for field in fields(Wishes) if field.name in options})
    asked = read_asked_of(state, model, table, also=X, max_seconds=wishes.max_seconds, **options)
    rows, domain = asked.domain.ensemble.encode(X), asked.domain
    axes = {name: _axes(domain, name, getattr(wishes, name)) for name in ("excluded", "preferred")}
    fixed = [state.variables.names[v] for v in state.variables.read("fixed", state.declared.fixed)]
    axes["fixed"] = _axes(domain, "fixed", fixed)
    sets = [None] * len(rows) if wishes.sets is None else [_axes(domain, "sets", names) for names in wishes.sets]
    if len(sets) != len(rows):
        raise ValueError(f"`sets` has {len(sets)} sets for {len(rows)} rows.")
    domain.check_rows(rows)
    asked.prover.trees  # noqa: B018 (made once, before there are threads)

    def find(i: int) -> CertainReason:
        decision = _decision(asked, rows[i], wishes.interval)
        excluded = frozenset(axes["excluded"])
        search = ReasonSearch(asked.prover, rows[i], decision, excluded=excluded, max_seconds=wishes.max_seconds)
        own_set = sets[i]
        certain = None if own_set is None else search.is_certain(frozenset(own_set))
        found = search.find(axes["preferred"])
        nearest = _nearest(asked, search, frozenset(axes["fixed"])) if wishes.nearest else None
        return _reason(search, i, found, nearest=nearest, certain=certain)

    with ThreadPoolExecutor(state.settings.n_threads) as pool:
        return CertainReasons(tuple(pool.map(find, range(len(rows)))))


def _reason(
    search: ReasonSearch, row: int, found: FoundReason | None, *, nearest: NearestOther | None, certain: bool | None
) -> CertainReason:
    model, axes = search.domain.ensemble, search.domain.axes
    return CertainReason(
        row=row,
        outcome=to_plain(model.decide(search.values[None])[0]),
        variables=None if found is None else tuple(axes[a].name for a in sorted(found.axes)),
        conditions=() if found is None else _conditions(search, search.grow(found.axes), found.axes),
        is_minimal=found is not None and found.is_minimal,
        is_smallest=found is not None and found.is_smallest,
        least_size=0 if found is None else found.least_size,
        nearest=nearest,
        set_is_certain=certain,
        model=model.name,
        interval=search.decision if model.classes is None else None,
    )


def _axes(domain: Domain, argument: str, names: Sequence[str]) -> list[int]:
    known = [axis.name for axis in domain.axes]
    for name in names:
        if name not in known:
            raise ValueError(f"In `{argument}`: unknown variable {name!r}.{did_you_mean(name, known)}")
    return [known.index(name) for name in names]


def _decision(asked: AskedModel, values: Floats, interval: Any) -> Any:
    if asked.domain.ensemble.classes is not None:
        return asked.prover.decision(values)
    if interval is None:
        raise ValueError("A model of numbers needs an `interval`: (low, high) that is to hold its prediction.")
    predicted = float(asked.domain.ensemble.decide(values[None])[0])
    low, high = interval(predicted) if callable(interval) else interval
    if not low <= predicted <= high:
        raise ValueError(f"The prediction {predicted:g} of a row is not in the `interval` {(low, high)}.")
    return float(low), float(high)


def _nearest(asked: AskedModel, search: ReasonSearch, fixed: AxisSet) -> NearestOther | None:
    found = search.nearest_other(fixed)
    if found is None or np.array_equal(found[0], search.values, equal_nan=True):
        return None
    values, least, is_exact = found
    domain, own = asked.domain, search.values
    values = domain.shorten(search.box(fixed), values, 1 / UNIT)
    gaps = domain.gaps(own, values[None])[0]
    changes = {
        domain.ensemble.columns[c].name: (domain.value_of(c, own[c]), domain.value_of(c, values[c]))
        for c in np.flatnonzero(gaps).tolist()
    }
    n_changed = len({domain.axis_of[c] for c in np.flatnonzero(gaps).tolist()})
    return NearestOther(changes, asked.decide(values), n_changed, float(gaps.sum()), is_exact, least)


def _conditions(search: ReasonSearch, box: Box, axes: AxisSet) -> tuple[Condition, ...]:
    """Write the box of a reason as conditions."""
    conditions = []
    for i in sorted(axes):
        axis = search.domain.axes[i]
        for m, c in enumerate(axis.columns):
            column = search.domain.ensemble.columns[c]
            allowed = np.flatnonzero(box.allowed[i])
            missing = bool(np.isnan(axis.first[allowed, m]).any())
            known = allowed[~np.isnan(axis.first[allowed, m])]
            if not len(known):
                conditions.append(Condition(column.name, missing=True, values=False))
            elif column.labels is not None:
                labels = tuple(column.labels[int(code)] for code in axis.first[known, m])
                conditions.append(Condition(column.name, labels=tuple(dict.fromkeys(labels)), missing=missing))
            else:
                low, high = _ends(search, i, m, known)
                condition = Condition(column.name, low, high, True, True, missing)
                conditions += [] if condition.is_trivial else [condition]
    return tuple(conditions)


def _ends(search: ReasonSearch, i: int, m: int, known: Any) -> tuple[float, float]:
    """Return the ends of pieces of numbers, rounded inwards; none at an end of the domain."""
    axis = search.domain.axes[i]
    c = axis.columns[m]
    own, slack = search.values[c], ROUNDED * search.domain.spread[c]
    low, high = axis.first[known, m].min(), axis.last[known, m].max()
    if np.isnan(own) or not low <= own <= high:
        return float(low), float(high)
    is_lowest = low <= np.nanmin(axis.first[:, m])
    is_highest = high >= np.nanmax(axis.last[:, m])
    return (
        -np.inf if is_lowest else round_within(low, min(own, low + slack)),
        np.inf if is_highest else round_within(high, max(own, high - slack)),
    )
