"""Rows that an engine hands out in batches: what is asked of them, the types of the answers, the explainer of a worker.

Which engine that is, and how the explainer gets to its workers, is left to ``spark`` and ``dask``. Nothing here depends
on how the rows were shared out.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from suffice._engine.rule_search import RuleFinder, RuleOptions
from suffice._io.result_table import LINE_COLUMNS, columns_of
from suffice._io.saved import from_bytes, to_bytes
from suffice._table.checks import as_finite, check_target, check_word
from suffice._table.encoding import Column
from suffice._table.table import Table, match_columns
from suffice.errors import did_you_mean
from suffice.explainer import SufficientExplainer
from suffice.explanation import SetsKind, check_sets_kind

# Rows explained at a time: what is known of them besides their lines, some kB each, is let go before the next.
N_ROWS = 5000
# Explainers that a worker keeps: two that take turns are not loaded again and again.
N_LOADED = 2
_N_DIGEST = 32

Kind: TypeAlias = Literal["number", "boolean", "text", "date", "other"] | None
"""What the type of a column says that it holds; None if it does not say."""
_TOLD: dict[Kind, str] = {
    "number": "numbers",
    "boolean": "booleans",
    "text": "text",
    "date": "dates",
    "other": "something else",
}


@dataclass(frozen=True)
class Plan:
    """What is asked of every batch of a table.

    Parameters
    ----------
    columns : tuple of str
        The columns that the explainer gets, in the order of its training table.
    target : str or None
        The column with the outcomes; None explains predictions.
    keep : tuple of str
        The columns that go into the result.
    options : mapping of str to object
        Passed to `SufficientExplainer.explain`.
    """

    columns: tuple[str, ...]
    target: str | None
    keep: tuple[str, ...]
    options: Mapping[str, Any]

    @classmethod
    def of(
        cls,
        explainer: SufficientExplainer,
        kinds: Sequence[tuple[str, Kind]],
        target: str | None,
        keep: str | Sequence[str],
        *,
        sets: SetsKind,
        rules: SetsKind | None,
        check: Literal["rows", "everywhere"],
        volume: Literal["rows", "lebesgue"],
    ) -> Plan:
        """Check what is asked against the columns of a table, of which nothing is read.

        Parameters
        ----------
        explainer : SufficientExplainer
            The explainer.
        kinds : sequence of (str, kind)
            The columns of the table, and what they hold.
        target : str or None
            The column with the outcomes.
        keep : str or sequence of str
            The columns that go into the result.
        sets, rules, check, volume : str
            As for `SufficientExplainer.explain`.

        Returns
        -------
        Plan
            The plan.
        """
        check_sets_kind(sets)
        check_word("rules", rules, ("minimal", "all", None))
        RuleOptions(check, volume)
        names = [name for name, _ in kinds]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"The table has two columns named {twice!r}; rename one.")
        kept = tuple(dict.fromkeys([keep] if isinstance(keep, str) else keep))
        for option, asked in (("keep", kept), ("target", () if target is None else (target,))):
            for name in asked:
                if name not in names:
                    raise ValueError(f"`{option}`: the table has no column {name!r}.{did_you_mean(name, names)}")
        taken = [name for name in kept if name in LINE_COLUMNS]
        if taken:
            raise ValueError(f"`keep`: {taken[0]!r} is also the name of a column of the result, so rename it.")
        if target is None and hasattr(explainer, "model_"):
            raise ValueError(
                "The workers do not have the model that this explainer is of: put what it says of the rows into a "
                "column, and name that as `target`."
            )
        columns = _columns_of_model(explainer, names, {*kept, target})
        _check_kinds(explainer, columns, dict(kinds))
        return cls(columns, target, kept, {"sets": sets, "rules": rules, "check": check, "volume": volume})

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns of the table that are read."""
        target = () if self.target is None else (self.target,)
        return tuple(dict.fromkeys((*self.keep, *target, *self.columns)))

    def explain(self, explainer: SufficientExplainer, frame: Any, where: str, first: int = 0) -> Iterator[Any]:
        """Explain the rows of a batch, some thousand at a time.

        Parameters
        ----------
        explainer : SufficientExplainer
            The explainer, of this thread alone.
        frame : pandas.DataFrame or pyarrow.Table
            The rows, with the columns needed.
        where : str
            What an error calls the part of the table that the batch is of.
        first : int, default=0
            Where in that part the batch begins.

        Yields
        ------
        pyarrow.RecordBatch
            The columns `LINE_COLUMNS` of the next rows.
        """
        import narwhals.stable.v2 as nw
        import pyarrow as pa

        types = arrow_types()
        schema = pa.schema([(name, types[kind]) for name, kind in line_kinds(explainer).items()])
        given = nw.from_native(frame, eager_only=True)
        for begin in range(0, len(given), N_ROWS):
            rows = given[begin : begin + N_ROWS]
            try:
                table, outcomes = self._read(explainer, rows)
                explanations = explainer.explain(table, outcomes, progress=False, **self.options)
            except (TypeError, ValueError) as error:
                raise self._locate(error, explainer, rows, where, first + begin) from error
            yield pa.RecordBatch.from_pydict(columns_of(explanations), schema=schema)

    def _read(self, explainer: SufficientExplainer, rows: Any) -> tuple[Table, NDArray[Any] | None]:
        """Give the explainer's columns of some rows, and their outcomes in its own type."""
        encoding = explainer._encoding
        series = [rows[:, rows.columns.index(name)] for name in self.columns]
        read: dict[tuple[int, str], Any] = {}
        for column in encoding.columns:
            read.update(_read_ahead(column, series[column.source]))
        table = Table(encoding.names, series, len(rows), encoding.has_names, read=read)
        if self.target is None:
            return table, None
        labels = rows[:, rows.columns.index(self.target)].to_list()
        outcomes = check_target([float(y) if isinstance(y, Decimal) else y for y in labels], len(rows))
        if explainer.task_ == "regression":
            return table, as_finite(outcomes)
        return table, explainer.classes_[explainer._class_ranks(outcomes)]

    def _locate(
        self, error: Exception, explainer: SufficientExplainer, rows: Any, where: str, first: int
    ) -> TypeError | ValueError:
        """Find the first row that is at fault, and tell which it is."""
        kind = TypeError if isinstance(error, TypeError) else ValueError
        if self._fault(explainer, rows) is None:  # it is not the rows
            return kind(f"{where[:1].upper()}{where[1:]}, rows {first} to {first + len(rows) - 1}: {error}")
        sound, faulty = 0, len(rows)  # so many rows are without fault, and so many are not
        while faulty - sound > 1:
            middle = (sound + faulty) // 2
            if self._fault(explainer, rows[sound:middle]) is None:
                sound = middle
            else:
                faulty = middle
        fault = self._fault(explainer, rows[sound:faulty]) or error
        # The row is told here, as the engine numbers it.
        what = str(fault).replace(" (row 0)", "", 1)
        kind = TypeError if isinstance(fault, TypeError) else ValueError
        return kind(f"Row {first + sound} of {where}{self._name(rows[sound:faulty])}: {what}")

    def _fault(self, explainer: SufficientExplainer, rows: Any) -> Exception | None:
        try:
            explainer._check_table(self._read(explainer, rows)[0])
        except (TypeError, ValueError) as error:
            return error
        return None

    def _name(self, row: Any) -> str:
        """Tell the columns kept of a row, and its place in the index of a pandas frame."""
        import narwhals.stable.v2 as nw

        index = nw.maybe_get_index(row)
        named = {} if index is None else {str(index.name or "index"): index[0]}
        named |= {name: row[:, row.columns.index(name)].to_list()[0] for name in self.keep}
        told = ", ".join(
            f"{name}={value.item() if isinstance(value, np.generic) else value!r}" for name, value in named.items()
        )
        return f" ({told})" if told else ""


def _columns_of_model(explainer: SufficientExplainer, names: list[str], spare: set[str | None]) -> tuple[str, ...]:
    encoding = explainer._encoding
    if not encoding.has_names:  # columns by their order
        given = [name for name in names if name not in spare]
        if len(given) != len(encoding.names):
            raise ValueError(
                f"The table has the columns {given} besides those of `keep` and `target`; the explainer was fitted on "
                f"{len(encoding.names)} columns without names."
            )
        return tuple(given)
    given = [name for name in names if name in encoding.names or name not in spare]
    return tuple(given[i] for i in match_columns(given, encoding.names, explainer.extra_columns))


def _check_kinds(explainer: SufficientExplainer, names: Sequence[str], kinds: Mapping[str, Kind]) -> None:
    """Refuse columns whose type shows that they hold something else than at fit."""
    for column in explainer._encoding.columns:
        name = names[column.source]
        kind = kinds[name]
        held: Kind = "number" if column.part is None else "date"
        allowed: set[Kind] = {None, "date"} if column.part is not None else {None, "number", "boolean"}
        if column.kind == "category" and column.part is None:
            labels = [label for labels in column.labels for label in labels]
            is_text = all(isinstance(label, str) for label in labels)
            held = "text" if is_text else "boolean" if isinstance(labels[0], bool) else "number"
            # Labels that were not there at fit are for `unseen` to judge, but not a whole column of another kind.
            allowed = {None, "text"} if is_text else {None, "number", "boolean"}
        if kind not in allowed:
            raise TypeError(f"Column {name!r} of the table holds {_TOLD[kind]}, at fit it held {_TOLD[held]}.")


def _read_ahead(column: Column, series: Any) -> dict[tuple[int, str], Any]:
    """Read what a table would stumble over: dates of which a batch has none, and whole numbers beyond 2**53."""
    import narwhals.stable.v2 as nw

    if column.part is not None and bool(series.is_null().all()):  # then its type may tell nothing
        return {(column.source, column.part): np.full(len(series), np.nan)}
    is_wide = series.dtype in (nw.Int64, nw.UInt64) and series.implementation.is_pyarrow()
    if is_wide and column.kind != "category":
        numbers = series.to_native().cast("float64", safe=False).to_numpy()
        return {(column.source, "numbers"): numbers}
    return {}


# --- the result -----------------------------------------------------------------------------------------------------


def line_kinds(explainer: SufficientExplainer) -> dict[str, str]:
    """Tell what the columns of the result hold.

    Parameters
    ----------
    explainer : SufficientExplainer
        The explainer.

    Returns
    -------
    dict of str to str
        For each of `LINE_COLUMNS` one of "bool", "int", "float", "str" and "list of str".
    """
    outcome = "float"
    if explainer.task_ == "classification":
        outcome = {"b": "bool", "i": "int", "u": "int", "f": "float", "U": "str"}[explainer.classes_.dtype.kind]
    return {name: outcome if kind == "outcome" else kind for name, kind in LINE_COLUMNS.items()}


def arrow_types() -> dict[str, Any]:
    """Give the types of Arrow for the kinds of columns.

    Returns
    -------
    dict of str to pyarrow.DataType
        The types.
    """
    import pyarrow as pa

    return {
        "bool": pa.bool_(),
        "int": pa.int64(),
        "float": pa.float64(),
        "str": pa.string(),
        "list of str": pa.list_(pa.string()),
    }


def explain_batch(
    explainer: SufficientExplainer, frame: Any, plan: Plan, where: str = "the table", first: int = 0
) -> Any:
    """Explain the rows of a pandas frame.

    Parameters
    ----------
    explainer : SufficientExplainer
        The explainer, of this thread alone.
    frame : pandas.DataFrame
        The rows, with the columns needed.
    plan : Plan
        What is asked.
    where : str, default="the table"
        What an error calls the frame.
    first : int, default=0
        Where in that the frame begins.

    Returns
    -------
    pandas.DataFrame
        The columns kept and `LINE_COLUMNS`, with the index of the frame. The types are the same for every frame:
        float64, and for the others types of their own for missing values.
    """
    import pandas as pd
    import pyarrow as pa

    types = arrow_types()
    schema = pa.schema([(name, types[kind]) for name, kind in line_kinds(explainer).items()])
    pandas_types = {
        types["bool"]: pd.BooleanDtype(),
        types["int"]: pd.Int64Dtype(),
        types["str"]: pd.StringDtype("pyarrow"),
        types["list of str"]: pd.ArrowDtype(types["list of str"]),
    }
    table = pa.Table.from_batches(plan.explain(explainer, frame, where, first), schema=schema)
    lines = table.to_pandas(types_mapper=pandas_types.get)
    return frame[list(plan.keep)].assign(**{name: lines[name].array for name in lines})


# --- the explainer --------------------------------------------------------------------------------------------------


def read_explainer(explainer: SufficientExplainer | str | os.PathLike[str]) -> tuple[SufficientExplainer, bytes]:
    """Give an explainer, and what its workers get of it.

    Parameters
    ----------
    explainer : SufficientExplainer or path
        A fitted explainer, or the file of a saved one.

    Returns
    -------
    explainer : SufficientExplainer
        The explainer.
    content : bytes
        The same, as it is saved.
    """
    if isinstance(explainer, str | os.PathLike):
        content = Path(explainer).read_bytes()
        return from_bytes(content, os.fspath(explainer)), content
    if not isinstance(explainer, SufficientExplainer):
        raise TypeError(
            f"`explainer` must be a SufficientExplainer or the path of a saved one, got {type(explainer).__name__}."
        )
    check_is_fitted(explainer)
    return explainer, to_bytes(explainer)


def digest_of(content: bytes) -> bytes:
    """Give what tells a saved explainer from any other.

    Parameters
    ----------
    content : bytes
        The content of its file.

    Returns
    -------
    bytes
        Its checksum.
    """
    return content[-_N_DIGEST:]


_loaded: OrderedDict[bytes, SufficientExplainer] = OrderedDict()
_loading = threading.Lock()
_of_thread = threading.local()


def load_in_worker(digest: bytes, read: Callable[[], bytes], n_threads: int) -> SufficientExplainer:
    """Load an explainer, once in a process.

    Parameters
    ----------
    digest : bytes
        What tells it from any other.
    read : callable
        Gives what was saved; called only if the process does not have the explainer yet.
    n_threads : int
        How many threads work on a call.

    Returns
    -------
    SufficientExplainer
        The explainer, for the use of the calling thread alone.
    """
    if getattr(_of_thread, "key", None) != (digest, n_threads):
        with _loading:
            if digest not in _loaded:
                _loaded[digest] = from_bytes(read())
                while len(_loaded) > N_LOADED:
                    _loaded.popitem(last=False)
            _loaded.move_to_end(digest)
            _of_thread.explainer = with_threads(_loaded[digest], n_threads)
            _of_thread.key = (digest, n_threads)
    found: SufficientExplainer = _of_thread.explainer
    return found


def with_threads(explainer: SufficientExplainer, n_threads: int) -> SufficientExplainer:
    """Give an explainer that works with another number of threads, and may work beside the given one.

    Parameters
    ----------
    explainer : SufficientExplainer
        A fitted explainer. It is left as it is.
    n_threads : int
        How many threads work on a call.

    Returns
    -------
    SufficientExplainer
        The same explainer, with the same forest in memory, but a cache of its own.
    """
    own = object.__new__(type(explainer))
    own.__dict__.update(vars(explainer))  # a copy by the copy module would build the core again
    own.n_jobs = n_threads
    own._projected = copy(explainer._projected)
    own._projected.forest = replace(explainer._projected.forest, n_threads=n_threads)
    own._projected.n_threads = n_threads
    own._rule_finder = RuleFinder(own._projected, own._encoding, own.target_name_)
    return own
