"""Speed of default forests beside other methods: ``make bench-speed``, or ``python -m benchmarks.speed PART ...``.

The parts are the tables ("bank": 1, 10 and 300 rows), the tables in bulk ("bank-bulk": 10^4 and 10^5 rows), and single
questions. Every method explains the same fitted forest on the same encoded rows, one thread each, in processes that
take turns; CPU time, the best of the rounds. docs/evidence/printed/speed.txt holds what is printed.
"""

from __future__ import annotations

import argparse
import contextlib
import pickle
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.printing import print_table
from benchmarks.speed_bounds import bounds
from benchmarks.speed_page import print_section, written_to
from benchmarks.speed_questions import QUESTIONS, quietly
from benchmarks.speed_tables import TABLES, SpeedTable
from benchmarks.speed_worker import CHECK, MAX_APART, SET_UP
from benchmarks.turns import ROOT, Worker, WorkerError, best_in_turns

WORKER = "benchmarks.speed_worker"
FEW, BULK = (1, 10, 300), (10_000, 100_000)
GUESSED = (1, 31)  # rows whose times tell how many rows a method may get at first
ALL_AT_ONCE = ("woodelf",)  # takes hardly longer for many rows than for one, and gets them all
CHECKED = 50  # rows on which a method's values are compared with the forest's outputs
N_ROUNDS = 5
# The environments of the other methods, made by `make bench-speed`: the newest releases need Python 3.12, fasttreeshap
# needs NumPy 1.
PEERS = {
    ".venv-speed": ("peers", ("shap", "shapiq", "woodelf", "XGBoost")),
    ".venv-fasttreeshap": ("fasttreeshap", ("fasttreeshap",)),
}
OWN = ("minimal sets", "all sets and a rule")
MAX_ERROR = 1e-3  # standard deviations by which values may miss the output of the forest
COMPARED = ("shap", "woodelf")


@dataclass(frozen=True)
class Method:
    """A method, where it runs, and its set-up."""

    label: str
    worker: Worker
    case: str
    set_up: float | None


@contextlib.contextmanager
def methods_for(table: SpeedTable, cases: Sequence[str], options: Any) -> Any:
    """The methods that can explain a table, ready; notes about it and about those that cannot."""
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        methods, notes = [], []

        def start(python, group, where):
            worker = Worker(python, WORKER, group, where, folder=where)
            stack.callback(worker.close)
            return worker

        versions = {"suffice": sys.executable}
        if options.before is not None:
            versions["suffice of before"] = options.before
        for label, python in versions.items():
            own = folder / label
            own.mkdir()
            (own / "table.pkl").write_bytes(pickle.dumps(vars(table)))
            worker = start(python, "suffice", own)
            figures = worker.measure(SET_UP)["result"]
            beyond = max(0.0, figures["fit"] - figures["forest"])
            methods += [Method(f"{label}, {case}", worker, case, beyond) for case in cases]
            if label == "suffice":
                notes.append(describe(table, figures))
        for environment, (group, names) in PEERS.items():
            python = ROOT / environment / "bin" / "python"
            if options.no_peers:
                continue
            if not python.exists():
                notes.append(f"Left out, not installed: {', '.join(names)} (`make {environment}/installed`).")
                continue
            worker = start(python, group, folder / "suffice")
            for peer in names:
                method = set_up_peer(worker, peer, notes)
                if method is not None:
                    methods.append(method)
        yield methods, notes


def set_up_peer(worker, name, notes):
    try:
        answer = worker.measure(f"{name}, {SET_UP}")
        error = worker.measure(f"{name}, {CHECK}", CHECKED)["result"]
    except WorkerError as error:
        notes.append(f"{name} fails: {str(error).splitlines()[0][:200]}")
        return None
    if error > MAX_ERROR:
        notes.append(
            f"{name}: values and mean miss the forest's output by up to {error:.2g} standard deviations of outputs."
        )
    figures = answer["result"]
    if figures is None:
        return Method(name, worker, name, answer["seconds"])
    notes.append(
        f"XGBoost: {figures['n_trees']} trees of depth 6, score {figures['score']:.3f} on fresh rows (the forest "
        f"{figures['forest']:.3f})."
    )
    return Method(name, worker, name, None)


def describe(table: SpeedTable, figures: Any) -> str:
    n_rows, n_checked = len(table.rows), min(len(table.rows), MAX_APART)
    copies = f"; rows from the {table.n_real + 1}th on are moved copies" if table.n_real < n_rows else ""
    return (
        f"{len(table.X)} training rows, {table.X.shape[1]} columns ({figures['n_missing']} with missing values); "
        f"{figures['n_trees']} trees, on average {figures['n_leaves']:.0f} leaves and depth {figures['depth']:.0f}; "
        f"the forest takes {figures['forest']:.2f} s of the fit. The forest distinguishes {figures['n_apart']} of the "
        f"first {n_checked} rows{copies}."
    )


# --- the tables -------------------------------------------------------------------------------------------------------


def few(name, options):
    print_times(name, TABLES[name](max(FEW)), FEW, OWN, options)


def bulk(name, options):
    print_times(f"{name}, in bulk", TABLES[name](max(BULK)), BULK, OWN, options)


def flights(options):
    """One fit for few and many rows: that of the flights takes minutes."""
    sizes = (*FEW, BULK[0])
    print_times("flights", TABLES["flights"](max(sizes)), sizes, (*OWN, "minimal sets and a rule"), options)


def print_times(title, table, sizes, cases, options):
    """Print the time a row for numbers of rows; a method gets fewer rows if it would take too long."""
    with methods_for(table, cases, options) as (methods, notes):
        known = [first_times(m) for m in methods]
        columns = []
        for n_rows in sizes:
            counts = [
                rows_within(limit_of(m, options), *times[-2:], n_rows) if times else n_rows
                for m, times in zip(methods, known, strict=True)
            ]
            jobs = [(m.worker, m.case, n) for m, n in zip(methods, counts, strict=True)]
            best = best_in_turns(jobs, N_ROUNDS, options.seconds / 2)
            columns.append([Timed(1000 * b.seconds / n, n, n_rows) for b, n in zip(best, counts, strict=True)])
            for times, n, b in zip(known, counts, best, strict=True):
                if times and n > times[-1].n_rows:
                    times.append(Known(n, b.seconds))
    print_section(title)
    print("\n".join(f"- {note}" for note in notes), end="\n\n")
    last = {m.label: timed.ms for m, timed in zip(methods, columns[-1], strict=True)}
    lines = []
    for i, method in enumerate(methods):
        set_up = "-" if method.set_up is None else f"{method.set_up:.3f}"
        ratios = [ratio_text(last[method.label] / last[peer]) if peer in last else "-" for peer in COMPARED]
        lines.append([method.label, set_up, *(str(column[i]) for column in columns), *ratios])
    names = ["1 row, ms" if n == 1 else f"{n} rows, ms a row" for n in sizes]
    print_table(["method", "set-up, s", *names, *(f"of {peer}'s" for peer in COMPARED)], lines)
    if "suffice of before, minimal sets" in last:
        ratio = last["suffice, minimal sets"] / last["suffice of before, minimal sets"]
        print(f"\nMinimal sets: {ratio:.3f} of the time of the version before.")


@dataclass(frozen=True)
class Timed:
    """Milliseconds a row, and of how many rows: fewer than were asked for, if the method is slow."""

    ms: float
    n_rows: int
    n_asked: int

    def __str__(self) -> str:
        text = f"{self.ms:.3f}" if self.ms < 10 else f"{self.ms:.1f}"
        return text if self.n_rows == self.n_asked else f"{text} ({self.n_rows} rows)"


class Known(NamedTuple):
    """The seconds that a number of rows took."""

    n_rows: int
    seconds: float


def ratio_text(ratio):
    return f"{ratio:.2f}" if ratio >= 0.1 else f"{ratio:.3f}"


def limit_of(method, options):
    """Seconds that a figure of a method may take; the minimal sets get more."""
    return 4 * options.seconds if method.case == "minimal sets" else options.seconds


def first_times(method):
    """Times of few rows; none for a method that gets all rows anyway."""
    if method.case in ALL_AT_ONCE:
        return []
    return [Known(n, method.worker.measure(method.case, n)["seconds"]) for n in GUESSED]


def rows_within(limit, few, more, n_rows):
    """How many of `n_rows` rows take at most `limit` seconds, going by what two numbers of rows took."""
    slope = max((more.seconds - few.seconds) / (more.n_rows - few.n_rows), 1e-9)
    n = int(max(1, more.n_rows + (limit - more.seconds) / slope))
    return n_rows if n >= n_rows else round_down(n)


def round_down(n):
    """Keep the first digit."""
    power = 10 ** (len(str(n)) - 1)
    return n // power * power


PARTS = {
    **{name.replace(" ", "-"): partial(few, name) for name in TABLES},
    **{f"{name.replace(' ', '-')}-bulk": partial(bulk, name) for name in TABLES if name != "flights"},
    "flights": flights,
    **QUESTIONS,
    "bounds": quietly(bounds),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all by default")
    parser.add_argument("--before", metavar="PYTHON", help="an interpreter with an earlier version of suffice")
    parser.add_argument(
        "--seconds", type=float, default=10.0, help="CPU seconds that a figure may take (minimal sets: 4 times)"
    )
    parser.add_argument("--no-peers", action="store_true", help="time suffice alone")
    parser.add_argument("--page", type=Path, help="a page whose sections are replaced by what is printed")
    options = parser.parse_args()
    unknown = set(options.parts) - set(PARTS)
    if unknown:
        parser.error(f"unknown part {unknown.pop()!r}; there are {', '.join(PARTS)}")
    for part in options.parts or PARTS:
        with written_to(options.page):
            PARTS[part](options)
        sys.stdout.flush()


if __name__ == "__main__":
    main()
