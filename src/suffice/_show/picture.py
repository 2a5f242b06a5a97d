"""The texts and shares that rules, explanations and fitted explainers show, and how their columns are drawn.

Each is computed here once, with ``axis`` for where conditions and values lie; cards, the report, the plots and the app
draw them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from suffice._show.axis import NO_ROW, Distribution, Drawing, condition_text, draw, rounded
from suffice._text import (
    counted,
    format_confidence,
    format_percent,
    format_probability,
    format_share,
    join,
)
from suffice.explaining.sentences import CONTESTED, N_LISTED, NO_SIGNAL

if TYPE_CHECKING:
    from suffice._forest.fitted import Fitted
    from suffice.checks.quality import Quality
    from suffice.explaining.explanation import Explanation, SufficientSet
    from suffice.explaining.explanations import Explanations
    from suffice.explaining.rule import Rule
    from suffice.rule_lists.measures import GlobalRule

READ_WITH_CARE = "Read with care. "
NOTHING = "nothing at all"
MAX_IMPORTANCES = 8  # of one row
SDP_MEANING = "the probability that the outcome is kept"
COVERAGE_MEANING = "the share of training rows in the rule"
PRECISION_MEANING = "the share of new rows in the rule that is expected to have the outcome"


class Share(NamedTuple):
    """A number from 0 to 1 that is drawn as a bar, and where the bar has a tick."""

    name: str
    value: float
    text: str
    tick: float | None = None


@dataclass(frozen=True)
class LinePicture:
    """What a line of a list of rules shows; the note holds the lift of a rare class, and that its rows are few."""

    premise: str
    output: str
    conclusion: str
    lift: str
    note: str
    mae: str
    coverage: Share
    precision: Share


# --- training values -------------------------------------------------------------------------------------------------


_known_values: WeakKeyDictionary[Fitted, dict[str, Distribution]] = WeakKeyDictionary()


def known_values(fitted: Fitted, name: str) -> Distribution:
    """Return how the training values of a column are spread; many cards draw the same columns."""
    computed = _known_values.setdefault(fitted, {})
    if name not in computed:
        c = [column.name for column in fitted.encoding.columns].index(name)
        computed[name] = Distribution.of_values(fitted.encoding.columns[c], fitted.forest.X[:, c])
    return computed[name]


def row_drawings(explanation: Explanation) -> tuple[Drawing, ...]:
    """Draw the columns of the rule of a row, or of its best set where there is no rule, over the training values."""
    if explanation.rule is not None:
        conditions = {condition.name: condition for condition in explanation.rule.conditions}
        own = {name: value for _, columns in explanation.values for name, value in columns}
        values = {name: own.get(name, NO_ROW) for name in conditions}
    else:
        conditions, shown = {}, map(explanation.sentences.shown_values, explanation.best_set.variables)
        values = {name: value for columns in shown for name, value in columns}
    column_of = {column.name: column for column in explanation.columns}
    known: dict[str, Distribution] = {}
    if explanation.origin is not None:  # one that was pickled does not know the training values
        known = {name: known_values(explanation.origin[0].fitted, name) for name in values}
    return tuple(
        draw(name, conditions.get(name), column_of.get(name), value, known.get(name)) for name, value in values.items()
    )


# --- rules -----------------------------------------------------------------------------------------------------------


def picture_line(line: GlobalRule) -> LinePicture:
    """Compute what a line of a list of rules shows."""
    output, mae = str(line.output), ""
    conclusion = output
    if line.mae is not None:
        output, mae = rounded(line.output, 4), rounded(line.mae, 3)
        conclusion = f"{line.rule.target} = {output} (MAE {mae})"
    if line.adds is not None:
        output = line.output_text
        conclusion = f"{output} (mean {rounded(line.output, 4)}, MAE {mae})" if mae else output
    conditions, lift = line.rule.conditions, ", ".join(line.lift_texts)
    precision = line.precision if line.expected is None else line.expected
    return LinePicture(
        premise=" AND ".join(map(condition_text, conditions)) or "always",
        output=output,
        conclusion=conclusion,
        lift=lift,
        note=", ".join(filter(None, (lift, "few training rows" if line.has_few_rows else ""))),
        mae=mae,
        coverage=coverage_share(line.coverage),
        precision=Share("precision", precision, format_share(precision)),
    )


def coverage_share(coverage: float) -> Share:
    """Compute how a coverage is drawn."""
    return Share("coverage", coverage, f"{format_percent(coverage)} %")


def proof_text(rule: Rule) -> str:
    """Write what is proven about a rule."""
    rows = "" if rule.n_looked_at is None else f" of the {rule.n_looked_at:,} training rows looked at"
    proof = f"No other such rule covers more{rows}." if rule.optimal else f"A rule that covers more{rows} may exist."
    where = "every point" if rule.everywhere else "each of these rows" if rows else "every training row"
    return "" if rule.sdp is None else f"{proof} The SDP is proven for {where} within these bounds."


def lift_text(rule: Rule) -> str:
    """Write how much more likely the outcome is within the bounds of a rule."""
    probability = rule.precision or 0.0 if rule.sdp is None else rule.sdp
    lift = ", ".join(rule.lift_texts(probability, always=rule.sdp is None))
    return f"{lift[0].upper()}{lift[1:]}." if lift else ""


# --- explanations ----------------------------------------------------------------------------------------------------


def badge_text(explanation: Explanation) -> str:
    """Write how many variables are enough."""
    if not explanation.is_sufficient:
        return "no sufficient set"
    n_enough, n_variables = len(explanation.best_set.variables), len(explanation.values)
    if not n_enough:
        return "no variable is needed"
    return f"{n_enough} of {counted(n_variables, 'variable')} {'is' if n_enough == 1 else 'are'} enough"


def kept_text(interval: str) -> str:
    """Write in which interval a number is kept."""
    return f"kept within {interval}"


def cautions(explanation: Explanation) -> tuple[str, ...]:
    """Return why an explanation is to be read with care."""
    return tuple(filter(None, (explanation.sentences.care, explanation.sentences.search_note)))


def set_text(chosen: SufficientSet) -> str:
    """Write the variables of a set."""
    return join(chosen.variables) or NOTHING


def more_text(n_all: int, n_listed: int) -> str:
    """Write how many things a list leaves out."""
    return f"and {n_all - n_listed} more" if n_all > n_listed else ""


def set_shares(explanation: Explanation) -> list[Share]:
    """Compute how the probabilities of the first sufficient sets are drawn."""
    sets = [one for one in explanation.sufficient_sets[:N_LISTED] if one.variables]
    return [Share(set_text(one), one.sdp, format_probability(one.sdp), explanation.pi) for one in sets]


def importance_shares(ranked: Sequence[tuple[str, float]]) -> tuple[Share, ...]:
    """Compute how importances are drawn."""
    return tuple(Share(name, value, format_share(value)) for name, value in ranked)


# --- many rows, and what was fitted ----------------------------------------------------------------------------------


def size_shares(explanations: Explanations) -> list[Share]:
    """Compute the shares of the rows by the size of their smallest sufficient set."""
    n_rows, with_set = len(explanations), zip(explanations.best_sets, explanations.has_set.tolist(), strict=True)
    sizes = Counter(len(best.variables) for best, has_set in with_set if has_set)
    named = [(counted(size, "variable") if size else "no variable needed", n) for size, n in sorted(sizes.items())]
    named += [("no such set", n_rows - sizes.total())] if n_rows > sizes.total() else []
    return [Share(name, n / n_rows, str(n)) for name, n in named]


def all_cautions(explanations: Explanations) -> list[str]:
    """Write what to take care of in all rows, one sentence each."""
    sentences = [] if explanations.fitted.has_signal else [NO_SIGNAL]
    n_disagree = int(np.count_nonzero(~explanations.forest_agrees))
    if n_disagree:
        rows = counted(n_disagree, "row")
        sentences.append(f"The forest does not agree with the outcome of {rows}: read these with care.")
    n_incomplete = explanations.is_search_complete.count(False)
    if n_incomplete:
        rows = counted(n_incomplete, "row")
        sentences.append(f"The search ended before all sets of {rows} were looked at: there may be others.")
    n_contested = int(np.count_nonzero(explanations.is_contested))
    if n_contested:
        verb = "is" if n_contested == 1 else "are"
        sentences.append(f"{counted(n_contested, 'set')} {verb} contested: {CONTESTED}.")
    return sentences


def fidelity_shares(about: Mapping[str, Any]) -> list[Share]:
    """Compute how the fidelity of the forest is drawn, overall and by class; nothing if it is not known."""
    fidelity = about["fidelity"]
    if not math.isfinite(fidelity):
        return []
    measure = "accuracy" if about["task"] == "classification" else "R2"
    by_class = (about["fidelity_by_class"] or {}).items()
    shares = [Share(measure, fidelity, format_share(fidelity))]
    for label, share in by_class:
        shares.append(Share(f"of {label}", 0.0 if math.isnan(share) else share, format_share(share)))
    return shares


def about_facts(about: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Write what was fitted to what."""
    forest = about["forest"]
    settings = [f"{name} {value}" for name, value in forest.items() if name not in ("kind", "n_estimators")]
    n_columns, n_variables = len(about["columns"]), len(about["variables"])
    grouped = "" if n_columns == n_variables else f", {counted(n_variables, 'variable')}"
    pairs = [
        ("task", about["task_reason"]),
        ("training table", f"{counted(about['n_rows'], 'row')}, {counted(n_columns, 'column')}{grouped}"),
        ("forest", f"{forest['kind']}, {counted(forest['n_estimators'], 'tree')} ({', '.join(settings)})"),
        ("probability", level_fact(about["settings"], about["task"])),
        *([] if about["focus"] is None else [("focus", str(about["focus"]))]),
        *([("fixed", ", ".join(about["fixed"]))] if about["fixed"] else []),
    ]
    return pairs if about["model"] is None else [("model", about["model"]), *pairs]


def level_fact(settings: Mapping[str, Any], task: str) -> str:
    """Write what a sufficient set must reach."""
    pi, confidence = settings["pi"], settings["confidence"]
    level = f"{pi:g} or more for a sufficient set"
    if settings["levels"] == "odds" and task == "classification" and 0.5 < pi < 1:
        odds = f"{pi / (1 - pi):.3g} times the odds of the class"
        level = f"a level for each class, from 0.5 to {pi:g}: {odds} or more for a sufficient set"
    return level if confidence is None else f"{level}, at {format_confidence(confidence)} confidence"


def gather_rare(quality: Quality, n_drawn: int) -> tuple[list[str], NDArray[np.int64], NDArray[np.float64]]:
    """Return labels, confusion matrix and its shares by line of the most frequent classes; others share an entry."""
    assert quality.classes is not None
    labels, counts = [str(label) for label in quality.classes], quality.confusion
    if len(counts) > n_drawn:
        frequent = np.sort(np.argsort(-counts.sum(axis=1), kind="stable")[:n_drawn])
        group = np.full(len(counts), n_drawn)
        group[frequent] = np.arange(n_drawn)
        labels = [*(labels[c] for c in frequent), f"{len(counts) - n_drawn} others"]
        gathered = np.zeros((n_drawn + 1, n_drawn + 1), dtype=np.int64)
        np.add.at(gathered, (group[:, None], group[None, :]), counts)
        counts = gathered
    return labels, counts, counts / np.maximum(counts.sum(axis=1), 1)[:, None]
