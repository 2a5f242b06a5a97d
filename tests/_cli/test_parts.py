"""Parts of a file: runs that are stopped and continued, runs that differ, and two runs at once."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import time
from functools import partial
from pathlib import Path

import polars as pl
import pytest
from shop import COMMAND
from streamed import N_ROWS, crash_after, expect_same, explain, make_table, parts, stop_after

from suffice._cli import parts as run_in_parts
from suffice._cli.parts import FINGERPRINT, Parts, folder_of


@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl"])
def test_finished_parts_are_kept(suffix, rows_here, monkeypatch, n_explained, capsys):
    line = f"-o out.{suffix} --batch 11"
    assert explain(f"-o whole.{suffix}") == 0
    crash_after(3, line, monkeypatch)
    before = parts(f"out.{suffix}")
    assert len(before) == 3
    assert not Path(f"out.{suffix}").exists()
    del n_explained[:]
    crash_after(5, line, monkeypatch)
    assert before.items() <= parts(f"out.{suffix}").items()
    assert n_explained == [11, 11, 5]
    del n_explained[:]
    capsys.readouterr()
    assert explain(line) == 0
    assert "\nContinuing: 5 of 6 parts were done.\n60 rows explained" in capsys.readouterr().err
    assert n_explained == [5]
    expect_same(f"out.{suffix}", f"whole.{suffix}")
    assert not Path(f".out.{suffix}.parts").exists()


def test_a_run_killed_while_it_joined_the_parts(rows_here, monkeypatch, n_explained, capsys):
    def crash(self, output):
        Path(self.folder, ".000001-0123456789abcdef.unfinished.parquet").write_bytes(b"half")
        raise RuntimeError("stopped by the test")

    with monkeypatch.context() as patch:
        patch.setattr(Parts, "join", crash)
        for _ in range(2):
            with pytest.raises(RuntimeError, match="stopped by the test"):
                explain("-o out.parquet --batch 20")
    assert n_explained == [20, 20, 20]
    assert explain("-o out.parquet --batch 20") == 0
    assert n_explained == [20, 20, 20]
    assert explain("-o whole.parquet") == 0
    expect_same("out.parquet", "whole.parquet")
    assert not Path(".out.parquet.parts").exists()


def test_a_run_killed_before_its_first_part_does_not_block_the_next_run(rows_here, n_explained, capsys):
    os.mkdir(".out.parquet.parts", 0o700)
    Path(".out.parquet.parts", FINGERPRINT).write_text('{"batch": 7}')
    assert explain("-o out.parquet --batch 20") == 0
    assert n_explained == [20, 20, 20]
    assert not Path(".out.parquet.parts").exists()


def long_run(suffix="parquet"):
    """A run of a second or two, and its command."""
    pl.concat([make_table(2000)] * 3).write_parquet("long.parquet")
    line = f"-o out.{suffix} --batch 100 --sets minimal --rules none"
    return line, [*COMMAND, "explain", "buys.suffice", "long.parquet", *line.split()]


@pytest.mark.slow
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL])
def test_a_stopped_run_goes_on(sent, rows_here, capsys):
    line, command = long_run()
    # A shell starts what runs in the background with SIGINT ignored, and a child inherits that.
    heed = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=heed)  # noqa: PLW1509
    deadline = time.monotonic() + 300
    while len(parts()) < 3 and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.002)
    process.send_signal(sent)
    out, err = process.communicate(timeout=300)
    before = parts()
    n = len(before)
    assert 3 <= n < 60
    assert not Path("out.parquet").exists()
    assert out == b""
    note = "The predictions are explained, not the column 'buys'; to explain it, add --target 'buys'\n"
    if sent == signal.SIGINT:
        assert process.returncode == 130
        assert err.decode() == f"{note}Stopped: {n} of 60 parts are done. The same command continues from there.\n"
    else:
        assert (process.returncode, err.decode()) == (-signal.SIGKILL, note)
    assert explain(line, "long.parquet") == 0
    going_on = f"Continuing: {n} of 60 parts were done.\n"
    assert capsys.readouterr().err == f"{note}{going_on}6,000 rows explained, written to out.parquet.\n"
    assert explain(f"{line} --batch 99999".replace("out", "whole"), "long.parquet") == 0
    expect_same("out.parquet", "whole.parquet")
    assert not Path(".out.parquet.parts").exists()


def test_an_interruption_in_the_first_part_leaves_nothing(rows_here, monkeypatch, capsys):
    before = set(os.listdir())
    for _ in stop_after(0, monkeypatch, KeyboardInterrupt):
        assert explain("-o out.parquet --batch 20") == 130
    assert "Stopped" not in capsys.readouterr().err
    assert set(os.listdir()) == before


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ("--pi 0.7", "pi"),
        ("--sets all", "sets"),
        ("--rules none", "rules"),
        ("--check rows", "check"),
        ("--id age", "kept"),
        ("--target buys", "target"),
        ("--rows 55", "limit"),
        ("--batch 21", "batch"),
        ("--batch 100 --pi 0.7", "batch and pi"),
        ("--format csv", "format"),
        ("explainer", "explainer"),
        ("table", "table"),
        ("touch", "table"),
        ("version", "version"),
    ],
)
def test_parts_of_a_different_run_are_refused(changed, named, rows_here, monkeypatch, n_explained, capsys):
    crash_after(2, "-o out.parquet --batch 20", monkeypatch)
    before, n_before = parts(), len(n_explained)
    of = {}
    if changed.startswith("--"):
        line = f"-o out.parquet --batch 20 {changed}"
    else:
        line = "-o out.parquet --batch 20"
        if changed == "version":
            monkeypatch.setattr(run_in_parts, "__version__", "0")
        if changed == "explainer":
            of = {"explainer": "flag"}
        if changed in ("table", "touch"):
            Path("rows.parquet").unlink()
            make_table(N_ROWS, seed=0 if changed == "touch" else 2).write_parquet("rows.parquet")
    capsys.readouterr()
    assert explain(line, **of) == 2
    messages = capsys.readouterr().err.splitlines()[-1]
    assert messages == (
        f"Error: {folder_of('out.parquet')} holds parts of an earlier run that differs in {named}: remove "
        "it to discard them, or name another file with -o."
    )
    assert parts() == before
    assert len(n_explained) == n_before
    shutil.rmtree(".out.parquet.parts")
    assert explain(line, **of) == 0
    assert sum(n_explained[n_before:]) == {"--target buys": 36, "--rows 55": 55}.get(changed, 60)
    assert not Path(".out.parquet.parts").exists()


def test_a_change_that_affects_no_finished_part_continues_the_run(rows_here, monkeypatch, n_explained, capsys):
    """Finished parts have no unseen categories, so counting these as missing does not change the parts."""
    place = pl.int_range(pl.len())
    table = make_table(N_ROWS).with_columns(city=pl.when(place == 47).then(pl.lit("Bergen")).otherwise(pl.col("city")))
    table.write_parquet("far.parquet")
    line = "-o out.parquet --batch 20 --ignore-extra"
    assert explain(line, "far.parquet") == 2
    messages = capsys.readouterr().err
    assert "Column 'city' of the table holds 'Bergen' (row 47), which was not among its categories" in messages
    assert len(parts()) == 2
    del n_explained[:]
    assert explain(f"{line} --unseen missing", "far.parquet") == 0
    assert n_explained == [20]
    assert explain("-o whole.parquet --unseen missing", "far.parquet") == 0
    expect_same("out.parquet", "whole.parquet")
    crash_after(2, f"{line} --unseen missing", monkeypatch, rows="far.parquet")
    assert explain(line, "far.parquet") == 2
    assert "differs in unseen: remove it to discard them" in capsys.readouterr().err


def test_a_second_run_at_once_leaves_a_whole_file(rows_here, monkeypatch, capsys):
    """The second run takes what the first has finished, and removes the folder; the first then ends with an error."""
    assert explain("-o whole.csv") == 0
    write = Parts.write

    def run_another(self, part, pieces):
        if part == 1:
            monkeypatch.setattr(Parts, "write", write)
            assert explain("-o out.csv --batch 20") == 0
        write(self, part, pieces)

    monkeypatch.setattr(Parts, "write", run_another)
    assert explain("-o out.csv --batch 20") == 2
    assert "Error: No such file or directory" in capsys.readouterr().err
    expect_same("out.csv", "whole.csv")
    assert not folder_of("out.csv").exists()


@pytest.mark.parametrize("how", ["owner", "rights", "link"])
def test_parts_that_somebody_else_may_have_put_there_are_refused(how, rows_here, monkeypatch, capsys):
    """Whoever made the folder first decided what the result holds."""
    crash_after(3, "-o out.csv --batch 11", monkeypatch)
    folder = folder_of("out.csv")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    if how == "owner":
        os.chown(folder, 12345, -1)
    elif how == "rights":
        folder.chmod(0o770)
    else:
        folder.rename("elsewhere")
        folder.symlink_to("elsewhere")
    assert explain("-o out.csv --batch 11") == 2
    message = capsys.readouterr().err
    assert f"{folder} may hold parts of somebody else" in message
    assert "Remove it, or name another file with -o." in message
    assert not Path("out.csv").exists()


def test_a_file_with_a_long_name_is_written_by_parts(rows_here):
    """The folder of the parts had a name that is longer than systems take."""
    name = "x" * 246 + ".csv"
    assert explain(f"-o {name} --batch 20") == 0
    assert explain("-o whole.csv") == 0
    expect_same(name, "whole.csv")


def test_a_full_disk_at_the_end_is_one_sentence(rows_here, monkeypatch, capsys):
    write = pl.LazyFrame.sink_parquet

    def refuse(frame, target, **options):
        if isinstance(target, Path):
            raise pl.exceptions.ComputeError("No space left on device (os error 28)")
        return write(frame, target, **options)

    monkeypatch.setattr(pl.LazyFrame, "sink_parquet", refuse)
    assert explain("-o out.parquet --batch 11") == 2
    assert "out.parquet.parts cannot be joined: No space left on device (os error 28)." in capsys.readouterr().err
