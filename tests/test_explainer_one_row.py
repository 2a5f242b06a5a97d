"""Rows with the names of their columns, a pandas Series, a dict or a list of dicts, in all methods that take rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.ensemble import RandomForestClassifier

from suffice import GlobalRulesClassifier, SufficientExplainer

RNG = np.random.default_rng(0)
N = 300
FRAME = pd.DataFrame(
    {
        "hour": RNG.integers(0, 24, N),
        "weather": RNG.choice(["clear", "mist", "rain"], N),
        "temp": np.where(RNG.random(N) < 0.1, np.nan, RNG.normal(15, 8, N).round(1)),
        "workingday": RNG.random(N) < 0.7,
    }
)
BUSY = np.where((FRAME["hour"] > 12) & (FRAME["weather"] != "rain"), "busy", "calm")
FORMS = {
    "Series": lambda i: FRAME.iloc[i],
    "dict": lambda i: FRAME.iloc[i].to_dict(),
    "dict in another order": lambda i: dict(reversed(FRAME.iloc[i].to_dict().items())),
    "dict of polars": lambda i: pl.from_pandas(FRAME).row(i, named=True),
    "list of dicts": lambda i: [FRAME.iloc[i].to_dict()],
    "dict of columns": lambda i: FRAME[i : i + 1].to_dict("list"),
}


@pytest.fixture(scope="module")
def explainer():
    return SufficientExplainer(RandomForestClassifier(20, min_samples_leaf=3, random_state=0)).fit(FRAME, BUSY)


@pytest.mark.parametrize("form", FORMS)
def test_one_row_is_explained_like_a_frame_of_one_row(explainer, form):
    for i in range(12):
        row, frame = FORMS[form](i), FRAME[i : i + 1]
        assert list(explainer.explain(row)) == list(explainer.explain(frame))
        assert list(explainer.explain(row, "busy")) == list(explainer.explain(frame, ["busy"]))
        assert explainer.sdp(row, ["hour"]).tolist() == explainer.sdp(frame, ["hour"]).tolist()
        assert explainer.predict(row).tolist() == explainer.predict(frame).tolist()
        assert explainer.predict_proba(row, ["hour"]).tolist() == explainer.predict_proba(frame, ["hour"]).tolist()
        assert explainer.rule(row, ["hour"]) == explainer.rule(frame, ["hour"])
        np.testing.assert_array_equal(explainer.encode(row), explainer.encode(frame))
        rule = explainer.explain(frame)[0].rule
        assert rule is None or rule.covers(row).tolist() == [True]


@pytest.mark.parametrize("form", FORMS)
def test_one_row_goes_through_checks_and_lists_of_rules(explainer, form):
    row, frame = FORMS[form](3), FRAME[3:4]
    again = {"n_seeds": 1, "n_resamples": 0, "random_state": 0}
    assert str(explainer.stability(row, **again)) == str(explainer.stability(frame, **again))
    rules = GlobalRulesClassifier.from_explanations(explainer.explain(FRAME[:50]))
    assert rules.predict(row).tolist() == rules.predict(frame).tolist()
    assert str(explainer.certify(rules, row, BUSY[3])) == str(explainer.certify(rules, frame, BUSY[3:4]))


@pytest.mark.parametrize("form", FORMS)
def test_a_model_gets_one_row_as_a_frame(form):
    tables_of_model = []

    def model(X):
        tables_of_model.append(X)
        return np.where(X["hour"] > 12, "late", "early")

    explainer = SufficientExplainer.for_model(model, FRAME, random_state=0)
    assert list(explainer.explain(FORMS[form](5))) == list(explainer.explain(FRAME[5:6]))
    assert isinstance(tables_of_model[1], pd.DataFrame)
    assert tables_of_model[1].shape == (1, 4)


def test_a_row_with_other_names_or_without_names_is_refused(explainer):
    with pytest.raises(ValueError, match=r"missing \['hour'\], unexpected \['hours'\]\. Did you mean 'hours'\?"):
        explainer.explain(FRAME.iloc[0].rename({"hour": "hours"}))
    with pytest.raises(ValueError, match="`X` is a Series of 300 values without the names of columns: for one row"):
        explainer.explain(FRAME["temp"])


def test_several_outcomes_do_not_belong_to_one_row(explainer):
    with pytest.raises(ValueError, match="`y` has 2 entries, `X` has 1 rows"):
        explainer.explain(FRAME.iloc[0], ["busy", "calm"])


def test_a_list_of_dicts_is_a_table(explainer):
    """An error message suggested dicts of values, but a list of them was refused."""
    records = FRAME.to_dict("records")
    forest = RandomForestClassifier(20, min_samples_leaf=3, random_state=0)
    np.testing.assert_array_equal(SufficientExplainer(forest).fit(records, BUSY).encode(FRAME), explainer.encode(FRAME))
    assert list(explainer.explain(records[:20])) == list(explainer.explain(FRAME[:20]))
    assert str(explainer.reasons(records[:9])) == str(explainer.reasons(FRAME[:9]))
    assert str(explainer.what_if(records[:3])) == str(explainer.what_if(FRAME[:3]))
    named = [{"order": f"A{i}", **row} for i, row in enumerate(records[:3])]
    assert explainer.explain(named, ids="order").ids == ("A0", "A1", "A2")
    assert explainer.explain(named[0], ids="order").ids == ("A0",)
    model = SufficientExplainer.for_model(lambda X: X["hour"] > 12, records, random_state=0)
    assert model.explain(records[:9]).outcomes.tolist() == (FRAME["hour"][:9] > 12).tolist()


def test_a_name_that_a_dict_lacks_is_a_missing_value(explainer):
    rows = FRAME[:2].to_dict("records")
    del rows[1]["temp"]
    assert np.isnan(explainer.encode(rows)[1, 2])
    with pytest.raises(ValueError, match=r"missing \['temp'\]"):
        explainer.encode([{"hour": 1, "weather": "rain", "workingday": True}] * 2)
