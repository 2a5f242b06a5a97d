"""All rows at a glance: how often variables are in the sets of an outcome, and for which values."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from suffice import SufficientExplainer
from suffice._show.cards import overview_part
from suffice._show.overview import best_set_matrix, make_overview, outcome_masks


@pytest.fixture(scope="module")
def explanations():
    """Rows that are "left" early or on a monthly contract, and stay otherwise."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"tenure": rng.uniform(0, 72, 600), "noise": rng.normal(size=600)})
    X["contract"] = rng.choice(["month", "year", "two years"], 600, p=[0.5, 0.3, 0.2])
    y = pd.Series(np.where((X["tenure"] < 36) & (X["contract"] == "month"), "left", "stays"), name="state")
    return (
        SufficientExplainer(levels="same", random_state=0)
        .fit(X, y, focus="left")
        .explain(X[:200], rules=None, progress=False)
    )


def line_of(overview, outcome, variable):
    of_outcome = next(one for one in overview if one.label == outcome)
    return next(line for line in of_outcome.lines if line.variable == variable)


def test_lines_say_how_often_for_which_rows_and_values(explanations):
    overview = make_overview(explanations)
    assert [one.label for one in overview] == ["left", "stays"]
    left = [i for i, e in enumerate(explanations) if e.outcome == "left" and e.is_sufficient]
    assert overview[0].n_sets == len(left) > 10
    assert overview[0].note.startswith(f"{np.count_nonzero(explanations.outcomes == 'left')} rows, {len(left)} with")
    tenure = line_of(overview, "left", "tenure")
    assert list(tenure.rows) == [i for i in left if "tenure" in explanations[i].best_set.variables]
    assert tenure.share == len(tenure.rows) / len(left)
    assert "low and middle values (≤ " in tenure.drawing.bounds
    assert (tenure.drawing.band.has_low, tenure.drawing.band.has_high) == (False, True)
    assert 0.4 < tenure.drawing.band.end < 0.51
    stays = line_of(overview, "stays", "tenure")
    assert "high values (≥ " in stays.drawing.bounds


def test_categories_are_named_with_their_shares(explanations):
    contract = line_of(make_overview(explanations), "left", "contract")
    assert contract.drawing.bounds.endswith("of the sets: month 100 %")
    assert [chip.text for chip in contract.drawing.chips if chip.is_in] == ["month"]
    stays = line_of(make_overview(explanations), "stays", "contract")
    assert {chip.text for chip in stays.drawing.chips if chip.is_in} == {"year", "two years"}


def test_the_rows_of_a_line_are_those_of_the_matrix(explanations):
    is_in, names = best_set_matrix(explanations), explanations.variable_names
    for of_outcome, (label, has_outcome) in zip(make_overview(explanations), outcome_masks(explanations), strict=True):
        assert of_outcome.label == label
        for line in of_outcome.lines:
            assert list(line.rows) == np.flatnonzero(is_in[:, names.index(line.variable)] & has_outcome).tolist()
            markup = overview_part(of_outcome, 9)
            assert f'data-rows="{" ".join(map(str, line.rows))}"' in markup
    assert "and 1 more" in overview_part(make_overview(explanations)[1], len(make_overview(explanations)[1].lines) - 1)


def test_values_that_most_training_rows_share_are_low_or_high():
    """Three in four rows have 0: its rank lies near the middle, but no value is lower."""
    x = np.repeat([0.0, 1.0, 2.0, 3.0], [300, 40, 30, 30])
    X = pd.DataFrame({"delay": x + 0.0, "z": np.random.default_rng(0).normal(size=400)})
    explanations = SufficientExplainer(random_state=0).fit(X, np.where(x > 0, "late", "fine")).explain(X, rules=None)
    overview = make_overview(explanations)
    assert "low values" in line_of(overview, "fine", "delay").drawing.bounds
    assert "high values" in line_of(overview, "late", "delay").drawing.bounds


def test_missing_values_and_values_of_any_size_are_said():
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"a": rng.normal(size=400), "b": rng.normal(size=400)})
    X.loc[X.index % 2 == 0, "a"] = math.nan
    y = np.where(X["a"].isna(), "unknown", "known")
    explanations = SufficientExplainer(random_state=0).fit(X, y).explain(X[:80], rules=None)
    overview = make_overview(explanations)
    assert line_of(overview, "unknown", "a").drawing.bounds == "100 % of the sets: 100 % missing"
    assert line_of(overview, "known", "a").drawing.bounds == "100 % of the sets: all values"
