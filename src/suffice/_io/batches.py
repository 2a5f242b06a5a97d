"""Rows that an engine hands out in batches: what is asked about them, their answers, and the explainer of a worker.

Which engine that is, and how the explainer gets to its workers, is left to ``spark`` and ``dask``. Nothing here depends
on how the rows are partitioned.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from suffice._forest.outcomes import rank_classes
from suffice._io.result_table import (
    ValueType,
    check_kept,
    result_columns,
    result_types,
    types_in,
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

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Rows explained at a time. Their explanations, some kB each, are dropped before the next rows are explained.
N_ROWS = 5000
# Explainers that a worker keeps: two that take turns are not loaded again and again.
N_LOADED = 2
_OPTIONS = ("sets", "rules", "check", "volume")


@dataclass(frozen=True)
class BatchRequest:
    """How the rows of every batch are to be explained."""

    columns: tuple[str, ...]
    target: str | None
    keep: tuple[str, ...]
    options: ExplainOptions

    @classmethod
    def of(
        cls,
        explainer: SufficientExplainer,
        names: Sequence[str],
        target: str | None,
        keep: str | Sequence[str],
        options: ExplainOptions,
    ) -> BatchRequest:
        """Check a request against the names of the columns of a table, without reading any row."""
        twice = first_repeated(names)
        if twice is not None:
            raise ValueError(f"The table has two columns named {twice!r}; rename one.")
        kept = tuple(dict.fromkeys([keep] if isinstance(keep, str) else keep))
        for option, name in [*(("keep", name) for name in kept), ("target", target)]:
            if name is not None and name not in names:
                raise ValueError(f"`{option}`: the table has no column {name!r}.{did_you_mean(name, names)}")
        check_kept(kept, "`keep`", with_row=False)
        if target is None and hasattr(explainer, "model_"):
            raise ValueError(
                "The workers do not have the model that is explained: put its outputs for the rows into a column, and "
                "name that column as `target`."
            )
        columns = _columns_of_explainer(explainer, names, {*kept, target})
        return cls(columns, target, kept, options)

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns of the table that are read."""
        return tuple(name for name in dict.fromkeys((*self.keep, self.target, *self.columns)) if name is not None)

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
                options: dict[str, Any] = {name: getattr(self.options, name) for name in _OPTIONS}
                explanations = explainer.explain(table, outcomes, progress=False, **options)
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


def _columns_of_explainer(
    explainer: SufficientExplainer, names: Sequence[str], spare: set[str | None]
) -> tuple[str, ...]:
    encoding = explainer.fitted_.encoding
    if encoding.has_names:
        others = [name for name in names if name in encoding.names or name not in spare]
        return tuple(others[i] for i in match_columns(others, encoding.names, explainer.extra_columns))
    others = [name for name in names if name not in spare]  # columns by their order
    if len(others) != len(encoding.names):
        raise ValueError(
            f"The table has the columns {others} besides those of `keep` and `target`; the explainer was fitted on "
            f"{len(encoding.names)} columns without names."
        )
    return tuple(others)


# --- the result -----------------------------------------------------------------------------------------------------


def batch_types(explainer: SufficientExplainer) -> dict[str, ValueType]:
    """Return the types of the columns of the result, which are the same for every batch."""
    prediction: ValueType = "float" if explainer.task_ == "regression" else value_type_of(explainer.classes_)
    return result_types(prediction, is_checked=explainer.fitted_.set_aside is not None)


def arrow_schema(explainer: SufficientExplainer) -> Any:
    """Return the schema of the record batches that `BatchRequest.explain` yields."""
    import pyarrow as pa

    types = types_in("pyarrow")
    return pa.schema([(name, types[value_type]) for name, value_type in batch_types(explainer).items()])


def explain_batch(
    explainer: SufficientExplainer, frame: Any, request: BatchRequest, where: str = "the table", first: int = 0
) -> Any:
    """Explain the rows of a pandas frame."""
    import pyarrow as pa

    table = pa.Table.from_batches(request.explain(explainer, frame, where, first), schema=arrow_schema(explainer))
    dtypes = types_in("pandas with pyarrow")
    extension_types = {type_: dtypes[name] for name, type_ in types_in("pyarrow").items() if name != "float"}
    lines = table.to_pandas(types_mapper=extension_types.get)
    return frame[list(request.keep)].assign(**{name: lines[name].array for name in lines})


def read_options(options: Mapping[str, Any]) -> ExplainOptions:
    """Read the options of `SufficientExplainer.explain` that an engine passes on."""
    for name in options.keys() - set(_OPTIONS):
        raise TypeError(f"`explain` has no option {name!r}: use {', '.join(_OPTIONS)}.{did_you_mean(name, _OPTIONS)}")
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
