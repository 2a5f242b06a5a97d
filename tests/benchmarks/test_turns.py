import sys
import textwrap

import pytest
from benchmarks.turns import Best, Worker, WorkerError, best_in_turns

WORKER = """
    from benchmarks.turns import serve

    def fail(n):
        raise ValueError("no rows")

    serve({"count": lambda n: float(n), "fail": fail, "talk": lambda n: print("talking")})
"""


@pytest.fixture
def worker(tmp_path):
    (tmp_path / "small_worker.py").write_text(textwrap.dedent(WORKER))
    worker = Worker(sys.executable, "small_worker", folder=tmp_path)
    yield worker
    worker.close()


def test_a_worker_times_its_cases_and_returns_results(worker):
    assert worker.names == ["count", "fail", "talk"]
    answer = worker.measure("count", 3)
    assert answer["result"] == 3.0
    assert answer["seconds"] >= 0
    assert answer["peak"] > 0 or not sys.platform.startswith("linux")


def test_what_a_case_prints_is_no_answer(worker):
    assert worker.measure("talk")["result"] is None
    assert worker.measure("count", 5)["result"] == 5.0


def test_the_failure_of_a_case_leaves_the_worker_alive(worker):
    with pytest.raises(WorkerError, match="ValueError: no rows"):
        worker.measure("fail")
    assert worker.measure("count", 1)["result"] == 1.0


def test_a_worker_that_cannot_start_is_an_error(tmp_path):
    with pytest.raises(WorkerError, match="no_such_module does not start"):
        Worker(sys.executable, "no_such_module", folder=tmp_path)


class Recorded:
    """A worker with given times."""

    def __init__(self, seconds):
        self.seconds = iter(seconds)
        self.measured = []

    def measure(self, name, n_rows):
        self.measured.append((name, n_rows))
        return {"seconds": next(self.seconds), "peak": 10 * len(self.measured)}


def test_the_best_round_counts():
    slow, fast = Recorded([3.0, 2.0, 5.0]), Recorded([0.2, 0.3, 0.1])
    assert best_in_turns([(slow, "a", 7), (fast, "b", None)], 3) == [Best(2.0, 30), Best(0.1, 30)]
    assert slow.measured == [("a", 7)] * 3
    assert fast.measured == [("b", None)] * 3


def test_a_slow_job_takes_fewer_turns():
    slow, fast = Recorded([3.0, 2.0, 5.0]), Recorded([0.2, 0.3, 0.1])
    best_in_turns([(slow, "a", 1), (fast, "b", 1)], 3, max_seconds=4.0)
    assert len(slow.measured) == 2
    assert len(fast.measured) == 3
