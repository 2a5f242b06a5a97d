"""``suffice app``: look at explanations in the browser."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from suffice._cli.printing import note, say, working


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
