"""Long work about an explainer, beside the app: in a process of its own, which may die without taking others along."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from suffice._io import explainer_work
from suffice._io.apart import CannotSendError, run_apart
from suffice.explainer import SufficientExplainer


def run_beside(name: str, explainer: SufficientExplainer, *args: Any, step: Callable[[int], None]) -> Any:
    """Call a function of `_io.explainer_work` in a process of its own.

    An explainer that cannot be sent to another process, because it was fitted with a class that a notebook has defined,
    is asked in this one.

    Parameters
    ----------
    name : str
        The name of the function.
    explainer : SufficientExplainer
        The explainer. The explained model stays here: it is not asked, and it may be large, or not picklable.
    *args : object
        Further arguments.
    step : callable
        Is called with the number of steps that are done. An error that it raises ends the work.

    Returns
    -------
    object
        The result.
    """
    alone = copy.copy(explainer)
    for attribute in ("model_", "probability_of_", "model_rows_"):
        alone.__dict__.pop(attribute, None)
    try:
        return run_apart(f"{explainer_work.__name__}:{name}", alone, *args, watch=step, counts_steps=True)
    except CannotSendError:
        return getattr(explainer_work, name)(alone, *args, step=step)
