"""The bytes of files: standard input, compression, and files that cannot be read."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import signal
import sys
import types

import pytest
from polars.testing import assert_frame_equal
from table_files import PEOPLE, as_bytes

from suffice._io.files import read_table
from suffice._io.sources import TABLE_VARIABLE, cannot_read, read_bytes, unpack


def test_a_file_that_is_not_there(tmp_path):
    (tmp_path / "train.csv").touch()
    with pytest.raises(ValueError, match=r"There is no file '.*/trian.csv'. Did you mean '.*/train.csv'\?"):
        read_table(str(tmp_path / "trian.csv"))
    with pytest.raises(ValueError, match=r"There is no file '/nowhere/at/all.csv'\.$"):
        read_table("/nowhere/at/all.csv")


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(ValueError, match="is a folder, not a file"):
        read_table(str(tmp_path))


def test_a_file_without_permission_is_refused(tmp_path, monkeypatch):
    def refuse(path, *_, **__):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("builtins.open", refuse)  # an administrator may read everything
    with pytest.raises(ValueError, match="You do not have permission to read"):
        read_table(str(tmp_path / "a.csv"))


@pytest.mark.parametrize("kind", ["parquet", "arrow", "stream", "csv"])
def test_standard_input(kind, monkeypatch):
    stdin = types.SimpleNamespace(buffer=io.BytesIO(as_bytes(PEOPLE, kind)), isatty=lambda: False)
    monkeypatch.setattr(sys, "stdin", stdin)
    assert_frame_equal(read_table("-"), PEOPLE)


def test_a_terminal_is_no_table(monkeypatch):
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(isatty=lambda: True))
    with pytest.raises(ValueError, match="Standard input is a terminal"):
        read_table("-")


def test_a_folder_is_called_one_where_the_system_speaks_of_a_permission(tmp_path):
    """As on Windows."""
    error = cannot_read(str(tmp_path), PermissionError(13, "Permission denied"))
    assert str(error) == f"{str(tmp_path)!r} is a folder, not a file."


def test_a_file_is_read_where_the_system_has_no_siginterrupt(tmp_path, monkeypatch):
    """As on Windows."""
    monkeypatch.delattr(signal, "siginterrupt")
    (tmp_path / "a").write_bytes(b"whole")
    assert read_bytes(str(tmp_path / "a")) == b"whole"


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_what_is_packed_is_unpacked_up_to_a_limit(pack, monkeypatch):
    data = b"ab" * 2**19
    packed = pack(data)
    assert unpack(packed, "a") == data
    monkeypatch.setenv(TABLE_VARIABLE, "1M")
    assert unpack(packed, "a") == data
    monkeypatch.setenv(TABLE_VARIABLE, str(2**20 - 1))
    with pytest.raises(ValueError, match=r"a\.gz would take more than 1024 KiB in memory, and the limit is 1024 KiB"):
        unpack(packed, "a.gz")
    monkeypatch.delenv(TABLE_VARIABLE)
    with pytest.raises(ValueError, match=r"a\.gz is compressed, but damaged or cut off\."):
        unpack(packed[:-5], "a.gz")


def test_the_members_of_one_file_are_unpacked_together():
    assert unpack(gzip.compress(b"a") + gzip.compress(b"b"), "a") == b"ab"


def test_what_is_not_packed_stays(tmp_path):
    assert unpack(b"a,b", "a") == b"a,b"


def test_a_source_without_an_end_is_read_up_to_the_limit(monkeypatch, tmp_path):
    """`/dev/zero`, or a pipe that never ends, took all the memory of the machine."""
    monkeypatch.setenv(TABLE_VARIABLE, "3M")
    with pytest.raises(ValueError, match=r"^/dev/zero would take more than 3 MiB in memory, and the limit is 3 MiB: "):
        read_bytes("/dev/zero")
    with open(tmp_path / "sparse", "wb") as file:
        file.truncate(2**40)
    with pytest.raises(ValueError, match=r"sparse would take 1024 GiB in memory, and the limit is 3 MiB"):
        read_bytes(str(tmp_path / "sparse"))
