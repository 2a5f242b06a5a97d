"""How many different rules noisy copies of a row get: Sufficient Rules and Anchors (section 5 and appendix)."""

from __future__ import annotations

import time
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.peers import AnchorsSettings, run_anchors
from experiments.runs import Experiment, Line, Outcome, Plan, naming
from experiments.tables import NAMES, load_model
from suffice import Rule

EPSILONS = (0.1, 0.01, 0.001, 0.0)
ANCHORS_EPSILONS = (0.1, 0.0)
PAPER_SR = {"Compas": 1.5, "Nhanesi": 1.1, "Attrition": 1.13}
PAPER_ANCHORS = {("Compas", 0.1): "10", ("Nhanesi", 0.1): "6.83", ("Attrition", 0.1): "14", ("Compas", 0.0): "7"}


def run(plan: Plan, seed: int) -> Outcome:
    """Explain rows and noisy copies of them, and count the different rules of each row."""
    outcome = Outcome()
    for name in NAMES:
        with naming(name):
            _run_table(outcome, plan, name, seed)
    return outcome


def _run_table(outcome: Outcome, plan: Plan, name: str, seed: int) -> None:
    n_rows, n_each = plan.pick(100, 10, 3), 1 + plan.pick(50, 8, 3)
    table = load_model(name, plan, seed)
    rng = np.random.default_rng(seed)
    rows = table.test.to_numpy()[rng.permutation(len(table.test))[:n_rows]]
    explainer = table.explainer(seed)
    seconds = []
    for epsilon in EPSILONS:
        copies = np.repeat(rows, n_each, axis=0)
        noise = rng.normal(scale=np.sqrt(epsilon), size=copies.shape)
        noise[::n_each] = 0  # the row itself
        frame = table.test.iloc[:0].reindex(range(len(copies)))
        frame.loc[:, :] = copies + noise
        predicted = table.model.predict(frame)
        kept = np.repeat(predicted[::n_each], n_each)
        start = time.perf_counter()
        # "The perturbation is small enough to not change the prediction": copies keep the outcome of their row.
        explanations = explainer.explain(frame, kept, sets="minimal")
        seconds.append((time.perf_counter() - start) / len(frame))
        keys = rule_keys(explanations.rules, table.train)
        sets = [e.best_set.variables for e in explanations]
        with_rule = [i for i in range(len(rows)) if keys[i * n_each] is not None]
        key = f"{name} {epsilon:g}"
        outcome.figures |= {
            f"SR {key}": _mean_different(keys, with_rule, n_each),
            f"SR {key} sets": _mean_different(sets, with_rule, n_each),
            f"SR {key} sizes": _mean_different([len(s) for s in sets], with_rule, n_each),
            f"SR {key} same": float(np.mean(predicted == kept)),
        }
        if plan.peers and epsilon in plan.pick(ANCHORS_EPSILONS, (0.1,), (0.1,)):
            _run_anchors(outcome, plan, table, _Copies(key, frame.to_numpy(), kept, keys, with_rule, n_each), seed)
    outcome.figures[f"{name} with rule"] = len(with_rule) / len(rows)
    outcome.seconds[f"suffice, with rule, {name}"] = float(np.mean(seconds))


def rule_keys(rules: Sequence[Rule | None], training: Any) -> list[Hashable]:
    """Return what must be equal for two rules to be the same.

    Exact bounds would distinguish rules that mean the same: the end of a rule for a row of whole numbers is written
    differently (age <= 31) from that for a noisy copy (age <= 31.5), though both cover the same training rows.
    """
    covered: dict[Any, bytes] = {}
    keys: list[Hashable] = []
    for rule in rules:
        if rule is None:
            keys.append(None)
            continue
        if rule.conditions not in covered:
            covered[rule.conditions] = np.packbits(rule.covers(training)).tobytes()
        columns = tuple(condition.name for condition in rule.conditions)
        keys.append((rule.outcome if rule.interval is None else None, columns, covered[rule.conditions]))
    return keys


def _mean_different(keys: list[Any], rows: list[int], n_each: int) -> float:
    """Average the number of different keys among a row and its copies."""
    if not rows:
        return float("nan")
    return float(np.mean([len(set(keys[i * n_each : (i + 1) * n_each])) for i in rows]))


@dataclass(frozen=True, eq=False)
class _Copies:
    """Rows with their noisy copies at one level of noise.

    `key` names the table and the level; `values`, `kept` and `rule_keys` have an entry for each copy, with `n_each`
    entries for each row, the row itself first; `with_rule` lists the rows that have a rule.
    """

    key: str
    values: Any
    kept: Any
    rule_keys: list[Any]
    with_rule: list[int]
    n_each: int


def _run_anchors(outcome: Outcome, plan: Plan, table: Any, copies: _Copies, seed: int) -> None:
    """Let Anchors explain the first copies of the first rows that have a rule, and count ours among the same."""
    n_rows, n_copies = plan.pick((4, 11), (2, 3), (1, 2))
    chosen = [i * copies.n_each + j for i in copies.with_rule[:n_rows] for j in range(n_copies)]
    key, seconds = copies.key, plan.pick(30, 4, 2)
    X_train = table.train.to_numpy()
    explained = run_anchors(
        table.model,
        X_train,
        copies.values[chosen],
        X_train,
        seed=seed,
        labels=copies.kept[chosen].tolist(),
        settings=AnchorsSettings(total_seconds=seconds, row_seconds=seconds),
    )
    n_whole = sum(a is not None for a in explained.anchors) // n_copies
    outcome.notes += [f"{key}: {note}" for note in explained.notes]
    outcome.figures |= {f"Anchors {key} rows": n_whole, f"Anchors {key}": np.nan, f"SR {key} on these": np.nan}
    if n_whole:
        theirs = [
            None if anchor is None else (anchor.columns, np.packbits(anchor.covers(explained.bins)).tobytes())
            for anchor in explained.anchors[: n_whole * n_copies]
        ]
        ours = [copies.rule_keys[i] for i in chosen[: len(theirs)]]
        outcome.figures[f"Anchors {key}"] = _mean_different(theirs, list(range(n_whole)), n_copies)
        outcome.figures[f"SR {key} on these"] = _mean_different(ours, list(range(n_whole)), n_copies)


def draw(summary: Mapping[str, Any]) -> Any:
    """Draw the mean numbers of different rules."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 3.2), layout="constrained")
    figures = summary["figures"]
    for ax, name in zip(figure.subplots(1, 3, sharey=True), NAMES, strict=True):
        named = [(f"SR {name} {e:g}", "SR, all rows and copies", "#0072B2", -0.27) for e in EPSILONS]
        named += [(f"SR {name} {e:g} on these", "SR, Anchors' sample", "#56B4E9", 0.0) for e in EPSILONS]
        named += [(f"Anchors {name} {e:g}", "Anchors, its sample", "#E69F00", 0.27) for e in EPSILONS]
        for i, (key, label, color, shift) in enumerate(named):
            value = figures.get(key, {}).get("mean")
            if value is not None:
                bar = ax.bar(i % len(EPSILONS) + shift, value, 0.26, color=color, label=label)
                ax.bar_label(bar, [f"{value:.1f}"], fontsize="x-small")
        ax.axhline(1, color="black", lw=0.8, ls=":")
        ax.set_xticks(range(len(EPSILONS)), [f"{e:g}" for e in EPSILONS])
        ax.set_xlabel("variance of the noise")
        ax.set_title(name, loc="left")
        ax.spines[["top", "right"]].set_visible(False)
    unique = {
        label: handle for ax in figure.axes for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)
    }
    figure.axes[0].set_ylabel("different rules")
    figure.legend(unique.values(), unique.keys(), loc="outside lower center", ncols=3, frameon=False, fontsize="small")
    return figure


def _lines() -> list[Line]:
    lines = []
    for name in NAMES:
        for e in EPSILONS:
            goal = ("<=", PAPER_SR[name]) if e else ("==", 1.0)
            paper, theirs = f"{PAPER_SR[name]:g}" if e == 0.1 else "", PAPER_ANCHORS.get((name, e), "")
            noise = f"noise {e:g}"
            lines += [
                Line(f"{name}: rules, SR", noise, f"SR {name} {e:g}", paper, goal, 2),
                Line(f"{name}: best sets, SR", noise, f"SR {name} {e:g} sets", digits=2),
                Line(f"{name}: sizes of the best sets, SR", noise, f"SR {name} {e:g} sizes", digits=2),
                Line(f"{name}: predictions kept", noise, f"SR {name} {e:g} same", digits=2),
            ]
            if e in ANCHORS_EPSILONS:
                needs = ("peers",) if e == 0.1 else ("peers", "full")
                ours, anchors = f"SR {name} {e:g} on these", f"Anchors {name} {e:g}"
                lines += [
                    Line(f"{name}: rules, SR on Anchors' sample", noise, ours, digits=2, needs=needs),
                    Line(f"{name}: rules, Anchors", noise, anchors, theirs, digits=2, needs=needs),
                    Line(f"{name}: rows in Anchors' sample", noise, f"{anchors} rows", digits=1, needs=needs),
                ]
        lines.append(Line(f"{name}: rows", "with a rule", f"{name} with rule", digits=2))
    return lines


EXPERIMENT = Experiment(
    name="stability",
    title="Stability of rules under noise",
    setting=(
        "The models of the experiment above; 100 test rows with 50 copies each. Normal noise of variance epsilon is "
        "added to the values as they are, including indicators and whole numbers. A copy keeps the outcome of its "
        "row, because the paper says that its noise does not change predictions; the table shows how often this "
        "holds. Rows without a rule are left out; a copy without a rule counts as one more rule. Two rules, ours or "
        "Anchors', are the same if they have the same variables and cover the same training rows. Anchors explains "
        "as many of 4 such rows with 10 copies each as it can in 30 s for each table, with noise 0.1 and without "
        "noise. It can therefore have at most 11 rules, where the paper's could have 51; our figures on the same "
        "rows and copies are shown beside it. Anchors knows which columns are indicators; the noise on these is "
        "rounded away."
    ),
    lines=_lines(),
    run=run,
    draw=draw,
    reading=(
        "Noise of variance 0.1 moves a whole number or an indicator across a threshold in one case of nine, and "
        "changes predictions. The paper's noise did not change predictions, so its 0.1 may have been the standard "
        "deviation, which is the variance 0.01 here. The paper reports figures at 0.1 only.\n\n"
        "Why there are more rules than in the paper: on Compas, noise moves SDPs across pi, which changes the size "
        "of the minimal sets. On Attrition, several single variables are sufficient, and the one with the highest "
        "SDP changes. On Nhanesi, some columns have steps as small as the noise of variance 0.001: copies cross "
        "the bounds of their row's box, and the model's prediction changes. Anchors cuts columns at quartiles, "
        "which are whole numbers, so noise of any size moves half of the copies of such a value to the other side; "
        "this accounts for part of its different rules.\n\n"
        "Chosen after looking: when two rules count as the same. Compared by their exact bounds, a row and its copies "
        "had about one rule more: a row of whole numbers has bounds such as age <= 31 and a noisy copy age <= 31.5, "
        "though both cover the same training rows."
    ),
    version=2,
)
