"""The search for rows of a table: by conditions, such as ``hour > 17 AND sky = clear``, or by words in any column."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from suffice._io.code_book_file import parse_conditions
from suffice._table.table import read_columns
from suffice._text import format_label, format_number

MAX_EXAMPLE = 24  # characters of a value in an example


def find_rows(frame: pl.DataFrame, text: str) -> NDArray[np.intp]:
    """Find rows by conditions or by words."""
    text = text.strip()
    if not text:
        return np.arange(frame.height)
    if re.search("[<>=]| in | is ", text):
        sentence = re.sub(r"\s+and\s+", " AND ", text, flags=re.IGNORECASE)
        sentence = re.sub("^if ", "", sentence, flags=re.IGNORECASE)
        is_match = np.ones(frame.height, dtype=bool)
        table = read_columns(frame)
        for condition in parse_conditions(f"IF {quote_labels(sentence, frame)}", frame.columns):
            is_match &= condition.covers_rows(table)
        return np.flatnonzero(is_match)
    matches = [
        pl.col(name).cast(pl.String, strict=False).str.to_lowercase().str.contains(text.lower(), literal=True)
        for name in frame.columns
    ]
    return np.flatnonzero(frame.select(pl.any_horizontal(matches).fill_null(False)).to_series().to_numpy())


def quote_labels(sentence: str, frame: pl.DataFrame) -> str:
    """Put the labels of text columns in quotes: nobody types these around 1677-AEVQX."""
    names = [name for name in frame.columns if not _has_values(frame.schema[name])]
    # The longest name first: one name may begin another.
    listed = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    if not listed:
        return sentence
    one = re.compile(rf"({listed}) ?(!?=) ?([^\"{{][^\"]*?)( or missing)?")
    several = re.compile(rf"({listed}) (in|not in) {{([^\"]*)}}( or missing)?")
    clauses = []
    for clause in sentence.split(" AND "):
        if match := one.fullmatch(clause.strip()):
            name, sign, label, missing = match.groups()
            clauses.append(f"{name} {sign} {_quoted(label)}{missing or ''}")
        elif match := several.fullmatch(clause.strip()):
            name, word, labels, missing = match.groups()
            quoted = ", ".join(_quoted(label) for label in labels.split(","))
            clauses.append(f"{name} {word} {{{quoted}}}{missing or ''}")
        else:
            clauses.append(clause)
    return " AND ".join(clauses)


def _has_values(dtype: pl.DataType) -> bool:
    """Return whether conditions compare values and not labels that are text."""
    return dtype.is_numeric() or dtype.is_temporal() or dtype == pl.Boolean


def _quoted(label: str) -> str:
    return json.dumps(label.strip(), ensure_ascii=False)


def example_search(frame: pl.DataFrame, names: Sequence[str]) -> str:
    """Write an example of a search with columns of the table."""
    of_number = next((text for name in names if (text := _example_number(name, frame[name]))), "")
    of_label = next((text for name in names if (text := _example_label(name, frame[name]))), "")
    both = " AND ".join(filter(None, (of_number, of_label)))
    return both if len(both) <= MAX_EXAMPLE + 6 else of_number or of_label


def _example_number(name: str, column: pl.Series) -> str:
    if not column.dtype.is_numeric() or column.n_unique() < 3 or len(name) > MAX_EXAMPLE:
        return ""
    middle = column.quantile(0.5, "lower")
    return "" if middle is None else f"{name} > {format_number(float(middle))}"


def _example_label(name: str, column: pl.Series) -> str:
    if _has_values(column.dtype) or not 1 < column.n_unique() <= 50 or len(name) > MAX_EXAMPLE:
        return ""
    labels = column.drop_nulls().cast(pl.String, strict=False).value_counts(sort=True)[column.name].to_list()
    return f"{name} = {format_label(labels[0])}" if labels and len(labels[0]) <= MAX_EXAMPLE else ""
