import numpy as np
import pytest
from benchmarks.laws import CLASSES, LAWS, NULLS, Logistic, NormalColumns
from scipy.special import expit

N_ROWS = 5000
EVERY = [NULLS[2], *LAWS, *CLASSES]


def numbers_of(law):
    """Positions of columns to condition on, beside those of the law's own names."""
    return [[], [0], [1, 6], [0, 2, 4], list(range(10))]


@pytest.mark.parametrize("law", EVERY, ids=lambda law: law.name)
def test_probabilities_are_those_of_the_drawn_rows(law):
    """Whatever is known of a row's x_S, outcomes are kept as often as the probabilities say, in the mean."""
    X, y = law.draw(N_ROWS, np.random.default_rng(0))
    is_class = y.dtype.kind in "bi"
    kept = np.ones(N_ROWS, dtype=int) if is_class else np.tile(np.quantile(y, [0.2, 0.6]), (N_ROWS, 1))
    is_kept = y == 1 if is_class else (kept[:, 0] <= y) & (y <= kept[:, 1])
    for positions in numbers_of(law):
        S = [X.columns[i] for i in positions]
        probability = law.sdp(X, S, kept)
        assert ((probability >= 0) & (probability <= 1)).all()
        for weight in [np.ones(N_ROWS), *(X[name].to_numpy(float) > X[name].mean() for name in S)]:
            errors = (is_kept - probability) * weight
            assert abs(errors.mean()) < 4 * errors.std() / np.sqrt(N_ROWS)


@pytest.mark.parametrize("law", EVERY, ids=lambda law: law.name)
def test_more_knowledge_spreads_the_probabilities(law):
    X, y = law.draw(2000, np.random.default_rng(0))
    kept = np.ones(2000, dtype=int) if y.dtype.kind in "bi" else np.tile(np.quantile(y, [0.2, 0.6]), (2000, 1))
    spreads = [law.sdp(X, list(X.columns[:n]), kept).std() for n in (0, 1, 10)]
    assert spreads[0] == pytest.approx(0, abs=1e-12)
    if law.name == "XOR":
        assert spreads[1] == 0 < spreads[2]
    elif law not in NULLS:
        assert spreads[0] + 0.01 < spreads[1] < spreads[2]


def test_a_logistic_law_with_all_columns_known_is_the_logistic_function():
    law = Logistic("toy", 0.5, (2.0, -1.0), NormalColumns(3, 1.0, 0.5))
    X, _ = law.draw(5, np.random.default_rng(0))
    p = expit(0.5 + 2 * X["x0"] - X["x1"])
    np.testing.assert_allclose(law.sdp(X, ["x0", "x1"], [1, 1, 1, 0, 0]), np.where([1, 1, 1, 0, 0], p, 1 - p))
