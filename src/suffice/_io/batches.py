"""Rows that an engine hands out in batches: what is asked of them, their answers, and the explainer of a worker.

Which engine that is, and how the explainer gets to its workers, is left to ``spark`` and ``dask``. Nothing here depends
on how the rows were shared out.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from suffice._forest.outcomes import rank_classes
from suffice._io.result_table import (
    ValueType,
    arrow_types,
    check_kept,
    pandas_arrow_types,
    result_columns,
    result_types,
    row_columns,
    value_type_of,
)
from suffice._io.saved import from_bytes, to_bytes
from suffice._table.cache import LastUsed
from suffice._table.input import as_finite, match_columns, read_outcomes
from suffice._table.table import Table
from suffice._text import first_repeated, to_plain
from suffice.errors import InputError, did_you_mean
from suffice.explainer import SufficientExplainer
from suffice.explaining.search import ExplainOptions

# Rows explained at a time. Their explanations, some kB each, are dropped before the next rows are explained.
N_ROWS = 5000
# Explainers that a worker keeps: two that take turns are not loaded again and again.
N_LOADED = 2
_OPTIONS = ("sets", "rules", "check", "volume")

HeldType: TypeAlias = Literal["number", "boolean", "text", "date", "other"] | None
"""What a column holds by its type in the engine; None if the type does not say."""
_HELD_WORDS: dict[HeldType, str] = {
    "number": "numbers",
    "boolean": "booleans",
    "text": "text",
    "date": "dates",
    "other": "something else",
}


@dataclass(frozen=True)
class BatchRequest:
    """What is asked of every batch of a table."""

    columns: tuple[str, ...]
    target: str | None
    keep: tuple[str, ...]
    options: ExplainOptions

    @classmethod
    def of(
        cls,
        explainer: SufficientExplainer,
        held_types: Sequence[tuple[str, HeldType]],
        target: str | None,
        keep: str | Sequence[str],
        options: ExplainOptions,
    ) -> BatchRequest:
        """Check a request against the columns of a table, without reading any row."""
        names = [name for name, _ in held_types]
        twice = first_repeated(names)
        if twice is not None:
            raise ValueError(f"The table has two columns named {twice!r}; rename one.")
        kept = tuple(dict.fromkeys([keep] if isinstance(keep, str) else keep))
        for option, needed in (("keep", kept), ("target", () if target is None else (target,))):
            for name in needed:
                if name not in names:
                    raise ValueError(f"`{option}`: the table has no column {name!r}.{did_you_mean(name, names)}")
        check_kept(kept, "`keep`", with_row=False)
        if target is None and hasattr(explainer, "model_"):
            raise ValueError(
                "The workers do not have the model that this explainer explains: put its outputs for the rows into a "
                "column, and name that column as `target`."
            )
        columns = _columns_of_explainer(explainer, names, {*kept, target})
        _check_held_types(explainer, columns, dict(held_types))
        return cls(columns, target, kept, options)

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns of the table that are read."""
        target = () if self.target is None else (self.target,)
        return tuple(dict.fromkeys((*self.keep, *target, *self.columns)))

    def explain(self, explainer: SufficientExplainer, frame: Any, where: str, first: int = 0) -> Iterator[Any]:
        """Explain the rows of a batch, `N_ROWS` at a time."""
        import narwhals.stable.v2 as nw
        import pyarrow as pa

        schema = arrow_schema(explainer)
        batch = nw.from_native(frame, eager_only=True)
        for begin in range(0, len(batch), N_ROWS):
            rows = batch[begin : begin + N_ROWS]
            try:
                table, outcomes = self._read(explainer, rows)
                explanations = explainer.explain(
                    table,
                    outcomes,
                    sets=self.options.sets,
                    rules=self.options.rules,
                    check=self.options.check,
                    volume=self.options.volume,
                    progress=False,
                )
            except (TypeError, ValueError) as error:
                raise self._located(error, rows, where, first + begin) from error
            yield pa.RecordBatch.from_pydict(result_columns(explanations), schema=schema)

    def _read(self, explainer: SufficientExplainer, rows: Any) -> tuple[Table, NDArray[Any] | None]:
        """Return the explainer's columns of some rows, and their outcomes in the type of the classes."""
        encoding = explainer.fitted_.encoding
        series = [rows[:, rows.columns.index(name)] for name in self.columns]
        # A batch without a single date may have a type that is not one of dates.
        read = {
            (column.source, column.part): np.full(len(rows), np.nan)
            for column in encoding.columns
            if column.part is not None and bool(series[column.source].is_null().all())
        }
        table = Table(encoding.names, series, len(rows), encoding.has_names, read=read)
        if self.target is None:
            return table, None
        labels = rows[:, rows.columns.index(self.target)].to_list()
        outcomes = read_outcomes([float(y) if isinstance(y, Decimal) else y for y in labels], len(rows))
        if explainer.task_ == "regression":
            return table, as_finite(outcomes)
        return table, explainer.classes_[rank_classes(outcomes, explainer.classes_)]

    def _located(self, error: TypeError | ValueError, rows: Any, where: str, first: int) -> Exception:
        """Return the error with the place of its row in the whole table."""
        if isinstance(error, InputError) and error.row is not None:
            row = first + error.row
            return error.moved(row, f"Row {row} of {where}{self._identify(rows[error.row : error.row + 1])}")
        place = f"{where[:1].upper()}{where[1:]}, rows {first} to {first + len(rows) - 1}"
        if isinstance(error, InputError):
            return error.moved(None, place)
        return (TypeError if isinstance(error, TypeError) else ValueError)(f"{place}: {error}")

    def _identify(self, row: Any) -> str:
        """Return the columns kept of a row, and its place in the index of a pandas frame, as text."""
        import narwhals.stable.v2 as nw

        index = nw.maybe_get_index(row)
        values = {} if index is None else {str(index.name or "index"): index[0]}
        values |= {name: row[:, row.columns.index(name)].to_list()[0] for name in self.keep}
        listed = ", ".join(f"{name}={to_plain(value)!r}" for name, value in values.items())
        return f" ({listed})" if listed else ""


def _columns_of_explainer(explainer: SufficientExplainer, names: list[str], spare: set[str | None]) -> tuple[str, ...]:
    encoding = explainer.fitted_.encoding
    if not encoding.has_names:  # columns by their order
        others = [name for name in names if name not in spare]
        if len(others) != len(encoding.names):
            raise ValueError(
                f"The table has the columns {others} besides those of `keep` and `target`; the explainer was fitted on "
                f"{len(encoding.names)} columns without names."
            )
        return tuple(others)
    others = [name for name in names if name in encoding.names or name not in spare]
    return tuple(others[i] for i in match_columns(others, encoding.names, explainer.extra_columns))


def _check_held_types(explainer: SufficientExplainer, names: Sequence[str], held_types: Mapping[str, HeldType]) -> None:
    """Refuse columns whose type shows that they hold something else than at fit."""
    for column in explainer.fitted_.encoding.columns:
        name = names[column.source]
        held = held_types[name]
        at_fit: HeldType = "number" if column.part is None else "date"
        allowed: set[HeldType] = {None, "date"} if column.part is not None else {None, "number", "boolean"}
        if column.kind == "category" and column.part is None:
            labels = [label for labels in column.labels for label in labels]
            is_text = all(isinstance(label, str) for label in labels)
            at_fit = "text" if is_text else "boolean" if isinstance(labels[0], bool) else "number"
            # Labels that were not there at fit are for `unseen` to judge, but not a whole column of another type.
            allowed = {None, "text"} if is_text else {None, "number", "boolean"}
        if held not in allowed:
            raise TypeError(
                f"Column {name!r} of the table holds {_HELD_WORDS[held]}, at fit it held {_HELD_WORDS[at_fit]}."
            )


# --- the result -----------------------------------------------------------------------------------------------------


def batch_types(explainer: SufficientExplainer) -> dict[str, ValueType]:
    """Return the types of the columns of the result, which are the same for every batch."""
    prediction: ValueType = "float" if explainer.task_ == "regression" else value_type_of(explainer.classes_)
    return result_types(prediction, is_checked=explainer.fitted_.set_aside is not None)


def arrow_schema(explainer: SufficientExplainer) -> Any:
    """Return the schema of the record batches that `BatchRequest.explain` yields."""
    import pyarrow as pa

    types = arrow_types()
    return pa.schema([(name, types[value_type]) for name, value_type in batch_types(explainer).items()])


def explain_batch(
    explainer: SufficientExplainer, frame: Any, request: BatchRequest, where: str = "the table", first: int = 0
) -> Any:
    """Explain the rows of a pandas frame."""
    import pyarrow as pa

    table = pa.Table.from_batches(request.explain(explainer, frame, where, first), schema=arrow_schema(explainer))
    dtypes = pandas_arrow_types()
    extension_types = {arrow_type: dtypes[name] for name, arrow_type in arrow_types().items() if name != "float"}
    lines = table.to_pandas(types_mapper=extension_types.get)
    return frame[list(request.keep)].assign(**{name: lines[name].array for name in lines})


def read_options(options: Mapping[str, Any]) -> ExplainOptions:
    """Read the options of `SufficientExplainer.explain` that an engine passes on."""
    for name in options:
        if name not in _OPTIONS:
            raise TypeError(
                f"`explain` has no option {name!r}: use {', '.join(_OPTIONS)}.{did_you_mean(name, _OPTIONS)}"
            )
    return ExplainOptions(**{"sets": "minimal", **options})


# --- the explainer --------------------------------------------------------------------------------------------------


def read_explainer(explainer: SufficientExplainer | str | os.PathLike[str]) -> tuple[SufficientExplainer, bytes]:
    """Return an explainer, and the bytes that its workers get."""
    if isinstance(explainer, str | os.PathLike):
        content = Path(explainer).read_bytes()
        return from_bytes(content, os.fspath(explainer)), content
    if not isinstance(explainer, SufficientExplainer):
        raise TypeError(
            f"`explainer` must be a SufficientExplainer or the path of a saved one, got {type(explainer).__name__}."
        )
    check_is_fitted(explainer)
    return explainer, to_bytes(explainer)


_loaded = LastUsed(N_LOADED)
_loading = threading.Lock()


def load_in_worker(digest: bytes, read: Callable[[], bytes], n_threads: int) -> SufficientExplainer:
    """Load an explainer once in a process."""
    with _loading:  # so that two threads do not load the same file
        explainer: SufficientExplainer = _loaded.get(digest, lambda: from_bytes(read()))
    return explainer.with_settings(n_jobs=n_threads)


BATCH_TYPES: dict[str, ValueType] = {
    "outcome": "str",
    "target": "str",
    "is_reached": "bool",
    "n_changes": "int",
    "variables": "str",
    "size": "int",
    "what_changes": "str",
    "box": "str",
    "probability": "float",
    "mean": "float",
    "plausibility": "float",
    "optimal": "bool",
    "cdp": "float",
    "support": "int",
    "n_wanted": "int",
    "cost": "float",
    "nearest": "str",
    "nearest_probability": "float",
    "nearest_plausibility": "float",
    "is_complete": "bool",
}
"""The columns of the result and their types. Outcomes are text: labels and numbers share one column."""
_PANDAS: dict[ValueType, str] = {"str": "object", "bool": "boolean", "int": "Int64", "float": "float64"}


@dataclass(frozen=True)
class ChangeRequest:
    """What is asked of every batch of a table."""

    target: Any
    keep: tuple[str, ...]
    options: Mapping[str, Any]

    @classmethod
    def of(cls, target: Any, keep: str | Sequence[str], options: Mapping[str, Any]) -> ChangeRequest:
        """Read what a user asks for."""
        return cls(target, (keep,) if isinstance(keep, str) else tuple(keep), options)


def change_batch(explainer: SufficientExplainer, frame: Any, request: ChangeRequest, where: str = "the table") -> Any:
    """Answer what would change the outcomes of the rows of a pandas frame."""
    import pandas as pd

    rows = frame[[name for name in frame.columns if name in explainer.fitted_.encoding.names]]
    columns: dict[str, list[Any]] = {}
    if len(rows):
        try:
            changes = explainer.what_if(rows, request.target, confirm=False, progress=False, **request.options)
        except InputError as error:
            if error.row is None:
                raise
            raise error.moved(error.row, f"Row {error.row} of {where}") from error
        columns = row_columns(changes)
    lines: dict[str, Any] = {name: frame[name] for name in request.keep}
    for name, kind in BATCH_TYPES.items():
        values = columns.get(name, [])
        if kind == "str":
            values = [None if value is None else str(value) for value in values]
        lines[name] = pd.Series(values, index=frame.index, dtype=_PANDAS[kind])
    return pd.DataFrame(lines, index=frame.index)
