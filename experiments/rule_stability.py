"""How much explanations change when rows change a little: the paper's stability experiment, on your own rows."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from experiments.noisy_rows import noise_of_columns, noisy_copies
from suffice._table.input import check_number
from suffice._text import counted
from suffice.explainer import SufficientExplainer
from suffice.explaining.rule import Rule

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Stability:
    """How many different explanations rows and their noisy copies get."""

    n_rules: NDArray[np.intp]
    n_sets: NDArray[np.intp]
    same_rule: Floats
    same_set: Floats
    same_outcome: Floats
    scale: float
    n_copies: int

    def __str__(self) -> str:
        """Summarise the numbers."""
        n_kept = int(np.count_nonzero(self.n_rules == 1))
        return (
            f"{counted(len(self.n_rules), 'row')} with {self.n_copies} noisy copies each (noise of {self.scale:g} "
            f"standard deviations): {self.n_rules.mean():.2f} different rules and {self.n_sets.mean():.2f} different "
            f"best sets on average; {n_kept} row{' has' if n_kept == 1 else 's have'} the same rule as all "
            f"{'its' if n_kept == 1 else 'their'} copies."
        )


def rule_stability(
    explainer: SufficientExplainer,
    X: Any,
    y: Any = None,
    *,
    scale: float = 0.1,
    n_copies: int = 50,
    random_state: Any = None,
    progress: bool | None = None,
) -> Stability:
    """Explain noisy copies of rows, and count how many different rules and sets they get.

    Each column of numbers gets normal noise of `scale` times its standard deviation in the training table; whole
    numbers are rounded. Categories, dates and missing values stay as they are. It costs as much as explaining ``n_rows
    * (n_copies + 1)`` rows.
    """
    check_number("scale", scale, "a number >= 0", lambda v: 0 <= v < np.inf)
    check_number("n_copies", n_copies, "a whole number >= 1", lambda v: v >= 1, Integral)
    rng = np.random.default_rng(random_state)
    of_rows = explainer.explain(X, y, sets="minimal", progress=progress)
    if not len(of_rows):
        raise ValueError("`X` has no rows: there is nothing to repeat.")
    training, _ = of_rows.training
    noise = noise_of_columns(training, of_rows.columns, scale)
    copies = noisy_copies(X, training.names, noise, int(n_copies), rng)
    outcomes = None if y is None else np.repeat(np.asarray(y), n_copies)
    of_copies = explainer.explain(copies, outcomes, sets="minimal", progress=progress)

    row_rules = rule_keys(of_rows.rules, training)
    copy_rules = rule_keys(of_copies.rules, training)
    row_sets = [best.variables for best in of_rows.best_sets]
    copy_sets = [best.variables for best in of_copies.best_sets]
    n_rules, n_sets, same = [], [], []
    for i, row in enumerate(of_rows):
        mine = slice(i * n_copies, (i + 1) * n_copies)
        rules, sets = copy_rules[mine], copy_sets[mine]
        n_rules.append(len({row_rules[i], *rules}))
        n_sets.append(len({row_sets[i], *sets}))
        same.append(
            (
                rules.count(row_rules[i]) / n_copies,
                sets.count(row_sets[i]) / n_copies,
                np.count_nonzero(row.keeps(of_copies.outcomes[mine])) / n_copies,
            )
        )
    same_rule, same_set, same_outcome = np.array(same).T
    return Stability(
        np.array(n_rules), np.array(n_sets), same_rule, same_set, same_outcome, float(scale), int(n_copies)
    )


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


def draw_stability(stability: Stability, ax: Axes) -> Axes:
    """Draw the share of the rows with each number of different rules and best sets as bars side by side."""
    series = (("rules", stability.n_rules), ("best sets", stability.n_sets))
    largest = max(int(counts.max()) for _, counts in series)
    width = 0.38
    looks = (("#0072B2", "", -width / 2), ("#E69F00", "///", width / 2))
    for (name, counts), (color, hatch, shift) in zip(series, looks, strict=True):
        share = np.bincount(counts, minlength=largest + 1)[1:] / len(counts)
        label = f"{name} (mean {counts.mean():.2f})"
        places = np.arange(1, largest + 1) + shift
        ax.bar(places, 100 * share, width, color=color, hatch=hatch, edgecolor="white", label=label)
    ax.set_xticks(np.arange(1, largest + 1, max(1, math.ceil(largest / 15))))
    ax.set_xlim(0.4, max(largest, 4) + 0.6)
    ax.set_xlabel(f"different ones among a row and its {stability.n_copies} noisy copies")
    ax.set_ylabel("% of the rows")
    title = f"{counted(len(stability.n_rules), 'row')}, noise of {stability.scale:g} standard deviations"
    ax.set_title(title, loc="left", fontsize=10)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False)
    return ax
