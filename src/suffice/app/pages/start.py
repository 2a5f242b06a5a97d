"""The first page: choosing a table or a saved explainer, choosing the target, and fitting."""

from __future__ import annotations

import secrets
import warnings
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import dash_mantine_components as dmc
import polars as pl
from dash import Dash, Input, Output, State, ctx, dcc, html, no_update

from suffice._io.explainer_file import text_columns
from suffice._io.outcome_column import outcomes_of
from suffice._table.table import read_columns
from suffice.app.pages.many_rows import TICK, progress
from suffice.app.parts import pieces as parts
from suffice.app.parts.grids import grid, page_of, table_columns
from suffice.app.state.desk import Desk
from suffice.app.state.jobs import Job, Jobs
from suffice.app.state.uploads import MAX_UPLOAD, read_upload
from suffice.app.state.view import View
from suffice.app.state.workspace import Workspace
from suffice.app.words import ERRORS, in_words
from suffice.explainer import SufficientExplainer

N_WAITING = 4  # tables whose target is not chosen yet
N_PREVIEW = 8


@dataclass(frozen=True, eq=False)
class Waiting:
    """A table whose target is not chosen yet.

    Parameters
    ----------
    frame : polars.DataFrame
        The table.
    name : str
        What it is called.
    notes : tuple of str
        What had to be guessed.
    """

    frame: pl.DataFrame
    name: str
    notes: tuple[str, ...] = ()


class WaitingTables:
    """The tables that wait for their target, by name; "" is the one that the app was started with."""

    def __init__(self, first: Waiting | None = None) -> None:
        self.first = first
        self._tables: OrderedDict[str, Waiting] = OrderedDict()

    def add(self, table: Waiting) -> str:
        """Keep a table.

        Parameters
        ----------
        table : Waiting
            The table.

        Returns
        -------
        str
            Its name.
        """
        name = secrets.token_hex(8)
        self._tables[name] = table
        while len(self._tables) > N_WAITING:
            self._tables.popitem(last=False)
        return name

    def get(self, name: str | None) -> Waiting | None:
        """Find a table.

        Parameters
        ----------
        name : str or None
            Its name.

        Returns
        -------
        Waiting or None
            None if it is not there.
        """
        return self.first if name == "" else self._tables.get(name or "-")


def layout(waiting: WaitingTables, told: str = "") -> html.Div:
    """Lay out the page.

    Parameters
    ----------
    waiting : WaitingTables
        The tables.
    told : str, default=""
        Something to say first.

    Returns
    -------
    dash.html.Div
        The page.
    """
    drop = dcc.Upload(
        id="upload",
        children=html.Div(
            [
                html.B("Drop a table here, or click to choose one"),
                html.Div(
                    "CSV, Parquet, Arrow or JSON lines, also compressed; or a saved explainer (.suffice)",
                    className="note",
                ),
            ]
        ),
        className="drop",
        max_size=MAX_UPLOAD,
    )
    demos = [
        dmc.Button(text, id=f"demo-{name}", size="xs", variant="default")
        for name, text in (("0", "Breast cancer (classes)"), ("1", "Diabetes progression (numbers)"))
    ]
    first = waiting.first
    return html.Div(
        [
            html.H1("Which few variables are enough?"),
            html.P(
                "Open a table, choose the outcome to explain, and see for each row which few variables keep it, within "
                "which bounds, and how surely. Everything stays on this computer.",
                className="lead",
            ),
            html.Div(parts.message("care", told) if told else None, id="start-message"),
            parts.panel(
                "Open",
                dcc.Loading(drop, type="dot"),
                html.Div([html.Span("or try", className="note"), *demos], className="controls"),
                wide=True,
            ),
            html.Div(_choose(first, None) if first else None, id="choose"),
            html.Div(id="fit-progress"),
            dcc.Store(id="waiting", data="" if first else None),
            dcc.Store(id="fit-job"),
            dcc.Store(id="goto"),
            dcc.Interval(id="fit-tick", interval=TICK, disabled=True),
        ],
        className="start",
    )


def _choose(table: Waiting, model: Workspace | None) -> html.Section:
    frame = table.frame
    names = frame.columns
    dates = [name for name in names if frame.schema[name].is_temporal()]
    options = [{"value": str(i), "label": name} for i, name in enumerate(names)]
    last = str(len(names) - 1)
    shown = frame.head(N_PREVIEW)
    fields = [
        html.Div(
            [
                html.Label("Target: the column with the outcomes"),
                dmc.Select(id="target", data=options, value=last, searchable=True, size="sm", limit=300),
            ]
        ),
        html.Div(
            [
                html.Label("Leave out"),
                dmc.MultiSelect(
                    id="leave-out",
                    data=options,
                    value=[],
                    searchable=True,
                    size="sm",
                    limit=300,
                    placeholder="such as names of the rows",
                ),
            ]
        ),
    ]
    fits_model = model is not None and set(model.names) <= set(names)
    buttons = [dmc.Button("Fit", id="fit", size="sm")]
    buttons.append(
        dmc.Button(
            "Explain its rows by the open explainer",
            id="use-model",
            size="sm",
            variant="default",
            style={} if fits_model else {"display": "none"},
        )
    )
    return parts.panel(
        table.name,
        *(parts.message("plain", note) for note in table.notes[:5]),
        grid("preview", table_columns(shown), 270, rowData=page_of(shown, pl.Series(range(shown.height)).to_numpy())),
        html.Div(fields, className="fields"),
        html.Div(
            dmc.Switch(id="dates", label="Use dates: year, month, day, weekday, hour", checked=bool(dates), size="sm"),
            hidden=not dates,
        ),
        html.Div(buttons, className="controls"),
        note=f"{frame.height} rows, {frame.width} columns",
        wide=True,
    )


def register(app: Dash, desk: Desk, jobs: Jobs, waiting: WaitingTables) -> None:
    """Connect the page.

    Parameters
    ----------
    app : dash.Dash
        The app.
    desk : Desk
        The workspaces.
    jobs : Jobs
        The jobs.
    waiting : WaitingTables
        The tables whose target is not chosen yet.
    """
    app.callback(
        Output("choose", "children"),
        Output("waiting", "data"),
        Output("start-message", "children"),
        Output("goto", "data", allow_duplicate=True),
        Output("upload", "contents"),
        Input("upload", "contents"),
        State("upload", "filename"),
        prevent_initial_call=True,
    )(lambda content, name: _receive(desk, waiting, content, name))
    app.callback(
        Output("fit-job", "data"),
        Output("fit-tick", "disabled"),
        Output("fit-progress", "children"),
        Output("goto", "data"),
        Input("fit", "n_clicks"),
        Input("use-model", "n_clicks"),
        Input("demo-0", "n_clicks"),
        Input("demo-1", "n_clicks"),
        Input("fit-tick", "n_intervals"),
        State("waiting", "data"),
        State("target", "value"),
        State("leave-out", "value"),
        State("dates", "checked"),
        State("fit-job", "data"),
        prevent_initial_call=True,
    )(lambda *given: _fit(desk, jobs, waiting, *given))


def _receive(desk: Desk, waiting: WaitingTables, content: str | None, name: str | None) -> tuple[Any, ...]:
    if not content:
        return (no_update,) * 5
    model = desk.first
    try:
        found, notes = read_upload(content, name or "", text_columns(model.explainer) if model else ())
        if isinstance(found, SufficientExplainer):
            workspace = Workspace.of(found, name=f"training rows of {name}")
            return no_update, no_update, None, f"/{View(data=desk.add(workspace)).to_search()}", None
        if found.width < 2:
            raise ValueError("The table has one column: the outcome and at least one variable are needed.")
        table = Waiting(found, str(name)[:100], tuple(notes))
    except ERRORS as error:
        told = parts.message("error", html.B("This file cannot be used. "), in_words(error))
        return None, None, told, no_update, None
    return _choose(table, model), waiting.add(table), None, no_update, None


def _fit(desk: Desk, jobs: Jobs, waiting: WaitingTables, *given: Any) -> tuple[Any, ...]:
    fit, use, demo0, demo1, _, name, target, left_out, dates, job_name = given
    did = ctx.triggered_id
    if did == "fit-tick":
        job = jobs.get(job_name)
        is_over = job is None or job.state != "running"
        goes = f"/{View(data=job.result).to_search()}" if job is not None and job.state == "done" else no_update
        return no_update, is_over, progress(job), goes
    if not {"fit": fit, "use-model": use, "demo-0": demo0, "demo-1": demo1}.get(str(did)):
        return (no_update,) * 4
    if str(did).startswith("demo-"):
        which = int(str(did)[-1])
        job = Job("Fitting 100 trees")
        return jobs.start(job, lambda job: desk.add(demo_workspace(which))), False, progress(job), no_update
    table = waiting.get(name)
    if table is None:
        told = parts.message("error", "The table is no longer here: open it again.")
        return no_update, True, told, no_update
    if did == "use-model" and desk.first is not None:
        explainer = desk.first.explainer
        job = Job("Opening")
        work = lambda job: desk.add(Workspace.of(explainer, table.frame, name=table.name))  # noqa: E731
        return jobs.start(job, work), False, progress(job), no_update
    names = table.frame.columns
    column = names[int(target)] if target is not None else names[-1]
    dropped = [names[int(i)] for i in left_out or []]
    job = Job(f"Fitting 100 trees to {table.frame.height} rows")
    start = jobs.start(job, lambda job: desk.add(fit_workspace(table.frame, column, dropped, bool(dates), table.name)))
    return start, False, progress(job), no_update


def fit_workspace(frame: pl.DataFrame, target: str, dropped: list[str], has_dates: bool, name: str) -> Workspace:
    """Fit an explainer to a table.

    Parameters
    ----------
    frame : polars.DataFrame
        The table.
    target : str
        The column with the outcomes; rows without one are left out.
    dropped : list of str
        Columns to leave out.
    has_dates : bool
        Whether to use columns of dates.
    name : str
        What the table is called.

    Returns
    -------
    Workspace
        The explainer with the table.
    """
    known = frame[target].is_not_null()
    if frame.schema[target].is_float():
        known &= ~frame[target].is_nan().fill_null(True)
    frame = frame.filter(known)
    if not frame.height:
        raise ValueError(f"The column {target!r} is empty: there is no outcome to explain.")
    y = outcomes_of(frame, target)
    X = frame.drop([target, *(column for column in dropped if column != target)])
    table = read_columns(X)
    dated = [column for i, column in enumerate(table.names) if table.kind(i) == "date"]
    if dated and not has_dates:
        X = X.drop(dated)
    if not X.width:
        raise ValueError("There is no column besides the target and those left out.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of low fidelity and rare categories the page tells
        explainer = SufficientExplainer(random_state=0, dates="parts").fit(X, y)
    return Workspace.of(explainer, frame, y, name)


def demo_workspace(which: int) -> Workspace:
    """Fit an explainer to a table that comes with scikit-learn.

    Parameters
    ----------
    which : {0, 1}
        Classes or numbers.

    Returns
    -------
    Workspace
        The explainer with the table.
    """
    from suffice._io.demo import demo_data

    data = list(demo_data())[which]
    X = pl.concat([data.X_fit, data.X_new])
    y = pl.concat([data.y_fit, data.y_new])
    return fit_workspace(X.with_columns(y), y.name, [], False, data.title)
