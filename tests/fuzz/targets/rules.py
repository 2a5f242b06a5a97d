"""Rules of drawn tables: each selects the rows that it counts and the row that it explains, in every form of it.

So do the numbers next to its ends, as float64 and as float32; if a rule holds everywhere, it does so there, too.
"""

from __future__ import annotations

import json
import math
import sqlite3
import warnings

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from suffice import Rule, SufficientExplainer, rule
from suffice.rule_lists.code import HAS_VALUE, condition_to_python

CASES = st.integers(0, 2**62)
COLUMNS = [
    lambda rng, n: rng.integers(0, int(rng.choice([2, 5, 1000])), n).astype(float),
    lambda rng, n: rng.normal(size=n),
    lambda rng, n: 10.0 ** rng.integers(5, 12) + rng.integers(0, 1000, n) / int(rng.choice([1, 10, 100])),
    lambda rng, n: 1_700_000_000 + rng.integers(0, 86_400, n).astype(float),
    lambda rng, n: rng.normal(size=n).round(1),
    lambda rng, n: rng.normal(size=n) * 10.0 ** rng.integers(-38, 30),
    lambda rng, n: (
        np.nextafter(np.full(n, 0.1, np.float32), np.float32(1)).astype(float) + rng.integers(0, 9, n) * 1e-9
    ),
    lambda rng, n: np.where(rng.random(n) < 0.2, np.nan, rng.integers(0, 30, n)),
]
PI = 0.8


def check(case):
    rng = np.random.default_rng(case)
    n = int(rng.integers(12, 60))
    X = pd.DataFrame(
        {f"c{i}": COLUMNS[int(rng.integers(len(COLUMNS)))](rng, n) for i in range(int(rng.integers(1, 4)))}
    )
    y = np.argsort(np.argsort(np.nan_to_num(X.iloc[:, 0]))) * 3 // n + (rng.random(n) < 0.1)
    kind = [RandomForestClassifier, ExtraTreesClassifier][int(rng.integers(2))]
    forest = kind(n_estimators=4, bootstrap=True, random_state=int(rng.integers(1000)))
    options = {"counts": "bootstrap", "min_size": 1, "n_jobs": 1, "pi": PI, "levels": "same"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        explainer = SufficientExplainer(forest, task="classification", **options).fit(X, y)
        explanations = explainer.explain(X, check=str(rng.choice(["rows", "everywhere"])), rules="all")
    n_rules, distinct = 0, {}
    for row, explanation in enumerate(explanations):
        for set_, one in zip(explanation.sufficient_sets, explanation.rules, strict=True):
            covered = one.covers(X)
            assert covered[row], (row, str(one))
            assert covered.sum() == one.support, str(one)
            distinct[one.conditions, one.outcome] = one, set_, row
            n_rules += 1
    near = {key: beside(one, X.iloc[row]) for key, (one, _, row) in distinct.items()}
    points = pd.concat([X, *near.values()], ignore_index=True)
    with sqlite3.connect(":memory:") as database:
        points.to_sql("x", database, index_label="place")
        for one, _, _ in distinct.values():
            check_forms(one, points, X, database)
    for key, (one, set_, _) in distinct.items():
        inside = near[key][one.covers(near[key])]
        # A rule says nothing about numbers that a column of whole ones, or of 0 and 1, cannot hold: `beside` has none.
        if one.everywhere and len(inside) and set_.sdp >= PI:
            reached = explainer.sdp(inside, list(set_.variables), [one.outcome] * len(inside))
            assert reached.min() >= PI - 1e-9, (str(one), inside.iloc[int(reached.argmin())])
    return max(n_rules, 1)


def beside(one, own):
    """The row with each end of a rule in its place, and with the float64 and float32 numbers next to these."""
    rows = [own]
    for condition in one.conditions:
        if condition.reads == "number":
            singles = [np.float32(end) for end in (condition.low, condition.high) if math.isfinite(end)]
            singles = [np.nextafter(at, np.float32(to)) for at in singles for to in (-9e37, at, 9e37)]
            ends = [*map(float, singles), condition.low, condition.high]
            numbers = {math.nextafter(end, to) for end in ends for to in (-math.inf, end, math.inf)}
            rows += [own.where(own.index != condition.column, v) for v in sorted(numbers)]
    table = pd.DataFrame(rows)
    return table[(table.isna() | (table.abs() < 3e38)).all(axis=1)]


def check_forms(one, points, X, database):
    """A rule read back from JSON and from its text, and as code of Python and SQL, covers the same."""
    covered = one.covers(points)
    forms = {
        "JSON": Rule.from_dict(json.loads(json.dumps(one.to_dict()))).covers(points),
        "text": rule(str(one).split(" THEN ")[0], X=X, y=np.zeros(len(X))).covers(points),
    }
    names = {}
    code = " and ".join(map(condition_to_python, one.conditions))
    exec(f"{HAS_VALUE}def covers(row):\n    return {code}", names)
    forms["Python"] = np.array([bool(names["covers"](row)) for row in points.to_dict("records")])
    # SQLite reads a number of 17 digits with an error in the last one.
    ends = [end for condition in one.conditions for end in (condition.low, condition.high)]
    if all(math.isinf(end) or len(f"{end!r}".replace(".", "")) <= 15 for end in ends):
        selected = [place for (place,) in database.execute(f"SELECT place FROM x WHERE {one.to_sql()}")]
        forms["SQL"] = np.isin(np.arange(len(points)), selected)
    for name, others in forms.items():
        assert np.array_equal(others, covered), (name, str(one), points[others != covered])
