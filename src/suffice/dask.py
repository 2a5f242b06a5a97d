"""Explanations of the rows of a Dask table, computed where the rows are.

The explainer is a value of the graph, in the form in which it is saved; what is done with a batch is left to
``_io.batches``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from suffice._io import batches
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
    """Explain each row of a Dask table.

    Nothing runs before the result is used; then the current scheduler runs it: that of the current ``Client``, or
    threads. The answers are those of `SufficientExplainer.explain` for the whole table at once, however it is
    partitioned. If the explainer is larger than 10 MiB, Dask warns about a "large graph"; it is sent only once.

    Parameters
    ----------
    explainer : SufficientExplainer or path
        A fitted explainer, or the file of a saved one. The workers need ``suffice[dask]``.
    frame : dask.dataframe.DataFrame
        The rows. The columns of `keep` and `target` do not count as extra columns.
    target : str, default=None
        The column with the outcomes; None explains the predictions of the forest.
    keep : str or sequence of str, default=()
        The columns that go into the result. An error in a row names them, too.
    n_jobs : int, default=1
        The number of threads of each task: Dask runs one task for each of its threads.
    **options : dict
        `sets` ("minimal" by default), `rules`, `check` and `volume`, as for `SufficientExplainer.explain`. If `rules`
        is "all", the result has the rule of the first set.

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
    from dask.dataframe.utils import make_meta

    known, content = batches.read_explainer(explainer)
    request = batches.BatchRequest.of(known, list(frame.columns), target, keep, batches.read_options(options))
    needed = frame[list(request.needed)]
    return needed.map_partitions(
        _explain_partition,
        # The explainer is a value of the graph and is not scattered, so that it outlives the workers that hold it.
        delayed(content, name=f"suffice-explainer-{digest_of(content).hex()}", traverse=False),
        request,
        n_jobs,
        meta=batches.explain_batch(known, make_meta(needed), request),
    )


def _explain_partition(
    frame: Any,
    content: bytes,
    request: batches.BatchRequest,
    n_jobs: int,
    partition_info: Mapping[str, Any] | None = None,
) -> Any:
    where = "its partition" if partition_info is None else f"partition {partition_info['number']}"
    explainer = batches.load_in_worker(digest_of(content), lambda: content, n_jobs)
    return batches.explain_batch(explainer, frame, request, where)
