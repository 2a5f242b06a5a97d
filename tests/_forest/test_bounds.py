"""Lower bounds of SDPs, and the SDPs that reach a level with confidence."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta

from suffice._forest.bounds import MAX_ROWS, SPREAD, count_effective_rows, least_sdps, lower_bounds

SDPS = np.array([0.05, 0.3, 0.5, 0.9, 0.99, 1.0])
N_ROWS = np.array([1, 2, 7, 40, 333, MAX_ROWS])


def grid():
    sdps, n_rows = np.meshgrid(SDPS, N_ROWS)
    return sdps.ravel(), n_rows.ravel().astype(float)


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
def test_a_bound_is_the_quantile_of_a_beta_distribution(confidence):
    sdps, n_rows = grid()
    n = n_rows / SPREAD
    expected = beta.ppf(1 - confidence, sdps * n, (1 - sdps) * n + 1)
    # Half a row more than a whole number: it is rounded down.
    bounds = lower_bounds(sdps, 1 / (n_rows + 0.5), confidence)
    np.testing.assert_allclose(bounds, np.minimum(expected, sdps), rtol=1e-9)


def test_with_whole_numbers_of_rows_the_bound_is_that_of_clopper_and_pearson():
    """Of 40 / 4 = 10 rows, 9 have the outcome: 0.606 at 95 %."""
    [bound] = lower_bounds(np.array([0.9]), np.array([1 / 40.5]), 0.95)
    assert bound == pytest.approx(0.6058, abs=1e-4)


def test_bounds_grow_with_the_sdp_and_the_rows_and_fall_with_the_confidence():
    for n in N_ROWS:
        assert np.all(np.diff(lower_bounds(SDPS, np.full(len(SDPS), 1 / (n + 0.5)), 0.95)) > 0)
    for sdp in SDPS:
        assert np.all(np.diff(lower_bounds(np.full(len(N_ROWS), sdp), 1 / (N_ROWS + 0.5), 0.95)) > 0)
    sdps, n_rows = grid()
    by_confidence = [lower_bounds(sdps, 1 / (n_rows + 0.5), confidence) for confidence in (0.8, 0.9, 0.95)]
    assert np.all(by_confidence[0] >= by_confidence[1])
    assert np.all(by_confidence[1] > by_confidence[2])


def test_a_bound_lies_between_zero_and_the_sdp():
    bounds = lower_bounds(np.array([0.0, 1.0, 0.7, 1.0 + 1e-15]), np.array([0.01, 1.0, 1.0, 1e-9]), 0.95)
    assert bounds[0] == 0
    assert 0 < bounds[1] < 0.01  # one row, taken for a quarter of a row
    assert np.all(bounds <= [0.0, 1.0, 0.7, 1.0])
    # At a low confidence the quantile would lie above the SDP itself.
    sdps = np.array([0.3, 0.9])
    np.testing.assert_array_equal(lower_bounds(sdps, np.array([0.1, 0.1]), 0.05), sdps)


def test_effective_rows_are_whole_numbers_from_one_to_the_largest():
    squares = np.array([1.0, 0.51, 0.5, 0.34, 1 / 100.9, 1e-9])
    assert count_effective_rows(squares).tolist() == [1, 1, 2, 2, 100, MAX_ROWS]
    assert count_effective_rows(np.array([sum([(1 / 6) ** 2] * 6)])).tolist() == [6]  # the sum is a little above 1 / 6


@pytest.mark.parametrize("confidence", [0.6, 0.95])
@pytest.mark.parametrize("pi", [0.2, 0.5, 0.9, 0.99])
def test_the_least_sdp_is_where_the_bound_reaches_pi(pi, confidence):
    least = least_sdps(pi, confidence)
    assert least.shape == (MAX_ROWS + 1,)
    is_possible = least <= 1
    # It is possible from some number of rows on, and takes less with more rows.
    first = int(np.argmax(is_possible))
    assert first > 0
    assert is_possible[first:].all()
    assert (least[:first] == 2).all()
    assert np.all(np.diff(least[first:]) <= 1e-9)
    n = np.flatnonzero(is_possible)[::97].astype(float)
    squares = 1 / (n + 0.5)
    at = least[n.astype(int)]
    np.testing.assert_allclose(lower_bounds(at, squares, confidence), pi, atol=1e-9)
    below = np.maximum(at - 1e-6, 0)
    assert np.all(lower_bounds(below, squares, confidence) < pi)
    # Where it says impossible, not even an SDP of 1 is enough.
    few = np.arange(1, first, dtype=float)
    assert np.all(lower_bounds(np.ones(len(few)), 1 / (few + 0.5), confidence) < pi)


def test_no_sdp_is_enough_for_certainty():
    assert np.all(least_sdps(1.0, 0.95) == 2)


def test_the_table_of_least_sdps_is_shared_and_cannot_be_changed():
    table = least_sdps(0.9, 0.95)
    assert least_sdps(0.9, 0.95) is table
    with pytest.raises(ValueError, match="read-only"):
        table[0] = 0.0
