"""``suffice fit`` and ``suffice info``: fit an explainer to a table file and save it; describe a saved one."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from suffice._cli.commands import options
from suffice._cli.printing import describe_fit, listed, say_lines, working
from suffice._text import counted

if TYPE_CHECKING:
    import polars as pl

    from suffice._forest.trees import Counts
    from suffice._table.encoding import Column, Encoding

_KINDS = ("numeric", "categorical", "ordered", "boolean", "with dates")


def fit(
    table: Annotated[str, typer.Argument(metavar="TABLE", help="The table file, or - for standard input.")],
    target: Annotated[str, options.outcome_column("The column with the outcomes.")],
    output: Annotated[str, options.output("Where to save the explainer.")],
    task: Annotated[
        Literal["auto", "classification", "regression"],
        typer.Option(help="Whether the outcomes are classes or numbers; by default their values decide."),
    ] = "auto",
    pi: Annotated[
        float | None,
        typer.Option(help="The probability that a sufficient set must reach; 0.9 by default, 0.8 for numbers."),
    ] = None,
    levels: Annotated[
        Literal["odds", "same"],
        typer.Option(help="Classes: whether a rare one has a level of its own, pi / (1 - pi) times its odds, or pi."),
    ] = "odds",
    confidence: options.Confidence = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="NAMES", help="Leave out columns, as A,B,C, here and in later tables; may be repeated."),
    ] = None,
    group: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=COL,COL",
            help="Treat columns as one variable, such as the indicators of a category; may be repeated.",
        ),
    ] = None,
    dates: Annotated[Literal["parts"] | None, typer.Option(help="Use dates: year, month, day, weekday, hour.")] = None,
    trees: Annotated[int | None, typer.Option(min=1, metavar="N", help="The number of trees; 100 by default.")] = None,
    candidates: options.Candidates = None,
    alpha: Annotated[
        float | None,
        typer.Option(
            help="Numbers: keep outcomes within an interval that holds 1 - alpha of them; 0.1 or less by default."
        ),
    ] = None,
    radius: Annotated[float | None, typer.Option(help="Numbers: keep outcomes within +/- this instead.")] = None,
    max_size: Annotated[int | None, typer.Option(metavar="N", help="The largest size of a sufficient set.")] = None,
    max_sets: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Examine at most N sets for a row; 2^12 by default.")
    ] = None,
    paper: Annotated[
        bool, typer.Option("--paper", help="Take the settings of the paper, except for those that other options set.")
    ] = False,
    holdout: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Set a share of the rows aside, such as 0.2, to check every rule on them."),
    ] = None,
    focus: Annotated[
        str | None,
        typer.Option(metavar="CLASS", help="The class that people care about; by default the rarer one of two."),
    ] = None,
    fixed: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Variables that people cannot change, as A,B,C: changes leave them as is."),
    ] = None,
    signal: Annotated[
        bool, typer.Option(help="Count the rows that would get a set if the outcomes were shuffled; takes another fit.")
    ] = True,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="The random seed.")] = 0,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", metavar="N", help="The number of threads; all cores by default.")
    ] = None,
) -> None:
    """Fit a forest to a table, and save it with everything that explanations need.

    [bold]Examples[/]

    [cyan]suffice fit bikes.csv --target count -o bikes.suffice[/]

    [cyan]suffice fit loans.parquet -t default --drop id -o loans.suffice[/]

    [cyan]zcat log.csv.gz | suffice fit - -t status --group os=linux,mac,windows -o log.suffice[/]
    """
    from suffice._forest.settings import DEFAULT_MAX_SETS
    from suffice._io.explainer_file import outcomes_of
    from suffice._io.output import check_output
    from suffice._io.sources import format_bytes
    from suffice.checks.quality import text_of_focus
    from suffice.explainer import SufficientExplainer

    begin = time.perf_counter()
    check_output(output, [table])
    frame, dropped = _read_training(table, target, drop or [])
    X, y = frame.drop(target), outcomes_of(frame, target)
    counts: Counts = "bootstrap" if paper else "out-of-bag"
    forest, reason = _make_forest(task, y, trees, counts, jobs, seed)
    chosen = options.read_candidates(candidates) | ({} if alpha is None else {"alpha": alpha})
    make = SufficientExplainer.paper if paper else SufficientExplainer
    explainer = make(
        forest,
        task=task,
        pi=pi,
        levels=levels,
        confidence=confidence,
        radius=radius,
        max_size=max_size,
        max_sets=max_sets or DEFAULT_MAX_SETS,
        counts=counts,
        groups=_parse_groups(group or []),
        dates=dates,
        extra_columns=dropped or "error",
        n_jobs=jobs,
        random_state=seed,
        **chosen,
    )
    with working(f"Fitting on {counted(len(y), 'row')}"):
        explainer.fit(X, y, holdout=holdout, focus=focus, fixed=options.read_names(fixed))
        if reason is not None:  # otherwise the reason would be the forest, which was made for this task
            explainer.fitted_ = replace(explainer.fitted_, task_reason=reason)
        explainer.save(output)
    check = None
    if signal:
        with working("Fitting once more to shuffled outcomes"):
            check = explainer.check_signal(random_state=seed)
    seconds, n_aside = time.perf_counter() - begin, explainer.describe()["n_set_aside"]
    say_lines(
        {
            "Rows": f"{len(y)}" + (f"; {n_aside} of them set aside for checks" if n_aside else ""),
            "Columns": _kinds_text(explainer.fitted_.encoding),
            **describe_fit(explainer.describe(), text_of_focus(explainer.fitted_)),
            **({} if check is None else {"Signal": str(check)}),
            "Saved": f"{output} ({format_bytes(Path(output).stat().st_size)}), after {seconds:.1f} s",
        }
    )


def _read_training(table: str, target: str, drop: Sequence[str]) -> tuple[pl.DataFrame, list[str]]:
    """Read the rows that have an outcome, without the columns to drop, and return the names of these, too."""
    from suffice._cli.rows import check_column, with_outcome
    from suffice._io.files import read_table

    frame = read_table(table)
    dropped: list[str] = []
    for text in drop:  # a name may have a comma itself
        dropped += [text] if text in frame.columns else options.read_names(text) or [text]
    for name in [target, *dropped]:
        check_column(frame.columns, name, table, "--target" if name == target else "--drop")
    frame = with_outcome(frame, target).drop([name for name in dropped if name != target])
    if frame.width == 1:
        raise ValueError(f"{table} has no columns left besides the target.")
    return frame, dropped


def _make_forest(
    task: str, y: pl.Series, trees: int | None, counts: Counts, jobs: int | None, seed: int
) -> tuple[Any, str | None]:
    """Make the default forest with another number of trees, if any, and return why it is for this task."""
    if trees is None:
        return None, None
    from suffice._forest.fitting import decide_task, default_forest
    from suffice._table.input import read_outcomes

    decided, reason = decide_task(task, None, read_outcomes(y, len(y)))
    return default_forest(decided, len(y), counts, jobs or -1, seed).set_params(n_estimators=trees), reason


def _parse_groups(texts: Sequence[str]) -> dict[str, list[str]] | None:
    groups: dict[str, list[str]] = {}
    for text in texts:
        name, _, columns = text.partition("=")
        if not name or not columns:
            raise ValueError(f"--group must be NAME=COL,COL, got {text!r}.")
        if name in groups:
            raise ValueError(f"--group {name!r} appears twice.")
        groups[name] = options.read_names(columns)
    return groups or None


def _kinds_text(encoding: Encoding) -> str:
    kinds = Counter({column.source: _kind_of(column) for column in encoding.columns}.values())
    if len(kinds) == 1:
        return f"{len(encoding.names)}, all {next(iter(kinds))}"
    return f"{len(encoding.names)}: {', '.join(f'{kinds[kind]} {kind}' for kind in _KINDS if kinds[kind])}"


def _kind_of(column: Column) -> str:
    if column.part is not None:
        return "with dates"
    if column.kind != "category":
        return "numeric"
    return "ordered" if column.is_ordered else "boolean" if column.labels == ((False,), (True,)) else "categorical"


def info(explainer: options.Explainer) -> None:
    """Describe a saved explainer.

    [bold]Examples[/]

    [cyan]suffice info bikes.suffice[/]

    [cyan]suffice info bikes.suffice | grep Fidelity[/]
    """
    from suffice._io.saved import read_origin
    from suffice._io.sources import format_bytes
    from suffice.checks.quality import text_of_focus

    loaded = options.load(explainer)
    about = loaded.describe() | read_origin(explainer)
    size = Path(explainer).stat().st_size
    forest = about["forest"]
    settings = {name: value for name, value in about["settings"].items() if value is not None}
    leaf, n_aside = forest["min_samples_leaf"], about["n_set_aside"]
    say_lines(
        {
            "File": f"{explainer} ({format_bytes(size)}, format {about['format']})",
            "Rows": f"{about['n_rows']}" + (f", and {n_aside} set aside for checks" if n_aside else ""),
            "Columns": f"{len(about['columns'])}: {listed(about['columns'])}",
            **describe_fit(about, text_of_focus(loaded.fitted_)),
            "Forest": f"{forest['kind']}, {counted(forest['n_estimators'], 'tree')}, at least {leaf} rows in a leaf",
            "Settings": ", ".join(f"{name} {value}" for name, value in settings.items()),
            "Made by": ", ".join(f"{name} {number}" for name, number in about["versions"].items()),
        }
    )
