"""The settings of an explainer: which values they may have, and what follows from them."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from numbers import Integral, Real
from typing import Any, Literal, TypeAlias

import numpy as np
from joblib import cpu_count
from numpy.typing import NDArray

from suffice._forest.projection import MAX_CANDIDATES
from suffice.errors import check_number, check_word, did_you_mean

Floats: TypeAlias = NDArray[np.float64]
# The level of a rare class: it stays the most likely one.
LEAST_LEVEL = 0.5
DEFAULT_MAX_SETS = 2**12  # all sets of 12 candidates
# The level of a sufficient set, if the user does not choose it.
DEFAULT_PI = {"classification": 0.9, "regression": 0.8}


@dataclass(frozen=True, eq=False)
class Settings:
    """The parameters of an explainer but its forest, checked."""

    task: str
    pi: float  # None until the task is known: see `for_task`
    levels: Literal["same", "odds"]
    confidence: float | None
    alpha: float | None
    radius: float | None
    n_candidates: int
    candidates: str | Sequence[str | int]
    min_size: int
    max_size: int | None
    max_sets: int | None
    min_support: int
    min_node_size: int | None
    counts: Literal["auto", "out-of-bag", "bootstrap", "all"]
    voters: Literal["informed", "all"]
    groups: Mapping[str, Sequence[str | int]] | None
    dates: Literal["parts"] | None
    unseen: Literal["error", "missing"]
    extra_columns: Literal["error", "ignore"] | Sequence[str]
    n_jobs: int | None
    random_state: Any
    n_threads: int = field(init=False)

    def __post_init__(self) -> None:
        """Refuse values that make no sense, and count the threads."""

        def check(name: str, must_be: str, is_right: Callable[[Any], bool], kind: Any = Real) -> None:
            if getattr(self, name) is not None:
                check_number(name, getattr(self, name), must_be, is_right, kind)

        check("pi", "in (0, 1]", lambda v: 0 < v <= 1)
        check_word("levels", self.levels, ("same", "odds"))
        check("confidence", "None or in (0, 1)", lambda v: 0 < v < 1)
        check("alpha", "None or in (0, 1)", lambda v: 0 < v < 1)
        check("radius", "a number >= 0", lambda v: 0 <= v < math.inf)
        most = MAX_CANDIDATES
        check_number("n_candidates", self.n_candidates, f"from 1 to {most}", lambda v: 1 <= v <= most, Integral)
        check_number("min_size", self.min_size, "a whole number >= 0", lambda v: v >= 0, Integral)
        least = max(1, self.min_size)
        check("max_size", f"None or at least {least}", lambda v: v >= least, Integral)
        check("max_sets", "None or at least 1", lambda v: 1 <= v < 2**64, Integral)
        check_number("min_support", self.min_support, "a whole number >= 0", lambda v: v >= 0, Integral)
        check("min_node_size", "None or at least 1", lambda v: v >= 1, Integral)
        check("n_jobs", "None or a whole number other than 0", lambda v: v != 0, Integral)
        check_word("counts", self.counts, ("auto", "out-of-bag", "bootstrap", "all"))
        check_word("voters", self.voters, ("informed", "all"))
        check_word("dates", self.dates, (None, "parts"))
        check_word("unseen", self.unseen, ("error", "missing"))
        if not isinstance(self.extra_columns, list | tuple) or not all(isinstance(c, str) for c in self.extra_columns):
            check_word("extra_columns", self.extra_columns, ("error", "ignore"))
        n_cores = int(cpu_count())
        n = n_cores if self.n_jobs is None else int(self.n_jobs)
        object.__setattr__(self, "n_threads", n if n > 0 else max(1, n_cores + 1 + n))

    @classmethod
    def of(cls, estimator: Any) -> Settings:
        """Read and check the settings of an estimator."""
        return cls(**{name: getattr(estimator, name) for name in SETTINGS})

    def for_task(self, task: str) -> Settings:
        """Return the settings with the level of classes or of numbers, unless the user chose one."""
        if self.radius is not None and task == "classification":
            raise ValueError("`radius` is for regression, but `y` holds classes; leave it None.")
        return self if self.pi is not None else replace(self, pi=DEFAULT_PI[task])


SETTINGS = tuple(field.name for field in fields(Settings) if field.init)
# What the paper does: docs/method.md, 1.8.
PAPER: dict[str, Any] = {
    "counts": "bootstrap",
    "voters": "all",
    "candidates": "splits",
    "alpha": 0.1,
    "pi": 0.9,
    "min_size": 1,
    "levels": "same",
    "min_support": 0,
    "min_node_size": None,
}
# What can be changed without fitting again.
CHANGEABLE = (
    *("pi", "levels", "confidence", "alpha", "radius", "n_candidates", "candidates", "min_size", "max_size"),
    *("max_sets", "min_support", "unseen", "extra_columns", "n_jobs"),
)
# What makes no difference to the answers of a method.
UNUSED = {
    "reasons": ("min_support",),
    "what_if": ("levels", "confidence", "alpha", "radius", "min_support"),
    "what_if_rules": ("levels", "confidence", "alpha", "radius", "min_size", "min_support"),
}


def check_changes(method: Callable[..., Any], names: Iterable[str], kind: type[Exception]) -> None:
    """Refuse a setting that takes effect in `fit` only, makes no difference to the method, or does not exist."""
    unused = UNUSED.get(method.__name__, ())
    usable = [name for name in CHANGEABLE if name not in unused]
    for name in names:
        if name not in usable:
            parameters = inspect.signature(method).parameters
            options = [option for option, p in parameters.items() if p.kind is p.KEYWORD_ONLY]
            hint = did_you_mean(name, [*options, *usable]) or " For other parameters, fit again."
            hint = " It makes no difference here." if name in unused else hint
            raise kind(f"`{method.__name__}` can change {', '.join(usable)}, got {name!r}.{hint}")


def level_by_odds(pi: float, shares: Floats, least: float = LEAST_LEVEL) -> Floats:
    """Compute the level of outcomes from their shares of the training rows (docs/method.md, 1.5)."""
    gains = pi * shares
    # odds / (1 + odds), without a division by 0 at pi = 1.
    levels = np.divide(gains, gains + (1 - pi) * (1 - shares), out=np.zeros_like(gains), where=gains > 0)
    clipped: Floats = np.minimum(pi, np.maximum(least, levels))
    return clipped


def least_cell(min_node_size: int | None, leaf: float, n_rows: int, n_counted: float, least_counted: int = 1) -> int:
    """Compute how many rows a cell holds at least, in proportion to the rows that are counted."""
    if min_node_size is not None:
        return int(min_node_size)
    least = int(leaf) if isinstance(leaf, Integral) else math.ceil(leaf * n_rows)  # as scikit-learn reads it
    return max(least_counted, least if n_counted == n_rows else math.ceil(least * n_counted / n_rows))
