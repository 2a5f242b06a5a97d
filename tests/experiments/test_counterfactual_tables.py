"""Columns as numbers and codes, and the figures of proposed points against values worked out by hand."""

import numpy as np
import pandas as pd
import pytest
from experiments.counterfactual_tables import (
    Columns,
    Judge,
    OnFrames,
    Problem,
    bin_costs,
    changed,
    fit_model,
    noisy_copies,
)

FRAME = pd.DataFrame({"job": ["cook", "baker", "cook"], "age": [30, 41, 52], "weight": [60.5, 70.0, 80.0]})
COLUMNS = Columns.of_frame(FRAME)
NAN = np.nan


class AtLeast:
    """A model: the second column reaches a number."""

    classes_ = np.array([0, 1])

    def __init__(self, least):
        self.least = least

    def predict(self, rows):
        return (rows[:, 1] >= self.least).astype(int)


class Sum:
    """A model of numbers: the sum of two columns."""

    def predict(self, rows):
        return rows[:, 1] + rows[:, 2]


def numbers(n_columns):
    return Columns(tuple(f"x{i}" for i in range(n_columns)), {}, frozenset())


def test_columns_of_text_become_codes_and_come_back():
    assert Columns(("job", "age", "weight"), {0: ("baker", "cook")}, frozenset({1})) == COLUMNS
    coded = COLUMNS.encode(FRAME)
    np.testing.assert_array_equal(coded, [[1, 30, 60.5], [0, 41, 70], [1, 52, 80]])
    pd.testing.assert_frame_equal(COLUMNS.decode(coded), FRAME)
    assert COLUMNS.decode(coded + np.array([0, 0.5, 0]))["age"].tolist() == [30.5, 41.5, 52.5]


def test_codes_become_indicators():
    np.testing.assert_array_equal(
        COLUMNS.indicators(COLUMNS.encode(FRAME)), [[0, 1, 30, 60.5], [1, 0, 41, 70], [0, 1, 52, 80]]
    )


def test_a_class_or_an_interval_is_reached():
    rows = np.array([[0, 1, 2.0], [0, 3, 4.0], [0, 5, 5.0]])
    assert Problem(numbers(3), rows, AtLeast(3), 0).reaches(rows).tolist() == [True, False, False]
    assert Problem(numbers(3), rows, Sum(), (3.0, 7.0)).reaches(rows).tolist() == [True, True, False]
    np.testing.assert_array_equal(
        Problem(numbers(3), rows, Sum(), (3.0, 7.0)).probabilities(rows), [[0, 1], [0, 1], [1, 0]]
    )


@pytest.mark.parametrize("kind", ["forest", "network"])
def test_models_learn_from_codes_and_predict_frames(kind):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"job": rng.choice(["baker", "cook", "smith"], 600), "age": rng.integers(20, 60, 600)})
    y = ((frame["job"] == "cook") ^ (frame["age"] > 40)).to_numpy().astype(int)
    columns = Columns.of_frame(frame)
    model = fit_model(kind, columns, columns.encode(frame), y, 0)
    wrapped = OnFrames(model, columns)
    assert np.mean(wrapped.predict(frame) == y) > 0.8
    assert wrapped.predict_proba(frame).shape == (600, 2)
    probabilities = Problem(columns, columns.encode(frame), model, 0).probabilities(columns.encode(frame))
    np.testing.assert_allclose(probabilities[:, 1], wrapped.predict_proba(frame)[:, 0])


def test_costs_are_bins_between_deciles_and_changed_categories():
    columns = Columns(("job", "age", "flag"), {0: ("a", "b")}, frozenset({2}))
    # Deciles of 0, 1, ..., 100 are 10, 20, ..., 90; 95 of 100 flags are 0, so that all deciles are 0.
    train = np.column_stack([np.zeros(101), np.arange(101), np.repeat([0, 1], [96, 5])])
    rows = np.array([[0, 5, 0], [0, 5, 0], [0, 95, 0], [1, 12, 1]], dtype=float)
    points = np.array([[0, 9, 0], [1, 25, 0], [0, 5, 1], [1, 30, 0]], dtype=float)
    assert bin_costs(columns, train, rows, points).tolist() == [0, 1 + 2, 9 + 1, 1 + 1]


def test_noise_is_on_the_numbers_that_change_and_in_their_units():
    columns = Columns(("job", "age", "weight"), {0: ("a", "b")}, frozenset({1}))
    train = np.array([[0, 10, 0], [1, 110, 1.0]])
    rows, points = np.array([[0, 50, 0.5], [0, 50, 0.5]]), np.array([[1, 60, 0.5], [0, 50, 0.7]])
    copies = noisy_copies(columns, train, rows, points, 0.04, 4000, 0).reshape(2, 4000, 3)
    assert np.all(copies[:, :, 0] == points[:, None, 0])
    assert np.all(copies[0, :, 2] == 0.5)
    assert np.all(copies[1, :, 1] == 50)
    assert copies[0, :, 1].mean() == pytest.approx(60, abs=2)
    assert copies[0, :, 1].std() == pytest.approx(0.2 * 100, rel=0.05)
    assert copies[1, :, 2].std() == pytest.approx(0.2, rel=0.05)
    assert changed(rows, points).tolist() == [[True, True, False], [False, False, True]]


def test_points_are_measured():
    """Four rows: one point reaches the target, one does not, one is an outlier, and there is no fourth."""
    rng = np.random.default_rng(0)
    train = np.column_stack([rng.normal(size=500), rng.uniform(0, 10, size=500)])
    judge = Judge(Problem(numbers(2), train, AtLeast(5), 1), (0.0001,), 40, 0)
    rows = np.array([[0.0, 2], [0, 2], [0, 2], [0, 2]])
    points = np.array([[0.0, 7], [0, 4], [80, 9], [NAN, NAN]])
    assert judge.are_inliers(points[:3]).tolist() == [True, True, False]
    figures = judge.measure(rows, points)
    assert figures == {
        "found": 0.75,
        "both": 0.25,
        "accuracy": pytest.approx(2 / 3),
        "plausibility": pytest.approx(2 / 3),
        "product": pytest.approx(4 / 9),
        "sparsity": pytest.approx(4 / 3),
        "cost": pytest.approx(np.mean(bin_costs(numbers(2), train, rows[:3], points[:3]))),
        "stability 0.0001": 1.0,  # noise of 0.1 leaves 7, 4 and 9 on their sides of 5
    }
    none = judge.measure(rows[:1], points[3:])
    assert (none["found"], none["both"]) == (0.0, 0.0)
    assert np.isnan(none["accuracy"])


def test_noise_that_crosses_the_model_s_border_shows():
    train = np.column_stack([np.zeros(400), np.linspace(0, 10, 400)])
    judge = Judge(Problem(numbers(2), train, AtLeast(5), 1), (0.01,), 4000, 0)
    figures = judge.measure(np.array([[0.0, 2]]), np.array([[0.0, 6]]))
    # Noise of standard deviation 0.1 x 10 = 1 keeps 6 at or above 5 with probability Phi(1) = 0.841.
    assert figures["stability 0.01"] == pytest.approx(0.841, abs=0.02)
