"""Bounds and tests of shares against sums of exact fractions, and adjustments against their textbook definitions."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest

from suffice._forest.bounds import (
    adjust_p_values,
    adjust_where_possible,
    lower_bound,
    p_at_least,
    p_at_most,
)

LEVELS = [Fraction(1, 2), Fraction(9, 10), Fraction(19, 20), Fraction(1)]


def probability(n, k, p):
    return comb(n, k) * p**k * (1 - p) ** (n - k)


def exact_at_least(n, k, p):
    return sum(probability(n, j, p) for j in range(k, n + 1))


@pytest.mark.parametrize("level", LEVELS)
def test_p_values_are_binomial_sums(level):
    for n in range(13):
        for k in range(n + 1):
            at_most = sum(probability(n, j, level) for j in range(k + 1))
            assert p_at_least(k, n, float(level)) == pytest.approx(float(exact_at_least(n, k, level)), abs=1e-12)
            assert p_at_most(k, n, float(level)) == pytest.approx(float(at_most), abs=1e-12)


@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
def test_the_lower_bound_is_that_of_clopper_and_pearson(confidence):
    """At the bound, as many rows or more keep the outcome with probability 1 - confidence exactly."""
    for n in range(13):
        assert lower_bound(0, n, confidence) == 0
        for k in range(1, n + 1):
            bound = Fraction(float(lower_bound(k, n, confidence)))
            assert float(exact_at_least(n, k, bound)) == pytest.approx(1 - confidence, abs=1e-9)


def test_the_lower_bound_covers_by_enumeration():
    for n, p in product([1, 5, 12, 30], np.linspace(0.02, 0.98, 25)):
        bounds = lower_bound(np.arange(n + 1), np.full(n + 1, n), 0.95)
        covered = sum(probability(n, k, p) for k in range(n + 1) if bounds[k] <= p)
        assert covered >= 0.95 - 1e-12


def test_the_bound_reaches_the_level_exactly_when_the_test_succeeds():
    n, k = (part.ravel() for part in np.meshgrid(np.arange(80), np.arange(80)))
    n, k = n[k <= n], k[k <= n]
    for level in (0.5, 0.8, 0.9):
        assert np.array_equal(lower_bound(k, n, 0.95) >= level, p_at_least(k, n, level) <= 1 - 0.95)


def rejected_by_textbook(p, alpha, adjustment):
    """The positions that are rejected: the largest step up (Benjamini-Hochberg), or the first stop down (Holm)."""
    order, n = np.argsort(p, kind="stable"), len(p)
    if adjustment == "holm":
        n_rejected = 0
        while n_rejected < n and p[order[n_rejected]] <= alpha / (n - n_rejected):
            n_rejected += 1
    else:
        n_rejected = max((i + 1 for i in range(n) if p[order[i]] <= alpha * (i + 1) / n), default=0)
    return set(order[:n_rejected].tolist())


@pytest.mark.parametrize("adjustment", ["benjamini-hochberg", "holm"])
def test_adjusted_p_values_reject_what_the_textbook_rejects(adjustment):
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 8, 40):
        for _ in range(40):
            p = rng.choice([0.0, 0.0003, 0.004, 0.011, 0.02, 0.04, 0.06, 0.5, 1.0], size=n)  # with ties
            adjusted = adjust_p_values(p, adjustment)
            assert set(np.flatnonzero(adjusted <= 0.05)) == rejected_by_textbook(p, 0.05, adjustment)
            assert np.all(adjusted >= p)
            assert np.all(adjusted <= 1)


def test_without_an_adjustment_p_values_stay():
    assert adjust_p_values([0.2, 0.01], None).tolist() == [0.2, 0.01]
    assert adjust_p_values([], "holm").tolist() == []


def test_an_unknown_adjustment_is_refused():
    with pytest.raises(ValueError, match="`adjust` must be"):
        adjust_p_values([0.1], "bonferroni")


def test_hypotheses_that_cannot_be_rejected_do_not_count():
    adjusted, is_tested = adjust_where_possible([0.02, 0.9, 0.03], [0.001, 0.2, 0.01], 0.05, "holm")
    assert is_tested.tolist() == [True, False, True]
    assert adjusted.tolist() == [0.04, 1.0, 0.04]
