"""Long work about an explainer, beside the app: in a process of its own, which may die without taking others along."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from suffice._io import explainer_file
from suffice._io.processes import CannotSendError, run_in_process
from suffice.explainer import SufficientExplainer


def run_beside(name: str, explainer: SufficientExplainer, *args: Any, step: Callable[[int], None]) -> Any:
    """Call a function of `_io.explainer_file` in a process of its own.

    An explainer that cannot be sent to another process, because it was fitted with a class that a notebook has defined,
    is asked in this one.
    """
    alone = copy.copy(explainer)
    alone.fitted_ = explainer.fitted_.without_model
    try:
        return run_in_process(f"{explainer_file.__name__}:{name}", alone, *args, watch=step, counts_steps=True)
    except CannotSendError:
        return getattr(explainer_file, name)(alone, *args, step=step)
