"""Certain reasons and nearest other decisions against the oracle, which looks at all points."""

import numpy as np
import proof_oracle as oracle
import pytest
from proof_models import draw_case, ensemble_of

from suffice.proofs import reasons
from suffice.proofs.domain import Domain
from suffice.proofs.reasons import ReasonSearch, smallest_hitting_set
from suffice.proofs.search import Budget, Prover


def check_case(seed):
    model, kinds, rows = draw_case(seed)
    if model["decides_by"] == "number":
        return
    is_number = [kind != "labels" for kind in kinds]
    points = oracle.points([oracle.values_of(model, rows.tolist(), c, is_number[c]) for c in range(len(kinds))])
    prover = Prover(Domain.learn(ensemble_of(model, kinds), rows), Budget(10_000, 60.0))
    x = rows[0]
    search = ReasonSearch(prover, x, int(prover.ensemble.decide(rows[:1])[0]), max_seconds=60.0)
    quick = ReasonSearch(prover, x, search.decision, max_seconds=60.0).find(smallest=False)
    found = search.find()
    expected = oracle.certain_reasons(model, x.tolist(), points, is_number)
    assert found.axes in expected
    assert quick.axes in expected
    assert quick.is_minimal
    assert (found.is_minimal, found.is_smallest) == (True, True)
    assert len(found.axes) == min(map(len, expected)) == found.least_size
    check_box(search, found.axes, model, points)

    spread = prover.domain.spread.tolist()
    nearest = oracle.nearest_other(model, x.tolist(), points, spread, is_number)
    other = search.nearest_other()
    assert (other is None) == (nearest is None)
    if other is not None:
        values, least, is_exact = other
        assert is_exact
        assert least == nearest[0] == np.count_nonzero(search.point != prover.domain.pieces(values[None])[0])
        assert prover.domain.distances(values, x[None])[0] == pytest.approx(nearest[1], abs=1e-5)
        assert oracle.decide(model, values.tolist()) != oracle.decide(model, x.tolist())


def check_box(search, reason, model, points):
    """The box of a reason is decided like the row, and no piece can be added to it."""
    box = search.grow(reason)
    table = np.array(points)
    own = oracle.decide(model, search.values.tolist())
    other = table[[oracle.decide(model, z) != own for z in points]]
    assert not search.domain.holds(box, other).any() if len(other) else True
    pieces = search.domain.pieces(other) if len(other) else np.empty((0, len(box.allowed)), dtype=int)
    for i in reason:
        for p in np.flatnonzero(~box.allowed[i]):
            if is_next(search, box, i, p):
                inside = np.all([box.allowed[j][pieces[:, j]] | (j == i) for j in range(len(box.allowed))], axis=0)
                assert (inside & (pieces[:, i] == p)).any()


def is_next(search, box, i, p):
    """Whether the piece is a label, missing, or a neighbour of the numbers in the box."""
    [c] = search.domain.axes[i].columns
    is_missing = np.isnan(search.domain.whole.first[c])
    if search.domain.ensemble.columns[c].labels is not None or is_missing[p]:
        return True
    return any(0 <= q < len(is_missing) and box.allowed[i][q] and not is_missing[q] for q in (p - 1, p + 1))


@pytest.mark.parametrize("first", range(0, 300, 100))
def test_reasons_are_those_of_looking_at_all_points(first):
    for seed in range(first, first + 100):
        check_case(seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 11_000, 1000))
def test_reasons_of_ten_thousand_models_are_those_of_looking_at_all_points(first):
    for seed in range(first, first + 1000):
        check_case(seed)


def test_a_smallest_hitting_set_leaves_excluded_members_out():
    sets = [frozenset({0, 1}), frozenset({1, 2}), frozenset({3, 1})]
    assert smallest_hitting_set(sets, frozenset()) == {1}
    assert smallest_hitting_set(sets, frozenset({1})) == {0, 2, 3}


def stumps(*trees):
    """A sum of trees over columns of numbers that are 0 or 1, and decides for the second class above 0."""
    return {"trees": list(trees), "start": [-0.5], "decides_by": "positive", "cut": 0.0}


def both(a, b):
    """A tree that adds 1 where two columns are 1."""
    return (a, 0.5, False, (0.0,), (b, 0.5, False, (0.0,), (1.0,)))


def search_at(model, kinds, rows, x):
    prover = Prover(Domain.learn(ensemble_of(model, kinds), rows), Budget(10_000, 60.0))
    return ReasonSearch(prover, x, int(prover.ensemble.decide(x[None])[0]), max_seconds=60.0)


def test_no_fewer_are_enough_only_if_that_was_proven(monkeypatch):
    """Either the first two columns or the third one fix the decision; the two are preferred, and found first."""
    model = stumps(both(0, 1), (2, 0.5, False, (0.0,), (1.0,)))
    rows = np.array([[0.0, 0, 0], [1, 1, 1]])
    search = search_at(model, ["whole"] * 3, rows, rows[1])
    found = search.find(frozenset({0, 1}))
    assert (found.axes, found.is_minimal, found.is_smallest, found.least_size) == ({2}, True, True, 1)
    monkeypatch.setattr(reasons, "MAX_CHECKS", 0)
    search = search_at(model, ["whole"] * 3, rows, rows[1])
    found = search.find(frozenset({0, 1}))
    assert (found.axes, found.is_minimal, found.is_smallest, found.least_size) == ({0, 1}, True, False, 0)


@pytest.mark.parametrize("own", [3.0, 5.0, 8.0])
def test_a_box_grows_to_the_last_piece_at_which_the_decision_is_kept(own):
    """Numbers from 3 to 8 are decided alike, and each whole number from 0 to 12 is a piece of its own."""
    steps = [(0, i + 0.5, False, (1.0 if i == 8 else 0.0,), (0.0 if i != 2 else 1.0,)) for i in range(12)]
    model = {"trees": steps, "start": [-1.5], "decides_by": "positive", "cut": 0.0}
    rows = np.arange(13.0)[:, None]
    search = search_at(model, ["whole"], rows, np.array([own]))
    assert np.flatnonzero(search.grow(frozenset({0})).allowed[0]).tolist() == [3, 4, 5, 6, 7, 8]
