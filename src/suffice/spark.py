"""Explanations of the rows of a Spark table, computed where the rows are.

The explainer is broadcast in the form in which it is saved; what is done with a batch is left to ``_io.batches``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from suffice._io import batches
from suffice._io.batches import load_in_worker
from suffice._io.result_table import types_in
from suffice._io.saved import digest_of
from suffice.explainer import SufficientExplainer

__all__ = ["explain"]


def explain(
    explainer: SufficientExplainer | str | os.PathLike[str],
    frame: Any,
    *,
    target: str | None = None,
    keep: str | Sequence[str] = (),
    n_jobs: int = 1,
    **options: Any,
) -> Any:
    """Explain each row of a Spark table.

    Nothing runs before the result is used. The answers are those of `SufficientExplainer.explain` for the whole table
    at once, however it is partitioned. Their order may differ, so name in `keep` the columns that identify the rows.

    Parameters
    ----------
    explainer : SufficientExplainer or path
        A fitted explainer, or the file of a saved one. The workers need ``suffice[spark]``.
    frame : pyspark.sql.DataFrame
        The rows. The columns of `keep` and `target` do not count as extra columns.
    target : str, default=None
        The column with the outcomes; None explains the predictions of the forest.
    keep : str or sequence of str, default=()
        The columns that go into the result. An error in a row names them, too.
    n_jobs : int, default=1
        The number of threads of each task: Spark runs one task for each of its cores.
    **options : dict
        `sets` ("minimal" by default), `rules`, `check` and `volume`, as for `SufficientExplainer.explain`. If `rules`
        is "all", the result has the rule of the first set.

    Returns
    -------
    pyspark.sql.DataFrame
        For each row the columns kept, its outcome, its best set and its rule.

    Examples
    --------
    >>> from suffice import spark
    >>> lines = spark.explain("explainer.suffice", rows, keep="id")  # doctest: +SKIP
    >>> lines.where("not is_sufficient").count()  # doctest: +SKIP
    """
    from pyspark.sql import functions, types

    known, load = _broadcast(frame, explainer, n_jobs)
    request = batches.BatchRequest.of(known, frame.columns, target, keep, batches.read_options(options))

    def explain_partition(record_batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa
        from pyspark import TaskContext

        task = TaskContext.get()
        where = "its partition" if task is None else f"partition {task.partitionId()}"
        own = load()
        first = 0
        for batch in record_batches:
            rows = pa.Table.from_batches([batch]).rename_columns(list(request.needed))
            begin = 0
            for lines in request.explain(own, rows, where, first):
                kept = batch.slice(begin, lines.num_rows).columns[: len(request.keep)]
                yield pa.RecordBatch.from_arrays([*kept, *lines.columns], [*request.keep, *lines.schema.names])
                begin += lines.num_rows
            first += batch.num_rows

    # `mapInArrow` asks for columns by their bare names, and would take "a.b" for a part of "a".
    needed = [functions.col(f"`{name.replace('`', '``')}`").alias(f"c{i}") for i, name in enumerate(request.needed)]
    type_of = types_in("spark")
    lines = [types.StructField(name, type_of[held]) for name, held in batches.batch_types(known).items()]
    schema = types.StructType([*(frame.schema[name] for name in request.keep), *lines])
    return frame.select(needed).mapInArrow(explain_partition, schema)


def _broadcast(frame: Any, explainer: Any, n_jobs: int) -> tuple[SufficientExplainer, Callable[[], Any]]:
    """Return the explainer, and a function by which the workers get it."""
    context = getattr(frame.sparkSession, "sparkContext", None)
    if context is None:
        raise TypeError(
            "`frame` is a table of Spark Connect, which cannot broadcast the explainer: use a classic session, "
            "SparkSession.builder.master(...)."
        )
    known, content = batches.read_explainer(explainer)
    digest, carried = digest_of(content), context.broadcast(content)
    return known, lambda: load_in_worker(digest, lambda: carried.value, n_jobs)
