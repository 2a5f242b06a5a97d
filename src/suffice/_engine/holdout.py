"""Fitting with a holdout: part of the rows is set aside before anything is learnt from the table."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice._engine.drawn_rows import Question
from suffice._engine.fitted import Fitted
from suffice._engine.fitting import decide_task, fit
from suffice._engine.set_aside import SetAside, draw_rows
from suffice._engine.settings import Settings
from suffice._table.checks import as_finite
from suffice._table.table import Table


def fit_with_holdout(
    table: Table,
    y: NDArray[Any],
    target: str,
    forest: Any,
    settings: Settings,
    holdout: float,
    question: Question | None = None,
) -> Fitted:
    """Set rows aside at random, and fit on the others.

    The set-aside rows take no part in choosing anything, how categories are encoded included. All rows together decide
    between classes and numbers.

    Parameters
    ----------
    table : Table
        The table.
    y : ndarray of shape (n_rows,)
        Its outcomes.
    target : str
        What the outcomes are called.
    forest : estimator or None
        The user's forest, which is not fitted yet; None fits the default one.
    settings : Settings
        The settings; their `random_state` draws the rows.
    holdout : float
        The share of the rows that is set aside, in (0, 1).
    question : Question or None, default=None
        A model that is asked about further rows, which are made of the rows that are not set aside.

    Returns
    -------
    Fitted
        The fitted state, with the rows that were set aside.
    """
    if hasattr(forest, "estimators_"):
        raise ValueError(
            "`forest` is fitted already and has seen all rows, so `holdout` can set none aside: pass a forest that is "
            "not fitted, or pass fresh rows to `certify`."
        )
    task, reason = decide_task(settings.task, forest, y)
    is_class = task == "classification"
    if not is_class:
        y = as_finite(y)
    rest, aside = draw_rows(y, holdout, is_class, settings.random_state)
    question = None if question is None else question.of_rows(rest)
    fitted = fit(table.take(rest), y[rest], target, forest, replace(settings, task=task), question)
    X = fitted.encode(table.take(aside), unseen="missing")
    values = y[aside] if fitted.classes is None else np.asarray(y[aside], dtype=fitted.classes.dtype)
    return replace(fitted, task_reason=reason, settings=settings, set_aside=SetAside(X, values))
