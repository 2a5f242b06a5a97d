"""The workspaces of a running app, and how tables and saved explainers are opened."""

import polars as pl
import pytest
from app_client import traffic_table

from suffice._io.sources import UPLOAD_VARIABLE
from suffice.app.state.sessions import (
    N_PENDING,
    N_WORKSPACES,
    PendingTable,
    PendingTables,
    Sessions,
    fit_workspace,
    open_files,
)


def test_the_first_workspace_has_the_empty_name(mixed):
    assert Sessions(mixed).get("") is mixed
    assert Sessions().get("") is None
    assert Sessions(mixed).get("0123456789abcdef") is None


def test_the_oldest_workspaces_are_dropped(mixed, cancer):
    sessions = Sessions(cancer)
    names = [sessions.add(mixed) for _ in range(N_WORKSPACES + 2)]
    assert len(set(names)) == N_WORKSPACES + 2
    assert [sessions.get(name) is mixed for name in names] == [False] * 2 + [True] * N_WORKSPACES
    assert sessions.get("") is cancer


def test_tables_wait_for_their_target():
    frame = pl.DataFrame({"a": [1]})
    waiting = PendingTables(PendingTable(frame, "first"))
    names = [waiting.add(PendingTable(frame, str(i))) for i in range(N_PENDING + 1)]
    assert waiting.get("").name == "first"
    assert waiting.get(None) is None
    assert waiting.get(names[0]) is None
    assert [waiting.get(name).name for name in names[1:]] == [str(i) for i in range(1, N_PENDING + 1)]


def test_tables_that_wait_are_limited_by_their_memory(monkeypatch):
    """Four tables waited at most, so that the table of a visitor among many was gone before its target was chosen."""
    monkeypatch.setenv(UPLOAD_VARIABLE, "1K")
    waiting = PendingTables()
    small, large = pl.DataFrame({"a": [1]}), pl.DataFrame({"a": range(1000)})
    names = [waiting.add(PendingTable(small, "small")) for _ in range(8)]
    assert all(waiting.get(name) for name in names)
    last = waiting.add(PendingTable(large, "larger than all may be"))
    assert waiting.get(last) is not None
    assert not any(waiting.get(name) for name in names)


def test_files_are_opened_for_what_they_are(mixed, tmp_path):
    saved, table = str(tmp_path / "e.suffice"), str(tmp_path / "t.csv")
    mixed.explainer.save(saved)
    mixed.frame.write_csv(table)
    assert open_files(saved)[0].first.frame.height == 400
    assert open_files(saved, table)[0].first.observed == mixed.observed
    sessions, waiting = open_files(table)
    assert sessions.first is None
    assert waiting.get("").frame.shape == (400, 5)
    assert open_files(table, target="traffic")[0].first.explainer.target_name_ == "traffic"
    assert open_files(None)[0].first is None
    with pytest.raises(ValueError, match=r"there is no column 'trafic' in .* Did you mean 'traffic'"):
        open_files(table, target="trafic")
    with pytest.raises(ValueError, match="is not a saved explainer"):
        open_files(table, table)
    with pytest.raises(ValueError, match="There is no file"):
        open_files(str(tmp_path / "none.suffice"))
    with pytest.raises(ValueError, match="--demo"):
        open_files(table, demo=True)


def test_a_table_is_fitted_without_rows_and_columns_that_are_left_out():
    frame = traffic_table(200).with_columns(
        traffic=pl.when(pl.int_range(200) < 50).then(None).otherwise(pl.col("traffic"))
    )
    space = fit_workspace(frame, "traffic", ["temp", "traffic"], True, "name")
    assert space.names == ("hour", "sky", "holiday")
    assert space.frame.height == len(space.observed) == 150
    assert space.name == "name"
    with pytest.raises(ValueError, match="The column 'x' is empty: there is no outcome"):
        fit_workspace(frame.with_columns(x=pl.lit(None, pl.Float64)), "x", [], True, "")
    with pytest.raises(ValueError, match="No columns are left besides the target"):
        fit_workspace(frame.select("hour", "traffic"), "traffic", ["hour"], True, "")


def test_dates_are_left_out_unless_they_are_wanted():
    days = pl.date_range(pl.date(2023, 1, 1), pl.date(2023, 4, 10), eager=True)
    frame = pl.DataFrame({"day": days, "x": range(100), "y": [i % 2 for i in range(100)]})
    assert fit_workspace(frame, "y", [], False, "").names == ("x",)
    assert fit_workspace(frame, "y", [], True, "").names == ("day", "x")
