"""How numbers, probabilities, labels and lists are written in texts, and NumPy values as plain Python ones."""

from __future__ import annotations

import functools
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

# Begins with a letter, does not end with a space, and holds nothing that ends a label or a condition.
_PLAIN_LABEL = re.compile(r"[^\W\d_](?:[\w .:;/&%$#@+*()'-]*[\w.:;/&%$#@+*()'-])?")
_MISLEADING = re.compile(" (?:AND|THEN|or missing|is missing\\)?) ")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

_Owner = TypeVar("_Owner")
AT_LEAST = "at least"  # before a lower bound
SAME_OPTION = "levels='same'"  # the command and the app write it in their own words

_FRACTIONS = {1 / 4: "a quarter", 1 / 3: "a third", 1 / 2: "half", 2 / 3: "two thirds", 3 / 4: "three quarters"}
# Types of models whose names say nothing.
_NAMELESS = ("function", "method", "builtin_function_or_method", "partial")
# What people who write no Python call the arguments that messages name: patterns, and the words in their place.
ARGUMENT_WORDS = (
    (r"^`X`", "The table"),
    (r"`X`", "the table"),
    (r"^`y`", "The target"),
    (r"`y`", "the target"),
)


def plain_advice(text: str) -> str:
    """Write the advice of an explanation without the names of parameters."""
    return re.sub(rf"^With pi=([\d.]+)(?:, {re.escape(SAME_OPTION)})?", r"With probability \1", text)


def format_number(value: float) -> str:
    """Write a number with at most five significant digits, and a whole number without decimals."""
    if math.isnan(value):
        return "missing"
    if abs(value) < 1e15 and value == int(value):
        return str(int(value))
    # From 99999.5 on, five digits would read 1e+05.
    return f"{value:.0f}" if 99999.5 <= abs(value) < 1e15 else f"{value:.5g}"


def format_probability(value: float) -> str:
    """Write a probability with two digits, rounded down: 0.899 must not look like 0.9."""
    return f"{int(value * 100 + 1e-7) / 100:.2f}"  # 1e-7: 0.29 * 100 is 28.999999999999996


def format_share(share: float) -> str:
    """Write a share, or a measure such as R2 that may be negative, with two digits, rounded to the nearest."""
    return "-" if math.isnan(share) else f"{_whole_percent(share) / 100:.2f}"


def format_with_bound(value: float, lower: float | None) -> str:
    """Write a probability with its lower bound, both rounded down."""
    bound = "" if lower is None else f" ({AT_LEAST} {format_probability(lower)})"
    return f"{format_probability(value)}{bound}"


def format_confidence(confidence: float) -> str:
    """Write a confidence."""
    return f"{100 * confidence:g} %"


def format_level(level: float) -> str:
    """Write the probability that a set must reach with at most two decimals, or more if it is near 0 or 1."""
    distance = min(level, 1 - level)
    return f"{level:g}" if distance <= 0 else f"{round(level, max(2, math.ceil(-math.log10(distance)))):g}"


def format_lift(lift: float) -> str:
    """Write how many times as likely as on average an outcome is, rounded down."""
    number = f"{int(lift)}" if lift >= 10 else f"{int(lift * 10 + 1e-7) / 10:.1f}"
    return "as likely as on average" if number == "1.0" else f"{number} times as likely as on average"


def is_rare(base_rate: float | None) -> bool:
    """Check whether an outcome is so rare that its probability should be compared with its share of all rows."""
    return base_rate is not None and 0 < base_rate < 1 / 3


def format_percent(share: float) -> str:
    """Write a share in per cent with two significant digits."""
    if share >= 0.1:
        return str(_whole_percent(share))
    import numpy as np  # imported late: the command loads this module before it needs NumPy

    return np.format_float_positional(100 * share, precision=2, fractional=False, trim="-")


def _whole_percent(share: float) -> int:
    percent = round(round(100 * share, 7))  # halves to the even number, also 0.285 * 100, which is 28.499999999999996
    return min(percent, 99) if share < 1 else percent  # 100 % means all rows, and nothing less


def format_fraction(share: float) -> str:
    """Write a share as the beginning of a sentence: "About a third of all", "About 1 in 12", "41 % of all"."""
    if share >= 1 or share <= 0:
        return "All" if share >= 1 else "No"
    near = [words for part, words in _FRACTIONS.items() if abs(share - part) <= 0.01]
    if near:
        return f"About {near[0]} of all"
    return f"About 1 in {round(1 / share):,}" if share < 1 / 8 else f"{format_percent(share)} % of all"


def format_label(label: Any) -> str:
    """Write the label of a category. Text that could be misread is put in quotes."""
    if not isinstance(label, str):
        return format_exactly(label) if isinstance(label, float) else str(label)
    is_plain = _PLAIN_LABEL.fullmatch(label) and not _MISLEADING.search(f" {label} ") and label not in ("True", "False")
    return label if is_plain else json.dumps(label, ensure_ascii=False)


def format_category(label: Any) -> str:
    """Write a category of a column, and a boolean as yes or no."""
    return format_value(label) if isinstance(label, bool) else format_label(label)


def format_value(value: Any) -> str:
    """Write a value of a row."""
    if value is None:
        return "missing"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return format_number(value) if isinstance(value, int | float) else str(value)


def whole_ends(low: float, high: float, low_closed: bool = True, high_closed: bool = True) -> tuple[float, float]:
    """Return the first and the last whole number between two ends; if there is none, the first is the larger."""
    first = low if math.isinf(low) else math.floor(low) + 1.0 if not low_closed else float(math.ceil(low))
    last = high if math.isinf(high) else math.ceil(high) - 1.0 if not high_closed else float(math.floor(high))
    return first, last


def format_interval(interval: tuple[float, float], is_whole: bool) -> tuple[str, str]:
    """Write the ends of an interval; of whole numbers, the first and the last one in it."""
    first, last = whole_ends(*interval) if is_whole else interval
    return tuple(map(format_number, (first, last) if first <= last else interval))  # type: ignore[return-value]


def format_outcome(value: Any) -> str:
    """Write an outcome: a number or the label of a class."""
    return format_number(value) if isinstance(value, float) else format_label(value)


def format_exactly(value: float) -> str:
    """Write a number with as many digits as identify it, and a whole number without decimals."""
    return repr(value).removesuffix(".0")


def counted(n: int, what: str) -> str:
    """Write how many things there are."""
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def join(names: Sequence[str], word: str = "and") -> str:
    """Write a list of names as part of a sentence."""
    return f" {word} ".join(([", ".join(names[:-1])] if len(names) > 1 else []) + list(names[-1:]))


def first_repeated(names: Sequence[str]) -> str | None:
    """Return the first name that appears more than once."""
    counts = Counter(names)
    return next((name for name in names if counts[name] > 1), None)


def printable(text: str) -> str:
    r"""Replace control characters, by which a name could change what a terminal shows."""
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def printed(text_of: Callable[[_Owner], str]) -> Callable[[_Owner], str]:
    """Let a method return printable text: what people give to `print`, such as `__str__`."""
    return functools.wraps(text_of)(lambda self: printable(text_of(self)))


def name_model(name: str | None) -> str:
    """Write what a model is called."""
    return "the model" if name is None or name in _NAMELESS else name


def to_plain(value: Any) -> Any:
    """Turn a NumPy scalar into the Python value that it holds."""
    import numpy as np

    return value.item() if isinstance(value, np.generic) else value
