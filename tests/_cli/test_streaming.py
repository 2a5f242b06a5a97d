"""Large files part by part: the same answers as at once, whatever happens on the way."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import signal
import subprocess
import sys
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from suffice import SearchSizeWarning, SufficientExplainer
from suffice._cli import results, streaming
from suffice._cli.main import run
from suffice._io import files
from suffice._io.files import open_table, read_table

COMMAND = Path(sys.executable).with_name("suffice")
N_ROWS = 60
OUTCOMES = {"buys": pl.String, "number": pl.Int64, "flag": pl.Boolean, "spent": pl.Float64}


def make_table(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    city = rng.choice(["Paris", "Rome", "Oslo"], n_rows)
    age = rng.integers(18, 80, n_rows)
    is_sure = (age > 40) & (city != "Oslo")
    is_buyer = is_sure ^ (rng.random(n_rows) < 0.1)
    frame = pl.DataFrame(
        {
            "id": [f"c{i}" for i in range(n_rows)],
            "city": city,
            "age": age,
            "income": rng.normal(30, 8, n_rows).round(1),
            "member": rng.random(n_rows) > 0.5,
            "buys": np.where(is_buyer, "yes", "no"),
            "number": np.where(is_buyer, 7, 3).astype(np.int32),
            "flag": is_buyer,
            "spent": (age * 2.5 + rng.normal(0, 5, n_rows)).round(2),
        },
    )
    place = pl.int_range(pl.len())
    return frame.with_columns(
        pl.when(place % 11 == 4).then(None).otherwise(pl.col("income")).alias("income"),
        # No outcome in the first row, in all of some parts, and in the last row.
        *(
            pl.when(place.is_between(20, 41) | place.is_in([0, n_rows - 1])).then(None).otherwise(pl.col(c)).alias(c)
            for c in OUTCOMES
        ),
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model for each kind of outcome, and tables."""
    folder = tmp_path_factory.mktemp("shop")
    train = make_table(300, seed=1)
    for target in OUTCOMES:
        known = train.drop_nulls(target)
        forest = RandomForestRegressor if target == "spent" else RandomForestClassifier
        explainer = SufficientExplainer(forest(8, min_samples_leaf=5, random_state=0), extra_columns="ignore")
        explainer.fit(known["city", "age", "income", "member"], known[target]).save(folder / f"{target}.suffice")
    make_table(N_ROWS).write_parquet(folder / "rows.parquet")
    return folder


@pytest.fixture
def n_explained(monkeypatch):
    """The number of rows in each call of the explainer that had any."""
    explain, counts = SufficientExplainer.explain, []

    def count(self, X, *args, **options):
        counts.extend([len(X)] if len(X) else [])
        return explain(self, X, *args, **options)

    monkeypatch.setattr(SufficientExplainer, "explain", count)
    return counts


def explain(line, rows="rows.parquet", model="buys"):
    return run(["explain", f"{model}.suffice", rows, *line.split()])


def stop_after(n_parts, monkeypatch, error):
    """Let the run crash when it has written some parts."""
    write = streaming.Parts.write

    def crash(self, part, pieces):
        if len(self.find()) == n_parts:
            raise error
        write(self, part, pieces)

    with monkeypatch.context() as patch:
        patch.setattr(streaming.Parts, "write", crash)
        yield


def crash_after(n_parts, line, monkeypatch, **of):
    for _ in stop_after(n_parts, monkeypatch, RuntimeError("stopped by the test")):
        with pytest.raises(RuntimeError, match="stopped by the test"):
            explain(line, **of)


def parts(output="out.parquet"):
    return {path: path.stat().st_mtime_ns for path in Path(f".{output}.parts").glob("0*")}


def expect_same(output, whole):
    if Path(output).suffix in (".csv", ".jsonl"):
        assert Path(output).read_bytes() == Path(whole).read_bytes()
    else:
        assert_frame_equal(read_table(output), read_table(whole))


# --- the same answers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", [1, 7, 20, 50])
@pytest.mark.parametrize("target", [None, "buys"])
def test_any_size_of_parts_gives_the_same_table(batch, target, here, n_explained, capsys):
    observed = f"--target {target}" if target else ""
    assert explain(f"--id id --id age -o whole.parquet {observed}") == 0
    told = capsys.readouterr().err
    asked = N_ROWS - 24 if target else N_ROWS
    assert n_explained == [asked]
    assert explain(f"--id id --id age -o out.parquet --batch {batch} {observed}") == 0
    assert capsys.readouterr().err == told.replace("whole", "out")
    assert sum(n_explained) == 2 * asked
    assert len(n_explained) > 2
    expect_same("out.parquet", "whole.parquet")
    found = read_table("out.parquet")
    expected = make_table(N_ROWS).with_row_index("row").filter(pl.col("buys").is_not_null() if target else True)
    assert found["row"].to_list() == expected["row"].to_list()
    assert found["id"].to_list() == expected["id"].to_list()
    assert 0 < found["rule"].null_count() < found.height  # so that some part has no rule
    assert sorted(path.name for path in here.iterdir() if not path.is_symlink()) == ["out.parquet", "whole.parquet"]


@pytest.mark.parametrize("target", [False, True])
@pytest.mark.parametrize("model", OUTCOMES)
def test_the_types_of_the_columns_are_those_of_the_model(model, target, here, capsys):
    """Also where a part has no outcome, and where the file has its labels in another type."""
    line = "--sets minimal --rules none" + f" --target {model}" * target
    assert explain(f"{line} -o whole.parquet", model=model) == 0
    assert explain(f"{line} -o out.parquet --batch 7", model=model) == 0
    expect_same("out.parquet", "whole.parquet")
    schema = read_table("out.parquet").schema
    assert schema["outcome"] == schema["prediction"] == OUTCOMES[model]
    assert (schema["rule"], schema["support"], schema["low"]) == (pl.String, pl.Int64, pl.Float64)


def test_labels_in_another_type_keep_it(here, capsys):
    table = make_table(N_ROWS)
    for other in (pl.Float32, pl.UInt8):
        table.with_columns(pl.col("number").cast(other)).write_parquet("typed.parquet")
        for output, batch in (("whole.parquet", 1000), ("out.parquet", 7)):
            assert explain(f"-o {output} --batch {batch} --target number", "typed.parquet", "number") == 0
        expect_same("out.parquet", "whole.parquet")
        schema = read_table("out.parquet").schema
        assert schema["outcome"] == (pl.Float64 if other == pl.Float32 else pl.Int64)
        assert schema["prediction"] == pl.Int64


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "arrow", "parquet"])
@pytest.mark.parametrize("model", ["buys", "spent"])
def test_every_format(suffix, model, here, capsys):
    for output, batch in (("whole", 1000), ("out", 17)):
        line = f"--id id -o {output}.{suffix} --batch {batch} --target {model} --rules all"
        assert explain(line, model=model) == 0
    expect_same(f"out.{suffix}", f"whole.{suffix}")
    assert read_table(f"out.{suffix}").height == N_ROWS - 24


@pytest.mark.parametrize("source", ["rows.arrow", "rows.csv", "rows.parquet", "a[1]*.parquet", "a[1]*.arrow"])
def test_every_kind_of_file(source, here, monkeypatch, capsys):
    table = make_table(N_ROWS).with_columns(nothing=None)
    getattr(table, {"arrow": "write_ipc", "csv": "write_csv", "parquet": "write_parquet"}[source.split(".")[1]])(
        "table"
    )
    os.replace("table", source)
    assert explain("-o whole.parquet --id nothing", source) == 0
    if source != "rows.csv" and source != "a[1]*.arrow":
        monkeypatch.setattr(files, "read_table", None)  # would read it whole
    assert explain("-o out.parquet --id nothing --batch 13", source) == 0
    expect_same("out.parquet", "whole.parquet")
    assert pl.read_parquet("out.parquet")["nothing"].dtype == pl.Float64


@pytest.mark.parametrize("options", ["", "--target buys"])
@pytest.mark.parametrize("n", [1, 19, 20, 30, 60, 100])
def test_the_first_rows_only(n, options, here, capsys):
    for output, batch in (("whole.csv", 1000), ("out.csv", 4)):
        assert explain(f"--rows {n} -o {output} --batch {batch} --sets minimal --rules none {options}") == 0
    expect_same("out.csv", "whole.csv")
    asked = make_table(N_ROWS).with_row_index("row").filter(pl.col("buys").is_not_null() if options else True)
    assert read_table("out.csv")["row"].to_list() == asked["row"].head(n).to_list()


def test_only_the_rows_that_are_needed_are_read(here, monkeypatch, capsys):
    read, extents = files.TableFile.rows, []

    def note(self, first, n, columns=None):
        frame = read(self, first, n, columns)
        extents.append((first, frame.height, set(frame.columns)))
        return frame

    monkeypatch.setattr(files.TableFile, "rows", note)
    monkeypatch.setattr(results, "N_LOOKED_AT", 25)
    assert explain("-o out.csv --batch 8 --rows 12 --target buys --id id") == 0
    looked_at = [(0, 25, {"buys"}), (25, 25, {"buys"}), (50, 10, {"buys"})]
    columns = {"id", "city", "age", "income", "member", "buys"}
    assert extents == [*looked_at, (0, 8, columns), (8, 5, columns)]
    del extents[:]
    assert explain("--format text --rows 2") == 0
    assert [extent[:2] for extent in extents] == [(0, 2)]


def test_a_part_is_explained_in_pieces_of_about_a_second(here, monkeypatch, n_explained, capsys):
    monkeypatch.setattr(streaming, "_FIRST_STEP", 2)
    assert explain("-o out.parquet --batch 30") == 0
    assert n_explained[:4] == [2, 8, 20, 30]
    clock = iter(range(1000))
    monkeypatch.setattr(streaming.time, "perf_counter", lambda: 0.5 * next(clock))
    del n_explained[:]
    assert explain("-o slow.parquet --batch 59") == 0
    assert n_explained == [2, 4, 8, 16, 29, 1]
    expect_same("out.parquet", "slow.parquet")


def test_what_fits_into_one_part_needs_no_folder(here, monkeypatch, capsys):
    monkeypatch.setattr(streaming, "explain_in_parts", None)
    make_table(1).write_parquet("one.parquet")
    assert explain("-o out.parquet --batch 60") == 0
    assert explain("-o out.parquet --batch 1", "one.parquet") == 0
    assert read_table("out.parquet").height == 1
    assert explain("-o out.json --batch 1") == 0
    assert explain("--format csv --batch 1") == 0


def test_a_file_without_rows_is_refused(here, capsys):
    for name in ("none.parquet", "none.arrow"):
        empty = make_table(5).head(0)
        empty.write_parquet(name) if name == "none.parquet" else empty.write_ipc(name)
        assert explain("-o out.parquet --batch 1", name) == 2
        assert capsys.readouterr().err == f"Error: {name} has a header, but no rows.\n"


def test_a_damaged_file_is_refused(here, capsys):
    data = Path("rows.parquet").read_bytes()
    Path("cut.parquet").write_bytes(data[:-50])
    assert explain("-o out.parquet --batch 1", "cut.parquet") == 2
    assert capsys.readouterr().err.startswith("Error: cut.parquet cannot be read as Parquet: ")


def test_the_output_may_be_a_link_or_the_table_itself(here, monkeypatch, capsys):
    os.mkdir("there")
    Path("link.parquet").symlink_to("there/real.parquet")
    crash_after(2, "-o link.parquet --batch 9", monkeypatch)
    assert len(list(Path("there/.real.parquet.parts").glob("0*"))) == 2
    assert explain("-o link.parquet --batch 9") == 0
    assert Path("link.parquet").is_symlink()
    assert os.listdir("there") == ["real.parquet"]
    make_table(N_ROWS).write_parquet("own.parquet")
    assert explain("-o own.parquet --batch 9", "own.parquet") == 0
    expect_same("own.parquet", "link.parquet")


def test_a_pipe_is_written_at_once(here, capsys):
    """A pipe of the test's own: where this fails, what it writes to is replaced by a file."""
    os.mkfifo("pipe")
    reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert explain("-o pipe --format csv --batch 9") == 0
        assert explain("-o whole.csv") == 0
        assert os.read(reader, 2**20) == Path("whole.csv").read_bytes()
    finally:
        os.close(reader)
    assert Path("pipe").is_fifo()


# --- going on ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl", "arrow"])
def test_finished_parts_are_kept(suffix, here, monkeypatch, n_explained, capsys):
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
    assert "\nGoing on: 5 of 6 parts were done.\n60 rows explained" in capsys.readouterr().err
    assert n_explained == [5]
    expect_same(f"out.{suffix}", f"whole.{suffix}")
    assert not Path(f".out.{suffix}.parts").exists()


def test_a_run_killed_while_it_joined_the_parts(here, monkeypatch, n_explained, capsys):
    begun = {".joined-0123abcd", f".000001-{'0' * 32}-0123abcd.parquet", ".plan-0123abcd.json"}
    left = []

    def crash(self):
        left.append(set(os.listdir(self.folder)) & begun)
        for name in begun:
            (self.folder / name).write_bytes(b"half")
        raise RuntimeError("stopped by the test")

    with monkeypatch.context() as patch:
        patch.setattr(streaming.Parts, "join", crash)
        for _ in range(2):
            with pytest.raises(RuntimeError, match="stopped by the test"):
                explain("-o out.parquet --batch 20")
    assert left == [set(), set()]
    assert n_explained == [20, 20, 20]
    assert explain("-o out.parquet --batch 20") == 0
    assert n_explained == [20, 20, 20]
    assert explain("-o whole.parquet") == 0
    expect_same("out.parquet", "whole.parquet")
    assert not Path(".out.parquet.parts").exists()


def test_a_run_killed_before_its_first_part_is_in_nobodys_way(here, n_explained, capsys):
    os.mkdir(".out.parquet.parts")
    Path(".out.parquet.parts", streaming.PLAN).write_text('{"batch": 7}')
    assert explain("-o out.parquet --batch 20") == 0
    assert n_explained == [20, 20, 20]
    assert not Path(".out.parquet.parts").exists()


@pytest.mark.parametrize("damage", ["cut", "other", "empty", "gone"])
def test_a_damaged_part_is_done_again(damage, here, monkeypatch, n_explained, capsys):
    assert explain("-o whole.parquet") == 0
    crash_after(4, "-o out.parquet --batch 11", monkeypatch)
    path = sorted(parts())[1]
    data = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes({"cut": data[:-1], "other": data[:50] + b"?" + data[51:], "empty": b""}[damage])
    del n_explained[:]
    assert explain("-o out.parquet --batch 11") == 0
    assert n_explained == [11, 11, 5]
    expect_same("out.parquet", "whole.parquet")


def test_a_part_damaged_in_the_meantime_is_not_left_out(here, monkeypatch, capsys):
    write = streaming.Parts.write

    def harm(self, part, pieces):
        write(self, part, pieces)
        if part == 2:
            self.find()[0].write_bytes(b"")

    with monkeypatch.context() as patch:
        patch.setattr(streaming.Parts, "write", harm)
        assert explain("-o out.parquet --batch 20") == 2
    assert "A part in " in capsys.readouterr().err
    assert not Path("out.parquet").exists()
    assert explain("-o out.parquet --batch 20") == 0


@pytest.mark.parametrize("damage", [b"", b'{"version": ', None])
def test_without_a_plan_nothing_is_taken_as_done(damage, here, monkeypatch, n_explained, capsys):
    crash_after(2, "-o out.parquet --batch 20", monkeypatch)
    plan = Path(".out.parquet.parts", streaming.PLAN)
    plan.unlink() if damage is None else plan.write_bytes(damage)
    del n_explained[:]
    assert explain("-o out.parquet --batch 20") == 0
    assert n_explained == [20, 20, 20]


def long_run(suffix="parquet"):
    """A run of a second or two, and its command."""
    pl.concat([make_table(2000)] * 3).write_parquet("long.parquet")
    line = f"-o out.{suffix} --batch 100 --sets minimal --rules none"
    return line, [COMMAND, "explain", "buys.suffice", "long.parquet", *line.split()]


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL])
def test_a_stopped_run_goes_on(sent, here, capsys):
    line, command = long_run()
    # A shell starts what runs in the background with SIGINT ignored, and a child inherits that.
    heed = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=heed)  # noqa: PLW1509
    deadline = time.monotonic() + 60
    while len(parts()) < 3 and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.002)
    process.send_signal(sent)
    out, err = process.communicate(timeout=60)
    before = parts()
    n = len(before)
    assert 3 <= n < 60
    assert not Path("out.parquet").exists()
    assert out == b""
    note = "The predictions are explained, not the column 'buys'; for that: --target 'buys'\n"
    if sent == signal.SIGINT:
        assert process.returncode == 130
        assert err.decode() == f"{note}Stopped: {n} of 60 parts are done. The same command goes on from there.\n"
    else:
        assert (process.returncode, err.decode()) == (-signal.SIGKILL, note)
    assert explain(line, "long.parquet") == 0
    going_on = f"Going on: {n} of 60 parts were done.\n"
    assert capsys.readouterr().err == f"{note}{going_on}6,000 rows explained, written to out.parquet.\n"
    assert explain(f"{line} --batch 99999".replace("out", "whole"), "long.parquet") == 0
    expect_same("out.parquet", "whole.parquet")
    assert not Path(".out.parquet.parts").exists()


def test_an_interruption_in_the_first_part_leaves_nothing(here, monkeypatch, capsys):
    before = set(os.listdir())
    for _ in stop_after(0, monkeypatch, KeyboardInterrupt):
        assert explain("-o out.parquet --batch 20") == 130
    assert "Stopped" not in capsys.readouterr().err
    assert set(os.listdir()) == before


# --- another question -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ("--pi 0.7", "--pi"),
        ("--sets minimal", "--sets"),
        ("--rules none", "--rules"),
        ("--check everywhere", "--check"),
        ("--id age", "--id"),
        ("--target buys", "--target"),
        ("--rows 55", "--rows"),
        ("--batch 21", "--batch"),
        ("--batch 100 --pi 0.7", "--batch and --pi"),
        ("--format csv", "--format"),
        ("model", "the model"),
        ("table", "the table"),
        ("touch", "the table"),
        ("version", "the version of suffice"),
    ],
)
def test_parts_of_another_question_are_not_taken(changed, named, here, monkeypatch, n_explained, capsys):
    crash_after(2, "-o out.parquet --batch 20", monkeypatch)
    before, n_before = parts(), len(n_explained)
    of = {}
    if changed.startswith("--"):
        line = f"-o out.parquet --batch 20 {changed}"
    else:
        line = "-o out.parquet --batch 20"
        if changed == "version":
            monkeypatch.setattr(streaming, "__version__", "0")
        if changed == "model":
            of = {"model": "flag"}
        if changed in ("table", "touch"):
            Path("rows.parquet").unlink()
            make_table(N_ROWS, seed=0 if changed == "touch" else 2).write_parquet("rows.parquet")
    capsys.readouterr()
    assert explain(line, **of) == 2
    told = capsys.readouterr().err.splitlines()[-1]
    assert told == (
        f"Error: {streaming.folder_of('out.parquet')} holds parts of an earlier run that differs in {named}: give "
        "--restart to discard them, or another file by -o."
    )
    assert parts() == before
    assert len(n_explained) == n_before
    assert explain(f"{line} --restart", **of) == 0
    assert sum(n_explained[n_before:]) == {"--target buys": 36, "--rows 55": 55}.get(changed, 60)
    assert not Path(".out.parquet.parts").exists()


def test_restart_discards_parts_of_the_same_question_too(here, monkeypatch, n_explained, capsys):
    crash_after(2, "-o out.parquet --batch 20", monkeypatch)
    del n_explained[:]
    assert explain("-o out.parquet --batch 20 --restart") == 0
    assert n_explained == [20, 20, 20]
    assert "Going on" not in capsys.readouterr().err


def test_a_change_that_matters_to_no_finished_part_goes_on(here, monkeypatch, n_explained, capsys):
    """An unseen category stops a run of hours; that it counts as missing changes nothing where there was none."""
    place = pl.int_range(pl.len())
    table = make_table(N_ROWS).with_columns(city=pl.when(place == 47).then(pl.lit("Bergen")).otherwise(pl.col("city")))
    table.write_parquet("far.parquet")
    line = "-o out.parquet --batch 20 --ignore-extra"
    assert explain(line, "far.parquet") == 2
    told = capsys.readouterr().err
    assert "Column 'city' of the table holds 'Bergen' (row 47), which was not among its categories" in told
    assert len(parts()) == 2
    del n_explained[:]
    assert explain(f"{line} --unseen missing", "far.parquet") == 0
    assert n_explained == [20]
    assert explain("-o whole.parquet --unseen missing", "far.parquet") == 0
    expect_same("out.parquet", "whole.parquet")
    crash_after(2, f"{line} --unseen missing", monkeypatch, rows="far.parquet")
    assert explain(line, "far.parquet") == 2
    assert "differs in --unseen: give --restart" in capsys.readouterr().err


def test_foreign_files_are_left_alone(here, monkeypatch, capsys):
    crash_after(2, "-o out.parquet --batch 20", monkeypatch)
    foreign = Path(".out.parquet.parts", "notes.txt")
    foreign.write_text("mine")
    assert explain("-o out.parquet --batch 20 --restart") == 0
    assert sorted(os.listdir(".out.parquet.parts")) == [streaming.LOCK, "notes.txt"]
    assert foreign.read_text() == "mine"


# --- two runs ---------------------------------------------------------------------------------------------------------


def test_a_second_run_is_refused(here, n_explained, capsys):
    os.mkdir(".out.parquet.parts")
    with open(Path(".out.parquet.parts", streaming.LOCK), "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert explain("-o out.parquet --batch 20") == 2
        assert explain("-o out.parquet --batch 20 --restart") == 2
    told = "Error: Another run is writing 'out.parquet': wait for it, or give another file by -o."
    assert capsys.readouterr().err.splitlines().count(told) == 2
    assert n_explained == []
    assert explain("-o out.parquet --batch 20") == 0  # a lock that nobody holds is none


def test_a_run_that_comes_when_another_ends_is_refused(here, monkeypatch, capsys):
    """The lock that it gets is that of a file which is there no more."""
    with monkeypatch.context() as patch:
        patch.setattr(fcntl, "flock", lambda *args: os.unlink(Path(".out.parquet.parts", streaming.LOCK)))
        assert explain("-o out.parquet --batch 20") == 2
    assert "Another run is writing" in capsys.readouterr().err


@pytest.mark.parametrize(("number", "code"), [(errno.ENOLCK, 0), (errno.ENOSYS, 0), (errno.EIO, 2)])
def test_a_file_system_without_locks_is_no_error(number, code, here, monkeypatch, capsys):
    def fail(*args):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", fail)
    assert explain("-o out.parquet --batch 20") == code


# --- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["", "--target buys"])
@pytest.mark.parametrize("batch", [7, 1000])
def test_an_error_names_the_row_of_the_file(batch, target, here, capsys):
    """With a target it named the row among those that have an outcome."""
    place = pl.int_range(pl.len())
    table = make_table(N_ROWS)
    table.with_columns(city=pl.when(place == 47).then(pl.lit("Bergen")).otherwise(pl.col("city"))).write_parquet("a")
    table.with_columns(income=pl.when(place == 48).then(float("inf")).otherwise(pl.col("income"))).write_parquet("b")
    for name, told in (("a", "holds 'Bergen' (row 47), which was"), ("b", "too large for float32 (row 48): give")):
        assert explain(f"-o out-{name}.parquet --batch {batch} {target}", name) == 2
        assert told in capsys.readouterr().err
        assert len(parts(f"out-{name}.parquet")) == (6 if batch == 7 else 0)


def test_an_error_that_names_no_row_tells_the_rows_it_is_about(here, capsys):
    place = pl.int_range(pl.len())
    label = pl.when(place == 47).then(pl.lit("perhaps")).otherwise(pl.col("buys"))
    make_table(N_ROWS).with_columns(buys=label).write_parquet("odd.parquet")
    assert explain("-o out.parquet --batch 7 --target buys", "odd.parquet") == 2
    assert capsys.readouterr().err.endswith(" at fit: ['no', 'yes']. (This is about the rows 42 to 48.)\n")
    assert explain("-o out.csv --target buys", "odd.parquet") == 2
    assert capsys.readouterr().err.endswith(" at fit: ['no', 'yes'].\n")


def test_a_label_that_looks_like_a_row_is_not_taken_for_one(here, capsys):
    place = pl.int_range(pl.len())
    city = pl.when(place == 47).then(pl.lit("(row 1)")).otherwise(pl.col("city"))
    make_table(N_ROWS).with_columns(city=city).write_parquet("odd.parquet")
    assert explain("-o out.parquet --batch 7", "odd.parquet") == 2
    assert "holds '(row 1)' (row 47), which" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("--id idd", "--id: there is no column 'idd' in rows.parquet. Did you mean 'id'?"),
        ("--target bys", "--target: there is no column 'bys' in rows.parquet. Did you mean 'buys'?"),
        ("--pi 2", "--pi must be in (0, 1], got 2.0."),
        ("--id size", "--id: 'size' is also the name of a column of the result, so rename it."),
        ("few", "The table has 1 columns, there were 4 at fit: missing ['city', 'income', 'member'], unexpected []."),
        ("empty", "The column 'buys' is empty: there is no outcome to explain."),
    ],
)
def test_what_cannot_be_done_is_refused_before_it_is_begun(line, told, here, n_explained, capsys):
    table = make_table(N_ROWS).with_columns(size=1)
    table.select("age").write_parquet("few.parquet")
    table.with_columns(buys=pl.lit(None, pl.String)).write_parquet("empty.parquet")
    if line == "--id size":
        Path("rows.parquet").unlink()
        table.write_parquet("rows.parquet")
    rows = f"{line}.parquet" if line in ("few", "empty") else "rows.parquet"
    options = {"few": "", "empty": "--target buys"}.get(line, line)
    before = set(os.listdir())
    assert explain(f"-o out.parquet --batch 7 {options}", rows) == 2
    assert capsys.readouterr().err.splitlines()[-1] == f"Error: {told}"
    assert set(os.listdir()) == before
    assert n_explained == []


def test_a_table_that_changes_meanwhile_is_refused(here, monkeypatch, capsys):
    make_table(N_ROWS).write_parquet("own.parquet")
    write = streaming.Parts.write

    def change(self, part, pieces):
        write(self, part, pieces)
        if part == 1:
            os.utime("own.parquet", ns=(1, 1))

    monkeypatch.setattr(streaming.Parts, "write", change)
    assert explain("-o out.parquet --batch 20", "own.parquet") == 2
    assert capsys.readouterr().err.endswith("Error: own.parquet was changed while its rows were explained.\n")
    assert len(parts()) == 2
    assert not Path("out.parquet").exists()


def test_a_warning_is_told_once(here, monkeypatch, capsys):
    original = SufficientExplainer.explain

    def warn(self, *args, **options):
        warnings.warn("There are many sets.", SearchSizeWarning, stacklevel=2)
        return original(self, *args, **options)

    monkeypatch.setattr(SufficientExplainer, "explain", warn)
    assert explain("-o out.parquet --batch 7") == 0
    assert capsys.readouterr().err.count("Warning: There are many sets.") == 1


# --- the bar ----------------------------------------------------------------------------------------------------------


def test_the_bar_begins_where_the_last_run_ended(here, monkeypatch, capsys):
    from tqdm import tqdm

    moves = []

    class Bar(tqdm):
        def __init__(self, **options):
            moves.append(options)
            super().__init__(**options, mininterval=0)

        def update(self, n=1):
            moves.append(n)
            return super().update(n)

    monkeypatch.setattr("tqdm.tqdm", Bar)
    crash_after(2, "-o out.parquet --batch 25", monkeypatch)
    assert moves == []
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    capsys.readouterr()
    assert explain("-o out.parquet --batch 25") == 0
    assert (moves[0]["total"], moves[0]["initial"], moves[1:]) == (60, 50, [10])
    told = capsys.readouterr().err
    assert "explaining:  83%" in told
    assert "60/60 [" in told
    assert told.count("explaining: 100%") == 2  # no bar of the library's own


def test_an_opened_file_knows_its_rows(here):
    table = open_table("rows.parquet")
    assert table.n_rows == N_ROWS
    assert_frame_equal(table.rows(5, 3), make_table(N_ROWS).slice(5, 3))
    assert_frame_equal(table.rows(58, 9, ["age", "id"]), make_table(N_ROWS).slice(58).select("id", "age"))
    assert json.loads(json.dumps(table.identity)) == table.identity


def test_searches_that_ended_early_are_told_once(here, monkeypatch, capsys):
    explainer = SufficientExplainer.load("buys.suffice").set_params(max_sets=2)
    explainer.save("few.suffice")
    monkeypatch.setattr(streaming, "_FIRST_STEP", 3)
    assert explain("--batch 20 -o out.parquet", model="few") == 0
    told = capsys.readouterr().err
    n_short = pl.read_parquet("out.parquet").filter(~pl.col("is_search_complete")).height
    assert n_short > 1
    assert told.count("--max-sets") == 1
    assert f"In {n_short} rows the search ended at the model's --max-sets" in told
