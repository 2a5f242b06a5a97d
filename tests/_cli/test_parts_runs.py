"""Large files part by part: the same answers as for the whole table, also after errors and interruptions."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import polars as pl
import pytest
from streamed import N_ROWS, OUTCOMES, crash_after, expect_same, explain, make_table, parts

from suffice import SufficientExplainer
from suffice._cli import parts as run_in_parts
from suffice._cli.parts import Parts
from suffice._io import files
from suffice._io.files import read_table
from suffice.errors import SearchSizeWarning


@pytest.mark.parametrize("batch", [1, 7, 20, 50])
@pytest.mark.parametrize("target", [None, "buys"])
def test_any_size_of_parts_gives_the_same_table(batch, target, rows_here, n_explained, capsys):
    observed = f"--target {target}" if target else ""
    assert explain(f"--id id --id age -o whole.parquet {observed}") == 0
    messages = capsys.readouterr().err
    n_rows = N_ROWS - 24 if target else N_ROWS
    assert n_explained == [n_rows]
    assert explain(f"--id id --id age -o out.parquet --batch {batch} {observed}") == 0
    assert capsys.readouterr().err == messages.replace("whole", "out")
    assert sum(n_explained) == 2 * n_rows
    assert len(n_explained) > 2
    expect_same("out.parquet", "whole.parquet")
    table = read_table("out.parquet")
    expected = make_table(N_ROWS).with_row_index("row").filter(pl.col("buys").is_not_null() if target else True)
    assert table["row"].to_list() == expected["row"].to_list()
    assert table["id"].to_list() == expected["id"].to_list()
    assert 0 < table["rule"].null_count() < table.height  # so that some part has no rule
    assert sorted(path.name for path in rows_here.iterdir() if not path.is_symlink()) == [
        "out.parquet",
        "whole.parquet",
    ]


@pytest.mark.parametrize("target", [False, True])
@pytest.mark.parametrize("explainer", OUTCOMES)
def test_the_types_of_the_columns_are_those_of_the_explainer(explainer, target, rows_here, capsys):
    """This also holds if a part has no outcome, or if the labels in the file have another type."""
    line = "--sets minimal --rules none" + f" --target {explainer}" * target
    assert explain(f"{line} -o whole.parquet", explainer=explainer) == 0
    assert explain(f"{line} -o out.parquet --batch 7", explainer=explainer) == 0
    expect_same("out.parquet", "whole.parquet")
    schema = read_table("out.parquet").schema
    assert schema["outcome"] == schema["prediction"] == OUTCOMES[explainer]
    assert (schema["rule"], schema["support"], schema["low"]) == (pl.String, pl.Int64, pl.Float64)


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("explainer", ["buys", "spent"])
def test_every_format(suffix, explainer, rows_here, capsys):
    for output, batch in (("whole", 1000), ("out", 17)):
        line = f"--id id -o {output}.{suffix} --batch {batch} --target {explainer} --rules all"
        assert explain(line, explainer=explainer) == 0
    expect_same(f"out.{suffix}", f"whole.{suffix}")
    if suffix != "jsonl":
        assert read_table(f"out.{suffix}").height == N_ROWS - 24


@pytest.mark.parametrize("source", ["rows.arrow", "rows.csv", "rows.parquet", "a[1]*.parquet", "a[1]*.arrow"])
def test_every_kind_of_file(source, rows_here, monkeypatch, capsys):
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


def test_a_part_is_explained_in_pieces_of_about_a_second(rows_here, monkeypatch, n_explained, capsys):
    monkeypatch.setattr(run_in_parts, "_FIRST_STEP", 2)
    assert explain("-o out.parquet --batch 30") == 0
    assert n_explained[:4] == [2, 8, 20, 30]
    clock = iter(range(1000))
    monkeypatch.setattr(run_in_parts.time, "perf_counter", lambda: 0.5 * next(clock))
    del n_explained[:]
    assert explain("-o slow.parquet --batch 59") == 0
    assert n_explained == [2, 4, 8, 16, 29, 1]
    expect_same("out.parquet", "slow.parquet")


def test_what_fits_into_one_part_needs_no_folder(rows_here, monkeypatch, capsys):
    monkeypatch.setattr(run_in_parts, "explain_in_parts", None)
    make_table(1).write_parquet("one.parquet")
    assert explain("-o out.parquet --batch 60") == 0
    assert explain("-o out.parquet --batch 1", "one.parquet") == 0
    assert read_table("out.parquet").height == 1
    assert explain("-o out.json --batch 1") == 0
    assert explain("--format csv --batch 1") == 0


def test_a_file_without_rows_is_refused(rows_here, capsys):
    for name in ("none.parquet", "none.arrow"):
        empty = make_table(5).head(0)
        empty.write_parquet(name) if name == "none.parquet" else empty.write_ipc(name)
        assert explain("-o out.parquet --batch 1", name) == 2
        assert capsys.readouterr().err == f"Error: {name} has a header, but no rows.\n"


def test_a_damaged_file_is_refused(rows_here, capsys):
    data = Path("rows.parquet").read_bytes()
    Path("cut.parquet").write_bytes(data[:-50])
    assert explain("-o out.parquet --batch 1", "cut.parquet") == 2
    assert capsys.readouterr().err.startswith("Error: cut.parquet cannot be read as Parquet: ")


def test_the_output_may_be_a_link_but_not_the_table_itself(rows_here, monkeypatch, capsys):
    os.mkdir("there")
    Path("link.parquet").symlink_to("there/real.parquet")
    crash_after(2, "-o link.parquet --batch 9", monkeypatch)
    assert len(list(Path("there/.real.parquet.parts").glob("0*"))) == 2
    assert explain("-o link.parquet --batch 9") == 0
    assert Path("link.parquet").is_symlink()
    assert os.listdir("there") == ["real.parquet"]
    make_table(N_ROWS).write_parquet("own.parquet")
    before = Path("own.parquet").read_bytes()
    capsys.readouterr()
    assert explain("-o own.parquet --batch 9", "own.parquet") == 2
    assert "'own.parquet' is also an input" in capsys.readouterr().err
    assert Path("own.parquet").read_bytes() == before


def test_a_pipe_is_written_at_once(rows_here, capsys):
    """The test makes its own pipe, because a failure would replace the output by a file."""
    os.mkfifo("pipe")
    reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert explain("-o pipe --format csv --batch 9") == 0
        assert explain("-o whole.csv") == 0
        assert os.read(reader, 2**20) == Path("whole.csv").read_bytes()
    finally:
        os.close(reader)
    assert Path("pipe").is_fifo()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--id idd", "--id: there is no column 'idd' in rows.parquet. Did you mean 'id'?"),
        ("--target bys", "--target: there is no column 'bys' in rows.parquet. Did you mean 'buys'?"),
        ("--pi 2", "--pi must be in (0, 1], got 2.0."),
        ("--id size", "--id: 'size' is also the name of a column of the result, so rename it."),
        ("few", "The table has 1 columns, there were 4 at fit: missing ['city', 'income', 'member'], unexpected []."),
        ("empty", "The column 'buys' is empty: there is no outcome to explain."),
    ],
)
def test_what_cannot_be_done_is_refused_before_it_is_begun(line, message, rows_here, n_explained, capsys):
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
    assert capsys.readouterr().err.splitlines()[-1] == f"Error: {message}"
    assert set(os.listdir()) == before
    assert n_explained == []


def test_a_table_that_changes_meanwhile_is_refused(rows_here, monkeypatch, capsys):
    make_table(N_ROWS).write_parquet("own.parquet")
    write = Parts.write

    def change(self, part, pieces):
        write(self, part, pieces)
        if part == 1:
            os.utime("own.parquet", ns=(1, 1))

    monkeypatch.setattr(Parts, "write", change)
    assert explain("-o out.parquet --batch 20", "own.parquet") == 2
    assert capsys.readouterr().err.endswith("Error: own.parquet has changed while its rows were being explained.\n")
    assert len(parts()) == 2
    assert not Path("out.parquet").exists()


def test_a_warning_is_printed_once(rows_here, monkeypatch, capsys):
    original = SufficientExplainer.explain

    def warn(self, *args, **options):
        warnings.warn("There are many sets.", SearchSizeWarning, stacklevel=2)
        return original(self, *args, **options)

    monkeypatch.setattr(SufficientExplainer, "explain", warn)
    assert explain("-o out.parquet --batch 7") == 0
    assert capsys.readouterr().err.count("Warning: There are many sets.") == 1


def test_the_bar_begins_where_the_last_run_ended(rows_here, monkeypatch, capsys):
    from tqdm import tqdm

    moves = []

    class Bar(tqdm):
        def __init__(self, **options):
            moves.append(options)
            super().__init__(**options, mininterval=0)

        def update(self, n=1):
            moves.append(n)
            return super().update(n)

    monkeypatch.setattr("tqdm.auto.tqdm", Bar)
    crash_after(2, "-o out.parquet --batch 25", monkeypatch)
    assert moves == []
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    capsys.readouterr()
    assert explain("-o out.parquet --batch 25") == 0
    assert (moves[0]["total"], moves[0]["initial"], moves[1:]) == (60, 50, [10])
    messages = capsys.readouterr().err
    assert "explaining:  83%" in messages
    assert "60/60 [" in messages
    assert messages.count("explaining: 100%") == 2  # no bar of the library's own


def test_searches_that_ended_early_are_noted_once(rows_here, monkeypatch, capsys):
    explainer = SufficientExplainer.load("buys.suffice").set_params(max_sets=2)
    explainer.save("few.suffice")
    monkeypatch.setattr(run_in_parts, "_FIRST_STEP", 3)
    assert explain("--batch 20 -o out.parquet", explainer="few") == 0
    messages = capsys.readouterr().err
    n_short = pl.read_parquet("out.parquet").filter(~pl.col("is_search_complete")).height
    assert n_short > 1
    assert messages.count("--max-sets") == 1
    assert f"In {n_short} rows the search ended at the --max-sets of the explainer" in messages
