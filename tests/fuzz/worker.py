"""Run one target in this process: ``python -m fuzz.worker TARGET SEED N_CASES``."""

from __future__ import annotations

import importlib
import json
import resource
import sys

from hypothesis import HealthCheck, given, seed, settings

MAX_BYTES = 4 * 2**30
MAX_SECONDS = 240
"""Of processor time, for all cases of one process."""


def run(target: str, number: int, n_cases: int) -> dict[str, int]:
    """Check drawn cases of a target. Returns how many cases there were, and what was compared in them."""
    module = importlib.import_module(f"fuzz.targets.{target}")
    counts = {"cases": 0, "compared": 0}

    def check(case):
        counts["cases"] += 1
        counts["compared"] += module.check(case) or 0

    options = settings(
        max_examples=n_cases, deadline=None, database=None, suppress_health_check=list(HealthCheck), print_blob=False
    )
    seed(number)(options(given(module.CASES)(check)))()
    return counts


def main() -> None:
    target, number, n_cases = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    module = importlib.import_module(f"fuzz.targets.{target}")
    max_bytes = getattr(module, "MAX_BYTES", MAX_BYTES)
    resource.setrlimit(resource.RLIMIT_AS, (max_bytes, max_bytes))
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_SECONDS, MAX_SECONDS))
    sys.stdout.write(json.dumps(run(target, number, n_cases)) + "\n")


if __name__ == "__main__":
    main()
