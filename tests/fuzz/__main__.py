"""Attack the package for some minutes: ``python -m fuzz --minutes 10 [--target NAME] [--seed N]``."""

from __future__ import annotations

import argparse
import json
import os
import pkgutil
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from fuzz import targets

HERE = Path(__file__).parent
SEEDS = HERE / "seeds.txt"
N_CASES = 200
"""Of one process."""
MAX_WAIT = 600


def target_names() -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules(targets.__path__))


def kept_seeds() -> list[tuple[str, int]]:
    """Return the seeds that failed once: a target and a number in each line."""
    lines = [line.split("#")[0].split() for line in SEEDS.read_text().splitlines()]
    return [(target, int(number)) for target, number in filter(None, lines)]


def attack(target: str, number: int, n_cases: int = N_CASES) -> tuple[dict[str, int] | None, str]:
    """Run cases of a target in a process of its own. Returns what it counted, None if it failed, and what it wrote."""
    command = [sys.executable, "-X", "faulthandler", "-m", "fuzz.worker", target, str(number), str(n_cases)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE.parent), os.environ.get("PYTHONPATH", "")])}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=MAX_WAIT, env=environment, check=False)
    except subprocess.TimeoutExpired as error:
        return None, f"no answer after {MAX_WAIT} s: {error.stderr!r}"
    if done.returncode:
        return None, f"exit status {done.returncode}\n{done.stdout}{done.stderr}"
    return json.loads(done.stdout.splitlines()[-1]), done.stdout + done.stderr


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--target", choices=target_names(), action="append")
    parser.add_argument("--seed", type=int)
    options = parser.parse_args()
    names = options.target or target_names()
    end = time.monotonic() + 60 * options.minutes
    draw = random.Random(options.seed)
    counts: dict[str, Counter[str]] = {name: Counter() for name in names}
    todo = [(target, number) for target, number in kept_seeds() if target in names]
    failures = 0
    while todo or time.monotonic() < end:
        todo = todo or [(name, draw.randrange(2**32)) for name in names]
        target, number = todo.pop(0)
        counted, output = attack(target, number)
        if counted is None:
            failures += 1
            counts[target]["failures"] += 1
            sys.stdout.write(f"FAILED: {target} {number}\n{output}\n")
            if (target, number) not in kept_seeds():
                with SEEDS.open("a") as file:
                    file.write(f"{target} {number}\n")
        else:
            counts[target].update(counted)
        if time.monotonic() >= end:
            break
    for name in names:
        counted = counts[name]
        sys.stdout.write(
            f"{name:<16} {counted['cases']:>9,} cases {counted['compared']:>12,} compared "
            f"{counted['failures']:>3} failures\n"
        )
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
