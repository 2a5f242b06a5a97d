"""A Dask table against one machine: threads, and a cluster of processes of which two are killed."""

from __future__ import annotations

import os
import pickle
import re
import signal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from mixed_table import COLUMNS, sorted_lines

from suffice import dask as suffice_dask
from suffice._io import batches

dask = pytest.importorskip("dask", reason="There is no Dask: pip install 'suffice[dask]'.")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client():
    # Any free port for the dashboard: the default one is taken if another process of the tests has a cluster.
    with (
        dask.config.set({"distributed.worker.daemon": True}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


def rows_of(table, case, n_parts=5):
    """The columns that the explainer knows, the identifier and the target, with an empty partition among others."""
    frame = dd.from_pandas(table[["id", *COLUMNS, *([case.target] if case.target else [])]], npartitions=n_parts)
    return dd.concat([frame.partitions[:2], frame.partitions[2:3].loc[frame.divisions[-1] :], frame.partitions[2:]])


def as_lines(frame):
    return sorted_lines(pa.Table.from_pandas(frame, preserve_index=False).to_pylist())


def test_threads_give_the_answers_of_one_machine(table, case):
    frame = dd.from_pandas(table[["id", *COLUMNS, *([case.target] if case.target else [])]], npartitions=7)
    lines = suffice_dask.explain(case.explainer, frame, target=case.target, keep="id")
    result = lines.compute(scheduler="threads")
    assert as_lines(result) == case.lines
    assert result.index.tolist() == table.index.tolist()


@pytest.mark.slow
def test_processes_give_the_answers_of_one_machine_in_types_known_before(table, case, client):
    lines = suffice_dask.explain(case.explainer, rows_of(table, case), target=case.target, keep=["id", "grade", "when"])
    parts = client.gather(client.compute(lines.to_delayed()))
    assert len(parts) == 6
    assert 0 in [len(part) for part in parts]
    for part in parts:
        pd.testing.assert_series_equal(part.dtypes, lines.dtypes)
    result = pd.concat(parts).sort_index()
    assert as_lines(result.drop(columns=["grade", "when"])) == case.lines
    pd.testing.assert_frame_equal(result[["id", "grade", "when"]], table[["id", "grade", "when"]])


def test_a_saved_explainer_may_be_given_by_its_path(table, labels, tmp_path):
    labels.explainer.save(tmp_path / "explainer.suffice")
    lines = suffice_dask.explain(tmp_path / "explainer.suffice", rows_of(table, labels), target="label", keep="id")
    assert as_lines(lines.compute(scheduler="threads")) == labels.lines


def test_the_explainer_travels_once(table, labels):
    lines = suffice_dask.explain(labels.explainer, rows_of(table, labels, 20), target="label", keep="id")
    graph = dict(lines.optimize().__dask_graph__())
    sizes = sorted(len(pickle.dumps(task)) for task in graph.values())
    assert len(graph) > 20
    assert sizes[-1] > 10 * sizes[-2]


@pytest.mark.slow
def test_a_worker_loads_the_explainer_once_and_uses_one_thread(table, labels, client):
    digest = batches.read_explainer(labels.explainer)[1][-32:]

    def record():
        """Let the worker note what it loads, and with how many threads it works."""
        from suffice._io import batches

        batches.loads, batches.threads = [], []
        batches._loaded = type(batches._loaded)(batches.N_LOADED)
        batches.plain_from_bytes, batches.plain_load = batches.from_bytes, batches.load_in_worker

        def load(content):
            batches.loads.append(content[-32:])
            return batches.plain_from_bytes(content)

        def load_in_worker(*args):
            explainer = batches.plain_load(*args)
            batches.threads.append((explainer.n_jobs, explainer.fitted_.settings.n_threads))
            return explainer

        batches.from_bytes, batches.load_in_worker = load, load_in_worker

    def recorded():
        from suffice._io import batches

        batches.from_bytes, batches.load_in_worker = batches.plain_from_bytes, batches.plain_load
        return batches.loads, batches.threads

    client.run(record)
    lines = suffice_dask.explain(labels.explainer, rows_of(table, labels, 10), target="label", keep="id")
    client.compute(lines).result()
    notes = client.run(recorded)
    assert [loads for loads, _ in notes.values()] == [[digest]] * 2
    threads = [used for _, used_by_worker in notes.values() for used in used_by_worker]
    assert threads == [(1, 1)] * len(threads)
    assert len(threads) == 11  # one of the partitions is empty


@pytest.fixture
def faulty(table, labels):
    """Lines of a table with a fault, and how the error begins."""
    rows = table.copy()
    rows.loc[77, "amount"] = np.inf
    lines = suffice_dask.explain(labels.explainer, rows_of(rows, labels), target="label", keep="id")
    part = int(np.searchsorted([0, 24, 48, 48, 72, 96], 77, side="right")) - 1
    message = f"Row 5 of partition {part} (index=77, id={2**60 + 77}): Column 'amount' of `X` holds infinity"
    return lines, re.escape(message)


def test_an_error_names_the_row(faulty):
    lines, message = faulty
    with pytest.raises(ValueError, match=message):
        lines.compute(scheduler="threads")


@pytest.mark.slow
def test_an_error_of_a_worker_names_the_row(faulty, client):
    lines, message = faulty
    with pytest.raises(ValueError, match=message):
        client.compute(lines).result()


def test_wrong_columns_are_refused_before_anything_runs(table, labels):
    def unread(part):
        raise AssertionError("read")

    frame = dd.from_pandas(table, npartitions=2)
    frame = frame.map_partitions(unread, meta=frame._meta)
    with pytest.raises(ValueError, match=r"unexpected \['number'\]"):
        suffice_dask.explain(labels.explainer, frame, target="label", keep="id")
    with pytest.raises(ValueError, match=r"`keep`: the table has no column 'idd'\. Did you mean 'id'"):
        suffice_dask.explain(labels.explainer, frame, keep="idd")


def test_options_reach_the_explainer(table, labels):
    frame = dd.from_pandas(table[:20][["id", *COLUMNS, "label"]], npartitions=2)
    expected = labels.explainer.explain(table[:20][COLUMNS], table["label"][:20], sets="all", rules=None)
    lines = suffice_dask.explain(labels.explainer, frame, target="label", keep="id", sets="all", rules=None)
    result = lines.compute(scheduler="threads")
    assert result["n_sufficient_sets"].tolist() == [len(explanation.sufficient_sets) for explanation in expected]
    assert result["rule"].isna().all()


@pytest.mark.slow
def test_two_killed_workers_lose_nothing_and_double_nothing(table, labels, client, tmp_path):
    before = set(client.run(os.getpid).values())
    started = str(os.getpid())

    def kill_twice(part, partition_info=None):
        number = None if partition_info is None else partition_info["number"]
        marker = tmp_path / f"killed {number}"
        if number in (1, 3) and not marker.exists():
            assert str(os.getpid()) != started
            marker.write_text(str(os.getpid()))
            os.kill(os.getpid(), signal.SIGKILL)
        return part

    frame = rows_of(table, labels, 6)
    lines = suffice_dask.explain(
        labels.explainer, frame.map_partitions(kill_twice, meta=frame._meta), target="label", keep="id"
    )
    assert as_lines(client.compute(lines).result()) == labels.lines
    client.wait_for_workers(2)
    killed = {int(marker.read_text()) for marker in tmp_path.iterdir()}
    assert len(killed) == 2
    assert killed & before
    assert not killed & set(client.run(os.getpid).values())
