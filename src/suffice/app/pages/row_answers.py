"""What the page about one row shows: the outcome, the sets, the rule, figures, and training rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import dash_mantine_components as dmc
import numpy as np
from dash import html
from dash.exceptions import PreventUpdate

from suffice._show.picture import READ_WITH_CARE, cautions, picture_best_set, picture_rule
from suffice._text import counted, format_number, format_percent, format_probability, to_plain
from suffice.app.messages import ERRORS, reword
from suffice.app.parts import charts, controls, pieces
from suffice.app.parts.grids import cell_value

if TYPE_CHECKING:
    from suffice.app.state.view import View
    from suffice.app.state.workspace import Workspace
    from suffice.explaining.explanation import Explanation

MAX_LISTED = 500  # training rows that a rule covers


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


def answer_view(workspace: Workspace, view: View) -> Answer:
    """Explain the row of a view."""
    try:
        explanation, rule = workspace.explain(view), workspace.rule(view)
        row = workspace.encoded(view)
    except ERRORS as error:
        refusal = controls.message("error", html.B("This row cannot be explained. "), reword(error))
        return Answer(None, refusal, None, None, "", "panels failed", view.to_store())
    columns = [(c, workspace.columns[c]) for c in workspace.columns_of_set(view)]
    drawn = pieces.draw_rule(columns, workspace.training[0], row, rule)
    body: list[Any]
    if rule is not None:
        picture = picture_rule(rule, pi=explanation.pi, lower=workspace.chosen_set(view).lower)
        body = [pieces.rule_sentence(picture), drawn, pieces.figures(picture)]
    else:
        body = [html.Div(explanation.sentences.verdict, className="sentence")]
        if not explanation.is_sufficient:
            body += [html.Div(picture_best_set(explanation).title, className="note"), drawn]
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
    sentences = explanation.sentences
    target = workspace.explainer.target_name_
    kind = "observed" if view.is_of_observed else "predicted"
    edited = f" · {counted(len(view.edits), 'value')} edited" if view.edits else ""
    head: list[Any] = [
        html.Div(f"{target}, {kind} for {workspace.name_of(view.row)}{edited}", className="note"),
        html.Div(pieces.outcome_text(explanation), className="outcome"),
        html.P(sentences.outcome_sentence, className="note", id="outcome-sentence"),
    ]
    if explanation.is_sufficient:
        head.append(html.P(_lead(explanation), className="lead", id="lead"))
    notes = filter(None, (*sentences.notes, sentences.rule_note, sentences.bound_note))
    head.append(html.Div(" ".join(notes), className="note", id="notes"))
    own = workspace.values(view.row)
    text_of = explanation.sentences.value_text
    changes = [f"{name}: {text_of(name, own[name])} → {text_of(name, value)}" for name, value in view.edits.items()]
    if changes:
        head.append(html.Div("; ".join(changes), className="edits", id="edits"))
    reasons = cautions(explanation)
    if reasons:
        head.append(controls.message("care", html.B(READ_WITH_CARE), " ".join(reasons)))
    observed = workspace.observed_at([view.row])
    if observed is not None and not view.edits and not view.is_of_observed:
        text = format_number(observed[0]) if isinstance(observed[0], float) else str(observed[0])
        head.append(html.Div(f"observed: {text}", className="note"))
    return head


def _lead(explanation: Explanation) -> list[Any]:
    """Write the lead with the best set in bold, and how many sets of its size are sufficient."""
    n, sentences = len(explanation.sufficient_sets), explanation.sentences
    if explanation.is_search_complete:
        others = f"{n} sets of this size are sufficient." if n > 1 else "No other set of this size is sufficient."
    else:
        others = f"The search found {counted(n, 'sufficient set')}."
    if not explanation.best_set.variables:
        return [sentences.lead]
    before, best, after = sentences.lead.partition(sentences.best_text)
    return [before, html.B(best), f"{after} {others}"]


def _not_sufficient(explanation: Explanation) -> html.Div:
    """Write why no set is sufficient, what comes nearest, and what to do."""
    sentences = explanation.sentences
    verdict, level, advice = sentences.verdict, explanation.offered_pi, []
    if level is not None:
        identifier = {"type": "use-pi", "pi": f"{level:g}"}
        button = dmc.Button(f"Use π = {level:g}", id=identifier, size="compact-xs", variant="light")
        advice = [html.P([f"{reword(sentences.advice)} ", button], className="advice")]
    return controls.message("care", html.B(verdict), sentences.lead.removeprefix(verdict), *advice)


def _effect(workspace: Workspace, view: View, explanation: Explanation) -> str:
    """Write what the settings change for this row."""
    if not view.has_own_search:
        return ""
    compared = {"as fitted": workspace.explain(view.as_fitted()), "now": explanation}
    texts = [
        f"{name}: {counted(len(one.sufficient_sets), 'sufficient set')}, best {one.best_set}"
        for name, one in compared.items()
    ]
    return "; ".join(texts) + "."


def list_sets(workspace: Workspace, view: View) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """List the sufficient sets for their grid, and the one that is chosen."""
    try:
        explanation = workspace.explain(view)
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


# --- figures ----------------------------------------------------------------------------------------------------------


def distribution(workspace: Workspace, view: View, scheme: str | None) -> Any:
    """Draw the distribution of a number."""
    if not workspace.is_regression:
        raise PreventUpdate
    values = np.unique(np.quantile(workspace.training[1], np.linspace(0, 1, 300)))
    curves, target = workspace.distribution(view, values), workspace.explainer.target_name_
    return charts.cdf(values, *curves, workspace.explain(view), target, scheme or "light")


def classes(workspace: Workspace, view: View) -> Any:
    """Draw the probabilities of classes."""
    if workspace.is_regression:
        raise PreventUpdate
    labels, outcome = workspace.explainer.classes_.tolist(), workspace.explain(view).outcome
    return pieces.class_bars(labels, *workspace.distribution(view), outcome)


def curve(
    workspace: Workspace, view: View, picked: str | None, scheme: str | None, suggested: str | None
) -> tuple[Any, Any, Any]:
    """Draw the probability that the outcome is kept along the column that the user picked, or else a suggested one.

    The page shows the suggested column in its picker, so a picker that still shows what was suggested was not used.
    """
    names = [*workspace.chosen_set(view).variables, *workspace.explainer_for(view).candidates_]
    first = next((c for name in names for c in workspace.positions_of[name]), 0)
    column = str(first) if picked in (None, suggested) else str(picked)
    return charts.curve(workspace.curve(view, int(column)), scheme or "light"), column, column


# --- training rows ----------------------------------------------------------------------------------------------------


def row_columns(workspace: Workspace, chosen: Sequence[int] = ()) -> list[dict[str, Any]]:
    """Define the columns of a grid of training rows."""
    columns = workspace.columns
    return [
        {"field": "outcome", "headerName": workspace.explainer.target_name_, "pinned": "left", "width": 120},
        {"field": "kept", "headerName": "kept", "width": 84},
        *(
            {
                "field": f"c{c}",
                "headerName": columns[c].name,
                "width": int(np.clip(9 * len(columns[c].name) + 40, 80, 200)),
                "cellClass": "of-set" if c in chosen else "",
            }
            for c in dict.fromkeys((*chosen, *range(len(columns))))
        ),
    ]


def covered(workspace: Workspace, view: View) -> tuple[Any, Any, Any, Any]:
    """List the training rows that the rule covers; the panel is hidden if there is no rule."""
    rule, columns = workspace.rule(view), row_columns(workspace, workspace.columns_of_set(view))
    if rule is None:
        return [], "There is no rule.", columns, True
    rows, keeps = np.flatnonzero(rule.covers(workspace.training[2])), workspace.keeps(workspace.explain(view))
    n_kept = int(np.count_nonzero(keeps[rows]))
    note = f"{counted(len(rows), 'row')}, {n_kept} with this outcome"
    note += f" ({format_percent(n_kept / len(rows))} %)" if len(rows) else ""
    note += f"; the first {MAX_LISTED} are listed" if len(rows) > MAX_LISTED else ""
    lines = [_line(workspace, row, keeps[row]) for row in rows[:MAX_LISTED].tolist()]
    return lines, f"{note}.", columns, False


def _line(workspace: Workspace, row: int, is_kept: bool) -> dict[str, Any]:
    matrix, outcomes, _ = workspace.training
    columns, outcome = workspace.columns, outcomes[row]
    values = {f"c{c}": cell_value(columns[c].decode(float(value))) for c, value in enumerate(matrix[row])}
    return {"outcome": cell_value(to_plain(outcome)), "kept": "yes" if is_kept else "no", **values}
