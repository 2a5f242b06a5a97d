"""The app under many clients for some minutes: ``python -m fuzz.soak --minutes 10 --clients 50``.

The app runs in a process of its own on the loopback address. Each client uploads tables, fits, looks at rows, collects
global rules, cancels, sends files that must be refused, and vanishes in the middle of requests; now and then a process
that works for the app is killed. Every answer about a row and every list of rules is compared with that of the library.
At the end the app must still answer, without processes or open files left behind, and its memory must not have grown
beyond `MAX_GROWTH` since the time when its caches were full.

``--fault leak`` and the like start an app with a fault that the soak must find: see `fuzz.broken_app`.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from fuzz.app_caller import Caller, uploaded
from fuzz.broken_app import FAULTS
from suffice import SufficientExplainer
from suffice._io.explainer_file import collect_rules
from suffice._io.files import read_table
from suffice._show.picture import set_text
from suffice._text import format_probability
from suffice.app.pages.row_more import MAX_SETS

TOKEN = "soak-0123456789abcdef"
N_TABLES, N_ROWS, N_LOOKED_AT, N_RULED = 4, 200, 20, 40
MAX_GROWTH = 100 * 2**20
MAX_NEW_FILES = 20
"""Connections that the app has not closed yet."""
MAX_CANCEL = 60
"""Seconds after which cancelled work must be over."""
MAX_WORK = 300
"""Seconds after which a fit or a list of rules must be over."""
WARM_UP = 0.3
"""The share of the time after which all caches are full: eight workspaces with 64 answers each, twelve jobs."""
BETWEEN_KILLS = 10.0
MAX_PAUSE = 2.0
"""Seconds between two actions of a client, at most."""
LONG = 5.0
"""Minutes after which everything in `EXPECTED` must have happened."""
EXPECTED = (
    "answers compared",
    "bad files refused",
    "clients killed in a request",
    "fits",
    "fits cancelled",
    "lists of rules compared",
    "processes killed",
    "stabilities cancelled",
)
KILLED, FULL = "has ended (signal 9)", "jobs are running already"
BAD_FILES = {
    "empty.csv": (b"", "is empty"),
    "nul.csv": (b"a,b\n1,\0\n", "NUL bytes"),
    "ragged.csv": (b"a,b\n1,2,3\n", "line 2: 3 fields"),
    "broken.parquet": (b"PAR1 nothing", "Parquet"),
}


@dataclass(frozen=True, eq=False)
class KnownTable:
    """A table as a file, and what the library says about its first rows."""

    data: bytes
    sets: list[list[str]]  # but the best one of each row
    sentences: list[str]
    rules: list[str]


def draw_table(seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "hour": rng.integers(0, 24, N_ROWS),
            "temp": rng.normal(10, 8, N_ROWS).round(1),
            "sky": rng.choice(["clear", "mist", "rain"], N_ROWS),
            "holiday": rng.random(N_ROWS) < 0.3,
        }
    )
    is_busy = ((frame["hour"] > 8 + seed) & (frame["sky"] != "rain") | frame["holiday"]).to_numpy()
    is_busy ^= rng.random(N_ROWS) < 0.05
    return frame.with_columns(traffic=pl.Series(np.where(is_busy, "busy", "calm")))


def known_table(folder: Path, seed: int) -> KnownTable:
    """Write a table, read it as the app does, and explain its first rows by the library alone."""
    path = folder / f"traffic{seed}.csv"
    draw_table(seed).write_csv(path)
    frame = read_table(str(path))
    X, y = frame.drop("traffic"), frame["traffic"]
    explainer = SufficientExplainer(random_state=0, dates="parts").fit(X, y)
    explanations = explainer.explain(X[:N_LOOKED_AT], rules=None, progress=False)
    sets = [
        [f"{set_text(other)} {format_probability(other.sdp)}" for other in one.sufficient_sets[1 : MAX_SETS + 1]]
        for one in explanations
    ]
    rules = collect_rules(explainer, X, y.to_numpy(), N_RULED, step=lambda n_rows: None).rules_
    sentences = [one.sentences.outcome_sentence for one in explanations]
    return KnownTable(path.read_bytes(), sets, sentences, [line.text for line in rules])


@dataclass(eq=False)
class Tally:
    """What the clients did, how long the app took, and what was wrong."""

    counts: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, list[float]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, what: str) -> None:
        with self._lock:
            self.counts[what] += 1

    def blame(self, what: str) -> None:
        with self._lock:
            self.wrong.append(what)

    def timed(self, kind: str, call: Any, *args: Any) -> Any:
        begin = time.monotonic()
        answer = call(*args)
        with self._lock:
            self.seconds.setdefault(kind, []).append(time.monotonic() - begin)
        return answer


class Client:
    """One client, with a fixed sequence of actions for each number."""

    def __init__(self, number: int, port: int, tables: list[KnownTable], tally: Tally) -> None:
        self._draw = random.Random(number)
        self._tables, self._tally = tables, tally
        self._caller = Caller(port, TOKEN)

    def run(self, end: float) -> None:
        looks = (self.look, self.look, self.look)
        works = (self.fit, self.fit_and_cancel, self.collect_rules, self.cancel_stability)
        actions = (*looks, *works, self.send_bad_file, self.vanish)
        try:
            self._caller.visit()
            while time.monotonic() < end:
                self._draw.choice(actions)()
                time.sleep(self._draw.uniform(0, MAX_PAUSE))
        except Exception as error:
            self._tally.blame(repr(error))
        finally:
            self._caller.close()

    def look(self, workspace: str = "", table: KnownTable | None = None) -> None:
        """Compare what the app says about a row with what the library says."""
        table, row = table or self._tables[0], self._draw.randrange(N_LOOKED_AT)
        sets = self._tally.timed("row", self._caller.sets, workspace, row)
        text = self._tally.timed("row", self._caller.explained, workspace, row)
        if sets is None or text is None:  # newer tables have taken its place
            self._tally.count("workspaces gone")
            if not workspace:
                self._tally.blame("the first workspace is gone")
            return
        self._tally.count("answers compared")
        if not all(one in sets for one in table.sets[row]) or table.sentences[row] not in text:
            self._tally.blame(f"row {row}: {sets} {text!r} instead of {table.sets[row]} {table.sentences[row]!r}")

    def _upload(self, table: KnownTable) -> str | None:
        name, refusal = self._tally.timed("upload", self._caller.upload, table.data, "traffic.csv")
        self._tally.count("uploads")
        if name is None:
            self._tally.count("uploads whose reader was killed")
            if KILLED not in refusal:
                self._tally.blame(f"an upload was refused: {refusal}")
        return name

    def _start_fit(self, table: str) -> str:
        job: str = self._tally.timed("start of a fit", self._caller.start_fit, table, 4)
        self._tally.count("fits started" if job else "tables gone before their fit")
        return job

    def fit(self) -> None:
        """Upload, fit, and look at two rows of the new workspace."""
        table = self._draw.choice(self._tables)
        name = self._upload(table)
        job = self._start_fit(name) if name else ""
        if not job:
            return
        end = time.monotonic() + MAX_WORK
        while True:
            time.sleep(0.3)
            is_over, workspace, text = self._tally.timed("progress", self._caller.look_at_fit, job)
            if is_over or time.monotonic() >= end:
                break
        if workspace:
            self._tally.count("fits")
            self.look(workspace, table)
            self.look(workspace, table)
        elif KILLED in text:
            self._tally.count("fits whose process was killed")
        elif FULL in text:
            self._tally.count("fits refused, eight are running")
        elif not text:  # the job was dropped: twelve others have ended since
            self._tally.count("fits forgotten")
        else:
            self._tally.blame(f"a fit ended with: {text}")

    def fit_and_cancel(self) -> None:
        name = self._upload(self._draw.choice(self._tables))
        job = self._start_fit(name) if name else ""
        if not job:
            return
        time.sleep(self._draw.uniform(0, 3))
        self._cancel("fits", lambda: self._caller.look_at_fit(job, True)[::2])

    def _cancel(self, what: str, cancel: Callable[[], tuple[bool, str]]) -> None:
        """Cancel, and look until the work is over."""
        is_over, text = cancel()
        end = time.monotonic() + MAX_CANCEL
        while not is_over and time.monotonic() < end:
            time.sleep(0.3)
            is_over, text = cancel()
        self._tally.count(f"{what} cancelled" if text == "Cancelled." else f"{what} over before they were cancelled")
        if not is_over:
            self._tally.blame(f"{what} went on for {MAX_CANCEL} s after they were cancelled")

    def collect_rules(self) -> None:
        """Collect the rules of the first workspace, and compare them with those of the library."""
        end = time.monotonic() + MAX_WORK
        job, text = self._wait_for_rules(end)
        while FULL in text and time.monotonic() < end:  # a client that gives up at once would hardly ever see a list
            self._tally.count("lists of rules refused, eight jobs are running")
            time.sleep(self._draw.uniform(0, MAX_PAUSE))
            job, text = self._wait_for_rules(end)
        if KILLED in text or FULL in text:
            self._tally.count(f"lists of rules {'killed' if KILLED in text else 'never begun'}")
            return
        if text:
            self._tally.blame(f"rules ended with: {text}")
        rules = self._caller.rules(job)
        if rules is None:  # the job was dropped: twelve others have ended since
            self._tally.count("lists of rules forgotten")
            return
        self._tally.count("lists of rules compared")
        if rules != self._tables[0].rules:
            self._tally.blame(f"rules: {rules} instead of {self._tables[0].rules}")

    def _wait_for_rules(self, end: float) -> tuple[str, str]:
        """Start to collect rules, and look until that is over. Returns the job, and what the page says."""
        job = self._tally.timed("start of rules", self._caller.start_rules, N_RULED)
        while True:
            time.sleep(0.3)
            is_over, text = self._tally.timed("progress", self._caller.look_at_rules, job)
            if is_over or time.monotonic() >= end:
                return job, text

    def cancel_stability(self) -> None:
        row = self._draw.randrange(N_ROWS)
        job = self._tally.timed("start of stability", self._caller.start_stability, row)
        time.sleep(self._draw.uniform(0, 3))
        self._cancel("stabilities", lambda: self._caller.cancel_stability(job, row))

    def send_bad_file(self) -> None:
        name = self._draw.choice(list(BAD_FILES))
        data, reason = BAD_FILES[name]
        waiting, text = self._tally.timed("upload", self._caller.upload, data, name)
        self._tally.count("bad files refused")
        if waiting is not None or (reason not in text and KILLED not in text):
            self._tally.blame(f"{name}: {text}")

    def vanish(self) -> None:
        """Close the connection before a request is sent whole, or before it is answered."""
        share = self._draw.choice((0.5, 1.0))
        if self._draw.random() < 0.5:
            values = uploaded(self._tables[0].data, "traffic.csv")
            self._caller.call_and_vanish("choose.children", "upload.contents", values, share)
        else:
            view = {"data": "", "row": self._draw.randrange(N_ROWS)}
            self._caller.call_and_vanish("answer.children", "view.data", {"view.data": view}, share)
        self._tally.count("clients killed in a request")


class App:
    """The app in a process of its own, as a user starts it."""

    def __init__(self, table: Path, fault: str | None = None) -> None:
        program: list[Any] = [Path(sys.executable).with_name("suffice")]
        if fault is not None:
            program = [sys.executable, "-m", "fuzz.broken_app", fault]
        self._process = subprocess.Popen(
            [*program, "app", table, "--target", "traffic", "--port", "0", "--no-browser"],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "SUFFICE_APP_TOKEN": TOKEN},
        )
        text = ""
        for line in self._process.stdout:  # type: ignore[union-attr]
            text += line
            if match := re.search(r"127\.0\.0\.1:(\d+)/", text):
                self.port = int(match[1])
                return
        raise RuntimeError(f"the app did not start: {text}")

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def memory(self) -> int:
        return self._number("VmRSS") * 1024

    def peak(self) -> int:
        return self._number("VmHWM") * 1024

    def n_threads(self) -> int:
        return self._number("Threads")

    def n_files(self) -> int:
        return len(os.listdir(f"/proc/{self._process.pid}/fd"))

    def _number(self, name: str) -> int:
        text = Path(f"/proc/{self._process.pid}/status").read_text()
        return int(re.search(rf"{name}:\s+(\d+)", text)[1])  # type: ignore[index]

    def children(self) -> list[int]:
        children: list[int] = []
        for task in Path(f"/proc/{self._process.pid}/task").glob("*/children"):
            with suppress(OSError):  # the thread has just ended
                children += map(int, task.read_text().split())
        return children

    def stop(self) -> None:
        self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()  # type: ignore[union-attr]


def kill_now_and_then(app: App, end: float, tally: Tally) -> None:
    """Kill one of the processes that fit or read, as Linux does when memory is short."""
    draw = random.Random(0)
    while time.monotonic() < end:
        time.sleep(min(BETWEEN_KILLS, max(end - time.monotonic(), 0)))
        children = app.children()
        if children:
            try:
                os.kill(draw.choice(children), signal.SIGKILL)
            except ProcessLookupError:  # it has just ended
                continue
            tally.count("processes killed")


def soak(minutes: float, n_clients: int, fault: str | None = None) -> tuple[Tally, dict[str, float]]:
    """Run the app and the clients. Returns what happened, and figures of the process."""
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        tables = [known_table(Path(folder), seed) for seed in range(N_TABLES)]
        app = App(Path(folder) / "traffic0.csv", fault)
        try:
            figures = _run(app, tables, tally, minutes, n_clients)
        finally:
            app.stop()
    if minutes >= LONG:
        blame_what_is_missing(tally)
    return tally, figures


def _run(app: App, tables: list[KnownTable], tally: Tally, minutes: float, n_clients: int) -> dict[str, float]:
    begin = time.monotonic()
    end = begin + 60 * minutes
    threads = [
        threading.Thread(target=Client(number, app.port, tables, tally).run, args=(end,), daemon=True)
        for number in range(n_clients)
    ]
    threads.append(threading.Thread(target=kill_now_and_then, args=(app, end, tally), daemon=True))
    first_files = app.n_files()
    for thread in threads:
        thread.start()
    warm, largest = 0, 0
    while any(thread.is_alive() for thread in threads) and time.monotonic() < end + 600:
        time.sleep(0.5)
        try:
            memory = app.memory()
        except (OSError, TypeError):  # it has ended, or is just ending
            break
        if time.monotonic() < begin + WARM_UP * (end - begin):
            warm = max(warm, memory)
        else:
            largest = max(largest, memory)
    if not app.is_alive:
        tally.blame("the app has ended")
        return {}
    for thread in threads:
        if thread.is_alive():
            tally.blame("a client got no answer for ten minutes")
    Client(n_clients, app.port, tables, tally).run(time.monotonic() + 1)
    end = time.monotonic() + MAX_CANCEL
    while app.children() and time.monotonic() < end:  # such as the reader of an upload whose client has vanished
        time.sleep(0.5)
    figures = {"warm": warm, "largest": largest, "end": app.memory(), "peak": app.peak(), "threads": app.n_threads()}
    figures |= {"new files": app.n_files() - first_files, "processes": len(app.children())}
    judge(figures, tally)
    return figures


def judge(figures: dict[str, float], tally: Tally) -> None:
    """Blame what the app has left behind, and what it has kept."""
    if figures["processes"]:
        tally.blame(f"{figures['processes']} processes are left")
    if figures["new files"] > MAX_NEW_FILES:
        tally.blame(f"{figures['new files']} more files are open than at the start")
    growth = figures["largest"] - figures["warm"]
    if growth > MAX_GROWTH:
        tally.blame(f"memory grew by {growth / 2**20:.0f} MiB after the warm-up")


def blame_what_is_missing(tally: Tally) -> None:
    """A long soak in which something never happened says nothing about it."""
    for what in EXPECTED:
        if not tally.counts[what]:
            tally.blame(f"0 {what}")


def describe(tally: Tally, figures: dict[str, float]) -> str:
    lines = [f"{number:>9,}  {what}" for what, number in sorted(tally.counts.items())]
    for kind, seconds in sorted(tally.seconds.items()):
        p50, p99 = np.quantile(seconds, [0.5, 0.99])
        lines.append(f"{len(seconds):>9,}  answers about {kind}: median {p50:.2f} s, p99 {p99:.2f} s")
    if figures:
        mib = {name: round(figures[name] / 2**20) for name in ("warm", "largest", "end", "peak")}
        lines.append(
            f"memory of the app: at most {mib['warm']} MiB in the warm-up, {mib['largest']} MiB after it (limit: "
            f"{MAX_GROWTH // 2**20} MiB more), {mib['end']} MiB at the end"
        )
        lines.append(f"{figures['new files']} more open files than at the start, {figures['threads']} threads")
    lines += [f"WRONG: {what}" for what in tally.wrong[:20]]
    lines.append(f"{len(tally.wrong)} wrong answers or errors")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzz.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--fault", choices=FAULTS, help="start an app with this fault: the soak must fail")
    options = parser.parse_args()
    tally, figures = soak(options.minutes, options.clients, options.fault)
    sys.stdout.write(f"{options.clients} clients, {options.minutes:g} minutes\n{describe(tally, figures)}\n")
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
