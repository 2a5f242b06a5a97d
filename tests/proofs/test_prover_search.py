"""The search of the core against the oracle, which looks at all points."""

import numpy as np
import proof_oracle as oracle
import pytest
from proof_models import draw_case, ensemble_of

from suffice._table.condition import Condition
from suffice.proofs.domain import Domain
from suffice.proofs.search import Budget, Prover


def make(seed, conditions=()):
    model, kinds, rows = draw_case(seed)
    ends = {c.column: (c.low, c.high) for c in conditions if c.labels is None}
    is_number = [kind != "labels" for kind in kinds]
    values = [oracle.values_of(model, rows.tolist(), c, is_number[c], ends.get(f"c{c}", ())) for c in range(len(kinds))]
    prover = Prover(Domain.learn(ensemble_of(model, kinds), rows), Budget(10_000, 60.0))
    return model, kinds, rows, oracle.points(values), prover


def draw_conditions(rng, kinds):
    conditions = []
    for c, kind in enumerate(kinds):
        if rng.random() < 0.5:
            continue
        missing = bool(rng.random() < 0.3)
        if kind == "labels":
            labels = tuple(str(v) for v in np.array(["u", "v", "w"])[rng.random(3) < 0.6]) or ("v",)
            conditions.append(Condition(f"c{c}", labels=labels, missing=missing))
        else:
            low, high = np.sort(rng.choice(np.arange(-1, 12) / 2, size=2, replace=False))
            closed = rng.random(2) < 0.5
            conditions.append(Condition(f"c{c}", low, high, bool(closed[0]), bool(closed[1]), missing))
    return conditions


def points_in(conditions, kinds, points):
    table = {}
    for c, kind in enumerate(kinds):
        own = [z[c] for z in points]
        table[f"c{c}"] = own if kind != "labels" else [None if np.isnan(v) else "uvw"[int(v)] for v in own]
    is_in = np.ones(len(points), dtype=bool)
    for condition in conditions:
        is_in &= condition.covers(np.array(table[condition.column], dtype=object))
    return [z for z, inside in zip(points, is_in, strict=True) if inside]


def check_case(seed):
    rng = np.random.default_rng([seed, 1])
    conditions = draw_conditions(rng, draw_case(seed)[1])
    model, kinds, rows, points, prover = make(seed, conditions)
    inside = points_in(conditions, kinds, points)
    box = prover.domain.box(conditions)
    if not inside:
        assert box.empty_axis is not None
        return
    decided = [oracle.decide(model, z) for z in inside]
    if model["decides_by"] == "number":
        low, high, is_exact = prover.extremes(box)
        assert (low, high, is_exact) == (min(decided), max(decided), True)
        a, b = np.sort(rng.integers(-16, 17, size=2) / 8)
        questions = [((a, b), all(a <= d <= b for d in decided))]
    else:
        questions = [(k, set(decided) == {k}) for k in range(len(prover.ensemble.classes))]
    for decision, is_kept in questions:
        answer = prover.check(box, decision, rows[0])
        assert answer.verdict == ("proven" if is_kept else "refuted"), (seed, decision)
        if answer.values is not None:
            assert prover.domain.holds(box, answer.values[None])[0]
            own = oracle.decide(model, answer.values.tolist())
            assert not (decision[0] <= own <= decision[1]) if isinstance(decision, tuple) else own != decision


@pytest.mark.parametrize("first", range(0, 300, 100))
def test_boxes_are_decided_as_by_looking_at_all_points(first):
    for seed in range(first, first + 100):
        check_case(seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 11_000, 1000))
def test_ten_thousand_models_are_decided_as_by_looking_at_all_points(first):
    for seed in range(first, first + 1000):
        check_case(seed)
