"""Sets of variables with their same-decision probability, as values."""

from __future__ import annotations

from dataclasses import dataclass, field

from suffice.words import format_with_bound, join


@dataclass(frozen=True)
class SufficientSet:
    """A set of variables with its same-decision probability.

    Parameters
    ----------
    variables : tuple of str
        The variables, in the order of the table.
    sdp : float
        The probability that the outcome is kept when only these variables are known.
    lower : float or None, default=None
        A lower bound of the SDP at 95 % confidence (or the explainer's `confidence`); computed for the best set of a
        row only. It does not count when sets are compared.
    """

    variables: tuple[str, ...]
    sdp: float
    lower: float | None = field(default=None, compare=False)

    def __str__(self) -> str:
        """Return the variables and the probability."""
        sdp = format_with_bound(self.sdp, self.lower).replace(" (", ", ").removesuffix(")")
        return f"{join(self.variables) or 'nothing at all'} (SDP {sdp})"
