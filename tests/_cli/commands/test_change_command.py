"""``suffice change``."""

from __future__ import annotations

import json

import polars as pl
import pytest
from shop import command

from suffice import SufficientExplainer

pytestmark = pytest.mark.usefixtures("here")


def test_changes_are_written_as_a_table(capsys):
    line = "change buys.suffice new.csv --target yes --fixed city,code --id id -o offers.csv --ignore-extra"
    assert command(line) == 0
    offers = pl.read_csv("offers.csv")
    assert offers.height == 12
    assert offers["id"][0] == "c0"
    assert "12 rows answered" in capsys.readouterr().err
    explainer = SufficientExplainer.load("buys.suffice").with_settings(extra_columns="ignore")
    changes = explainer.what_if(pl.read_csv("new.csv"), "yes", fixed=["city", "code"])
    assert offers["what_changes"].to_list() == [answer.best.sentence if answer.best else None for answer in changes]


def test_without_a_target_any_other_class_is_wanted(capsys):
    explainer = SufficientExplainer.load("buys.suffice").with_settings(extra_columns="ignore")
    assert command("change buys.suffice new.csv --ignore-extra") == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    expected = explainer.what_if(pl.read_csv("new.csv"))
    assert [line["target"] for line in lines] == [answer.wanted for answer in expected]
    assert {line["pi"] for line in lines} == {answer.pi for answer in expected} == {0.8}
    assert {line["target"] for line in lines} == {"yes", "no"}
    assert command("change spent.suffice new.csv --ignore-extra") == 2
    assert "--target must say which numbers are wanted" in capsys.readouterr().err


def test_text_and_json_say_the_same(capsys):
    assert command("change buys.suffice new.csv -t yes -n 4 --ignore-extra") == 0
    text = capsys.readouterr().out
    assert "association, not causation" in text or "No: no change" in text
    assert command("change buys.suffice new.csv -t yes --ignore-extra") == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(lines) == 12
    assert all(line["text"].split("\n")[0][:20] in text for line in lines[:4])


def test_numbers_directions_and_bounds():
    line = (
        "change spent.suffice new.csv --target >=150 --direction age=up --bounds age=18..70 -o more.json --ignore-extra"
    )
    assert command(line) == 0
    with open("more.json") as file:
        rows = json.load(file)["rows"]
    changes = [change for row in rows for change in row["changes"]]
    assert changes
    assert all(move["after"] <= 70 for change in changes for move in change["moves"] if move["column"] == "age")


def test_a_model_of_the_user_is_asked(here, capsys):
    (here / "never.py").write_text("def model(table):\n    return ['no'] * len(table)\n")
    assert command("change buys.suffice new.csv -t yes --ignore-extra --model never:model") == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    changes = [change for row in rows for change in row["changes"]]
    assert changes
    assert not any(change["confirmed"] for change in changes)
    assert all("does NOT confirm" in row["text"] for row in rows if row["changes"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--target maybe", "Error: --target must be among the classes"),
        ("--target good --fixed sex", "Error: In --fixed: Unknown variable 'sex'"),
        ("-t maybe", "must be among the classes"),
        ("-t yes --fixed citi", "Did you mean 'city'"),
        ("-t yes --bounds age", "must be NAME=VALUE"),
        ("-t yes --bounds age=3", "must be LOW..HIGH"),
    ],
)
def test_bad_input_is_one_sentence(options, message, capsys):
    assert command(f"change buys.suffice new.csv --ignore-extra {options}") == 2
    assert message in capsys.readouterr().err
