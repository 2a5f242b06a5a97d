"""Small self-contained pieces of HTML that notebooks show: cards of explanations, rules, models and explainers.

A card holds its own style, no script and nothing from elsewhere, and takes its text colour from the page around it.
Names, labels and values of the user's table are escaped where they are put in: any text that is not `Html` is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from suffice._show.markup import Html, bar, bars, chips, element, facts, joined, part, percent, read_template
from suffice._table.encoding import Column
from suffice.explanation import N_LISTED, NOT_COMPLETE, Explanation
from suffice.explanations import Explanations
from suffice.global_rules import GlobalRule, GlobalRulesClassifier, GlobalRulesRegressor
from suffice.rules import Condition, Rule
from suffice.words import (
    counted,
    format_exactly,
    format_label,
    format_number,
    format_percent,
    format_probability,
    format_value,
    join,
)

# Of longer lists of categories a card shows these many, and says how many more there are.
MAX_CHIPS = 12
MAX_LABELS = 6
MAX_LINES = 10
MAX_IMPORTANCES = 8
# The ends of rules with more characters than this are written with five digits.
MAX_DIGITS = 8


def _card(*children: str) -> Html:
    return element("div", "suffice card", element("style", "", Html(read_template("card.css"))), *children)


def _head(above: str, large: Sequence[str], badge: str) -> Html:
    told = element("div", "", element("div", "eyebrow", above), element("div", "outcome", *large))
    return element("div", "head", told, badge)


# --- the cards -------------------------------------------------------------------------------------------------------


def explanation_card(explanation: Explanation) -> str:
    """Draw an explanation.

    Parameters
    ----------
    explanation : Explanation
        The explanation.

    Returns
    -------
    str
        HTML.
    """
    parts: list[str] = [_outcome_head(explanation)]
    care = _care_text(explanation)
    if care:
        parts.append(element("div", "care", element("b", "", "Read with care. "), care))
    rule, pi = explanation.rule, f"{explanation.pi:g}"
    if rule is not None:
        parts += [_sentence(rule), _figures(rule, explanation.pi), _drawings(explanation, rule)]
    else:
        if explanation.is_sufficient:
            told = "To keep it, these values are enough."
        else:
            told = f"No set of the candidate variables keeps it with probability {pi}, so there is no rule."
        parts += [element("div", "sentence", told), _values_part(explanation)]
    if explanation.is_sufficient:
        halves = [_sets_part(explanation)]
        if len(explanation.sufficient_sets) > 1:  # of a single set every importance is 1
            halves.append(_importance_part(explanation))
        parts.append(element("div", "halves", *halves))
    return _card(*parts)


def explanations_card(explanations: Explanations) -> str:
    """Sum up explanations.

    Parameters
    ----------
    explanations : Explanations
        The explanations.

    Returns
    -------
    str
        HTML.
    """
    about, n_rows = explanations.about, len(explanations)
    counts = _count_rows(explanations)
    n_sufficient = counts["sufficient"]
    parts: list[str] = [
        _head(
            f"Explanations of {about['target']}",
            [counted(n_rows, "row")],
            element("div", "badge", f"{n_sufficient} of {n_rows} with a sufficient set"),
        )
    ]
    if counts["disagree"]:
        told = (
            f"The forest does not agree with the outcome of {counted(counts['disagree'], 'row')}: read these with care."
        )
        parts.append(element("div", "care", told))
    share = n_sufficient / max(n_rows, 1)
    shares = [("rows with a sufficient set", share, f"{format_percent(share)} %")] if n_rows else []
    fidelity = about["fidelity"]
    measure = "out-of-bag accuracy" if about["task"] == "classification" else "out-of-bag R2"
    if math.isfinite(fidelity):
        shares.append((f"fidelity of the forest ({measure})", fidelity, format_probability(fidelity)))
    parts.append(element("div", "part", bars(shares)))
    importance = ranked(explanations.mean_importance())
    note = f"{counted(len(explanations.candidates), 'candidate')}"
    if importance:
        parts.append(
            element(
                "div",
                "halves",
                part("Mean importance (LXI)", note, importance_bars(importance, MAX_IMPORTANCES)),
                part("Smallest sufficient set", "rows by its size", size_bars(counts["sizes"], n_rows)),
            )
        )
    parts.append(
        element(
            "div",
            "part note",
            "explanations[0] shows one row, explanations.report('report.html') writes all of them into one page.",
        )
    )
    return _card(*parts)


def rule_card(rule: Rule) -> str:
    """Draw a rule.

    Parameters
    ----------
    rule : Rule
        The rule.

    Returns
    -------
    str
        HTML.
    """
    asked = [_drawing(condition.name, condition, None, None, has_value=False) for condition in rule.conditions]
    drawn = element("div", "part", element("div", "drawings", *asked)) if asked else Html("")
    return _card(_sentence(rule), _figures(rule, None), drawn, _proof_note(rule))


def global_rules_card(model: GlobalRulesClassifier | GlobalRulesRegressor, n_rows: int, share: float) -> str:
    """Draw the rules of a global model as a table.

    Parameters
    ----------
    model : GlobalRulesClassifier or GlobalRulesRegressor
        The fitted model.
    n_rows : int
        The number of training rows.
    share : float
        The share of them that some rule covers.

    Returns
    -------
    str
        HTML.
    """
    lines: Sequence[GlobalRule] = model.rules_
    told = f"{format_percent(share)} % of {counted(n_rows, 'row')}"
    cells: list[str] = [element("span", "head-cell", title) for title in ("", "rule", "coverage", "precision")]
    for i, line in enumerate(lines[:MAX_LINES], start=1):
        cells += [
            element("span", "note", str(i)),
            element("span", "sentence-cell", _line_sentence(line)),
            element("span", "figure first", bar(line.coverage, "plain"), f"{format_percent(line.coverage)} %"),
            element("span", "figure", bar(line.precision), format_probability(max(line.precision, 0.0))),
        ]
    table = element("div", "lines", *cells) if lines else element("div", "", "There is no rule.")
    more = f"And {len(lines) - MAX_LINES} more." if len(lines) > MAX_LINES else ""
    fallback = model.fallback if isinstance(model.fallback, str) else type(model.fallback).__name__
    otherwise = "No other row is decided." if model.fallback is None else f"All other rows: {fallback}."
    return _card(
        _head(type(model).__name__, [counted(len(lines), "rule")], element("div", "badge", f"coverage {told}")),
        element("div", "part", table),
        element("div", "note under", f"{more} The first rule that covers a row decides. {otherwise}"),
    )


def explainer_card(name: str, about: Mapping[str, Any]) -> str:
    """Tell what a fitted explainer knows.

    Parameters
    ----------
    name : str
        The name of its class.
    about : mapping of str to object
        What `Explanations.about` tells.

    Returns
    -------
    str
        HTML.
    """
    return _card(
        _head(name, [f"explains {about['target']}"], element("div", "badge", "fitted")),
        element("div", "part", facts(about_facts(about))),
        element(
            "div",
            "halves",
            part("Fidelity of the forest", "out of bag", fidelity_bars(about)),
            part("Candidate variables", "those searched", chips([(name, "") for name in about["candidates"]])),
        ),
    )


# --- what cards and the report are made of ---------------------------------------------------------------------------


def ranked(importance: Mapping[str, float]) -> list[tuple[str, float]]:
    """Order variables by importance.

    Parameters
    ----------
    importance : mapping of str to float
        The importance of each variable.

    Returns
    -------
    list of (str, float)
        Those of any importance, the most important first.
    """
    return sorted(((name, value) for name, value in importance.items() if value > 0), key=lambda item: -item[1])


def _count_rows(explanations: Explanations) -> dict[str, Any]:
    """Count explained rows."""
    sizes: dict[int, int] = {}
    n_disagree = 0
    for explanation in explanations:
        n_disagree += not explanation.forest_agrees
        if explanation.is_sufficient:
            size = len(explanation.best_set.variables)
            sizes[size] = sizes.get(size, 0) + 1
    return {"sufficient": sum(sizes.values()), "disagree": n_disagree, "sizes": dict(sorted(sizes.items()))}


def importance_bars(importance: Sequence[tuple[str, float]], most: int) -> Html:
    """Draw the importance of variables.

    Parameters
    ----------
    importance : sequence of (str, float)
        The variables, the most important first.
    most : int
        How many are shown.

    Returns
    -------
    Html
        The bars.
    """
    more = f"and {len(importance) - most} more" if len(importance) > most else ""
    return bars([(name, v, f"{v:.2f}") for name, v in importance[:most]], "importance", more=more)


def size_bars(sizes: Mapping[int, int], n_rows: int) -> Html:
    """Draw how many rows have a smallest sufficient set of which size.

    Parameters
    ----------
    sizes : mapping of int to int
        The number of rows for each size.
    n_rows : int
        The number of all rows.

    Returns
    -------
    Html
        The bars.
    """
    shares = [(counted(size, "variable"), n / n_rows, str(n)) for size, n in sizes.items()]
    n_none = n_rows - sum(sizes.values())
    return bars([*shares, *([("no such set", n_none / n_rows, str(n_none))] if n_none else [])], "plain")


def fidelity_bars(about: Mapping[str, Any]) -> Html:
    """Draw the fidelity of the forest, overall and by class.

    Parameters
    ----------
    about : mapping of str to object
        What `Explanations.about` tells.

    Returns
    -------
    Html
        The bars, or a sentence if nothing is known.
    """
    fidelity = about["fidelity"]
    if not math.isfinite(fidelity):
        return element("div", "", "Not known: the forest has no rows out of bag.")
    measure = "accuracy" if about["task"] == "classification" else "R2"
    classes = list((about["fidelity_by_class"] or {}).items())
    shares = [(measure, fidelity, format_probability(max(fidelity, 0.0)))]
    shares += [
        (f"of {label}", share if math.isfinite(share) else 0.0, format_probability(share) if share == share else "-")  # noqa: PLR0124
        for label, share in classes[:MAX_LINES]
    ]
    more = f"and {len(classes) - MAX_LINES} more" if len(classes) > MAX_LINES else ""
    return bars(shares, more=more)


def about_facts(about: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Put into words what was fitted to what.

    Parameters
    ----------
    about : mapping of str to object
        What `Explanations.about` tells.

    Returns
    -------
    list of (str, str)
        What it is, and what is said of it.
    """
    forest = about["forest"]
    told = [f"{name} {value}" for name, value in forest.items() if name not in ("kind", "n_estimators")]
    n_columns, n_variables = len(about["columns"]), len(about["variables"])
    grouped = "" if n_columns == n_variables else f", {counted(n_variables, 'variable')}"
    pairs = [
        ("task", about["task_reason"]),
        ("training table", f"{counted(about['n_rows'], 'row')}, {counted(n_columns, 'column')}{grouped}"),
        ("forest", f"{forest['kind']}, {counted(forest['n_estimators'], 'tree')} ({', '.join(told)})"),
        ("probability", f"{about['settings']['pi']:g} or more for a sufficient set"),
    ]
    return pairs if about["model"] is None else [("model", about["model"]), *pairs]


def _care_text(explanation: Explanation) -> str:
    """Tell why an explanation is to be read with care."""
    if not explanation.is_outcome_in_interval:
        return "The outcome lies outside the interval: the explanation is of the interval."
    if not explanation.forest_agrees:
        said = explanation.prediction
        return f"The forest says {said if explanation.interval is None else format_number(said)} here."
    return "" if explanation.is_search_complete else NOT_COMPLETE


def _short_number(value: float) -> str:
    """Write the end of a condition: exactly, unless that takes many digits.

    Examples
    --------
    >>> _short_number(0.0564), _short_number(0.056412345678)
    ('0.0564', '0.056412')
    """
    exact = format_exactly(value)
    return exact if len(exact) <= MAX_DIGITS else format_number(value)


def rounded(value: float, n_digits: int) -> str:
    """Write a measured number with few digits.

    Parameters
    ----------
    value : float
        The number.
    n_digits : int
        How many significant digits it has at most.

    Returns
    -------
    str
        Its text.

    Examples
    --------
    >>> rounded(3.96312, 3), rounded(12345.6, 3)
    ('3.96', '12300')
    """
    return format_number(float(f"{value:.{n_digits}g}"))


def condition_text(condition: Condition) -> str:
    """Write a condition with short numbers, and with the first of many labels.

    Parameters
    ----------
    condition : Condition
        The condition.

    Returns
    -------
    str
        Its text.

    Examples
    --------
    >>> condition_text(Condition("town", labels=tuple("ABCDEFGH")))
    'town in {A, B, C, D, E, F and 2 more}'
    """
    labels = condition.labels or ()
    if len(labels) > MAX_LABELS:
        listed = ", ".join(format_label(label) for label in labels[:MAX_LABELS])
        word = "not in" if condition.excluded else "in"
        missing = " or missing" if condition.missing else ""
        return f"{condition.name} {word} {{{listed} and {len(labels) - MAX_LABELS} more}}{missing}"
    return str(_shortened(condition))


def _shortened(condition: Condition) -> Condition:
    """Round ends with many digits, unless that would make two ends equal."""
    low, high = (float(_short_number(end)) for end in (condition.low, condition.high))
    return replace(condition, low=low, high=high) if low < high or condition.low == condition.high else condition


def bounds_text(condition: Condition) -> str:
    """Write what a condition asks of a number, without the name of the column.

    Parameters
    ----------
    condition : Condition
        The condition.

    Returns
    -------
    str
        Its text.

    Examples
    --------
    >>> bounds_text(Condition("hour", 5.5, 9.0)), bounds_text(Condition("hour", 6.0, 6.0, low_closed=True))
    ('> 5.5, ≤ 9', '= 6')
    """
    if not condition.values:
        return "is missing"
    condition = _shortened(condition)
    if condition.low == condition.high:
        text = f"= {format_exactly(condition.low)}"
    else:
        low = f"{'≥' if condition.low_closed else '>'} {format_exactly(condition.low)}"
        high = f"{'≤' if condition.high_closed else '<'} {format_exactly(condition.high)}"
        ends = [low] * (condition.low > -math.inf) + [high] * (condition.high < math.inf)
        is_span = len(ends) == 2 and condition.low_closed and condition.high_closed
        text = f"{low[2:]} to {high[2:]}" if is_span else ", ".join(ends) or "any value"
    return f"{text} or missing" if condition.missing else text


def missing_text(conditions: Sequence[Condition]) -> str:
    """Tell which variables of a rule may be missing.

    Parameters
    ----------
    conditions : sequence of Condition
        The conditions of the rule.

    Returns
    -------
    str
        One sentence; nothing if all of them must be missing.
    """
    conditions = [condition for condition in conditions if condition.values]
    if not conditions:  # they ask for missing values
        return ""
    may = [condition.name for condition in conditions if condition.missing]
    if len(may) == len(conditions):
        return f"{'A missing value is' if len(conditions) == 1 else 'Missing values are'} allowed."
    if not may:
        return "A missing value is not allowed." if len(conditions) == 1 else "None of them may be missing."
    return f"Missing values are allowed of {join(may)} only."


def _sentence(rule: Rule) -> Html:
    """Write a rule as a sentence."""
    kept = str(rule.outcome)
    if rule.interval is not None:
        kept = f"{rule.target} in [{format_number(rule.interval[0])}, {format_number(rule.interval[1])}]"
    return element("div", "sentence", _if_then(rule.conditions, kept))


def _line_sentence(line: GlobalRule) -> Html:
    said = str(line.output)
    if line.mae is not None:
        said = f"{line.rule.target} = {rounded(line.output, 4)} (MAE {rounded(line.mae, 3)})"
    return element("span", "sentence", _if_then(line.rule.conditions, said))


def _if_then(conditions: Sequence[Condition], said: str) -> Html:
    if not conditions:
        return joined([element("b", "", "ALWAYS"), " ", said])
    asked = joined([condition_text(condition) for condition in conditions], joined([" ", element("b", "", "AND"), " "]))
    return joined([element("b", "", "IF"), " ", asked, " ", element("b", "", "THEN"), " ", said])


# --- parts of the card of an explanation -----------------------------------------------------------------------------


def _outcome_head(explanation: Explanation) -> Html:
    told: list[str] = [str(explanation.outcome)]
    if explanation.interval is not None:
        low, high = (format_number(end) for end in explanation.interval)
        told = [format_number(explanation.outcome), element("span", "kept", f"kept within [{low}, {high}]")]
    target = explanation.rule.target if explanation.rule is not None else "y"
    n_variables, n_enough = len(explanation.values), len(explanation.best_set.variables)
    enough = f"{n_enough} of {counted(n_variables, 'variable')} {'is' if n_enough == 1 else 'are'} enough"
    badge = element("div", "badge", enough if n_enough else "no variable is needed")
    if not explanation.is_sufficient:
        badge = element("div", "badge none", "no sufficient set")
    return _head("Outcome" if target == "y" else f"Outcome: {target}", told, badge)


def _figures(rule: Rule, pi: float | None) -> Html:
    kept = element("span", "", "SDP", title="the probability that the outcome is kept")
    held = element("span", "", "coverage", title="the share of training rows in the rule")
    return element(
        "div",
        "figures",
        element("div", "figure", kept, bar(rule.sdp, tick=pi), format_probability(rule.sdp)),
        element("div", "figure", held, bar(rule.coverage, "plain"), f"{format_percent(rule.coverage)} %"),
    )


def _proof_note(rule: Rule) -> Html:
    told = "No other such rule covers more." if rule.optimal else "A rule that covers more may exist."
    if rule.everywhere:
        told += " Its SDP is proven for every point, not only for training rows."
    return element("div", "part note", f"{counted(rule.support, 'training row')} covered. {told}")


def _drawings(explanation: Explanation, rule: Rule) -> Html:
    if not rule.conditions:
        return Html("")
    column_of = {column.name: column for column in explanation.columns}
    value_of = {name: value for _, columns in explanation.values for name, value in columns}
    drawn = [
        _drawing(c.name, c, column_of.get(c.name), value_of.get(c.name), has_value=c.name in value_of)
        for c in rule.conditions
    ]
    return element(
        "div", "part", element("div", "drawings", *drawn), element("div", "note under", missing_text(rule.conditions))
    )


def _values_part(explanation: Explanation) -> Html:
    """Draw the row's values of the best set."""
    column_of = {column.name: column for column in explanation.columns}
    columns_of = dict(explanation.values)
    drawn: list[str] = []
    for variable in explanation.best_set.variables:
        columns = columns_of[variable]
        if len(columns) > 1 and all(value in (0, 1) for _, value in columns):  # of indicators, those that are on
            columns = tuple((name, value) for name, value in columns if value == 1) or columns
        drawn += [_drawing(n, None, column_of.get(n), value, has_value=True) for n, value in columns[:N_LISTED]]
    title = "This is enough" if explanation.is_sufficient else "Nearest comes"
    note = "" if drawn else "nothing at all: whatever is known"
    sdp = explanation.best_set.sdp
    drawn_sdp = bar(sdp, "" if explanation.is_sufficient else "plain", explanation.pi)
    figure = element("div", "figure", "SDP", drawn_sdp, format_probability(sdp))
    return part(title, note, element("div", "drawings", *drawn), element("div", "figures", figure))


def _sets_part(explanation: Explanation) -> Html:
    sets, pi = explanation.sufficient_sets, explanation.pi
    more = f"and {len(sets) - N_LISTED} more" if len(sets) > N_LISTED else ""
    listed = [(join(s.variables) or "nothing at all", s.sdp, format_probability(s.sdp)) for s in sets[:N_LISTED]]
    note = "each alone is enough" if len(sets) > 1 else ""
    return part(counted(len(sets), "sufficient set"), note, bars(listed, tick=pi, more=more, narrow=True))


def _importance_part(explanation: Explanation) -> Html:
    importance = ranked(explanation.importance)
    return part("Importance (LXI)", "share of these sets", importance_bars(importance, MAX_IMPORTANCES))


def _drawing(name: str, condition: Condition | None, column: Column | None, value: Any, *, has_value: bool) -> Html:
    """Draw one variable: what is asked of it, and the row's value."""
    is_labels = (column is not None and column.kind == "category") or bool(condition and condition.labels)
    asked = "" if condition is None or (is_labels and condition.labels) else bounds_text(condition)
    is_drawn = is_labels or (column is not None and all(map(math.isfinite, column.extent)))
    note = element("div", "note", asked) if asked and is_drawn else ""
    named = element("div", "asked", element("div", "name", name), note)
    if is_labels:
        drawn = element("div", "spread", _label_chips(condition, column, value, has_value=has_value))
    elif column is None or not is_drawn:
        told = f" (here {format_value(value)})" if has_value else ""
        drawn = element("div", "spread", f"{asked}{told}")
    else:
        n_digits = 15 if column.kind == "whole" else 4
        low, high = (rounded(end, n_digits) for end in column.extent)
        drawn = joined(
            [
                element("span", "end low", low),
                _track(condition, column, value, has_value=has_value),
                element("span", "end", high),
            ]
        )
    return element("div", "drawing labels" if is_labels else "drawing", named, drawn)


def _track(condition: Condition | None, column: Column, value: Any, *, has_value: bool) -> Html:
    drawn = [element("span", "range")]
    if condition is not None and condition.values:
        start, end = _band(condition, column)
        sides = " from" * (condition.low > -math.inf) + " to" * (condition.high < math.inf)
        where = f"left:{percent(start)};right:{percent(1 - end)}"
        drawn.append(element("span", f"band{sides}", style=where))
    if has_value:
        at = 0.0 if value is None else _place(value, column)
        if value is not None:
            drawn.append(element("span", "dot", style=f"left:{percent(at)}"))
        where = f"left:{percent(at)};transform:translateX(-{percent(at)})"
        drawn.append(element("span", "value", format_value(value), style=where))
    return element("div", "track", *drawn)


def _band(condition: Condition, column: Column) -> tuple[float, float]:
    """Place what a condition asks on the range of its column."""
    low, high = condition.low, condition.high
    if column.kind == "whole":
        half = 0.5
        low += (-half if condition.low_closed else half) * (low == np.floor(low))
        high += (half if condition.high_closed else -half) * (high == np.floor(high))
    return _place(low, column), _place(high, column)


def _place(value: float, column: Column) -> float:
    low, high = column.extent
    half = 0.5 if column.kind == "whole" else 0.0
    low, high = low - half, high + half
    if low == high:
        return float(np.clip(0.5 + np.sign(value - low) / 2, 0, 1))
    return float(np.clip((value - low) / (high - low), 0, 1))


def _label_chips(condition: Condition | None, column: Column | None, value: Any, *, has_value: bool) -> Html:
    """Draw the labels of a column; without a column those that the condition names."""
    listed: list[tuple[str, bool, bool]] = []  # the label, whether the condition includes it, whether it is the row's
    asked = condition.labels or () if condition is not None else ()
    if column is not None:
        for code, labels in enumerate(column.labels):
            is_in = condition is not None and condition.values and is_included(condition, labels[0])
            is_own = has_value and value is not None and column.decode(code) == value
            listed.append((code_text(column, code), is_in, is_own))
    else:
        listed = [(format_value(label), not (condition and condition.excluded), label == value) for label in asked]
    if has_value and value is None:
        listed.append(("missing", condition is not None and condition.missing, True))
    elif condition is not None and condition.missing:
        listed.append(("missing", True, False))
    shown = _choose_chips(listed)
    drawn = [(listed[i][0], " ".join(["own"] * listed[i][2] + ["in"] * listed[i][1])) for i in shown]
    n_more = len(listed) - len(shown)
    n_in = sum(is_in for _, is_in, _ in listed) - sum(listed[i][1] for i in shown)
    told = f", {n_in} of them in the rule" if condition is not None and n_in else ""
    before = "not" if column is None and condition is not None and condition.excluded else ""
    more = f"and {n_more} more{told}" if n_more else ""
    return joined([element("span", "note", before), chips(drawn, more)]) if before else chips(drawn, more)


def is_included(condition: Condition, label: Any) -> bool:
    """Tell whether a label satisfies a condition on labels.

    Parameters
    ----------
    condition : Condition
        The condition.
    label : object
        The label.

    Returns
    -------
    bool
        Whether it does.
    """
    return condition.labels is None or (label in condition.labels) != condition.excluded


def code_text(column: Column, code: int) -> str:
    """Write the category of a code.

    Parameters
    ----------
    column : Column
        A column of categories.
    code : int
        The code.

    Returns
    -------
    str
        The category, or how many rare ones there are.
    """
    labels = column.labels[code]
    return f"{len(labels)} rare ones" if code == column.rare else format_value(labels[0])


def _choose_chips(listed: Sequence[tuple[str, bool, bool]]) -> list[int]:
    """Choose which of many labels are shown: the row's own, two in three that are included, some others."""
    if len(listed) <= MAX_CHIPS:
        return list(range(len(listed)))
    by_kind = [
        [i for i, (_, is_in, is_own) in enumerate(listed) if is_in == kind and not is_own] for kind in (True, False)
    ]
    own = [i for i, (_, _, is_own) in enumerate(listed) if is_own]
    n_left = MAX_CHIPS - len(own)
    n_in = max(n_left * 2 // 3, n_left - len(by_kind[1]))
    included = by_kind[0][:n_in]
    return sorted([*own, *included, *by_kind[1][: n_left - len(included)]])
