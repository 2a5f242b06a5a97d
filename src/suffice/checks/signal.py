"""How many rows get a sufficient set, and how many would if the outcomes were shuffled: the words and the warning."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal

import numpy as np

from suffice._forest.fitted import Fitted
from suffice._table.input import check_number
from suffice._text import counted, format_percent
from suffice.checks.refits import check_refits, share_with_sets, shuffle_outcomes
from suffice.errors import FidelityWarning, warn

# The two shares are called near if the share with shuffled outcomes is more than half of the real one.
NEAR = 0.5


@dataclass(frozen=True)
class SignalCheck:
    """The share of rows with a sufficient set, beside the share that they would have without any signal.

    The empty set does not count: it says nothing about the variables. The share of rows that have it stands apart.

    Parameters
    ----------
    n_rows : int
        How many training rows were explained, drawn at random.
    share : float
        The share of them that get a sufficient set of at least one variable.
    shuffled_share : float
        The same share for a forest that was fitted to the same table with shuffled outcomes.
    empty_share : float, default=0.0
        The share of them of which the empty set is sufficient: their outcome is kept whatever is known.
    counts : {"out-of-bag", "bootstrap"}, default="out-of-bag"
        Which rows the trees count.

    Examples
    --------
    >>> print(SignalCheck(200, 0.76, 0.02))
    76 % of rows get a sufficient set; 2 % would if the outcomes were shuffled (200 rows).
    """

    n_rows: int
    share: float
    shuffled_share: float
    empty_share: float = 0.0
    counts: Literal["out-of-bag", "bootstrap"] = "out-of-bag"

    @property
    def is_near(self) -> bool:
        """Whether shuffled outcomes give nearly as many sets: the explanations then say little."""
        return self.shuffled_share > NEAR * self.share

    def __str__(self) -> str:
        """Return both shares in one sentence, and which share of the rows needs no variable in another."""
        needed = " of variables" if self.empty_share else ""
        empty = f" {format_percent(self.empty_share)} % need no variable." if self.empty_share else ""
        return (
            f"{format_percent(self.share)} % of rows get a sufficient set{needed}; "
            f"{format_percent(self.shuffled_share)} % would if the outcomes were shuffled "
            f"({counted(self.n_rows, 'row')}).{empty}"
        )

    def warn_if_near(self) -> None:
        """Warn if shuffled outcomes give nearly as many sets."""
        if self.is_near:
            honest = ", or `counts='out-of-bag'`" if self.counts == "bootstrap" else ""
            warn(
                f"{self} Such sets come about without any signal, so the explanations say little about these data: "
                f"try more rows, other variables, a higher `pi`{honest}.",
                FidelityWarning,
            )


def check_signal(state: Fitted, n_rows: int, random_state: Any) -> SignalCheck:
    """Compare the share of rows that get a sufficient set with the share if the outcomes were shuffled."""
    check_number("n_rows", n_rows, "a whole number >= 1", lambda v: v >= 1, Integral)
    check_refits(state)
    rng = np.random.default_rng(random_state)
    n_training = len(state.forest.X)
    rows = np.sort(rng.choice(n_training, min(n_rows, n_training), replace=False))
    shuffled = shuffle_outcomes(state, rng)
    share, empty_share = share_with_sets(state, rows)
    check = SignalCheck(len(rows), share, share_with_sets(shuffled, rows)[0], empty_share, state.counts)
    check.warn_if_near()
    return check
