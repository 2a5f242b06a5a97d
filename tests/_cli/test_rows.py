"""Which rows of a file are explained, as what, and which row an error names."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from shop import command
from streamed import N_ROWS, expect_same, explain, make_table, parts

from suffice._cli import rows
from suffice._io import files
from suffice._io.files import read_table


def test_a_column_that_was_text_at_fit_is_text_in_every_file(here, capsys):
    """Without "x" and "y" the column `code` looks like numbers; 1 is not among the categories "1", "2", "x" and "y"."""
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


@pytest.mark.parametrize("options", ["", "--target buys"])
@pytest.mark.parametrize("n", [1, 19, 20, 30, 60, 100])
def test_the_first_rows_only(n, options, rows_here, capsys):
    for output, batch in (("whole.csv", 1000), ("out.csv", 4)):
        assert explain(f"--rows {n} -o {output} --batch {batch} --sets minimal --rules none {options}") == 0
    expect_same("out.csv", "whole.csv")
    known = make_table(N_ROWS).with_row_index("row").filter(pl.col("buys").is_not_null() if options else True)
    assert read_table("out.csv")["row"].to_list() == known["row"].head(n).to_list()


def test_only_the_rows_that_are_needed_are_read(rows_here, monkeypatch, capsys):
    read, extents = files.TableFile.rows, []

    def note(self, first, n, columns=None):
        frame = read(self, first, n, columns)
        extents.append((first, frame.height, set(frame.columns)))
        return frame

    monkeypatch.setattr(files.TableFile, "rows", note)
    monkeypatch.setattr(rows, "N_SCANNED", 25)
    assert explain("-o out.csv --batch 8 --rows 12 --target buys --id id") == 0
    looked_at = [(0, 25, {"buys"}), (25, 25, {"buys"}), (50, 10, {"buys"})]
    columns = {"id", "city", "age", "income", "member", "buys"}
    assert extents == [*looked_at, (0, 8, columns), (8, 5, columns)]
    del extents[:]
    assert explain("--format text --rows 2") == 0
    assert [extent[:2] for extent in extents] == [(0, 2)]


@pytest.mark.parametrize("target", ["", "--target buys"])
@pytest.mark.parametrize("batch", [7, 1000])
def test_an_error_names_the_row_of_the_file(batch, target, rows_here, capsys):
    """With a target, the error counted only the rows that have an outcome."""
    place = pl.int_range(pl.len())
    table = make_table(N_ROWS)
    table.with_columns(city=pl.when(place == 47).then(pl.lit("Bergen")).otherwise(pl.col("city"))).write_parquet("a")
    table.with_columns(income=pl.when(place == 48).then(float("inf")).otherwise(pl.col("income"))).write_parquet("b")
    for name, message in (("a", "holds 'Bergen' (row 47), which was"), ("b", "too large for float32 (row 48): give")):
        assert explain(f"-o out-{name}.parquet --batch {batch} {target}", name) == 2
        assert message in capsys.readouterr().err
        assert len(parts(f"out-{name}.parquet")) == (6 if batch == 7 else 0)


@pytest.mark.parametrize("batch", [7, 1000])
def test_an_error_about_an_outcome_names_the_row_of_the_file(batch, rows_here, capsys):
    place = pl.int_range(pl.len())
    label = pl.when(place == 47).then(pl.lit("perhaps")).otherwise(pl.col("buys"))
    make_table(N_ROWS).with_columns(buys=label).write_parquet("odd.parquet")
    assert explain(f"-o out.parquet --batch {batch} --target buys", "odd.parquet") == 2
    assert "the label 'perhaps' (row 47), which was" in capsys.readouterr().err


def test_a_label_that_looks_like_a_row_is_not_taken_for_one(rows_here, capsys):
    place = pl.int_range(pl.len())
    city = pl.when(place == 47).then(pl.lit("(row 1)")).otherwise(pl.col("city"))
    make_table(N_ROWS).with_columns(city=city).write_parquet("odd.parquet")
    assert explain("-o out.parquet --batch 7", "odd.parquet") == 2
    assert "holds '(row 1)' (row 47), which" in capsys.readouterr().err


def test_labels_in_another_type_keep_it(rows_here, capsys):
    table = make_table(N_ROWS)
    for other in (pl.Float32, pl.UInt8):
        table.with_columns(pl.col("number").cast(other)).write_parquet("typed.parquet")
        for output, batch in (("whole.parquet", 1000), ("out.parquet", 7)):
            assert explain(f"-o {output} --batch {batch} --target number", "typed.parquet", "number") == 0
        expect_same("out.parquet", "whole.parquet")
        schema = read_table("out.parquet").schema
        assert schema["outcome"] == (pl.Float64 if other == pl.Float32 else pl.Int64)
        assert schema["prediction"] == pl.Int64
