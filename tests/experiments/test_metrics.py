"""Metrics of the experiments, by hand and against simulation."""

import numpy as np
import pytest
from experiments.data.synthetic import make_switch
from experiments.metrics import cdf_distances, detection, moons_detection, rule_figures, switch_cdf, switch_mean


def test_detection_averages_over_rows():
    selected, truth = [{"a", "b"}, {"a"}, set()], [{"a", "c", "d", "e"}, {"a"}, {"b"}]
    assert detection(selected, truth) == pytest.approx(((0.25 + 1 + 0) / 3, (0.5 + 0 + 0) / 3))


def test_moons_detection_asks_for_z1_and_one_of_the_coordinates():
    assert moons_detection([{"Z1", "X1"}, {"Z1", "X1", "X2"}]) == (1.0, 0.0)
    assert moons_detection([{"X2", "Z7"}]) == (0.5, 0.5)


@pytest.mark.parametrize("S", [[], [0], [0, 1], [2, 5], [0, 1, 4], [2, 4], [4]])
def test_exact_means_of_the_switch_model_agree_with_simulation(S):
    rng = np.random.default_rng(0)
    x = np.array([1.2, -0.7, 0.4, 2.0, 0.9, -1.5])
    _, y = simulate_given(x, S, 200_000, rng)
    assert switch_mean(x, S) == pytest.approx(y.mean(), abs=4 * y.std() / np.sqrt(len(y)) + 1e-9)


@pytest.mark.parametrize("x5", [-1.0, 1.0])
@pytest.mark.parametrize("S", [[4], [0, 4], [0, 2, 4], [0, 1, 2, 4]])
def test_exact_distributions_of_the_switch_model_agree_with_simulation(S, x5):
    x = np.array([1.2, -0.7, 0.4, 2.0, x5, -1.5])
    _, y = simulate_given(x, S, 200_000, np.random.default_rng(1))
    grid = np.linspace(-8, 8, 33) + 0.01
    shares = np.array([(y <= value).mean() for value in grid])
    assert np.abs(switch_cdf(x, S, grid) - shares).max() < 0.005


def test_exact_distributions_need_the_switch_itself():
    with pytest.raises(ValueError, match="must hold X5"):
        switch_cdf(np.zeros(6), [0, 1], [0.0])


def simulate_given(x, S, n, rng):
    """Draw the unknown columns given the known ones, by the normal distribution's general formula."""
    covariance = 0.8 * np.ones((6, 6)) + 5 * np.eye(6)
    rest = [i for i in range(6) if i not in S]
    mean, left = np.zeros(len(rest)), covariance[np.ix_(rest, rest)]
    if S:
        weights = covariance[np.ix_(rest, S)] @ np.linalg.inv(covariance[np.ix_(S, S)])
        mean, left = weights @ x[S], left - weights @ covariance[np.ix_(S, rest)]
    X = np.tile(x, (n, 1))
    X[:, rest] = rng.multivariate_normal(mean, left, n)
    return X, np.where(X[:, 4] <= 0, X[:, 0] + X[:, 1], X[:, 2] + X[:, 3])


def test_exact_means_of_all_columns_are_the_outcomes():
    data = make_switch(50, n_columns=7, random_state=0)
    assert [switch_mean(x, range(7)) for x in data.X.to_numpy()] == pytest.approx(data.mean.tolist())


def test_distances_of_distributions_by_hand():
    grid = np.array([0.0, 1.0, 3.0, 4.0])
    assert cdf_distances(grid, np.array([0, 0.5, 0.5, 1]), np.array([0, 0.25, 1, 1])) == pytest.approx((0.5, 1.0))


def test_figures_of_rules_by_hand():
    covers = [np.array([True, True, False, False]), np.array([False] * 4), np.array([True] * 4)]
    same = [np.array([True, False, True, True]), np.array([True] * 4), np.array([True, True, True, False])]
    assert rule_figures(covers, [1, 2, 3], same) == pytest.approx(
        {"accuracy": (0.5 + 0.75) / 2, "coverage": 0.5, "size": 2.0, "size_std": np.sqrt(2 / 3), "size_max": 3.0}
    )
