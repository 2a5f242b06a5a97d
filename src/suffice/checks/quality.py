"""How well the forest, or the explained model, predicts, and for how many rows a sufficient set exists."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, roc_auc_score

from suffice._forest.asked_rows import AskedRows
from suffice._forest.fitted import Fitted
from suffice._forest.out_of_bag import votes_out_of_bag
from suffice._forest.outcomes import Outcomes
from suffice._table.input import as_finite, read_outcomes
from suffice._text import counted, format_number, format_percent, format_share, name_model, printed, to_plain
from suffice.checks.refits import best_sets

N_EXPLAINED = 200  # rows that are searched for sufficient sets

NO_ROWS = (
    "No training row is known to be out of bag: the trees drew all rows, count all rows, or count a sample of those "
    "that they drew. Pass rows that the forest was not fitted on, as in quality(X, y)."
)
OBSERVED = "the observed outcomes"
MAX_CLASSES = 12  # larger confusion matrices are not written as text


@dataclass(frozen=True)
class SetShare:
    """How many rows with one explained outcome have a sufficient set."""

    outcome: Any
    n_rows: int
    n_explained: int
    n_with_set: int

    @property
    def share(self) -> float:
        """The share of the searched rows that have a sufficient set; NaN if none was searched."""
        return self.n_with_set / self.n_explained if self.n_explained else math.nan


@dataclass(frozen=True)
class ClassQuality:
    """How well one class is predicted.

    Parameters
    ----------
    label : object
        The class.
    n_rows : int
        How many rows have the class.
    n_predicted : int
        How many rows are predicted to have it.
    n_right : int
        How many rows have it and are predicted to.
    """

    label: Any
    n_rows: int
    n_predicted: int
    n_right: int

    @property
    def recall(self) -> float:
        """The share of the rows of the class that are predicted to have it; NaN if there are none."""
        return self.n_right / self.n_rows if self.n_rows else math.nan

    @property
    def precision(self) -> float:
        """The share of the rows predicted to have the class that do; NaN if there are none."""
        return self.n_right / self.n_predicted if self.n_predicted else math.nan

    @property
    def f1(self) -> float:
        """The harmonic mean of recall and precision; NaN if no row has the class and none is predicted to."""
        n = self.n_rows + self.n_predicted
        return 2 * self.n_right / n if n else math.nan


@dataclass(frozen=True, eq=False)
class Quality:
    """Predictions compared with observed outcomes, and the share of rows with a sufficient set.

    Parameters
    ----------
    target : str
        The name of the outcomes.
    predictor : str
        The predictor: "the forest", or the class of the explained model.
    reference : str
        What the predictions are compared with: "the observed outcomes", or "the outputs of" the model.
    rows : str
        Which rows were predicted, and by which trees.
    observed, predicted : ndarray of shape (n_rows,)
        Labels or numbers.
    classes : tuple of object or None
        The labels; None for a regression.
    sets : tuple of SetShare, default=()
        How many rows have a sufficient set: one entry for each class, or a single one for a regression.
    level : str, default=""
        The level that a sufficient set must reach, in words.
    model : Quality or None, default=None
        For an explained model and observed outcomes: how well the model itself predicts them.
    focus : object, default=None
        The class that people care about.
    votes : ndarray of shape (n_rows, n_classes) or None, default=None
        The predicted probability of each class.

    Examples
    --------
    >>> from suffice import SufficientExplainer
    >>> X = np.random.default_rng(0).normal(size=(300, 3))
    >>> quality = SufficientExplainer(random_state=0).fit(X, X[:, 1] > 0).quality()
    >>> quality.accuracy > 0.9, quality.confusion.sum()
    (True, np.int64(300))
    """

    target: str
    predictor: str
    reference: str
    rows: str
    observed: NDArray[Any] = field(repr=False)
    predicted: NDArray[Any] = field(repr=False)
    classes: tuple[Any, ...] | None
    sets: tuple[SetShare, ...] = ()
    level: str = ""
    model: Quality | None = None
    focus: Any = None
    votes: NDArray[np.float64] | None = field(default=None, repr=False)

    @property
    def n_rows(self) -> int:
        """The number of rows that were predicted."""
        return len(self.observed)

    @property
    def is_agreement(self) -> bool:
        """Whether the forest is compared with a model, and not with observed outcomes."""
        return self.reference != OBSERVED

    @cached_property
    def confusion(self) -> NDArray[np.int64]:
        """Classification: how many rows have each class (rows) and are predicted to have each class (columns)."""
        if self.classes is None:
            raise AttributeError("`confusion` is for classification.")
        n = len(self.classes)
        cells = n * _positions(self.observed, self.classes) + _positions(self.predicted, self.classes)
        return np.bincount(cells, minlength=n * n).astype(np.int64).reshape(n, n)

    @property
    def by_class(self) -> tuple[ClassQuality, ...]:
        """Classification: rows, predictions, recall and precision of each class; nothing for a regression."""
        if self.classes is None:
            return ()
        counts = self.confusion
        figures = zip(self.classes, counts.sum(axis=1), counts.sum(axis=0), np.diag(counts), strict=True)
        return tuple(ClassQuality(label, int(n), int(m), int(k)) for label, n, m, k in figures)

    @property
    def of_focus(self) -> dict[str, float]:
        """How well the focus class is predicted; nothing without one.

        Precision, recall and F1 of its predictions and, if there are votes, the area under the ROC curve (ROC AUC)
        and under the curve of precision over recall (average precision).
        """
        found = [one for one in self.by_class if one.label == self.focus and self.focus is not None]
        if not found:
            return {}
        figures = {"precision": found[0].precision, "recall": found[0].recall, "F1": found[0].f1}
        if self.votes is None or self.classes is None:
            return figures
        scores = self.votes[:, self.classes.index(self.focus)]
        has_class = self.observed == self.focus
        is_ranked = 0 < np.count_nonzero(has_class) < self.n_rows
        for name, measure in (("ROC AUC", roc_auc_score), ("average precision", average_precision_score)):
            figures[name] = float(measure(has_class, scores)) if is_ranked else math.nan
        return figures

    @property
    def focus_text(self) -> str:
        """How well the focus class is predicted, in one sentence; nothing without one."""
        figures = ", ".join(f"{name} {format_share(value)}" for name, value in self.of_focus.items())
        return f"{self.focus}: {figures}." if figures else ""

    @property
    def accuracy(self) -> float:
        """Classification: the share of rows whose class is predicted; NaN without rows."""
        return float(np.trace(self.confusion) / self.n_rows) if self.n_rows else math.nan

    @property
    def accuracy_of_constant(self) -> float:
        """Classification: the accuracy of always predicting the most frequent class."""
        return float(self.confusion.sum(axis=1).max() / self.n_rows) if self.n_rows else math.nan

    @property
    def r2(self) -> float:
        """Regression: 1 - the mean squared error divided by the variance; NaN if the outcomes do not vary."""
        self._check_numbers("r2")
        variance = float(np.var(self.observed)) if self.n_rows else 0.0
        error = self.observed - self.predicted
        return 1 - float(np.mean(error**2)) / variance if variance else math.nan

    @property
    def mae(self) -> float:
        """Regression: the mean absolute error."""
        self._check_numbers("mae")
        return float(np.mean(np.abs(self.observed - self.predicted))) if self.n_rows else math.nan

    @property
    def n_explained(self) -> int:
        """How many rows were searched for sufficient sets."""
        return sum(share.n_explained for share in self.sets)

    @property
    def share_with_set(self) -> float:
        """The share of rows that have a sufficient set: that of each class, weighted by its rows."""
        known = [share for share in self.sets if share.n_explained]
        n_rows = sum(share.n_rows for share in known)
        return sum(share.n_rows * share.share for share in known) / n_rows if n_rows else math.nan

    def _check_numbers(self, name: str) -> None:
        if self.classes is not None:
            raise AttributeError(f"`{name}` is for regression.")

    @property
    def title(self) -> str:
        """What was compared, in one sentence."""
        target = "" if self.target in ("y", "prediction") else f", {self.target}"
        agreement = f"Agreement of {self.predictor} with {self.reference}"
        return f"{agreement if self.is_agreement else f'Quality of {self.predictor}'}{target}: {self.rows}."

    @property
    def summary(self) -> str:
        """The figures for all rows, in one sentence."""
        if self.classes is None:
            return f"R2 {format_share(self.r2)}, mean absolute error {format_number(self.mae)}."
        always = f"always predicting the most frequent class would give {format_share(self.accuracy_of_constant)}"
        return f"Accuracy {format_share(self.accuracy)}; {always}."

    @property
    def sets_text(self) -> str:
        """The share of rows with a sufficient set, by class, in one sentence; nothing if it was not computed."""
        if not self.n_explained:
            return ""
        searched = [share for share in self.sets if share.n_explained][:MAX_CLASSES]
        shares = [f"{format_percent(share.share)} % of the rows explained as {share.outcome}" for share in searched]
        by_class = "" if self.classes is None else f": {', '.join(shares)}"
        about = f"{self.level}; {counted(self.n_explained, 'row')} searched"
        return f"{format_percent(self.share_with_set)} % of rows have a sufficient set ({about}){by_class}."

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain Python values, ready for JSON.

        Returns
        -------
        dict
            The figures; without the predictions of single rows.
        """
        names = ["target", "predictor", "reference", "rows", "n_rows"]
        names += ["r2", "mae"] if self.classes is None else ["accuracy", "accuracy_of_constant"]
        figures = _figures(self, names)
        if self.classes is not None:
            figures["classes"] = [to_plain(label) for label in self.classes]
            figures["confusion"] = self.confusion.tolist()
            names = ["label", "n_rows", "n_predicted", "recall", "precision"]
            figures["by_class"] = [_figures(one, names) for one in self.by_class]
        if self.of_focus:
            figures["focus"] = {"label": to_plain(self.focus)} | {k: _plain(v) for k, v in self.of_focus.items()}
        if self.sets:
            figures["share_with_set"] = _plain(self.share_with_set)
            names = ["outcome", "n_rows", "n_explained", "n_with_set"]
            figures["sets"] = [_figures(share, names) for share in self.sets]
        return figures if self.model is None else {**figures, "model": self.model.to_dict()}

    @printed
    def __str__(self) -> str:
        """Return the figures in words, with the confusion matrix if there are few classes."""
        lines = [self.title, self.summary]
        if self.classes is not None and len(self.classes) <= MAX_CLASSES:
            lines += _matrix_lines(self)
        lines += filter(None, (self.focus_text, self.sets_text))
        return "\n".join(lines if self.model is None else [*lines, "", str(self.model)])


def quality_of_training(state: Fitted, y: Any, n_explained: int) -> Quality:
    """Compare the training outcomes with the predictions of the trees that did not draw the rows."""
    if y is not None:
        raise ValueError("`y` was passed without `X`: pass the rows as well.")
    matrix, outcomes = state.training
    explained = outcomes if state.model_name is not None else state.predict(matrix)
    return quality_out_of_bag(state, _search_sets(state, matrix, state.outcomes(matrix, explained), n_explained))


def quality_of_table(state: Fitted, rows: AskedRows, y: Any, n_explained: int) -> Quality:
    """Compare the forest, and the model if one is explained, with the outcomes of other rows."""
    outputs = rows.outcomes(state)  # of the model, or else of the forest
    n_rows = counted(len(rows.matrix), "row")
    y = None if y is None else read_outcomes(y, len(rows.matrix))
    if state.model is not None:
        observed = outputs.values
    elif y is not None:
        observed = state.outcomes(rows.matrix, y).values  # refuses unknown labels
    else:
        raise ValueError("`y` is needed: predictions are compared with the observed outcomes of `X`.")
    sets = _search_sets(state, rows.matrix, outputs, n_explained)
    quality = _quality_of_forest(state, n_rows, observed, state.votes(rows.matrix), sets)
    if state.model is None or y is None:
        return quality
    if state.model.probability_of is not None:  # a probability is compared with whether the class was observed
        y = (y == state.model.probability_of).astype(np.float64)
    elif state.classes is None:
        y = as_finite(y)
    classes = None
    if state.classes is not None:
        labels = {*state.classes.tolist(), *y.tolist(), *outputs.values.tolist()}
        classes = tuple(sorted(labels, key=lambda label: (type(label).__name__, label)))
    about = (state.target, name_model(state.model_name), OBSERVED, n_rows)
    model = Quality(*about, y, outputs.values, classes, focus=state.focus)
    return replace(quality, model=model)


def quality_out_of_bag(fitted: Fitted, sets: tuple[SetShare, ...]) -> Quality:
    """Compare the training outcomes with out-of-bag predictions."""
    votes, is_known = votes_out_of_bag(fitted)
    if not is_known.any():
        raise ValueError(NO_ROWS)
    rows = f"{counted(int(np.count_nonzero(is_known)), 'training row')}, predicted out of bag"
    return _quality_of_forest(fitted, rows, fitted.training[1][is_known], votes[is_known], sets)


def text_of_focus(fitted: Fitted) -> str:
    """Write how well the focus class is predicted out of bag; nothing without one, or without such rows."""
    has_rows = fitted.focus is not None and votes_out_of_bag(fitted)[1].any()
    return quality_out_of_bag(fitted, ()).focus_text if has_rows else ""


def _quality_of_forest(
    fitted: Fitted, rows: str, observed: NDArray[Any], votes: NDArray[np.float64], sets: tuple[SetShare, ...]
) -> Quality:
    """Compare outcomes with the predictions of the forest."""
    model = fitted.model_name
    classes = None if fitted.classes is None else fitted.classes.tolist()
    return Quality(
        target=fitted.target,
        predictor="the forest",
        reference=OBSERVED if model is None else f"the outputs of {name_model(model)}",
        rows=rows,
        observed=observed,
        predicted=fitted.decide(votes),
        classes=None if classes is None else tuple(classes),
        sets=sets,
        level=fitted.level_text,
        focus=fitted.focus,
        votes=None if classes is None else votes,
    )


def _search_sets(fitted: Fitted, X: NDArray[np.float32], outcomes: Outcomes, n_explained: int) -> tuple[SetShare, ...]:
    """Search some rows of each class, and count those with a sufficient set."""
    if not n_explained:
        return ()
    rng = np.random.default_rng(0)
    codes = _codes(fitted, outcomes)
    present = np.unique(codes)
    searched = np.array([], dtype=np.intp)
    for rows in (np.flatnonzero(codes == code) for code in present):
        n = min(len(rows), max(1, n_explained // len(present)))
        searched = np.append(searched, np.sort(rng.choice(rows, n, replace=False)))
    has_set = np.array([], dtype=bool)
    if len(searched):
        has_set = best_sets(fitted, X[searched], outcomes.take(searched)).n_by_row() > 0
    return count_sets(fitted, outcomes, searched, has_set)


def count_sets(
    fitted: Fitted, outcomes: Outcomes, searched: slice | NDArray[np.intp], has_set: NDArray[np.bool_]
) -> tuple[SetShare, ...]:
    """Count, by the class that is explained, all rows, the rows that were searched, and those with a sufficient set."""
    labels = [None] if fitted.classes is None else fitted.classes.tolist()
    codes = _codes(fitted, outcomes)
    of_searched = codes[searched]
    counts = (np.bincount(part, minlength=len(labels)).tolist() for part in (codes, of_searched, of_searched[has_set]))
    return tuple(SetShare(*of_class) for of_class in zip(labels, *counts, strict=True))


def _codes(fitted: Fitted, outcomes: Outcomes) -> NDArray[np.intp]:
    """Return the class of each row as a number; 0 for all rows of a regression."""
    return np.zeros(len(outcomes), dtype=np.intp) if fitted.classes is None else outcomes.low.astype(np.intp)


def _positions(labels: NDArray[Any], classes: Sequence[Any]) -> NDArray[np.intp]:
    """Return the position of each label among the classes."""
    place = {label: i for i, label in enumerate(classes)}
    distinct, inverse = np.unique(labels, return_inverse=True)
    return np.array([place[label] for label in distinct.tolist()], dtype=np.intp)[inverse.ravel()]


def _matrix_lines(quality: Quality) -> list[str]:
    """Write the confusion matrix with recall and precision as aligned columns."""
    figures = quality.by_class
    corner = "observed \\ predicted" if not quality.is_agreement else "model \\ forest"
    heads = [corner, *(str(one.label) for one in figures), "rows", "recall"]
    lines = [
        [str(one.label), *map(str, counts), str(one.n_rows), format_share(one.recall)]
        for one, counts in zip(figures, quality.confusion.tolist(), strict=True)
    ]
    lines.append(["precision", *(format_share(one.precision) for one in figures), str(quality.n_rows), ""])
    columns = list(zip(heads, *lines, strict=True))
    widths = [max(map(len, column)) for column in columns]
    padded = [[cell.rjust(width) for cell in column] for column, width in zip(columns, widths, strict=True)]
    padded[0] = [cell.ljust(widths[0]) for cell in columns[0]]
    return ["  ".join(line).rstrip() for line in zip(*padded, strict=True)]


def _figures(values: Any, names: Sequence[str]) -> dict[str, Any]:
    return {name: _plain(getattr(values, name)) for name in names}


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else to_plain(value)
