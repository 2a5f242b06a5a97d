"""A Spark table against one machine: a cluster of two executors, processes of their own, of which two are killed."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
from pathlib import Path
from types import SimpleNamespace
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from mixed_table import COLUMNS, as_arrow, expected_line, sorted_lines
from processes import wait_for

from suffice import SufficientExplainer
from suffice import spark as suffice_spark
from suffice._io.batches import read_explainer

pyspark = pytest.importorskip("pyspark", reason="There is no Spark: pip install 'suffice[spark]'.")

# pyspark 4.3 says so wherever it touches pandas, which these tests do not need.
pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        reason = "There is no Java: apt-get install openjdk-17-jre-headless."
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    from pyspark.sql import SparkSession

    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "America/New_York",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "16",
        "spark.locality.wait": "0",
        "spark.task.maxFailures": "2",
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        # Three virtual machines start in half the time if they do not get ready for long work.
        patch.setenv("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("suffice")
        for name, value in settings.items():
            builder = builder.config(name, value)
        with pytest.MonkeyPatch.context() as elsewhere:
            # The virtual machine outlives its session: later tests, too, write to paths relative to where it started.
            elsewhere.chdir(tmp_path_factory.mktemp("spark"))
            session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        yield session
        logs = Path(pyspark.__file__).parent / "work" / session.sparkContext.applicationId
        session.stop()
        shutil.rmtree(logs, ignore_errors=True)


def rows_of(session, table, case, n_parts=3):
    """The columns that the explainer knows, the identifier and the target, in partitions by some other order."""
    rows = session.createDataFrame(as_arrow(table[["id", *COLUMNS, *([case.target] if case.target else [])]]))
    return rows.repartition(n_parts, "amount")


def as_lines(lines):
    return sorted_lines(row.asDict() for row in lines.collect())


@pytest.mark.slow
def test_executors_give_the_answers_of_one_machine_in_types_known_before(session, table, case, tmp_path):
    rows = rows_of(session, table, case, 5)
    case.explainer.save(tmp_path / "explainer.suffice")
    explainer = case.explainer if case.target else str(tmp_path / "explainer.suffice")
    lines = suffice_spark.explain(explainer, rows, target=case.target, keep=["id", "when", "flag"])
    outcome = "double" if case.explainer.task_ == "regression" else "string"
    assert lines.schema.fields[:3] == [rows.schema[name] for name in ("id", "when", "flag")]
    assert [field.dataType.simpleString() for field in lines.schema.fields[3:]] == [
        *(outcome, "double", "double", outcome, "boolean", "boolean", "array<string>", "bigint"),
        *("double", "double", "double", "boolean", "double", "double", "string"),
        *("string", "bigint", "double", "double", "boolean", "bigint", "boolean"),
    ]
    result = lines.toArrow()
    assert result.schema.names == lines.columns
    assert sorted_lines(result.drop_columns(["when", "flag"]).to_pylist()) == case.lines
    kept = sorted_lines(result.select(["id", "when", "flag"]).to_pylist())
    assert [line["flag"] for line in kept] == as_arrow(table)["flag"].to_pylist()
    zone = ZoneInfo(session.conf.get("spark.sql.session.timeZone"))
    moments = [line["when"] and line["when"].astimezone(zone).replace(tzinfo=None) for line in kept]
    assert moments == as_arrow(table)["when"].to_pylist()


@pytest.mark.slow
def test_relative_paths_do_not_lead_into_the_project(session):
    """The example of a page wrote its folder there when it ran after these tests, in the same virtual machine."""
    folder = Path(session._jvm.java.lang.System.getProperty("user.dir"))
    assert Path(__file__).parent.parent not in (folder, *folder.parents)


@pytest.mark.slow
def test_an_empty_table_has_an_empty_result(session, table, labels):
    rows = rows_of(session, table, labels).where("false")
    lines = suffice_spark.explain(labels.explainer, rows, target="label", keep="id")
    assert lines.collect() == []
    assert lines.columns[:2] == ["id", "outcome"]


@pytest.mark.slow
def test_a_worker_loads_the_explainer_once(session, table, labels):
    lines = suffice_spark.explain(labels.explainer, rows_of(session, table, labels, 4), target="label", keep="id")
    digest = read_explainer(labels.explainer)[1][-32:]

    def look(batches):
        import pyarrow as pa

        from suffice._io import batches as in_worker

        list(batches)
        if digest in list(in_worker._loaded):
            explainer = in_worker._loaded.get(digest, None)
            seen = hasattr(explainer, "seen")
            explainer.seen = True  # if it is loaded again, this is gone
            yield pa.RecordBatch.from_pylist([{"pid": os.getpid(), "seen": seen}])

    looked = session.range(0, 8, numPartitions=8).mapInArrow(look, "pid long, seen boolean")
    assert as_lines(lines) == labels.lines
    first = {row.pid for row in looked.collect()}
    assert as_lines(lines) == labels.lines
    again = [row for row in looked.collect() if row.pid in first]
    assert again
    assert all(row.seen for row in again)


@pytest.mark.slow
def test_a_task_uses_one_thread_unless_more_are_asked_for(session, table, labels, monkeypatch):
    rows = rows_of(session, table, labels, 2)

    def load_for_one_thread(*args):
        from suffice._io.batches import load_in_worker

        explainer = load_in_worker(*args)
        if (explainer.n_jobs, explainer.fitted_.settings.n_threads) != (1, 1):
            raise ValueError(f"{explainer.n_jobs} threads")
        return explainer

    monkeypatch.setattr(suffice_spark, "load_in_worker", load_for_one_thread)  # travels with the function of the task
    assert as_lines(suffice_spark.explain(labels.explainer, rows, target="label", keep="id")) == labels.lines
    lines = suffice_spark.explain(labels.explainer, rows, target="label", keep="id", n_jobs=2)
    with pytest.raises(pyspark.errors.PythonException, match="2 threads"):
        lines.collect()


@pytest.mark.slow
def test_wrong_columns_are_refused_before_anything_runs(session, table, labels):
    rows = session.createDataFrame(as_arrow(table))
    with pytest.raises(ValueError, match=r"unexpected \['number'\]"):
        suffice_spark.explain(labels.explainer, rows, target="label", keep="id")
    with pytest.raises(ValueError, match=r"`keep`: the table has no column 'idd'\. Did you mean 'id'"):
        suffice_spark.explain(labels.explainer, rows, keep="idd")


@pytest.mark.slow
def test_names_may_hold_anything_and_options_reach_the_explainer(session):
    """Spark itself takes a column "a.b" for a part of a column "a"."""
    X = pd.DataFrame({"a.b `c`": np.arange(40.0) / 2, "d e": np.arange(40.0) % 7})
    explainer = SufficientExplainer(random_state=0, min_size=0).fit(X, X["a.b `c`"] > 10)
    rows = session.createDataFrame(as_arrow(X.assign(**{"the.id": range(40)})))
    lines = suffice_spark.explain(explainer, rows, keep="the.id", sets="all", rules=None).collect()
    expected = explainer.explain(X, sets="all", rules=None)
    in_order = [row.asDict() for row in sorted(lines, key=lambda row: row["the.id"])]
    assert in_order == [{"the.id": i, **expected_line(explanation)} for i, explanation in enumerate(expected)]


def test_a_table_of_spark_connect_is_refused(labels):
    remote = SimpleNamespace(sparkSession=SimpleNamespace())
    with pytest.raises(TypeError, match="Spark Connect, which cannot broadcast the explainer"):
        suffice_spark.explain(labels.explainer, remote)


@pytest.mark.slow
def test_an_error_names_the_row(session, table, labels):
    rows = table.copy()
    rows.loc[77, "city"] = "Bonn"
    frame = session.createDataFrame(as_arrow(rows[["id", *COLUMNS, "label"]])).coalesce(1)
    lines = suffice_spark.explain(labels.explainer, frame, target="label", keep=["id", "label"])
    message = (
        f"Row 77 of partition 0 (id={2**60 + 77}, label='{table['label'][77]}'): Column 'city' of `X` holds 'Bonn',"
    )
    with pytest.raises(pyspark.errors.PythonException, match=re.escape(message)):
        lines.collect()


@pytest.mark.slow
def test_two_killed_executors_lose_nothing_and_double_nothing(session, table, labels, tmp_path):
    started = os.getpid()

    def kill_twice(batches):
        partition = pyspark.TaskContext.get().partitionId()
        marker = tmp_path / f"killed {partition}"
        for number, batch in enumerate(batches):
            if number == 1 and partition in (0, 2) and not marker.exists():
                parents = [os.getpid()]
                while b"CoarseGrainedExecutorBackend" not in Path(f"/proc/{parents[-1]}/cmdline").read_bytes():
                    status = Path(f"/proc/{parents[-1]}/status").read_text()
                    parents.append(int(re.search(r"^PPid:\s+(\d+)$", status, re.MULTILINE)[1]))
                assert started not in parents
                marker.write_text(str(parents[-1]))
                os.kill(parents[-1], signal.SIGKILL)
            yield batch

    rows = rows_of(session, table, labels, 4)
    lines = suffice_spark.explain(labels.explainer, rows.mapInArrow(kill_twice, rows.schema), target="label", keep="id")
    assert as_lines(lines) == labels.lines
    killed = {marker.read_text() for marker in tmp_path.iterdir()}
    assert len(killed) == 2
    wait_for(lambda: not any(Path(f"/proc/{process}").exists() for process in killed))  # Spark takes note of its end
