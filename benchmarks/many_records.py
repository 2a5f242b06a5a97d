"""A million records: ``python -m benchmarks.many_records [--rows N]``.

Applicants of the credit-like law of ``decision_tables`` are decided by a small explainer (20 trees, 5 columns), and
``suffice reasons`` writes a record of each decision. The process is killed when a third of the parts are done; the same
command continues. Printed are the times, the largest memory that a process of the command had, the size of the file,
and whether its bytes are those of rows that were recorded in one go.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl
from sklearn.ensemble import RandomForestClassifier

from benchmarks.decision_tables import credit_like
from benchmarks.run import head
from suffice import SufficientExplainer
from suffice._cli.parts import folder_of

COLUMNS = ["income", "housing", "late_payments", "credit_used", "debt_to_income"]
N_TRAIN, N_DRAWN, BATCH, N_COMPARED = 2000, 50_000, 20_000, 20_000


def prepare(folder: Path, n_rows: int) -> None:
    """Write a small explainer, and a table of rows; the rows of the law are repeated with other identifiers."""
    table = credit_like(N_TRAIN, 0)
    forest = RandomForestClassifier(20, min_samples_leaf=20, random_state=0)
    explainer = SufficientExplainer(forest, levels="odds", random_state=0).fit(table.X[COLUMNS], table.y)
    explainer.save(folder / "small.suffice")
    drawn = pl.from_pandas(credit_like(min(N_DRAWN, n_rows), 1).X[COLUMNS])
    rows = pl.concat([drawn] * -(-n_rows // len(drawn))).head(n_rows).with_row_index("applicant")
    rows.write_parquet(folder / "rows.parquet")


def record(folder: Path, output: str, *options: str, until: Callable[[], bool] | None = None) -> tuple[float, float]:
    """Run the command, and kill it as soon as `until` says so; return the seconds, and the largest memory in MiB."""
    command = [Path(sys.executable).with_name("suffice"), "reasons", "small.suffice", "rows.parquet"]
    command += ["--adverse", "defaults", "--id", "applicant", "--batch", str(BATCH), "-o", output, *options]
    start, largest = time.perf_counter(), 0.0
    process = subprocess.Popen(command, cwd=folder)
    while process.poll() is None:
        try:
            status = Path(f"/proc/{process.pid}/status").read_text()
        except OSError:
            break
        for line in status.splitlines():
            if line.startswith("VmHWM"):
                largest = max(largest, int(line.split()[1]) / 1024)
        if until is not None and until():
            process.send_signal(signal.SIGKILL)
        time.sleep(0.2)
    process.wait()
    return time.perf_counter() - start, largest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    options = parser.parse_args()
    print(head())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder, options.rows)
        parts = folder_of(str(folder / "records.jsonl"))
        n_parts = -(-options.rows // BATCH)
        is_third = lambda: parts.exists() and len(os.listdir(parts)) > n_parts // 3  # noqa: E731
        runs = [record(folder, "records.jsonl", until=is_third), record(folder, "records.jsonl")]
        for what, (seconds, largest) in zip(("until it was killed", "after that, to the end"), runs, strict=True):
            print(f"{what}: {seconds:.0f} s, at most {largest:.0f} MiB", flush=True)
        file = folder / "records.jsonl"
        with file.open("rb") as lines:
            n_lines = sum(1 for _ in lines)
        print(f"{n_lines:,} records, {file.stat().st_size / 2**20:.0f} MiB")
        n_compared = min(N_COMPARED, options.rows)
        record(folder, "first.jsonl", "--rows", str(n_compared))
        first = (folder / "first.jsonl").read_bytes()
        with file.open("rb") as lines:
            is_same = lines.read(len(first)) == first
        print(f"The first {n_compared:,} are {'the same bytes' if is_same else 'NOT the same bytes'} in one go.")


if __name__ == "__main__":
    main()
