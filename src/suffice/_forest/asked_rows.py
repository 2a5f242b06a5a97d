"""The rows of a question: encoded, with their outcomes and where these come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from suffice._table.encoding import EncodedRows
from suffice._table.frames import for_model
from suffice._table.input import read_outcomes

if TYPE_CHECKING:
    from suffice._forest.fitted import Fitted
    from suffice._forest.outcomes import Outcomes

OutcomeSource = Literal["forest", "model", "given"]
"""Where outcomes come from: predictions of the forest, outputs of the explained model, or the user."""


@dataclass(frozen=True, eq=False)
class AskedRows:
    """Rows as the user passed them and as the forest sees them, with their outcomes."""

    X: Any
    matrix: NDArray[np.float32]
    values: NDArray[Any]
    source: OutcomeSource
    library: str | None = None
    ids: tuple[str, ...] | None = None

    def outcomes(self, state: Fitted) -> Outcomes:
        """Return what is to be kept: the classes, or the numbers with their intervals."""
        return state.outcomes(self.matrix, self.values)

    def predictions(self, state: Fitted) -> NDArray[Any]:
        """Return the predictions of the forest."""
        return self.values if self.source == "forest" else state.predict(self.matrix)


def ask_about(
    state: Fitted,
    X: Any,
    matrix: NDArray[np.float32],
    y: Any,
    library: str | None = None,
    ids: tuple[str, ...] | None = None,
) -> AskedRows:
    """Take the outcomes of rows from the user, from the model that is explained, or from the forest."""
    if state.model is not None and isinstance(X, EncodedRows):
        raise TypeError("`X` is what `encode` returned, which the model cannot read: pass the rows themselves.")
    if y is not None:
        return AskedRows(X, matrix, read_outcomes(y, len(matrix)), "given", library, ids)
    if state.model is None:
        return AskedRows(X, matrix, state.predict(matrix), "forest", library, ids)
    values = state.model.ask(for_model(X), len(matrix)) if len(matrix) else state.predict(matrix)
    return AskedRows(X, matrix, values, "model", library, ids)
