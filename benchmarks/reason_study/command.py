"""``suffice stability``: a page on how often rows keep their reasons, for a validator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from suffice._cli.commands.options import (
    ExplainerArgument,
    IgnoreOption,
    InputOption,
    LevelsOption,
    ObservedOption,
    PiOption,
    RowsArgument,
    UnseenOption,
    changed_settings,
)
from suffice._cli.printing import note, say

if TYPE_CHECKING:
    from suffice.explainer import SufficientExplainer

EXAMPLES = (
    "[bold]Examples[/]\n\n[cyan]suffice stability loans.suffice new.csv --adverse declined -o stability.html[/]\n\n"
    "[cyan]suffice stability loans.suffice new.csv --adverse declined --changes 30 --noise 0.1 -o stability.html[/]\n\n"
    "If the package shap is installed, the page has the variables that SHAP puts first beside our reasons, for the "
    "forest under the same changes."
)


def stability(
    explainer: ExplainerArgument,
    rows: RowsArgument,
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Where to write the HTML page.")],
    adverse: Annotated[
        str | None,
        typer.Option(
            "--adverse",
            metavar="OUTCOME",
            help="The outcomes that need reasons: a class, classes as A,B, or numbers as '<=500'. By default all "
            "classes.",
        ),
    ] = None,
    protected: Annotated[
        str | None, typer.Option("--protected", metavar="NAMES", help="Variables that must not be reasons, as A,B,C.")
    ] = None,
    n: Annotated[int, typer.Option("--reasons", min=1, help="How many reasons a row gets at most.")] = 4,
    n_rows: Annotated[
        int, typer.Option("--rows", "-n", min=1, metavar="N", help="How many adverse rows are drawn at random.")
    ] = 100,
    n_changes: Annotated[int, typer.Option("--changes", min=1, help="How many changes of each kind.")] = 10,
    scale: Annotated[
        float, typer.Option("--noise", help="The noise on a row, in standard deviations of each column.")
    ] = 0.05,
    seed: Annotated[int, typer.Option("--seed", help="The seed of the sample and of the changes.")] = 0,
    title: Annotated[str | None, typer.Option(help="The title of the page.")] = None,
    target: ObservedOption = None,
    pi: PiOption = None,
    levels: LevelsOption = None,
    unseen: UnseenOption = None,
    ignore_extra: IgnoreOption = False,
    input_format: InputOption = None,
) -> None:
    """Write a page on how often rows keep their reasons under other seeds, bootstrap samples and small noise."""
    from benchmarks.reason_study.changed import reason_stability

    from suffice._cli.commands.change import read_names, read_target
    from suffice._io.explainer_file import load_explainer_file
    from suffice._io.output import format_of_output

    format_of_output(output, ["html"])
    loaded = load_explainer_file(explainer, changed_settings(pi, levels, None, unseen, ignore_extra))
    X, y = _read(loaded, rows, target, input_format)
    measured = reason_stability(
        loaded,
        X,
        y,
        adverse=None if adverse is None else read_target(adverse, loaded.task_ == "classification", loaded),
        protected=read_names(protected),
        n=n,
        n_rows=n_rows,
        n_changes=n_changes,
        scale=scale,
        random_state=seed,
    )
    measured.report(output, title=title)
    say(str(measured))
    note(f"Written to {output}.")


def _read(explainer: SufficientExplainer, path: str, target: str | None, input_format: str | None) -> tuple[Any, Any]:
    """Read the rows, and their outcomes if a column holds them."""
    from suffice._cli.columns import check_column, with_outcome
    from suffice._io.explainer_file import outcomes_of, text_columns
    from suffice._io.files import read_table

    frame = read_table(path, format=input_format, text_columns=text_columns(explainer))
    name = target or explainer.target_name_
    is_left_out = name in frame.columns and name not in explainer.fitted_.encoding.names
    if target is None:
        return (frame.drop(name) if is_left_out else frame), None
    check_column(frame.columns, target, path, "--target")
    frame = with_outcome(frame, target)
    return (frame.drop(target) if is_left_out else frame), outcomes_of(frame, target)
