"""Certifying lists of rules: few rules are chosen on the training rows, and tested on fresh rows.

Every test costs power, and a rule that covers few fresh rows cannot be confirmed. The choice depends on the training
rows and on the number of fresh rows, never on the outcomes of fresh rows.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from suffice._forest.bounds import Adjustment
from suffice.checks.certificates import FreshRows, certify_promises
from suffice.explaining.certificate import Certificate, make_certificates
from suffice.rule_lists.measures import Bools, Counts, Lines

# A rule must add this share of the training rows to the rows that earlier rules cover.
MIN_NEW = 0.005
# Shrink training precision towards the level by this many pseudo-rows: it is too high.
N_PSEUDO_ROWS = 20
# A rule is tested if it is confirmed with at least this probability.
MIN_POWER = 0.7


def power_of_test(n_rows: Counts, n_kept: Counts, ratio: float, level: float, confidence: float) -> NDArray[np.float64]:
    """Estimate the probability that fresh rows confirm that a precision is at least a level."""
    n_fresh = np.round(n_rows * ratio)
    precision = (n_kept + N_PSEUDO_ROWS * level) / (n_rows + N_PSEUDO_ROWS)
    # The test succeeds if more rows than this quantile are right.
    enough = binom.isf(1 - confidence, n_fresh, level)
    return np.asarray(np.where(n_fresh > 0, binom.sf(enough, n_fresh, precision), 0.0))


def choose_rules(covers: Bools, keeps: Bools, ratio: float, level: float, confidence: float) -> NDArray[np.intp]:
    """Choose rules that are worth a test each, by the number of rows that they add to the rows covered."""
    n_rows = covers.sum(axis=1)
    power = power_of_test(n_rows, (covers & keeps).sum(axis=1), ratio, level, confidence)
    is_open = np.ones(covers.shape[1], dtype=bool)
    is_candidate = power >= MIN_POWER
    chosen: list[int] = []
    while is_candidate.any():
        n_new = np.where(is_candidate, (covers & is_open).sum(axis=1), 0)
        best = int(np.argmax(n_new * power))
        if n_new[best] < max(1.0, MIN_NEW * covers.shape[1]):
            break
        chosen.append(best)
        is_candidate[best] = False
        is_open &= ~covers[best]
    return np.array(chosen, dtype=np.intp)


def without_small_steps(covers: Bools) -> NDArray[np.intp]:
    """Leave out rules that add too few training rows to those of earlier rules."""
    is_open = np.ones(covers.shape[1], dtype=bool)
    kept: list[int] = []
    for i, covered in enumerate(covers):
        if np.count_nonzero(covered & is_open) >= max(1.0, MIN_NEW * covers.shape[1]):
            kept.append(i)
            is_open &= ~covered
    return np.array(kept, dtype=np.intp)


def count_by_length(covers: Bools, keeps: Bools) -> tuple[Counts, Counts]:
    """Count, for each length of a list, the rows that its first rules decide, and those that they get right."""
    decides = np.diff(np.logical_or.accumulate(covers), axis=0, prepend=False)  # the first that covers a row
    return np.cumsum(decides.sum(axis=1)), np.cumsum((decides & keeps).sum(axis=1))


def surest_length(n_rows: Counts, n_kept: Counts, ratio: float, level: float, confidence: float) -> int:
    """Choose the length that is tested first: the one that fresh rows most probably confirm."""
    power = power_of_test(n_rows, n_kept, ratio, level, confidence)
    return int(np.flatnonzero(power == power.max())[-1]) + 1 if len(power) else 1


def certify_lines(
    lines: Lines,
    rows: FreshRows,
    level: float,
    confidence: float,
    of: Literal["rules", "list"],
    adjust: Adjustment | None,
    max_rules: int | None,
) -> tuple[Lines, Certificate | None]:
    """Return as many lines as fresh rows certify, and the certificate of the list if it was tested as a whole."""
    training = lines.task.outcomes
    test = (len(rows.outcomes) / len(training), level, confidence)
    whole: Certificate | None = None
    if of == "rules":
        lines = lines.take(choose_rules(lines.covers, lines.keeps(training), *test)[:max_rules].tolist())
    else:
        lines = lines.take(without_small_steps(lines.covers)[:max_rules].tolist())
        surest = surest_length(*count_by_length(lines.covers, lines.keeps(training)), *test)
        lines, whole = _longest_list(lines, surest, rows, level, confidence)
    promises = [line.promise for line in lines.rules]
    certificates = certify_promises(promises, rows, level=level, confidence=confidence, adjustment=adjust)
    if of == "rules":
        lines = lines.take(i for i, promise in enumerate(promises) if certificates[promise].is_certified)
    return lines.with_certificates(certificates), whole


def _longest_list(
    lines: Lines, length: int, rows: FreshRows, level: float, confidence: float
) -> tuple[Lines, Certificate | None]:
    """Find the longest list whose precision fresh rows confirm: a length is tested first, then one more each time."""
    counts = count_by_length(lines.covers_rows(rows.table), lines.keeps(rows.outcomes))
    test: dict[str, Any] = {"level": level, "confidence": confidence, "is_set_aside": rows.is_set_aside}
    # No adjustment: a test counts only if all tests before it have succeeded (fixed-sequence testing).
    certificates = make_certificates(*(n.tolist() for n in counts), adjustment=None, **test)
    n_lines = 0
    while length <= len(certificates) and certificates[length - 1].is_certified:
        n_lines, length = length, length + 1
    return lines.take(range(n_lines)), certificates[n_lines - 1] if n_lines else None
