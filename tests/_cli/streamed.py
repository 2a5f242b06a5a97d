"""A table that is explained in parts, and runs that are stopped."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from suffice._cli.main import run
from suffice._cli.parts import Parts
from suffice._io.files import read_table

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


def explain(line, rows="rows.parquet", explainer="buys"):
    return run(["explain", f"{explainer}.suffice", rows, *line.split()])


def stop_after(n_parts, monkeypatch, error):
    """Let the run crash when it has written some parts."""
    write = Parts.write

    def crash(self, part, pieces):
        if len(self.find()) == n_parts:
            raise error
        write(self, part, pieces)

    with monkeypatch.context() as patch:
        patch.setattr(Parts, "write", crash)
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
