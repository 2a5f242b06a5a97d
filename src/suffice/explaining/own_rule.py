"""Rules that a person writes: their conclusion, and their figures on a table.

How conditions are read from text is left to ``condition_text``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice._forest.bounds import discounted_share
from suffice._forest.fitting import decide_task
from suffice._table.condition import Condition, all_cover
from suffice._table.condition_text import read_rule_text
from suffice._table.input import as_finite, read_outcomes
from suffice._table.table import Table, read_columns
from suffice._text import printable
from suffice.errors import did_you_mean
from suffice.explaining.rule import Rule

_END = r"-?(?:[0-9.]+(?:e[-+]?[0-9]+)?|inf)"
_INTERVAL = re.compile(rf"(.*) in \[({_END}), ({_END})\]", re.DOTALL)
# What follows the conclusion in a printed line: what it adds to a sum, and the figures in brackets.
_FIGURES = re.compile(r"(?: [-+][0-9.e+-]+)?(?:  \(.*\))?", re.DOTALL)
# A rule for numbers promises the middle part of the outcomes that it covers, unless an interval is stated.
MIDDLE = (0.1, 0.9)


def rule(conditions: str | Condition | Iterable[Condition], X: Any = None, y: Any = None, *, then: Any = None) -> Rule:
    """Make a rule of your own, and measure it on a table.

    Parameters
    ----------
    conditions : str, Condition or iterable of Condition
        What the rule asks. A text joins conditions by ``and``: ``x < 5``, ``2 < x <= 5``, ``x = 5``, ``sky = clear``,
        ``sky in [clear, 'light rain']``, ``sky not in [...]``, ``x is missing``, ``(x < 5 or x is missing)``. Names of
        columns stand as they are, or in backticks. Any sentence that this package prints for a rule is read, too.
    X : array-like or frame of shape (n_rows, n_columns), explainer or list of rules, default=None
        The rows on which the rule is measured, whose columns and categories the text must name. A fitted explainer, or
        a list of rules that has one, stands for its training rows. None measures nothing, takes any name, and numbers
        without quotes for numbers.
    y : array-like of shape (n_rows,), default=None
        The outcomes of the rows; not needed for an explainer.
    then : label or tuple of float, default=None
        What the rule concludes: a class, or an interval (low, high), both ends included. It may also stand in the text,
        after THEN. None takes the most frequent class of the rows covered or, for numbers, their quantiles 0.1 and 0.9.

    Returns
    -------
    Rule
        The rule, without an SDP, since no row was explained. Its `precision` is what to expect of new rows if the rule
        was chosen on these rows; `Rule.certify` tests it on rows that had no part in that.

    Examples
    --------
    >>> import suffice
    >>> X = {"tenure": [2, 3, 5, 30, 40, 2], "contract": ["month", "month", "month", "month", "year", "year"]}
    >>> y = ["leaves", "leaves", "stays", "stays", "stays", "stays"]
    >>> print(suffice.rule("tenure < 6 and contract == 'month'", X, y))
    IF tenure < 6 AND contract = month THEN leaves  (coverage 50 %, 3 rows, precision 0.67, 0.32 expected,
    0.33 among all rows)
    """
    source = getattr(X, "explainer_", X)
    target, is_number = str(getattr(y, "name", None) or "y"), isinstance(then, tuple)
    if y is None and hasattr(source, "training"):
        (X, y), target, is_number = source.training, source.target_name_, source.task_ == "regression"
    elif hasattr(source, "fit"):
        raise TypeError(
            "`X` must be rows, or a fitted explainer or list that knows its training rows: pass `X` and `y`."
        )
    if (X is None) != (y is None):
        raise ValueError("Give `X` and `y` together, or neither for a rule that is not measured.")
    table = None if X is None else read_columns(X)
    listed, text = read_premise(conditions, table)
    if table is None:
        return _unmeasured(listed, text, then)
    outcomes = read_outcomes(y, table.n_rows)
    if then is None and not is_number:
        is_interval = _interval_of(text) is not None and outcomes.dtype.kind in "iuf"
        is_number = is_interval or decide_task("auto", None, outcomes)[0] == "regression"
    return measure_rule(listed, table, outcomes, target, is_number, then=then, text=text)


def read_premise(conditions: Any, table: Table | None) -> tuple[tuple[Condition, ...], str | None]:
    """Read conditions, and what a text says after THEN."""
    if isinstance(conditions, str):
        return read_rule_text(conditions, table)
    listed = (conditions,) if isinstance(conditions, Condition) else tuple(conditions)
    for condition in listed:
        if not isinstance(condition, Condition):
            raise TypeError(f"`conditions` must be a text or conditions, got {condition!r}.")
    return listed, None


def _interval_of(text: str | None) -> tuple[float, float] | None:
    match = None if text is None else _INTERVAL.match(text)
    return None if match is None else (float(match[2]), float(match[3]))


def _unmeasured(conditions: tuple[Condition, ...], text: str | None, then: Any) -> Rule:
    interval = then if isinstance(then, tuple) else _interval_of(text) if then is None else None
    target, outcome = "y", then
    if interval is not None:
        outcome = (interval[0] + interval[1]) / 2
        target = target if text is None else _INTERVAL.match(text)[1]  # type: ignore[index]
    elif then is None and text is not None:
        label = re.sub(rf"{_FIGURES.pattern}$", "", text, flags=re.DOTALL)
        number = int(label) if re.fullmatch("-?[0-9]+", label) else label
        outcome = {"True": True, "False": False}.get(label, number)
    if outcome is None:
        raise ValueError(
            "What does the rule conclude? Pass `then`, write THEN after the conditions, or give `X` and `y`."
        )
    return Rule(conditions, outcome, interval, None, 0, 0.0, None, None, False, math.inf, False, target)


def measure_rule(
    conditions: tuple[Condition, ...],
    table: Table,
    outcomes: NDArray[Any],
    target: str,
    is_number: bool,
    *,
    then: Any = None,
    text: str | None = None,
) -> Rule:
    """Measure a rule on rows; `text` states what it concludes, unless `then` does."""
    covered = all_cover(conditions, table)
    outcomes = as_finite(outcomes) if is_number else outcomes
    held, interval = outcomes[covered], None
    mae = base_rate = None
    if is_number and then is None:
        then = _interval_of(text)
    if not len(held) and then is None and (is_number or text is None):
        raise ValueError("The rule covers none of the rows: say by `then` what it concludes.")
    if is_number:
        low, high = np.quantile(held, MIDDLE).tolist() if then is None else then
        interval, outcome = (low, high), float(held.mean()) if len(held) else (low + high) / 2
        mae = float(np.abs(held - outcome).mean()) if len(held) else None
        n_kept = np.count_nonzero((low <= held) & (held <= high))
    else:
        outcome = _class_of(outcomes, held, then, text)
        base_rate, n_kept = float(np.mean(outcomes == outcome)), np.count_nonzero(held == outcome)
    return Rule(
        conditions, outcome, interval, None, len(held), len(held) / max(len(outcomes), 1),
        discounted_share(int(n_kept), len(held)) if len(held) else None,
        mae, False, math.inf, False, target, int(n_kept), None, base_rate,
        is_number and then is None and bool(np.all(outcomes == np.floor(outcomes))),
    )  # fmt: skip


def _class_of(outcomes: NDArray[Any], held: NDArray[Any], then: Any, text: str | None) -> Any:
    """Return the class that a rule concludes: the stated one, or the most frequent of the rows covered."""
    if then is None and text is None:
        labels, counts = np.unique(held, return_counts=True)
        return labels.tolist()[int(np.argmax(counts))]
    classes = np.unique(outcomes).tolist()
    if then is not None:
        text, named = str(then), [label for label in classes if label == then]
    else:
        shown = [(label, name) for label in classes for name in (printable(str(label)), str(label))]
        rest = {label: text.removeprefix(name) for label, name in shown if text.startswith(name)}  # type: ignore[union-attr]
        named = sorted((label for label in rest if _FIGURES.fullmatch(rest[label])), key=lambda label: len(str(label)))
    if not named:
        near = did_you_mean(text, map(str, classes))
        raise ValueError(f"The rule concludes {text!r}, which no row has: the classes are {classes[:10]}.{near}")
    return named[-1]
