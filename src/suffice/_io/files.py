"""Table files: reading CSV, Parquet, Arrow and JSON of any common make, whole or by parts, and writing in one step.

What a table means is left to ``table``. A file that cannot be read is refused in one sentence with its name and, where
there is one, the line. What had to be guessed is told by a `TableFileWarning`.
"""

from __future__ import annotations

import bz2
import codecs
import csv
import difflib
import gzip
import hashlib
import io
import json
import lzma
import os
import re
import signal
import sys
import threading
import warnings
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from suffice._io.writing import replacing

STDIO = "-"
# What a field of a CSV file holds if its value is missing; "none" may well be a category.
MISSING = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NAN", "null", "NULL", "None")
SEPARATORS = (",", ";", "\t", "|")
FORMATS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".html": "html",
    ".htm": "html",
}
READABLE = ("csv", "parquet", "arrow", "jsonl", "json")
_SPOKEN = {"csv": "CSV", "parquet": "Parquet", "arrow": "Arrow", "jsonl": "JSON lines", "json": "JSON", "html": "HTML"}
_STREAM = b"\xff\xff\xff\xff"  # how a stream of Arrow messages begins
_MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", _STREAM: "arrow"}
_REFUSED = {
    b"PK\x03\x04": "a zip archive: unpack it first, or save a workbook as CSV",
    b"PK\x05\x06": "an empty zip archive",
    b"\xd0\xcf\x11\xe0": "an old Office document: save the sheet as CSV",
    b"FEA1": "a Feather file of version 1: write it again as Parquet or Arrow",
    b"\x28\xb5\x2f\xfd": "compressed by zstd: unpack it first",
    b"7z\xbc\xaf": "a 7z archive: unpack it first",
    b"%PDF": "a PDF document",
    b"SQLite format 3": "a SQLite database: export the table as CSV",
}
_UNPACK: dict[bytes, Callable[[bytes], bytes]] = {
    b"\x1f\x8b": gzip.decompress,
    b"BZh": bz2.decompress,
    b"\xfd7zXZ\x00": lzma.decompress,
}
# UTF-32 before UTF-16, whose mark is the beginning of its own.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]")
_COMMA_NUMBER = r"^[+-]?(?:\d+(?:,\d+)?|,\d+)(?:[eE][+-]?\d+)?$"
_THOUSANDS = r"^[+-]?\d{1,3}(?:,\d{3})+$"
_NUMBER_LIKE = r"^[+-]?\s?[$€£]?\s?[+-]?\d[\d.,'\s]*\s?[%$€£]?$"
_DATE_LIKE = r"^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}"
_ISO_DATE = r"^\d{4}-\d{2}-\d{2}$"
_ISO_DATETIME = r"^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?$"
_SAMPLE = 65536  # characters by which the separator is recognised
_MOSTLY = 0.5  # from this share of numbers on, a column of text is told about
_TAIL = 2**20  # bytes at the end of a file, where Parquet and Arrow keep sizes and statistics of all columns


class TableFileWarning(UserWarning):
    """Something in a file had to be guessed, or does not look as it was meant."""


def read_table(source: str, *, format: str | None = None, text_columns: Collection[str] = ()) -> pl.DataFrame:  # noqa: A002
    """Read a table file.

    Its content tells what a Parquet or Arrow file is, its suffix what a text is: JSON, JSON lines or CSV. A CSV file
    may be separated by commas, semicolons, tabs or bars, in UTF-8, UTF-16, UTF-32 or Windows-1252, and any text may be
    compressed by gzip, bzip2 or xz.

    Parameters
    ----------
    source : str
        The path, or "-" for standard input.
    format : {"csv", "parquet", "arrow", "jsonl", "json"}, default=None
        What the file is; None finds out.
    text_columns : collection of str, default=()
        Columns of a CSV file that are text even if they look like something else.

    Returns
    -------
    polars.DataFrame
        The table, with one row at least.
    """
    name = "Standard input" if source == STDIO else source
    data = _unpack(_read_bytes(source), name)
    if not data[:_SAMPLE].strip() and not data.strip():
        raise ValueError(f"{name} is empty.")
    kind = format or _recognise(data, source, name)
    with _reading(name, kind):
        if kind == "parquet":
            frame = pl.read_parquet(io.BytesIO(data))
        elif kind == "arrow":
            is_stream = data.startswith(_STREAM)
            read_arrow = pl.read_ipc_stream if is_stream else pl.read_ipc
            frame = read_arrow(io.BytesIO(data))
        elif kind in ("jsonl", "json"):
            frame = _read_json(data, name, kind)
        else:
            frame = _read_csv(data, name, text_columns)
    _check_extent(frame.width, frame.height, name)
    return frame.with_columns(pl.col(pl.Null).cast(pl.Float64))


@contextmanager
def _reading(name: str, kind: str) -> Iterator[None]:
    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        told = str(error).strip().splitlines() or [type(error).__name__]
        raise ValueError(f"{name} cannot be read as {_SPOKEN.get(kind, kind)}: {told[0].rstrip('.')}.") from None


def _check_extent(n_columns: int, n_rows: int, name: str) -> None:
    if not n_columns:
        raise ValueError(f"{name} has no columns.")
    if not n_rows:
        raise ValueError(f"{name} has a header, but no rows.")


@dataclass(frozen=True, eq=False)
class TableFile:
    """A table file of which any rows can be read; of Parquet and Arrow files, nothing else is held in memory.

    Parameters
    ----------
    source : str
        The path, or "-" for standard input.
    schema : dict of str to polars.DataType
        Its columns.
    n_rows : int
        The number of its rows, at least 1.
    identity : dict of str to object or None
        What tells its content from another: its size, the time of its last change, and a digest of its end. None if
        it is no regular file.
    frame : polars.LazyFrame
        The rows.
    kind : str
        What the file is.
    """

    source: str
    schema: dict[str, Any]
    n_rows: int
    identity: dict[str, Any] | None
    frame: pl.LazyFrame
    kind: str

    def rows(self, first: int, n: int, columns: Collection[str] | None = None) -> pl.DataFrame:
        """Read some rows.

        Parameters
        ----------
        first : int
            Where they begin, from 0.
        n : int
            How many.
        columns : collection of str, default=None
            The columns to read, which come in the order of the file; None reads all.

        Returns
        -------
        polars.DataFrame
            The rows.
        """
        frame = self.frame.slice(first, n)
        if columns is not None:
            frame = frame.select([name for name in self.schema if name in columns])
        with _reading(self.source, self.kind):
            return frame.collect().with_columns(pl.col(pl.Null).cast(pl.Float64))

    def check_unchanged(self) -> None:
        """Refuse to go on with a file that has become another."""
        if self.identity is not None and _identify(self.source) != self.identity:
            raise ValueError(f"{self.source} was changed while its rows were explained.")


def open_table(source: str, *, format: str | None = None, text_columns: Collection[str] = ()) -> TableFile:  # noqa: A002
    """Open a table file for reading it by parts.

    Parameters
    ----------
    source : str
        The path, or "-" for standard input.
    format : {"csv", "parquet", "arrow", "jsonl", "json"}, default=None
        What the file is; None finds out.
    text_columns : collection of str, default=()
        Columns of a CSV file that are text even if they look like something else.

    Returns
    -------
    TableFile
        The table. Of a Parquet or Arrow file on disk only the end is read yet; any other is held in memory.
    """
    is_file = source != STDIO and Path(source).is_file()
    kind = _scannable(source) if is_file else None
    identity = _identify(source) if is_file else None
    if kind is None or format not in (None, kind):
        frame = read_table(source, format=format, text_columns=text_columns)
        return TableFile(source, dict(frame.schema), frame.height, identity, frame.lazy(), "table")
    with _reading(source, kind):
        # A "*" in the name is a "*".
        lazy = pl.scan_parquet(source, glob=False) if kind == "parquet" else pl.scan_ipc(source)
        schema = {name: pl.Float64() if dtype == pl.Null else dtype for name, dtype in lazy.collect_schema().items()}
        n_rows = lazy.select(pl.len()).collect().item()
    _check_extent(len(schema), n_rows, source)
    return TableFile(source, schema, n_rows, identity, lazy, kind)


def _scannable(source: str) -> str | None:
    try:
        with open(source, "rb") as file:
            start = file.read(6)
    except OSError as error:
        raise cannot_read(source, error) from None
    if start.startswith(b"PAR1"):
        return "parquet"
    # polars 1 reads patterns in the name of an Arrow file.
    return "arrow" if start.startswith(b"ARROW1") and not re.search(r"[*?[]", source) else None


def _identify(source: str) -> dict[str, Any]:
    with open(source, "rb") as file:
        stat = os.fstat(file.fileno())
        file.seek(max(0, stat.st_size - _TAIL))
        digest = hashlib.sha256(file.read()).hexdigest()
    return {"size": stat.st_size, "changed": stat.st_mtime_ns, "end": digest}


def _read_bytes(source: str) -> bytes:
    if threading.current_thread() is threading.main_thread():
        # The handler that polars puts before Python's lets a read go on, so that Ctrl-C would wait for a slow pipe.
        signal.siginterrupt(signal.SIGINT, True)
    if source == STDIO:
        if sys.stdin.isatty():
            raise ValueError("Standard input is a terminal: give a file, or send a table, as in `cat table.csv | ...`.")
        return sys.stdin.buffer.read()
    try:
        return Path(source).read_bytes()
    except OSError as error:
        raise cannot_read(source, error) from None


def cannot_read(source: str, error: OSError) -> ValueError:
    """Tell in one sentence why a file cannot be read.

    Parameters
    ----------
    source : str
        The path.
    error : OSError
        What went wrong.

    Returns
    -------
    ValueError
        The error to raise.
    """
    path = Path(source)
    if isinstance(error, FileNotFoundError):
        near = difflib.get_close_matches(path.name, os.listdir(path.parent) if path.parent.is_dir() else [], n=1)
        hint = f" Did you mean {str(path.parent / near[0])!r}?" if near else ""
        return ValueError(f"There is no file {source!r}.{hint}")
    if isinstance(error, IsADirectoryError):
        return ValueError(f"{source!r} is a folder: give a file.")
    if isinstance(error, PermissionError):
        return ValueError(f"There is no permission to read {source!r}.")
    return ValueError(f"{source!r} cannot be read: {error.strerror or error}.")


def _unpack(data: bytes, name: str) -> bytes:
    for magic, unpack in _UNPACK.items():
        if data.startswith(magic):
            try:
                return unpack(data)
            except (OSError, EOFError, zlib.error, lzma.LZMAError):
                raise ValueError(f"{name} is compressed, but damaged or cut off.") from None
    return data


def _recognise(data: bytes, source: str, name: str) -> str:
    for magic, kind in _MAGIC.items():
        if data.startswith(magic):
            return kind
    for magic, what in _REFUSED.items():
        if data.startswith(magic):
            raise ValueError(f"{name} is {what}.")
    suffixes = [suffix.lower() for suffix in Path(source).suffixes]
    if suffixes and suffixes[-1] in (".gz", ".bz2", ".xz"):
        suffixes.pop()
    kind_by_name = FORMATS.get(suffixes[-1]) if suffixes else None
    if kind_by_name in ("parquet", "arrow"):
        raise ValueError(f"{name} is not a file of the kind {_SPOKEN[kind_by_name]}.")
    if kind_by_name in READABLE and kind_by_name != "json":
        return str(kind_by_name)
    start = data[:_SAMPLE].removeprefix(codecs.BOM_UTF8).lstrip()
    if start.startswith(b"{"):
        return "jsonl"
    return "json" if kind_by_name == "json" or re.match(rb"\[\s*\{", start) else "csv"


# --- text -------------------------------------------------------------------------------------------------------------


def _decode(data: bytes, name: str) -> str:
    text = _decode_marked(data, name)
    if text is None:
        text = _decode_unmarked(data, name)
    text = text.removesuffix("\x1a")  # the end of a file in DOS
    control = _CONTROL.search(text)
    if control is not None:
        raise ValueError(
            f"{name}, line {_line_at(text, control.start())}: the control character {control.group()!r} cannot stand "
            "in a table of text."
        )
    return text


def _decode_marked(data: bytes, name: str) -> str | None:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            try:
                return data[len(mark) :].decode(encoding)
            except UnicodeDecodeError:
                raise ValueError(f"{name} begins as {encoding.upper()}, but does not go on like that.") from None
    return None


def _decode_unmarked(data: bytes, name: str) -> str:
    if b"\0" in data:
        even, odd = data[0::2], data[1::2]
        for zeros, others, encoding in ((odd, even, "utf-16-le"), (even, odd, "utf-16-be")):
            # The high bytes of most letters are 0, the low ones never are.
            if zeros.count(0) > 0.4 * len(zeros) and not others.count(0) and len(data) % 2 == 0:
                return data.decode(encoding, errors="replace")
        raise ValueError(f"{name} holds NUL bytes: it is not a table of text.")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        lossy = data.decode("utf-8", errors="replace")
        n_bad = lossy.count("\ufffd")
        n_good = sum(not character.isascii() for character in lossy) - n_bad
        if n_good > n_bad:
            raise ValueError(f"{name}, line {line}: a byte is not UTF-8, in which the rest is written.") from None
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError:
        raise ValueError(
            f"{name}, line {line}: the text is neither UTF-8 nor Windows-1252; save the file as UTF-8."
        ) from None
    warnings.warn(f"{name} is not UTF-8; it is read as Windows-1252.", TableFileWarning, stacklevel=2)
    return text


def _line_at(text: str, position: int) -> int:
    return len(re.findall(r"\r\n|\r|\n", text[:position])) + 1


# --- CSV --------------------------------------------------------------------------------------------------------------


def _read_csv(data: bytes, name: str, text_columns: Collection[str]) -> pl.DataFrame:
    text = _decode(data, name).replace("\r\n", "\n").replace("\r", "\n")
    separator = _find_separator(text)
    records = _records(text, separator, name)
    _, header = next(records)
    names = _name_columns(header, name)
    sample, is_plain = _check_records(records, names, name)
    mark = re.escape(separator)
    is_plain = is_plain and '"' not in text and not re.search(rf"(?:^|{mark}|\n) | (?:{mark}|\n|$)", text)
    body = text.partition("\n")[2] if is_plain and not text.startswith("\n") else _rewrite(text, separator, name)
    if not sample:
        return pl.DataFrame(schema=names)
    # Names of our own: polars would change some of the user's, and which differs between its versions.
    own = [f"c{i}" for i in range(len(names))]
    frame = pl.read_csv(
        io.BytesIO(f"{separator.join(own)}\n{body}".encode()),
        separator=separator,
        null_values=list(MISSING),
        infer_schema_length=None,
        try_parse_dates=True,
        schema_overrides={o: pl.String for o, n in zip(own, names, strict=True) if n in text_columns},
    )
    frame.columns = names
    _tell_of_dates(frame, sample, name)
    frame = _mend_text(frame, separator, name, text_columns)
    is_nameless = {n for n, given in zip(names, header, strict=True) if not given.strip()}
    empty = [n for n in is_nameless if frame[n].null_count() == frame.height]  # from a separator at the end of lines
    for column in sorted(is_nameless - set(empty)):
        warnings.warn(f"A column of {name} has no name; it is called {column!r}.", TableFileWarning, stacklevel=3)
    return frame.drop(empty)


def _find_separator(text: str) -> str:
    """Choose the separator by which the first lines have the same number of fields, and more than one."""
    sample = text[:_SAMPLE]
    if len(text) > _SAMPLE:
        sample = sample[: sample.rfind("\n") + 1] or sample
    best, separator = (0.0, 1), ","
    for candidate in SEPARATORS:
        try:
            sizes = [len(row) for row in csv.reader(io.StringIO(sample), delimiter=candidate, skipinitialspace=True)]
        except csv.Error:
            continue
        sizes = [size for size in sizes if size] or [0]
        found = (sum(size == sizes[0] for size in sizes) / len(sizes), sizes[0])
        if sizes[0] > 1 and found > best:
            best, separator = found, candidate
    return separator


def _records(text: str, separator: str, name: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line on which each record begins, and its fields; none for a blank line, but for those at the top."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True, strict=True)
    line, at_top = 1, True
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise ValueError(f"{name}, line {line}: {_csv_problem(str(error))}.") from None
        if len(row) == 1 and not row[0].strip():
            row = []
        if row or not at_top:
            at_top = False
            yield line, row
        line = reader.line_num + 1


def _csv_problem(told: str) -> str:
    if "unexpected end" in told or "field limit" in told:
        return "a quote opens a field that does not end"
    return f"a quoted field goes on after its closing quote ({told})" if "expected after" in told else told


def _name_columns(header: Sequence[str], name: str) -> list[str]:
    names = [field.strip() or f"unnamed_{i}" for i, field in enumerate(header, start=1)]
    twice = next((n for n in names if names.count(n) > 1), None)
    if twice is not None:
        raise ValueError(
            f"{name} has two columns named {twice!r}: rename one. (The first line must hold the names of the columns.)"
        )
    return names


def _check_records(
    records: Iterator[tuple[int, list[str]]], names: Sequence[str], name: str
) -> tuple[list[list[str]], bool]:
    """Refuse records of another size than the header. Give the first ones, and whether there was no blank line."""
    sample: list[list[str]] = []
    is_plain = True
    for line, row in records:
        if not row:
            is_plain = False
            continue
        if len(row) != len(names):
            fields = f"{len(row)} field{'' if len(row) == 1 else 's'}"
            raise ValueError(f"{name}, line {line}: {fields}, but the header names {len(names)} columns.")
        if len(sample) < 100:
            sample.append(row)
    return sample, is_plain


def _rewrite(text: str, separator: str, name: str) -> str:
    """Write the records anew: without blank lines, spaces around fields, and quotes that nothing needs."""
    records = _records(text, separator, name)
    _, header = next(records)
    rows = [[field.strip() for field in row] for _, row in records]
    if len(header) == 1:  # there, a blank line is a missing value, except at the end
        while rows and not rows[-1]:
            rows.pop()
        rows = [row or ["NA"] for row in rows]
    body = io.StringIO()
    csv.writer(body, delimiter=separator, lineterminator="\n").writerows(row for row in rows if row)
    return body.getvalue()


def _tell_of_dates(frame: pl.DataFrame, sample: Sequence[Sequence[str]], name: str) -> None:
    for i, (column, dtype) in enumerate(frame.schema.items()):
        if dtype in (pl.Date, pl.Datetime):
            values = [row[i].strip() for row in sample]
            odd = next((v for v in values if v not in MISSING and not re.match(r"\d{4}", v)), None)
            if odd is not None:
                warnings.warn(
                    f"The dates in the column {column!r} of {name}, such as {odd!r}, are read as day, month, year.",
                    TableFileWarning,
                    stacklevel=4,
                )


def _mend_text(frame: pl.DataFrame, separator: str, name: str, text_columns: Collection[str]) -> pl.DataFrame:
    """Turn numbers with a decimal comma into numbers where that is clear, and tell of text that looks like numbers."""
    columns = [c for c, dtype in frame.schema.items() if dtype == pl.String and c not in text_columns]
    known = {column: frame[column].drop_nulls() for column in columns}
    empty = [column for column, values in known.items() if not len(values)]
    frame = frame.with_columns(pl.col(empty).cast(pl.Float64)) if empty else frame
    with_comma = [
        column
        for column, values in known.items()
        if len(values) and values.str.contains(_COMMA_NUMBER).all() and values.str.contains(",", literal=True).any()
    ]
    is_clear = any(
        (known[c].str.contains(",", literal=True) & ~known[c].str.contains(_THOUSANDS)).any() for c in with_comma
    )
    has_point = any(dtype.is_float() for column, dtype in frame.schema.items() if column not in empty)
    if is_clear and not has_point and separator != ",":
        numbers = pl.col(with_comma).str.replace(",", ".", literal=True).cast(pl.Float64)
        frame = frame.with_columns(numbers)
    for column, dtype in frame.schema.items():
        if dtype == pl.String and column in known:
            _tell_of_number_like(column, known[column], name)
    return frame


def _tell_of_number_like(column: str, values: pl.Series, name: str) -> None:
    odd = values.filter(values.cast(pl.Float64, strict=False).is_null())
    if not len(odd):
        return
    if len(odd) <= (1 - _MOSTLY) * len(values):
        text = (
            f"The column {column!r} of {name} is taken as text: {len(odd)} of {len(values)} values, such as "
            f"{odd[0]!r}, are no numbers. Leave missing values empty."
        )
    elif values.str.contains(_NUMBER_LIKE).all() and not values.str.contains(_DATE_LIKE).all():
        text = (
            f"The column {column!r} of {name} is taken as text, although values such as {odd[0]!r} look like numbers. "
            "Write numbers as in 1234.5."
        )
    else:
        return
    warnings.warn(text, TableFileWarning, stacklevel=5)


# --- JSON -------------------------------------------------------------------------------------------------------------


def _read_json(data: bytes, name: str, kind: str) -> pl.DataFrame:
    text = _decode(data, name)
    try:
        if kind == "json":
            frame = pl.read_json(io.BytesIO(text.encode()), infer_schema_length=None)
        else:
            frame = pl.read_ndjson(io.BytesIO(text.encode()), infer_schema_length=None)
    except pl.exceptions.PolarsError:
        if kind == "jsonl":
            _find_bad_line(text, name)
        raise
    return _parse_dates(frame)


def _find_bad_line(text: str, name: str) -> None:
    for i, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                is_object = isinstance(json.loads(line), dict)
            except json.JSONDecodeError:
                is_object = False
            if not is_object:
                raise ValueError(f"{name}, line {i}: a JSON object is expected on every line.")


def _parse_dates(frame: pl.DataFrame) -> pl.DataFrame:
    """Recognise columns of dates, which JSON has only as text."""
    for column, dtype in frame.schema.items():
        known = frame[column].drop_nulls()
        if dtype == pl.String and len(known):
            for pattern, kind in ((_ISO_DATE, pl.Date), (_ISO_DATETIME, pl.Datetime)):
                if known.str.contains(pattern).all():
                    parsed = frame[column].str.strptime(kind, strict=False)
                    if parsed.null_count() == frame[column].null_count():
                        frame = frame.with_columns(parsed)
    return frame


# --- writing ----------------------------------------------------------------------------------------------------------


def format_of_target(target: str, known: Collection[str]) -> str:
    """Tell in what format a file is to be written, by its suffix, and whether it can be written at all.

    Parameters
    ----------
    target : str
        The path.
    known : collection of str
        The formats to choose from.

    Returns
    -------
    str
        The format.
    """
    suffix = Path(target).suffix.lower()
    if FORMATS.get(suffix) not in known:
        listed = ", ".join(s for s, kind in FORMATS.items() if kind in known and s not in (".txt", ".tsv", ".htm"))
        what = f"the suffix {suffix!r} is not known" if suffix else "it has no suffix"
        raise ValueError(f"Cannot tell the format of {target!r}, {what}: use one of {listed}.")
    check_target(target)
    return FORMATS[suffix]


def check_target(target: str) -> None:
    """Refuse a file that could not be written, before the work begins.

    Parameters
    ----------
    target : str
        The path.
    """
    path = Path(target)
    if path.is_dir():
        raise ValueError(f"{target!r} is a folder: give a file.")
    if not path.parent.is_dir():
        raise ValueError(f"There is no folder {str(path.parent)!r} to write {path.name!r} in.")
    writable = path if path.exists() and not path.is_file() else path.parent
    if not os.access(writable, os.W_OK):
        raise ValueError(f"There is no permission to write {target!r}.")


def write_table(frame: pl.DataFrame, target: str, format: str) -> None:  # noqa: A002
    """Write a table, in one step.

    Parameters
    ----------
    frame : polars.DataFrame
        The table. In a CSV file the values of a list are joined by "; ".
    target : str
        The path, or "-" for standard output.
    format : {"csv", "parquet", "arrow", "jsonl", "json"}
        What to write.
    """
    write_bytes(to_bytes(frame, format), target)


def write_bytes(data: bytes, target: str) -> None:
    """Write a file, in one step.

    Parameters
    ----------
    data : bytes
        Its content.
    target : str
        The path, or "-" for standard output.
    """
    if target == STDIO:
        sys.stdout.flush()
        left = memoryview(data)
        while left:  # with PYTHONUNBUFFERED a write may end before the data do
            left = left[sys.stdout.buffer.write(left) :]
        sys.stdout.buffer.flush()
        return
    with replacing(target) as path:
        path.write_bytes(data)


def to_bytes(frame: pl.DataFrame, format: str, *, header: bool = True) -> bytes:  # noqa: A002
    """Make the content of a table file.

    Parameters
    ----------
    frame : polars.DataFrame
        The table. In a CSV file the values of a list are joined by "; ".
    format : {"csv", "parquet", "arrow", "jsonl", "json"}
        What to make.
    header : bool, default=True
        Whether a CSV file begins with the names of the columns.

    Returns
    -------
    bytes
        The content.
    """
    data = io.BytesIO()
    if format == "parquet":
        frame.write_parquet(data)
    elif format == "arrow":
        frame.write_ipc(data, compression="uncompressed")
    elif format == "jsonl":
        frame.write_ndjson(data)
    elif format == "json":
        frame.write_json(data)
    elif format == "csv":
        lists = [name for name, dtype in frame.schema.items() if dtype == pl.List]
        frame.with_columns(pl.col(lists).list.join("; ")).write_csv(data, include_header=header)
    else:
        raise ValueError(f"A table cannot be written as {format!r}: use one of {', '.join(READABLE)}.")
    return data.getvalue()
