"""``suffice app`` and ``suffice demo``: explanations in the browser, and of two tables that come with scikit-learn."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from suffice._cli.printing import format_fidelity, name_options, note, say, say_block, working

if TYPE_CHECKING:
    from suffice._io.explainer_file import DemoData


def app(
    file: Annotated[
        str | None,
        typer.Argument(metavar="FILE", help="A saved explainer or a table; without it, choose one in the browser."),
    ] = None,
    table: Annotated[
        str | None,
        typer.Argument(metavar="TABLE", help="The rows to look at; by default the training rows of the explainer."),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option("--target", "-t", metavar="COL", help="Fit on FILE, a table; this column holds the outcomes."),
    ] = None,
    demo: Annotated[bool, typer.Option("--demo", help="Open a table that comes with scikit-learn.")] = False,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="The port: by default 8050 or the next free one; 0 for any.")
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True,
    name: Annotated[
        list[str] | None,
        typer.Option(metavar="HOST", help="A name by which a proxy on this computer reaches the app; may be repeated."),
    ] = None,
) -> None:
    """Look at explanations in the browser. Only this computer can reach the page, and no data leave it.

    The address holds a random token, without which the page refuses. The environment variable SUFFICE_APP_TOKEN sets
    another one.

    [bold]Examples[/]

    [cyan]suffice app --demo[/]

    [cyan]suffice app bikes.suffice today.csv[/]

    [cyan]suffice app bikes.csv --target count[/]
    """
    from suffice.app.server import make_app
    from suffice.app.serving import bind, open_browser
    from suffice.app.state.sessions import open_files

    with working("Opening"):
        web_app = make_app(*open_files(file, table, target, demo=demo), names=name or ())
        server = bind(web_app, port)
    say(f"The app is at {server.address}")
    note("Press Ctrl-C to stop it.")
    sys.stdout.flush()
    if browser:
        open_browser(server.address)
    server.serve_forever()


def demo(
    report: Annotated[
        str, typer.Option(metavar="FILE", help="The report on the first table; the second report is written beside it.")
    ] = "suffice-demo.html",
) -> None:
    """Explain rows of two tables, one with classes and one with numbers, and write a report on each.

    [bold]Examples[/]

    [cyan]suffice demo[/]

    [cyan]suffice demo --report first-look.html[/]
    """
    from suffice._io.explainer_file import demo_data
    from suffice._io.output import format_of_output

    format_of_output(report, ["html"])
    first = Path(report)
    for i, data in enumerate(demo_data()):
        _show(data, first if i == 0 else first.with_name(f"{first.stem}-{i + 1}{first.suffix}"))
    say("Your own data: suffice fit TABLE --target COLUMN -o FILE.suffice")


def _show(data: DemoData, page: Path) -> None:
    from suffice.explainer import SufficientExplainer

    with working(f"{data.title}: fitting and explaining"):
        explainer = SufficientExplainer(random_state=0).fit(data.X_fit, data.y_fit)
        explanations = explainer.explain(data.X_new)
        explanations.report(page, title=data.title)
    about = explainer.describe()
    trees = about["forest"]["n_estimators"]
    say(data.title, "=" * len(data.title))
    say(f"{about['n_rows']} rows, {len(about['columns'])} columns, {trees} trees: {format_fidelity(about)}.")
    for row in data.shown:
        outcome = data.y_new[row]
        observed = f"{outcome:g}" if isinstance(outcome, float) else outcome
        say_block(f"Held-out row {row}, observed: {observed}", name_options(str(explanations[row])))
    say_block(f"All {len(explanations)} held-out rows", f"{explanations}\nReport, for a browser: {page}")
    say("")
