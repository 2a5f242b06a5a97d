from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks import known_laws
from benchmarks.laws import LAWS, Null

from suffice.explaining.explanation import SufficientSet

LAW = Null(0.8)


def explained(best, has_set, stated, **arrays):
    """Explanations of class 1, with these best sets."""
    return SimpleNamespace(
        outcomes=np.ones(len(best), dtype=int),
        intervals=None,
        levels=np.full(len(stated), 0.9),
        best_sets=[SufficientSet(S, sdp) for S, sdp in zip(best, stated, strict=True)],
        has_set=np.array(has_set),
        answers=SimpleNamespace(sets=SimpleNamespace(best_sdps=np.array(stated), **arrays)),
    )


def measure(monkeypatch, explanations, law=LAW):
    X, _ = law.draw(4, np.random.default_rng(0))
    monkeypatch.setattr(known_laws, "explain_fresh", lambda *options: (X, explanations))
    return known_laws.measure_law(law, 0, "bootstrap", 0, 0)


def test_claims_are_compared_with_the_truth(monkeypatch):
    """Four rows of a class of 80 %: two false claims, an empty set, and no claim."""
    explanations = explained([("x0",), ("x1", "x2"), (), ("x3",)], [True, True, True, False], [0.9, 1.0, 0.9, 0.8])
    figures = measure(monkeypatch, explanations)
    assert (figures["true"], figures["false"], figures["far"], figures["empty"]) == (0, 0.5, 0.5, 0.25)
    assert figures["stated"] == pytest.approx(0.95)
    assert figures["bias"] == pytest.approx(0.15)
    assert figures["bias of all"] == pytest.approx(0.1)


def test_a_claim_is_true_if_the_truth_reaches_pi(monkeypatch):
    explanations = explained([("x0",)] * 4, [True] * 4, [0.9] * 4)
    assert measure(monkeypatch, explanations, Null(0.9))["true"] == 1
    assert measure(monkeypatch, explanations, Null(0.89))["false"] == 1
    assert measure(monkeypatch, explanations, Null(0.89))["far"] == 0


def test_lower_bounds_are_checked_where_there_are_some(monkeypatch):
    explanations = explained(
        [("x0",)] * 4, [True, True, True, False], [0.9] * 4, best_lowers=np.array([0.7, 0.8, 0.85, 0.9])
    )
    figures = measure(monkeypatch, explanations)
    assert figures["holds"] == pytest.approx(2 / 3)
    assert figures["holds for all"] == pytest.approx(1 / 2)
    assert figures["bound"] == pytest.approx((0.7 + 0.8 + 0.85) / 3)


def test_seeds_without_a_claim_do_not_count_for_the_bias():
    assert known_laws.mean_over_seeds([{"bias": np.nan}, {"bias": 0.1}, {"bias": 0.3}]) == {"bias": pytest.approx(0.2)}
    assert np.isnan(known_laws.mean_over_seeds([{"bias": np.nan}])["bias"])


def test_the_truth_is_that_of_each_row_and_its_set():
    law = LAWS[0]
    X, explanations = known_laws.explain_fresh(law, 300, "bootstrap", 0, 10)
    truth = known_laws.true_sdps(law, X, explanations)
    for row, best in enumerate(explanations.best_sets):
        one = X.iloc[[row]].reset_index(drop=True)
        assert truth[row] == pytest.approx(law.sdp(one, list(best.variables), explanations.outcomes[[row]])[0])
