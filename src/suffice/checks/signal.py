"""The share of rows that get a sufficient set, beside the share if the outcomes were shuffled."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice._forest.candidates import choose_candidates
from suffice._forest.fitting import measure_fidelity
from suffice._forest.out_of_bag import measure_errors
from suffice._text import counted, format_percent
from suffice.checks.refits import best_sets, check_refits, regrow_out_of_bag
from suffice.errors import FidelityWarning, check_number, warn

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice._forest.fitted import Fitted
    from suffice._forest.trees import Counts

# Warn if the share with shuffled outcomes is more than this part of the real one.
NEAR = 0.5


@dataclass(frozen=True)
class SignalCheck:
    """The share of rows with a sufficient set, beside the share without any signal.

    The empty set does not count, since it says nothing about the variables; `empty_share` is the share of rows that
    have it.

    Parameters
    ----------
    n_rows : int
        How many training rows were explained, drawn at random.
    share : float
        The share of them that get a sufficient set of at least one variable.
    shuffled_share : float
        The same share for a forest that was fitted to the same table with shuffled outcomes.
    empty_share : float, default=0.0
        The share of them for which the empty set is sufficient: no variable is needed to keep their outcome.
    counts : {"out-of-bag", "bootstrap", "all"}, default="out-of-bag"
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
    counts: Counts = "out-of-bag"

    @property
    def is_near(self) -> bool:
        """Whether shuffled outcomes give nearly as many sets, so that the explanations say little."""
        return self.shuffled_share > NEAR * self.share

    def __str__(self) -> str:
        """Return both shares in one sentence, followed by the share of rows that need no variable."""
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
            honest = ", or `counts='out-of-bag'`" if self.counts != "out-of-bag" else ""
            warn(
                f"{self} Such sets are found without any signal, so the explanations say little about these data: "
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


def shuffle_outcomes(fitted: Fitted, rng: np.random.Generator) -> Fitted:
    """Fit the forest to the same table with shuffled outcomes, and choose the candidates as for the true ones."""
    forest = fitted.forest
    # The codes of categories stay: they are learnt without the outcomes.
    y_rank = forest.y_rank[rng.permutation(len(forest.X))]
    if fitted.drawn is not None:
        fitted = replace(fitted, drawn=fitted.drawn.shuffled(rng))
    state, out_of_bag = regrow_out_of_bag(fitted, int(rng.integers(2**31 - 1)), y_rank=y_rank)
    settings = state.settings
    if isinstance(settings.candidates, str):
        candidates = choose_candidates(state.forest, state.estimator, state.variables, settings)
        state = replace(state, projected=replace(state.projected, candidates=candidates))
    if state.counts != "out-of-bag":
        return state
    has_signal = measure_fidelity(state.forest, out_of_bag.votes, state.task).has_signal
    errors = None if state.errors is None else measure_errors(state.forest, out_of_bag)
    return replace(state, has_signal=has_signal, errors=errors)


def share_with_sets(fitted: Fitted, rows: NDArray[np.intp]) -> tuple[float, float]:
    """Compute the share of training rows whose prediction has a sufficient set."""
    X = fitted.forest.X[rows]
    sets = best_sets(fitted, X, fitted.outcomes(X, fitted.predict(X)))
    has_set, is_empty = sets.n_by_row() > 0, ~sets.best_masks.any(axis=1)
    return float(np.mean(has_set & ~is_empty)), float(np.mean(has_set & is_empty))
