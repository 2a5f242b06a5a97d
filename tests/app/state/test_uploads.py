import gzip
import io
import re

import numpy as np
import polars as pl
import pytest
from app_client import BAD_FILES, as_upload

from suffice.app.state import uploads
from suffice.app.state.uploads import read_upload


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_upload_is_refused_in_a_sentence_with_its_name(name):
    data, reason = BAD_FILES[name]
    with pytest.raises(ValueError, match=re.escape(reason)) as refused:
        read_upload(as_upload(data), name)
    assert str(refused.value).startswith(name)
    assert "/tmp" not in str(refused.value)


def test_a_file_that_unpacks_to_too_much_is_refused(monkeypatch):
    monkeypatch.setattr(uploads, "MAX_UNPACKED", 1000)
    with pytest.raises(ValueError, match="larger than 0 MiB when unpacked"):
        read_upload(as_upload(gzip.compress(b"1\n" * 1000)), "x.csv.gz")
    monkeypatch.setattr(uploads, "MAX_CELLS", 10)
    many = io.BytesIO()
    pl.DataFrame({"a": np.zeros(1000)}).write_parquet(many)
    with pytest.raises(ValueError, match="1000 rows and 1 columns: this is too large"):
        read_upload(as_upload(many.getvalue()), "x.parquet")
    monkeypatch.setattr(uploads, "MAX_UPLOAD", 10)
    with pytest.raises(ValueError, match="larger than 0 MiB"):
        read_upload(as_upload(b"x" * 11), "x.csv")


def test_good_uploads_are_read(mixed, tmp_path):
    frame, notes = read_upload(as_upload(gzip.compress("a;b\n1;é\n".encode("cp1252"))), "../../t.csv.gz")
    assert frame.to_dicts() == [{"a": 1, "b": "é"}]
    assert notes == ["The file is not UTF-8; it is read as Windows-1252."]
    mixed.explainer.save(tmp_path / "e.suffice")
    loaded, _ = read_upload(as_upload((tmp_path / "e.suffice").read_bytes()), "e.suffice")
    assert loaded.candidates_ == mixed.explainer.candidates_
    with pytest.raises(ValueError, match="did not arrive whole"):
        read_upload("data:text/csv;base64,%%%", "x.csv")
