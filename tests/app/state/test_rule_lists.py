import numpy as np
import polars as pl
import pytest

from suffice import GlobalRulesClassifier
from suffice._io.explainer_file import training_rows
from suffice.app.state.jobs import Cancelled, Job
from suffice.app.state.opening import fit_workspace
from suffice.app.state.rule_lists import RuleLists, find_rules, rules_of_row
from suffice.app.state.view import View
from suffice.app.state.workspace import Workspace
from suffice.rule_lists.mining import mine_rules


def test_global_rules_are_those_of_the_library(mixed):
    rules = find_rules(mixed, View(), 10**6, Job("", 400))
    X, y = training_rows(mixed.explainer)
    expected = GlobalRulesClassifier.from_explanations(mine_rules(mixed.explainer, X, y), X, y)
    assert rules.rules_ == expected.rules_
    assert RuleLists(rules).simplified(3).rules_ == expected.simplify().rules_


def test_rows_that_are_uncertain_have_global_rules_too():
    """The app took rules at one level only: on a table without sure rows it had none, where Python had a list."""
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"x": rng.normal(size=600), "z": rng.normal(size=600)})
    noisy = (frame["x"].to_numpy() > 0) ^ (rng.random(600) < 0.25)
    space = fit_workspace(frame.with_columns(kind=np.where(noisy, "up", "down")), "kind", [], True, "noisy")
    job = Job("", 300)
    rules = RuleLists(find_rules(space, View(), 300, job)).simplified(3)
    assert {line.output for line in rules.rules_} == {"up", "down"}
    assert rules.evaluate().total_coverage > 0.8
    assert job.done == 300


def test_finding_rules_can_be_cancelled(mixed):
    job = Job("", 400)
    job.cancel()
    with pytest.raises(Cancelled):
        find_rules(mixed, View(), 400, job)


def test_a_simplified_list_is_made_once(mixed, monkeypatch):
    lists = RuleLists(find_rules(mixed, View(), 100, Job("", 100)))
    assert lists.simplified(0) is lists.full
    shorter = lists.simplified(3)
    assert shorter.rules_ == lists.full.simplify(max_loss=0.01).rules_
    assert len(lists.simplified(3, 1).rules_) == 1 < len(shorter.rules_)
    monkeypatch.setattr(type(lists.full), "simplify", None)
    assert lists.simplified(3) is shorter
    assert len(lists.simplified(3, 1).rules_) == 1


def test_the_first_rule_that_covers_a_row_decides(mixed):
    rules = find_rules(mixed, View(), 200, Job("", 200))
    for row in range(5):
        marks = rules_of_row(mixed, View(row=row), rules)
        decides = rules.decision_path(mixed.frame[row].select(mixed.names))[0]
        assert [i for i, mark in marks.items() if mark == "decides"] == ([decides] if decides >= 0 else [])
    view = View(row=0, edits={"hour": 23, "sky": "clear"})
    covering = [i for i, line in enumerate(rules.rules_) if line.rule.covers(mixed.edited_row(view))[0]]
    assert list(rules_of_row(mixed, view, rules)) == covering


def test_rules_of_dates_need_the_table():
    days = pl.date_range(pl.date(2023, 1, 1), pl.date(2023, 12, 31), eager=True)
    frame = pl.DataFrame({"day": days, "x": np.arange(365) % 7}).with_columns(kind=days.dt.weekday() > 5)
    space = fit_workspace(frame, "kind", [], True, "days")
    assert find_rules(space, View(), 50, Job("", 50)).rules_
    without = Workspace(space.explainer, frame.drop("kind"), None, "days")
    with pytest.raises(ValueError, match="The explainer was fitted on dates"):
        find_rules(without, View(), 50, Job("", 50))
