"""The settings of an explainer: which values they may have, what follows from them, and how they are told."""

from __future__ import annotations

import math
import platform
from importlib.metadata import version
from numbers import Integral
from typing import Any

import numpy as np
import sklearn
from joblib import cpu_count

from suffice._engine.forest import describe_forest
from suffice._engine.projection import MAX_CANDIDATES
from suffice._table.checks import check_number, check_word


def check_settings(explainer: Any) -> None:
    """Refuse parameters that make no sense.

    Parameters
    ----------
    explainer : SufficientExplainer
        The explainer, fitted or not.
    """
    check_number("pi", explainer.pi, "in (0, 1]", lambda v: 0 < v <= 1)
    check_number("alpha", explainer.alpha, "in (0, 1)", lambda v: 0 < v < 1)
    if explainer.radius is not None:
        check_number("radius", explainer.radius, "a number >= 0", lambda v: 0 <= v < math.inf)
    most = MAX_CANDIDATES
    check_number("n_candidates", explainer.n_candidates, f"from 1 to {most}", lambda v: 1 <= v <= most, Integral)
    check_number("min_size", explainer.min_size, "a whole number >= 0", lambda v: v >= 0, Integral)
    if explainer.max_size is not None:
        least = max(1, explainer.min_size)
        check_number("max_size", explainer.max_size, f"None or at least {least}", lambda v: v >= least, Integral)
    if explainer.max_sets is not None:
        check_number("max_sets", explainer.max_sets, "None or at least 1", lambda v: 1 <= v < 2**64, Integral)
    if explainer.reference_rows is not None:
        check_number("reference_rows", explainer.reference_rows, "None or at least 2", lambda v: v >= 2, Integral)
    if explainer.min_node_size is not None:
        check_number("min_node_size", explainer.min_node_size, "None or at least 1", lambda v: v >= 1, Integral)
    check_word("dates", explainer.dates, (None, "parts"))
    check_word("unseen", explainer.unseen, ("error", "missing"))
    check_word("extra_columns", explainer.extra_columns, ("error", "ignore"))
    if explainer.n_jobs is not None:
        check_number("n_jobs", explainer.n_jobs, "None or a whole number other than 0", lambda v: v != 0, Integral)


def least_cell(asked: int | None, leaf: float, n_rows: int, n_kept: int) -> int:
    """Decide how many rows a cell holds at least.

    Parameters
    ----------
    asked : int or None
        The user's choice; None goes by the leaves of the forest.
    leaf : int or float
        The least size of a leaf, as scikit-learn takes it.
    n_rows : int
        The rows on which the forest was fitted.
    n_kept : int
        How many of them are counted.

    Returns
    -------
    int
        The least size.
    """
    if asked is not None:
        return int(asked)
    least = int(leaf) if isinstance(leaf, Integral) else math.ceil(leaf * n_rows)  # as scikit-learn reads it
    return least if n_kept == n_rows else math.ceil(least * n_kept / n_rows)


def count_threads(n_jobs: int | None) -> int:
    """Tell how many threads are meant.

    Parameters
    ----------
    n_jobs : int or None
        As scikit-learn takes it; None for all cores.

    Returns
    -------
    int
        The number of threads.
    """
    n_cores = int(cpu_count())
    if n_jobs is None:
        return n_cores
    return int(n_jobs) if n_jobs > 0 else max(1, n_cores + 1 + int(n_jobs))


def describe_explainer(explainer: Any) -> dict[str, Any]:
    """Tell what was fitted to what, and by which settings.

    Parameters
    ----------
    explainer : SufficientExplainer
        A fitted explainer.

    Returns
    -------
    dict
        Plain values by name.
    """
    return {
        "task": explainer.task_,
        "task_reason": explainer.task_reason_,
        "target": explainer.target_name_,
        "classes": explainer.classes_.tolist() if explainer.task_ == "classification" else None,
        "model": type(explainer.model_).__name__ if hasattr(explainer, "model_") else None,
        "n_rows": len(explainer._projected.forest.X),
        "columns": list(explainer._encoding.names),
        "variables": list(explainer.variable_names_),
        "candidates": list(explainer.candidates_),
        "fidelity": explainer.fidelity_,
        "fidelity_by_class": getattr(explainer, "fidelity_by_class_", None),
        "forest": describe_forest(explainer.forest_),
        "settings": {
            name: getattr(explainer, name)
            for name in (
                "pi",
                "alpha",
                "radius",
                "min_size",
                "max_size",
                "max_sets",
                "reference_rows",
                "n_candidates",
                "unseen",
                "dates",
            )
        }
        | {"min_node_size": explainer.min_node_size_},
        "versions": {
            "suffice": version("suffice"),
            "scikit-learn": sklearn.__version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
    }
