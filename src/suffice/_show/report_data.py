"""What the script of a report draws, as compact plain values: rules and rows, column by column.

Texts, the places of bands and dots, chips and the rows that a rule covers are computed here, by ``picture`` and
``axis``; the script only draws, searches, filters and turns pages. What many rows share (conditions, sets, chips,
warnings) is written once and named by its position. Places are hundredths of a per cent of the drawn range.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from suffice._forest.outcomes import outcomes_of_classes
from suffice._show.axis import Drawing, code_text, draw, drawn_range, end_texts, missing_text, share
from suffice._show.picture import (
    MAX_IMPORTANCES,
    NEAREST_SET,
    NO_SET,
    READ_WITH_CARE,
    SUFFICIENT_SET,
    WHATEVER,
    badge_text,
    cautions,
    coverage_share,
    importance_shares,
    kept_text,
    more_text,
    picture_line,
    set_text,
    sets_texts,
    write_sentence,
)
from suffice._table.encoding import Column
from suffice._text import AT_LEAST, format_number, format_probability
from suffice.explaining.explanation import Explanation
from suffice.explaining.explanations import Explanations
from suffice.explaining.importance import IMPORTANCE_MEANINGS, SHOWN_INDEX
from suffice.explaining.rule import Condition
from suffice.explaining.sentences import N_LISTED
from suffice.reasons.values import Reasons
from suffice.rule_lists.estimators import GlobalRulesClassifier, GlobalRulesRegressor

Key = TypeVar("Key", bound=Hashable)

MISSING = -1  # in the place of a code


class _Distinct(Generic[Key]):
    """Distinct values in the order in which they first came, and their positions."""

    def __init__(self) -> None:
        self.position_of: dict[Key, int] = {}

    def place(self, key: Key) -> int:
        return self.position_of.setdefault(key, len(self.position_of))


def report_data(explanations: Explanations, reasons: Reasons | None = None) -> dict[str, Any]:
    """Write what the page draws."""
    about = explanations.about
    classes = [str(label) for label in about["classes"]] if about["task"] == "classification" else None
    boxes = _Boxes(explanations.columns)
    writer = _Rows(explanations, boxes)
    for explanation in explanations:
        writer.add(explanation)
    lines, writer.rows["line"] = _lines(explanations, boxes)
    of_reasons: _Distinct[tuple[str, ...]] = _Distinct()
    if reasons is not None:
        writer.rows["reasons"] = [of_reasons.place((answer.lead, *map(str, answer.reasons))) for answer in reasons]
    return {
        "target": about["target"],
        "names": _names(explanations),
        "canDisagree": explanations.answers.source != "forest",
        "levels": _levels(explanations),
        "classes": classes,
        "words": {**_words(), "conclusion": writer.conclusion},
        "outcomeEnds": None if writer.outcome is None else end_texts(writer.outcome),
        "columns": [
            {**_column(column), "values": values}
            for column, values in zip(explanations.columns, writer.values, strict=True)
        ],
        "variables": explanations.variable_names,
        "candidates": [explanations.variable_names.index(name) for name in explanations.candidates],
        "sets": writer.sets,
        "badges": writer.badges,
        "cautions": [["", 0], *writer.cautions.position_of],
        "checks": list(writer.checks.position_of),
        "leads": list(writer.leads.position_of),
        "notes": list(writer.notes.position_of),
        "advice": list(writer.advice.position_of),
        "supports": list(writer.supports.position_of),
        "conditions": boxes.conditions,
        "boxes": boxes.written,
        "keys": list(boxes.keys.position_of),
        "setsTexts": writer.sets_texts,
        "mores": list(writer.mores.position_of),
        "chips": list(boxes.chips.position_of),
        "lines": lines,
        "reasons": list(of_reasons.position_of),
        "rows": writer.rows,
    }


def _words() -> dict[str, Any]:
    """Write what stands in many cards."""
    return {
        "care": READ_WITH_CARE,
        "importance": IMPORTANCE_MEANINGS[SHOWN_INDEX],
        "noSet": NO_SET,
        "enough": SUFFICIENT_SET,
        "nearest": NEAREST_SET,
        "advice": "What you can do",
        "nothing": WHATEVER,
        "kept": kept_text(""),
        "bound": f" ({AT_LEAST} ",
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
    if column.kind == "category":
        return {"name": column.name, "labels": [code_text(column, code) for code in range(len(column.labels))]}
    return {"name": column.name, "ends": draw(column.name, None, column).ends or None}


class _Boxes:
    """The distinct boxes of rules, their distinct conditions, and the distinct lists of chips."""

    def __init__(self, columns: tuple[Column, ...]) -> None:
        self.columns = columns
        self.position_of = {column.name: c for c, column in enumerate(columns)}
        self.written: list[list[Any]] = []
        self.conditions: list[list[Any]] = []
        self.keys: _Distinct[str] = _Distinct()
        self.chips: _Distinct[tuple[Any, ...]] = _Distinct()
        self._boxes: _Distinct[tuple[Condition, ...]] = _Distinct()
        self._conditions: _Distinct[Condition] = _Distinct()
        self._drawn: dict[tuple[int, Condition | None, Any], int | None] = {}

    def place(self, conditions: tuple[Condition, ...], coverage: float) -> int:
        """Return the position of a box."""
        position = self._boxes.place(conditions)
        if position == len(self.written):
            drawn = coverage_share(coverage)
            self.written.append([self._write_sentence(conditions), coverage, drawn.text, missing_text(conditions)])
        return position

    def _write_sentence(self, conditions: tuple[Condition, ...]) -> list[int]:
        """Return a sentence without its conclusion: positions of conditions, and negative ones of IF, AND, THEN."""
        places = iter([self._place_condition(condition) for condition in conditions])
        *words, _ = write_sentence(conditions, "")
        return [-1 - self.keys.place(word.text) if word.is_key else next(places) for word in words]

    def _place_condition(self, condition: Condition) -> int:
        position = self._conditions.place(condition)
        if position == len(self.conditions):
            c = self.position_of[condition.name]
            drawing = draw(condition.name, condition, self.columns[c])
            written: list[Any] = [c, drawing.condition, drawing.bounds]
            if drawing.band is not None:
                band = drawing.band
                written += [hundredths(band.start), hundredths(band.end), band.sides]
            self.conditions.append(written)
        return position

    def draw_value(self, c: int, condition: Condition | None, value: Any) -> int | None:
        """Return where a row's value lies on its range, or the position of the chips with it."""
        column = self.columns[c]
        key = (c, condition if column.kind == "category" else None, value)  # a place does not depend on the condition
        if key not in self._drawn:
            drawing = draw(column.name, key[1], column, value)
            drawn = self._place_chips(drawing) if drawing.kind == "labels" else None
            self._drawn[key] = drawn if drawing.at is None else hundredths(drawing.at)
        return self._drawn[key]

    def _place_chips(self, drawing: Drawing) -> int:
        codes = tuple(MISSING if chip.code is None else chip.code for chip in drawing.chips)
        kinds = "".join(str(chip.is_in + 2 * chip.is_own) for chip in drawing.chips)
        return self.chips.place((codes, kinds, drawing.more))


class _Rows:
    """The explained rows: their figures, what is drawn of each, and their values."""

    def __init__(self, explanations: Explanations, boxes: _Boxes) -> None:
        about = explanations.about
        self._boxes = boxes
        self._variable_of = {name: v for v, name in enumerate(explanations.variable_names)}
        self._code_of_class = {label: code for code, label in enumerate(about["classes"] or ())}
        self._codes = [_codes(column) for column in explanations.columns]
        self._sets: _Distinct[tuple[str, ...]] = _Distinct()
        self.sets: list[list[Any]] = []
        self.cautions: _Distinct[tuple[str, int]] = _Distinct()
        self.checks: _Distinct[str] = _Distinct()
        self._is_checked = explanations.is_checked
        self.leads: _Distinct[str] = _Distinct()
        self.notes: _Distinct[str] = _Distinct()
        self.advice: _Distinct[tuple[str, ...]] = _Distinct()
        self.supports: _Distinct[str] = _Distinct()
        self.mores: _Distinct[str] = _Distinct()
        self.badges: dict[int, str] = {}
        self.sets_texts: dict[int, tuple[str, str, str]] = {}
        self.conclusion = ""  # of rules for numbers, without the interval
        self.outcome: Column | None = None
        names = ["outcome", "care", "sets", "nSets", "importance", "more", "box", "sdp", "drawn", "columns", "lead"]
        names += ["lower", "note", "advice", "support"]
        if about["task"] == "regression":
            _, outcomes = explanations.training
            self.outcome = Column(about["target"], -1, extent=(float(outcomes.min()), float(outcomes.max())))
            names += ["interval", "kept"]
        names += ["checked"] if self._is_checked else []
        self.rows: dict[str, list[Any]] = {name: [] for name in names}
        self.values: list[list[Any]] = [[] for _ in explanations.columns]

    def add(self, explanation: Explanation) -> None:
        """Write a row."""
        values = {name: value for _, columns in explanation.values for name, value in columns}
        for c, (column, codes) in enumerate(zip(self._boxes.columns, self._codes, strict=True)):
            value = values[column.name]
            self.values[c].append(value if value is None else compact(value) if codes is None else codes[value])
        sets, rule = explanation.sufficient_sets, explanation.rule
        if sets:
            size = len(explanation.best_set.variables)
            self.badges[size] = badge_text(explanation.best_set, len(explanation.values))
            self.sets_texts[len(sets)] = sets_texts(len(sets))
        if rule is not None and rule.interval is not None:
            self.conclusion = rule.conclusion.removesuffix(explanation.sentences.interval_text)
        figures = {
            "care": self._place_cautions(explanation),
            "sets": self._place_sets(explanation),
            "nSets": len(sets),
            **self._importance(explanation),
            "box": -1 if rule is None else self._boxes.place(rule.conditions, rule.coverage),
            **self._checked(explanation),
            "sdp": floor_percent(explanation.shown_set.sdp if rule is None else rule.sdp),
            "lower": floor_percent(explanation.shown_set.lower or 0.0),
            "note": self._place_notes(explanation),
            "lead": self.leads.place(f"{explanation.sentences.outcome_sentence} {explanation.sentences.lead}"),
            "advice": self.advice.place(tuple(advice.text for advice in explanation.sentences.advice)),
            "support": self.supports.place("" if rule is None else rule.rows_text),
            **self._drawn(explanation, values),
            **self._outcome(explanation),
        }
        for name, value in figures.items():
            self.rows[name].append(value)

    def _place_cautions(self, explanation: Explanation) -> int:
        reasons = cautions(explanation)
        return 1 + self.cautions.place((" ".join(reasons), int(not explanation.forest_agrees))) if reasons else 0

    def _place_notes(self, explanation: Explanation) -> int:
        return self.notes.place(" ".join(filter(None, (*explanation.sentences.notes, explanation.sentences.rule_note))))

    def _checked(self, explanation: Explanation) -> dict[str, int]:
        """Return the place of what the certificate says about the rule, if rules have certificates."""
        if not self._is_checked:
            return {}
        return {"checked": self.checks.place("" if explanation.rule is None else explanation.rule.checked_text)}

    def _place_sets(self, explanation: Explanation) -> list[int]:
        """Return the positions of the sets that are listed, each with its SDP in per cent."""
        listed: list[int] = []
        for chosen in explanation.sufficient_sets[:N_LISTED] or (explanation.shown_set,):
            position = self._sets.place(chosen.variables)
            if position == len(self.sets):
                self.sets.append([set_text(chosen), *(self._variable_of[name] for name in chosen.variables)])
            listed += [position, floor_percent(chosen.sdp)]
        return listed

    def _importance(self, explanation: Explanation) -> dict[str, Any]:
        """Return the variables that are listed, the most important first, each with it in per cent."""
        if len(explanation.sufficient_sets) < 2:
            return {"importance": 0, "more": self.mores.place("")}
        shares = importance_shares(explanation.ranked_importance())
        listed = [(self._variable_of[s.name], round(100 * round(s.value, 2))) for s in shares[:MAX_IMPORTANCES]]
        more = more_text(len(shares), MAX_IMPORTANCES)
        return {"importance": [number for pair in listed for number in pair], "more": self.mores.place(more)}

    def _drawn(self, explanation: Explanation, values: dict[str, Any]) -> dict[str, Any]:
        """Return what is drawn of each condition or, without a rule, the columns of the best set and their values."""
        boxes = self._boxes
        if explanation.rule is not None:
            conditions = explanation.rule.conditions
            places = [boxes.draw_value(boxes.position_of[c.name], c, values[c.name]) for c in conditions]
            return {"columns": 0, "drawn": places}
        shown = [
            (boxes.position_of[name], value)
            for variable in explanation.shown_set.variables
            for name, value in explanation.sentences.shown_values(variable)
        ]
        return {
            "columns": [c for c, _ in shown],
            "drawn": [boxes.draw_value(c, None, value) for c, value in shown],
        }

    def _outcome(self, explanation: Explanation) -> dict[str, Any]:
        if self.outcome is None or explanation.interval is None:
            return {"outcome": self._code_of_class[explanation.outcome]}
        low, high = explanation.interval
        ends = drawn_range(self.outcome)
        places = [hundredths(share(value, ends)) for value in (low, high, explanation.outcome)]
        return {
            "outcome": compact(explanation.outcome),
            "interval": explanation.sentences.interval_text,
            "kept": places,
        }


def _codes(column: Column) -> dict[Any, int] | None:
    if column.kind != "category":
        return None
    return {column.decode(code): code for code in range(len(column.labels))}


def _lines(explanations: Explanations, boxes: _Boxes) -> tuple[list[dict[str, Any]], list[int]]:
    """Write the global rules with the explained rows that they cover, and for each row the first that covers it."""
    table, outcomes = explanations.explained
    first = np.full(len(outcomes), -1)
    if not any(rule is not None for rule in explanations.rules):
        return [], first.tolist()
    is_class = explanations.about["task"] == "classification"
    kind = GlobalRulesClassifier if is_class else GlobalRulesRegressor
    rule_list = kind.from_explanations(explanations)
    lines = []
    for i, line in enumerate(rule_list.rules_):
        covered = line.rule.covers(table)
        first[covered & (first < 0)] = i
        picture = picture_line(line)
        lines.append(
            {
                "box": boxes.place(line.rule.conditions, line.coverage),
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
