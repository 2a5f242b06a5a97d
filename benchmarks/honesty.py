"""Whether the numbers that are stated are true: ``make honesty``, or ``python -m benchmarks.honesty PART ...``.

The parts: laws that are known, no signal at all, and real tables with rows held out. They are printed as Markdown; the
page docs/evidence/honesty.md tells what they mean.
"""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import dataclass, replace

from experiments.data.loaders import FOLDER_VARIABLE

from benchmarks.claims import print_claims
from benchmarks.held_out import (
    COUNTS,
    measure_table,
    print_forests,
    print_intervals,
    print_permuted,
    print_rules,
    print_supports,
)
from benchmarks.known_laws import print_laws, print_nulls
from benchmarks.laws import LAWS, NULLS, Law, Null
from benchmarks.real_tables import BUNDLED, LOADERS, load_table
from benchmarks.run import head


@dataclass(frozen=True)
class Plan:
    """How much is measured."""

    seeds: range = range(5)
    nulls: tuple[Null, ...] = NULLS
    laws: tuple[Law, ...] = LAWS
    sizes: tuple[int, ...] = (2000,)
    null_sizes: tuple[int, ...] = (500, 2000, 10_000)
    n_fresh: int = 200
    n_fresh_null: int = 60
    n_explained: int = 100
    tables: tuple[str, ...] = tuple(LOADERS)
    data: str | None = None


QUICK = Plan(range(1), NULLS[2:3], (LAWS[1], LAWS[-1]), (300,), (300,), 20, 20, 20, BUNDLED)


def nulls(plan: Plan) -> None:
    print_nulls(plan.nulls, plan.null_sizes, plan.seeds, plan.n_fresh_null)


def laws(plan: Plan) -> None:
    print_laws(plan.laws, plan.sizes, plan.seeds, plan.n_fresh)


def tables(plan: Plan) -> None:
    real_tables = [load_table(name, plan.data) for name in plan.tables]
    results = [measure_table(t, counts, plan.seeds, plan.n_explained) for t in real_tables for counts in COUNTS]
    for print_part in (print_rules, print_supports, print_intervals, print_permuted):
        print_part(results)


def claims(plan: Plan) -> None:
    print_claims([load_table(name, plan.data) for name in plan.tables], plan.seeds, 3 * plan.n_explained)


def forests(plan: Plan) -> None:
    print_forests([load_table(name, plan.data) for name in plan.tables], plan.seeds)


PARTS = {"nulls": nulls, "laws": laws, "tables": tables, "claims": claims, "forests": forests}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all by default")
    parser.add_argument("--data", help=f"the folder of the tables; else that of the variable {FOLDER_VARIABLE}")
    parser.add_argument("--quick", action="store_true", help="a few rows, and the tables of scikit-learn only")
    parser.add_argument("--sizes", type=int, nargs="+", metavar="N", help="numbers of training rows of the laws")
    parser.add_argument("--seeds", type=int, metavar="N", help="how many seeds; 5 by default")
    options = parser.parse_args(arguments)
    unknown = set(options.parts) - set(PARTS)
    if unknown:
        parser.error(f"unknown part {unknown.pop()!r}; there are {', '.join(PARTS)}")
    plan = replace(QUICK if options.quick else Plan(), data=options.data)
    if not options.data and not os.environ.get(FOLDER_VARIABLE):
        plan = replace(plan, tables=BUNDLED)
    if options.sizes:
        plan = replace(plan, sizes=tuple(options.sizes))
    if options.seeds:
        plan = replace(plan, seeds=range(options.seeds))
    print(f"{head()}; {len(plan.seeds)} seeds")
    for part in options.parts or PARTS:
        start = time.perf_counter()
        PARTS[part](plan)
        print(f"\n({part}: {time.perf_counter() - start:.0f} s)")


if __name__ == "__main__":
    main()
