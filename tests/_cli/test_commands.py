"""The command `suffice`: the installed one on real files, and all that can go wrong."""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import suffice
from suffice import SufficientExplainer
from suffice._cli.main import run
from suffice._cli.printing import in_options
from suffice._io.files import read_table
from suffice._io.result_table import RESULT_COLUMNS

COMMAND = Path(sys.executable).with_name("suffice")
N_ROWS = 300


def make_shop():
    rng = np.random.default_rng(0)
    city = rng.choice(["Paris", "Rome", "Oslo"], N_ROWS)
    age = rng.integers(18, 80, N_ROWS)
    buys = np.where((age > 40) & (city != "Oslo"), "yes", "no").tolist()
    buys[3] = buys[8] = None
    day = datetime.date(2024, 1, 1)
    return pl.DataFrame(
        {
            "id": [f"c{i}" for i in range(N_ROWS)],
            "city": city,
            "age": age,
            "income": rng.normal(30000, 8000, N_ROWS).round(2),
            "code": rng.choice(["1", "2", "x", "y"], N_ROWS),
            "since": [day + datetime.timedelta(days=int(d)) for d in rng.integers(0, 400, N_ROWS)],
            "member": rng.random(N_ROWS) > 0.5,
            "spent": (age * 2.5 + rng.normal(0, 5, N_ROWS)).round(2),
            "buys": buys,
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Tables, a model of classes, and a model of numbers."""
    folder = tmp_path_factory.mktemp("shop")
    shop = make_shop()
    shop.write_csv(folder / "shop.csv")
    shop.write_parquet(folder / "shop.parquet")
    shop.head(12).write_csv(folder / "new.csv")
    start = Path.cwd()
    os.chdir(folder)
    try:
        assert command("fit shop.csv -t buys --drop id --drop since --drop spent -o buys.suffice") == 0
        assert command("fit shop.csv -t spent --drop id --drop since --drop buys --trees 30 -o spent.suffice") == 0
        assert command("fit shop.csv -t buys --drop id --drop spent --dates parts -o dated.suffice") == 0
    finally:
        os.chdir(start)
    return folder


def command(line, *more):
    """Run the command in this process."""
    return run([*line.split(), *more])


def suffice_in(folder, line="", *more, data=None, env=None):
    """Run the installed command."""
    return subprocess.run(
        [COMMAND, *line.split(), *more], cwd=folder, input=data, env=env, capture_output=True, timeout=120, check=False
    )


# --- the installed command --------------------------------------------------------------------------------------------


def test_from_a_table_to_a_report(here):
    """What a new user does: fit, info, explain, rules, report, each by the installed command."""
    fitted = suffice_in(here, "fit shop.csv --target buys --drop id --drop since --drop spent -o m.suffice")
    assert fitted.returncode == 0
    assert fitted.stderr.decode() == "2 rows without a value of 'buys' left out.\n"
    lines = dict(line.split(": ", 1) for line in fitted.stdout.decode().splitlines())
    assert lines["Rows"] == "298"
    assert lines["Columns"] == "5: 2 numeric, 2 categorical, 1 boolean"
    assert lines["Target"] == "buys, 2 classes: no, yes"
    assert lines["Task"] == "classification: the outcomes are text (--task regression to change)"
    assert lines["Fidelity"].endswith(" %)")
    assert "% right of rows that the trees have not seen (no " in lines["Fidelity"]
    assert lines["Candidates"].startswith("all variables: ")
    assert lines["Saved"].startswith("m.suffice (")

    told = suffice_in(here, "info", "m.suffice").stdout.decode()
    assert "Columns: 5: city, age, income, code, member\n" in told
    assert f"Made by: suffice {suffice.__version__}, " in told
    assert "format 1)" in told

    piped = suffice_in(here, "explain m.suffice - --ignore-extra", data=Path("new.csv").read_bytes())
    explained = [json.loads(line) for line in piped.stdout.decode().splitlines()]
    assert piped.returncode == 0
    assert [line["row"] for line in explained] == list(range(12))
    assert explained[0]["best_set"]["variables"][0] in ("city", "age")

    rules = suffice_in(here, "rules m.suffice --simplify 0.01")
    assert rules.returncode == 0
    assert "IF city = Oslo THEN no" in rules.stdout.decode()

    report = suffice_in(here, "report m.suffice new.csv --ignore-extra -o r.html --title", "A & B")
    assert report.returncode == 0
    assert report.stdout == b""
    assert "A &amp; B" in Path("r.html").read_text()
    assert "12 rows explained, written to r.html." in report.stderr.decode()


def test_the_installed_command_refuses_bad_input_without_a_traceback(here):
    done = suffice_in(here, "fit shop.csv --target buy -o m.suffice")
    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr.decode() == "Error: --target: there is no column 'buy' in shop.csv. Did you mean 'buys'?\n"


def test_an_interrupted_command_is_quiet_and_leaves_nothing(here):
    os.mkfifo("slow.csv")
    command = [COMMAND, "fit", "slow.csv", "-t", "buys", "-o", "m.suffice"]
    # A shell starts what runs in the background with SIGINT ignored, and a child inherits that.
    heed = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=heed)  # noqa: PLW1509
    before = set(os.listdir())
    with open("slow.csv", "wb", buffering=0) as pipe:  # waits until the command opens it
        pipe.write(b"a,b,buys\n1,2,3\n")
        for _ in range(10):  # a signal just before a read begins is heeded only after it: as for a person, press again
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=5)
                break
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert (out, err) == (b"", b"")
    assert set(os.listdir()) == before


@pytest.mark.parametrize(
    ("is_buffered", "kind", "start"), [(1, "jsonl", b'{"row": '), (0, "jsonl", b'{"row": '), (1, "text", b"\nRow 0\n")]
)
def test_a_reader_that_goes_away_is_no_error(is_buffered, kind, start, here):
    pl.concat([make_shop()] * 10).write_parquet("many.parquet")
    args = f"explain buys.suffice many.parquet --ignore-extra --sets minimal --rules none --rows 3000 --format {kind}"
    env = {**os.environ, "PYTHONUNBUFFERED": "" if is_buffered else "1"}
    process = subprocess.Popen([COMMAND, *args.split()], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
    assert process.stdout.read(len(start)) == start
    process.stdout.close()
    assert process.stderr.read().decode().startswith("The predictions are explained")
    process.stderr.close()
    assert process.wait(60) == 141


def test_without_its_extra_the_command_says_so(here):
    code = "import sys; sys.modules['typer'] = None; from suffice._cli.main import main; main(['--help'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "Error: The command needs its extra: pip install 'suffice[cli]'.\n"


def test_shell_completion(here):
    done = suffice_in(
        here,
        env={
            **os.environ,
            "_SUFFICE_COMPLETE": "complete_bash",
            "COMP_WORDS": "suffice re",
            "COMP_CWORD": "1",
            "_TYPER_COMPLETE_ARGS": "suffice re",
        },
    )
    assert done.returncode == 0
    assert done.stdout.decode().split() == ["report"]


@pytest.mark.slow
def test_the_demo(tmp_path):
    done = suffice_in(tmp_path, "demo --report first.html")
    told = done.stdout.decode()
    assert done.returncode == 0, done.stderr.decode()
    assert "Breast cancer\n=" in told
    assert "Diabetes progression\n=" in told
    assert "Held-out row 0, observed: malignant" in told
    assert "Report, for a browser: first.html" in told
    assert sorted(os.listdir(tmp_path)) == ["first-2.html", "first.html"]


# --- help -------------------------------------------------------------------------------------------------------------


def test_the_version(capsys):
    assert command("--version") == 0
    assert capsys.readouterr().out == f"suffice {suffice.__version__}\n"


@pytest.mark.parametrize("args", [[], ["--help"], ["-h"]])
def test_the_help_lists_the_commands(args, capsys):
    assert run(args) == 0
    told = capsys.readouterr().out
    assert all(f" {name} " in told for name in ("demo", "fit", "explain", "report", "rules", "info"))


@pytest.mark.parametrize("name", ["demo", "fit", "explain", "report", "rules", "info"])
def test_every_command_has_examples(name, capsys):
    assert run([name, "--help"]) == 0
    told = capsys.readouterr().out
    assert told.partition("Examples")[2].count(f"suffice {name}") >= 2


# --- fit --------------------------------------------------------------------------------------------------------------


def fit(capsys, args):
    code = run(["fit", *args.split()])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_options_of_fit_reach_the_explainer(here, capsys):
    code, out, _ = fit(
        capsys,
        "shop.parquet -t spent --drop id --drop buys --drop since -o m.suffice --pi 0.8 --trees 20 --leaf 7 "
        "--candidates 3 --alpha 0.2 --max-size 2 --seed 5 --sample 200 --jobs 1 --group who=age,member",
    )
    assert code == 0
    assert "Rows: 200, drawn from 300\n" in out
    assert "Candidates: 3 of 4 variables: who" in out
    explainer = SufficientExplainer.load("m.suffice")
    assert (explainer.pi, explainer.alpha, explainer.max_size, explainer.n_candidates) == (0.8, 0.2, 2, 3)
    about = explainer._about()
    assert (about["forest"]["n_estimators"], about["forest"]["min_samples_leaf"]) == (20, 7)
    assert about["n_rows"] == 200
    assert about["variables"] == ["city", "who", "income", "code"]
    assert about["task_reason"].startswith("regression: the outcomes are numbers with fractions")


def test_the_same_seed_gives_the_same_file(here, capsys):
    options = "shop.csv -t buys --drop id --drop since --sample 100 --trees 10 --seed"
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
    assert err == "1 row without a value of 'y' left out.\n"


def test_warnings_are_lines(here, capsys):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"name": [f"n{i}" for i in range(100)], "a": rng.random(100), "y": rng.random(100)})
    frame.write_csv("noise.csv")
    code, _, err = fit(capsys, "noise.csv -t y -o m.suffice")
    assert code == 0
    lines = err.splitlines()
    assert lines[0].startswith("Warning: Most rows of the column 'name' hold categories with fewer than 10 rows")
    assert lines[1].startswith("Warning: The forest follows the outcomes poorly: out-of-bag R2 ")
    assert len(lines) == 2


def test_notes_on_a_file_are_lines(here, capsys):
    Path("odd.csv").write_text("a,y\n" + "".join(f"{i if i % 9 else '?'},{'ab'[i % 2]}\n" for i in range(90)))
    _, _, err = fit(capsys, "odd.csv -t y -o m.suffice")
    told = "Note: The column 'a' of odd.csv is taken as text: 10 of 90 values, such as '?', are no numbers."
    assert err.startswith(told)


def test_dates(here, capsys):
    options = "shop.csv -t buys --drop id --drop spent -o m.suffice"
    code, _, err = fit(capsys, options)
    assert code == 2
    assert err.splitlines()[-1].startswith("Error: Column 'since' of the table holds dates: leave it out, or use its ")
    assert err.endswith(" by --dates parts.\n")
    code, out, _ = fit(capsys, f"{options} --dates parts")
    assert code == 0
    assert "Columns: 6: 2 numeric, 2 categorical, 1 boolean, 1 with dates" in out


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ("shop.csv -t y -o m.suffice", "--target: there is no column 'y' in shop.csv. Its columns are id, city, age,"),
        (
            "shop.csv -t buys --drop idd -o m.suffice",
            "--drop: there is no column 'idd' in shop.csv. Did you mean 'id'?",
        ),
        ("none.csv -t buys -o m.suffice", "There is no file 'none.csv'."),
        (". -t buys -o m.suffice", "'.' is a folder: give a file."),
        ("shop.csv -t buys -o nowhere/m.suffice", "There is no folder 'nowhere' to write 'm.suffice' in."),
        ("shop.csv -t buys -o .", "'.' is a folder: give a file."),
        ("small.csv -t y -o m.suffice --pi 2", "--pi must be in (0, 1], got 2.0."),
        ("small.csv -t y -o m.suffice --candidates 129", "--candidates must be from 1 to 128, got 129."),
        ("small.csv -t y -o m.suffice --max-size 0", "--max-size must be None or at least 1, got 0."),
        ("small.csv -t y -o m.suffice --radius 1", "--radius is for regression, but the target holds classes;"),
        ("small.csv -t y -o m.suffice --group ab", "--group must be NAME=COL,COL or the one word detect, got 'ab'."),
        ("small.csv -t y -o m.suffice --group a=b --group a=c", "--group 'a' is given twice."),
        ("small.csv -t y -o m.suffice --group g=a,z", "In the group 'g': Unknown variable 'z'."),
        ("small.csv -t y -o m.suffice --task regression", "The target must hold numbers for a regression;"),
        ("small.csv -t y --drop a --drop b -o m.suffice", "small.csv has no columns besides the target and those"),
        ("small.csv -t y --trees 0 -o m.suffice", "Invalid value for '--trees'"),
        ("small.csv -t y --task clas -o m.suffice", "Invalid value for '--task'"),
        ("small.csv -o m.suffice", "Missing option '--target' / '-t'. See `suffice fit --help`."),
        ("small.csv -t y --nope -o m.suffice", "No such option: --nope"),
        ("one.csv -t y -o m.suffice", "The target has one class only, 'x': there is nothing to explain."),
        ("empty.csv -t y -o m.suffice", "The column 'y' is empty: there is no outcome to explain."),
        ("ragged.csv -t y -o m.suffice", "ragged.csv, line 3: 1 field, but the header names 2 columns."),
        (
            "inf.csv -t y -o m.suffice",
            "Column 'a' of the table holds infinity or a number too large for float32 (row 1)",
        ),
        ("infy.csv -t y -o m.suffice", "The target holds NaN or inf (row 0): leave out the rows without a finite"),
        ("time.csv -t y -o m.suffice", "Column 'a' of the table must hold numbers, labels or dates, got Time"),
    ],
)
def test_fit_refuses_in_one_sentence(args, told, here, capsys):
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
    assert err.splitlines()[-1].startswith(f"Error: {told}")
    assert "Traceback" not in err
    assert set(os.listdir()) == before


def test_an_error_of_the_program_is_not_hidden(here, monkeypatch):
    def fail(*args):
        raise RuntimeError("a bug")

    monkeypatch.setattr(SufficientExplainer, "fit", fail)
    with pytest.raises(RuntimeError, match="a bug"):
        run(["fit", "shop.csv", "-t", "buys", "-o", "m.suffice"])


def test_an_interruption_ends_with_130(here, monkeypatch, capsys):
    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(SufficientExplainer, "save", interrupt)
    before = set(os.listdir())
    assert command("fit shop.csv -t buys --drop id --drop since -o m.suffice") == 130
    assert capsys.readouterr().out == ""
    assert set(os.listdir()) == before


# --- explain ----------------------------------------------------------------------------------------------------------


def expected(model="buys.suffice", target=None, **options):
    explainer = SufficientExplainer.load(model)
    frame = pl.read_parquet("shop.parquet").head(12)
    positions = [i for i in range(12) if target is None or frame[target][i] is not None]
    frame = frame[positions]
    outcomes = None if target is None else frame[target]
    return positions, explainer.explain(frame.select(explainer.feature_names_in_.tolist()), outcomes, **options)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow", "feather"])
@pytest.mark.parametrize(("model", "target"), [("buys", None), ("buys", "buys"), ("spent", None), ("spent", "spent")])
def test_the_table_has_a_line_for_each_row(model, target, suffix, here, capsys):
    positions, explanations = expected(f"{model}.suffice", target)
    observed = [] if target is None else ["--target", target]
    args = f"explain {model}.suffice new.csv --ignore-extra --id id --id member -o out.{suffix}".split()
    assert run([*args, *observed]) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines()[-1] == f"{len(positions)} rows explained, written to out.{suffix}."
    found = read_table(f"out.{suffix}")
    assert found.columns == ["row", "id", "member", *RESULT_COLUMNS]
    assert found["row"].to_list() == positions
    assert found["id"].to_list() == [f"c{i}" for i in positions]
    for line, explanation in zip(found.to_dicts(), explanations, strict=True):
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
        assert line == {"row": position, "id": {"since": since[position].isoformat()}, **explanation.to_dict()}
    if whole:
        assert whole["candidates"] == list(explanations.candidates)


def test_the_outcomes_of_a_file_are_those_asked_for(here, capsys):
    assert command("explain buys.suffice new.csv --ignore-extra -f csv") == 0
    captured = capsys.readouterr()
    assert captured.err == "The predictions are explained, not the column 'buys'; for that: --target 'buys'\n"
    assert len(captured.out.splitlines()) == 13
    assert command("explain buys.suffice new.csv --ignore-extra -f csv --target buys") == 0
    captured = capsys.readouterr()
    assert captured.err == "2 rows without a value of 'buys' left out.\n"
    assert len(captured.out.splitlines()) == 11


def test_in_words(here, capsys):
    _, explanations = expected()
    assert command("explain buys.suffice new.csv --ignore-extra --format text --rows 2") == 0
    out = capsys.readouterr().out
    for i in range(2):
        assert f"\nRow {i}\n  " + str(explanations[i]).replace("\n", "\n  ") in out
    assert "Row 2" not in out
    assert "\n2 rows explained; " in out


def test_in_words_a_few_rows_are_told_and_how_to_get_more(here, capsys):
    assert command("explain buys.suffice new.csv --ignore-extra --format text") == 0
    captured = capsys.readouterr()
    assert "Row 4" in captured.out
    assert "Row 5" not in captured.out
    assert captured.err.splitlines()[-1] == "7 more rows: --rows N tells more of them, -o FILE writes all."
    assert command("explain buys.suffice new.csv --ignore-extra --format text -o words.txt -n 12") == 0
    assert Path("words.txt").read_text().count("\nRow ") == 11


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_standard_output_takes_binary_formats(kind, here, capsysbinary):
    assert command(f"explain buys.suffice new.csv --ignore-extra --format {kind} -o -") == 0
    Path("piped").write_bytes(capsysbinary.readouterr().out)
    assert command("explain buys.suffice new.csv --ignore-extra -o straight.parquet") == 0
    assert_frame_equal(read_table("piped"), read_table("straight.parquet"))


@pytest.mark.parametrize("args", ["-o page.html", "--format html -o -"])
def test_a_page(args, here, capsys):
    assert command(f"explain buys.suffice new.csv --ignore-extra {args}") == 0
    page = Path("page.html").read_text() if "page" in args else capsys.readouterr().out
    assert page.lstrip().lower().startswith("<!doctype html>")
    assert page.rstrip().endswith("</html>")


def test_a_column_that_was_text_at_fit_is_text_in_every_file(here, capsys):
    """Without "x" and "y" the column `code` looks like numbers; 1 is none of the categories "1", "2", "x" and "y"."""
    frame = pl.read_parquet("shop.parquet").filter(pl.col("code").is_in(["1", "2"])).head(5)
    frame.write_csv("digits.csv")
    assert read_table("digits.csv")["code"].dtype == pl.Int64
    assert command("explain buys.suffice digits.csv --ignore-extra -f csv") == 0
    assert len(capsys.readouterr().out.splitlines()) == frame.height + 1


def test_labels_that_were_text_at_fit_are_text_in_every_file(here, capsys):
    Path("labels.csv").write_text("a,y\n" + "".join(f"{i},{(i % 3 == 0 and 'x') or i % 3}\n" for i in range(99)))
    Path("rows.csv").write_text("a,y\n1,1\n2,2\n")
    assert command("fit labels.csv -t y -o labels.suffice") == 0
    capsys.readouterr()
    assert command("explain labels.suffice rows.csv -t y -f jsonl") == 0
    assert [json.loads(line)["outcome"] for line in capsys.readouterr().out.splitlines()] == ["1", "2"]


def test_the_settings_of_a_model_can_be_changed(here, capsys):
    pl.read_csv("new.csv").with_columns(pl.lit("Bergen").alias("city")).write_csv("far.csv")
    args = ["explain", "buys.suffice", "far.csv", "--ignore-extra", "-f", "jsonl", "--rows", "1"]
    assert run(args) == 2
    assert capsys.readouterr().err.endswith(" With --unseen missing it counts as missing.\n")
    assert run([*args, "--unseen", "missing", "--pi", "0.7", "--check", "everywhere"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["pi"] == 0.7
    assert told["values"]["city"] is None
    assert [rule["everywhere"] for rule in told["rules"]] == [True]


def test_a_model_keeps_its_own_settings_unless_others_are_given(here, capsys):
    explainer = SufficientExplainer.load("buys.suffice")
    explainer.set_params(unseen="missing", extra_columns="ignore", pi=0.6).save("mild.suffice")
    pl.read_csv("new.csv").with_columns(pl.lit("Bergen").alias("city")).write_csv("far.csv")
    assert command("explain mild.suffice far.csv -f jsonl --rows 1") == 0
    assert json.loads(capsys.readouterr().out)["pi"] == 0.6


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ("buys.suffic new.csv", "There is no file 'buys.suffic'. Did you mean 'buys.suffice'?"),
        ("new.csv new.csv", "'new.csv' is not a file of suffice: make one by `suffice fit`."),
        (". new.csv", "'.' is a folder: give a file."),
        ("buys.suffice none.csv", "There is no file 'none.csv'."),
        (
            "buys.suffice new.csv",
            "The table has 8 columns, there were 5 at fit: missing [], unexpected ['id', 'since',",
        ),
        ("buys.suffice few.csv --ignore-extra", "The table has 1 columns, there were 5 at fit: missing ['city', 'inc"),
        ("buys.suffice new.csv --id nr", "--id: there is no column 'nr' in new.csv."),
        ("buys.suffice new.csv --target bys", "--target: there is no column 'bys' in new.csv. Did you mean 'buys'?"),
        ("buys.suffice new.csv --target city --ignore-extra", "The target holds the label 'Oslo' (row 0), which was"),
        ("buys.suffice new.csv -o out.xlsx", "Cannot tell the format of 'out.xlsx', the suffix '.xlsx' is not known: "),
        ("buys.suffice new.csv -o out", "Cannot tell the format of 'out', it has no suffix: use one of .csv, .parquet"),
        ("buys.suffice new.csv -o nowhere/out.csv", "There is no folder 'nowhere' to write 'out.csv' in."),
        ("buys.suffice new.csv --pi 0 --ignore-extra", "--pi must be in (0, 1], got 0.0."),
        ("buys.suffice new.csv --sets some", "Invalid value for '--sets'"),
        ("buys.suffice size.csv --id size --ignore-extra -f csv", "--id: 'size' is also the name of a column of the"),
        ("buys.suffice", "Missing argument 'ROWS'. See `suffice explain --help`."),
    ],
)
def test_explain_refuses_in_one_sentence(args, told, here, capsys):
    Path("few.csv").write_text("age\n3\n")
    pl.read_csv("new.csv").with_columns(size=1).write_csv("size.csv")
    before = set(os.listdir())
    assert run(["explain", *args.split()]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines()[-1].startswith(f"Error: {told}")
    assert set(os.listdir()) == before


def test_a_damaged_model_is_refused(here, capsys):
    data = Path("buys.suffice").read_bytes()
    for damaged in (b"", data[:-1], data[:1000] + b"?" + data[1001:]):
        Path("bad.suffice").write_bytes(damaged)
        assert command("explain bad.suffice new.csv") == 2
        assert capsys.readouterr().err.startswith("Error: 'bad.suffice' ")


# --- report, rules, info ----------------------------------------------------------------------------------------------


def test_a_report_is_a_page(here, capsys):
    assert command("report buys.suffice new.csv --ignore-extra -o out.txt") == 2
    assert "use one of .html" in capsys.readouterr().err
    assert command("report buys.suffice new.csv --ignore-extra -o out.html --rows 3 --target buys") == 0
    assert "3 rows explained, written to out.html." in capsys.readouterr().err


@pytest.mark.parametrize("model", ["buys", "spent"])
def test_the_rules_of_the_training_rows(model, here, capsys):
    assert command(f"rules {model}.suffice --format json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["target"] == model
    assert told["n_rows"] == {"buys": N_ROWS - 2, "spent": N_ROWS}[model]
    assert command(f"rules {model}.suffice") == 0
    text = capsys.readouterr().out
    assert text.startswith(f"{len(told['rules'])} rules, coverage ")
    for i, line in enumerate(told["rules"], start=1):
        assert f"\n{i}. IF {line['if']} THEN " in text
    assert command(f"rules {model}.suffice --format sql -o rules.sql") == 0
    assert f"{len(told['rules'])} rules written to rules.sql." in capsys.readouterr().err
    sql = Path("rules.sql").read_text()
    assert all(f"WHEN {line['sql']} THEN " in sql for line in told["rules"])
    assert sql.endswith("END\n")


def test_the_rules_of_a_model_are_those_of_the_library(here, capsys):
    from suffice import GlobalRulesClassifier

    explainer = SufficientExplainer.load("buys.suffice")
    frame = pl.read_parquet("shop.parquet").drop_nulls("buys")
    explanations = explainer.explain(
        frame.select(explainer.feature_names_in_.tolist()), frame["buys"], sets="minimal", rules="minimal"
    )
    expected_rules = str(GlobalRulesClassifier.from_explanations(explanations))
    assert command("rules buys.suffice") == 0
    assert capsys.readouterr().out == expected_rules + "\n"
    assert command("rules buys.suffice shop.csv --ignore-extra") == 0
    captured = capsys.readouterr()
    assert captured.out == expected_rules + "\n"
    assert captured.err == "2 rows without a value of 'buys' left out.\n"  # the observed outcomes are explained


def test_fewer_rules(here, capsys):
    counts = []
    for options in ("", "--simplify 0.2", "--min-support 20", "--min-precision 0.97"):
        assert command(f"rules spent.suffice --format json {options}") == 0
        captured = capsys.readouterr()
        rules = json.loads(captured.out)["rules"]
        counts.append(len(rules))
        assert ("--simplify 0.01" in captured.err) == (len(rules) > 20 and "simplify" not in options)
        if "support" in options:
            assert all(rule["support"] >= 20 for rule in rules)
    assert max(counts[1:]) < counts[0]
    assert counts[0] > 20


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ("buys.suffice --simplify 1", "--simplify must be in [0, 1), got 1.0."),
        ("buys.suffice --min-support 0", "--min-support must be a whole number >= 1, got 0."),
        ("buys.suffice --min-precision 2", "--min-precision must be in [0, 1], got 2.0."),
        ("buys.suffice -o nowhere/rules.sql", "There is no folder 'nowhere' to write 'rules.sql' in."),
    ],
)
def test_rules_refuses_in_one_sentence(args, told, here, capsys):
    assert run(["rules", *args.split()]) == 2
    assert capsys.readouterr().err.startswith(f"Error: {told}")


@pytest.mark.parametrize("table", ["", "shop.csv --ignore-extra"])
def test_a_model_with_dates_has_rules_too(table, here, capsys):
    assert command(f"rules dated.suffice {table}") == 0
    assert "IF city = Oslo THEN no" in capsys.readouterr().out


def test_info_as_json(here, capsys):
    assert command("info spent.suffice --format json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["file"] == "spent.suffice"
    assert told["bytes"] == Path("spent.suffice").stat().st_size
    assert told["format"] == 1
    assert told["columns"] == ["city", "age", "income", "code", "member"]
    assert told["task"] == "regression"
    assert 0.8 < told["fidelity"] <= 1


# --- words ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("`X` has 3 columns. With extra_columns='ignore' they", "The table has 3 columns. With --ignore-extra they"),
        ("Column 'a' of `X` holds", "Column 'a' of the table holds"),
        (
            "`y` must hold numbers; give task='classification'",
            "The target must hold numbers; give --task classification",
        ),
        ("`n_candidates` must", "--candidates must"),
    ],
)
def test_messages_speak_of_options(text, told):
    assert in_options(text) == told
