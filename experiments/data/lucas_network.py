"""LUCAS (LUng CAncer Simple set): a network of twelve binary variables whose probabilities are known exactly."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from experiments.data.synthetic import check_count
from suffice.errors import did_you_mean

# The table of the causality workbench (causality.inf.ethz.ch/data/LUCAS.html): the parents of each variable, and
# P(variable = 1) for each combination of their values. Parents come before their children.
LUCAS_PROBABILITIES: Mapping[str, tuple[tuple[str, ...], Mapping[tuple[int, ...], float]]] = MappingProxyType(
    {
        "Anxiety": ((), {(): 0.64277}),
        "Peer_Pressure": ((), {(): 0.32997}),
        "Smoking": (
            ("Peer_Pressure", "Anxiety"),
            {(0, 0): 0.43118, (1, 0): 0.74591, (0, 1): 0.8686, (1, 1): 0.91576},
        ),
        "Yellow_Fingers": (("Smoking",), {(0,): 0.23119, (1,): 0.95372}),
        "Genetics": ((), {(): 0.15953}),
        "Lung_cancer": (
            ("Genetics", "Smoking"),
            {(0, 0): 0.23146, (1, 0): 0.86996, (0, 1): 0.83934, (1, 1): 0.99351},
        ),
        "Attention_Disorder": (("Genetics",), {(0,): 0.28956, (1,): 0.68706}),
        "Born_an_Even_Day": ((), {(): 0.5}),
        "Allergy": ((), {(): 0.32841}),
        "Coughing": (
            ("Allergy", "Lung_cancer"),
            {(0, 0): 0.1347, (1, 0): 0.64592, (0, 1): 0.7664, (1, 1): 0.99947},
        ),
        "Fatigue": (
            ("Lung_cancer", "Coughing"),
            {(0, 0): 0.35212, (1, 0): 0.56514, (0, 1): 0.80016, (1, 1): 0.89589},
        ),
        "Car_Accident": (
            ("Attention_Disorder", "Fatigue"),
            {(0, 0): 0.2274, (1, 0): 0.779, (0, 1): 0.78861, (1, 1): 0.97169},
        ),
    }
)
LUCAS_TARGET = "Lung_cancer"
# The order of the published sample.
LUCAS_COLUMNS = (
    "Smoking",
    "Yellow_Fingers",
    "Anxiety",
    "Peer_Pressure",
    "Genetics",
    "Attention_Disorder",
    "Born_an_Even_Day",
    "Car_Accident",
    "Fatigue",
    "Allergy",
    "Coughing",
)


@dataclass(frozen=True, eq=False)
class LucasData:
    """Rows of the LUCAS network; `lucas_sdp` computes their exact probabilities.

    Parameters
    ----------
    X : pandas.DataFrame of shape (n_rows, 11)
        The variables other than Lung_cancer, as booleans.
    y : pandas.Series of shape (n_rows,)
        Lung_cancer, as booleans.
    """

    X: Any
    y: Any


def make_lucas(n_rows: int = 2000, *, random_state: Any = None) -> LucasData:
    """Draw rows of LUCAS (LUng CAncer Simple set), a network of twelve binary variables.

    Parameters
    ----------
    n_rows : int, default=2000
        The number of rows.
    random_state : int, Generator or None, default=None
        The seed.

    Returns
    -------
    LucasData
        The rows.

    Examples
    --------
    >>> data = make_lucas(1000, random_state=0)
    >>> data.X.shape, data.y.name
    ((1000, 11), 'Lung_cancer')
    """
    check_count("n_rows", n_rows, 1)
    rng = np.random.default_rng(random_state)
    columns: dict[str, NDArray[np.bool_]] = {}
    for variable in LUCAS_PROBABILITIES:
        columns[variable] = rng.random(n_rows) < _lucas_probability(variable, columns, n_rows)
    y = pd.Series(columns[LUCAS_TARGET], name=LUCAS_TARGET)
    return LucasData(pd.DataFrame({name: columns[name] for name in LUCAS_COLUMNS}), y)


def lucas_states() -> Any:
    """List all states of the LUCAS network with their exact probabilities.

    Returns
    -------
    pandas.DataFrame of shape (4096, 13)
        The twelve variables as booleans, and the column "probability", which sums to 1.

    Examples
    --------
    >>> states = lucas_states()
    >>> round(float(states["probability"][states["Lung_cancer"]].sum()), 4)
    0.7363
    """
    names = [*LUCAS_COLUMNS, LUCAS_TARGET]
    n_states = 2 ** len(names)
    bits = np.arange(n_states)[:, None] >> np.arange(len(names) - 1, -1, -1) & 1
    columns = {name: bits[:, i] == 1 for i, name in enumerate(names)}
    probability = np.ones(n_states)
    for variable in names:
        p_true = _lucas_probability(variable, columns, n_states)
        probability *= np.where(columns[variable], p_true, 1 - p_true)
    return pd.DataFrame({**columns, "probability": probability})


def lucas_sdp(X: Any, S: Collection[str], y: ArrayLike = True) -> NDArray[np.float64]:
    """Compute exact same-decision probabilities of LUCAS: P(Lung_cancer = y | X_S = x_S).

    Parameters
    ----------
    X : frame of shape (n_rows, n_columns)
        The rows; only the columns in `S` are read. Values are booleans, or 0 and 1.
    S : collection of str
        The variables that keep their values; empty for P(Lung_cancer = y).
    y : bool or array-like of shape (n_rows,), default=True
        The outcome of all rows, or of each.

    Returns
    -------
    ndarray of shape (n_rows,)
        The probabilities, by enumeration of all states.

    Examples
    --------
    >>> data = make_lucas(1000, random_state=0)
    >>> coughing_smokers = data.X[data.X["Smoking"] & data.X["Coughing"]]
    >>> lucas_sdp(coughing_smokers, ["Smoking", "Coughing"])[:1].round(4)
    array([0.9465])
    """
    if not hasattr(X, "columns"):
        raise TypeError(f"`X` must be a frame with the variables as columns, got {type(X).__name__}.")
    if isinstance(S, str):
        raise TypeError(f"`S` must be a list of names, got {S!r}; give [{S!r}].")
    for name in S:
        if name not in LUCAS_COLUMNS:
            raise ValueError(f"Unknown variable {name!r} in `S`.{did_you_mean(name, LUCAS_COLUMNS)}")
        if name not in X.columns:
            raise ValueError(f"`X` has no column {name!r}, which `S` names.")
    outcomes = _as_bool("y", y)
    if outcomes.shape not in ((), (len(X),)):
        raise ValueError(f"`y` must be one outcome or one for each of the {len(X)} rows, got shape {outcomes.shape}.")
    states = lucas_states()
    probability = states["probability"].to_numpy()
    code_of_state, code_of_row = np.zeros(len(states), dtype=np.int64), np.zeros(len(X), dtype=np.int64)
    for name in dict.fromkeys(S):  # a repeated name counts once
        code_of_state = 2 * code_of_state + states[name].to_numpy()
        code_of_row = 2 * code_of_row + _as_bool(f"X[{name!r}]", X[name])
    with_cancer = np.bincount(code_of_state, weights=probability * states[LUCAS_TARGET].to_numpy())
    p_true = (with_cancer / np.bincount(code_of_state, weights=probability))[code_of_row]
    return np.where(outcomes, p_true, 1 - p_true)


def _lucas_probability(variable: str, columns: Mapping[str, NDArray[np.bool_]], n_rows: int) -> NDArray[np.float64]:
    """Compute P(variable = 1) for each row from the values of the variable's parents."""
    parents, probability_of = LUCAS_PROBABILITIES[variable]
    p_true = np.empty(n_rows)
    for values, probability in probability_of.items():
        agrees = np.ones(n_rows, dtype=np.bool_)
        for parent, value in zip(parents, values, strict=True):
            agrees &= columns[parent] == value
        p_true[agrees] = probability
    return p_true


def _as_bool(name: str, values: Any) -> NDArray[np.bool_]:
    array = np.asarray(values)
    is_wrong = ~np.isin(array, (0, 1))
    if is_wrong.any():
        raise ValueError(f"`{name}` must hold booleans, or 0 and 1, got {array[is_wrong].tolist()[0]!r}.")
    return array.astype(np.bool_)
