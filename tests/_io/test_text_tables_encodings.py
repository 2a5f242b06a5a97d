"""Text in every encoding, by every separator and compression."""

from __future__ import annotations

import bz2
import gzip
import lzma

import pytest
from polars.testing import assert_frame_equal
from table_files import PEOPLE, read

from suffice._io.sources import TableFileWarning

ENCODINGS = {
    "utf-8": lambda text: text.encode("utf-8"),
    "utf-8 with a mark": lambda text: text.encode("utf-8-sig"),
    "utf-16": lambda text: text.encode("utf-16"),
    "utf-16-be with a mark": lambda text: b"\xfe\xff" + text.encode("utf-16-be"),
    "cp1252": lambda text: text.encode("cp1252"),
    "latin-1": lambda text: text.encode("latin-1"),
}


COMPRESSIONS = {"": lambda data: data, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


def people_csv(separator, end):
    lines = [
        ["name", "age", "height", "since", "member"],
        ["Zoë", "31", "1.5", "2024-01-01", "true"],
        ['"O\'Neil; or, |\tso"', "NA", "1.75", "2024-01-02", "false"],
        ['"says ""hi"""', "45", "", "2024-01-03", "N/A"],
        ['"two\nlines"', "27", "1.8", "2024-01-04", "True"],
        ["null", "60", "2.0", "2024-01-05", "TRUE"],
    ]
    return "".join(separator.join(line) + end for line in lines)


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_csv_file_of_any_make_is_the_same_table(encoding, separator, compression, tmp_path):
    text = people_csv(separator, "\n" if separator != ";" else "\r\n")
    data = COMPRESSIONS[compression](ENCODINGS[encoding](text))
    if encoding in ("cp1252", "latin-1"):
        with pytest.warns(TableFileWarning, match="is not UTF-8; it is read as Windows-1252"):
            table = read(tmp_path, data, f"table.csv{compression}")
    else:
        table = read(tmp_path, data, f"table.csv{compression}")
    assert_frame_equal(table, PEOPLE)


def test_windows_1252_has_its_own_characters(tmp_path):
    with pytest.warns(TableFileWarning, match="it is read as Windows-1252"):
        assert read(tmp_path, "a,b\n1,€ “x”\n".encode("cp1252"))["b"].to_list() == ["€ “x”"]
