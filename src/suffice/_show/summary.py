"""What all explained rows show together: how many have a sufficient set, of which size, and what to take care of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from suffice.explanation import NO_SIGNAL
from suffice.explanations import Explanations
from suffice.words import counted


@dataclass(frozen=True)
class Summary:
    """Counts of explained rows.

    Parameters
    ----------
    n_rows : int
        All rows.
    n_sufficient : int
        Rows with a sufficient set.
    n_disagree : int
        Rows for which the forest disagrees with the outcome.
    n_incomplete : int
        Rows whose search ended early.
    sizes : mapping of int to int
        The number of rows by the size of their smallest sufficient set.
    has_signal : bool, default=True
        Whether the variables say anything about the outcomes.
    offer : str, default=""
        The option for rows of rare classes without a sufficient set; nothing if there are none.
    """

    n_rows: int
    n_sufficient: int
    n_disagree: int
    n_incomplete: int
    sizes: Mapping[int, int]
    has_signal: bool = True
    offer: str = ""

    @property
    def cautions(self) -> tuple[str, ...]:
        """What to take care of, one sentence each."""
        sentences = [] if self.has_signal else [NO_SIGNAL]
        if self.n_disagree:
            rows = counted(self.n_disagree, "row")
            sentences.append(f"The forest does not agree with the outcome of {rows}: read these with care.")
        if self.n_incomplete:
            rows = counted(self.n_incomplete, "row")
            sentences.append(f"The search ended before all sets of {rows} were looked at: there may be others.")
        return (*sentences, self.offer) if self.offer else tuple(sentences)


def summarize(explanations: Explanations) -> Summary:
    """Count explained rows.

    Parameters
    ----------
    explanations : Explanations
        The explanations.

    Returns
    -------
    Summary
        The counts.
    """
    has_set = explanations.has_set
    best_sets = zip(explanations.best_sets, has_set.tolist(), strict=True)
    sizes = Counter(len(best.variables) for best, is_sufficient in best_sets if is_sufficient)
    return Summary(
        n_rows=len(explanations),
        n_sufficient=int(has_set.sum()),
        n_disagree=int((~explanations.forest_agrees).sum()),
        n_incomplete=len(explanations) - sum(explanations.is_search_complete),
        sizes=dict(sorted(sizes.items())),
        has_signal=explanations.fitted.has_signal,
        offer=explanations.offer,
    )
