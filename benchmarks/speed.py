"""Speed of default forests beside other methods: ``make bench-speed``, or ``python -m benchmarks.speed PART ...``.

The parts are the tables ("bank": 1, 10 and 300 rows), the tables in bulk ("bank-bulk": 10^4 and 10^5 rows), and single
questions. Every method explains the same fitted forest on the same encoded rows, one thread each, in processes that take
turns; CPU time, the best of the rounds. What is printed is the text of docs/speed.md.
"""

from __future__ import annotations

import argparse
import contextlib
import pickle
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.printing import print_table
from benchmarks.run import head
from benchmarks.speed_tables import TABLES, SpeedTable
from benchmarks.speed_worker import SET_UP
from benchmarks.turns import ROOT, Worker, WorkerError, best_in_turns

WORKER = "benchmarks.speed_worker"
FEW, BULK = (1, 10, 300), (10_000, 100_000)
N_ROUNDS = 5
# The environments of the other methods, made by `make bench-speed`: the newest releases need Python 3.12, fasttreeshap
# needs NumPy 1.
PEERS = {
    ".venv-speed": ("peers", ("shap", "shapiq", "woodelf", "XGBoost")),
    ".venv-fasttreeshap": ("fasttreeshap", ("fasttreeshap",)),
}
OWN = ("minimal sets", "all sets and a rule")
GOALS = {  # of the minimal sets: against which method, at most
    ("breast cancer", 300): ("shap", 0.6),
    ("bank", 300): ("shap", 0.7),
    ("bank", 100_000): ("woodelf", 1.0),
    ("switch model", 300): ("shap", 0.2),
}


@dataclass(frozen=True)
class Method:
    """A method, where it runs, and its set-up."""

    label: str
    worker: Worker
    case: str
    set_up: float | None
    note: str = ""

    def seconds(self, n_rows: int) -> float:
        return self.worker.measure(self.case, n_rows)["seconds"]


@contextlib.contextmanager
def methods_for(table: SpeedTable, options: Any) -> Any:
    """The methods that can explain a table, ready; notes about it and about those that cannot."""
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        (folder / "table.pkl").write_bytes(pickle.dumps(asdict(table)))

        def start(python, methods, where):
            where.mkdir(exist_ok=True)
            for file in folder.glob("*.pkl"):
                if where != folder:
                    (where / file.name).symlink_to(file)
            worker = Worker(python, WORKER, methods, where, folder=where)
            stack.callback(worker.close)
            return worker

        methods, notes = [], []
        for label, python, where in (("suffice", sys.executable, folder), ("other suffice", options.other, folder / "o")):
            if python is None:
                continue
            worker = start(python, "suffice", where)
            figures = worker.measure(SET_UP)["result"]
            beyond = max(0.0, figures["fit"] - figures["forest"])
            methods += [Method(f"{label}, {case}", worker, case, beyond) for case in OWN]
            if label == "suffice":
                notes.append(describe(table, figures))
        for environment, (group, names) in PEERS.items():
            python = ROOT / environment / "bin" / "python"
            if options.no_peers:
                continue
            if not python.exists():
                notes.append(f"Left out, not installed: {', '.join(names)} (`make {environment}/installed`).")
                continue
            worker = start(python, group, folder / group)
            for peer in names:
                method = set_up_peer(worker, peer, notes)
                if method is not None:
                    methods.append(method)
        yield methods, notes


def set_up_peer(worker, name, notes):
    try:
        answer = worker.measure(f"{name}, {SET_UP}")
        worker.measure(name, 1)  # compiles or imports what it needs
    except WorkerError as error:
        notes.append(f"{name} fails: {str(error).splitlines()[0][:200]}")
        return None
    figures = answer["result"]
    if figures is None:
        return Method(name, worker, name, answer["seconds"])
    notes.append(
        f"XGBoost: {figures['n_trees']} trees of depth 6, score {figures['score']:.3f} on fresh rows (the forest "
        f"{figures['forest']:.3f})."
    )
    return Method(name, worker, name, None)


def describe(table: SpeedTable, figures: Any) -> str:
    return (
        f"{len(table.X)} training rows, {table.X.shape[1]} columns ({figures['n_missing']} with missing values); "
        f"{figures['n_trees']} trees, in the mean {figures['n_leaves']:.0f} leaves and depth {figures['depth']:.0f}; "
        f"the forest takes {figures['forest']:.2f} s of the fit."
    )


# --- the tables -------------------------------------------------------------------------------------------------------


def few(name, options):
    """Time a row, for few rows."""
    with methods_for(TABLES[name](max(FEW)), options) as (methods, notes):
        times = []
        for n_rows in FEW:
            jobs = [(m.worker, m.case, n_rows) for m in methods]
            times.append([1000 * s / n_rows for s in best_in_turns(jobs, N_ROUNDS, options.seconds / 4)])
        print_heading(name, notes)
        lines = []
        for i, method in enumerate(methods):
            set_up = "-" if method.set_up is None else f"{method.set_up:.3f}"
            row = [each[i] for each in times]
            lines.append([method.label, set_up, *map(figure, row), *ratios(methods, times[-1], i)])
        print_table(["method", "set-up, s", "1 row, ms", *(f"{n} rows, ms a row" for n in FEW[1:]), *RATIOS], lines)
        print_goal(name, max(FEW), methods, times[-1])


def bulk(name, options):
    """Time a row in bulk. A method that would take longer than the limit gets fewer rows."""
    with methods_for(TABLES[name](max(BULK)), options) as (methods, notes):
        notes.append(
            f"Of the rows, up to {TABLES[name](max(BULK)).n_real} are held-out rows, the others are copies with numbers "
            "moved by 1 % of a standard deviation."
        )
        one = best_in_turns([(m.worker, m.case, 1) for m in methods], 2, options.seconds / 10)
        some = best_in_turns([(m.worker, m.case, 300) for m in methods], 2, options.seconds / 10)
        lines = [[m.label] for m in methods]
        for n_rows in BULK:
            counts = [rows_within(options.seconds, a, b, 300, n_rows) for a, b in zip(one, some, strict=True)]
            jobs = [(m.worker, m.case, n) for m, n in zip(methods, counts, strict=True)]
            seconds = best_in_turns(jobs, 2, options.seconds / 2)
            per_row = [1000 * s / n for s, n in zip(seconds, counts, strict=True)]
            for i, line in enumerate(lines):
                line += [str(counts[i]), figure(per_row[i]), *ratios(methods, per_row, i)]
        print_heading(f"{name}, in bulk", notes)
        names = [cell for n in BULK for cell in (f"rows of {n}", "ms a row", *RATIOS)]
        print_table(["method", *names], lines)
        print_goal(name, max(BULK), methods, per_row)


def rows_within(limit, one, some, n_some, n_rows):
    """The number of rows that take at most `limit` seconds, if 1 row and `n_some` rows took so long."""
    slope = max((some - one) / (n_some - 1), 1e-9)
    n = int(min(n_rows, max(n_some, (limit - one) / slope)))
    return n if n == n_rows else round_down(n)


def round_down(n):
    """One digit, then zeros."""
    digits = len(str(n)) - 1
    return n // 10**digits * 10**digits


RATIOS = ("of shap's", "of woodelf's")


def ratios(methods, times, i):
    by_label = {m.label: t for m, t in zip(methods, times, strict=True)}
    return [f"{times[i] / by_label[name]:.2f}" if name in by_label else "-" for name in ("shap", "woodelf")]


def figure(ms):
    return f"{ms:.3f}" if ms < 10 else f"{ms:.1f}"


def print_heading(title, notes):
    print(f"\n### {title[0].upper()}{title[1:]}\n")
    print("\n".join(notes), end="\n\n")


def print_goal(name, n_rows, methods, times):
    by_label = {m.label: t for m, t in zip(methods, times, strict=True)}
    ours = by_label["suffice, minimal sets"]
    peer, most = GOALS.get((name, n_rows), (None, None))
    if peer in by_label:
        print(f"\nMinimal sets: {ours / by_label[peer]:.2f} of the time of {peer} (goal at most {most}).")
    if "other suffice, minimal sets" in by_label:
        print(f"\nMinimal sets: {ours / by_label['other suffice, minimal sets']:.3f} of the time of the other version.")


PARTS = {
    **{name.replace(" ", "-"): lambda options, name=name: few(name, options) for name in TABLES},
    **{f"{name.replace(' ', '-')}-bulk": lambda options, name=name: bulk(name, options) for name in TABLES},
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all by default")
    parser.add_argument("--other", metavar="PYTHON", help="an interpreter with another version of suffice")
    parser.add_argument("--seconds", type=float, default=20.0, help="CPU seconds that a method may take for a figure")
    parser.add_argument("--no-peers", action="store_true", help="time suffice alone")
    options = parser.parse_args()
    unknown = set(options.parts) - set(PARTS)
    if unknown:
        parser.error(f"unknown part {unknown.pop()!r}; there are {', '.join(PARTS)}")
    print(head(), flush=True)
    for part in options.parts or PARTS:
        PARTS[part](options)
        sys.stdout.flush()


if __name__ == "__main__":
    main()
