"""What Spark and Dask cost: ``python -m benchmarks.engines [--rows 100000] [--no-rules]``.

The same table of lines three ways: directly, ``explain_batch`` over the whole table with two threads; and through each
engine with two workers of one thread. Sessions, the sending of the explainer and one run to warm up do not count. The
three take turns, and the best of three rounds counts. The answers are compared before the times are.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
import warnings

import pandas as pd
from experiments.data.synthetic import make_switch

from benchmarks.run import head
from benchmarks.switch import switch_forest
from suffice import SufficientExplainer
from suffice import dask as suffice_dask
from suffice import spark as suffice_spark
from suffice._io.batches import N_ROWS, BatchRequest, explain_batch
from suffice._io.result_table import result_columns
from suffice.explaining.search import ExplainOptions

N_ROUNDS = 3
N_PARTS = 8
GOAL = 1.3


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


def time_lines(explainer, rows, rules):
    """Seconds of explaining, of making the columns of the result, and of making explanations one by one."""
    times = [0.0, 0.0, 0.0]
    for begin in range(0, len(rows), N_ROWS):
        clock = [time.perf_counter()]
        explanations = explainer.explain(rows[begin : begin + N_ROWS], sets="minimal", rules=rules)
        clock.append(time.perf_counter())
        result_columns(explanations)
        clock.append(time.perf_counter())
        for _ in explanations:
            pass
        clock.append(time.perf_counter())
        times = [total + end - start for total, start, end in zip(times, clock[:-1], clock[1:], strict=True)]
    return times


def run(n_rows, rules):
    import dask.dataframe as dd
    import pyarrow as pa
    from distributed import Client, LocalCluster

    train, _, forest = switch_forest(10_000)
    explainer = SufficientExplainer.paper(forest, n_jobs=2).fit(train.X, train.y)
    X = make_switch(n_rows, random_state=1).X
    table = X.assign(id=range(n_rows))
    session = start_spark()
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None)
    client = Client(cluster)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # pyspark 4.3 on pandas 3
        rows = session.createDataFrame(pa.Table.from_pandas(table, preserve_index=False)).repartition(N_PARTS).cache()
        rows.count()
        in_dask = client.persist(dd.from_pandas(table, npartitions=N_PARTS))
        options = {"sets": "minimal", "rules": rules}
        by_spark = suffice_spark.explain(explainer, rows, keep="id", **options)
        by_dask = suffice_dask.explain(explainer, in_dask, keep="id", **options)
        held_types = [(name, "number") for name in table.columns]
        request = BatchRequest.of(explainer, held_types, None, "id", ExplainOptions(**options))
        jobs = {
            "directly, 2 threads": lambda: explain_batch(explainer.with_settings(n_jobs=2), table, request),
            "Spark, 2 executors": lambda: by_spark.toArrow().to_pandas(),
            "Dask, 2 processes": lambda: client.compute(by_dask).result(),
        }
        frames = {name: job().sort_values("id", ignore_index=True) for name, job in jobs.items()}  # and warm up
        expected = frames["directly, 2 threads"]
        for name, frame in frames.items():
            for column in ("id", "sdp", "rule", "support", "size", "outcome"):
                pd.testing.assert_series_equal(
                    frame[column].astype(expected[column].dtype),
                    expected[column],
                    check_exact=True,
                    obj=f"{name}: {column}",
                )
        best = dict.fromkeys(jobs, math.inf)
        for _ in range(N_ROUNDS):
            for name, job in jobs.items():
                start = time.perf_counter()
                job()
                best[name] = min(best[name], time.perf_counter() - start)
    client.close()
    cluster.close()
    session.stop()

    direct = best["directly, 2 threads"]
    print(f"Switch model, {n_rows} rows, {N_PARTS} partitions, rules={rules!r}: s (best of {N_ROUNDS})")
    for name, seconds in best.items():
        goal = "" if seconds == direct else f"   {seconds / direct:.2f} of the direct call's (goal at most {GOAL})"
        print(f"  {name:20s} {seconds:8.2f}{goal}")
    explaining, columns, lines = time_lines(explainer.with_settings(n_jobs=2), X[:5000], rules)
    print(f"  of the direct call, making lines takes {columns / (explaining + columns):.1%}", end="")
    print(f"; one by one it would take {lines / (explaining + lines):.1%}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--no-rules", action="store_true", help="sets only")
    arguments = parser.parse_args()
    print(head())
    run(arguments.rows, None if arguments.no_rules else "minimal")
