"""The made-up law: exact probabilities against values worked out by hand and against draws."""

import numpy as np
import pytest
from experiments.data.cell_law import CellLaw, make_cell_law

# Two columns of two parts: the second column is likely to be in the part of the first.
LAW = CellLaw(np.array([[0.4, 0.1], [0.2, 0.3]]), np.array([[0.1, 0.9], [0.5, 0.8]]))
ROW = np.array([0.2, 0.7])  # the first part of the first column, the second of the second


def test_probabilities_given_known_columns():
    assert LAW.chance(ROW, []) == (0.9, 1.0)
    assert LAW.chance(ROW, [1])[0] == pytest.approx((0.4 * 0.1 + 0.1 * 0.9) / 0.5)
    assert LAW.chance(ROW, [0])[0] == pytest.approx((0.1 * 0.9 + 0.3 * 0.8) / 0.4)
    assert LAW.chance(ROW, [0, 1])[0] == pytest.approx(0.4 * 0.1 + 0.1 * 0.9 + 0.2 * 0.5 + 0.3 * 0.8)


def test_probabilities_in_a_box():
    # The box (0.25, 0.75] holds half of each part of the first column.
    chance, plausibility = LAW.chance(ROW, [0], {0: (0.25, 0.75)})
    assert chance == pytest.approx((0.1 * 0.9 + 0.3 * 0.8) / 0.4)
    assert plausibility == pytest.approx(0.5)
    assert LAW.chance(ROW, [0], {0: (0.5, np.inf)}) == pytest.approx((0.8, 0.75))
    # Both columns free: a quarter of the first cell and half of the third.
    chance, plausibility = LAW.chance(ROW, [0, 1], {0: (0.25, np.inf), 1: (-np.inf, 0.25)})
    assert plausibility == pytest.approx(0.4 / 4 + 0.2 / 2)
    assert chance == pytest.approx((0.1 * 0.1 + 0.1 * 0.5) / 0.2)
    chance, plausibility = LAW.chance(ROW, [0], {0: (2.0, 3.0)})
    assert (np.isnan(chance), plausibility) == (True, 0.0)


def test_draws_follow_the_law():
    law = make_cell_law(random_state=0)
    assert law.shares.sum() == pytest.approx(1)
    assert set(law.chances.ravel()) == {0.03, 0.97}
    X, y = law.draw(100_000, 1)
    assert ((X >= 0) & (X < 1)).all()
    row = np.array([0.1, 0.6, 0.9])
    alike = (X[:, 0] < 0.25) & (X[:, 2] >= 0.75)
    inside = alike & (X[:, 1] > 0.3) & (X[:, 1] <= 0.9)
    chance, plausibility = law.chance(row, [1], {1: (0.3, 0.9)})
    assert y[inside].mean() == pytest.approx(chance, abs=0.02)
    assert inside.sum() / alike.sum() == pytest.approx(plausibility, abs=0.02)
    assert y[alike].mean() == pytest.approx(law.chance(row, [1])[0], abs=0.02)
    fresh = law.draw_inside(row, [1], {1: (0.3, 0.9)}, 20_000, 2)
    assert fresh.mean() == pytest.approx(chance, abs=0.02)
