"""Curves of the probability along one column, against probabilities that are computed value by value."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from small_explainers import FRAME, NUMBERS, regressor

from suffice import SufficientExplainer
from suffice.explaining.curve import compute_curve


def columns_of(explainer, *names):
    return tuple(sorted(explainer.variable_names_.index(name) for name in names))


def curve_of(explainer, X, row, S, name, **options):
    state = explainer.fitted_
    matrix = explainer.encode(X[row : row + 1])
    outcomes = explainer.outcomes(X[row : row + 1])
    column = [c.name for c in state.encoding.columns].index(name)
    return compute_curve(state, matrix[0], outcomes, columns_of(explainer, *S), column, **options)


@pytest.fixture(scope="module")
def mixed():
    rng = np.random.default_rng(0)
    n = 500
    X = pd.DataFrame(
        {
            "hour": rng.integers(0, 24, n),
            "temp": np.where(rng.random(n) < 0.1, np.nan, rng.normal(15, 5, n)),
            "weather": rng.choice(["rain", "mist", "clear"], n),
            "noise": rng.normal(size=n),
        }
    )
    y = np.where((X["hour"] >= 7) & (X["temp"].fillna(20) > 12) & (X["weather"] != "rain"), "busy", "calm")
    return X, SufficientExplainer(random_state=0, n_jobs=1).fit(X, y)


def sdp_at(explainer, X, row, S, name, value):
    """The SDP of the row with another value, for the outcome that the row itself has."""
    moved = X[row : row + 1].copy()
    moved[name] = [value]
    return explainer.sdp(moved, list(S), explainer.predict(X[row : row + 1]))[0]


@pytest.mark.slow
@pytest.mark.parametrize("row", range(6))
def test_a_curve_of_numbers_is_the_sdp_at_every_value(mixed, row):
    X, explainer = mixed
    curve = curve_of(explainer, X, row, ["hour", "temp"], "temp")
    assert curve.is_exact
    rng = np.random.default_rng(row)
    for value in [*rng.uniform(curve.ends[0], curve.ends[-1], 60), *curve.ends[1:40].tolist()]:
        step = np.searchsorted(curve.ends, np.float32(value)) - 1
        expected = sdp_at(explainer, X, row, ["hour", "temp"], "temp", float(np.float32(value)))
        assert curve.of_set[step] == pytest.approx(expected, abs=1e-12)
    assert curve.at_missing[0] == pytest.approx(sdp_at(explainer, X, row, ["hour", "temp"], "temp", np.nan))


def test_whole_numbers_have_a_step_each(mixed):
    X, explainer = mixed
    curve = curve_of(explainer, X, 3, ["hour"], "hour")
    assert curve.ends.tolist() == [hour - 0.5 for hour in range(25)]
    expected = [sdp_at(explainer, X, 3, ["hour"], "hour", hour) for hour in range(24)]
    assert curve.of_set.tolist() == pytest.approx(expected)
    assert curve.at_missing is None


def test_categories_have_a_bar_each(mixed):
    X, explainer = mixed
    curve = curve_of(explainer, X, 3, ["hour", "weather"], "weather")
    labels = [curve.column.decode(code) for code in range(3)]
    expected = [sdp_at(explainer, X, 3, ["hour", "weather"], "weather", label) for label in labels]
    assert curve.of_set.tolist() == pytest.approx(expected)


def test_the_row_itself_lies_on_the_curve(mixed):
    X, explainer = mixed
    for row in range(5):
        explanation = explainer.explain(X[row : row + 1])[0]
        S = explanation.best_set.variables
        for name in S:
            curve = curve_of(explainer, X, row, S, name)
            assert curve.at_own == pytest.approx((explanation.best_set.sdp, explanation.sdp_of_all))
            if not np.isnan(curve.own):
                step = max(np.searchsorted(curve.ends, curve.own) - 1, 0)
                assert (curve.of_set[step], curve.of_all[step]) == pytest.approx(curve.at_own)


def test_too_many_steps_are_thinned_out_but_not_at_the_row(mixed):
    X, explainer = mixed
    forest = RandomForestClassifier(30, max_features=1, random_state=0)
    explainer = SufficientExplainer(forest, n_jobs=1).fit(X, explainer.training[1])
    full = curve_of(explainer, X, 1, ["noise"], "noise")
    thinned = curve_of(explainer, X, 1, ["noise"], "noise", max_steps=20)
    assert full.is_exact
    assert not thinned.is_exact
    assert len(thinned.of_set) <= 20 < len(full.of_set)
    assert set(thinned.ends) <= set(full.ends)
    step = np.searchsorted(thinned.ends, thinned.own) - 1
    assert thinned.of_set[step] == pytest.approx(thinned.at_own[0])


def test_a_value_outside_of_the_training_range_widens_the_curve(mixed):
    X, explainer = mixed
    far = X[1:2].assign(noise=50.0)
    curve = curve_of(explainer, far, 0, ["noise"], "noise")
    assert curve.ends[-1] == 50.0
    assert curve.of_set[-1] == pytest.approx(curve.at_own[0])


def test_the_interval_of_a_number_stays_that_of_the_row():
    explainer = regressor().fit(FRAME, NUMBERS)
    row = FRAME[4:5]
    interval, y = explainer.interval(row)[0], explainer.predict(row)
    curve = curve_of(explainer, row, 0, ["speed", "load"], "speed")
    for speed in range(6):
        moved = row.assign(speed=float(speed))
        low, high = explainer.cdf(moved, ["speed", "load"], [np.nextafter(interval[0], -np.inf), interval[1]])[0]
        assert curve.of_set[speed] == pytest.approx(high - low)
    assert y[0] == explainer.predict(row)[0]
