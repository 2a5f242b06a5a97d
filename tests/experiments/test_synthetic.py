"""Synthetic data against their laws: the switch model, the two moons, and what holds for every generator."""

from __future__ import annotations

import math
import re

import numpy as np
import pandas as pd
import pytest
from experiments.data import lucas_network, synthetic
from experiments.data.lucas_network import make_lucas
from experiments.data.synthetic import make_moons, make_switch

GENERATORS = [make_switch, make_moons, make_lucas]


@pytest.mark.parametrize("make", GENERATORS)
def test_a_seed_gives_the_same_rows_again_and_another_seed_others(make):
    first, again, other = make(50, random_state=3), make(50, random_state=3), make(50, random_state=4)
    pd.testing.assert_frame_equal(first.X, again.X)
    pd.testing.assert_series_equal(first.y, again.y)
    assert not first.X.equals(other.X)


@pytest.mark.parametrize("make", GENERATORS)
def test_a_generator_goes_on_where_it_stood(make):
    rng = np.random.default_rng(3)
    first, second = make(50, random_state=rng), make(50, random_state=rng)
    pd.testing.assert_frame_equal(first.X, make(50, random_state=3).X)
    assert not second.X.equals(first.X)


@pytest.mark.parametrize("make", GENERATORS)
def test_without_a_seed_every_call_gives_other_rows(make):
    assert not make(50).X.equals(make(50).X)


@pytest.mark.parametrize("make", GENERATORS)
def test_generated_data_cannot_be_changed(make):
    with pytest.raises(AttributeError, match="cannot assign to field 'y'"):
        make(10).y = None


def test_the_switch_model_has_the_paper_s_columns_and_outcome():
    data = make_switch(500, random_state=0)
    assert list(data.X.columns) == [f"X{i}" for i in range(1, 101)]
    assert data.y.name == "Y"
    X1, X2, X3, X4, X5 = (data.X[f"X{i}"] for i in range(1, 6))
    expected = (X1 + X2) * (X5 <= 0) + (X3 + X4) * (X5 > 0)
    np.testing.assert_allclose(data.y, expected, rtol=1e-15)
    np.testing.assert_array_equal(data.mean, data.y)


def test_the_true_sets_of_the_switch_model_follow_the_sign_of_x5():
    data = make_switch(500, n_columns=7, random_state=0)
    assert data.X.shape == (500, 7)
    assert len(data.true_sets) == 500
    for x5, S in zip(data.X["X5"], data.true_sets, strict=True):
        assert ({"X1", "X2", "X5"} if x5 <= 0 else {"X3", "X4", "X5"}) == S
    assert set(data.true_sets) == {frozenset({"X1", "X2", "X5"}), frozenset({"X3", "X4", "X5"})}


def test_only_the_true_set_decides_the_mean_of_the_switch_model():
    """Two rows that agree on a true set have the same mean: checked by swapping everything else."""
    data = make_switch(400, n_columns=8, random_state=1)
    x = data.X.to_numpy()
    names = list(data.X.columns)
    for row in range(200):
        S = [names.index(name) for name in sorted(data.true_sets[row])]
        other = x[row + 200].copy()
        other[S] = x[row, S]
        assert (other[0] + other[1] if other[4] <= 0 else other[2] + other[3]) == data.mean[row]


def test_the_switch_model_s_columns_have_the_paper_s_moments():
    X = make_switch(40_000, n_columns=6, random_state=0).X
    # Standard errors: 0.012 of a mean, 0.041 of a variance, 0.029 of a covariance.
    np.testing.assert_allclose(X.mean(), 0, atol=0.06)
    np.testing.assert_allclose(X.cov(), 0.8 + 5 * np.eye(6), atol=0.17)


def test_the_columns_of_the_switch_model_share_a_variance_of_0_8():
    X = make_switch(40_000, random_state=0).X
    assert X.mean(axis=1).var() == pytest.approx(0.8 + 5 / 100, abs=0.03)  # standard error 0.006


def test_noise_is_added_to_the_mean_of_the_switch_model():
    quiet, noisy = make_switch(20_000, random_state=0), make_switch(20_000, noise=0.5, random_state=0)
    pd.testing.assert_frame_equal(quiet.X, noisy.X)
    np.testing.assert_array_equal(noisy.mean, quiet.y)
    error = noisy.y - noisy.mean
    assert abs(error.mean()) < 0.02
    assert error.std() == pytest.approx(0.5, abs=0.015)


def test_the_moons_have_the_paper_s_columns_and_z1_flips_the_label():
    data = make_moons(600, random_state=0)
    assert list(data.X.columns) == ["X1", "X2", *[f"Z{i}" for i in range(1, 101)]]
    assert data.true_variables == {"X1", "X2", "Z1"}
    np.testing.assert_array_equal(data.y, data.moon ^ (data.X["Z1"] > 0))
    assert data.moon.value_counts().to_dict() == {0: 300, 1: 300}
    assert 0.4 < data.y.mean() < 0.6


def test_a_row_lies_near_its_moon():
    data = make_moons(1000, n_noise=1, random_state=0)
    x1, x2 = data.X["X1"], data.X["X2"]
    # The upper moon is half a circle about (0, 0), the lower one about (1, 0.5).
    distance = np.where(data.moon == 0, np.hypot(x1, x2), np.hypot(x1 - 1, x2 - 0.5))
    assert np.abs(distance - 1).max() < 0.25
    assert np.std(distance) == pytest.approx(0.05, abs=0.01)


def test_the_noise_of_the_moons_has_the_switch_model_s_moments():
    Z = make_moons(40_000, n_noise=4, random_state=0).X[["Z1", "Z2", "Z3", "Z4"]]
    np.testing.assert_allclose(Z.cov(), 0.8 + 5 * np.eye(4), atol=0.17)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: make_switch(0), ValueError, "`n_rows` must be at least 1, got 0."),
        (lambda: make_switch(1.5), TypeError, "`n_rows` must be a whole number, got 1.5."),
        (lambda: make_switch(True), TypeError, "`n_rows` must be a whole number, got True."),
        (lambda: make_switch(10, n_columns=4), ValueError, "`n_columns` must be at least 5, got 4."),
        (lambda: make_switch(10, noise=-1.0), ValueError, "`noise` must be a number >= 0, got -1.0."),
        (lambda: make_switch(10, noise=math.nan), ValueError, "`noise` must be a number >= 0, got nan."),
        (lambda: make_moons(1), ValueError, "`n_rows` must be at least 2, got 1."),
        (lambda: make_moons(10, n_noise=0), ValueError, "`n_noise` must be at least 1, got 0."),
    ],
)
def test_a_wrong_argument_is_refused(call, error, message):
    with pytest.raises(error, match=re.escape(message)):
        call()


def test_every_generator_is_tested_here():
    names = {name for module in (synthetic, lucas_network) for name in vars(module) if name.startswith("make_")}
    assert names == {make.__name__ for make in GENERATORS}
