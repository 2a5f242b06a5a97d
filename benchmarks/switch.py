"""The switch model of the paper's section 5, and the paper's forest for it."""

from __future__ import annotations

import numpy as np
from experiments.data.synthetic import make_switch
from experiments.switch import least_leaf
from sklearn.ensemble import RandomForestRegressor


def switch_forest(n_rows, seed=0, **options):
    """Training and test data, and the paper's forest, unfitted."""
    rng = np.random.default_rng(seed)
    train, test = make_switch(n_rows, random_state=rng), make_switch(1000, random_state=rng)
    forest = RandomForestRegressor(20, min_samples_leaf=least_leaf(n_rows), n_jobs=-1, random_state=seed, **options)
    return train, test, forest
