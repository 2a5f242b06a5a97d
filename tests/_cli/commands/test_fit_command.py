"""`suffice fit`: its options, and what it refuses."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from suffice import SufficientExplainer
from suffice._cli.main import run


def fit(capsys, args):
    code = run(["fit", *args.split()])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_options_of_fit_reach_the_explainer(here, capsys):
    code, out, _ = fit(
        capsys,
        "shop.parquet -t spent --drop id --drop buys --drop since -o m.suffice --pi 0.8 --trees 20 "
        "--candidates 3 --alpha 0.2 --max-size 2 --seed 5 --jobs 1 --group who=age,member",
    )
    assert code == 0
    assert "Rows: 300\n" in out
    assert "Candidates: 1 of 4 variables: who\n" in out
    explainer = SufficientExplainer.load("m.suffice")
    assert (explainer.pi, explainer.alpha, explainer.max_size, explainer.n_candidates) == (0.8, 0.2, 2, 3)
    about = explainer.describe()
    assert about["forest"]["n_estimators"] == 20
    assert about["variables"] == ["city", "who", "income", "code"]
    assert about["task_reason"].startswith("regression: the outcomes are numbers with fractions")


def test_the_focus_class_and_fixed_variables_are_kept(here, capsys):
    line = "shop.parquet -t buys --drop id --drop spent --drop since --no-signal -o m.suffice"
    code, out, _ = fit(capsys, f"{line} --focus no --fixed age,city")
    assert code == 0
    explainer = SufficientExplainer.load("m.suffice")
    assert (explainer.focus_, explainer.fitted_.declared.fixed) == ("no", ("city", "age"))
    figures = explainer.quality(n_explained=0).focus_text.removesuffix(".")
    assert f"Focus: {figures} (out of bag)\nFixed: city, age\n" in out
    run(["info", "m.suffice"])
    assert f"Focus: {figures} (out of bag)\nFixed: city, age\n" in capsys.readouterr().out
    code, _, err = fit(capsys, f"{line} --focus on")
    assert code == 2
    assert "--focus must be among the classes ['no', 'yes'], got 'on'" in err


@pytest.mark.parametrize(
    ("options", "params"),
    [
        ("", {"counts": "out-of-bag", "alpha": None, "min_size": 0}),
        ("--paper", {"counts": "bootstrap", "candidates": "splits", "voters": "all", "alpha": 0.1, "min_size": 1}),
        ("--paper --trees 7", {"counts": "bootstrap", "alpha": 0.1}),
        (
            "--paper --alpha 0.3 --candidates row",
            {"counts": "bootstrap", "candidates": "row", "voters": "all", "alpha": 0.3, "min_support": 0},
        ),
    ],
)
def test_the_settings_of_the_paper_can_be_replaced_by_options(options, params, here, capsys):
    args = f"shop.parquet -t spent --drop id --drop buys --drop since --no-signal -o m.suffice {options}"
    assert fit(capsys, args)[0] == 0
    explainer = SufficientExplainer.load("m.suffice")
    assert {name: explainer.get_params()[name] for name in params} == params
    assert explainer.fitted_.counts == params["counts"]
    assert len(explainer.forest_) == (7 if "7" in options else 100)


def test_candidates_are_listed_at_fit_and_changed_at_explain(here, capsys):
    command = "shop.parquet -t buys --drop id --drop since --trees 20 -o m.suffice --no-signal --candidates"
    assert fit(capsys, f"{command} income,city")[0] == 0
    assert SufficientExplainer.load("m.suffice").candidates_ == ("income", "city")
    assert (
        run(["explain", "m.suffice", "shop.parquet", "-n", "2", "--ignore-extra", "--candidates", "age", "-f", "json"])
        == 0
    )
    assert json.loads(capsys.readouterr().out)["candidates"] == ["age"]
    code, _, err = fit(capsys, f"{command} incme,city")
    assert code == 2
    assert "Did you mean 'income'?" in err


def test_levels_and_confidence_reach_the_explainer(here, capsys):
    options = "shop.parquet -t buys --drop id --drop since -o m.suffice --trees 20"
    assert fit(capsys, f"{options} --levels same --confidence 0.9")[0] == 0
    explainer = SufficientExplainer.load("m.suffice")
    assert (explainer.levels, explainer.confidence) == ("same", 0.9)
    assert fit(capsys, options)[0] == 0
    explainer = SufficientExplainer.load("m.suffice")
    assert (explainer.levels, explainer.confidence) == ("odds", None)


def test_the_same_seed_gives_the_same_file(here, capsys):
    options = "shop.csv -t buys --drop id --drop since --trees 10 --seed"
    for seed, name in (("1", "a"), ("1", "b"), ("2", "c")):
        assert fit(capsys, f"{options} {seed} -o {name}.suffice")[0] == 0
    assert Path("a.suffice").read_bytes() == Path("b.suffice").read_bytes()
    assert Path("a.suffice").read_bytes() != Path("c.suffice").read_bytes()


@pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum(["no", "yes"])])
def test_a_target_of_categories(dtype, here, capsys):
    frame = pl.read_parquet("shop.parquet").select("age", "city", pl.col("buys").cast(dtype))
    frame.write_parquet("cat.parquet")
    code, out, _ = fit(capsys, "cat.parquet -t buys -o m.suffice")
    assert code == 0
    assert "Target: buys, 2 classes: no, yes" in out


def test_a_target_with_nan(here, capsys):
    frame = pl.DataFrame({"a": range(60), "y": [float(i) + 0.5 for i in range(59)] + [float("nan")]})
    frame.write_parquet("nan.parquet")
    code, _, err = fit(capsys, "nan.parquet -t y -o m.suffice")
    assert code == 0
    assert err == "1 row without a value of 'y' is left out.\n"


def test_warnings_are_lines(here, capsys):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"name": [f"n{i}" for i in range(100)], "a": rng.random(100), "y": rng.random(100)})
    frame.write_csv("noise.csv")
    code, _, err = fit(capsys, "noise.csv -t y -o m.suffice")
    assert code == 0
    lines = err.splitlines()
    assert lines[0].startswith("Warning: Most rows of the column 'name' hold categories with fewer than 10 rows")
    assert lines[1].startswith("Warning: The variables say nothing about the outcomes: on rows out of bag the forest ")
    assert len(lines) == 2


def test_notes_on_a_file_are_lines(here, capsys):
    Path("odd.csv").write_text("a,y\n" + "".join(f"{i if i % 9 else '?'},{'ab'[i % 2]}\n" for i in range(90)))
    _, _, err = fit(capsys, "odd.csv -t y -o m.suffice")
    message = "Note: The column 'a' of odd.csv is read as text: 10 of 90 values, such as '?', are not numbers."
    assert err.startswith(message)


def test_columns_that_mislead_are_named(here, capsys):
    n = 200
    table = {
        "fee": [" " if i % 40 == 0 else str(i % 31 / 2) for i in range(n)],
        "since": [f"2024-03-{i % 28 + 1:02}" for i in range(n)],
        "customer": [7 * i % n + 1 for i in range(n)],
        "age": [i * i % 53 for i in range(n)],
        "closed": [i * i % 53 > 25 for i in range(n)],
        "left": ["yes" if i * i % 53 > 25 else "no" for i in range(n)],
    }
    pl.DataFrame(table).write_parquet("churn.parquet")
    code, out, err = fit(capsys, "churn.parquet -t left -o m.suffice --no-signal")
    assert code == 0
    assert "Columns: 5: 3 numeric, 1 categorical, 1 boolean" in out
    lines = err.splitlines()
    assert lines[0].startswith(
        "Warning: Text that holds numbers is read as numbers, and blanks as missing values: 'fee' (5"
    )
    assert lines[1].startswith(
        "Warning: Dates that are written as text are read as categories: 'since' (such as '2024-03-"
    )
    assert "use their parts by --dates parts" in lines[1]
    assert lines[2].endswith(
        "look like identifiers: 'customer'. Leave the column out with --drop if it only names the rows."
    )
    assert len(lines) == 3


def test_dates(here, capsys):
    options = "shop.csv -t buys --drop id --drop spent -o m.suffice"
    code, _, err = fit(capsys, options)
    assert code == 2
    message = "Error: Column 'since' of the table holds dates: leave it out with --drop, or use its year"
    assert err.splitlines()[-1].startswith(message)
    assert err.endswith(" by --dates parts.\n")
    code, out, _ = fit(capsys, f"{options} --dates parts")
    assert code == 0
    assert "Columns: 6: 2 numeric, 2 categorical, 1 boolean, 1 with dates" in out


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ("shop.csv -t y -o m.suffice", "--target: there is no column 'y' in shop.csv. Its columns are id, city, age,"),
        (
            "shop.csv -t buys --drop idd -o m.suffice",
            "--drop: there is no column 'idd' in shop.csv. Did you mean 'id'?",
        ),
        ("none.csv -t buys -o m.suffice", "There is no file 'none.csv'."),
        (". -t buys -o m.suffice", "'.' is a folder, not a file."),
        ("shop.csv -t buys -o nowhere/m.suffice", "'m.suffice' cannot be written: there is no folder 'nowhere'."),
        ("shop.csv -t buys -o .", "'.' is a folder, not a file."),
        ("small.csv -t y -o m.suffice --pi 2", "--pi must be in (0, 1], got 2.0."),
        ("small.csv -t y -o m.suffice --candidates 129", "--candidates must be from 1 to 128, got 129."),
        ("small.csv -t y -o m.suffice --max-size 0", "--max-size must be None or at least 1, got 0."),
        ("small.csv -t y -o m.suffice --radius 1", "--radius is for regression, but the target holds classes;"),
        ("small.csv -t y -o m.suffice --group ab", "--group must be NAME=COL,COL, got 'ab'."),
        ("small.csv -t y -o m.suffice --group a=b --group a=c", "--group 'a' appears twice."),
        ("small.csv -t y -o m.suffice --group g=a,z", "In the group 'g': Unknown variable 'z'."),
        ("small.csv -t y -o m.suffice --task regression", "The target must hold numbers for a regression;"),
        (
            "small.csv -t y --drop a --drop b -o m.suffice",
            "small.csv has no columns left besides the target.",
        ),
        ("small.csv -t y --trees 0 -o m.suffice", "Invalid value for '--trees'"),
        ("small.csv -t y --task clas -o m.suffice", "Invalid value for '--task'"),
        ("small.csv -o m.suffice", "Missing option '--target' / '-t'. See `suffice fit --help`."),
        ("small.csv -t y --nope -o m.suffice", "No such option"),
        ("one.csv -t y -o m.suffice", "The target has one class only, 'x': there is nothing to explain."),
        ("empty.csv -t y -o m.suffice", "The column 'y' is empty: there is no outcome to explain."),
        ("ragged.csv -t y -o m.suffice", "ragged.csv, line 3: 1 field, but the header has 2 columns."),
        (
            "inf.csv -t y -o m.suffice",
            "Column 'a' of the table holds infinity or a number too large for float32 (row 1)",
        ),
        ("infy.csv -t y -o m.suffice", "The target holds NaN or inf (row 0): leave out the rows without a finite"),
        ("time.csv -t y -o m.suffice", "Column 'a' of the table must hold numbers, labels or dates, got Time"),
    ],
)
def test_fit_refuses_in_one_sentence(args, message, here, capsys):
    Path("small.csv").write_text("a,b,y\n" + "1,2,x\n2,3,z\n" * 30)
    Path("one.csv").write_text("a,y\n1,x\n2,x\n")
    Path("empty.csv").write_text("a,y\n1,\n2,NA\n")
    Path("ragged.csv").write_text("a,y\n1,x\n2\n")
    Path("inf.csv").write_text("a,y\n1,x\ninf,z\n2.5,x\n")
    Path("infy.csv").write_text("a,y\n1,inf\n2,1.5\n2.5,2\n")
    Path("time.csv").write_text("a,y\n10:00:00,x\n11:00:00,z\n")
    before = set(os.listdir())
    code, out, err = fit(capsys, args)
    assert (code, out) == (2, "")
    assert err.splitlines()[-1].startswith(f"Error: {message}")
    assert "Traceback" not in err
    assert set(os.listdir()) == before


def test_several_columns_are_dropped_at_once(here):
    """Columns with commas between them were taken for one name."""
    frame = pl.read_parquet("shop.parquet").rename({"id": "id, old"})
    frame.write_parquet("named.parquet")
    options = ["-t", "buys", "-o", "m.suffice", "--trees", "10", "--no-signal"]
    for dropped in (["--drop", "id, old", "--drop", "since,spent"], ["--drop", '"id, old", since,spent']):
        assert run(["fit", "named.parquet", *options, *dropped]) == 0
        explainer = SufficientExplainer.load("m.suffice")
        assert set(explainer.feature_names_in_) == set(frame.columns) - {"id, old", "since", "spent", "buys"}
        assert explainer.extra_columns == ["id, old", "since", "spent"]
