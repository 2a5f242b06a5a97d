"""The figures of the estimator, for the default: ``python -m benchmarks.estimator [PART ...] [key=value ...]``.

All parts fit ``SufficientExplainer(random_state=seed)`` with no other option but `n_jobs`, which changes no answer.
Settings are compared by ``key=value``, such as ``candidates=splits``, or ``forest.max_features=0.7`` for the default
forest with another parameter. What is tuned on ``--draw 0`` is reported on ``--draw 1``, with other seeds, tables and
splits. The figures are means over seeds, and their standard deviations.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import combinations, product
from typing import Any
from unittest import mock

import numpy as np
from experiments.data.loaders import FOLDER_VARIABLE
from sklearn.base import clone

from benchmarks.decision_tables import LAWS as DECISIONS
from benchmarks.default_explainer import Plan, explain, has_claim, read_setting
from benchmarks.held_out import Checked, check_rules
from benchmarks.known_laws import lower_bounds, mean_of, true_sdps
from benchmarks.known_tables import CATEGORY, FREQUENT, INTERACTIONS, NO_SIGNAL, NUMBER, OWN_NOISE, noisy_table
from benchmarks.laws import CLASSES, LAWS, Law, Linear, Logistic
from benchmarks.printing import number, print_table
from benchmarks.real_tables import BUNDLED, LOADERS, RealTable, load_table
from benchmarks.run import head
from suffice._forest import candidates

# A claim is true if the probability is below the level by at most this: what rounding and a little noise may take.
TOLERANCE = 0.02


def over_seeds(values: Sequence[float], digits: int = 3) -> str:
    """The mean of the values that are known and, for two or more, their standard deviation."""
    known = np.array([value for value in values if not np.isnan(value)])
    if len(known) < 2:
        return number(float(known.mean()) if len(known) else np.nan, digits)
    return f"{number(known.mean(), digits)} ± {number(known.std(), digits)}"


def lines_of(runs: dict[str, list[dict[str, float]]]) -> tuple[list[str], list[list[str]]]:
    """The names of the figures, and a line of means for each key."""
    names = list(next(iter(runs.values()))[0])
    return names, [
        [key, *(over_seeds([run[name] for run in of_key]) for name in names)] for key, of_key in runs.items()
    ]


def print_runs(first: str, runs: dict[str, list[dict[str, float]]]) -> None:
    names, lines = lines_of(runs)
    print_table([first, *names], lines)


# --- interactions ---------------------------------------------------------------------------------------------------

INTERACTION = """
## Variables that matter only together

The best set of every fresh row, also where it is not sufficient. TPR, FDR: the share of the variables that matter that
it holds, and of its variables that do not matter. No set: no set is sufficient. Of the rows with a sufficient set:
exact, the best set is the variables that matter; noise, it holds a column that matters for no row. Score: accuracy or
R2 of the forest on training rows out of bag.
"""


# Training rows and rows that are explained.
FULL = {
    "switch": (10_000, 1000),
    "moons": (10_000, 500),
    "xor": (4000, 300),
    "checkerboard": (10_000, 300),
    "parity": (10_000, 300),
}
QUICK = {
    "switch": (4000, 200),
    "moons": (10_000, 100),
    "xor": (4000, 100),
    "checkerboard": (10_000, 100),
    "parity": (10_000, 100),
}


def measure_interaction(plan: Plan, name: str, seed: int) -> dict[str, float]:
    n_train, n_rows = plan.pick(FULL, QUICK)[name]
    table = INTERACTIONS[name](n_train, n_rows, np.random.default_rng(seed))
    explainer = plan.fit(table.X, table.y, seed)
    explanations = explain(explainer, table.rows)
    sets, has_set = [best.variables for best in explanations.best_sets], explanations.has_set
    tpr, fdr = table.detect(sets)
    return {
        "TPR": tpr,
        "FDR": fdr,
        "no set": float(np.mean(~has_set)),
        "exact": mean_of(table.is_exact(sets), has_set),
        "noise": mean_of(table.has_noise(sets), has_set),
        "score": explainer.fidelity_,
    }


def interactions(plan: Plan, names: Sequence[str]) -> None:
    print(INTERACTION)
    print_runs("table", {name: [measure_interaction(plan, name, seed) for seed in plan.seeds] for name in names})


# --- no signal ------------------------------------------------------------------------------------------------------

NULLS = """
## No signal

The share of fresh rows with a sufficient set of at least one variable, where no column is related to the outcome; by
the base rate of the more frequent class. Worst: of a seed and base rate.
"""


def measure_null(plan: Plan, kind: str, n_train: int, base_rate: float, seed: int) -> float:
    rng = np.random.default_rng(seed)
    n_rows = plan.pick(60, 30)
    X, y = NO_SIGNAL[kind](n_train + n_rows, rng), (rng.random(n_train) < base_rate).astype(int)
    train, fresh = X[:n_train], X[n_train:]
    # In small tables, fresh rows may hold categories that are new.
    names = train.select_dtypes(exclude="number").columns
    is_known = fresh[names].apply(lambda column: column.isin(train[column.name])).all(axis=1).to_numpy(bool)
    explainer = plan.fit(train, y, seed)
    return float(has_claim(explain(explainer, fresh[is_known])).mean())


def nulls(plan: Plan) -> None:
    print(NULLS)
    base_rates, sizes = plan.pick((0.5, 0.8, 0.86), (0.8, 0.86)), plan.pick((200, 500, 2000, 10_000), (500, 2000))
    lines = []
    for kind, n_train in product(NO_SIGNAL, sizes):
        claims = [[measure_null(plan, kind, n_train, rate, seed) for seed in plan.seeds] for rate in base_rates]
        lines.append([kind, str(n_train), *map(over_seeds, claims), number(np.max(claims))])
    print_table(["columns", "rows", *(f"base rate {rate:g}" for rate in base_rates), "worst"], lines)


# --- noise columns --------------------------------------------------------------------------------------------------

NOISE = """
## Noise columns beside signal

With set: the share of fresh rows with a sufficient set of at least one variable. Of these rows: a noise column is in
any of the sufficient sets, in one of the smallest, or in the best one; the added number or category of 30 levels is in
any. False: where the law is known, the true SDP of the best set is below the level by more.
"""


def measure_noise(plan: Plan, name: str, seed: int) -> dict[str, float]:
    n_train, n_rows = plan.pick((3000, 150), (2000, 60))
    table = noisy_table(name, n_train + n_rows, seed)
    explainer = plan.fit(table.X[:n_train], table.y[:n_train], seed)
    rows = table.X[n_train:].reset_index(drop=True)
    explanations = explain(explainer, rows, sets="all")
    is_claimed = has_claim(explanations)
    claimed = [explanation for explanation, is_one in zip(explanations, is_claimed, strict=True) if is_one]
    every = [set().union(*(S.variables for S in e.sufficient_sets)) for e in claimed]
    smallest = [
        set().union(*(S.variables for S in e.sufficient_sets if len(S.variables) == len(e.best_set.variables)))
        for e in claimed
    ]
    best = [set(e.best_set.variables) for e in claimed]
    false = np.nan
    if name == FREQUENT.name:
        false = mean_of(true_sdps(_WithoutAdded(), rows, explanations) < explanations.levels - TOLERANCE, is_claimed)
    shares = {
        "noise in any set": [not table.noise.isdisjoint(S) for S in every],
        "in a smallest set": [not table.noise.isdisjoint(S) for S in smallest],
        "in the best set": [not table.noise.isdisjoint(S) for S in best],
        "added number in any": [NUMBER in S for S in every],
        "added category in any": [CATEGORY in S for S in every],
    }
    means = {key: float(np.mean(values)) if values else np.nan for key, values in shares.items()}
    return {"with set": float(is_claimed.mean()), **means, "false": false}


class _WithoutAdded:
    """The law of the table with a frequent class, for sets that may hold the added columns."""

    name, draw = FREQUENT.name, FREQUENT.draw

    def sdp(self, X: Any, S: Sequence[str], kept: Any) -> Any:
        own = [name for name in S if name not in (NUMBER, CATEGORY)]
        return FREQUENT.sdp(X.drop(columns=[NUMBER, CATEGORY]), own, kept)


def noise(plan: Plan) -> None:
    print(NOISE)
    names = plan.pick((*OWN_NOISE, FREQUENT.name), ("telco-like", "adult-like", FREQUENT.name))
    print_runs("table", {name: [measure_noise(plan, name, seed) for seed in plan.seeds] for name in names})


# --- known laws -----------------------------------------------------------------------------------------------------

KNOWN = f"""
## Laws that are known

2000 training rows. Oracle: the share of fresh rows for which some set of variables, but not the empty one, keeps the
outcome with a true probability of its level; the outcome is the most probable class, or the interval that was
explained. Power: the share of these rows that get a sufficient set whose true SDP is below the level by at most
{TOLERANCE}. True: the share of claims (sufficient sets of at least one variable) with that. Bias: the stated SDP of
claims less the true one; of all variables: the stated probability given all variables less the true one, over all rows.
Bound holds: the share of claims, and of the best sets of all rows, whose true SDP is not below the lower bound.
"""


def sets_of_oracle(law: Law, X: Any) -> list[list[str]]:
    """The sets of the variables that matter, as far as they can be told; up to three variables of LUCAS."""
    names, n_most = list(X.columns), 5
    if isinstance(law, Logistic | Linear):
        names = names[: len(law.slopes)]
    elif law.name == "LUCAS":
        n_most = 3
    else:
        names = names[:5]
    return [list(S) for size in range(1, n_most + 1) for S in combinations(names, size)]


def oracle_has_set(law: Law, X: Any, explanations: Any, classes: Any) -> Any:
    """Whether a set, but not the empty one, keeps the outcome of each row with a true probability of its level."""
    of_rules = explanations.fitted.level_of_rules()
    if explanations.intervals is not None:
        kept, levels = explanations.intervals, of_rules
    else:
        every = [law.sdp(X, list(X.columns), np.full(len(X), label)) for label in classes]
        kept = np.asarray(classes)[np.argmax(every, axis=0)]
        levels = np.array([of_rules[label] for label in kept.tolist()]) if isinstance(of_rules, dict) else of_rules
    best = np.max([law.sdp(X, S, kept) for S in sets_of_oracle(law, X)], axis=0)
    return (best >= levels) & (law.sdp(X, [], kept) < levels)


def measure_law(plan: Plan, law: Law, seed: int) -> dict[str, float]:
    rng = np.random.default_rng(seed)
    X, y = law.draw(2000, rng)
    fresh, _ = law.draw(plan.pick(300, 150), rng)
    explainer = plan.fit(X, y, seed)
    explanations = explain(explainer, fresh)
    is_claimed, truth = has_claim(explanations), true_sdps(law, fresh, explanations)
    is_true = truth >= explanations.levels - TOLERANCE
    could = oracle_has_set(law, fresh, explanations, np.unique(y))
    kept = explanations.outcomes if explanations.intervals is None else explanations.intervals
    lowers, sets = lower_bounds(explanations), explanations.answers
    bias_of_all = sets.sdps_of_all - law.sdp(fresh, list(fresh.columns), kept)
    return {
        "oracle": float(could.mean()),
        "power": mean_of(is_claimed & is_true, could),
        "claims": float(is_claimed.mean()),
        "true": mean_of(is_true, is_claimed),
        "bias": mean_of(sets.sets.best_sdps - truth, is_claimed),
        "of all variables": float(bias_of_all.mean()),
        "bound holds": mean_of(lowers <= truth + 1e-9, is_claimed),
        "for all rows": float(np.mean(lowers <= truth + 1e-9)),
    }


def laws(plan: Plan) -> None:
    print(KNOWN)
    named = {law.name: law for law in (*CLASSES, *LAWS)}
    names = plan.pick(tuple(named), ("XOR", "noisy switch", "three classes", "weak", "medium", "switch"))
    print_runs("law", {name: [measure_law(plan, named[name], seed) for seed in plan.seeds] for name in names})


# --- categories -----------------------------------------------------------------------------------------------------

LEAST_ROWS = 200
SHARES = f"""
## Categories

The distance of the SDP of one category, or of a pair, from the share of the outcome among the training rows that have
it; for categories and pairs of at least {LEAST_ROWS} training rows, and the first class.
"""


def drawn_table(name: str, n_rows: int, seed: int) -> RealTable:
    table = DECISIONS[name](n_rows, seed)
    return RealTable(name, table.X, table.y.to_numpy().astype(str), True)


def measure_categories(plan: Plan, table: RealTable, seed: int) -> dict[str, float]:
    explainer = plan.fit(table.X, table.y, seed)
    names = list(table.X.select_dtypes(exclude="number").columns)
    label = np.unique(table.y)[0]
    figures = {}
    for size, kind in ((1, "categories"), (2, "pairs")):
        distances = []
        for S in combinations(names, size):
            groups = table.X.groupby(list(S), observed=True).indices
            members = [rows for rows in groups.values() if len(rows) >= LEAST_ROWS]
            if members:
                first = [rows[0] for rows in members]
                sdps = explainer.sdp(table.X.iloc[first], list(S), np.full(len(first), label))
                distances += list(np.abs(sdps - [np.mean(table.y[rows] == label) for rows in members]))
        figures |= {
            f"{kind}, mean": float(np.mean(distances)) if distances else np.nan,
            f"{kind}, largest": float(np.max(distances)) if distances else np.nan,
        }
    return figures


def categories(plan: Plan) -> None:
    print(SHARES)
    runs = {
        name: [measure_categories(plan, drawn_table(name, 5000, seed), seed) for seed in plan.seeds]
        for name in plan.pick(tuple(DECISIONS), ("telco-like", "adult-like"))
    }
    for name in ("german credit", "attrition") if plan.has_data else ():
        runs[name] = [measure_categories(plan, load_table(name, plan.data), seed) for seed in plan.seeds]
    print_runs("table", runs)


# --- held-out rows --------------------------------------------------------------------------------------------------

HELD_OUT = """
## Held-out rows

The best sets and rules of held-out rows, by class. SDP: that of the best set; stated: the precision that its rule
states; held-out: the share of the other held-out rows in the rule that keep the outcome. Both are means over the rows
with a rule that covers held-out rows.
"""


def check_table(plan: Plan, name: str) -> dict[str, Checked]:
    """Explain and check held-out rows of a table over all seeds; by class."""
    by_class: dict[str, Checked] = defaultdict(Checked)
    for seed in plan.seeds[: plan.pick(3, 1)]:
        table = drawn_table(name, plan.pick(6000, 4000), seed) if name in DECISIONS else load_table(name, plan.data)
        train, explained, fresh = table.split(seed, plan.pick(150, 60))
        explainer = plan.fit(train.X, train.y, seed)
        for label, checked in check_rules(explainer, explained.X, fresh).items():
            by_class[label].add(checked)
    return dict(sorted(by_class.items()))


def line_of_class(name: str, label: str, checked: Checked) -> list[str]:
    stated, held_out, difference = checked.figures()
    is_known = ~np.isnan(np.array(checked.stated, dtype=float)) & ~np.isnan(np.array(checked.held_out, dtype=float))
    sdp = mean_of(np.array(checked.sdp, dtype=float), is_known)
    every = np.ones(len(checked.size), dtype=bool)
    figures = [
        (checked.n_sets + checked.n_empty) / checked.n_rows,
        mean_of(np.array(checked.size, dtype=float), every),
        mean_of(np.array(checked.coverage, dtype=float), every),
        sdp,
        stated,
        held_out,
        sdp - held_out,
        difference,
    ]
    return [name, label, str(checked.n_rows), *map(number, figures)]


def heldout(plan: Plan) -> None:
    print(HELD_OUT)
    real = plan.pick(tuple(LOADERS), ("german credit", "attrition")) if plan.has_data else BUNDLED
    lines = [
        line_of_class(name, label, checked)
        for name in (*plan.pick(tuple(DECISIONS), ("telco-like", "adult-like")), *real)
        for label, checked in check_table(plan, name).items()
    ]
    names = ("with set", "size", "coverage", "SDP", "stated", "held-out", "SDP less held-out", "stated less held-out")
    print_table(["table", "class", "rows", *names], lines)


# --- intervals ------------------------------------------------------------------------------------------------------

INTERVALS = """
## Intervals of numbers

The share of held-out outcomes within the interval, and its mean width divided by that of an interval that holds the
same share: the prediction plus and minus a quantile of the sizes of residuals out of bag, among training rows in the
same tenth of predictions.
"""


def measure_intervals(plan: Plan, table: RealTable, seed: int) -> dict[str, float]:
    train, _, fresh = table.split(seed, 0)
    explainer = plan.fit(train.X, train.y, seed)
    twin = clone(explainer.forest_).set_params(oob_score=True).fit(explainer.encode(train.X), train.y)
    widths_of = residual_widths(twin.oob_prediction_, train.y, twin.predict(explainer.encode(fresh.X)), fresh.y)
    figures = {}
    for alpha in (0.05, 0.1, 0.2):
        low, high = explainer.with_settings(alpha=alpha).interval(fresh.X).T
        share = float(np.mean((low <= fresh.y) & (fresh.y <= high)))
        figures[f"within, alpha {alpha:g}"] = share
        figures[f"width, alpha {alpha:g}"] = float(np.mean(high - low) / np.interp(share, *widths_of))
    return figures


def residual_widths(predicted: Any, y: Any, fresh_predicted: Any, fresh_y: Any) -> tuple[Any, Any]:
    """The shares of fresh outcomes within intervals of residuals, and the mean widths of these, by rising level."""
    cuts = np.quantile(predicted, np.arange(0.1, 1, 0.1))
    tenth, fresh_tenth = np.digitize(predicted, cuts), np.digitize(fresh_predicted, cuts)
    levels = np.linspace(0.5, 1, 201)
    halves = np.array([np.quantile(np.abs(y - predicted)[tenth == k], levels) for k in range(10)])[fresh_tenth]
    shares = (np.abs(fresh_y - fresh_predicted)[:, None] <= halves).mean(axis=0)
    return shares, 2 * halves.mean(axis=0)


def intervals(plan: Plan) -> None:
    print(INTERVALS)
    names = plan.pick(("bike", "california", "diabetes"), ("bike",)) if plan.has_data else ("diabetes",)
    runs = {}
    for name in names:
        table = _thinned(load_table(name, plan.data), plan.pick(8000, 3000))
        runs[name] = [measure_intervals(plan, table, seed) for seed in plan.seeds]
    print_runs("table", runs)


def _thinned(table: RealTable, n_rows: int) -> RealTable:
    rows = np.random.default_rng(0).permutation(len(table.y))[:n_rows]
    return RealTable(table.name, table.X.iloc[rows].reset_index(drop=True), table.y[rows], table.is_class)


# --- other seeds ----------------------------------------------------------------------------------------------------

OTHER_SEED = """
## Another seed

Two explainers of the same training rows that differ in their `random_state`. Of the fresh rows with a sufficient set by
the first: some set is sufficient by the second, the best set is the same, the share of its variables that recur.
"""


def three_tables(plan: Plan, seed: int, n_rows: int) -> list[RealTable]:
    """Census-like, churn-like, and bike, if it is at hand; diabetes otherwise."""
    numbers = _thinned(load_table("bike" if plan.has_data else "diabetes", plan.data), 2 * n_rows)
    return [drawn_table(name, 2 * n_rows, seed) for name in ("adult-like", "telco-like")] + [numbers]


def measure_seeds(plan: Plan, table: RealTable, seed: int) -> dict[str, float]:
    train, explained, _ = table.split(seed, plan.pick(150, 60))
    first, second = (explain(plan.fit(train.X, train.y, at), explained.X) for at in (seed, seed + 500))
    has_set = first.has_set
    best = [[set(S.variables) for S in one.best_sets] for one in (first, second)]
    same = np.array([S == T for S, T in zip(*best, strict=True)]) & second.has_set
    recurring = np.array([len(S & T) / len(S) if S else float(not T) for S, T in zip(*best, strict=True)])
    return {
        "with set": float(has_set.mean()),
        "some set": mean_of(second.has_set, has_set),
        "same best set": mean_of(same, has_set),
        "recurring": mean_of(recurring, has_set),
    }


def seeds(plan: Plan) -> None:
    print(OTHER_SEED)
    runs: dict[str, list[dict[str, float]]] = defaultdict(list)
    for seed in plan.seeds:
        for table in three_tables(plan, seed, plan.pick(4000, 1500)):
            runs[table.name].append(measure_seeds(plan, table, seed))
    print_runs("table", runs)


# --- the least gain -------------------------------------------------------------------------------------------------

LEAST_GAINS = """
## The gain that a variable needs

In standard errors: 1.2 is the default. Held-out rows with a set, its mean size, the precision of rules stated and on
other held-out rows, and the accuracy of the forest on these.
"""


def measure_least_gain(plan: Plan, table: RealTable, least: float, seed: int) -> dict[str, float]:
    train, explained, fresh = table.split(seed, plan.pick(100, 60))
    with mock.patch.object(candidates, "LEAST_GAIN", least):
        explainer = plan.fit(train.X, train.y, seed)
        total = Checked()
        for checked in check_rules(explainer, explained.X, fresh).values():
            total.add(checked)
    stated, held_out, _ = total.figures()
    size = float(np.mean(total.size)) if total.size else np.nan
    share = (total.n_sets + total.n_empty) / total.n_rows
    score = explainer.score(fresh.X, fresh.y)
    return {"with set": share, "size": size, "stated": stated, "held-out": held_out, "accuracy": score}


def least_gains(plan: Plan) -> None:
    print(LEAST_GAINS)
    names = ("german credit", "attrition", "pima", "nhanes", "wine") if plan.has_data else ("wine",)
    tables = [load_table(name, plan.data) for name in (*names, "breast cancer")]
    runs = {
        f"{table.name}, {least:g}": [measure_least_gain(plan, table, least, seed) for seed in plan.seeds]
        for table in tables
        for least in (1.2, 1.6, 2.0)
    }
    print_runs("table, standard errors", runs)


# --- time -----------------------------------------------------------------------------------------------------------

TIME = """
## Time

CPU milliseconds of one thread for the minimal sets of a row, without rules, and for all of them (best of three rounds);
CPU seconds of the fit.
"""


def cpu_seconds(job: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    answer = job()
    return time.process_time() - start, answer


def measure_time(plan: Plan, table: RealTable, seed: int) -> dict[str, float]:
    train, explained, _ = table.split(seed, plan.pick(100, 50))
    seconds, explainer = cpu_seconds(lambda: plan.fit(train.X, train.y, seed))
    figures = {}
    for sets in ("minimal", "all"):
        best = min(cpu_seconds(lambda: explain(explainer, explained.X, sets))[0] for _ in range(3))  # noqa: B023
        figures[f"{sets} sets"] = 1000 * best / len(explained.y)
    return {**figures, "fit": seconds}


def times(plan: Plan) -> None:
    print(TIME)
    tables = three_tables(plan, plan.seeds[0], plan.pick(5000, 2000))
    print_runs("table", {table.name: [measure_time(plan, table, seed) for seed in plan.seeds[:2]] for table in tables})


PARTS: dict[str, Callable[[Plan], None]] = {
    "nulls": nulls,
    "noise": noise,
    "laws": laws,
    "categories": categories,
    "heldout": heldout,
    "intervals": intervals,
    "seeds": seeds,
    "gains": least_gains,
    "time": times,
}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    every = (*INTERACTIONS, *PARTS)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(every)}; all by default; or key=value")
    parser.add_argument("--data", help=f"the folder of the tables; else that of the variable {FOLDER_VARIABLE}")
    parser.add_argument("--quick", action="store_true", help="fewer rows and tables, and one seed")
    parser.add_argument("--seeds", type=int, metavar="N", help="how many seeds; 5 by default")
    parser.add_argument("--draw", type=int, default=0, choices=(0, 1), help="0 to tune, 1 to report")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="how many threads; 1 by default")
    options = parser.parse_args(arguments)
    parts = [part for part in options.parts if "=" not in part] or every
    unknown = [part for part in parts if part not in every]
    if unknown:
        parser.error(f"unknown part {unknown[0]!r}; there are {', '.join(every)}")
    settings = dict(read_setting(part) for part in options.parts if "=" in part)
    n_seeds = options.seeds or (1 if options.quick else 5)
    plan = Plan(options.quick, n_seeds, options.draw, options.jobs, options.data, settings)
    changed = ", ".join(f"{key}={value!r}" for key, value in settings.items()) or "the default"
    print(f"{head()}; {changed}; {n_seeds} seeds of draw {plan.draw}{', quick' if plan.is_quick else ''}")
    start = time.process_time()
    together = [part for part in parts if part in INTERACTIONS]
    if together:
        interactions(plan, together)
        print(f"\n({', '.join(together)}: {time.process_time() - start:.0f} s)")
    for part in parts:
        if part in PARTS:
            start = time.process_time()
            PARTS[part](plan)
            print(f"\n({part}: {time.process_time() - start:.0f} s)")


if __name__ == "__main__":
    main()
