"""What `suffice` proposes for rows: the least change of a counterfactual rule, and points well inside rules.

The authors measure a point inside the box: its values are those of training rows, and an isolation forest rates it
best. The least change is the point of the box that is nearest to the row. Both are measured. The usual point is chosen
among the values of training rows in many boxes: the fewest changes such that the model agrees and an isolation forest
takes it for an inlier.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.ensemble import IsolationForest, RandomForestClassifier, RandomForestRegressor

from experiments.counterfactual_tables import Columns, Floats, OnFrames, Problem, changed
from experiments.runs import Plan
from suffice import SufficientExplainer

LEAST, INSIDE = "suffice, least change", "suffice, point inside"
USUAL, DEFAULTS = "suffice, usual point with the fewest changes", "suffice, library's defaults, least change"
REGIONAL, REGIONAL_ANY = "suffice, regional rules, point inside", "suffice, regional rules, any point of the box"
VARIANTS = (LEAST, INSIDE, USUAL, REGIONAL, REGIONAL_ANY, DEFAULTS)
# As in the authors' program: the rows that grew the trees are counted, and large sets are allowed.
AUTHORS = {"counts": "bootstrap", "pi": 0.9}
MAX_SIZE, N_CHOSEN = 5, 10
# The least change is the end of a box itself, so that it can be compared with points inside.
AT_THE_END = {"pi": 0.9, "min_plausibility": 0.05, "margin": 0.0}
LEAST_OF_NUMBERS = 0.01  # a narrow interval is rarely reached: the least plausibility for it
USUAL_SCORE = 0.02  # points that an isolation forest rates so high, or higher, are usual; outliers have less than 0
OTHER_SEED = 100  # the isolation forest that chooses is not the one that judges


@dataclass(eq=False)
class OurAnswers:
    """The points for rows, as of the other methods, and how surely and fast they were found.

    Parameters
    ----------
    points : ndarray of shape (n_rows, n_columns)
        Points as numbers and codes; NaN where there is no change.
    proven : float
        The share of the found boxes that are proven to be the most plausible ones.
    ms, ms_confirmed : float
        The median milliseconds of a row that is asked for alone, without and with the questions to the model.
    sentences : list of str
        Changes in words.
    """

    points: Floats
    proven: float = float("nan")
    ms: float = float("nan")
    ms_confirmed: float = float("nan")
    sentences: list[str] = field(default_factory=list)


class OursOnTable:
    """Explainers of a model, one with the authors' forest and one with the library's."""

    def __init__(self, columns: Columns, train: Floats, model: Any, seed: int, plan: Plan) -> None:
        self.columns, self.train, self.plan = columns, train, plan
        forest = RandomForestClassifier if hasattr(model, "classes_") else RandomForestRegressor
        frame, on_frames = columns.decode(train), OnFrames(model, columns)
        authors = forest(20, max_depth=10, random_state=seed)
        self.authors = SufficientExplainer.for_model(on_frames, frame, forest=authors, random_state=seed, **AUTHORS)
        self.default = SufficientExplainer.for_model(on_frames, frame, random_state=seed)
        self.isolation = IsolationForest(random_state=OTHER_SEED + seed).fit(columns.indicators(train))

    def agreement(self, rows: Floats) -> float:
        """Measure how well the authors' forest follows the model on rows: the share that agrees, or R2."""
        explainer = self.authors
        frame = self.columns.decode(rows)
        outputs, predicted = explainer.model_.predict(frame), explainer.forest_.predict(explainer.encode(frame))
        if hasattr(explainer.model_, "classes_"):
            return float(np.mean(outputs == predicted))
        return float(1 - np.mean((outputs - predicted) ** 2) / np.var(outputs))

    def propose(self, problem: Problem, rows: Floats) -> dict[str, OurAnswers]:
        """Find changes of each row, and take different points of them.

        Parameters
        ----------
        problem : Problem
            The target.
        rows : ndarray of shape (n_rows, n_columns)
            The rows as numbers and codes.

        Returns
        -------
        dict of str to OurAnswers
            For each of `VARIANTS`.
        """
        limits: dict[str, Any] = {"max_size": self.plan.pick(MAX_SIZE, 3, 2), **AT_THE_END}
        if not problem.is_class:
            limits["min_plausibility"] = LEAST_OF_NUMBERS
        one, many = {"n": 1, **limits}, {"n": N_CHOSEN, "sets": "all", **limits}
        answers = self._regional(problem, rows)
        frame = self.columns.decode(rows)
        changes = self.authors.what_if(frame, problem.target, confirm=False, **one)
        figures = self._figures(self.authors, frame, problem.target, changes, [one])
        answers[LEAST] = OurAnswers(self._least(rows, changes), **figures)
        answers[INSIDE] = OurAnswers(self._points_inside(rows, _boxes(changes)), **figures)
        both = [many, {**many, "min_size": 2}]
        found = [self.authors.what_if(frame, problem.target, confirm=False, **options) for options in both]
        boxes = [few + more for few, more in zip(*map(_boxes, found), strict=True)]
        figures = self._figures(self.authors, frame, problem.target, [a for c in found for a in c], both)
        answers[USUAL] = OurAnswers(self._points_inside(rows, boxes, problem=problem), **figures)
        changes = self.default.what_if(frame, problem.target, n=1)  # with questions to the model
        figures = self._figures(self.default, frame, problem.target, changes, [{"n": 1}])
        answers[DEFAULTS] = OurAnswers(self._least(rows, changes), **figures)
        return answers

    def _figures(
        self, explainer: Any, frame: Any, target: Any, changes: Any, searches: list[dict[str, Any]]
    ) -> dict[str, Any]:
        """Tell how surely and how fast changes were found, in one or more searches."""
        # Boxes that are cut to where the model agrees have no proof.
        found = [change for answer in changes for change in answer.changes if change.by == "forest"]
        times = {
            confirm: sum(self._median_ms(explainer, frame, target, confirm=confirm, **options) for options in searches)
            for confirm in (False, True)
        }
        return {
            "proven": float(np.mean([change.optimal for change in found])) if found else float("nan"),
            "ms": times[False],
            "ms_confirmed": times[True],
            "sentences": [answer.text for answer in changes if answer.changes],
        }

    def _regional(self, problem: Problem, rows: Floats) -> dict[str, OurAnswers]:
        """Find what changes the outcome of all rows of each row's sufficient rule; of classes only, as the authors."""
        boxes: list[list[Any]] = [[] for _ in rows]
        nothing = np.full(rows.shape, np.nan)
        if not problem.is_class:
            return {REGIONAL: OurAnswers(nothing), REGIONAL_ANY: OurAnswers(nothing)}
        start = time.perf_counter()
        rules = self.authors.explain(self.columns.decode(rows), sets="minimal").rules
        with_rule = [i for i, rule in enumerate(rules) if rule is not None]
        changes = self.authors.what_if_rules([rules[i] for i in with_rule], problem.target, confirm=False)
        ms = 1000 * (time.perf_counter() - start) / len(rows)
        found = [change for change in changes if change.unless]
        for i, change in zip(with_rule, changes, strict=True):
            boxes[i] = [(change.unless, change.variables)] if change.unless else []
        proven = float(np.mean([change.optimal for change in found])) if found else float("nan")
        sentences = [str(change) for change in found]
        return {
            variant: OurAnswers(self._points_inside(rows, boxes, is_best=is_best), proven, ms, sentences=sentences)
            for variant, is_best in ((REGIONAL, True), (REGIONAL_ANY, False))
        }

    def _median_ms(self, explainer: Any, frame: Any, target: Any, **options: Any) -> float:
        """Time rows that are asked for one at a time."""
        seconds = []
        for i in range(min(len(frame), self.plan.pick(10, 2, 1))):
            row = frame.iloc[[i]]
            start = time.perf_counter()
            explainer.what_if(row, target, **options)
            seconds.append(time.perf_counter() - start)
        return 1000 * float(np.median(seconds)) if seconds else float("nan")

    def _least(self, rows: Floats, changes: Any) -> Floats:
        """Move each row to the nearest point of the box of its best change."""
        points = np.full(rows.shape, np.nan)
        for i, answer in enumerate(changes):
            if answer.best is not None:
                frame = self.columns.decode(rows[[i]])
                points[i] = self.columns.encode(frame.assign(**answer.best.values))[0]
        return points

    def _points_inside(
        self, rows: Floats, boxes: list[list[Any]], *, is_best: bool = True, problem: Problem | None = None
    ) -> Floats:
        """Give each row the values of a training row in a box: where an isolation forest rates the result best, or any.

        Boxes are conditions and the variables that change. If there is a problem, its model is asked, and of the usual
        points at which it agrees one with the fewest changes is taken.
        """
        rng = np.random.default_rng(OTHER_SEED)
        points = np.full(rows.shape, np.nan)
        frame = self.columns.decode(self.train)
        for i, boxes_of_row in enumerate(boxes):
            candidates = [rows[:0]]
            for conditions, variables in boxes_of_row:
                is_inside = np.ones(len(frame), dtype=bool)
                for condition in conditions:
                    is_inside &= condition.covers(frame[condition.column].to_numpy())
                moved = [self.columns.names.index(name) for name in variables]
                values = np.unique(self.train[np.ix_(is_inside, moved)], axis=0)
                candidates.append(np.tile(rows[i], (len(values), 1)))
                candidates[-1][:, moved] = values
            together = np.vstack(candidates)
            if problem is not None and len(together):
                agrees = problem.reaches(together)
                together = together[agrees] if agrees.any() else together
            if not len(together):
                continue
            if not is_best:
                points[i] = together[rng.integers(len(together))]
                continue
            scores = self.isolation.decision_function(self.columns.indicators(together))
            n_changed = changed(rows[i], together).sum(axis=1) if problem is not None else np.zeros(len(together))
            n_changed = np.where(scores >= USUAL_SCORE, n_changed, n_changed.max() + 1)
            points[i] = together[np.lexsort((-scores, n_changed))[0]]
        return points


def _boxes(changes: Any) -> list[list[Any]]:
    """Return the boxes of the changes of each row, and the variables that change."""
    return [[(change.conditions, change.variables) for change in answer.changes] for answer in changes]
