"""The commands of ``suffice``, one module each: what each takes, what it prints, and what it writes.

Results go to standard output, everything else to standard error. Errors are left to ``main``. The modules load
quickly: whatever a command needs for its work is imported when it runs.
"""

from __future__ import annotations

import inspect
import re
from typing import Annotated

import typer

from suffice._cli.commands import certify, change, explain, fit, prove, reasons, rules, web_app
from suffice._cli.printing import say

_cli = typer.Typer(
    name="suffice",
    help="Which few variables are enough to keep an outcome, within which bounds, and how surely?",
    epilog="Begin with:  [cyan]suffice demo[/]\n\n"
    "Your own data:  [cyan]suffice fit table.csv --target y -o table.suffice[/]\n\n"
    "Then:  [cyan]suffice explain table.suffice rows.csv[/]",
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _run in (
    *(web_app.demo, fit.fit, explain.explain, change.change, reasons.reasons, reasons.verify, explain.report),
    *(rules.rules, certify.certify, prove.prove, web_app.app, fit.info),
):
    # Typer keeps the line breaks inside of paragraphs.
    _cli.command(help=re.sub(r"(?<!\n)\n(?!\n)", " ", inspect.cleandoc(_run.__doc__ or "")))(_run)


def _show_version(is_wanted: bool) -> None:
    if is_wanted:
        from suffice import __version__

        say(f"suffice {__version__}")
        raise typer.Exit


@_cli.callback(invoke_without_command=True)
def _suffice(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        say(context.get_help())


command = typer.main.get_command(_cli)
