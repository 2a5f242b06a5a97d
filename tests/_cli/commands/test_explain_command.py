"""`suffice explain`: every format, and what it refuses."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from rare_classes import rare_explainer, rare_table
from shop import command, expected

from suffice import SufficientExplainer
from suffice._cli.main import run
from suffice._io.files import read_table
from suffice._io.result_table import RESULT_COLUMNS


@pytest.mark.parametrize("suffix", ["csv", "parquet", "pq"])
@pytest.mark.parametrize(("name", "target"), [("buys", None), ("buys", "buys"), ("spent", None), ("spent", "spent")])
def test_the_table_has_a_line_for_each_row(name, target, suffix, here, capsys):
    positions, explanations = expected(f"{name}.suffice", target)
    observed = [] if target is None else ["--target", target]
    args = f"explain {name}.suffice new.csv --ignore-extra --id id --id member -o out.{suffix}".split()
    assert run([*args, *observed]) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines()[-1] == f"{len(positions)} rows explained, written to out.{suffix}."
    table = read_table(f"out.{suffix}")
    assert table.columns == ["row", "id", "member", *RESULT_COLUMNS]
    assert table["row"].to_list() == positions
    assert table["id"].to_list() == [f"c{i}" for i in positions]
    for line, explanation in zip(table.to_dicts(), explanations, strict=True):
        best, rule = explanation.best_set, explanation.rule
        named = list(best.variables) if suffix != "csv" else "; ".join(best.variables)
        assert line["outcome"] == explanation.outcome
        assert (line["low"], line["high"]) == (explanation.interval or (None, None))
        assert line["prediction"] == explanation.prediction
        assert line["forest_agrees"] == explanation.forest_agrees
        assert line["is_sufficient"] == explanation.is_sufficient
        assert (line["best_set"], line["size"], line["sdp"]) == (named, len(best.variables), best.sdp)
        assert line["n_sufficient_sets"] == len(explanation.sufficient_sets)
        if rule is None:
            assert line["rule"] is line["rule_sql"] is line["support"] is None
        else:
            assert str(rule).startswith(f"{line['rule']}  (coverage")
            assert line["rule_sql"] == rule.to_sql()
            assert (line["support"], line["coverage"], line["precision"]) == (
                rule.support,
                rule.coverage,
                rule.precision,
            )
            assert line["optimal"] == rule.optimal


@pytest.mark.parametrize("suffix", ["json", "jsonl"])
def test_json_holds_everything(suffix, here, capsys):
    positions, explanations = expected(target="buys", sets="minimal", rules="all")
    args = (
        f"explain buys.suffice new.csv --ignore-extra --id since --target buys --sets minimal --rules all -o o.{suffix}"
    )
    assert run(args.split()) == 0
    text = Path(f"o.{suffix}").read_text()
    whole = json.loads(text) if suffix == "json" else None
    lines = whole["explanations"] if whole else [json.loads(line) for line in text.splitlines()]
    since = pl.read_parquet("shop.parquet")["since"]
    for position, line, explanation in zip(positions, lines, explanations, strict=True):
        named = {"row": position, "id": {"since": since[position].isoformat()}}
        assert line == {**named, **{k: v for k, v in explanation.to_dict().items() if k != "id"}}
    if whole:
        assert whole["candidates"] == list(explanations.candidates)


def test_predictions_are_explained_unless_a_target_is_named(here, capsys):
    assert command("explain buys.suffice new.csv --ignore-extra -f csv") == 0
    captured = capsys.readouterr()
    assert captured.err == "The predictions are explained, not the column 'buys'; to explain it, add --target 'buys'\n"
    assert len(captured.out.splitlines()) == 13
    assert command("explain buys.suffice new.csv --ignore-extra -f csv --target buys") == 0
    captured = capsys.readouterr()
    assert captured.err == "2 rows without a value of 'buys' are left out.\n"
    assert len(captured.out.splitlines()) == 11


def test_in_words(here, capsys):
    _, explanations = expected()
    assert command("explain buys.suffice new.csv --ignore-extra --format text --rows 2") == 0
    out = capsys.readouterr().out
    for i in range(2):
        assert f"\nRow {i}\n  " + str(explanations[i]).replace("\n", "\n  ") in out
    assert "Row 2" not in out
    assert "\n2 rows explained; " in out


def test_in_words_a_few_rows_are_shown_and_how_to_get_more(here, capsys):
    assert command("explain buys.suffice new.csv --ignore-extra --format text") == 0
    captured = capsys.readouterr()
    assert "Row 4" in captured.out
    assert "Row 5" not in captured.out
    assert captured.err.splitlines()[-1] == "7 more rows: --rows N shows more of them, -o FILE writes all."
    assert command("explain buys.suffice new.csv --ignore-extra --format text -o words.txt -n 12") == 0
    assert Path("words.txt").read_text().count("\nRow ") == 11


def test_standard_output_takes_binary_formats(here, capsysbinary):
    assert command("explain buys.suffice new.csv --ignore-extra --format parquet -o -") == 0
    Path("piped").write_bytes(capsysbinary.readouterr().out)
    assert command("explain buys.suffice new.csv --ignore-extra -o straight.parquet") == 0
    assert_frame_equal(read_table("piped"), read_table("straight.parquet"))


def test_the_settings_of_a_saved_explainer_can_be_changed(here, capsys):
    pl.read_csv("new.csv").with_columns(pl.lit("Bergen").alias("city")).write_csv("far.csv")
    args = ["explain", "buys.suffice", "far.csv", "--ignore-extra", "-f", "jsonl", "--rows", "1"]
    assert run(args) == 2
    assert capsys.readouterr().err.endswith(" With --unseen missing it counts as missing.\n")
    assert run([*args, "--unseen", "missing", "--pi", "0.7", "--check", "everywhere"]) == 0
    explanation = json.loads(capsys.readouterr().out)
    assert explanation["pi"] == 0.7
    assert explanation["values"]["city"] is None
    assert [rule["everywhere"] for rule in explanation["rules"]] == [True]


def test_levels_and_confidence_can_be_changed(here, capsys):
    args = ["explain", "buys.suffice", "new.csv", "--ignore-extra", "-f", "jsonl"]
    assert run([*args, "--levels", "odds", "--confidence", "0.8"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {(line["levels"], line["confidence"]) for line in lines} == {("odds", 0.8)}
    for line in lines:
        odds = min(9, 9 * line["base_rate"] / (1 - line["base_rate"]))
        assert line["pi"] / (1 - line["pi"]) == pytest.approx(odds)


def test_a_rare_class_without_a_set_is_offered_options_of_the_command_that_help(here, capsys):
    X, y = rare_table()
    rare_explainer().save("rare.suffice")
    X.assign(default=y)[y == "yes"].to_csv("yes.csv", index=False)
    args = ["explain", "rare.suffice", "yes.csv", "-t", "default", "-f", "text"]
    advice = re.compile(r"^  With (--pi \S+ --levels same), age and debt are enough\.$", re.MULTILINE)
    assert run([*args, "-n", "40", "--pi", "0.99"]) == 0
    out = capsys.readouterr().out
    advised = {row: advice.search(text) for row, text in enumerate(out.split("\nRow ")[1:])}
    advised = {row: found[1] for row, found in advised.items() if found}
    assert len(set(advised.values())) > 1
    assert "pi=" not in out
    assert "levels='same'" not in out
    assert "times as likely as on average" in out
    for options in set(advised.values()):
        assert run([*args, "-n", "40", *options.split()]) == 0
        texts = capsys.readouterr().out.split("\nRow ")[1:]
        for row in [row for row in advised if advised[row] == options]:
            assert re.search(r"^  age = \S+ and debt = \S+ are enough to keep it with ", texts[row], re.MULTILINE)
    assert run([*args, "-n", "40", "--pi", "0.99", "-o", "why.txt"]) == 0
    assert "With --pi 0.85 --levels same, age and debt are enough.\n" in Path("why.txt").read_text()
    assert "levels='same'" not in Path("why.txt").read_text()


def test_levels_make_no_difference_to_numbers(here, capsys):
    outputs = []
    for levels in ("odds", "same"):
        assert command(f"explain spent.suffice new.csv --ignore-extra -f jsonl --levels {levels}") == 0
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1]
    assert {json.loads(line)["pi"] for line in outputs[0].splitlines()} == {0.8}


def test_a_saved_explainer_keeps_its_settings_unless_options_change_them(here, capsys):
    explainer = SufficientExplainer.load("buys.suffice")
    explainer.set_params(unseen="missing", extra_columns="ignore", pi=0.6).save("mild.suffice")
    pl.read_csv("new.csv").with_columns(pl.lit("Bergen").alias("city")).write_csv("far.csv")
    assert command("explain mild.suffice far.csv -f jsonl --rows 1") == 0
    assert json.loads(capsys.readouterr().out)["pi"] == 0.6


def test_columns_that_fit_has_dropped_may_be_in_the_file(here, capsys):
    """They were "unexpected", although the same command line had named them."""
    assert command("explain buys.suffice new.csv -f jsonl") == 0
    dropped = capsys.readouterr().out
    assert command("explain buys.suffice new.csv -f jsonl --ignore-extra") == 0
    assert capsys.readouterr().out == dropped


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ("buys.suffic new.csv", "There is no file 'buys.suffic'. Did you mean 'buys.suffice'?"),
        ("new.csv new.csv", "'new.csv' is not a suffice file: make one with `suffice fit`."),
        (". new.csv", "'.' is a folder, not a file."),
        ("buys.suffice none.csv", "There is no file 'none.csv'."),
        (
            "buys.suffice more.csv",
            "The table has 9 columns, there were 5 at fit: missing [], unexpected ['extra']. With --ignore-extra they",
        ),
        ("buys.suffice few.csv --ignore-extra", "The table has 1 columns, there were 5 at fit: missing ['city', 'inc"),
        ("buys.suffice new.csv --id nr", "--id: there is no column 'nr' in new.csv."),
        ("buys.suffice new.csv --target bys", "--target: there is no column 'bys' in new.csv. Did you mean 'buys'?"),
        ("buys.suffice new.csv --target city --ignore-extra", "The target holds the label 'Oslo' (row 0), which was"),
        ("buys.suffice new.csv -o out.xlsx", "The format of 'out.xlsx' is unclear: the suffix '.xlsx' is unknown. "),
        (
            "buys.suffice new.csv -o out",
            "The format of 'out' is unclear: it has no suffix. Use one of .csv, .parquet",
        ),
        ("buys.suffice new.csv -o nowhere/out.csv", "'out.csv' cannot be written: there is no folder 'nowhere'."),
        ("buys.suffice new.csv --pi 0 --ignore-extra", "--pi must be in (0, 1], got 0.0."),
        ("buys.suffice new.csv --confidence 1 --ignore-extra", "--confidence must be None or in (0, 1), got 1.0."),
        ("buys.suffice new.csv --levels odd --ignore-extra", "Invalid value for '--levels'"),
        ("buys.suffice new.csv --sets some", "Invalid value for '--sets'"),
        ("buys.suffice size.csv --id size --ignore-extra -f csv", "--id: 'size' is also the name of a column of the"),
        ("buys.suffice", "Missing argument 'ROWS'. See `suffice explain --help`."),
    ],
)
def test_explain_refuses_in_one_sentence(args, message, here, capsys):
    Path("few.csv").write_text("age\n3\n")
    pl.read_csv("new.csv").with_columns(size=1).write_csv("size.csv")
    before = set(os.listdir())
    assert run(["explain", *args.split()]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines()[-1].startswith(f"Error: {message}")
    assert set(os.listdir()) == before


def test_a_damaged_explainer_is_refused(here, capsys):
    data = Path("buys.suffice").read_bytes()
    for damaged in (b"", data[:-1], data[:1000] + b"?" + data[1001:]):
        Path("bad.suffice").write_bytes(damaged)
        assert command("explain bad.suffice new.csv") == 2
        assert capsys.readouterr().err.startswith("Error: 'bad.suffice' ")
