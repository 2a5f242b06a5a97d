"""The memory that the worst files take: ``python -m fuzz.peak_memory``.

Small files that become large are read, ever smaller ones until one is accepted, each in a process of its own. The limit
is 256 MiB for a table, and the default one for saved explainers. The figures are the most memory that any of these
processes had, without what it had before it read.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
from forged_files import count_draws, forge

from suffice._io.explainer_file import training_rows
from suffice._io.files import read_table
from suffice._io.processes import run_in_process
from suffice._io.saved import from_bytes
from suffice._io.sources import TABLE_VARIABLE, format_bytes

LIMIT = 256 * 2**20


def zeros_in_gzip(n: int) -> bytes:
    return gzip.compress(b"a,b\n" + b"0,1\n" * n)


def long_text_in_parquet(n: int) -> bytes:
    """Text that the file holds once, and each row names."""
    data = io.BytesIO()
    pl.DataFrame({"text": ["x" * 10_000] * n, "y": np.zeros(n)}).write_parquet(data)
    return data.getvalue()


def equal_numbers_in_arrow(n: int) -> bytes:
    data = io.BytesIO()
    pl.DataFrame({"a": np.zeros(n), "b": np.zeros(n)}).write_ipc(data, compression="zstd")
    return data.getvalue()


def many_draws(n: int) -> bytes:
    """A saved explainer that claims to have drawn many rows for its trees."""

    def claim(header: dict, arrays: dict) -> None:
        count_draws(arrays)
        arrays["n_drawn"] = arrays["n_drawn"].astype("<u4")
        arrays["n_drawn"][0, 0] = n

    return forge(claim)


def long_categories(n: int) -> bytes:
    """A saved explainer with long names of categories, which each of its 4,000 rows has."""

    def lengthen(header: dict, arrays: dict) -> None:
        [column] = [one for one in header["columns"] if one["name"] == "weather"]
        column["labels"] = [[letter * n] for letter in "abc"]
        count_draws(arrays)
        for name in ("X", "y_rank", "out_of_bag"):
            arrays[name] = np.concatenate([arrays[name]] * 100)
        arrays["n_drawn"] = np.tile(arrays["n_drawn"], 100)
        arrays["n_rows"] *= 100

    return forge(lengthen)


def _most_memory() -> int:
    # Not `ru_maxrss`: a process has that of the one that started it.
    return 1024 * int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1])  # type: ignore[index]


def peak_of(path: str) -> tuple[int, int, bool]:
    """Read a file in this process. Returns the memory before, the most memory, and whether the file was accepted."""
    before = _most_memory()
    try:
        if path.endswith(".suffice"):
            training_rows(from_bytes(Path(path).read_bytes()))  # as the app does
        else:
            read_table(path)
    except ValueError:
        return before, _most_memory(), False
    return before, _most_memory(), True


def worst_of(make: Callable[[int], bytes], suffix: str, n: int) -> tuple[int, int]:
    """Try at most twelve ever smaller files until one is accepted. Returns size and memory of the worst."""
    worst, least = (0, 0), n // 32
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"file{suffix}"
        is_accepted = False
        while n > least and not is_accepted:
            path.write_bytes(make(n))
            before, peak, is_accepted = run_in_process("fuzz.peak_memory:peak_of", str(path))
            worst = max(worst, (peak - before, path.stat().st_size))
            n = n * 3 // 4
    return worst[1], worst[0]


def main() -> None:
    os.environ[TABLE_VARIABLE] = str(LIMIT)
    files = {
        "CSV, gzip": (zeros_in_gzip, ".csv.gz", 2**25),
        "Parquet, one long text": (long_text_in_parquet, ".parquet", 2**15),
        "Arrow, zstd": (equal_numbers_in_arrow, ".arrow", 2**25),
        "saved explainer, many drawn rows": (many_draws, ".suffice", 2**27),
        "saved explainer, long categories": (long_categories, ".suffice", 2**17),
    }
    for name, (make, suffix, n) in files.items():
        size, memory = worst_of(make, suffix, n)
        sys.stdout.write(f"{name}: a file of {format_bytes(size)} took {format_bytes(memory)} at most\n")


if __name__ == "__main__":
    main()
