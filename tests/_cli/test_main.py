"""The installed command from end to end, exit codes, and what is printed when something goes wrong."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import polars as pl
import pytest
from shop import COMMAND, command, make_shop, suffice_in

import suffice
from suffice import SufficientExplainer
from suffice._cli.main import main, run


def test_from_a_table_to_a_report(here, capsys):
    """What a new user does: fit, info, explain, rules, report."""
    assert command("fit shop.csv --target buys --drop id --drop since --drop spent -o m.suffice") == 0
    out, err = capsys.readouterr()
    assert err == "2 rows without a value of 'buys' are left out.\n"
    lines = dict(line.split(": ", 1) for line in out.splitlines())
    assert lines["Rows"] == "298"
    assert lines["Columns"] == "5: 2 numeric, 2 categorical, 1 boolean"
    assert lines["Target"] == "buys, 2 classes: no, yes"
    assert lines["Task"] == "classification: the outcomes are text (--task regression to change)"
    assert lines["Fidelity"].endswith(" %)")
    assert "% correct on rows that the trees have not seen (no " in lines["Fidelity"]
    assert lines["Candidates"] == "2 of 5 variables: city, age"
    assert lines["Saved"].startswith("m.suffice (")

    assert command("info m.suffice") == 0
    info = capsys.readouterr().out
    assert "Columns: 5: city, age, income, code, member\n" in info
    assert f"Made by: suffice {suffice.__version__}, " in info
    assert "format 4)" in info

    assert command("rules m.suffice --max-rules all") == 0
    assert "IF city = Oslo THEN no" in capsys.readouterr().out

    assert command("report m.suffice new.csv --ignore-extra -o r.html --title", "A & B") == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert "A &amp; B" in Path("r.html").read_text()
    assert "12 rows explained, written to r.html." in err


def test_rows_can_be_piped(here):
    piped = suffice_in(here, "explain buys.suffice - --ignore-extra", data=Path("new.csv").read_bytes())
    explained = [json.loads(line) for line in piped.stdout.decode().splitlines()]
    assert piped.returncode == 0
    assert [line["row"] for line in explained] == list(range(12))
    assert explained[0]["best_set"]["variables"][0] in ("city", "age")


def test_the_installed_command_is_this_one():
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text()
    assert f'suffice = "{main.__module__}:{main.__name__}"' in text


def test_bad_input_is_refused_without_a_traceback(here, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["fit", "shop.csv", "--target", "buy", "-o", "m.suffice"])
    assert stopped.value.code == 2
    message = "Error: --target: there is no column 'buy' in shop.csv. Did you mean 'buys'?\n"
    assert capsys.readouterr() == ("", message)


@pytest.mark.slow
def test_an_interrupted_command_is_quiet_and_leaves_nothing(here):
    os.mkfifo("slow.csv")
    command = [*COMMAND, "fit", "slow.csv", "-t", "buys", "-o", "m.suffice"]
    # A shell starts what runs in the background with SIGINT ignored, and a child inherits that.
    heed = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=heed)  # noqa: PLW1509
    before = set(os.listdir())
    with open("slow.csv", "wb", buffering=0) as pipe:  # waits until the command opens it
        pipe.write(b"a,b,buys\n1,2,3\n")
        for _ in range(10):  # a signal just before a read is handled only after it, so it is sent again
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=30)  # the end takes seconds on a busy machine; a second signal would disturb it
                break
        out, err = process.communicate(timeout=300)
    assert process.returncode == 130
    assert (out, err) == (b"", b"")
    assert set(os.listdir()) == before


@pytest.mark.parametrize(
    ("is_buffered", "kind", "start"),
    [
        (1, "jsonl", b'{"row": '),
        pytest.param(0, "jsonl", b'{"row": ', marks=pytest.mark.slow),
        pytest.param(1, "text", b"\nRow 0\n", marks=pytest.mark.slow),
    ],
)
def test_a_closed_pipe_is_not_an_error(is_buffered, kind, start, here):
    pl.concat([make_shop()] * 10).write_parquet("many.parquet")
    args = f"explain buys.suffice many.parquet --ignore-extra --sets minimal --rules none --rows 3000 --format {kind}"
    env = {**os.environ, "PYTHONUNBUFFERED": "" if is_buffered else "1"}
    process = subprocess.Popen([*COMMAND, *args.split()], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
    assert process.stdout.read(len(start)) == start
    process.stdout.close()
    assert process.stderr.read().decode().startswith("The predictions are explained")
    process.stderr.close()
    assert process.wait(300) == 141


def test_without_its_extra_the_command_says_so(here):
    code = "import sys; sys.modules['typer'] = None; from suffice._cli.main import main; main(['--help'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
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
    assert done.stdout.decode().split() == ["reasons", "report"]


def test_an_error_of_the_program_is_not_hidden(here, monkeypatch):
    def fail(*args, **options):
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


def test_errors_have_no_control_characters(here, capsys):
    assert run(["info", "no\x1b[2Jthing"]) == 2
    assert "\x1b" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "line",
    [
        "fit shop.csv -t buys -o shop.csv",
        "fit shop.csv -t buys -o link.csv",
        "explain buys.suffice new.csv -o new.csv",
        "explain buys.suffice new.csv --format csv -o buys.suffice",
        "change buys.suffice new.csv -t yes -o hard.csv",
        "report buys.suffice page.html -o page.html",
        "rules buys.suffice -o buys.suffice",
        "certify buys.suffice new.csv -o new.csv",
        "certify buys.suffice shop.csv --rules rules.json -o rules.json",
    ],
)
def test_no_command_replaces_what_it_reads(line, here, capsys):
    """`suffice fit t.csv -t y -o t.csv` replaced the user's table by the model."""
    os.symlink("shop.csv", "link.csv")
    os.link("new.csv", "hard.csv")
    for name in ("page.html", "rules.json"):
        Path(name).write_text("[]")
    before = {path.name: path.read_bytes() for path in Path().iterdir() if path.is_file()}
    assert run(line.split()) == 2
    assert "is also an input" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in Path().iterdir() if path.is_file()} == before
