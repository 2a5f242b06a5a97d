import polars as pl

from suffice._io.sources import UPLOAD_VARIABLE
from suffice.app.state.desk import N_WAITING, N_WORKSPACES, Desk, WaitingTable, WaitingTables


def test_the_first_workspace_has_the_empty_name(mixed):
    assert Desk(mixed).get("") is mixed
    assert Desk().get("") is None
    assert Desk(mixed).get("0123456789abcdef") is None


def test_the_oldest_workspaces_are_dropped(mixed, cancer):
    desk = Desk(cancer)
    names = [desk.add(mixed) for _ in range(N_WORKSPACES + 2)]
    assert len(set(names)) == N_WORKSPACES + 2
    assert [desk.get(name) is mixed for name in names] == [False] * 2 + [True] * N_WORKSPACES
    assert desk.get("") is cancer


def test_tables_wait_for_their_target():
    frame = pl.DataFrame({"a": [1]})
    waiting = WaitingTables(WaitingTable(frame, "first"))
    names = [waiting.add(WaitingTable(frame, str(i))) for i in range(N_WAITING + 1)]
    assert waiting.get("").name == "first"
    assert waiting.get(None) is None
    assert waiting.get(names[0]) is None
    assert [waiting.get(name).name for name in names[1:]] == [str(i) for i in range(1, N_WAITING + 1)]


def test_tables_that_wait_are_limited_by_their_memory(monkeypatch):
    """Four tables waited at most, so that the table of a visitor among many was gone before its target was chosen."""
    monkeypatch.setenv(UPLOAD_VARIABLE, "1K")
    waiting = WaitingTables()
    small, large = pl.DataFrame({"a": [1]}), pl.DataFrame({"a": range(1000)})
    names = [waiting.add(WaitingTable(small, "small")) for _ in range(8)]
    assert all(waiting.get(name) for name in names)
    last = waiting.add(WaitingTable(large, "larger than all may be"))
    assert waiting.get(last) is not None
    assert not any(waiting.get(name) for name in names)
