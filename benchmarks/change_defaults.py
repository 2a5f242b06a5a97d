"""The defaults of changes: which probability of a leaf counts, how cautiously, the level and the least plausibility.

The settings are compared on some tables (`CHOSEN_ON`) and on some laws that are known (`LAWS_CHOSEN_ON`); the default
that they lead to is then measured on other tables (`REPORTED_ON`) and laws. All figures are about rows that neither
forest nor model was fitted on.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from benchmarks.laws import LAWS, Law
from benchmarks.printing import number, print_table
from benchmarks.real_tables import Part, load_table
from suffice import SufficientExplainer
from suffice._forest import out_of_bag
from suffice.changes.model import AskedModel

CHOSEN_ON = ("pima", "german credit", "nhanes", "california")
REPORTED_ON = ("attrition", "compas", "bank", "bike", "breast cancer")
# California's prices are in 100,000: rows below the first number should get one of the interval.
CHEAP, INTERVAL = 1.0, (2.0, 2.5)
LAWS_CHOSEN_ON = ("weak", "medium", "strong")
# Of 1000 fresh rows too few are in a box: Compas had 0.74 with these, and 0.80 with all.
N_ROWS, MOST_TRAINED, MOST_FRESH = 24, 2000, 5000
SEED = 1
MARGIN = 0.1


@dataclass(frozen=True)
class Setting:
    """Which probability of the leaves counts, and what is asked of a change."""

    name: str
    source: str  # "calibrated": the default; "counted": the shares of rows out of bag; "votes": of the rows drawn
    options: dict[str, Any]
    caution: float = out_of_bag.CAUTION  # standard errors between the calibrated curve and what is stated


def setting(
    source: str,
    pi: float,
    min_plausibility: float = 0.02,
    max_size: int = 3,
    margin: float = MARGIN,
    caution: float = out_of_bag.CAUTION,
) -> Setting:
    more = "" if max_size == 3 else f", {max_size} variables"
    more += "" if margin == MARGIN else f", margin {margin:g}"
    more += "" if caution == out_of_bag.CAUTION else f", {caution:g} standard errors"
    words = {"calibrated": "votes, calibrated", "counted": "rows out of bag", "votes": "votes as they are"}[source]
    options = {"pi": pi, "min_plausibility": min_plausibility, "max_size": max_size, "margin": margin}
    return Setting(f"{words}, {pi:g}, {min_plausibility:g}{more}", source, options, caution)


BEFORE, DEFAULT = setting("counted", 0.9, 0.05), setting("calibrated", 0.8)
CAUTIONS = (0.0, 1.64)
COMPARED = (
    BEFORE,
    setting("counted", 0.8),
    setting("votes", 0.8),
    setting("calibrated", 0.9),
    DEFAULT,
    *(setting("calibrated", 0.8, caution=caution) for caution in CAUTIONS),
    setting("calibrated", 0.7),
    setting("calibrated", 0.8, 0.02, 4),
)


MISSES = (
    setting("counted", 0.8),
    setting("counted", 0.8, 0.0),
    setting("counted", 0.8, 0.02, 5),
    DEFAULT,
    setting("calibrated", 0.8, 0.0),
    setting("calibrated", 0.8, 0.02, 5),
)


def boosted(X: Any, y: Any) -> Any:
    """A boosted model on the table as it is."""
    texts = make_column_selector(dtype_include=["object", "str", "category"])
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    kind = HistGradientBoostingRegressor if np.asarray(y).dtype.kind == "f" else HistGradientBoostingClassifier
    columns = make_column_transformer((encoder, texts), remainder="passthrough")
    return make_pipeline(columns, kind(random_state=0)).fit(X, y)


def fit(make: Callable[..., Any], source: str) -> Any:
    """Fit an explainer whose changes count what a setting names."""
    explainer = make(counts="bootstrap" if source == "votes" else "auto")
    if source == "counted":  # without votes and scores out of bag, the rows out of bag are counted as they are
        explainer.fitted_ = replace(explainer.fitted_, out_of_bag=None, errors=None)
    return explainer


def ask(explainer: Any, rows: Any, target: Any, one: Setting) -> Any:
    """The best change of each row, as the forest has it: the model is asked, but nothing is searched again."""
    with patch.object(out_of_bag, "CAUTION", one.caution), only_confirmed():
        return explainer.what_if(rows, target, n=1, progress=False, **one.options) if len(rows) else []


def only_confirmed() -> AbstractContextManager[Any]:
    """Leave the search for boxes out that are cut to where the model agrees: `benchmarks.asked_changes` measures it."""
    return patch.object(AskedModel, "search_again", lambda self, answers, *_, **__: list(answers))


def directions(y: Any) -> list[tuple[Any, Callable[[Any], Any]]]:
    """Targets, and which outcomes have them: each class, or the upper and the lower 30 % of numbers."""
    if y.dtype.kind == "f":
        low, high = (float(end) for end in np.quantile(y, [0.3, 0.7]))
        return [({"above": high}, lambda v: v >= high), ({"below": low}, lambda v: v <= low)]
    return [(label, lambda v, label=label: v == label) for label in np.unique(y)]


def share_of_fresh(explainer: Any, change: Any, row: Any, fresh: Part, has: Any) -> tuple[float, float]:
    """The weight of fresh rows in the box of a change that are like the row, and of those with the target.

    A fresh row weighs as much as the share of trees in which it is in the same leaf as the row with its values.
    """
    is_in = np.ones(len(fresh.X), dtype=bool)
    for condition in change.conditions:
        is_in &= condition.covers(fresh.X[condition.column].to_numpy())
    inside = fresh.X[is_in]
    if not len(inside):
        return 0.0, 0.0
    others = [name for name in inside.columns if name not in change.variables]
    moved = inside.assign(**{name: [row[name].iloc[0]] * len(inside) for name in others}).astype(
        inside.dtypes.to_dict()
    )
    leaves = [explainer.forest_.apply(explainer.encode(table)) for table in (inside, moved)]
    weights = np.mean(leaves[0] == leaves[1], axis=1)
    return float(weights.sum()), float(weights[has(fresh.y[is_in])].sum())


def mean(values: Sequence[Any]) -> str:
    return number(float(np.mean(values)), 2) if len(values) else "-"


def split(name: str) -> tuple[Part, Part]:
    """Rows to fit on, and fresh rows."""
    table = load_table(name)
    rows = np.random.default_rng(SEED).permutation(len(table.y))
    n = min(MOST_TRAINED, int(0.7 * len(rows)))
    y = table.y.astype(str) if table.is_class else table.y.astype(float)
    parts = rows[:n], rows[n : n + MOST_FRESH]
    first, second = (Part(table.X.iloc[part].reset_index(drop=True), y[part]) for part in parts)
    return first, second


def measure_table(name: str, settings: Sequence[Setting]) -> list[list[str]]:
    """The figures of a table: for a boosted model, and for the data themselves, both directions together."""
    train, fresh = split(name)
    model = boosted(train.X, train.y)
    lines = []
    for of_model in (True, False):
        explainers: dict[str, Any] = {}
        for one in settings:
            if one.source not in explainers:
                keywords = {"random_state": 0, "n_jobs": 1}
                explainers[one.source] = fit(
                    lambda counts, k=keywords, of_model=of_model: (
                        SufficientExplainer.for_model(model, train.X, counts=counts, **k)
                        if of_model
                        else SufficientExplainer(counts=counts, **k).fit(train.X, train.y)
                    ),
                    one.source,
                )
            explainer = explainers[one.source]
            outcomes = model.predict(fresh.X) if of_model else explainer.predict(fresh.X)
            n_rows, best, weight, reached = 0, [], 0.0, 0.0
            for target, has in directions(train.y):
                rows = fresh.X[~has(outcomes)][:N_ROWS]
                n_rows += len(rows)
                changes = ask(explainer, rows, target, one)
                best += [answer.best for answer in changes if answer.best]
                if of_model:
                    continue
                for i, answer in enumerate(changes):
                    if answer.best is not None:
                        all_rows, with_target = share_of_fresh(explainer, answer.best, rows[i : i + 1], fresh, has)
                        weight, reached = weight + all_rows, reached + with_target
            lines.append(
                [
                    name,
                    "model" if of_model else "data",
                    one.name,
                    number(len(best) / n_rows, 2),
                    mean([change.confirmed for change in best]) if of_model else "-",
                    mean([c.confirmed_share for c in best if c.confirmed_share is not None]) if of_model else "-",
                    number(reached / weight, 2) if weight else "-",
                    mean([len(change.variables) for change in best]),
                    mean([change.plausibility for change in best]),
                ]
            )
            print(*lines[-1], sep=" | ", file=sys.stderr, flush=True)
    return lines


def measure_law(law: Law, n_train: int, one: Setting) -> list[str]:
    """The true probability of the target at least changes and at rows moved into boxes."""
    rng = np.random.default_rng(SEED)
    (X, y), (fresh, _) = law.draw(n_train, rng), law.draw(200, rng)
    y = np.asarray(y)
    explainer = fit(lambda counts: SufficientExplainer(random_state=0, n_jobs=1, counts=counts).fit(X, y), one.source)
    outcomes = explainer.predict(fresh)
    n_rows, stated, at_least, moved = 0, [], [], []
    for target, has in directions(y):
        rows = fresh[~has(outcomes)][:N_ROWS]
        n_rows += len(rows)
        changes = ask(explainer, rows, target, one)
        for answer in changes:
            if answer.best is None:
                continue
            change = answer.best
            stated.append(change.probability)
            row = X.iloc[:1].assign(**{**answer.values, **change.values})
            others = X.iloc[list(change.rows)].assign(
                **{name: answer.values[name] for name in X.columns if name not in change.variables}
            )
            at_least.append(true_probability(law, row, target)[0])
            moved.append(float(np.mean(true_probability(law, others, target))))
    line = [law.name, str(n_train), one.name, number(len(stated) / n_rows, 2), mean(stated)]
    line += [mean(at_least), mean(moved)]
    print(*line, sep=" | ", file=sys.stderr, flush=True)
    return line


def true_probability(law: Law, X: Any, target: Any) -> Any:
    """P(target | X) by the law."""
    if not isinstance(target, dict):
        return law.sdp(X, list(X.columns), np.full(len(X), target))
    ends = (target["above"], np.inf) if "above" in target else (-np.inf, target["below"])
    return law.sdp(X, list(X.columns), np.tile(ends, (len(X), 1)))


def print_defaults(names: Sequence[str] = CHOSEN_ON, settings: Sequence[Setting] = COMPARED) -> None:
    """Compare the settings on the tables that the defaults were chosen on."""
    print("\nDefaults: settings on the tables that they were chosen on\n")
    _print_tables(names, settings)


def print_reported() -> None:
    """Measure the default, and the one before, on tables that had no part in the choice."""
    print("\nDefaults: on tables that had no part in the choice\n")
    _print_tables(REPORTED_ON, (BEFORE, DEFAULT))


def _print_tables(names: Sequence[str], settings: Sequence[Setting]) -> None:
    lines = [line for name in names for line in measure_table(name, settings)]
    head = ["table", "of", "setting: probability, pi, least plausibility", "found", "confirmed", "moved rows"]
    print()
    print_table([*head, "fresh rows", "size", "plausibility"], lines)


def print_misses() -> None:
    """Why rows of California have no change to a narrow interval: too rare, or not probable enough."""
    train, fresh = split("california")
    model = boosted(train.X, train.y)
    outcomes = model.predict(fresh.X)
    rows = fresh.X[outcomes < CHEAP][:N_ROWS]
    lines = []
    for one in MISSES:
        explainer = fit(
            lambda counts: SufficientExplainer.for_model(model, train.X, counts=counts, random_state=0, n_jobs=1),
            one.source,
        )
        answers = ask(explainer, rows, INTERVAL, one)
        best = [answer.best for answer in answers if answer.best]
        missed = [answer.nearest.probability for answer in answers if answer.nearest and not answer.is_too_rare]
        lines.append(
            [
                one.name,
                number(len(best) / len(rows), 2),
                mean([answer.is_too_rare for answer in answers]),
                number(len(missed) / len(rows), 2),
                number(float(np.median(missed)), 2) if missed else "-",
                mean([change.confirmed for change in best]),
                mean([c.confirmed_share for c in best if c.confirmed_share is not None]),
                mean([len(change.variables) for change in best]),
            ]
        )
        print(*lines[-1], sep=" | ", file=sys.stderr, flush=True)
    heads = [
        "setting",
        "found",
        "too rare",
        "not probable enough",
        "nearest (median)",
        "confirmed",
        "moved rows",
        "size",
    ]
    print("\nCalifornia, below 100,000 to 200,000 - 250,000: why rows have no change\n")
    print_table(heads, lines)


def print_laws(laws: Sequence[Law] = LAWS, sizes: Sequence[int] = (700, 2000)) -> None:
    """Compare stated with true probabilities where these are known, on laws that the defaults were chosen on."""
    compared = (
        DEFAULT,
        *(setting("calibrated", 0.8, caution=caution) for caution in CAUTIONS),
        *(setting("calibrated", 0.8, margin=margin) for margin in (0.05, 0.0)),
    )
    print("\nDefaults: true probabilities of the laws that they were chosen on\n")
    _print_laws([law for law in laws if law.name in LAWS_CHOSEN_ON], sizes, compared)


def print_reported_laws(laws: Sequence[Law] = LAWS, sizes: Sequence[int] = (700, 2000)) -> None:
    """Measure the default on laws that had no part in the choice."""
    print("\nDefaults: true probabilities of laws that had no part in the choice\n")
    _print_laws([law for law in laws if law.name not in LAWS_CHOSEN_ON], sizes, (DEFAULT,))


def _print_laws(laws: Sequence[Law], sizes: Sequence[int], settings: Sequence[Setting]) -> None:
    lines = [measure_law(law, n, one) for law in laws for n in sizes for one in settings]
    head = ["law", "rows", "setting: probability, pi, least plausibility", "found", "stated", "true, least change"]
    print_table([*head, "true, moved"], lines)
