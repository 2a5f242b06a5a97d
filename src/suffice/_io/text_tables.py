"""Tables in text files: the encoding, and CSV of any common make.

Whatever had to be guessed is reported by a `TableFileWarning`; a bad record is refused with its line number.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from suffice._io.sources import COLUMN, TABLE_VARIABLE, TEXT, TableFileWarning, check_memory
from suffice._table.table import MISSING_TEXTS
from suffice._text import counted, first_repeated
from suffice.errors import warn

if TYPE_CHECKING:  # imported where a table is made of the text: code books are read without it
    import polars as pl

# --- encodings --------------------------------------------------------------------------------------------------------

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]")


def decode(data: bytes, name: str) -> str:
    """Decode the text of a file, whatever its encoding."""
    mark, encoding = next(((mark, encoding) for mark, encoding in _MARKS if data.startswith(mark)), (b"", ""))
    try:
        text = data[len(mark) :].decode(encoding) if mark else _decode_unmarked(data, name)
    except UnicodeDecodeError:
        code = encoding.upper()
        raise ValueError(f"{name} begins with the byte order mark of {code}, but the rest is not {code}.") from None
    text = text.removesuffix("\x1a")  # DOS ended files with it
    control = _CONTROL.search(text)
    if control is not None:
        line = len(re.findall(r"\r\n|\r|\n", text[: control.start()])) + 1
        raise ValueError(f"{name}, line {line}: a table cannot contain the control character {control.group()!r}.")
    return text


def _decode_unmarked(data: bytes, name: str) -> str:
    if b"\0" in data:
        raise ValueError(f"{name} contains NUL bytes, so it is not a text file.")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        lossy = data.decode("utf-8", errors="replace")
        n_bad = lossy.count("\ufffd")
        n_good = sum(not character.isascii() for character in lossy) - n_bad
        if n_good > n_bad:
            raise ValueError(f"{name}, line {line}: a byte is not valid UTF-8, although the rest is.") from None
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError:
        raise ValueError(f"{name}, line {line}: neither UTF-8 nor Windows-1252; save the file as UTF-8.") from None
    warn(f"{name} is not UTF-8; it is read as Windows-1252.", TableFileWarning)
    return text


# --- CSV --------------------------------------------------------------------------------------------------------------

SEPARATORS = (",", ";", "\t", "|")
_COMMA_NUMBER = r"^[+-]?(?:\d+(?:,\d+)?|,\d+)(?:[eE][+-]?\d+)?$"
_THOUSANDS = r"^[+-]?\d{1,3}(?:,\d{3})+$"
_NUMBER_LIKE = r"^[+-]?\s?[$€£]?\s?[+-]?\d[\d.,'\s]*\s?[%$€£]?$"
_DATE_LIKE = r"^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}"
_N_SAMPLED_CHARACTERS = 65536  # to recognise the separator
_N_SAMPLED_RECORDS = 100  # to recognise how dates are written
_MOSTLY = 0.5  # a column of text with at least this share of numbers gets a warning


def read_csv(text: str, name: str, text_columns: Collection[str], limit: str = TABLE_VARIABLE) -> pl.DataFrame:
    """Read a table from CSV."""
    import polars as pl

    text = text.replace("\r\n", "\n").replace("\r", "\n")
    separator = _find_separator(text)
    size = len(text) + TEXT * (text.count(separator) + text.count("\n"))
    check_memory(size, name, limit)
    records = read_records(text, separator, name)
    _, header = next(records, (0, []))
    if not header:  # only a byte order mark, or blank lines
        raise ValueError(f"{name} is empty.")
    check_memory(size + COLUMN * len(header), name, limit)
    names = _name_columns(header, name)
    # Names of our own: polars would change some of the user's, and which ones differs between its versions.
    own = [f"c{i}" for i in range(len(names))]
    sample, body = _rewrite(records, names, own, separator, name)
    if not sample:
        return pl.DataFrame(schema=names)
    frame = pl.read_csv(
        body,
        separator=separator,
        null_values=list(MISSING_TEXTS),
        infer_schema_length=None,
        try_parse_dates=True,
        schema_overrides={o: pl.String for o, n in zip(own, names, strict=True) if n in text_columns},
    )
    body.close()  # it is as large as the file
    frame.columns = names
    _warn_about_dates(frame, sample, name)
    frame = _convert_numbers(frame, separator, name, text_columns)
    return _drop_unnamed(frame, {n for n, field in zip(names, header, strict=True) if not field.strip()}, name)


def _drop_unnamed(frame: pl.DataFrame, nameless: set[str], name: str) -> pl.DataFrame:
    """Drop empty columns without a name, which come from a separator at the end of lines; report the others."""
    empty = [column for column in nameless if frame[column].null_count() == frame.height]
    for column in sorted(nameless - set(empty)):
        warn(f"A column of {name} has no name; it is called {column!r}.", TableFileWarning)
    return frame.drop(empty)


def _find_separator(text: str) -> str:
    """Choose the separator that gives most of the first lines the same number of fields, and more than one."""
    sample = text[:_N_SAMPLED_CHARACTERS]
    if len(text) > _N_SAMPLED_CHARACTERS:
        sample = sample[: sample.rfind("\n") + 1] or sample
    best, separator = (0.0, 1), ","
    for candidate in SEPARATORS:
        try:
            sizes = [len(row) for row in csv.reader(io.StringIO(sample), delimiter=candidate, skipinitialspace=True)]
        except csv.Error:
            continue
        sizes = [size for size in sizes if size] or [0]
        score = (sum(size == sizes[0] for size in sizes) / len(sizes), sizes[0])
        if sizes[0] > 1 and score > best:
            best, separator = score, candidate
    return separator


def read_records(text: str, separator: str, name: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line on which each record begins, and its fields.

    A blank line has no fields; blank lines at the top are skipped.
    """
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


def _csv_problem(message: str) -> str:
    if "unexpected end" in message:
        return "a quoted field is never closed"
    if "field limit" in message:
        return f"a field has more than {csv.field_size_limit():,} characters; perhaps a quoted field is never closed"
    return f"text follows a closing quote ({message})" if "expected after" in message else message


def _name_columns(header: Sequence[str], name: str) -> list[str]:
    names = [field.strip() or f"unnamed_{i}" for i, field in enumerate(header, start=1)]
    twice = first_repeated(names)
    if twice is not None:
        raise ValueError(f"{name} has two columns named {twice!r}: rename one. The first line must name the columns.")
    return names


def _rewrite(
    records: Iterator[tuple[int, list[str]]], names: Sequence[str], own: Sequence[str], separator: str, name: str
) -> tuple[list[list[str]], io.BytesIO]:
    """Write records again without blank lines, spaces around fields and needless quotes; return the first ones, too.

    Each must have a field for each column. In a single column a blank line is a missing value, except at the end.
    """
    sample: list[list[str]] = []
    n_blank, body = 0, io.BytesIO()
    text = io.TextIOWrapper(body, "utf-8", newline="")
    writer = csv.writer(text, delimiter=separator, lineterminator="\n")
    writer.writerow(own)
    for line, row in records:
        if not row:
            n_blank += len(names) == 1
            continue
        if len(row) != len(names):
            sizes = f"{counted(len(row), 'field')}, but the header has {counted(len(names), 'column')}"
            raise ValueError(f"{name}, line {line}: {sizes}.")
        if len(sample) < _N_SAMPLED_RECORDS:
            sample.append(row)
        writer.writerows([["NA"]] * n_blank)
        writer.writerow([field.strip() for field in row])
        n_blank = 0
    text.detach()  # it is written completely
    body.seek(0)
    return sample, body


def _warn_about_dates(frame: pl.DataFrame, sample: Sequence[Sequence[str]], name: str) -> None:
    import polars as pl

    for i, (column, dtype) in enumerate(frame.schema.items()):
        if dtype in (pl.Date, pl.Datetime):
            values = [row[i].strip() for row in sample]
            odd = next((v for v in values if v not in MISSING_TEXTS and not re.match(r"\d{4}", v)), None)
            if odd is not None:
                what = f"The dates in the column {column!r} of {name}, such as {odd!r},"
                warn(f"{what} are read as day, month, year.", TableFileWarning)


def _convert_numbers(frame: pl.DataFrame, separator: str, name: str, text_columns: Collection[str]) -> pl.DataFrame:
    """Read decimal commas where they are unambiguous, and warn about other text that looks like numbers."""
    import polars as pl

    columns = [c for c, dtype in frame.schema.items() if dtype == pl.String and c not in text_columns]
    known = {column: frame[column].drop_nulls() for column in columns}
    empty = [column for column, values in known.items() if not len(values)]
    frame = frame.with_columns(pl.col(empty).cast(pl.Float64)) if empty else frame
    with_comma = [
        column
        for column, values in known.items()
        if len(values) and values.str.contains(_COMMA_NUMBER).all() and values.str.contains(",", literal=True).any()
    ]
    is_unambiguous = any(
        (known[c].str.contains(",", literal=True) & ~known[c].str.contains(_THOUSANDS)).any() for c in with_comma
    )
    has_point = any(dtype.is_float() for column, dtype in frame.schema.items() if column not in empty)
    if is_unambiguous and not has_point and separator != ",":
        numbers = pl.col(with_comma).str.replace(",", ".", literal=True).cast(pl.Float64)
        frame = frame.with_columns(numbers)
    for column, dtype in frame.schema.items():
        if dtype == pl.String and column in known:
            _warn_about_numbers(column, known[column], name)
    return frame


def _warn_about_numbers(column: str, values: pl.Series, name: str) -> None:
    import polars as pl

    odd = values.filter(values.cast(pl.Float64, strict=False).is_null())
    if not len(odd):
        return
    if len(odd) <= (1 - _MOSTLY) * len(values):
        text = (
            f"The column {column!r} of {name} is read as text: {len(odd)} of {len(values)} values, such as "
            f"{odd[0]!r}, are not numbers. Leave missing values empty."
        )
    elif values.str.contains(_NUMBER_LIKE).all() and not values.str.contains(_DATE_LIKE).all():
        text = (
            f"The column {column!r} of {name} is read as text, although values such as {odd[0]!r} look like numbers. "
            "Write numbers as in 1234.5."
        )
    else:
        return
    warn(text, TableFileWarning)
