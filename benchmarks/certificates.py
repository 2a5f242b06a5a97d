"""What certificates keep and what they promise: ``python -m benchmarks.certificates --data FOLDER [TABLE ...]``.

Every table is split in three: rules are mined on the first half of the rows, certified on a quarter, and measured on
the last quarter, which nothing has seen. "below" is the share of rules whose precision there is below the level, as
counted; "clearly" is the share of which an exact test of 5 % says so. "trial" tests every rule mined at .95
(Benjamini-Hochberg); "rules" and "list" are the two ways of ``GlobalRulesClassifier.certify``, with all rules that are
worth a test and with at most 10 (the default of a list) or 20 of them (`max_rules`).
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from experiments.data.loaders import (
    load_attrition,
    load_bike,
    load_california,
    load_compas,
    load_diabetes,
    load_nhanes,
)

from suffice import GlobalRulesClassifier, GlobalRulesRegressor, SufficientExplainer

LEVEL, CONFIDENCE = 0.9, 0.95
N_MINED = 400  # training rows whose rules are collected
N_CANDIDATES = 7
MAX_ROWS = 10_000
MOST = {"": None, " 20": 20, " 10": 10}  # max_rules
WAYS = ("trial", *(f"{way}{most}" for way in ("rules", "list") for most in MOST))


def _csv(folder: str, name: str, target: str) -> tuple[Any, Any]:
    table = pd.read_csv(Path(folder) / name)
    return table.drop(columns=target), table[target].astype(str)


def _high_prices(folder: str) -> tuple[Any, Any]:
    X, y = load_california(folder)
    return X, pd.Series(np.where(y > np.quantile(y, 0.75), "high", "other"), index=y.index)


TABLES: dict[str, Callable[[str], tuple[Any, Any]]] = {
    "pima": load_diabetes,
    "german credit": lambda folder: _csv(folder, "german_credit.csv", "class"),
    "attrition": load_attrition,
    "diabetes 2000": lambda folder: load_diabetes(folder, variant="kaggle2000"),
    "compas": load_compas,
    "nhanes": load_nhanes,
    "bank marketing": lambda folder: _csv(folder, "bank_marketing.csv.gz", "subscribed"),
    "california, high": _high_prices,
    "bike": load_bike,
    "california": load_california,
}


@dataclass
class Tally:
    """Figures of one table and one way, summed over the seeds."""

    n_tested: int = 0
    n_kept: int = 0
    n_measured: int = 0
    n_below: int = 0
    n_clearly: int = 0
    coverage: list[float] = field(default_factory=list)
    list_precision: list[float] = field(default_factory=list)

    def add(self, kept: Any, n_tested: int, explainer: Any, X: Any, y: Any) -> None:
        self.n_tested += n_tested
        self.n_kept += len(kept.rules_)
        self.coverage.append(kept.coverage(X))
        if not kept.rules_:
            return
        measured = explainer.certify(kept, X, y, level=LEVEL, adjust=None).attached.rules_
        certificates = [line.certificate for line in measured if line.certificate.n_rows]
        self.n_measured += len(certificates)
        self.n_below += sum(c.share < LEVEL for c in certificates)
        self.n_clearly += sum(c.is_refuted for c in certificates)
        decided = kept.decision_path(X)
        y = np.asarray(y)
        right = [kept.rules_[i].promise.keeps(y[row : row + 1])[0] for row, i in enumerate(decided) if i >= 0]
        if right:
            self.list_precision.append(float(np.mean(right)))


def measure(name: str, folder: str, seeds: Iterable[int]) -> dict[str, Tally]:
    """Mine, certify and measure the rules of one table."""
    X, y = TABLES[name](folder)
    is_class = not (np.asarray(y).dtype.kind == "f" or (np.asarray(y).dtype.kind in "iu" and y.nunique() > 20))
    kind = GlobalRulesClassifier if is_class else GlobalRulesRegressor
    tallies = {way: Tally() for way in ("mined", *WAYS)}
    for seed in seeds:
        order = np.random.default_rng(seed).permutation(len(X))[:MAX_ROWS]
        parts = np.split(order, [len(order) // 2, 3 * len(order) // 4])
        (X_fit, y_fit), (X_check, y_check), (X_last, y_last) = ((X.iloc[p], y.iloc[p]) for p in parts)
        explainer = SufficientExplainer(random_state=seed, n_candidates=N_CANDIDATES, unseen="missing", n_jobs=1)
        explainer.fit(X_fit, y_fit)
        mined = {
            level: explainer.with_settings(pi=level)
            .explain(X_fit[:N_MINED], y_fit[:N_MINED], sets="minimal", progress=False)
            .rules
            for level in (LEVEL, (1 + LEVEL) / 2)
        }
        surer = kind.from_explanations(mined[(1 + LEVEL) / 2], X_fit, y_fit, min_precision=0.0)
        both = kind.from_explanations(
            [rule for rules in mined.values() for rule in rules], X_fit, y_fit, min_precision=0.0
        )
        trial = explainer.certify(surer, X_check, y_check, level=LEVEL, confidence=CONFIDENCE)
        kept = kind.from_explanations([line.rule for line in trial.certified], X_fit, y_fit, min_precision=0.0)
        tallies["mined"].add(both, len(both.rules_), explainer, X_last, y_last)
        tallies["trial"].add(kept, len(surer.rules_), explainer, X_last, y_last)
        for way in WAYS[1:]:
            of, most = way[:5].strip(), MOST[way.removeprefix("rules").removeprefix("list")]
            both.set_params(max_rules=most)
            certified = both.certify(X_check, y_check, precision=LEVEL, confidence=CONFIDENCE, of=of)
            tallies[way].add(certified, len(both.rules_), explainer, X_last, y_last)
    return tallies


def main() -> None:
    """Print a line for each table and way."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="*", choices=[*TABLES, []], help="the tables; all by default")
    parser.add_argument("--data", required=True, help="the folder with the published files")
    parser.add_argument("--seeds", type=int, default=2, help="how many splits of each table")
    # The constants of rule_lists/certifying.py were chosen on the splits 0 to 2 of these tables.
    parser.add_argument("--first-seed", type=int, default=10, help="the first of the splits")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{'table':18} {'way':8} {'kept':>10} {'coverage':>9} {'below':>7} {'clearly':>8} {'list':>6}", flush=True)
    totals = {way: Tally() for way in ("mined", *WAYS)}
    for name in options.tables or TABLES:
        for way, tally in measure(
            name, options.data, range(options.first_seed, options.first_seed + options.seeds)
        ).items():
            _print(name, way, tally)
            total = totals[way]
            total.coverage.append(float(np.mean(tally.coverage)))
            total.list_precision += tally.list_precision
            for count in ("n_tested", "n_kept", "n_measured", "n_below", "n_clearly"):
                setattr(total, count, getattr(total, count) + getattr(tally, count))
    for way, total in totals.items():
        _print("all", way, total)


def _print(name: str, way: str, tally: Tally) -> None:
    share = (
        f"{tally.n_below / tally.n_measured:7.1%} {tally.n_clearly / tally.n_measured:8.1%}"
        if tally.n_measured
        else f"{'-':>7} {'-':>8}"
    )
    precision = f"{np.mean(tally.list_precision):6.3f}" if tally.list_precision else f"{'-':>6}"
    kept = f"{tally.n_kept}/{tally.n_tested}"
    print(f"{name:18} {way:8} {kept:>10} {np.mean(tally.coverage):9.2f} {share} {precision}", flush=True)


if __name__ == "__main__":
    main()
