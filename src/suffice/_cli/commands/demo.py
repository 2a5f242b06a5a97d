"""``suffice demo``: explain rows of two tables that come with scikit-learn."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from suffice._cli.printing import format_fidelity, name_options, say, say_block, working

if TYPE_CHECKING:
    from suffice._io.demo import DemoData


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
    from suffice._io.demo import demo_data
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
