import bz2
import gzip
import io
import lzma
import re

import numpy as np
import polars as pl
import pytest
from app_client import BAD_FILES, as_upload

from suffice._io.saved_parts import LIMIT_VARIABLE
from suffice._io.sources import UPLOAD_VARIABLE
from suffice.app.state import sessions
from suffice.app.state.sessions import read_upload


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_upload_is_refused_in_a_sentence_with_its_name(name):
    data, reason = BAD_FILES[name]
    with pytest.raises(ValueError, match=re.escape(reason)) as refused:
        read_upload(as_upload(data), name)
    assert str(refused.value).startswith(name)
    assert "/tmp" not in str(refused.value)


def test_a_file_that_unpacks_to_too_much_is_refused(monkeypatch):
    monkeypatch.setenv(UPLOAD_VARIABLE, "1K")
    for pack in (gzip.compress, bz2.compress, lzma.compress):
        with pytest.raises(
            ValueError, match=r"^x\.csv\.gz would take more than 1 KiB in memory.*SUFFICE_MAX_UPLOAD=16G"
        ):
            read_upload(as_upload(pack(b"1\n" * 1000)), "x.csv.gz")
    many = io.BytesIO()
    pl.DataFrame({"a": np.zeros(1000)}).write_parquet(many)
    with pytest.raises(ValueError, match=r"^x\.parquet would take 7\.8\d KiB in memory, and the limit is 1 KiB"):
        read_upload(as_upload(many.getvalue()), "x.parquet")
    monkeypatch.delenv(UPLOAD_VARIABLE)
    assert sessions.MAX_COLUMNS == 5000
    monkeypatch.setattr(sessions, "MAX_COLUMNS", 50)  # thousands take seconds to read
    wide = ",".join(f"c{i}" for i in range(51))
    with pytest.raises(ValueError, match=r"^x\.csv has 51 columns, and the app takes at most 50"):
        read_upload(as_upload(f"{wide}\n{wide}\n".encode()), "x.csv")
    monkeypatch.setattr(sessions, "MAX_UPLOAD", 10)
    with pytest.raises(ValueError, match="larger than 0 MiB"):
        read_upload(as_upload(b"x" * 11), "x.csv")


def test_a_name_is_printed_without_control_characters():
    with pytest.raises(ValueError, match=r"^\\u001b\[31m\.csv contains NUL bytes"):
        read_upload(as_upload(b"a,b\n\0"), "\x1b[31m.csv")


def test_a_table_is_read_in_a_process_with_limited_memory(monkeypatch):
    calls = []

    def run(function, *args, max_bytes=None):
        calls.append((function, max_bytes))
        return pl.DataFrame({"a": [1]}), []

    monkeypatch.setattr(sessions, "run_in_process", run)
    monkeypatch.setenv(UPLOAD_VARIABLE, "1G")
    read_upload(as_upload(b"a\n1\n"), "t.csv")
    assert calls == [("suffice._io.files:read_with_notes", 6 * 2**30 + 2**29)]


def test_good_uploads_are_read(own_processes, mixed, tmp_path):
    frame, notes = read_upload(as_upload(gzip.compress("a;b\n1;é\n".encode("cp1252"))), "../../t.csv.gz")
    assert frame.to_dicts() == [{"a": 1, "b": "é"}]
    assert notes == ["The file is not UTF-8; it is read as Windows-1252."]
    mixed.explainer.save(tmp_path / "e.suffice")
    loaded, _ = read_upload(as_upload((tmp_path / "e.suffice").read_bytes()), "e.suffice")
    assert loaded.candidates_ == mixed.explainer.candidates_
    with pytest.raises(ValueError, match="was not received completely"):
        read_upload("data:text/csv;base64,%%%", "x.csv")


def test_the_memory_of_an_uploaded_explainer_is_limited_like_that_of_a_table(mixed, tmp_path, monkeypatch):
    """It stays in the memory of the app, and a file of 200 MiB might take 64 times as much."""
    mixed.explainer.save(tmp_path / "e.suffice")
    content = as_upload((tmp_path / "e.suffice").read_bytes())
    monkeypatch.setenv(UPLOAD_VARIABLE, "50K")
    with pytest.raises(ValueError, match=r"the limit is 51,200\. .* set SUFFICE_MAX_UPLOAD, or start the app with"):
        read_upload(content, "e.suffice")
    monkeypatch.setenv(UPLOAD_VARIABLE, "1G")
    monkeypatch.setenv(LIMIT_VARIABLE, "50K")
    with pytest.raises(ValueError, match=r"the limit is 51,200\. .* set SUFFICE_MAX_BYTES, or load it with"):
        read_upload(content, "e.suffice")
