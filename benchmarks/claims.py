"""What the default answers claim on held-out rows: the rarest class, contested sets, and whether all parts agree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.held_out import Checked, check_rules, fit_explainer
from benchmarks.printing import number, print_table
from benchmarks.real_tables import RealTable

# Rows of the rarest class that are explained, of each seed.
N_RARE = 60


def rarest_class(y: Any) -> tuple[Any, float]:
    """The rarest class and its share of the rows."""
    labels, n_rows = np.unique(y, return_counts=True)
    return labels[np.argmin(n_rows)], float(n_rows.min() / len(y))


@dataclass
class Claims:
    """What was claimed about the rows of one table, over all seeds."""

    rare: dict[str, Checked] = field(default_factory=lambda: {"same": Checked(), "odds": Checked()})
    level: list[float] = field(default_factory=list)
    # One entry for each row with a set: is it contested, the own probability, was the prediction right?
    contested: list[tuple[bool, float, bool]] = field(default_factory=list)
    # One entry for each row with a set of variables: are rule, reasons and frame about the best set?
    agrees: list[bool] = field(default_factory=list)

    def right(self, contested: bool) -> float:
        chosen = [is_right for is_contested, _, is_right in self.contested if is_contested is contested]
        return float(np.mean(chosen)) if chosen else math.nan


def measure_claims(table: RealTable, seeds: range, n_explained: int) -> Claims:
    """Explain what the default explainer predicts for held-out rows, and compare with what happened."""
    claims = Claims()
    for seed in seeds:
        train, explained, fresh = table.split(seed, n_explained)
        explainer = fit_explainer(table, train.X, train.y, random_state=seed, unseen="missing")
        explanations = explainer.explain(explained.X, progress=False)
        is_right = explanations.outcomes == explained.y
        for i in np.flatnonzero(explanations.has_set).tolist():
            own = float(explanations.sdps_of_all[i])
            claims.contested.append((bool(explanations.is_contested[i]), own, bool(is_right[i])))
        _compare_parts(claims, explainer, explanations, explained.X)
        label, _ = rarest_class(train.y)
        rare = explained.X[explainer.predict(explained.X) == label][:N_RARE]
        claims.level.append(float(explainer.fitted_.level_of_rules()[label]))
        for levels, checked in claims.rare.items() if len(rare) else ():
            for of_class in check_rules(explainer.with_settings(levels=levels), rare, fresh).values():
                checked.add(of_class)
    return claims


def _compare_parts(claims: Claims, explainer: Any, explanations: Any, X: Any) -> None:
    reasons = explainer.reasons(X, adverse=list(explainer.classes_), progress=False)
    frame = explanations.to_frame("rows")
    for one, why, in_frame in zip(explanations, reasons, frame["best_set"], strict=True):
        if not one.is_sufficient or not one.best_set.variables:
            continue
        columns = {column for name, of in one.values if name in one.best_set.variables for column, _ in of}
        tested = set() if one.rule is None else {condition.name for condition in one.rule.conditions}
        same_reasons = why.best_set is None or why.best_set.variables == one.best_set.variables
        claims.agrees.append(tested <= columns and same_reasons and tuple(in_frame) == one.best_set.variables)


CLAIMS = """
## The rarest class

Held-out rows that the forest predicts to be of the rarest class, with `levels="same"` and by default, at the level of
the class. Lift: held-out precision of the rules over the share of the class.
"""
CONTESTED = """
## Contested sets

Held-out rows with a sufficient set: the share of contested ones, and how often the predicted outcome happened. Parts
agree: the rule tests variables of the best set only, and reasons and frame name the same set.
"""


def print_claims(tables: Sequence[RealTable], seeds: range, n_explained: int) -> None:
    measured = [(table, measure_claims(table, seeds, n_explained)) for table in tables if table.is_class]
    print(CLAIMS)
    lines = []
    for table, claims in measured:
        label, base_rate = rarest_class(table.y)
        same, odds = ((c.n_sets + c.n_empty) / c.n_rows if c.n_rows else math.nan for c in claims.rare.values())
        stated, held_out, _ = claims.rare["odds"].figures()
        figures = base_rate, float(np.mean(claims.level)), same, odds, stated, held_out, held_out / base_rate
        lines.append([table.name, str(label), str(claims.rare["odds"].n_rows), *map(number, figures)])
    names = ("base rate", "level", "set, same", "set, default", "stated", "held-out", "lift")
    print_table(["table", "class", "rows", *names], lines)
    print(CONTESTED)
    lines, total = [], Claims()
    for _, claims in measured:
        total.contested += claims.contested
        total.agrees += claims.agrees
    for name, claims in [*((table.name, claims) for table, claims in measured), ("all", total)]:
        share = np.mean([is_contested for is_contested, *_ in claims.contested]) if claims.contested else math.nan
        figures = share, claims.right(True), claims.right(False), np.mean(claims.agrees) if claims.agrees else math.nan
        lines.append([name, str(len(claims.contested)), *map(number, figures)])
    print_table(["table", "rows with a set", "contested", "right, contested", "right, others", "parts agree"], lines)
