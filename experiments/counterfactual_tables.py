"""The tables of the counterfactual experiments as numbers, the models, and what is wanted of their outputs.

Every method gets the same numbers: columns with categories hold codes, and a model knows which columns these are. The
other methods read them in environments of their own, so nothing of `suffice` is imported here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
N_BINS = 10  # of AReS


@dataclass(frozen=True)
class Columns:
    """What the columns of a matrix hold.

    Parameters
    ----------
    names : tuple of str
        Their names.
    categories : dict of int to tuple of str
        For each column of codes the categories in the order of the codes; the other columns are numbers.
    whole : frozenset of int
        The columns of whole numbers.
    """

    names: tuple[str, ...]
    categories: dict[int, tuple[str, ...]]
    whole: frozenset[int]

    @classmethod
    def of_frame(cls, frame: Any) -> Columns:
        """Find the columns of text, the categories of which are sorted, and those of whole numbers."""
        categories, whole = {}, set()
        for position, name in enumerate(frame.columns):
            if frame[name].dtype.kind not in "biuf":
                categories[position] = tuple(sorted(frame[name].unique()))
            elif (frame[name] % 1 == 0).all():
                whole.add(position)
        return cls(tuple(map(str, frame.columns)), categories, frozenset(whole))

    @property
    def numbers(self) -> list[int]:
        """The positions of the columns that hold numbers."""
        return [position for position in range(len(self.names)) if position not in self.categories]

    def encode(self, frame: Any) -> Floats:
        """Turn a frame into numbers and codes."""
        coded = np.empty((len(frame), len(self.names)))
        for position, name in enumerate(self.names):
            if position in self.categories:
                code = {category: i for i, category in enumerate(self.categories[position])}
                coded[:, position] = [code[value] for value in frame[name]]
            else:
                coded[:, position] = frame[name]
        return coded

    def decode(self, coded: Floats) -> Any:
        """Turn numbers and codes into a frame with the categories as text; whole numbers are integers."""
        import pandas as pd

        columns = {}
        for position, name in enumerate(self.names):
            values = coded[:, position]
            if position in self.categories:
                columns[name] = [self.categories[position][int(code)] for code in values]
            elif position in self.whole and (values % 1 == 0).all():
                columns[name] = values.astype(np.int64)
            else:
                columns[name] = values
        return pd.DataFrame(columns)

    def indicators(self, coded: Floats) -> Floats:
        """Replace each column of codes by one column of 0 and 1 for each category."""
        parts = []
        for position in range(len(self.names)):
            values = coded[:, [position]]
            n_codes = len(self.categories.get(position, ()))
            parts.append((values == np.arange(n_codes)).astype(np.float64) if n_codes else values)
        return np.hstack(parts)


@dataclass(frozen=True, eq=False)
class Problem:
    """A model, the rows that it was fitted on, and the outputs that are wanted.

    Parameters
    ----------
    columns : Columns
        What the columns hold.
    train : ndarray of shape (n_train, n_columns)
        The training rows as numbers and codes.
    model : estimator
        A classifier or regressor of such rows.
    target : int or (float, float)
        The class that is wanted, or the closed interval.
    """

    columns: Columns
    train: Floats
    model: Any
    target: int | tuple[float, float]

    @property
    def is_class(self) -> bool:
        """Whether a class is wanted, not an interval."""
        return not isinstance(self.target, tuple)

    def reaches(self, rows: Floats) -> Bools:
        """Return for which rows the output of the model is a wanted one."""
        output = self.model.predict(rows)
        if isinstance(self.target, tuple):
            return np.asarray((output >= self.target[0]) & (output <= self.target[1]))
        return np.asarray(output == self.target)

    def probabilities(self, rows: Floats) -> Floats:
        """Return the probabilities that the output is not, and is, a wanted one; 0 or 1 of an interval."""
        if self.is_class:
            wanted = self.model.predict_proba(rows)[:, list(self.model.classes_).index(self.target)]
        else:
            wanted = self.reaches(rows).astype(np.float64)
        return np.column_stack([1 - wanted, wanted])


class OnFrames:
    """Lets a model of numbers and codes predict the rows of a frame with categories as text."""

    def __init__(self, model: Any, columns: Columns) -> None:
        self.model, self.columns = model, columns
        self._estimator_type = "classifier" if hasattr(model, "classes_") else "regressor"
        if hasattr(model, "classes_"):
            self.classes_ = model.classes_
            self.predict_proba = self._predict_proba

    def predict(self, X: Any) -> Any:
        """Predict the rows of a frame."""
        return self.model.predict(self.columns.encode(X))

    def _predict_proba(self, X: Any) -> Any:
        return self.model.predict_proba(self.columns.encode(X))


def fit_model(kind: str, columns: Columns, X: Floats, y: Any, seed: int) -> Any:
    """Fit a forest ("forest") or a neural network ("network") to classes, which are whole numbers, or to numbers.

    The forest has 100 trees with leaves of t_n rows, the network is scikit-learn's with one hidden layer of 100 units,
    on scaled numbers, and stops when a tenth of the rows no longer improves.
    """
    from sklearn.compose import ColumnTransformer
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    from sklearn.neural_network import MLPClassifier, MLPRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    is_class, n_rows = y.dtype.kind in "biu", len(y)
    n_codes = [list(range(len(columns.categories[position]))) for position in sorted(columns.categories)]
    encoder = OneHotEncoder(categories=n_codes, sparse_output=False) if n_codes else "passthrough"
    scaler = StandardScaler() if kind == "network" else "passthrough"
    prepare = ColumnTransformer([("codes", encoder, sorted(columns.categories)), ("numbers", scaler, columns.numbers)])
    if kind == "network":
        network = MLPClassifier if is_class else MLPRegressor
        model = make_pipeline(prepare, network(early_stopping=True, random_state=seed)).fit(X, y)
        # NumPy 1, which alibi needs, cannot read a generator of NumPy 2.
        model.steps[-1][1]._random_state = None
        return model
    forest = RandomForestClassifier if is_class else RandomForestRegressor
    leaf = max(1, int(np.sqrt(n_rows) * np.log(n_rows) ** 1.5 / 250))
    return make_pipeline(prepare, forest(100, min_samples_leaf=leaf, random_state=seed)).fit(X, y)


# --- how good proposed rows are ---------------------------------------------------------------------------------------


def changed(rows: Floats, points: Floats) -> Bools:
    """Return which values of each proposed point differ from its row."""
    return rows != points


def bin_costs(columns: Columns, train: Floats, rows: Floats, points: Floats) -> Floats:
    """Count the bins that each proposed point moves through, as AReS does.

    Numbers are cut into ten bins of equal numbers of training rows (fewer where deciles are equal); a move to the next
    bin costs 1, so does a change of category, and a move within a bin is free.

    Parameters
    ----------
    columns : Columns
        What the columns hold.
    train : ndarray of shape (n_train, n_columns)
        The rows whose deciles are the ends of bins.
    rows, points : ndarray of shape (n_rows, n_columns)
        The rows and the points that were proposed for them.

    Returns
    -------
    ndarray of shape (n_rows,)
        The costs.
    """
    cost = np.zeros(len(rows))
    for position in range(len(columns.names)):
        before, after = rows[:, position], points[:, position]
        if position in columns.categories:
            cost += before != after
        else:
            ends = np.unique(np.quantile(train[:, position], np.arange(1, N_BINS) / N_BINS))
            cost += np.abs(np.searchsorted(ends, before) - np.searchsorted(ends, after))
    return cost


def noisy_copies(
    columns: Columns, train: Floats, rows: Floats, points: Floats, variance: float, n_copies: int, seed: int
) -> Floats:
    """Copy points with normal noise on the numbers that they change, as if the change was not made exactly.

    Parameters
    ----------
    columns : Columns
        What the columns hold.
    train : ndarray of shape (n_train, n_columns)
        The rows whose least and greatest values become 0 and 1.
    rows, points : ndarray of shape (n_rows, n_columns)
        The rows and the points that were proposed for them.
    variance : float
        The variance of the noise on numbers scaled to [0, 1].
    n_copies, seed : int
        How many copies of each point, and the seed of the noise.

    Returns
    -------
    ndarray of shape (n_rows * n_copies, n_columns)
        The copies of the first point, then those of the second, and so on.
    """
    noise = np.random.default_rng(seed).normal(scale=np.sqrt(variance), size=(n_copies, *points.shape))
    noise *= changed(rows, points) * (train.max(axis=0) - train.min(axis=0))
    noise[:, :, sorted(columns.categories)] = 0
    return (points + noise).swapaxes(0, 1).reshape(-1, points.shape[1])


class Judge:
    """Measures proposed points: does the model change its mind, are they plausible, how much do they change.

    Parameters
    ----------
    problem : Problem
        The model, the training rows and the wanted outputs.
    variances : sequence of float
        The variances of noise.
    n_copies : int
        The number of noisy copies of each point.
    seed : int
        The seed of the isolation forest, which is fitted on all training rows with scikit-learn's defaults.
    """

    def __init__(self, problem: Problem, variances: Sequence[float], n_copies: int, seed: int) -> None:
        from sklearn.ensemble import IsolationForest

        self.problem, self.variances, self.n_copies, self.seed = problem, variances, n_copies, seed
        self.isolation = IsolationForest(random_state=seed).fit(problem.columns.indicators(problem.train))

    def are_inliers(self, rows: Floats) -> Bools:
        """Return which rows the isolation forest takes for inliers."""
        return np.asarray(self.isolation.predict(self.problem.columns.indicators(rows)) == 1)

    def measure(self, rows: Floats, points: Floats) -> dict[str, float]:
        """Measure the points that were proposed for rows.

        Parameters
        ----------
        rows : ndarray of shape (n_rows, n_columns)
            The rows.
        points : ndarray of shape (n_rows, n_columns)
            For each row a point; NaN where none was found.

        Returns
        -------
        dict of str to float
            found: the share of rows with a point. For these: accuracy, plausibility and their product, sparsity (the
            mean number of changed values), cost, and the share of noisy copies that get the same answer as their
            point ("stability 0.01"). both: the share of all rows with a plausible point that reaches the target.
        """
        is_found = ~np.isnan(points).any(axis=1)
        names = ["accuracy", "plausibility", "product", "sparsity", "cost", *map(_stability, self.variances)]
        figures = {"found": float(is_found.mean()), "both": 0.0, **dict.fromkeys(names, float("nan"))}
        if not is_found.any():
            return figures
        n_rows, rows, points = len(rows), rows[is_found], points[is_found]
        columns, train = self.problem.columns, self.problem.train
        reached, is_inlier = self.problem.reaches(points), self.are_inliers(points)
        figures |= {
            "both": float(np.count_nonzero(reached & is_inlier) / n_rows),
            "accuracy": float(reached.mean()),
            "plausibility": float(is_inlier.mean()),
            "product": float(reached.mean() * is_inlier.mean()),
            "sparsity": float(changed(rows, points).sum(axis=1).mean()),
            "cost": float(bin_costs(columns, train, rows, points).mean()),
        }
        for variance in self.variances:
            copies = noisy_copies(columns, train, rows, points, variance, self.n_copies, self.seed)
            same = self.problem.reaches(copies) == np.repeat(reached, self.n_copies)
            figures[_stability(variance)] = float(same.mean())
        return figures


def _stability(variance: float) -> str:
    return f"stability {variance:g}"
