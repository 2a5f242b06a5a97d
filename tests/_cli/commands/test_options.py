"""The options that several commands share: in the help of each, and as changes of settings."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest

from suffice._cli.commands.options import import_model, load, read_candidates, read_target
from suffice._cli.main import run

SHARED = ("--pi", "--levels", "--confidence", "--unseen", "--ignore-extra", "--check")


@pytest.mark.parametrize("command", ["explain", "report", "rules"])
def test_the_help_of_a_command_lists_the_options_that_it_shares(command, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    assert run([command, "--help"]) == 0
    text = capsys.readouterr().out
    assert "EXPLAINER" in text
    assert [option for option in SHARED if option not in text] == []


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        ({"ignore_extra": False, "pi": None}, {}),
        ({"ignore_extra": False, "pi": 0.8, "levels": "same"}, {"pi": 0.8, "levels": "same"}),
        ({"ignore_extra": True, "unseen": "missing"}, {"unseen": "missing", "extra_columns": "ignore"}),
        ({"candidates": "3"}, {"n_candidates": 3}),
    ],
)
def test_options_that_are_given_change_settings(options, settings, rows_here):
    saved = load("buys.suffice").get_params()
    assert load("buys.suffice", **options).get_params() == {**saved, **settings}


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        (None, {}),
        ("12", {"n_candidates": 12}),
        ("splits", {"candidates": "splits"}),
        ("age", {"candidates": ["age"]}),
        ("age, city,income", {"candidates": ["age", "city", "income"]}),
        ('age,"last, first"', {"candidates": ["age", "last, first"]}),
    ],
)
def test_candidates_are_a_number_a_word_or_names(text, settings):
    assert read_candidates(text) == settings


def test_candidates_without_a_name_are_refused():
    with pytest.raises(ValueError, match=r"--candidates must be a number, names as A,B,C, or one of .*splits"):
        read_candidates(" , ")


def test_wanted_outcomes_are_classes_or_numbers():
    of_numbers = SimpleNamespace(task_="regression")
    assert read_target("200..250", of_numbers) == (200.0, 250.0)
    assert read_target(">= 200", of_numbers) == {"above": 200.0}
    assert read_target("<100", of_numbers) == {"below": 100.0}
    assert read_target("+50", of_numbers) == {"more": 50.0}
    assert read_target("-5.5", of_numbers) == {"less": 5.5}
    of_classes = SimpleNamespace(task_="classification", classes_=np.array(["a", "b", "c, d"]))
    assert read_target("a, b", of_classes) == ["a", "b"]
    assert read_target("not a", of_classes) == {"not": "a"}
    assert read_target(" c, d ", of_classes) == "c, d"


def test_a_model_is_a_name_in_a_module():
    assert import_model(None) is None
    assert import_model("json:loads") is json.loads
