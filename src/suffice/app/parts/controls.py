"""Panels, messages and inputs of pages, and jobs: the callback that starts, cancels and shows them on every page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import dash_mantine_components as dmc
from dash import Dash, Input, Output, State, ctx, dcc, html, no_update

if TYPE_CHECKING:
    from suffice.app.state.jobs import Job, Jobs

GRAPH_CONFIG = {"displayModeBar": False, "responsive": True, "displaylogo": False}  # figures without Plotly's toolbar
TICK = 300  # milliseconds between two looks at a job

# What a page does about an event: it gets the id of the component that caused it, the current job and the values of the
# page, and returns the outputs to change. Under "job" it returns a new job with its work, or None to forget the job.
Update = Callable[[Any, "Job | None", Mapping[str, Any]], dict[str, Any]]


def panel(
    title: Any, *children: Any, note: str = "", extra: Any = None, name: str = "", wide: bool = False
) -> html.Section:
    """Make a panel with a title."""
    head = [html.H2(title), html.Span(note, className="note"), html.Span(className="gap"), extra]
    options = {"id": name} if name else {}
    return html.Section(
        [html.Div([h for h in head if h is not None], className="panel-head"), *children],
        className="panel wide" if wide else "panel",
        **options,
    )


def message(kind: str, *children: Any) -> html.Div:
    """Make a message."""
    return html.Div(list(children), className=f"message {kind}", role="alert" if kind == "error" else "status")


def options(values: Sequence[Any], texts: Sequence[str] | None = None) -> list[dict[str, str]]:
    """List the choices of a select or of a segmented control."""
    return [{"value": str(v), "label": text} for v, text in zip(values, texts or map(str, values), strict=True)]


def class_text(label: Any) -> str:
    """Write the name of a class, which may be empty."""
    return str(label) or '""'


def class_options(labels: Sequence[Any], none: str) -> list[dict[str, str]]:
    """List the choices of one class, by its position, or of none of them."""
    return options(["", *range(len(labels))], [none, *map(class_text, labels)])


def select(name: str, label: str, data: list[dict[str, str]], value: str | None, width: int, **more: Any) -> dmc.Select:
    """Make a small list with one chosen value."""
    return dmc.Select(id=name, data=data, value=value, size="xs", w=width, **{"aria-label": label}, **more)


def variable_picker(name: str, label: str, names: Sequence[Any], placeholder: str, **more: Any) -> dmc.MultiSelect:
    """Make a list of variables with any number of chosen ones."""
    settings = {"value": [], "searchable": True, "clearable": True, "limit": 200, "size": "xs", **more}
    return dmc.MultiSelect(id=name, data=list(names), placeholder=placeholder, **{"aria-label": label}, **settings)


def number_input(name: str, label: str, value: float, width: int, **more: Any) -> dmc.NumberInput:
    """Make a small field for a number."""
    return dmc.NumberInput(id=name, value=value, size="xs", w=width, **{"aria-label": label}, **more)


def drop_area(name: str, thing: str, kinds: str, max_bytes: int, kind: str = "drop") -> dcc.Loading:
    """Make an area where users drop a file or choose one."""
    text = html.Div([html.B(f"Drop {thing} here, or click to choose one"), html.Div(kinds, className="note")])
    return dcc.Loading(dcc.Upload(id=name, children=text, className=kind, max_size=max_bytes), type="dot")


def download_buttons(label: str, prefix: str, kinds: Sequence[tuple[str, str]]) -> html.Div:
    """Make the buttons that write a result to a file, by kind of file."""
    buttons = [dmc.Button(text, id=f"{prefix}-{kind}", size="compact-xs", variant="default") for kind, text in kinds]
    return html.Div([html.Span(label, className="note"), *buttons], className="axes")


def graph(height: int, figure: Any, **more: Any) -> dcc.Graph:
    """Make the component that shows a figure."""
    return dcc.Graph(figure=figure, config=GRAPH_CONFIG, style={"height": height}, **more)


def setting(label: str, control: Any, note: str = "", value: Any = None, *, hidden: bool = False) -> html.Div:
    """Make a labelled setting."""
    head = [html.Label(label), *([] if value is None else [value])]
    notes = [html.Div(note, className="note")] if note else []
    return html.Div([html.Div(head, className="setting-head"), control, *notes], className="setting", hidden=hidden)


def slider_setting(label: str, name: str, value: float, low: float, high: float, step: float, note: str) -> html.Div:
    """Make a labelled slider that shows its value."""
    options = {"min": low, "max": high, "step": step, "size": "sm", "label": None, "updatemode": "mouseup"}
    slider = dmc.Slider(id=name, value=value, thumbLabel=label, **options)
    return setting(label, slider, note, html.Span(f"{value:g}", id=f"{name}-text", className="number"))


def choice_setting(
    label: str, name: str, choices: Sequence[tuple[str, str]], value: str, *, note: str = "", hidden: bool = False
) -> html.Div:
    """Make a labelled setting that has a few values."""
    data = options(*zip(*choices, strict=True))
    control = dmc.SegmentedControl(id=name, data=data, value=value, size="xs", fullWidth=True)
    return setting(label, control, note, hidden=hidden)


# --- jobs -------------------------------------------------------------------------------------------------------------


def progress(job: Job | None) -> Any:
    """Show how far a job is, or why it ended."""
    if job is None or job.state == "done":
        return None
    if job.state == "failed":
        return message("error", job.message)
    if job.state == "cancelled":
        return message("plain", "Cancelled.")
    label = {"aria-label": job.title}
    if not job.total:
        text = f"{job.title} … {job.seconds:.0f} s"
        bar = dmc.Progress(value=100, striped=True, animated=True, size="sm", **label)
    else:
        left = job.seconds_left
        rest = "" if left is None else f", about {left:.0f} s left"
        text = f"{job.title}: {job.done} of {job.total}{rest}"
        bar = dmc.Progress(value=100 * job.done / job.total, size="sm", animated=True, **label)
    return html.Div([html.Div(text, className="note"), bar], className="progress")


def job_parts(name: str) -> list[Any]:
    """Make the invisible components of a job: the store of its name, and the timer that looks at it."""
    return [dcc.Store(id=f"{name}-job"), dcc.Interval(id=f"{name}-tick", interval=TICK, disabled=True)]


def advance(jobs: Jobs, update: Update, event: Any, cancel: str, name: str | None, form: Mapping[str, Any]) -> Any:
    """Handle an event on a page with a job. Returns all that may change on the page."""
    job = jobs.get(name)
    if job is not None and event == cancel:
        job.cancel()
    changes = update(event, job, form)
    new_name: Any = no_update
    if "job" in changes:
        start = changes.pop("job")
        job, new_name = (None, None) if start is None else (start[0], jobs.start(*start))
    is_running = job is not None and job.state == "running"
    return {
        "job": new_name,
        # A job that was started is looked at once more even if it has ended already, so that its result is shown.
        "is_idle": not is_running and (new_name is no_update or job is None),
        "cannot_start": is_running,
        "cannot_cancel": not is_running,
        "progress": progress(job),
        **changes,
    }


def choose_event(first: Any, triggered: Iterable[Any], buttons: Sequence[str]) -> Any:
    """Choose which of several events a callback handles: a click, rather than a tick that came at the same time."""
    ids = list(triggered)
    return next((button for button in buttons if button in ids), first)


def connect_job(
    app: Dash,
    jobs: Jobs,
    name: str,
    *,
    inputs: Mapping[str, Any],
    outputs: Mapping[str, Output],
    buttons: tuple[str, str] | None = None,
    cancel: str = "",
    runs_at_first: bool = False,
) -> Callable[[Update], None]:
    """Connect the callback of a job; `buttons` are those that start and cancel it, disabled when they cannot."""
    all_outputs = {
        "job": Output(f"{name}-job", "data"),
        "is_idle": Output(f"{name}-tick", "disabled"),
        "progress": Output(f"{name}-progress", "children"),
    }
    if buttons is not None:
        start, cancel = buttons
        all_outputs |= {"cannot_start": Output(start, "disabled"), "cannot_cancel": Output(cancel, "disabled")}
    all_outputs |= outputs
    events = [Input(f"{name}-tick", "n_intervals"), *(Input(button, "n_clicks") for button in buttons or ())]

    def connect(update: Update) -> None:
        def callback(events: Any, job: str | None, form: Mapping[str, Any]) -> dict[str, Any]:
            event = choose_event(ctx.triggered_id, ctx.triggered_prop_ids.values(), (cancel, *(buttons or ())))
            answer = advance(jobs, update, event, cancel, job, form)
            return {key: answer.get(key, no_update) for key in all_outputs}

        app.callback(
            output=all_outputs,
            inputs={"events": events, "job": State(f"{name}-job", "data"), "form": dict(inputs)},
            prevent_initial_call=not runs_at_first,
        )(callback)

    return connect
