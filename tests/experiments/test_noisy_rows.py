"""Noise on the numbers of rows; `tests/test_stability.py` has the copies of every kind of table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from experiments.noisy_rows import noise_of_columns, noisy_copies

from suffice import SufficientExplainer


def test_only_numbers_get_noise_in_proportion_to_their_spread():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(0, 10, 100), "b": rng.integers(0, 5, 100), "c": rng.choice(["x", "y"], 100)})
    explainer = SufficientExplainer(random_state=0).fit(X, X["a"] > 0)
    noise = noise_of_columns(explainer.training[0], explainer.fitted_.encoding.columns, 0.5)
    assert list(noise) == [0, 1]
    assert noise[0] == (pytest.approx(0.5 * np.std(X["a"])), False)
    assert noise[1] == (pytest.approx(0.5 * np.std(X["b"])), True)
    copies = noisy_copies(X[:3], ("a", "b", "c"), noise, 2, np.random.default_rng(1))
    assert copies["c"].tolist() == np.repeat(X["c"][:3].to_numpy(), 2).tolist()
    assert (copies["a"].to_numpy() != np.repeat(X["a"][:3].to_numpy(), 2)).all()
    assert (copies["b"] % 1 == 0).all()
