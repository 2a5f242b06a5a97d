"""CSV files of any common make as a table: the separator, quotes, names of columns, and numbers written as text.

Whatever had to be guessed is reported by a `TableFileWarning`; a bad record is refused with its line number.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterator, Sequence

import polars as pl

from suffice._io.sources import COLUMN, TABLE_VARIABLE, TEXT, TableFileWarning, check_memory
from suffice._table.table import MISSING_TEXTS
from suffice._text import counted, first_repeated
from suffice.errors import warn

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
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    separator = _find_separator(text)
    size = len(text) + TEXT * (text.count(separator) + text.count("\n"))
    check_memory(size, name, limit)
    records = _records(text, separator, name)
    _, header = next(records, (0, []))
    if not header:  # only a mark of the encoding, or lines of blanks
        raise ValueError(f"{name} is empty.")
    check_memory(size + COLUMN * len(header), name, limit)
    names = _name_columns(header, name)
    sample, is_plain = _check_records(records, names, name)
    mark = re.escape(separator)
    is_plain = is_plain and '"' not in text and not re.search(rf"(?:^|{mark}|\n) | (?:{mark}|\n|$)", text)
    body = text.partition("\n")[2] if is_plain and not text.startswith("\n") else _rewrite(text, separator, name)
    if not sample:
        return pl.DataFrame(schema=names)
    # Names of our own: polars would change some of the user's, and which ones differs between its versions.
    own = [f"c{i}" for i in range(len(names))]
    frame = pl.read_csv(
        io.BytesIO(f"{separator.join(own)}\n{body}".encode()),
        separator=separator,
        null_values=list(MISSING_TEXTS),
        infer_schema_length=None,
        try_parse_dates=True,
        schema_overrides={o: pl.String for o, n in zip(own, names, strict=True) if n in text_columns},
    )
    frame.columns = names
    _warn_of_dates(frame, sample, name)
    frame = _mend_numbers(frame, separator, name, text_columns)
    return _settle_nameless(frame, {n for n, field in zip(names, header, strict=True) if not field.strip()}, name)


def _settle_nameless(frame: pl.DataFrame, nameless: set[str], name: str) -> pl.DataFrame:
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


def _records(text: str, separator: str, name: str) -> Iterator[tuple[int, list[str]]]:
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
        raise ValueError(
            f"{name} has two columns named {twice!r}: rename one. (The first line must hold the names of the columns.)"
        )
    return names


def _check_records(
    records: Iterator[tuple[int, list[str]]], names: Sequence[str], name: str
) -> tuple[list[list[str]], bool]:
    """Refuse records that do not have a field for each column.

    Return the first records, and whether there were no blank lines.
    """
    sample: list[list[str]] = []
    is_plain = True
    for line, row in records:
        if not row:
            is_plain = False
            continue
        if len(row) != len(names):
            sizes = f"{counted(len(row), 'field')}, but the header has {counted(len(names), 'column')}"
            raise ValueError(f"{name}, line {line}: {sizes}.")
        if len(sample) < _N_SAMPLED_RECORDS:
            sample.append(row)
    return sample, is_plain


def _rewrite(text: str, separator: str, name: str) -> str:
    """Write the records again without blank lines, spaces around fields and needless quotes."""
    records = _records(text, separator, name)
    _, header = next(records)
    body = io.StringIO()
    csv.writer(body, delimiter=separator, lineterminator="\n").writerows(_stripped(records, len(header) == 1))
    return body.getvalue()


def _stripped(records: Iterator[tuple[int, list[str]]], is_single: bool) -> Iterator[list[str]]:
    """Yield records without blank lines: in a single column one is a missing value, except at the end."""
    n_blank = 0
    for _, row in records:
        if not row:
            n_blank += is_single
            continue
        yield from [["NA"]] * n_blank
        n_blank = 0
        yield [field.strip() for field in row]


def _warn_of_dates(frame: pl.DataFrame, sample: Sequence[Sequence[str]], name: str) -> None:
    for i, (column, dtype) in enumerate(frame.schema.items()):
        if dtype in (pl.Date, pl.Datetime):
            values = [row[i].strip() for row in sample]
            odd = next((v for v in values if v not in MISSING_TEXTS and not re.match(r"\d{4}", v)), None)
            if odd is not None:
                warn(
                    f"The dates in the column {column!r} of {name}, such as {odd!r}, are read as day, month, year.",
                    TableFileWarning,
                )


def _mend_numbers(frame: pl.DataFrame, separator: str, name: str, text_columns: Collection[str]) -> pl.DataFrame:
    """Read decimal commas where they are unambiguous, and warn of other text that looks like numbers."""
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
            _warn_of_number_like(column, known[column], name)
    return frame


def _warn_of_number_like(column: str, values: pl.Series, name: str) -> None:
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
