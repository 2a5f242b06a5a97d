from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from benchmarks import estimator
from benchmarks.default_explainer import Plan, has_claim, read_setting
from benchmarks.known_tables import INTERACTIONS, NO_SIGNAL, OWN_NOISE, noisy_table
from benchmarks.laws import CLASSES, LAWS
from benchmarks.real_tables import RealTable
from printed_tables import headings_of_tables

from suffice.explaining.explanation import SufficientSet


def test_a_small_run_prints_every_table(capsys, monkeypatch):
    monkeypatch.delenv("SUFFICE_DATA", raising=False)
    monkeypatch.setattr(estimator, "QUICK", dict.fromkeys(INTERACTIONS, (300, 10)))
    estimator.main(["--quick", "forest.n_estimators=20"])
    text = capsys.readouterr().out
    assert "; forest.n_estimators=20; 1 seeds of draw 0, quick" in text
    assert headings_of_tables(text) == [
        "Variables that matter only together",
        "No signal",
        "Noise columns beside signal",
        "Laws that are known",
        "Categories",
        "Held-out rows",
        "Intervals of numbers",
        "Another seed",
        "The gain that a variable needs",
        "Time",
    ]


def test_unknown_parts_are_refused(capsys):
    with pytest.raises(SystemExit):
        estimator.main(["laws", "lies"])
    assert "unknown part 'lies'; there are switch, moons, " in capsys.readouterr().err


def test_settings_are_literals_or_text():
    assert read_setting("pi=0.8") == ("pi", 0.8)
    assert read_setting("candidates=splits") == ("candidates", "splits")
    assert read_setting("max_size=None") == ("max_size", None)


def test_without_settings_the_explainer_is_the_default_one():
    X, y = LAWS[1].draw(200, np.random.default_rng(0))
    explainer = Plan().fit(X, y, 3)
    assert explainer.forest is None
    assert (explainer.random_state, explainer.n_jobs) == (3, 1)
    changed = Plan(settings={"forest.n_estimators": 7, "pi": 0.8}).fit(X, y, 3)
    expected = explainer.forest_.get_params() | {"n_estimators": 7}
    assert (changed.pi, changed.forest_.get_params()) == (0.8, expected)


def test_two_draws_share_no_seed():
    assert not set(Plan(draw=0).seeds) & set(Plan(draw=1).seeds)


def test_the_empty_set_is_no_claim():
    best_sets = [SufficientSet((), 0.95), SufficientSet(("a",), 0.95), SufficientSet(("a",), 0.5)]
    explanations = SimpleNamespace(best_sets=best_sets, has_set=np.array([True, True, False]))
    assert has_claim(explanations).tolist() == [False, True, False]


@pytest.mark.parametrize("name", INTERACTIONS)
def test_the_variables_that_matter_are_found_without_noise(name):
    table = INTERACTIONS[name](100, 20, np.random.default_rng(0))
    assert table.detect(table.true_sets) == (1, 0)
    assert table.is_exact(table.true_sets).all()
    assert not table.has_noise(table.true_sets).any()
    noise = table.X.columns[-1]
    assert table.has_noise([{noise}] * 20).all()
    assert not table.is_exact([S | {noise} for S in table.true_sets]).any()


@pytest.mark.parametrize("kind", NO_SIGNAL)
def test_small_tables_without_signal_have_rows_with_new_categories(kind):
    """Fresh rows with a category that no training row has were refused."""
    for seed in range(3):
        assert 0 <= estimator.measure_null(Plan(settings={"forest.n_estimators": 5}), kind, 60, 0.8, seed) <= 1


@pytest.mark.parametrize("name", OWN_NOISE)
def test_noise_columns_are_not_related_to_the_outcome(name):
    table = noisy_table(name, 4000, 0)
    is_first = table.y == table.y[0]
    spread = np.sqrt(is_first.mean() * (1 - is_first.mean()))
    for column in table.noise:
        values = table.X[column]
        parts = pd.qcut(values, 4, duplicates="drop") if values.dtype.kind == "f" else values
        groups = pd.Series(is_first).groupby(parts.to_numpy(), observed=True)
        errors = (groups.mean() - is_first.mean()) / (spread / np.sqrt(groups.size()))
        assert (errors.abs() < 4.5).all(), column


def test_an_oracle_explains_every_row_of_xor_but_not_of_a_weak_law():
    """Both signs keep the outcome of XOR with probability .95; a weak law keeps most outcomes less surely."""
    explanations = SimpleNamespace(fitted=SimpleNamespace(level_of_rules=lambda: 0.9), intervals=None)
    for law, least, most in ((CLASSES[0], 1, 1), (LAWS[0], 0.05, 0.4)):
        X, _ = law.draw(300, np.random.default_rng(0))
        assert least <= estimator.oracle_has_set(law, X, explanations, [0, 1]).mean() <= most


def test_intervals_of_residuals_hold_what_they_promise():
    rng = np.random.default_rng(0)
    predicted, fresh = rng.uniform(0, 1, (2, 20_000))
    noise, fresh_noise = rng.uniform(-1, 1, (2, 20_000))
    shares, widths = estimator.residual_widths(predicted, predicted + noise, fresh, fresh + fresh_noise)
    np.testing.assert_allclose(shares, np.linspace(0.5, 1, 201), atol=0.02)
    np.testing.assert_allclose(widths, 2 * np.linspace(0.5, 1, 201), atol=0.03)


def test_categories_are_compared_with_their_shares(monkeypatch):
    X = pd.DataFrame({"a": np.repeat(["u", "v", "w"], [300, 250, 50])})
    y = np.where(np.arange(600) % 3 == 0, "no", "yes")
    explainer = SimpleNamespace(sdp=lambda rows, S, labels: np.where(rows["a"] == "u", 0.4, 0.3))
    monkeypatch.setattr(Plan, "fit", lambda *arguments: explainer)
    figures = estimator.measure_categories(Plan(), RealTable("toy", X, y, True), 0)
    shares = [np.mean(y[:300] == "no"), np.mean(y[300:550] == "no")]
    distances = np.abs([0.4, 0.3] - np.array(shares))
    assert figures["categories, mean"] == pytest.approx(distances.mean())
    assert figures["categories, largest"] == pytest.approx(distances.max())
    assert np.isnan(figures["pairs, largest"])
