"""The three tables on which rules are compared with Anchors, and the model whose predictions are explained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from experiments.data.loaders import load_attrition, load_compas, load_nhanes
from experiments.runs import Plan
from experiments.switch import least_leaf
from suffice import SufficientExplainer

NAMES = ("Compas", "Nhanesi", "Attrition")


@dataclass(frozen=True, eq=False)
class ModelOnTable:
    """A fitted model, the rows that it was fitted on, and others.

    Parameters
    ----------
    model : estimator
        The forest that is explained.
    train, test : pandas.DataFrame
        Three quarters of the rows, and the rest.
    predicted : ndarray of shape (n_test,)
        The model's predictions for the test rows.
    """

    model: Any
    train: Any
    test: Any
    predicted: Any

    def explainer(self, seed: int, **params: Any) -> SufficientExplainer:
        """Fit an explainer with the paper's settings on the model's outputs for the training rows."""
        of_paper = SufficientExplainer.paper(random_state=seed, **params).get_params(deep=False)
        return SufficientExplainer.for_model(self.model, self.train, **of_paper)

    def default(self, seed: int) -> SufficientExplainer:
        """Fit the library's default explainer on them."""
        return SufficientExplainer.for_model(self.model, self.train, random_state=seed)


def load_model(name: str, plan: Plan, seed: int, leaf: int | None = None) -> ModelOnTable:
    """Load a table as numbers, and fit the paper's forest on three quarters of it.

    Parameters
    ----------
    name : str
        The table.
    plan : Plan
        Where its file is.
    seed : int
        The seed of the split and of the forest.
    leaf : int, default=None
        The least rows of a leaf of the 20 trees; None for t_n of the training rows.

    Returns
    -------
    ModelOnTable
        The model and the rows.
    """
    if name == "Nhanesi":
        X, y = load_nhanes(plan.data)
    else:
        X, y = (load_compas if name == "Compas" else load_attrition)(plan.data, encoded=True)
    X, y = X.astype(np.float64), y.astype(int)
    train, test, y_train, _ = train_test_split(X, y, test_size=0.25, random_state=seed)
    # Fitted on arrays, since Anchors passes arrays; one thread, since it passes few rows at a time.
    leaf = leaf or least_leaf(len(train))
    model = RandomForestClassifier(20, min_samples_leaf=leaf, random_state=seed, n_jobs=1)
    model.fit(train.to_numpy(), y_train)
    return ModelOnTable(_OnArrays(model), train, test, model.predict(test.to_numpy()))


class _OnArrays:
    """Lets a model that was fitted on arrays predict frames too."""

    _estimator_type = "classifier"

    def __init__(self, model: Any) -> None:
        self.model, self.classes_ = model, model.classes_

    def predict(self, X: Any) -> Any:
        return self.model.predict(np.asarray(X, dtype=np.float64))
