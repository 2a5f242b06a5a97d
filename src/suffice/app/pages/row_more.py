"""What else there is to see about one row, each part loaded when it is opened.

Other sufficient sets, importance, training rows within the rule, the distribution of the outcome, its probability along
one variable and by two, and how stable the best set is.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import dash_mantine_components as dmc
import numpy as np
from dash import Dash, Input, Output, html
from dash.exceptions import PreventUpdate

from suffice._show import cards
from suffice._show.axis import code_text
from suffice._show.picture import MAX_IMPORTANCES, Share, importance_shares, set_text
from suffice._text import counted, format_percent, format_probability, to_plain
from suffice.app.messages import ERRORS, reword
from suffice.app.parts import charts, controls
from suffice.app.parts.grids import cell_value, grid
from suffice.app.parts.markup import to_components
from suffice.app.state.jobs import Job, Jobs
from suffice.app.state.workspace import N_REFITS
from suffice.explaining.importance import IMPORTANCE_MEANINGS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice._table.encoding import Column
    from suffice.app.state.sessions import Sessions
    from suffice.app.state.view import View
    from suffice.app.state.workspace import Workspace

MAX_SETS = 6  # other sets whose rules are shown
MAX_LISTED = 500  # training rows within the rule
MAX_CLASSES = 12
MAX_CELLS = 7  # of a table of two variables, along each
_PARTS = {
    "sets": "Other sufficient sets",
    "importance": "Importance of the variables",
    "covered": "Training rows within these bounds",
    "distribution": "Distribution of the outcome",
    "curve": "Probability along one variable",
    "pair": "Probability by two variables",
    "stability": "How stable is this?",
}

# --- layout -----------------------------------------------------------------------------------------------------------


def layout(workspace: Workspace) -> html.Section:
    """Lay out the parts, all of them closed."""
    contents = {
        **{name: [html.Div(id=f"more-{name}")] for name in _PARTS},
        "curve": [_column_select("curve-x", "Variable", workspace), html.Div(id="more-curve")],
        "pair": [
            html.Div([_column_select(name, f"{which} variable", workspace) for name, which in _PAIR], className="axes"),
            html.Div(id="more-pair"),
        ],
        "stability": _stability_parts(),
    }
    items = [
        dmc.AccordionItem([dmc.AccordionControl(title), dmc.AccordionPanel(contents[name])], value=name)
        for name, title in _PARTS.items()
    ]
    more = dmc.Accordion(items, id="more", multiple=True, value=[], variant="separated", order=3)
    return html.Section([html.H2("More"), more], className="more")


_PAIR = (("pair-x", "First"), ("pair-y", "Second"))


def _column_select(name: str, label: str, workspace: Workspace) -> Any:
    data = controls.options(range(len(workspace.columns)), [column.name for column in workspace.columns])
    hint = "chosen for this row"
    return controls.select(name, label, data, None, 200, searchable=True, clearable=True, limit=100, placeholder=hint)


def _stability_parts() -> list[Any]:
    start = dmc.Button("Measure it", id="stability-start", size="compact-xs", variant="light")
    cancel = dmc.Button("Cancel", id="stability-cancel", size="compact-xs", variant="default", disabled=True)
    what = "Grows the forest again, with other seeds and on halves of the rows: how often does this set return?"
    return [
        html.Div(what, className="note"),
        html.Div([start, cancel], className="controls"),
        html.Div(id="stability"),
        *controls.job_parts("stability"),
    ]


# --- callbacks --------------------------------------------------------------------------------------------------------


def register(app: Dash, sessions: Sessions, jobs: Jobs) -> None:
    """Connect the parts."""

    def connect(name: str, show: Callable[..., Any], *inputs: Any) -> None:
        def fill(stored: Any, opened: Sequence[str] | None, *values: Any) -> Any:
            if name not in (opened or ()):
                raise PreventUpdate
            workspace, view = sessions.open(stored, "row")
            try:
                return show(workspace, view, *values)
            except ERRORS as error:
                return html.Div(reword(error), className="note")

        output = Output(f"more-{name}", "children")
        app.callback(output, Input("shown", "data"), Input("more", "value"), *inputs, prevent_initial_call=True)(fill)

    scheme = Input("scheme", "data")
    connect("sets", other_sets)
    connect("importance", importance)
    connect("covered", covered)
    connect("distribution", distribution, scheme)
    connect("curve", curve, Input("curve-x", "value"), scheme)
    connect("pair", pair, Input("pair-x", "value"), Input("pair-y", "value"))
    controls.connect_job(
        app,
        jobs,
        "stability",
        inputs={"view": Input("shown", "data")},
        outputs={"progress": Output("stability", "children")},
        buttons=("stability-start", "stability-cancel"),
    )(lambda event, job, form: update_stability(sessions, event, job, form))


# --- sets and importance ----------------------------------------------------------------------------------------------


def other_sets(workspace: Workspace, view: View) -> list[Any]:
    """List the other sufficient sets of the smallest size, with their rules."""
    explanation = workspace.explain(view)
    others = explanation.sufficient_sets[1:]
    if not others:
        is_last = explanation.is_sufficient and explanation.is_search_complete
        text = "No other set of this size is sufficient." if is_last else "No other sufficient set was found."
        return [html.Div(text, className="note")]
    parts: list[Any] = [html.Div("Each of these is enough alone as well.", className="note")]
    for one in others[:MAX_SETS]:
        share = Share(set_text(one), one.sdp, format_probability(one.sdp), explanation.pi)
        parts += to_components(cards.bars([share]))
        rule = workspace.rule_of(view, one.variables)
        if rule is not None:
            parts.append(html.Div(f"{rule.sentence}. {rule.rows_text}", className="note under"))
    if len(others) > MAX_SETS:
        listed = "; ".join(set_text(one) for one in others[MAX_SETS:])
        parts.append(html.Div(f"And {len(others) - MAX_SETS} more: {listed}.", className="note under"))
    return parts


def importance(workspace: Workspace, view: View) -> list[Any]:
    """Draw the importance of the variables."""
    shares = importance_shares(workspace.explain(view).ranked_importance())
    note = html.Div(f"{IMPORTANCE_MEANINGS['minimal'].capitalize()}.", className="note")
    return [note, *to_components(cards.importance_bars(shares, MAX_IMPORTANCES))]


# --- training rows ----------------------------------------------------------------------------------------------------


def covered(workspace: Workspace, view: View) -> list[Any]:
    """List the training rows that the rule covers, those with another outcome first."""
    explanation = workspace.explain(view)
    if explanation.rule is None:
        return [html.Div("There is no rule.", className="note")]
    rows = np.flatnonzero(explanation.rule.covers(workspace.training[2]))
    keeps = workspace.keeps(explanation)[rows]
    n_kept = int(np.count_nonzero(keeps))
    note = f"{counted(len(rows), 'row')}, {n_kept} with this outcome ({format_percent(n_kept / len(rows))} %)"
    note += f"; {MAX_LISTED} are listed" if len(rows) > MAX_LISTED else ""
    listed = rows[np.argsort(keeps, kind="stable")][:MAX_LISTED].tolist()
    first = [c for name in explanation.best_set.variables for c in workspace.positions_of[name]]
    lines = [_line(workspace, row) for row in listed]
    columns = _row_columns(workspace, first)
    return [html.Div(f"{note}.", className="note"), grid("covered", columns, 300, rowData=lines)]


def _row_columns(workspace: Workspace, first: Sequence[int]) -> list[dict[str, Any]]:
    columns = workspace.columns
    return [
        {"field": "outcome", "headerName": workspace.explainer.target_name_, "pinned": "left", "width": 120},
        *(
            {
                "field": f"c{c}",
                "headerName": columns[c].name,
                "width": int(np.clip(9 * len(columns[c].name) + 40, 80, 200)),
                "cellClass": "of-set" if c in first else "",
            }
            for c in dict.fromkeys((*first, *range(len(columns))))
        ),
    ]


def _line(workspace: Workspace, row: int) -> dict[str, Any]:
    matrix, outcomes, _ = workspace.training
    values = zip(workspace.columns, matrix[row].tolist(), strict=True)
    shown = {f"c{c}": cell_value(column.decode(value)) for c, (column, value) in enumerate(values)}
    return {"outcome": cell_value(to_plain(outcomes[row])), **shown}


# --- distribution and curve -------------------------------------------------------------------------------------------


def distribution(workspace: Workspace, view: View, scheme: str | None = None) -> list[Any]:
    """Draw the distribution of the outcome given the best set, and given all variables."""
    explanation = workspace.explain(view)
    if workspace.is_regression:
        values = np.unique(np.quantile(workspace.training[1], np.linspace(0, 1, 300)))
        figure = charts.cdf(values, workspace.distribution(view, values), explanation, scheme or "light")
        return [controls.graph(300, figure)]
    labels, (of_set, of_all) = workspace.explainer.classes_.tolist(), workspace.distribution(view)
    parts: list[Any] = []
    for c in np.argsort(-np.maximum(of_set, of_all), kind="stable")[:MAX_CLASSES].tolist():
        known = (("the best set", of_set), ("all variables", of_all))
        shares = [Share(f"given {what}", float(p[c]), format_probability(float(p[c]))) for what, p in known]
        is_own = labels[c] == explanation.outcome
        parts += [html.Div(str(labels[c]), className="class-name own" if is_own else "class-name")]
        parts += to_components(cards.bars(shares))
    return parts


def curve(workspace: Workspace, view: View, picked: str | None, scheme: str | None = None) -> list[Any]:
    """Draw the probability that the outcome is kept along a column: the picked one, or the first of the best set."""
    column = _pick(workspace, view, picked, 0)
    return [controls.graph(320, charts.curve(workspace.curve(view, column), scheme or "light"))]


def _pick(workspace: Workspace, view: View, picked: str | None, default: int) -> int:
    """Return the picked column, or one of the best set or of the next candidates."""
    if picked is not None and picked.isdigit() and int(picked) < len(workspace.columns):
        return int(picked)
    names = [*workspace.explain(view).best_set.variables, *workspace.explainer_for(view).candidates_]
    columns = [c for name in dict.fromkeys(names) for c in workspace.positions_of[name]]
    return columns[min(default, len(columns) - 1)] if columns else 0


# --- two variables ----------------------------------------------------------------------------------------------------


def pair(workspace: Workspace, view: View, picked_x: str | None, picked_y: str | None) -> list[Any]:
    """Count the training rows by two columns, and how many of them have the outcome."""
    matrix, row = workspace.training[0], workspace.encoded(view)
    across, down = (_pick(workspace, view, picked, i) for i, picked in enumerate((picked_x, picked_y)))
    if across == down:
        return [html.Div("Choose two different variables.", className="note")]
    explanation = workspace.explain(view)
    (x, x_labels, own_x), (y, y_labels, own_y) = (
        _cells(workspace.columns[c], matrix[:, c], float(row[c])) for c in (across, down)
    )
    keeps, shape = workspace.keeps(explanation), (len(y_labels), len(x_labels))
    n_rows, n_kept = np.zeros(shape, dtype=np.intp), np.zeros(shape, dtype=np.intp)
    np.add.at(n_rows, (y, x), 1)
    np.add.at(n_kept, (y[keeps], x[keeps]), 1)
    head = [html.Th(f"{workspace.columns[down].name} ↓  {workspace.columns[across].name} →", scope="col")]
    lines = [html.Tr([*head, *(html.Th(label, scope="col") for label in x_labels)])]
    for i, label in enumerate(y_labels):
        cells = [_cell(n_kept[i, j], n_rows[i, j], (i, j) == (own_y, own_x)) for j in range(len(x_labels))]
        lines.append(html.Tr([html.Th(label, scope="row"), *cells]))
    sentences = explanation.sentences
    outcome = sentences.interval_text if workspace.is_regression else sentences.outcome_text
    kept = f"{workspace.explainer.target_name_} {'in' if workspace.is_regression else '='} {outcome}"
    note = f"Share of the training rows with {kept}; the cell of this row is framed."
    table = html.Table([html.Thead(lines[:1]), html.Tbody(lines[1:])], className="pair-table")
    return [html.Div(note, className="note"), html.Div(table, className="scroll", tabIndex=0)]


def _cell(n_kept: int, n_rows: int, is_own: bool) -> html.Td:
    kind = "mine" if is_own else ""
    if not n_rows:
        return html.Td("-", className=kind)
    share = n_kept / n_rows
    below = html.Div(counted(int(n_rows), "row"), className="note")
    style = {"--share": f"{format_percent(share)}%"}
    return html.Td([f"{format_percent(share)} %", below], className=kind, style=style)


def _cells(column: Column, values: NDArray[np.float32], own: float) -> tuple[NDArray[np.intp], list[str], int]:
    """Put the values of a column into a few cells; also returns their labels and the cell of the row."""
    drawn, both = column.drawn, np.append(values, np.float32(own)).astype(np.float64)
    is_missing = np.isnan(both)
    if drawn.kind == "category":
        codes, labels = _category_cells(drawn, both, is_missing)
    else:
        known = both[~is_missing]
        distinct = np.unique(known)
        if len(distinct) <= MAX_CELLS:
            codes, labels = (
                np.searchsorted(distinct, both),
                [column.text_of(column.decode(v)) for v in distinct.tolist()],
            )
        else:
            ends = np.unique(np.quantile(known, np.linspace(0, 1, MAX_CELLS - 1), method="lower"))
            codes = np.clip(np.searchsorted(ends, both, side="left"), 1, len(ends) - 1) - 1
            texts = [column.text_of(column.decode(float(end))) for end in ends]
            labels = [
                f"≤ {texts[1]}",
                *(f"> {low}, ≤ {high}" for low, high in itertools.pairwise(texts[1:-1])),
            ]
            labels += [f"> {texts[-2]}"] if len(ends) > 2 else []
    if is_missing.any():
        codes, labels = np.where(is_missing, len(labels), codes), [*labels, "missing"]
    return codes[:-1], labels, int(codes[-1])


def _category_cells(
    column: Column, values: NDArray[np.float64], is_missing: NDArray[np.bool_]
) -> tuple[NDArray[np.intp], list[str]]:
    """Give the most frequent categories a cell each, always also that of the row, and the others one together."""
    codes = np.where(is_missing, 0, values).astype(np.intp)
    counts = np.bincount(codes[~is_missing], minlength=len(column.labels))
    order = np.argsort(-counts, kind="stable")
    shown = (
        [c for c in order.tolist() if c == codes[-1] or c in order[: MAX_CELLS - 1]]
        if len(order) > MAX_CELLS
        else order
    )
    place = np.full(len(column.labels), len(shown))
    place[shown] = np.arange(len(shown))
    labels = [code_text(column, int(code)) for code in shown]
    return place[codes], labels + (["others"] if len(shown) < len(order) else [])


# --- stability --------------------------------------------------------------------------------------------------------


def update_stability(sessions: Sessions, event: Any, job: Job | None, form: Mapping[str, Any]) -> dict[str, Any]:
    """Start the job, or show its answer."""
    workspace, view = sessions.open(form["view"], "row")
    if event == "stability-start":
        return {"job": (Job("Growing forests", 2 * N_REFITS), lambda job: _measure(workspace, view, job))}
    if event == "shown":  # the answer about another row must not stay
        if job is not None:
            job.cancel()
        return {"job": None}
    if job is None or job.state != "done":
        return {}
    best_set, sentence = job.result
    return {"progress": html.P([html.B(f"{best_set}. "), sentence], id="stability-sentence")}


def _measure(workspace: Workspace, view: View, job: Job) -> tuple[str, str]:
    stability = workspace.stability(view, job.step)[0]
    return set_text(workspace.explain(view).best_set), str(stability)
