"""`suffice rules`: the rules of the library, in every format."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from shop import N_ROWS, command

from suffice import SufficientExplainer
from suffice._cli.main import run


@pytest.mark.parametrize("target", ["buys", "spent"])
def test_the_rules_of_the_training_rows(target, here, capsys):
    assert command(f"rules {target}.suffice --format json") == 0
    content = json.loads(capsys.readouterr().out)
    assert content["target"] == target
    assert content["n_rows"] == {"buys": N_ROWS - 2, "spent": N_ROWS}[target]
    assert command(f"rules {target}.suffice") == 0
    text = capsys.readouterr().out
    assert text.startswith(f"{len(content['rules'])} rules, coverage ")
    for i, line in enumerate(content["rules"], start=1):
        assert f"\n{i}. IF {line['if']} THEN " in text
    assert command(f"rules {target}.suffice --format sql -o rules.sql") == 0
    assert f"{len(content['rules'])} rules written to rules.sql." in capsys.readouterr().err
    sql = Path("rules.sql").read_text()
    assert all(f"WHEN {line['sql']} THEN " in sql for line in content["rules"])
    assert sql.endswith("END\n")


def test_the_rules_are_those_of_the_library(here, capsys):
    from suffice import GlobalRulesClassifier

    explainer = SufficientExplainer.load("buys.suffice")
    frame = pl.read_parquet("shop.parquet").drop_nulls("buys")
    explanations = explainer.explain(
        frame.select(explainer.feature_names_in_.tolist()), frame["buys"], sets="minimal", rules="minimal", check="rows"
    )
    all_rules = str(GlobalRulesClassifier.from_explanations(explanations))
    assert command("rules buys.suffice --max-rules all") == 0
    assert capsys.readouterr().out == all_rules + "\n"
    assert command("rules buys.suffice shop.csv --ignore-extra --max-rules all") == 0
    captured = capsys.readouterr()
    assert captured.out == all_rules + "\n"
    assert captured.err == "2 rows without a value of 'buys' are left out.\n"  # the observed outcomes are explained
    assert command("rules buys.suffice") == 0
    assert capsys.readouterr().out == str(GlobalRulesClassifier.from_explainer(explainer)) + "\n"
    assert command("rules buys.suffice shop.csv --ignore-extra --max-rules 2") == 0
    assert capsys.readouterr().out == str(GlobalRulesClassifier.from_explanations(explanations, max_rules=2)) + "\n"


def test_fewer_rules(here, capsys):
    counts = {}
    for options in (
        "",
        "--max-rules 3",
        "--max-rules all",
        "--max-rules all --min-support 20",
        "--max-rules all --min-precision 0.97",
    ):
        assert command(f"rules spent.suffice --format json {options}") == 0
        captured = capsys.readouterr()
        rules = json.loads(captured.out)["rules"]
        counts[options] = len(rules)
        assert captured.err == ""
        if "support" in options:
            assert all(rule["support"] >= 20 for rule in rules)
    n_all = counts.pop("--max-rules all")
    assert n_all > 20
    assert max(counts.values()) < n_all
    assert counts["--max-rules 3"] == 3 < counts[""] <= 20


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ("buys.suffice --max-rules 0", "--max-rules must be a whole number >= 1 or all, got 0."),
        ("buys.suffice --max-rules few", "--max-rules must be a whole number >= 1 or all, got few."),
        ("buys.suffice --min-support 0", "--min-support must be a whole number >= 1, got 0."),
        ("buys.suffice --min-precision 2", "--min-precision must be in [0, 1], got 2.0."),
        ("buys.suffice -o nowhere/rules.sql", "'rules.sql' cannot be written: there is no folder 'nowhere'."),
    ],
)
def test_rules_refuses_in_one_sentence(args, message, here, capsys):
    assert run(["rules", *args.split()]) == 2
    assert capsys.readouterr().err.startswith(f"Error: {message}")


@pytest.mark.parametrize("table", ["", "shop.csv --ignore-extra"])
def test_an_explainer_with_dates_has_rules_too(table, here, capsys):
    assert command(f"rules dated.suffice {table}") == 0
    assert " THEN no +" in capsys.readouterr().out


def test_the_suffix_of_the_file_chooses_the_format(here, capsys):
    """Every file got sentences, also rules.json."""
    for name in ("rules.json", "rules.csv", "rules.sql", "rules.txt", "rules.MD"):
        assert command(f"rules buys.suffice --max-rules 3 -o {name}") == 0
    rules = json.loads(Path("rules.json").read_text())["rules"]
    table = pl.read_csv("rules.csv")
    assert table["if"].to_list() == [line["if"] for line in rules]
    assert table["precision"].to_list() == pytest.approx([line["precision"] for line in rules])
    assert Path("rules.sql").read_text().startswith("CASE")
    assert Path("rules.txt").read_text() == Path("rules.MD").read_text()
    assert Path("rules.txt").read_text().startswith("3 rules, coverage ")
    assert command("rules buys.suffice --max-rules 3 --format json -o rules.dat") == 0  # --format goes first
    assert json.loads(Path("rules.dat").read_text())["rules"] == rules


@pytest.mark.parametrize(
    ("name", "problem"), [("rules.yaml", "the suffix '.yaml' is unknown"), ("rules", "it has no suffix")]
)
def test_an_unknown_suffix_is_refused(name, problem, here, capsys):
    assert command(f"rules buys.suffice -o {name}") == 2
    message = f"Error: The format of '{name}' is unclear: {problem}. Use one of .txt, .json, .csv, .sql."
    assert " ".join(capsys.readouterr().err.split()).startswith(message)
    assert not Path(name).exists()
