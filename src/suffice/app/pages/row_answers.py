"""The answer about one row, in reading order: the outcome, the rule, reasons, what would change it, and proofs."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import dash_mantine_components as dmc
import numpy as np
from dash import html

from suffice._forest.out_of_bag import probabilities_at
from suffice._forest.outcomes import read_targets
from suffice._show import cards
from suffice._show.picture import READ_WITH_CARE, Share, cautions, kept_text
from suffice._text import counted, format_number, format_probability
from suffice.app.messages import ERRORS, reword
from suffice.app.parts import controls
from suffice.app.parts.markup import to_components

if TYPE_CHECKING:
    from suffice.app.state.view import View
    from suffice.app.state.workspace import Workspace
    from suffice.changes.values import Change, RowChanges
    from suffice.explaining.explanation import Explanation
    from suffice.reasons.code_book import CodeBook

RULE_MEANING = "the widest bounds within which this set stays enough"


# --- the outcome and its rule -----------------------------------------------------------------------------------------


def answer(workspace: Workspace, view: View) -> list[Any]:
    """Explain the row of a view: its outcome, what is enough to keep it, and within which bounds."""
    try:
        explanation = workspace.explain(view)
    except ERRORS as error:
        return [controls.message("error", html.B("This row cannot be explained. "), reword(error))]
    outcome = html.Section(_outcome(workspace, view, explanation), className="panel outcome-card")
    shown = to_components(cards.best_parts(explanation))
    if explanation.rule is not None:
        return [outcome, controls.panel("Rule", *shown, note=RULE_MEANING, name="rule")]
    if explanation.best_set.variables:
        return [outcome, html.Section(shown, className="panel", id="rule")]
    return [outcome]


def _outcome(workspace: Workspace, view: View, explanation: Explanation) -> list[Any]:
    sentences = explanation.sentences
    target = "Outcome" if explanation.target in ("y", "prediction") else explanation.target
    above = [f"{target}, {sentences.source_text} for {workspace.name_of(view.row)}"]
    if view.edits:
        above.append(f"{counted(len(view.edits), 'value')} changed")
    observed = workspace.observed_at([view.row])
    if observed is not None and not view.edits and not view.is_of_observed:
        value = observed[0]
        above.append(f"observed: {format_number(value) if isinstance(value, float) else value}")
    kept = [] if explanation.interval is None else [html.Span(kept_text(sentences.interval_text), className="kept")]
    head: list[Any] = [
        html.Div(" · ".join(above), className="note"),
        html.H2([html.Span(sentences.outcome_text, id="outcome"), *kept], className="outcome"),
        html.P(sentences.outcome_sentence, className="lead", id="outcome-sentence"),
    ]
    if explanation.is_sufficient:
        before, best, after = sentences.lead.partition(sentences.best_text)
        lead = [before, html.B(best), after] if explanation.best_set.variables else [sentences.lead]
        head.append(html.P(lead, className="lead", id="lead"))
    else:
        head.append(_not_sufficient(explanation))
    reasons_for_care = cautions(explanation)
    if reasons_for_care:
        head.append(controls.message("care", html.B(READ_WITH_CARE), " ".join(reasons_for_care)))
    notes = filter(None, (*sentences.notes, sentences.rule_note, sentences.bound_note))
    return [*head, html.Div(" ".join(notes), className="note", id="notes")]


def _not_sufficient(explanation: Explanation) -> html.Div:
    """Write why no set is sufficient, what comes nearest, and what to do."""
    sentences = explanation.sentences
    verdict, level, advice = sentences.verdict, explanation.offered_pi, []
    if level is not None:
        identifier = {"type": "use-pi", "pi": f"{level:g}"}
        button = dmc.Button(f"Use π = {level:g}", id=identifier, size="compact-xs", variant="light")
        advice = [html.P([f"{reword(sentences.advice)} ", button], className="advice")]
    return controls.message("care", html.B(verdict), sentences.lead.removeprefix(verdict), *advice)


# --- reasons ----------------------------------------------------------------------------------------------------------


def give_reasons(
    workspace: Workspace,
    view: View,
    adverse: str | None = "",
    protected: list[str] | None = None,
    content: str | None = None,
    name: str | None = "",
) -> list[Any]:
    """Give the reasons of the row of a view."""
    from suffice.app.state.sessions import read_code_book_upload

    labels = [] if workspace.is_regression else workspace.explainer.classes_.tolist()
    wanted = labels[int(adverse)] if adverse else labels or None
    y = workspace.observed_at([view.row]) if view.is_of_observed else None
    try:
        book: CodeBook | None = None if content is None else read_code_book_upload(content, name or "")
        with workspace.lock:  # the model may be asked
            row_reasons = workspace.explainer_for(view).reasons(
                workspace.row_of(view), y, codes=book, adverse=wanted, protected=protected or [], progress=False
            )[0]
    except ERRORS as error:
        return [controls.message("error", reword(error))]
    parts: list[Any] = [html.P(row_reasons.lead, className="lead")]
    if row_reasons.refusal is not None:
        parts = [controls.message("care", row_reasons.lead)]
    parts += to_components(cards.reason_bars(row_reasons.reasons))
    parts += [html.Div(note, className="note") for note in row_reasons.notes]
    if book is not None:
        parts.append(html.Div(f"Code book: {name}, {counted(len(book.lines), 'line')}.", className="note under"))
    return parts


# --- changes ----------------------------------------------------------------------------------------------------------


def find_changes(
    workspace: Workspace, view: View, wanted: Any, kind: str | None, fixed: list[str] | None = None
) -> list[Any]:
    """Find what would change the outcome of the row of a view."""
    if workspace.is_regression and wanted in (None, ""):
        return [html.Div("Enter the number that is wanted.", className="note")]
    try:
        if workspace.is_regression:
            target: Any = _other_side(workspace, view, kind, wanted)
        else:
            classes = workspace.explainer.classes_.tolist()
            target = classes[int(wanted)] if wanted else _other_classes(workspace, view)
        explainer, row = workspace.explainer_for(view), workspace.row_of(view)
        with workspace.lock:  # the model may be asked
            row_changes = explainer.what_if(row, target, fixed=fixed or [], progress=False)[0]
    except ERRORS as error:
        return [controls.message("error", reword(error))]
    row_changes = replace(row_changes, row=None)  # the page names the row; here it is the only one of its table
    parts: list[Any] = [html.P(row_changes.lead, className="lead")]
    parts += [html.Div(note, className="note") for note in row_changes.notes]
    parts += [_change(workspace, view, row_changes, i, target) for i in range(len(row_changes.changes))]
    if row_changes.caveat:
        parts.append(html.Div(row_changes.caveat, className="note under"))
    return parts


def _other_side(workspace: Workspace, view: View, kind: str | None, wanted: Any) -> dict[str, float]:
    """Return the range that starts or ends at the wanted number; by default the one without the row as it is."""
    number = float(wanted)
    outcome = workspace.explain(view.with_(edits={})).outcome
    return {kind or ("below" if outcome >= number else "above"): number}


def _other_classes(workspace: Workspace, view: View) -> Any:
    """Return the classes that the row does not have as it is in the table: an edit may have changed its class."""
    explainer = workspace.explainer_for(view)
    own = explainer.outcomes(workspace.row_of(view.with_(edits={}))).values[0]
    others = [label for label in explainer.classes_.tolist() if label != own]
    return others[0] if len(others) == 1 else {"not": own}


def _change(workspace: Workspace, view: View, row_changes: RowChanges, i: int, target: Any) -> html.Div:
    change = row_changes.changes[i]
    edits = json.dumps({**view.edits, **change.values}, default=str)
    apply = dmc.Button("Apply", id={"type": "apply-change", "edits": edits}, size="compact-xs", variant="light")
    steps = _probabilities(workspace, view, row_changes, change, target)
    lines = [
        html.H3([f"{i + 1}. {change.listed} ", apply], className="change-title"),
        html.Div(f"Probability of {row_changes.wanted}, by the forest:", className="note"),
        *to_components(cards.bars(steps)),
        *to_components(cards.evidence_parts(row_changes, change)),
    ]
    return html.Div(lines, className="change")


def _probabilities(
    workspace: Workspace, view: View, row_changes: RowChanges, change: Change, target: Any
) -> list[Share]:
    """Compute the probability of the target for the row as it is, after each move alone, and after all of them."""
    names = {f"{name} = {workspace.text_of(name, value)}": {name: value} for name, value in change.values.items()}
    moved = {"as it is": {}, **names}
    if len(names) > 1:
        moved["all of these together"] = dict(change.values)
    fitted = workspace.explainer_for(view).fitted_
    wanted = read_targets(target, np.array([row_changes.outcome]), fitted.classes)[0]
    try:
        rows = [workspace.encoded(view.with_(edits={**view.edits, **values})) for values in moved.values()]
    except (*ERRORS, KeyError):  # parts of a date do not make a date
        return []
    level = row_changes.pi if change.confirmed is None else None  # the model decides, not a level
    return [
        Share(name, share, format_probability(share), level)
        for name, share in zip(moved, probabilities_at(fitted, wanted, np.array(rows)).tolist(), strict=True)
    ]


# --- proofs -----------------------------------------------------------------------------------------------------------


def prove_rule(workspace: Workspace, view: View) -> list[Any]:
    """Say whether the rule of a view holds for every point, and what is certain about its row."""
    try:
        proof, reason = workspace.proof(view)
    except ERRORS as error:
        return [controls.message("error", reword(error))]
    certain = html.P([html.B("Certain for the model: "), reason.sentence.removeprefix("Proven: ")], className="note")
    return [*([] if proof is None else [html.P(proof.text, className="lead")]), certain]
