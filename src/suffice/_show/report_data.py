"""What the script of a report draws, as compact plain values: rules and rows, column by column.

Texts, the places of bands and dots, chips and the rows that a rule covers are computed here, by ``picture`` and
``axis``; the script only draws, searches, filters and turns pages. What many rows share (conditions, sets, chips,
warnings) is written once and named by its position. Places are hundredths of a per cent of the drawn range.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice._forest.outcomes import outcomes_of_classes
from suffice._show.axis import Drawing, code_text, draw, drawn_range, end_texts, missing_text, share
from suffice._show.picture import (
    MAX_IMPORTANCES,
    NEAREST_SET,
    NO_SET,
    READ_WITH_CARE,
    SUFFICIENT_SET,
    WHATEVER,
    ExplanationPicture,
    coverage_share,
    kept_text,
    more_text,
    picture_explanation,
    picture_line,
    set_text,
    write_sentence,
)
from suffice._table.encoding import Column
from suffice._text import AT_LEAST, format_number, format_probability, format_share
from suffice.explaining.importance import IMPORTANCE_MEANINGS
from suffice.explaining.sentences import N_LISTED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice._table.condition import Condition
    from suffice.explaining.explanation import Explanation
    from suffice.explaining.explanations import Explanations
    from suffice.reasons.values import Reasons

MISSING = -1  # in the place of a code
WORDS = {  # that stand in many cards
    "care": READ_WITH_CARE,
    "importance": IMPORTANCE_MEANINGS["minimal"],
    "noSet": NO_SET,
    "enough": SUFFICIENT_SET,
    "nearest": NEAREST_SET,
    "nothing": WHATEVER,
    "kept": kept_text(""),
    "bound": f" ({AT_LEAST} ",
}


def _place(distinct: dict[Any, int], key: Hashable) -> int:
    """Return the position of a value among distinct ones, which stand in the order in which they first came."""
    return distinct.setdefault(key, len(distinct))


def report_data(explanations: Explanations, reasons: Reasons | None = None) -> dict[str, Any]:
    """Write what the page draws."""
    about = explanations.about
    boxes = _Boxes(explanations.columns)
    writer = _Rows(explanations, boxes)
    for explanation in explanations:
        writer.add(explanation)
    lines, writer.rows["line"] = _lines(explanations, boxes)
    if reasons is not None:
        texts = [(answer.lead, *map(str, answer.reasons)) for answer in reasons]
        writer.rows["reasons"] = [_place(writer.texts["reasons"], text) for text in texts]
    return {
        "target": about["target"],
        "names": _names(explanations),
        "focus": None if about["focus"] is None else about["classes"].index(about["focus"]),
        "canDisagree": explanations.answers.source != "forest",
        "levels": _levels(explanations),
        "classes": [str(label) for label in about["classes"]] if about["task"] == "classification" else None,
        "words": {**WORDS, "conclusion": writer.conclusion},
        "outcomeEnds": None if writer.outcome is None else end_texts(writer.outcome),
        "columns": [
            {**_column(column), "values": values}
            for column, values in zip(explanations.columns, writer.values, strict=True)
        ],
        "variables": explanations.variable_names,
        "candidates": [explanations.variable_names.index(name) for name in explanations.candidates],
        "sets": writer.sets,
        "badges": writer.badges,
        "conditions": boxes.conditions,
        "boxes": boxes.boxes,
        "keys": list(boxes.keys),
        "setsTexts": writer.sets_texts,
        "chips": list(boxes.chips),
        "lines": lines,
        "rows": writer.rows,
        **{name: list(distinct) for name, distinct in writer.texts.items()},
    }


def _names(explanations: Explanations) -> list[str] | None:
    """Return what the rows are called; None if they are just counted from 0."""
    if explanations.ids is not None:
        return list(explanations.ids)
    positions = explanations.positions
    return None if np.array_equal(positions, np.arange(len(positions))) else [str(row) for row in positions]


def _levels(explanations: Explanations) -> list[float]:
    """Return the level of each class, or the one of all numbers."""
    classes = explanations.fitted.classes
    if classes is None:
        return [explanations.pi]
    return list(explanations.fitted.levels(outcomes_of_classes(classes, classes)).tolist())


def _column(column: Column) -> dict[str, Any]:
    column = column.drawn
    if column.kind == "category":
        return {"name": column.name, "labels": [code_text(column, code) for code in range(len(column.labels))]}
    return {"name": column.name, "ends": draw(column.name, None, column).ends or None}


class _Boxes:
    """The distinct boxes of rules, their distinct conditions, and the distinct lists of chips."""

    def __init__(self, columns: tuple[Column, ...]) -> None:
        self._column_of = {column.name: column for column in columns}
        self.position_of = {column.name: c for c, column in enumerate(columns)}
        self.boxes: list[list[Any]] = []
        self.conditions: list[list[Any]] = []
        self.keys: dict[str, int] = {}
        self.chips: dict[tuple[Any, ...], int] = {}
        self._distinct_boxes: dict[tuple[Condition, ...], int] = {}
        self._distinct_conditions: dict[Condition, int] = {}
        self._drawn: dict[tuple[str, Condition | None, Any], int | None] = {}

    def place(self, conditions: tuple[Condition, ...], coverage: float) -> int:
        """Return the position of a box."""
        position = _place(self._distinct_boxes, conditions)
        if position == len(self.boxes):
            text = coverage_share(coverage).text
            self.boxes.append([self._write_sentence(conditions), coverage, text, missing_text(conditions)])
        return position

    def _write_sentence(self, conditions: tuple[Condition, ...]) -> list[int]:
        """Return a sentence without its conclusion: positions of conditions, and negative ones of IF, AND, THEN."""
        places = iter([self._place_condition(condition) for condition in conditions])
        *words, _ = write_sentence(conditions, "")
        return [-1 - _place(self.keys, word.text) if word.is_key else next(places) for word in words]

    def _place_condition(self, condition: Condition) -> int:
        position = _place(self._distinct_conditions, condition)
        if position == len(self.conditions):
            drawing = draw(condition.name, condition, self._column_of[condition.name])
            written: list[Any] = [self.position_of[condition.name], drawing.condition, drawing.bounds]
            if drawing.band is not None:
                band = drawing.band
                written += [hundredths(band.start), hundredths(band.end), band.sides]
            self.conditions.append(written)
        return position

    def place_value(self, name: str, condition: Condition | None, value: Any) -> int | None:
        """Return where a row's value lies on its range, or the position of the chips with it."""
        column = self._column_of[name]
        # Many rows share values; where a number lies does not depend on the condition.
        key = (name, condition if column.drawn.kind == "category" else None, value)
        if key not in self._drawn:
            drawing = draw(name, key[1], column, value)
            at = None if drawing.at is None else hundredths(drawing.at)
            self._drawn[key] = self._place_chips(drawing) if drawing.kind == "labels" else at
        return self._drawn[key]

    def _place_chips(self, drawing: Drawing) -> int:
        codes = tuple(MISSING if chip.code is None else chip.code for chip in drawing.chips)
        kinds = "".join(str(chip.is_in + 2 * chip.is_own) for chip in drawing.chips)
        return _place(self.chips, (codes, kinds, drawing.more))


class _Rows:
    """The explained rows: their figures, what is drawn of each, and their values."""

    def __init__(self, explanations: Explanations, boxes: _Boxes) -> None:
        about = explanations.about
        self._boxes = boxes
        self._variable_of = {name: v for v, name in enumerate(explanations.variable_names)}
        self._code_of_class = {label: code for code, label in enumerate(about["classes"] or ())}
        self._codes = {column.name: _codes(column) for column in explanations.columns}
        self._distinct_sets: dict[tuple[str, ...], int] = {}
        self.sets: list[list[Any]] = []
        names = ("cautions", "checks", "leads", "notes", "advice", "supports", "mores", "reasons")
        self.texts: dict[str, dict[Any, int]] = {name: {} for name in names}
        _place(self.texts["cautions"], ("", 0))
        self._is_checked = explanations.is_checked
        self.badges: dict[int, str] = {}
        self.sets_texts: dict[int, tuple[str, str, str]] = {}
        self.conclusion = ""  # of rules for numbers, without the interval
        self.outcome: Column | None = None
        columns = "outcome care sets nSets importance more box sdp drawn columns lead lower note advice support"
        if about["task"] == "regression":
            _, outcomes = explanations.training
            self.outcome = Column(about["target"], -1, extent=(float(outcomes.min()), float(outcomes.max())))
            columns += " interval kept"
        columns += " checked" if self._is_checked else ""
        self.rows: dict[str, list[Any]] = {name: [] for name in columns.split()}
        self.values: list[list[Any]] = [[] for _ in explanations.columns]

    def add(self, explanation: Explanation) -> None:
        """Write a row."""
        picture = picture_explanation(explanation)
        values = {name: value for _, columns in explanation.values for name, value in columns}
        for column, (name, codes) in zip(self.values, self._codes.items(), strict=True):
            value = values[name]
            column.append(value if value is None else compact(value) if codes is None else codes.get(value, value))
        n_sets, rule = len(explanation.sufficient_sets), explanation.rule
        if n_sets:
            self.badges[len(explanation.best_set.variables)] = picture.badge
            self.sets_texts[n_sets] = (picture.sets_title, picture.sets_note, picture.more_sets)
        if rule is not None and rule.interval is not None:
            self.conclusion = rule.conclusion.removesuffix(explanation.sentences.interval_text)
        if rule is None:
            shown = [e for v in explanation.best_set.variables for e in explanation.sentences.shown_values(v)]
            drawn = [self._boxes.place_value(name, None, value) for name, value in shown]
        else:
            shown = []
            drawn = [self._boxes.place_value(c.name, c, values[c.name]) for c in rule.conditions]
        figures = {
            "sets": self._place_sets(explanation),
            "nSets": n_sets,
            "box": -1 if rule is None else self._boxes.place(rule.conditions, rule.coverage),
            "sdp": floor_percent(explanation.best_set.sdp if rule is None or rule.sdp is None else rule.sdp),
            "lower": floor_percent(explanation.best_set.lower or 0.0),
            "columns": [self._boxes.position_of[name] for name, _ in shown] if rule is None else 0,
            "drawn": drawn,
            "importance": self._list_importance(picture) or 0,
            **self._place_texts(explanation, picture),
            **self._outcome(explanation),
        }
        for name, figure in figures.items():
            self.rows[name].append(figure)

    def _place_texts(self, explanation: Explanation, picture: ExplanationPicture) -> dict[str, int]:
        """Return the positions of the texts of a row."""
        disagrees = int(bool(picture.cautions) and not explanation.forest_agrees)
        rule = explanation.rule
        checked = "" if rule is None else rule.checked_text
        return {
            "care": _place(self.texts["cautions"], (" ".join(picture.cautions), disagrees)),
            "note": _place(self.texts["notes"], picture.notes),
            "lead": _place(self.texts["leads"], picture.sentence),
            "advice": _place(self.texts["advice"], picture.advice),
            "support": _place(self.texts["supports"], "" if rule is None else rule.rows_text),
            "more": _place(self.texts["mores"], more_text(len(picture.importance), MAX_IMPORTANCES)),
            **({"checked": _place(self.texts["checks"], checked)} if self._is_checked else {}),
        }

    def _place_sets(self, explanation: Explanation) -> list[int]:
        """Return the positions of the sets that are listed, each with its SDP in per cent."""
        listed: list[int] = []
        for chosen in explanation.sufficient_sets[:N_LISTED] or (explanation.best_set,):
            position = _place(self._distinct_sets, chosen.variables)
            if position == len(self.sets):
                self.sets.append([set_text(chosen), *(self._variable_of[name] for name in chosen.variables)])
            listed += [position, floor_percent(chosen.sdp)]
        return listed

    def _list_importance(self, picture: ExplanationPicture) -> list[int]:
        """Return the variables that are listed, the most important first, each with its importance in per cent."""
        listed: list[int] = []
        for name, value, *_ in picture.importance[:MAX_IMPORTANCES]:
            listed += [self._variable_of[name], round(100 * float(format_share(value)))]
        return listed

    def _outcome(self, explanation: Explanation) -> dict[str, Any]:
        if self.outcome is None or explanation.interval is None:
            return {"outcome": self._code_of_class[explanation.outcome]}
        ends = drawn_range(self.outcome)
        return {
            "outcome": compact(explanation.outcome),
            "interval": explanation.sentences.interval_text,
            "kept": [hundredths(share(value, ends)) for value in (*explanation.interval, explanation.outcome)],
        }


def _codes(column: Column) -> dict[Any, int] | None:
    column = column.drawn
    if column.kind != "category":
        return None
    return {column.decode(code): code for code in range(len(column.labels))}


def _lines(explanations: Explanations, boxes: _Boxes) -> tuple[list[dict[str, Any]], list[int]]:
    """Write the global rules with the explained rows that they cover, and for each row the first that covers it."""
    table, outcomes = explanations.explained
    first = np.full(len(outcomes), -1)
    if not any(rule is not None for rule in explanations.rules):
        return [], first.tolist()
    # Most of what is shown needs no list of rules: it is imported where a report collects one.
    from suffice.rule_lists.estimators import GlobalRulesClassifier, GlobalRulesRegressor

    kind = GlobalRulesRegressor if explanations.fitted.classes is None else GlobalRulesClassifier
    rule_list = kind.from_explanations(explanations)
    lines = []
    for i, line in enumerate(rule_list.rules_):
        covered = line.rule.covers(table)
        first[covered & (first < 0)] = i
        picture = picture_line(line)
        lines.append(
            {
                "box": boxes.place(line.rule.conditions, line.coverage),
                "isFocus": int(
                    explanations.fitted.focus is not None and line.rule.outcome == explanations.fitted.focus
                ),
                "conclusion": picture.conclusion,
                "note": picture.note,
                "coverage": line.coverage,
                "trainingRows": line.rule.support,
                "precision": picture.precision.value,
                "precisionText": picture.precision.text,
                "rows": int(np.count_nonzero(covered)),
                "gaps": gaps(covered),
            }
        )
    return lines, first.tolist()


def gaps(covered: NDArray[np.bool_]) -> list[int]:
    """Write which rows are covered."""
    is_few = 2 * np.count_nonzero(covered) <= len(covered)
    rows = np.flatnonzero(covered if is_few else ~covered)
    return [int(is_few), *np.diff(rows, prepend=0).tolist()]


def hundredths(value: float) -> int:
    """Write a share in hundredths of a per cent."""
    return round(10_000 * value)


def floor_percent(probability: float) -> int:
    """Write a probability in per cent, rounded down as its text is."""
    return round(100 * float(format_probability(probability)))


def compact(value: float) -> float | str:
    """Write a number such that JavaScript's ``String`` makes its text of it."""
    text = format_number(value)
    if text.lstrip("-").isdigit():
        return int(text) if abs(value) < 1e15 else text
    return float(text) if 1e-4 <= abs(value) < 1e15 else text
