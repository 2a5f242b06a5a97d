"""How much memory a table may take."""

from __future__ import annotations

import math

import pytest

from suffice._io.files import read_table
from suffice._io.sources import TABLE_VARIABLE, UPLOAD_VARIABLE, check_memory, format_bytes, memory_limit


@pytest.mark.parametrize(
    ("text", "n_bytes"), [("", 4 * 2**30), ("100", 100), ("3k", 3 * 2**10), (" 8 G ", 8 * 2**30), ("5MiB", 5 * 2**20)]
)
def test_the_limit_is_a_number_of_bytes_with_a_unit(text, n_bytes, monkeypatch):
    monkeypatch.setenv(TABLE_VARIABLE, text)
    assert memory_limit() == n_bytes
    assert memory_limit(UPLOAD_VARIABLE) == 2**30


@pytest.mark.parametrize("text", ["0", "-1", "many", "1.5G", "1T"])
def test_another_limit_is_refused(text, monkeypatch):
    monkeypatch.setenv(TABLE_VARIABLE, text)
    with pytest.raises(ValueError, match=f"SUFFICE_MAX_TABLE must be a number of bytes, or .* got '{text}'"):
        memory_limit()


def test_what_is_within_the_limit_passes_and_more_does_not(monkeypatch):
    monkeypatch.setenv(UPLOAD_VARIABLE, "1K")
    check_memory(1024, "a.csv", UPLOAD_VARIABLE)
    with pytest.raises(
        ValueError,
        match=r"^a\.csv would take 1\.5 KiB in memory, and the limit is 1 KiB: take fewer rows or columns, or raise "
        r"the limit with the environment variable SUFFICE_MAX_UPLOAD, as in SUFFICE_MAX_UPLOAD=16G\.$",
    ):
        check_memory(1536, "a.csv", UPLOAD_VARIABLE)
    with pytest.raises(ValueError, match=r"^a\.csv would take more than 1 KiB in memory"):
        check_memory(math.inf, "a.csv", UPLOAD_VARIABLE)


def test_sizes_have_three_digits():
    assert [format_bytes(n) for n in (0, 1023, 1024, 1_600_000, 250 * 2**20)] == [
        "0 bytes",
        "1023 bytes",
        "1 KiB",
        "1.53 MiB",
        "250 MiB",
    ]


def test_each_column_of_a_text_file_counts(tmp_path, monkeypatch):
    """A line of commas became three million columns: a file of 6 MB took more than 7 GB."""
    names = [f"c{i}" for i in range(1000)]
    path = tmp_path / "wide.csv"
    path.write_text(f"{','.join(names)}\n{','.join('1' * 1000)}\n")
    monkeypatch.setenv(TABLE_VARIABLE, "5M")
    assert read_table(str(path)).width == 1000
    monkeypatch.setenv(TABLE_VARIABLE, "1M")
    with pytest.raises(ValueError, match=r"would take [34]\.\d+ MiB in memory, and the limit is 1 MiB"):
        read_table(str(path))
