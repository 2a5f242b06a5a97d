"""What the page about one row shows: the outcome, the sets, the rule, and training rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import dash_mantine_components as dmc
import numpy as np
from dash import html, no_update

from suffice._show.picture import READ_WITH_CARE, cautions, picture_best_set, picture_rule
from suffice._text import counted, format_number, format_probability, format_value
from suffice.app.pages.one_row.lookalikes import covered_rows, line_columns, look_alikes
from suffice.app.parts import charts, pieces
from suffice.app.parts.curve_charts import draw_curve
from suffice.app.parts.drawings import draw_rule
from suffice.app.state.desk import Desk
from suffice.app.state.view import View
from suffice.app.state.workspace import Workspace
from suffice.app.words import ERRORS, in_words
from suffice.explaining.explanation import Explanation

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Answer:
    """The contents of the page that depend on the view."""

    outcome: Any
    care: Any
    importance: Any
    rule: Any
    effect: Any
    page_class: Any
    view: Any


def when_shown(desk: Desk, stored: Any, answer: Callable[[Workspace, View], T], otherwise: T) -> T:
    """Answer if the page is shown."""
    view = View.from_store(stored)
    workspace = desk.get(view.data)
    return otherwise if workspace is None or view.tab != "row" else answer(workspace, view)


def list_sets(workspace: Workspace, view: View) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """List the sufficient sets for their grid."""
    try:
        explanation = workspace.explain(view)[0]
    except ERRORS:
        return [], []
    chosen = workspace.chosen_set(view)
    lines = [
        {
            "key": str(i),
            "variables": list(s.variables) or ["(no variable)"],
            "sdp": s.sdp,
            "shown": format_probability(s.sdp),
            "tick": explanation.pi,
        }
        for i, s in enumerate(explanation.sufficient_sets)
    ]
    return lines, [line for line, s in zip(lines, explanation.sufficient_sets, strict=True) if s == chosen]


def explained(workspace: Workspace, view: View) -> Answer:
    """Explain the row of a view."""
    try:
        explanation = workspace.explain(view)[0]
        rule = workspace.rule(view)
        row = workspace.encoded(view)
    except ERRORS as error:
        refusal = pieces.message("error", html.B("This row cannot be explained. "), in_words(error))
        return Answer(None, refusal, None, None, "", "panels failed", view.to_store())
    columns = [(c, workspace.columns[c]) for c in _columns_of_set(workspace, view)]
    drawn = draw_rule(columns, workspace.training[0], row, rule)
    body: list[Any]
    if rule is not None:
        chosen = workspace.chosen_set(view)
        picture = picture_rule(rule, pi=explanation.pi, lower=chosen.lower)
        body = [pieces.rule_sentence(picture), drawn, pieces.figures(picture)]
    elif explanation.is_sufficient:
        body = [html.Div(explanation.sentences.verdict, className="sentence")]
    else:
        best = picture_best_set(explanation)
        body = [
            html.Div(explanation.sentences.verdict, className="sentence"),
            html.Div(best.title, className="note"),
            drawn,
        ]
    return Answer(
        outcome=_outcome(workspace, view, explanation),
        care=[] if explanation.is_sufficient else [_not_sufficient(explanation)],
        importance=pieces.importance_bars(explanation.ranked_importance(), 12),
        rule=body,
        effect=_effect(workspace, view, explanation),
        page_class="panels",
        view=view.to_store(),
    )


def _outcome(workspace: Workspace, view: View, explanation: Explanation) -> list[Any]:
    target = workspace.explainer.target_name_
    kind = "observed" if view.is_of_observed else "predicted"
    edited = f" · {counted(len(view.edits), 'value')} edited" if view.edits else ""
    head: list[Any] = [html.Div(f"{target}, {kind} for {workspace.name_of(view.row)}{edited}", className="note")]
    head.append(html.Div(pieces.outcome_text(explanation), className="outcome"))
    head.append(html.P(explanation.sentences.outcome_sentence, className="note", id="outcome-sentence"))
    if explanation.is_sufficient:
        head.append(html.P(_lead(explanation), className="lead", id="lead"))
    notes = [
        note
        for note in (*explanation.sentences.notes, explanation.sentences.rule_note, explanation.sentences.bound_note)
        if note
    ]
    head.append(html.Div(" ".join(notes), className="note", id="notes"))
    own = workspace.values(view.row)
    changes = [f"{name}: {format_value(own[name])} → {format_value(value)}" for name, value in view.edits.items()]
    if changes:
        head.append(html.Div("; ".join(changes), className="edits", id="edits"))
    reasons = cautions(explanation)
    if reasons:
        head.append(pieces.message("care", html.B(READ_WITH_CARE), " ".join(reasons)))
    observed = workspace.observed_at([view.row])
    if observed is not None and not view.edits and not view.is_of_observed:
        text = format_number(observed[0]) if isinstance(observed[0], float) else str(observed[0])
        head.append(html.Div(f"observed: {text}", className="note"))
    return head


def _lead(explanation: Explanation) -> list[Any]:
    """Write the lead with the best set in bold, and how many sets are sufficient."""
    n = len(explanation.sufficient_sets)
    if explanation.is_search_complete:
        others = f"In all, {n} sets are sufficient." if n > 1 else "No other set is sufficient."
    else:
        others = f"The search found {counted(n, 'sufficient set')}."
    if not explanation.best_set.variables:
        return [explanation.sentences.lead]
    before, best, after = explanation.sentences.lead.partition(explanation.sentences.best_text)
    return [before, html.B(best), f"{after} {others}"]


def _not_sufficient(explanation: Explanation) -> html.Div:
    """Write why no set is sufficient, what comes nearest, and what to do."""
    items: list[Any] = []
    for advice in explanation.sentences.advice:
        if advice.kind == "pi" and advice.value is not None:
            button = _button(f"Use π = {advice.value:g}", "use-pi", advice.value)
            items.append([f"With π = {advice.value:g} it would be sufficient. ", button])
        elif advice.kind == "levels":
            items.append([f"{in_words(advice.text)} ", _button("Use a level for each class", "use-levels", 1)])
        else:
            items.append(in_words(advice.text))
    verdict, reach = (
        explanation.sentences.verdict,
        explanation.sentences.lead.removeprefix(explanation.sentences.verdict),
    )
    listed = [html.Ul([html.Li(item) for item in items], className="advice")] if items else []
    return pieces.message("care", html.B(verdict), reach, *listed)


def _button(text: str, kind: str, pi: float) -> dmc.Button:
    return dmc.Button(text, id={"type": kind, "pi": f"{pi:g}"}, size="compact-xs", variant="light")


def _effect(workspace: Workspace, view: View, explanation: Explanation) -> str:
    """Write what the settings change for this row."""
    if not view.has_own_search:
        return ""
    fitted = workspace.explain(view.as_fitted())[0]
    texts = []
    for name, one in (("as fitted", fitted), ("now", explanation)):
        texts.append(f"{name}: {counted(len(one.sufficient_sets), 'sufficient set')}, best {one.best_set}")
    return "; ".join(texts) + "."


def _open(desk: Desk, stored: Any) -> tuple[Workspace, View, Explanation] | None:
    view = View.from_store(stored)
    workspace = desk.get(view.data)
    if workspace is None or view.tab != "row":
        return None
    try:
        return workspace, view, workspace.explain(view)[0]
    except ERRORS:
        return None


def distribution(desk: Desk, stored: Any, scheme: str | None) -> Any:
    """Draw the distribution of a number."""
    opened = _open(desk, stored)
    if opened is None or not opened[0].is_regression:
        return no_update
    workspace, view, explanation = opened
    outcomes = workspace.training[1]
    values = np.unique(np.quantile(outcomes, np.linspace(0, 1, 300)))
    of_set, of_all = workspace.distribution(view, values)
    return charts.cdf(values, of_set, of_all, explanation, workspace.explainer.target_name_, scheme or "light")


def classes(desk: Desk, stored: Any) -> Any:
    """Draw the probabilities of classes."""
    opened = _open(desk, stored)
    if opened is None or opened[0].is_regression:
        return no_update
    workspace, view, explanation = opened
    return pieces.class_bars(workspace.explainer.classes_.tolist(), *workspace.distribution(view), explanation.outcome)


@dataclass(frozen=True)
class Picked:
    """The columns of the axes of the two figures."""

    axes: tuple[str | None, ...]
    suggested: list[str] | None

    def choose(self, usual: list[int]) -> list[str]:
        """Return the axes to draw: those that the user picked, and suggested ones for all others."""
        before: list[str | None] = [*(self.suggested or []), *[None] * len(self.axes)]
        own = [None if axis == last else axis for axis, last in zip(self.axes, before, strict=False)]
        chosen: list[str] = []
        for axis in own:
            free = (str(c) for c in usual if str(c) not in chosen and str(c) not in own)
            chosen.append(axis or next(free, str(usual[0])))
        return chosen


def _usual_columns(workspace: Workspace, view: View) -> list[int]:
    """List the columns of the chosen set, and then those of the other candidates."""
    names = [*workspace.chosen_set(view).variables, *workspace.explainer_for(view).candidates_]
    columns = dict.fromkeys(c for name in names for c in workspace.positions_of[name])
    return [*columns] or [*range(len(workspace.columns))]


def boxes(desk: Desk, stored: Any, picked: Picked, scheme: str | None) -> tuple[Any, Any, Any, Any]:
    """Draw the box of the rule on two columns."""
    opened = _open(desk, stored)
    if opened is None:
        return (no_update,) * 4
    workspace, view, explanation = opened
    axes = picked.choose(_usual_columns(workspace, view))
    x, y = (int(axis) for axis in axes)
    row = workspace.encoded(view)
    plane = charts.Plane(
        (workspace.columns[x], workspace.columns[y]),
        workspace.training[0][:, [x, y]],
        workspace.keeps(explanation),
        (float(row[x]), float(row[y])),
    )
    outcome = str(explanation.outcome) if explanation.interval is None else "in the interval"
    return charts.boxes(plane, workspace.rule(view), outcome, scheme or "light"), *axes, axes


def curve(desk: Desk, stored: Any, picked: Picked, scheme: str | None) -> tuple[Any, Any, Any]:
    """Draw the probability that the outcome is kept along one column."""
    opened = _open(desk, stored)
    if opened is None:
        return (no_update,) * 3
    workspace, view, _ = opened
    axes = picked.choose(_usual_columns(workspace, view))
    return draw_curve(workspace.curve(view, int(axes[0])), scheme or "light"), axes[0], axes


def covered(desk: Desk, stored: Any) -> tuple[Any, Any, Any, Any]:
    """List the training rows that the rule covers."""
    opened = _open(desk, stored)
    if opened is None:
        return (no_update,) * 4
    workspace, view, explanation = opened
    rule = workspace.rule(view)
    columns = line_columns(workspace, _columns_of_set(workspace, view))
    if rule is None:
        return [], "There is no rule.", columns, True
    return (*covered_rows(workspace, rule, explanation), columns, False)


def alike(desk: Desk, stored: Any, over: str) -> tuple[Any, Any, Any]:
    """List the nearest training rows with another outcome."""
    opened = _open(desk, stored)
    if opened is None:
        return (no_update,) * 3
    workspace, view, explanation = opened
    first = _columns_of_set(workspace, view)
    compared = first if over == "set" and first else range(len(workspace.columns))
    lines, note = look_alikes(workspace, workspace.encoded(view), explanation, list(compared))
    return lines, note, line_columns(workspace, first, has_distance=True)


def _columns_of_set(workspace: Workspace, view: View) -> list[int]:
    return [c for name in workspace.chosen_set(view).variables for c in workspace.positions_of[name]]
