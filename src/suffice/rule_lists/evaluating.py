"""How well a list of rules does on some rows, beside simpler predictions and beside another list, as sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from suffice._table.table import Table
from suffice._text import counted, format_number, format_percent, format_share, printed
from suffice.rule_lists.measures import Bools, Floats, GlobalRule, Labels, Lines, Numbers, Positions

Figures = Mapping[str, float]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Coverage and precision of the rules of a list on some rows. Precision is 1 minus the mean loss.

    Its text says in sentences how well the list predicts, and what each rule does.

    Parameters
    ----------
    lines : tuple of GlobalRule
        The rules, and after them the default line, if the list has one.
    covers : ndarray of shape (n_rules, n_rows), bool
        Which rows each rule covers.
    outcomes : ndarray of shape (n_rows,)
        The outcomes of the rows.
    first : ndarray of shape (n_rows,)
        The rule that decides each row, or that adds most to it; -1 if none covers it.
    coverage, precision : ndarray of shape (n_rules,)
        The figures of each rule alone; the precision is NaN if it covers no row.
    total_precision : float
        The precision of the whole list on the rows that it covers; NaN if it covers none.
    mae : float or None
        Regression: the mean absolute error on the rows covered, NaN if there are none; None for classes.
    figures : dict of str to dict
        For the list, and for fresh rows for a tree of as many leaves and for the most frequent class or the mean of the
        training rows: accuracy and Brier score, or R2 and MSE. Rows without a prediction are left out.
    is_training : bool
        Whether the rows are the training rows.
    """

    lines: tuple[GlobalRule, ...]
    covers: Bools
    outcomes: NDArray[Any]
    first: NDArray[np.intp]
    coverage: Floats
    precision: Floats
    total_precision: float
    mae: float | None
    figures: Mapping[str, Figures]
    is_training: bool

    @property
    def total_coverage(self) -> float:
        """The share of the rows that some rule covers."""
        return float(np.mean(self.first >= 0)) if len(self.first) else math.nan

    def outcomes_of(self, i: int) -> NDArray[Any]:
        """Return the outcomes of the rows that a line covers: a rule, or the default line after the rules.

        Parameters
        ----------
        i : int
            The position of the line in `lines`.

        Returns
        -------
        ndarray
            The outcomes.
        """
        return self.outcomes[self.covers[i] if i < len(self.covers) else self.first < 0]

    @property
    def heading(self) -> str:
        """The number of rules and rows, the coverage, and the figures of the list and of what it is compared with."""
        rows = counted(len(self.outcomes), "training row" if self.is_training else "fresh row")
        figures = [f"{who[0].upper()}{who[1:]}: {figures_text(of)}." for who, of in self.figures.items()]
        covered = (
            f"{counted(len(self.covers), 'rule')} on {rows}, of which {_percent(self.total_coverage)} are covered."
        )
        return "\n".join([covered, *figures])

    @printed
    def __str__(self) -> str:
        """Return the heading and a sentence for each line."""
        rules = [f"{i + 1}. {self.sentence(i)}" for i in range(len(self.covers))]
        return "\n".join([self.heading, *rules, *map(self.sentence, range(len(rules), len(self.lines)))])

    def premise(self, i: int) -> str:
        """Write when a line applies.

        Parameters
        ----------
        i : int
            The position of the line in `lines`.

        Returns
        -------
        str
            "IF ... THEN", "ALWAYS" or "ELSE".
        """
        text = self.lines[i].text
        return f"IF {text} THEN" if text else "ALWAYS" if i < len(self.covers) else "ELSE"

    def sentence(self, i: int) -> str:
        """Write what a line covers, and how its outcomes compare with those of all rows.

        Parameters
        ----------
        i : int
            The position of the line in `lines`.

        Returns
        -------
        str
            The sentence.
        """
        line, held = self.lines[i], self.outcomes_of(i)
        what = f"{self.premise(i)} {line.output_text}"
        if not len(held):
            return f"{what}: covers none of these rows."
        covered = f"{what}: covers {counted(len(held), 'row')} ({_percent(len(held) / len(self.outcomes))})"
        if line.mse is None:
            share, of_all = np.mean(held == line.output), np.mean(self.outcomes == line.output)
            known = "" if self.is_training else f"; {format_share(line.precision)} in training"
            return (
                f"{covered}, {format_share(share)} of them {line.output} ({format_share(of_all)} of all rows{known})."
            )
        known = "" if self.is_training else f"; {format_number(line.output)} in training"
        mean = f"{format_number(float(held.mean()))} ({format_number(float(self.outcomes.mean()))} of all rows{known})"
        return (
            f"{covered}, with a mean of {mean} and an MAE of {format_number(float(np.abs(held - line.output).mean()))}."
        )


@dataclass(frozen=True, eq=False)
class Comparison:
    """What another list, such as an edited one, predicts differently.

    Parameters
    ----------
    before, after : dict of str to float
        The number of rules, the coverage and the figures of each list, as in `Evaluation`.
    outcomes, predicted_before, predicted_after : ndarray of shape (n_rows,)
        The outcomes of the rows, and what each list predicts; None where a list abstains.
    """

    before: Figures
    after: Figures
    outcomes: NDArray[Any]
    predicted_before: NDArray[Any]
    predicted_after: NDArray[Any]

    @property
    def changed(self) -> Positions:
        """The positions of the rows whose prediction differs."""
        same = self.predicted_before == self.predicted_after
        if self.predicted_before.dtype.kind == self.predicted_after.dtype.kind == "f":
            same |= np.isnan(self.predicted_before) & np.isnan(self.predicted_after)
        return np.flatnonzero(~same)

    @printed
    def __str__(self) -> str:
        """Return the figures of both lists, and how many predictions differ."""
        figures = ", ".join(
            f"{name} {_number(name, of)} -> {_number(name, self.after[name])}" for name, of in self.before.items()
        )
        before, after, outcomes = (
            of[self.changed] for of in (self.predicted_before, self.predicted_after, self.outcomes)
        )
        changed = f"The prediction changes in {len(before):,} of {counted(len(self.outcomes), 'row')}"
        if "R2" in self.before:
            known = np.abs(after - before)[~np.isnan(after - before)]
            by = f", by {format_number(float(known.mean()))} on average" if len(known) else ""
        else:
            n_right, n_wrong = np.count_nonzero(outcomes == after), np.count_nonzero(outcomes == before)
            by = f": {n_right:,} of them become right, {n_wrong:,} wrong" if len(before) else ""
        return f"{figures}. {changed}{by}."


class Answers(NamedTuple):
    """What a list predicts for rows, and which of them each rule covers."""

    outcomes: NDArray[Any]
    predicted: NDArray[Any]
    shares: Floats | None
    covers: Bools

    def figures(self, task: Labels | Numbers) -> dict[str, float]:
        """Compute accuracy and Brier score, or R2 and MSE, of the rows that have a prediction."""
        return measure(task, self.outcomes, self.predicted, self.shares)

    def compared_with(self, other: Answers, task: Labels | Numbers) -> Comparison:
        """Compare with the answers of another list for the same rows."""
        before, after = (
            {"rules": len(of.covers), "coverage": float(of.covers.any(axis=0).mean()), **of.figures(task)}
            for of in (self, other)
        )
        return Comparison(before, after, self.outcomes, self.predicted, other.predicted)


def measure(
    task: Labels | Numbers, outcomes: NDArray[Any], predicted: NDArray[Any], shares: Floats | None
) -> dict[str, float]:
    """Compute accuracy and Brier score, or R2 and MSE, of the rows that have a prediction."""
    has_value = _has_value(predicted)
    outcomes, predicted = outcomes[has_value], predicted[has_value]
    if isinstance(task, Numbers):
        mse = float(np.mean((outcomes - predicted) ** 2)) if len(outcomes) else math.nan
        variance = float(outcomes.var()) if len(outcomes) else 0.0
        return {"R2": 1 - mse / variance if variance else math.nan, "MSE": mse}
    if not len(outcomes):
        return {"accuracy": math.nan, "Brier score": math.nan}
    figures = {"accuracy": float(np.mean(predicted == outcomes))}
    if shares is not None:
        squares = (shares[has_value] - (outcomes[:, None] == task.classes)) ** 2
        figures["Brier score"] = float(squares.sum(axis=1).mean()) / (1 + (len(task.classes) == 2))  # as scikit-learn
    return figures


def measure_simpler(lines: Lines, explainer: Any, table: Table, outcomes: NDArray[Any]) -> dict[str, Figures]:
    """Measure a tree of as many leaves, and what is most frequent among the training rows, or their mean."""
    task, is_class, n_rows, n_leaves = lines.task, isinstance(lines.task, Labels), len(outcomes), len(lines.rules) + 1
    means, simpler = task.targets.mean(axis=0), {}
    if explainer is not None and n_leaves > 1:
        kind, matrix = DecisionTreeClassifier if is_class else DecisionTreeRegressor, explainer.encode(table)
        tree = kind(max_leaf_nodes=n_leaves, random_state=0).fit(*explainer.fitted_.training)
        shares = tree.predict_proba(matrix) if is_class else None
        simpler[f"a tree of {n_leaves} leaves"] = measure(task, outcomes, tree.predict(matrix), shares)
    shares = np.tile(means, (n_rows, 1)) if is_class else None
    name = "the most frequent class for every row" if is_class else "the mean for every row"
    return {**simpler, name: measure(task, outcomes, np.repeat(task.predicted(means[None]), n_rows), shares)}


def evaluate_lines(
    lines: Lines, answers: Answers, default: GlobalRule | None, simpler: Mapping[str, Figures]
) -> Evaluation:
    """Measure the rules of a list on rows, each alone and as a list."""
    outputs, task, covers, outcomes = lines.outputs, lines.task, answers.covers, answers.outcomes
    decided = lines.decide(covers)
    is_covered = decided >= 0
    predicted = lines.task.predicted(lines.scores(covers))[is_covered]
    losses = task.losses(predicted, outcomes[is_covered])
    precision = np.full(len(covers), np.nan)
    for i in np.flatnonzero(covers.any(axis=1)):
        precision[i] = 1 - task.losses(outputs[i], outcomes[covers[i]]).mean()
    errors = None if isinstance(task, Labels) else np.abs(predicted - outcomes[is_covered])
    is_whole = bool(_has_value(answers.predicted).all())
    return Evaluation(
        lines=lines.rules + (() if default is None else (default,)),
        covers=covers,
        outcomes=outcomes,
        first=decided,
        coverage=covers.mean(axis=1) if len(outcomes) else np.full(len(covers), np.nan),
        precision=precision,
        total_precision=float(1 - losses.mean()) if len(losses) else math.nan,
        mae=None if errors is None else float(errors.mean()) if len(errors) else math.nan,
        figures={"the list" if is_whole else "the list, where it predicts": answers.figures(task), **simpler},
        is_training=not simpler,
    )


def _has_value(predicted: NDArray[Any]) -> Bools:
    return np.asarray(predicted != None if predicted.dtype == object else predicted == predicted)  # noqa: E711, PLR0124


def figures_text(figures: Figures) -> str:
    """Write figures with their names."""
    return ", ".join(f"{name} {_number(name, value)}" for name, value in figures.items())


def _number(name: str, value: float) -> str:
    return format_number(value) if name in ("rules", "MSE") else f"{round(value, 3) + 0.0:.3f}"  # no -0.000


def _percent(share: float) -> str:
    return "-" if math.isnan(share) else f"{format_percent(share)} %"
