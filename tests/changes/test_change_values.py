"""Changes of many rows: frames, JSON, points and a summary."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
from loans import ROW, loan_explainer, make_loans

from suffice import SufficientExplainer
from suffice._show.cards import change_card
from suffice._table.encoding import Column
from suffice.changes.making import move_text


@pytest.fixture(scope="module")
def explainer():
    return loan_explainer()


def test_frames_and_json_hold_every_change(explainer):
    X, _ = make_loans(10, seed=2)
    changes = explainer.what_if(X, "good")
    frame = changes.to_frame()
    assert len(frame) == sum(len(answer.changes) for answer in changes)
    rows = changes.to_frame("rows")
    assert len(rows) == 10
    assert rows["n_changes"].tolist() == [len(answer.changes) for answer in changes]
    read = json.loads(changes.to_json())
    assert [len(row["changes"]) for row in read["rows"]] == rows["n_changes"].tolist()
    assert str(changes).count("have a change") == 1
    assert len(changes[:3]) == 3


def test_points_are_the_rows_at_their_best_change(explainer):
    X, _ = make_loans(30, seed=5)
    changes = explainer.what_if(X, "good")
    points = changes.points()
    for i, answer in enumerate(changes):
        expected = {**X.iloc[i].to_dict(), **(answer.best.values if answer.best else {})}
        assert points.iloc[i]["account"] == expected["account"]
        assert points.iloc[i]["income"] == expected["income"]
    assert np.array_equal(changes.has_change, [answer.best is not None for answer in changes])


def test_only_an_outcome_that_is_given_is_one_that_the_row_has(explainer):
    row = make_loans(1)[0]
    outcome = explainer.predict(row)[0]
    wanted = "good" if outcome == "bad" else "bad"
    assert explainer.what_if(row, outcome)[0].lead.startswith(f"Row 0: loan is predicted to be {outcome}; the target")
    assert explainer.what_if(row, wanted)[0].lead.startswith(f"Row 0: loan is predicted to be {outcome}; ")
    assert explainer.what_if(row, wanted, [outcome])[0].lead.startswith(f"Row 0: loan is {outcome}; ")


def test_categories_with_words_of_the_sentence_stand_in_quotes():
    """German credit: "from 0 to 200 DM to no account" had two readings."""
    labels = ("0 to 200 DM", "no account", "unknown or none")
    column = Column("account", 0, "category", labels=tuple((label,) for label in labels))
    text = move_text(column, "0 to 200 DM", "no account", 0.0, 0.0, labels[1:])
    assert text == 'changing account from "0 to 200 DM" to no account or "unknown or none"'
    assert (
        move_text(column, None, "no account", 0.0, 0.0, ("no account",))
        == "setting account (now missing) to no account"
    )
    assert move_text(column, "no account", None, 0.0, 0.0, ()) == "making account missing (now no account)"


def test_points_keep_every_other_value_as_the_user_has_it():
    """They were made of the forest's numbers: 1 / 3 became 0.33333334, a date None, a rare category a text about it."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.random(300) / 3, "b": rng.random(300), "day": pd.date_range("2026-01-01", periods=300)})
    X["place"] = [f"farm {i // 2}" if i < 100 else "city" for i in range(300)]
    explainer = SufficientExplainer(random_state=0, dates="parts").fit(X, np.where(X["b"] > 0.5, "good", "bad"))
    rows = X[X["b"] < 0.4][:20]
    changes = explainer.what_if(rows, "good", only=["b"])
    points = changes[5:].points()
    assert changes.has_change.all()
    others = ["a", "day", "place"]
    pd.testing.assert_frame_equal(points[others], rows[5:][others])
    assert points["b"].tolist() == [answer.best.values["b"] for answer in changes[5:]]
    of_array = SufficientExplainer(random_state=0).fit(X[["a", "b"]].to_numpy(), X["b"] > 0.5)
    points = of_array.what_if(rows[["a", "b"]].to_numpy(), True, only=["x1"]).points()
    assert points["x0"].tolist() == rows["a"].tolist()


def test_a_date_stays_as_it_is_if_some_of_its_parts_move():
    days = pd.date_range("2026-01-01", periods=360)
    X = pd.DataFrame({"day": days, "size": np.arange(360) % 7})
    explainer = SufficientExplainer(random_state=0, dates="parts").fit(X, np.where(days.month > 6, "late", "early"))
    changes = explainer.what_if(X[:3], "late")
    assert changes.has_change.all()
    pd.testing.assert_frame_equal(changes.points(), X[:3])


def test_rows_that_have_the_target_are_told_apart_everywhere(explainer):
    X, _ = make_loans(12, seed=7)
    changes = explainer.what_if(X, "good")
    has_target = explainer.predict(X) == "good"
    n_reached = int(has_target.sum())
    assert 0 < n_reached < 12
    assert changes.is_reached.tolist() == has_target.tolist()
    assert changes.to_frame("rows")["is_reached"].tolist() == has_target.tolist()
    assert [row["is_reached"] for row in changes.to_dict()["rows"]] == has_target.tolist()
    first, second = str(changes).splitlines()[:2]
    assert first == f"12 rows; {n_reached} already have the target."
    assert f" of {12 - n_reached} rows have a change" in second
    assert str(changes[has_target.argmax() : has_target.argmax() + 1]) == "1 row, all of which already have the target."
    alone = changes[(~has_target).argmax() : (~has_target).argmax() + 1]
    assert str(alone).startswith("1 of 1 row has a change that reaches the target (probability >= 0.8).")
    for answer in changes:
        assert ('<div class="badge">reached already</div>' in change_card(answer)) == answer.is_reached


def test_moves_that_are_enough_only_together_are_stated_as_one_change(explainer):
    """A list of moves was read as if each were enough."""
    joint = explainer.what_if({**ROW, "account": "empty"}, "good")[0]
    assert len(joint.best.moves) == 2
    moved = " and ".join(move.text for move in joint.best.moves)
    assert joint.lead.endswith(f"; {moved} would together make it good (probability >= 0.8).")
    assert f"1. {moved}, together.\n" in joint.text
    assert f"1. {moved}, together" in joint._repr_html_()
    alone = explainer.what_if(ROW, "good")[0]
    assert alone.lead.endswith(f"; {alone.best.moves[0]} would make it good (probability >= 0.8).")
    assert "together" not in alone.text


def test_a_level_that_is_reached_on_average_only_is_stated_so(explainer):
    """The least change was said to have the level, of which the forest gave it 0.00."""
    answer = explainer.what_if(ROW, "good", check="mean")[0]
    assert answer.best.mean >= 0.8
    assert answer.lead.endswith(" would make it good (probability >= 0.8 on average over this range).")


def test_moves_that_come_nearest_together_are_stated_as_one_change(explainer):
    answer = explainer.what_if({**ROW, "account": "empty"}, "good", min_plausibility=0.5)[0]
    assert len(answer.nearest.moves) == 2
    assert f" Closest: {answer.nearest.sentence}, together, but only " in answer.lead


def test_numbers_and_categories_are_changed_in_the_same_words():
    X, _ = make_loans()
    y = X["income"] + 40.0 * (X["account"] == "much")
    explainer = SufficientExplainer(random_state=0).fit(X, y)
    [answer] = explainer.what_if({**ROW, "account": "much"}, {"below": 40}, only=["account"])
    assert answer.lead.startswith("Row 0: the outcome is predicted to be ")
    assert "changing account from much to " in answer.lead
    assert answer.lead.endswith(" would make it at most 40 (probability >= 0.8).")


def test_a_move_between_0_and_1_is_one_between_no_and_yes():
    holiday = Column("holiday", 0, "whole", extent=(0.0, 1.0))
    assert move_text(holiday, 0, 1, 0.5, math.inf, ()) == "changing holiday from no to yes"
    assert move_text(holiday, None, 0, 0.0, 1.0, ()) == "setting holiday (now missing) to no or yes"
    assert move_text(holiday, 1, None, 0.0, 1.0, ()) == "making holiday missing (now yes)"
    assert move_text(holiday, 2, 1, 0.0, 1.0, ()) == "lowering holiday from 2 to between 0 and 1"
