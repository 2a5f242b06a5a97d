"""What Spark and Dask cost: ``python -m benchmarks.engines [--rows 2000] [--training-rows 1000000]``.

The default explainer of late flights, drawn again with noise, explains other flights three ways: directly,
``explain_batch`` over the whole table with two threads; and through each engine with two workers of one thread.
Sessions, the sending of the explainer and one run to warm up do not count. The answers are compared before the times
are. The flights need the folder of data files in SUFFICE_DATA.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import resource
import sys
import time
import warnings
from pathlib import Path

import pandas as pd

from benchmarks.run import head, status
from benchmarks.scale import flights_table
from suffice import SufficientExplainer
from suffice import dask as suffice_dask
from suffice import spark as suffice_spark
from suffice._io.batches import BatchRequest, explain_batch
from suffice._io.saved import to_bytes
from suffice.explaining.search import ExplainOptions

N_PARTS = 8


def start_spark():
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.ui.showConsoleProgress", "false")
    # An executor that holds fewer rows than the other must not wait 3 s before it helps.
    session = builder.config("spark.locality.wait", "0").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def peak_of_process():
    """The peak memory of the process that runs this, in bytes."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def peak_of_spark_workers():
    """The peak memory of the Python processes of Spark, which wait for more work after a job."""
    peaks = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if b"pyspark.daemon" in (process / "cmdline").read_bytes():
                peaks.append(status("VmHWM", process.name))
    return max(peaks)


def ways_to_explain(explainer, table, session, client):
    """The table, explained directly and through each engine: functions without arguments."""
    import dask.dataframe as dd
    import pyarrow as pa

    in_spark = session.createDataFrame(pa.Table.from_pandas(table, preserve_index=False)).repartition(N_PARTS).cache()
    in_spark.count()
    in_dask = client.persist(dd.from_pandas(table, npartitions=N_PARTS))
    by_spark = suffice_spark.explain(explainer, in_spark, keep="id")
    by_dask = suffice_dask.explain(explainer, in_dask, keep="id")
    request = BatchRequest.of(explainer, suffice_dask._held_types(table), None, "id", ExplainOptions())
    return {
        "directly, 2 threads": lambda: explain_batch(explainer.with_settings(n_jobs=2), table, request),
        "Spark, 2 executors": lambda: by_spark.toArrow().to_pandas(),
        "Dask, 2 processes": lambda: client.compute(by_dask).result(),
    }


def run(n_rows, n_train):
    from distributed import Client, LocalCluster

    X, y, rows, _ = flights_table(n_train)
    explainer = SufficientExplainer(random_state=0, unseen="missing").fit(X, y)
    del X, y
    rows = rows.assign(id=range(len(rows)))
    session = start_spark()
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None)
    client = Client(cluster)
    for job in ways_to_explain(explainer, rows[-4 * N_PARTS :], session, client).values():
        job()  # loads the explainer in each worker
    frames, taken = {}, {}
    for name, job in ways_to_explain(explainer, rows[:n_rows], session, client).items():
        start = time.perf_counter()
        frames[name] = job().sort_values("id", ignore_index=True)
        taken[name] = time.perf_counter() - start
    compare(frames)
    peaks = {"Spark": peak_of_spark_workers(), "Dask": max(client.run(peak_of_process).values())}
    client.close()
    cluster.close()
    session.stop()

    direct = taken["directly, 2 threads"]
    print(f"Late flights, {n_train} training rows, {n_rows} rows with rules, {N_PARTS} partitions")
    for name, seconds in taken.items():
        print(f"  {name:20s} {seconds:7.1f} s, {n_rows / seconds / 2:.1f} rows a second and core", end="")
        print(f", {seconds / direct:.2f} of the direct call's time")
    print(f"  sent once: {len(to_bytes(explainer)) / 1e6:.0f} MB; peak memory of a worker", end="")
    print(" and".join(f" {peak / 2**30:.2f} GiB ({name})" for name, peak in peaks.items()))


def compare(frames):
    """Check that all ways give the same lines."""
    expected, *others = frames.values()
    for frame in others:
        for column in ("id", "sdp", "rule", "support", "size", "outcome"):
            same_type = frame[column].astype(expected[column].dtype)
            pd.testing.assert_series_equal(same_type, expected[column], check_exact=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2_000)
    parser.add_argument("--training-rows", type=int, default=1_000_000)
    arguments = parser.parse_args()
    print(head(), flush=True)
    warnings.simplefilter("ignore")  # of the forest, of a large graph, and of pyspark 4.3 on pandas 3
    run(arguments.rows, arguments.training_rows)
