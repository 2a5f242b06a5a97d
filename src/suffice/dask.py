"""Explanations of the rows of a Dask table, found where the rows are.

The explainer is a value of the graph, as ``persistence`` saves it; what is asked of a batch is left to ``batches``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from suffice._io.batches import Kind, Plan, digest_of, explain_batch, load_in_worker, read_explainer
from suffice.explainer import SufficientExplainer
from suffice.explanation import SetsKind


def explain(
    explainer: SufficientExplainer | str | os.PathLike[str],
    frame: Any,
    *,
    target: str | None = None,
    keep: str | Sequence[str] = (),
    sets: SetsKind = "minimal",
    rules: SetsKind | None = "minimal",
    check: Literal["rows", "everywhere"] = "rows",
    volume: Literal["rows", "lebesgue"] = "rows",
    n_jobs: int = 1,
) -> Any:
    """Explain each row of a Dask table.

    Nothing runs before the result is asked for; then the scheduler of the moment runs it: that of the current
    ``Client``, or threads. The answers are those of `SufficientExplainer.explain` for the whole table at once, however
    it is partitioned. Of an explainer of more than 10 MiB Dask warns as of a "large graph": it is sent once.

    Parameters
    ----------
    explainer : SufficientExplainer or path
        A fitted explainer, or the file of a saved one. The workers need ``suffice[dask]``.
    frame : dask.dataframe.DataFrame
        The rows. Columns of `keep` and `target` that the explainer does not know are no extra columns.
    target : str, default=None
        The column with the outcomes; None explains the predictions of the forest.
    keep : str or sequence of str, default=()
        The columns that go into the result. An error in a row names them, too.
    sets : {"all", "minimal"}, default="minimal"
        Which sets are searched.
    rules : {"minimal", "all", None}, default="minimal"
        Which sets get a rule; the result has that of the first.
    check, volume : str
        What a rule must fulfil and what it maximises.
    n_jobs : int, default=1
        The number of threads of each task: Dask runs one task for each of its threads.

    Returns
    -------
    dask.dataframe.DataFrame
        For each row its index, the columns kept, its outcome, its best set and its rule.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> from sklearn.datasets import load_breast_cancer
    >>> from suffice import SufficientExplainer, dask
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> explainer = SufficientExplainer(random_state=0).fit(X, y)
    >>> lines = dask.explain(explainer, dd.from_pandas(X[:100], npartitions=4))
    >>> len(lines), lines.columns[0]
    (100, 'outcome')
    """
    from dask import delayed

    known, content = read_explainer(explainer)
    meta = frame._meta
    plan = Plan.of(known, _kinds(meta), target, keep, sets=sets, rules=rules, check=check, volume=volume)
    needed = frame[list(plan.needed)]
    # A value of the graph, and not scattered: it outlives the workers that hold it.
    return needed.map_partitions(
        _explain_partition,
        delayed(content, name=f"suffice-explainer-{digest_of(content).hex()}", traverse=False),
        plan,
        n_jobs,
        meta=explain_batch(known, meta[list(plan.needed)], plan),
    )


def _explain_partition(
    frame: Any, content: bytes, plan: Plan, n_jobs: int, partition_info: Mapping[str, Any] | None = None
) -> Any:
    where = "its partition" if partition_info is None else f"partition {partition_info['number']}"
    explainer = load_in_worker(digest_of(content), lambda: content, n_jobs)
    return explain_batch(explainer, frame, plan, where)


def _kinds(frame: Any) -> list[tuple[str, Kind]]:
    import narwhals.stable.v2 as nw

    kinds: list[tuple[str, Kind]] = []
    for name, dtype in nw.from_native(frame).schema.items():
        kind: Kind = "other"
        if dtype.is_numeric():
            kind = "number"
        elif dtype in (nw.Object, nw.Unknown, nw.Categorical, nw.Enum):
            kind = None
        elif dtype in (nw.Date, nw.Datetime):
            kind = "date"
        elif dtype in (nw.Boolean, nw.String):
            kind = "boolean" if dtype == nw.Boolean else "text"
        kinds.append((name, kind))
    return kinds
