"""Changes as values: the least change, and the probability of the box."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from loans import ROW, loan_explainer, make_loans

from suffice import SufficientExplainer
from suffice._forest.out_of_bag import calibration_of
from suffice._forest.outcomes import read_targets


@pytest.fixture(scope="module")
def explainer():
    return loan_explainer()


def test_the_least_change_lies_inside_of_its_box(explainer):
    """In each number that moves, a tenth of the training rows lies between the end of the box and the least change."""
    incomes = make_loans()[0]["income"].to_numpy()
    at_end = explainer.what_if(ROW, "good", margin=0)[0].best
    end = at_end.values["income"]
    assert at_end.moves[0].text == f"raising income from 20 to at least {end}"
    default = explainer.what_if(ROW, "good")[0].best
    assert default.moves[0].text == at_end.moves[0].text
    n_between = int(np.sum((end <= incomes) & (incomes <= default.values["income"])))
    n_fewer = int(np.sum((end <= incomes) & (incomes < default.values["income"])))
    assert n_fewer < 0.1 * len(incomes) <= n_between
    inside = incomes[incomes >= end]
    middle = explainer.what_if(ROW, "good", margin=0.5)[0].best.values["income"]
    assert abs(np.mean(inside <= middle) - 0.5) < 0.1  # no farther than the middle of the rows in the box
    down = explainer.what_if({**ROW, "income": 50}, "bad", only=["income"])[0].best
    least = explainer.what_if({**ROW, "income": 50}, "bad", only=["income"], margin=0)[0].best
    assert down.values["income"] < least.values["income"] < 50
    with pytest.raises(ValueError, match=r"`margin` must be in \[0, 0.5\], got 0.6"):
        explainer.what_if(ROW, "good", margin=0.6)


@pytest.mark.parametrize("check", ["everywhere", "mean"])
def test_the_probability_of_a_box_is_that_of_rows_with_its_values(explainer, check, monkeypatch):
    """Rows in the leaves of the row mix the box with what is near it: their share is too low where the rest is bad."""
    monkeypatch.setattr("suffice.changes.making.N_AVERAGED", 10_000)
    change = explainer.what_if(ROW, "good", only=["income", "age"], check=check)[0].best
    incomes = make_loans()[0].iloc[list(change.rows)][list(change.variables)]
    moved = pd.DataFrame([ROW] * len(incomes)).assign(**{name: incomes[name].to_numpy() for name in change.variables})
    votes = explainer.forest_.predict_proba(explainer.encode(moved))[:, 1]
    votes = np.clip(votes, 1e-3, 1 - 1e-3)
    curve = calibration_of(explainer.fitted_, *read_targets("good", np.array(["bad"]), explainer.fitted_.classes))
    logits = curve.slope * np.log(votes / (1 - votes)) + curve.intercept
    chances = 1 / (1 + np.exp(-logits))
    assert chances.min() - 1e-9 <= change.box_probability <= chances.max() + 1e-9
    assert change.box_probability == pytest.approx(chances.mean(), abs=0.05)  # rows differ in weight
    monkeypatch.setattr("suffice.changes.making.N_AVERAGED", 20)
    few = explainer.what_if(ROW, "good", only=["income", "age"], check=check)[0].best
    assert few.box_probability == pytest.approx(change.box_probability, abs=0.06)
    assert few.to_dict()["box_probability"] == few.box_probability


def test_the_probability_of_a_box_comes_near_a_known_law():
    """The outcome is good with probability 0.95 if a > 0.5, else 0.05. Counted rows say 0.02 less: leaves mix both."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.random((3000, 3)).round(3), columns=["a", "b", "c"])
    y = np.where(rng.random(3000) < np.where(X["a"] > 0.5, 0.95, 0.05), "good", "bad")
    explainer = SufficientExplainer(random_state=0).fit(X, y)
    changes = explainer.what_if(X[X["a"] < 0.4][:20], "good", only=["a"])
    found = [answer.best.box_probability for answer in changes if answer.best]
    assert len(found) > 15
    assert np.abs(np.array(found) - 0.95).mean() < 0.02
