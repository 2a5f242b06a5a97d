"""Changes that the model is asked about: agreed ones first, and boxes that are cut to where it agrees."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from loans import ROW, ask_instead, make_loans

from suffice import SufficientExplainer


def explainer_of(fitted_to, asked):
    """An explainer whose forest follows one model, and that asks another one: what happens far away from the rows."""
    X, _ = make_loans()
    return ask_instead(SufficientExplainer.for_model(fitted_to, X, random_state=0), asked)


def good_above(income):
    def model(table):
        return np.where((table["income"] > income) & (table["account"] != "empty"), "good", "bad")

    return model


@pytest.fixture(scope="module")
def stricter():
    """The forest has learnt that an income above 30 is enough; the model wants one above 40."""
    return explainer_of(good_above(30), good_above(40))


def test_a_box_is_cut_to_where_the_model_agrees(stricter):
    answer = stricter.what_if(ROW, "good")[0]
    change = answer.best
    assert (change.by, change.variables, change.confirmed) == ("model", ("income",), True)
    [condition] = change.conditions
    assert 40 < condition.low <= 42
    assert change.values["income"] > 40
    assert change.confirmed_share >= 0.8
    assert 0 < change.n_asked <= 50
    assert not change.optimal
    assert min(make_loans()[0]["income"].iloc[list(change.rows)]) > 40
    assert answer.lead == f"Row 0: the outcome is bad; according to the model, {change.sentence} would make it good."
    assert answer.to_dict()["changes"][0]["by"] == "model"
    assert stricter.what_if(ROW, "good").to_frame()["by"].tolist() == ["model"] * len(answer.changes)
    assert all(other.confirmed for other in answer.changes)
    pair = stricter.what_if(ROW, "good", min_size=2)[0].best
    assert (pair.by, len(pair.variables)) == ("model", 2)


def test_rows_with_which_the_model_agrees_are_not_searched_again(stricter):
    X, _ = make_loans()
    same = SufficientExplainer.for_model(good_above(30), X, random_state=0)
    answer = same.what_if(ROW, "good")[0]
    assert (answer.best.by, answer.best.is_agreed) == ("forest", True)
    assert answer.lead == f"Row 0: the outcome is bad; {answer.best.sentence} would make it good (probability >= 0.8)."
    not_asked = same.what_if(ROW, "good", confirm=False)[0]
    assert not_asked.best.values == answer.best.values
    assert not_asked.text.endswith("it may differ elsewhere.")
    assert "not asked" not in answer.text
    alone = stricter.what_if(ROW, "good", confirm=False)[0]
    assert alone.best.by == "forest"
    assert alone.best.values["income"] < 40


def test_where_the_forest_finds_nothing_the_model_is_asked_as_well():
    """The forest is never sure of the target, but finds it more likely than not."""
    X, _ = make_loans()
    noisy = np.random.default_rng(1).random(len(X))

    def unsure(table):  # seen by the forest, which cannot learn more than a share of three fifths
        share = noisy if len(table) == len(noisy) else np.zeros(len(table))
        return np.where((table["income"] > 30) & (share < 0.65), "good", "bad")

    explainer = explainer_of(unsure, lambda table: np.where(table["income"] > 30, "good", "bad"))
    assert explainer.what_if(ROW, "good", max_size=1, confirm=False)[0].best is None
    answer = explainer.what_if(ROW, "good", max_size=1)[0]
    assert (answer.best.by, answer.best.variables) == ("model", ("income",))
    assert answer.best.values["income"] > 30
    assert answer.nearest is None


def test_changes_with_which_the_model_agrees_come_first():
    """Either is good for the forest; the model asks for little debt, whatever the income."""
    explainer = explainer_of(
        lambda table: np.where((table["income"] > 30) | (table["debt"] < 1), "good", "bad"),
        lambda table: np.where(table["debt"] < 1, "good", "bad"),
    )
    row = {**ROW, "debt": 3.0}
    before = explainer.what_if(row, "good", confirm=False)[0]
    after = explainer.what_if(row, "good")[0]
    assert before.best.variables == ("income",)
    assert after.best.variables == ("debt",)
    assert [change.confirmed for change in after.changes] == [True] + [False] * (len(after.changes) - 1)
    assert len(after.changes) == len(before.changes) > 1
    assert "does NOT confirm this" in after.text


def test_the_least_change_is_confirmed_apart_from_the_rows_in_its_range():
    def either(table):
        return np.where((table["income"] > 30) | (table["debt"] < 1), "good", "bad")

    row = {**ROW, "debt": 3.0}
    least = explainer_of(either, either).what_if(row, "good")[0].best.values["income"]
    explainer = explainer_of(either, lambda table: np.where(table["income"] == least, "bad", either(table)))
    of_debt, of_income = explainer.what_if(row, "good", n=2)[0].changes
    assert (of_income.variables, of_income.confirmed) == (("income",), False)
    assert 0.8 <= of_income.confirmed_share <= 1
    assert (of_debt.variables, of_debt.confirmed, of_debt.confirmed_share) == (("debt",), True, 1.0)


def test_nothing_is_hidden_if_the_model_agrees_with_nothing(stricter):
    explainer = explainer_of(good_above(30), lambda table: np.full(len(table), "bad"))
    asked, alone = (explainer.what_if(ROW, "good", confirm=confirm)[0] for confirm in (True, False))
    assert [change.values for change in asked.changes] == [change.values for change in alone.changes]
    assert all(change.confirmed is False for change in asked.changes)
    assert asked.lead.endswith("would make it good (probability >= 0.8), but the model does not confirm it.")


def test_limits_hold_in_the_search_for_boxes_with_which_the_model_agrees(stricter):
    within = stricter.what_if(ROW, "good", bounds={"income": (None, 50)})[0].best
    assert within.by == "model"
    [condition] = within.conditions
    assert condition.high <= 50
    poor = stricter.what_if({**ROW, "account": "empty"}, "good", bounds={"account": ["much"]}, fixed=["age"])[0].best
    assert poor.by == "model"
    assert poor.values["account"] == "much"
    assert set(poor.variables) == {"income", "account"}
    fixed = stricter.what_if(ROW, "good", fixed=["income"])[0]
    assert fixed.best is None
    assert stricter.what_if({**ROW, "income": 45}, "bad", direction={"income": "down"})[0].best.is_agreed


def test_numbers_and_arrays_are_asked_too():
    rng = np.random.default_rng(0)
    X = rng.random((800, 3)).round(3)
    explainer = SufficientExplainer.for_model(lambda table: 100 * table[:, 0], X, random_state=0)
    ask_instead(explainer, lambda table: 100 * table[:, 0] - 5)  # 5 less than what the forest has learnt
    changes = explainer.what_if(np.array([[0.2, 0.5, 0.5], [0.1, 0.5, 0.5]]), (50, 60))
    for answer in changes:
        assert answer.best.by == "model"
        assert 0.55 <= answer.best.values["x0"] <= 0.65
        assert answer.best.is_agreed
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    explainer = SufficientExplainer.for_model(lambda table: 100 * table["a"], frame, random_state=0)
    ask_instead(explainer, lambda table: 100 * table["a"] - 5)
    assert 0.55 <= explainer.what_if(frame[:1].assign(a=0.2), (50, 60))[0].best.values["a"] <= 0.65


def test_rows_are_asked_about_in_parts(stricter, monkeypatch):
    X, y = make_loans(40, seed=3)
    rows = X[(y == "bad").to_numpy()]
    together = stricter.what_if(rows, "good")
    monkeypatch.setattr("suffice.changes.model.N_TOGETHER", 3)
    in_parts = stricter.what_if(rows, "good")
    assert together.to_dict() == in_parts.to_dict()
    assert sum(answer.best is not None and answer.best.by == "model" for answer in together) > 3


def test_a_part_is_judged_by_rows_that_it_was_not_cut_with():
    """The model answers by the last digit of the debt. A part can be cut such that it agrees, but not elsewhere."""
    explainer = explainer_of(
        lambda table: np.where(table["debt"] < 2, "good", "bad"),
        lambda table: np.where((100 * table["debt"]).round().astype(int) % 2 == 0, "good", "bad"),
    )
    answer = explainer.what_if({**ROW, "debt": 3.01}, "good")[0]
    assert answer.changes
    assert all(change.by == "forest" and not change.is_agreed for change in answer.changes)


def test_a_part_must_be_as_plausible_as_any_other_change(stricter):
    """Half of the rows have an income above 30, and a third one above 40."""
    assert stricter.what_if(ROW, "good", min_plausibility=0.3)[0].best.by == "model"
    answer = stricter.what_if(ROW, "good", min_plausibility=0.45, max_size=1)[0]
    assert answer.best.by == "forest"
    assert not answer.best.is_agreed


def test_a_missing_value_is_cut_off_if_the_model_disagrees():
    X, _ = make_loans()
    X["income"] = X["income"].astype(float).where(np.random.default_rng(5).random(len(X)) < 0.7)
    explainer = SufficientExplainer.for_model(
        lambda table: np.where(table["account"] != "empty", "good", "bad"), X, random_state=0
    )
    ask_instead(explainer, good_above(30))  # False for a missing income
    change = explainer.what_if({**ROW, "income": None, "account": "empty"}, "good")[0].best
    assert change.by == "model"
    assert set(change.variables) == {"income", "account"}
    assert change.values["income"] > 30
    [income] = [condition for condition in change.conditions if condition.column == "income"]
    assert not income.missing
    assert income.low >= 30


def make_days():
    """Three rows for each day of a year, and a number between 0 and 1 for each row."""
    days = pd.date_range("2026-01-01", periods=365).repeat(3)
    return pd.DataFrame({"day": days, "size": np.arange(len(days)) % 10}), np.random.default_rng(0).random(len(days))


def test_a_change_of_a_date_stays_though_the_model_cannot_be_asked_about_it():
    """The forest is sure of the second half of the year, and finds a large size more likely than not."""
    X, noise = make_days()

    def model(table):
        share = noise if len(table) == len(noise) else np.zeros(len(table))
        late, large = table["day"].dt.month > 6, (table["size"] >= 5) & (share < 0.78)
        return np.where(late | large, "late", "early")

    explainer = SufficientExplainer.for_model(model, X, dates="parts", random_state=0)
    answer = explainer.what_if(X[200:201].assign(size=1), "late")[0]
    assert [change.variables for change in answer.changes] == [("day",)]
    assert (answer.best.by, answer.best.confirmed) == ("forest", None)
    assert answer.caveat.startswith("The model itself was not asked")
    sizes = explainer.what_if(X[200:201].assign(size=1), "late", fixed=["day"])[0]
    assert (sizes.best.by, sizes.best.variables, sizes.caveat) == ("model", ("size",), "")


def test_a_caveat_is_for_rows_that_the_model_was_not_asked_about_at_all():
    days = pd.date_range("2026-01-01", periods=365).repeat(3)
    X = pd.DataFrame({"day": days, "size": np.arange(len(days)) % 10})
    explainer = SufficientExplainer.for_model(
        lambda table: np.where((table["day"].dt.month > 6) | (table["size"] >= 5), "late", "early"),
        X,
        dates="parts",
        random_state=0,
    )
    answer = explainer.what_if(X[:1].assign(size=1), "late")[0]
    assert {(change.variables, change.confirmed) for change in answer.changes} == {(("day",), None), (("size",), True)}
    assert answer.caveat == ""


def test_rows_with_the_target_are_not_searched(stricter):
    """The second row has it for the model, though not for the forest."""
    explainer = explainer_of(good_above(30), good_above(10))
    calls = []
    ask_instead(explainer, lambda table: (calls.append(len(table)), good_above(10)(table))[1])
    changes = explainer.what_if(pd.DataFrame([{**ROW, "income": 50}, ROW]), "good")
    assert [(answer.is_reached, answer.changes) for answer in changes] == [(True, ())] * 2
    assert calls == [2]
    nothing = stricter.what_if(ROW, "good", only=["income"], bounds={"income": (20, 20)})[0]
    assert nothing.text.startswith("No: `bounds` and `direction` leave this row no other value")


def test_boxes_over_dates_are_not_asked_about_either():
    """The forest is never sure of the second half of the year: only boxes that the model is asked about would do."""
    X, noise = make_days()

    def model(table):
        share = noise if len(table) == len(noise) else np.zeros(len(table))
        return np.where((table["day"].dt.month > 6) & (share < 0.7), "late", "early")

    explainer = SufficientExplainer.for_model(model, X, dates="parts", random_state=0)
    assert explainer.what_if(X[200:201], "late", pi=0.5, confirm=False)[0].best is not None
    answer = explainer.what_if(X[200:201], "late")[0]
    assert answer.best is None
    assert answer.nearest.variables == ("day",)


def test_an_explainer_without_its_model_says_that_it_was_not_asked(stricter, tmp_path):
    stricter.save(tmp_path / "model.suffice")
    loaded = SufficientExplainer.load(tmp_path / "model.suffice")
    changes = loaded.what_if(ROW, "good")
    assert changes[0].caveat.startswith("The model itself was not asked")
    assert changes.to_dict()["note"] == changes[0].caveat
    assert changes.to_dict()["model"] == loaded.describe()["model"] == "function"
    assert changes[0].best.values == stricter.what_if(ROW, "good", confirm=False)[0].best.values
    assert stricter.what_if(ROW, "good").to_dict()["note"] is None
    loaded.save(tmp_path / "again.suffice")
    again = SufficientExplainer.load(tmp_path / "again.suffice")
    assert again.what_if(ROW, "good")[0].caveat == changes[0].caveat
