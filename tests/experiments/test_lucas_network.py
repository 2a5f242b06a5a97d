"""The LUCAS network: its states and exact probabilities against the published table, and samples of it."""

from __future__ import annotations

import math
import re

import numpy as np
import pandas as pd
import pytest
from experiments.data.lucas_network import LUCAS_COLUMNS, LUCAS_PROBABILITIES, lucas_sdp, lucas_states, make_lucas
from pandas.api.types import is_bool_dtype

STATES = lucas_states()
# The variables that are true in the observation that the paper explains; the others are false.
TRUE_IN_PAPER = ["Smoking", "Yellow_Fingers", "Attention_Disorder", "Car_Accident", "Fatigue", "Coughing"]


def share(condition, of=None):
    """The exact probability of a condition on the states, given another."""
    p = STATES["probability"]
    return p[condition].sum() if of is None else p[condition & of].sum() / p[of].sum()


def agree(table, values):
    """Return which rows of a table have these values."""
    agrees = np.ones(len(table), dtype=bool)
    for name, value in values.items():
        agrees &= table[name] == value
    return agrees


def test_parents_come_before_their_children():
    seen = set()
    for variable, (parents, probability_of) in LUCAS_PROBABILITIES.items():
        assert set(parents) <= seen, variable
        assert len(probability_of) == 2 ** len(parents), variable
        seen.add(variable)
    assert seen == {*LUCAS_COLUMNS, "Lung_cancer"}


def test_the_probabilities_are_the_published_ones(folder):
    path = folder / "lucas0_probabilities.csv"
    if not path.exists():
        pytest.skip("SUFFICE_DATA has no file lucas0_probabilities.csv to compare with")
    published = pd.read_csv(path, keep_default_na=False)
    listed = [
        (variable, ";".join(f"{parent}={value}" for parent, value in zip(parents, values, strict=True)), p_true)
        for variable, (parents, probability_of) in LUCAS_PROBABILITIES.items()
        for values, p_true in probability_of.items()
    ]
    assert listed == list(published.itertuples(index=False, name=None))
    assert len(listed) == 29


def test_every_state_is_listed_once_and_their_probabilities_sum_to_one():
    assert STATES.shape == (4096, 13)
    assert not STATES.drop(columns="probability").duplicated().any()
    assert math.fsum(STATES["probability"]) == pytest.approx(1, abs=1e-12)
    assert STATES["probability"].min() > 0


@pytest.mark.parametrize("variable", LUCAS_PROBABILITIES)
def test_the_states_have_the_conditional_probabilities(variable):
    parents, probability_of = LUCAS_PROBABILITIES[variable]
    for values, p_true in probability_of.items():
        is_given = agree(STATES, dict(zip(parents, values, strict=True)))
        assert share(STATES[variable], of=is_given) == pytest.approx(p_true, abs=1e-12)


def test_a_variable_depends_on_earlier_ones_through_its_parents_alone():
    names = list(LUCAS_PROBABILITIES)
    for i, variable in enumerate(names):
        parents = list(LUCAS_PROBABILITIES[variable][0])
        for _, states in STATES.groupby(names[:i]) if i else [((), STATES)]:
            values = tuple(int(states[p].iloc[0]) for p in parents)
            p_true = states["probability"][states[variable]].sum() / states["probability"].sum()
            assert p_true == pytest.approx(LUCAS_PROBABILITIES[variable][1][values], abs=1e-9)


def test_the_exact_values_are_the_known_ones():
    both = STATES["Smoking"] & STATES["Coughing"]
    assert round(share(STATES["Lung_cancer"]), 4) == 0.7363
    assert round(share(both), 4) == 0.5843
    assert round(share(STATES["Lung_cancer"], of=both), 4) == 0.9465


def observation():
    return pd.DataFrame({name: [name in TRUE_IN_PAPER] for name in LUCAS_COLUMNS})


def test_the_exact_sdp_has_the_known_values():
    x = observation()
    assert lucas_sdp(x, []).round(4) == 0.7363
    assert lucas_sdp(x, ["Smoking", "Coughing"]).round(4) == 0.9465
    assert lucas_sdp(x, LUCAS_COLUMNS).round(4) == 0.9708


@pytest.mark.parametrize("S", [[], ["Genetics"], ["Coughing", "Allergy"], ["Fatigue", "Smoking", "Genetics"]])
def test_the_exact_sdp_is_the_share_of_the_states_that_agree(S):
    X = make_lucas(40, random_state=0).X
    y = np.arange(40) % 2 == 0
    sdp = lucas_sdp(X, S, y)
    assert sdp.shape == (40,)
    for row in range(40):
        is_given = agree(STATES, {name: X[name][row] for name in S})
        assert sdp[row] == pytest.approx(share(STATES["Lung_cancer"] == y[row], of=is_given), abs=1e-12)


def test_the_order_of_the_set_and_the_kind_of_the_values_do_not_matter():
    X = make_lucas(40, random_state=0).X
    sdp = lucas_sdp(X, ["Smoking", "Coughing", "Allergy"])
    np.testing.assert_array_equal(lucas_sdp(X, ("Allergy", "Smoking", "Coughing")), sdp)
    np.testing.assert_array_equal(lucas_sdp(X, ["Smoking", "Coughing", "Allergy", "Smoking"]), sdp)
    np.testing.assert_array_equal(lucas_sdp(X.astype(float), {"Smoking", "Coughing", "Allergy"}), sdp)
    np.testing.assert_array_equal(lucas_sdp(X, ["Smoking", "Coughing", "Allergy"], np.ones(40, int)), sdp)
    np.testing.assert_allclose(lucas_sdp(X, ["Smoking", "Coughing", "Allergy"], False), 1 - sdp, atol=1e-15)


def test_frequencies_in_a_sample_are_near_the_probabilities():
    data = make_lucas(200_000, random_state=0)
    assert tuple(data.X.columns) == LUCAS_COLUMNS
    assert all(is_bool_dtype(dtype) for dtype in [*data.X.dtypes, data.y.dtype])
    table = data.X.assign(Lung_cancer=data.y)
    z = []
    for variable, (parents, probability_of) in LUCAS_PROBABILITIES.items():
        for values, p in probability_of.items():
            rows = table[agree(table, dict(zip(parents, values, strict=True)))]
            z.append((rows[variable].mean() - p) / math.sqrt(p * (1 - p) / len(rows)))
    assert len(z) == 29
    assert np.abs(z).max() < 4
    both = table["Smoking"] & table["Coughing"]
    assert both.mean() == pytest.approx(0.5843, abs=0.005)
    assert table["Lung_cancer"][both].mean() == pytest.approx(0.9465, abs=0.003)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: make_lucas(-1), ValueError, "`n_rows` must be at least 1, got -1."),
        (
            lambda: lucas_sdp([[1]], ["Smoking"]),
            TypeError,
            "`X` must be a frame with the variables as columns, got list.",
        ),
        (
            lambda: lucas_sdp(observation(), "Smoking"),
            TypeError,
            "`S` must be a list of names, got 'Smoking'; give ['Smoking'].",
        ),
        (
            lambda: lucas_sdp(observation(), ["Smokin"]),
            ValueError,
            "Unknown variable 'Smokin' in `S`. Did you mean 'Smoking'?",
        ),
        (
            lambda: lucas_sdp(STATES, ["Lung_cancer"]),
            ValueError,
            "Unknown variable 'Lung_cancer' in `S`.",
        ),
        (
            lambda: lucas_sdp(observation()[["Smoking"]], ["Genetics"]),
            ValueError,
            "`X` has no column 'Genetics', which `S` names.",
        ),
        (
            lambda: lucas_sdp(observation(), [], [True, False]),
            ValueError,
            "`y` must be one outcome or one for each of the 1 rows, got shape (2,).",
        ),
        (
            lambda: lucas_sdp(observation().assign(Smoking=2), ["Smoking"]),
            ValueError,
            "`X['Smoking']` must hold booleans, or 0 and 1, got 2.",
        ),
        (
            lambda: lucas_sdp(observation(), ["Smoking"], [0.5]),
            ValueError,
            "`y` must hold booleans, or 0 and 1, got 0.5.",
        ),
    ],
)
def test_a_wrong_argument_is_refused(call, error, message):
    with pytest.raises(error, match=re.escape(message)):
        call()
