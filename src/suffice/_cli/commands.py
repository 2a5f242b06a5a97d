"""The commands of ``suffice``: what each takes, what it prints, and what it writes.

Results go to standard output, everything else to standard error. Errors are left to ``cli``.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from suffice._cli.printing import (
    describe,
    format_fidelity,
    format_size,
    listed,
    say,
    say_block,
    say_lines,
    say_numbered,
    tell,
    working,
)
from suffice.words import counted

if TYPE_CHECKING:
    import polars as pl

    from suffice._cli.results import ExplainedRows
    from suffice.explanations import Explanations

TABLE_FORMATS = ("csv", "parquet", "arrow")
N_SHOWN = 5  # rows that are told in words unless another number is asked for
BATCH = 10_000  # rows of a part: seconds of work that a crash can lose, and some MB
TIP_RULES = 20  # from so many global rules on, tell how to get fewer

InputFormat = Literal["csv", "parquet", "arrow", "jsonl", "json"]
OutputFormat = Literal["text", "json", "jsonl", "csv", "parquet", "arrow", "html"]

Model = Annotated[str, typer.Argument(metavar="MODEL", help="A model that [bold]suffice fit[/] has saved.")]
Rows = Annotated[str, typer.Argument(metavar="ROWS", help="The rows to explain: a table file, or - for stdin.")]
InputOption = Annotated[
    InputFormat | None,
    typer.Option("--input-format", help="What the table file is; by default its content and suffix tell."),
]
ObservedOption = Annotated[
    str | None,
    typer.Option("--target", "-t", metavar="COL", help="Explain the outcomes in this column, not the predictions."),
]
SetsOption = Annotated[
    Literal["all", "minimal"], typer.Option(help="Find all sufficient sets of a row, or the smallest ones only.")
]
RulesOption = Annotated[
    Literal["minimal", "all", "none"], typer.Option(help="Which sets get a rule: the surest minimal one, all, or none.")
]
CheckOption = Annotated[
    Literal["rows", "everywhere"],
    typer.Option(help="Where in a rule the probability must hold: at every training row, or at every point."),
]
PiOption = Annotated[
    float | None, typer.Option("--pi", help="The probability that a sufficient set must reach, instead of the model's.")
]
UnseenOption = Annotated[
    Literal["error", "missing"] | None,
    typer.Option("--unseen", help="What to make of categories that the model has not seen: an error, by default."),
]
IgnoreOption = Annotated[bool, typer.Option("--ignore-extra", help="Leave out columns that the model does not know.")]
NumberOption = Annotated[
    int | None, typer.Option("--rows", "-n", min=1, metavar="N", help="Explain only the first N rows.")
]

app = typer.Typer(
    name="suffice",
    help="Which few variables are enough to keep an outcome, within which bounds, and how surely?",
    epilog="Begin with:  [cyan]suffice demo[/]\n\n"
    "Your own data:  [cyan]suffice fit table.csv --target y -o model.suffice[/]\n\n"
    "Then:  [cyan]suffice explain model.suffice rows.csv[/]",
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(is_asked: bool) -> None:
    if is_asked:
        from suffice import __version__

        say(f"suffice {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _suffice(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        say(context.get_help())


# --- demo -------------------------------------------------------------------------------------------------------------


@app.command(
    "demo", epilog="[bold]Examples[/]\n\n[cyan]suffice demo[/]\n\n[cyan]suffice demo --report first-look.html[/]"
)
def _demo(
    report: Annotated[
        str,
        typer.Option(metavar="FILE", help="The report on the first table; that on the second is written beside it."),
    ] = "suffice-demo.html",
) -> None:
    """Explain rows of two tables, one with classes and one with numbers, and write a report on each."""
    from suffice._io.demo import demo_data
    from suffice._io.files import format_of_target
    from suffice._io.writing import replacing
    from suffice.explainer import SufficientExplainer

    format_of_target(report, ["html"])
    first = Path(report)
    for i, data in enumerate(demo_data()):
        with working(f"{data.title}: fitting and explaining"):
            explainer = SufficientExplainer(random_state=0).fit(data.X_fit, data.y_fit)
            explanations = explainer.explain(data.X_new)
            written = first if i == 0 else first.with_name(f"{first.stem}-{i + 1}{first.suffix}")
            with replacing(str(written)) as path:
                explanations.report(path, title=data.title)
        about = explainer._about()
        trees = about["forest"]["n_estimators"]
        say(data.title, "=" * len(data.title))
        say(f"{about['n_rows']} rows, {len(about['columns'])} columns, {trees} trees: {format_fidelity(about)}.")
        for row in data.shown:
            observed = data.y_new[row]
            said = f"{observed:g}" if isinstance(observed, float) else observed
            say_block(f"Held-out row {row}, observed: {said}", str(explanations[row]))
        say_block(f"All {len(explanations)} held-out rows", f"{explanations}\nReport, for a browser: {written}")
        say("")
    say("Your own data: suffice fit TABLE --target COLUMN -o model.suffice")


# --- fit --------------------------------------------------------------------------------------------------------------


@app.command(
    "fit",
    epilog="[bold]Examples[/]\n\n[cyan]suffice fit bikes.csv --target count -o bikes.suffice[/]\n\n"
    "[cyan]suffice fit loans.parquet -t default --drop id --pi 0.95 -o loans.suffice[/]\n\n"
    "[cyan]zcat log.csv.gz | suffice fit - -t status --group os=linux,mac,windows --sample 20000 -o log.suffice[/]",
)
def _fit(
    table: Annotated[str, typer.Argument(metavar="TABLE", help="The table file, or - for standard input.")],
    target: Annotated[str, typer.Option("--target", "-t", metavar="COL", help="The column with the outcomes.")],
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Where to save the model.")],
    task: Annotated[
        Literal["auto", "classification", "regression"],
        typer.Option(help="Whether the outcomes are classes or numbers; by default their values tell."),
    ] = "auto",
    pi: Annotated[float, typer.Option("--pi", help="The probability that a sufficient set must reach.")] = 0.9,
    drop: Annotated[
        list[str] | None, typer.Option("--drop", metavar="COL", help="Leave out a column; may be repeated.")
    ] = None,
    group: Annotated[
        list[str] | None,
        typer.Option(
            "--group",
            metavar="NAME=COL,COL",
            help="Take columns as one variable, such as the indicators of a category; may be repeated. "
            "[bold]detect[/] finds such columns.",
        ),
    ] = None,
    dates: Annotated[
        Literal["parts"] | None, typer.Option(help="Use columns of dates: year, month, day, weekday and hour.")
    ] = None,
    trees: Annotated[
        int | None, typer.Option("--trees", min=1, metavar="N", help="The number of trees; 100 by default.")
    ] = None,
    leaf: Annotated[
        int | None,
        typer.Option("--leaf", min=1, metavar="N", help="The least rows in a leaf; 5 or more, by the table's size."),
    ] = None,
    candidates: Annotated[
        int, typer.Option("--candidates", metavar="N", help="How many variables are searched, at most 128.")
    ] = 10,
    alpha: Annotated[
        float, typer.Option("--alpha", help="Numbers: outcomes are kept within the forest's 1 - alpha interval.")
    ] = 0.1,
    radius: Annotated[
        float | None, typer.Option("--radius", help="Numbers: outcomes are kept within sqrt(radius) instead.")
    ] = None,
    max_size: Annotated[
        int | None, typer.Option("--max-size", metavar="N", help="The largest size of a sufficient set.")
    ] = None,
    max_sets: Annotated[
        int | None,
        typer.Option("--max-sets", min=1, metavar="N", help="Look at no more than N sets for a row; 2^20 by default."),
    ] = None,
    sample: Annotated[
        int | None, typer.Option("--sample", min=2, metavar="N", help="Fit on N rows drawn at random.")
    ] = None,
    reference: Annotated[
        int | None,
        typer.Option(
            "--reference", min=2, metavar="N", help="Fit on all rows, but keep only N of them to count on: less memory."
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, metavar="N", help="The seed of everything random.")] = 0,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", metavar="N", help="The number of threads; all cores by default.")
    ] = None,
    input_format: InputOption = None,
) -> None:
    """Fit a forest to a table and save it with all that explanations need."""
    from suffice._cli.results import check_column, outcomes_of, with_outcome
    from suffice._io.files import check_target, read_table
    from suffice._io.writing import replacing
    from suffice.explainer import DEFAULT_MAX_SETS, SufficientExplainer

    begin = time.perf_counter()
    check_target(output)
    frame = read_table(table, format=input_format)
    for name in [target, *(drop or [])]:
        check_column(frame.columns, name, table, "--target" if name == target else "--drop")
    frame = with_outcome(frame, target)
    n_read = frame.height
    if sample is not None and sample < n_read:
        frame = frame.sample(sample, seed=seed)
    y = outcomes_of(frame, target)
    X = frame.drop([target, *(name for name in drop or [] if name != target)])
    if not X.width:
        raise ValueError(f"{table} has no columns besides the target and those dropped.")
    forest, reason = None, None
    if trees is not None or leaf is not None:
        forest, reason = _make_forest(task, y, trees, leaf, jobs, seed)
    explainer = SufficientExplainer(
        forest,
        task=task,
        pi=pi,
        alpha=alpha,
        radius=radius,
        n_candidates=candidates,
        max_size=max_size,
        max_sets=max_sets or DEFAULT_MAX_SETS,
        reference_rows=reference,
        groups=_read_groups(group or []),
        dates=dates,
        n_jobs=jobs,
        random_state=seed,
    )
    with working(f"Fitting on {counted(frame.height, 'row')}"):
        explainer.fit(X, y)
        if reason is not None:  # otherwise: because the forest, which was made for it, says so
            explainer.task_reason_ = reason
        with replacing(output) as path:
            explainer.save(path)
    about = explainer._about()
    lines = {
        "Rows": f"{frame.height}" + (f", drawn from {n_read}" if frame.height < n_read else ""),
        "Columns": _kinds_text(X),
        **describe(about),
        "Saved": f"{output} ({format_size(Path(output).stat().st_size)}), {time.perf_counter() - begin:.1f} s in all",
    }
    say_lines(lines)


def _make_forest(
    task: str, y: pl.Series, trees: int | None, leaf: int | None, jobs: int | None, seed: int
) -> tuple[Any, str]:
    from suffice._engine.forest import decide_task, default_forest
    from suffice._table.checks import read_outcomes

    decided, reason = decide_task(task, None, read_outcomes(y, len(y)))
    forest = default_forest(decided, len(y), jobs or -1, seed)
    wanted = {"n_estimators": trees, "min_samples_leaf": leaf}
    return forest.set_params(**{name: value for name, value in wanted.items() if value is not None}), reason


def _read_groups(texts: Sequence[str]) -> dict[str, list[str]] | Literal["detect"] | None:
    import csv

    if not texts:
        return None
    if list(texts) == ["detect"]:
        return "detect"
    groups: dict[str, list[str]] = {}
    for text in texts:
        name, sign, columns = text.partition("=")
        if not sign or not name or not columns:
            raise ValueError(f"--group must be NAME=COL,COL or the one word detect, got {text!r}.")
        if name in groups:
            raise ValueError(f"--group {name!r} is given twice.")
        groups[name] = next(csv.reader([columns], skipinitialspace=True))
    return groups


# --- explain and report -----------------------------------------------------------------------------------------------


@app.command(
    "explain",
    epilog="[bold]Examples[/]\n\n[cyan]suffice explain bikes.suffice today.csv[/]\n\n"
    "[cyan]suffice explain loans.suffice new.parquet --id customer -o why.parquet[/]\n\n"
    "[cyan]suffice explain bikes.suffice today.csv --sets minimal | jq .best_set.variables[/]\n\n"
    "A table has one line for each row: [bold]row[/] (from 0), the columns of --id, [bold]outcome, low, high[/] (its "
    "interval), [bold]prediction, forest_agrees, is_sufficient, best_set, size, sdp, rule, rule_sql, support, "
    "coverage, precision, optimal, n_sufficient_sets, is_search_complete[/]. JSON holds everything.",
)
def _explain(
    model: Model,
    rows: Rows,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where to write: .parquet, .csv, .json, .jsonl, .arrow or .html; - is standard output.",
        ),
    ] = "-",
    format: Annotated[  # noqa: A002
        OutputFormat | None,
        typer.Option(
            "--format",
            "-f",
            help="What to write; by default the suffix tells. Without a file: text on a terminal, else jsonl.",
        ),
    ] = None,
    n_rows: NumberOption = None,
    target: ObservedOption = None,
    ids: Annotated[
        list[str] | None, typer.Option("--id", metavar="COL", help="Keep a column of ROWS; may be repeated.")
    ] = None,
    sets: SetsOption = "all",
    rules: RulesOption = "minimal",
    check: CheckOption = "rows",
    pi: PiOption = None,
    unseen: UnseenOption = None,
    ignore_extra: IgnoreOption = False,
    input_format: InputOption = None,
    batch: Annotated[
        int,
        typer.Option(
            "--batch", min=1, metavar="N", help="The rows of a part, which is kept if the run is stopped, with -o FILE."
        ),
    ] = BATCH,
    restart: Annotated[
        bool, typer.Option("--restart", help="Discard the parts that an earlier run has finished.")
    ] = False,
) -> None:
    """Tell which few variables are enough to keep the outcome of each row, with the rule that they make.

    On a terminal the first rows are told in words. A table, or lines of JSON, of many rows is written part by part:
    if that is stopped, the same command goes on with what is left.
    """
    from suffice._cli.results import ask, explain_whole, load_model
    from suffice._cli.streaming import explain_in_parts, is_in_parts
    from suffice._io.files import write_bytes, write_table

    kind = _output_format(output, format)
    limit = n_rows if n_rows is not None or kind != "text" else N_SHOWN
    explainer = load_model(model, _settings(pi, unseen, ignore_extra))
    asked = ask(
        explainer,
        rows,
        input_format=input_format,
        limit=limit,
        target=target,
        kept=ids or [],
        sets=sets,
        rules=None if rules == "none" else rules,
        check=check,
    )
    if is_in_parts(asked, output, kind, batch):
        explain_in_parts(asked, output, kind, model=model, batch=batch, restart=restart)
        tell(f"{counted(asked.n_asked, 'row')} explained, written to {output}.")
        return
    done = explain_whole(asked)
    if kind == "text":
        _write_text(done, output)
    elif kind == "html":
        _write_report(done.explanations, output, None)
    elif kind == "json":
        told = {**done.explanations.to_dict(), "explanations": list(done.dicts())}
        write_bytes((json.dumps(told, ensure_ascii=False, indent=1) + "\n").encode(), output)
    elif kind == "jsonl":
        lines = "".join(json.dumps(told, ensure_ascii=False) + "\n" for told in done.dicts())
        write_bytes(lines.encode(), output)
    else:
        write_table(done.to_frame(), output, kind)
    if output != "-":
        tell(f"{counted(len(done.explanations), 'row')} explained, written to {output}.")
    if done.n_left and n_rows is None:
        tell(f"{counted(done.n_left, 'more row')}: --rows N tells more of them, -o FILE writes all.")


@app.command(
    "report",
    epilog="[bold]Examples[/]\n\n[cyan]suffice report bikes.suffice today.csv -o today.html[/]\n\n"
    '[cyan]suffice report loans.suffice new.parquet -o loans.html --title "Loans of May"[/]',
)
def _report(
    model: Model,
    rows: Rows,
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Where to write the HTML page.")],
    title: Annotated[str | None, typer.Option(help="The title of the page.")] = None,
    n_rows: NumberOption = None,
    target: ObservedOption = None,
    sets: SetsOption = "all",
    rules: RulesOption = "minimal",
    check: CheckOption = "rows",
    pi: PiOption = None,
    unseen: UnseenOption = None,
    ignore_extra: IgnoreOption = False,
    input_format: InputOption = None,
) -> None:
    """Write a page about the explanations of all rows, to be read in a browser."""
    from suffice._cli.results import explain_file, load_model
    from suffice._io.files import format_of_target

    format_of_target(output, ["html"])
    explainer = load_model(model, _settings(pi, unseen, ignore_extra))
    done = explain_file(
        explainer,
        rows,
        input_format=input_format,
        limit=n_rows,
        target=target,
        sets=sets,
        rules=None if rules == "none" else rules,
        check=check,
    )
    _write_report(done.explanations, output, title)
    tell(f"{counted(len(done.explanations), 'row')} explained, written to {output}.")


def _settings(pi: float | None, unseen: str | None, ignore_extra: bool) -> dict[str, Any]:
    return {"pi": pi, "unseen": unseen, "extra_columns": "ignore" if ignore_extra else None}


def _output_format(output: str, asked: str | None) -> str:
    from suffice._io.files import check_target, format_of_target

    if output != "-":
        if asked is None:
            return format_of_target(output, (*TABLE_FORMATS, "json", "jsonl", "html"))
        check_target(output)
        return asked
    if asked is None:
        return "text" if sys.stdout.isatty() else "jsonl"
    if asked in ("parquet", "arrow") and sys.stdout.isatty():
        raise ValueError(f"A terminal cannot show {asked}: give a file by -o, or another --format.")
    return asked


def _write_text(done: ExplainedRows, output: str) -> None:
    from suffice._io.files import write_bytes

    if output == "-":
        for position, explanation in zip(done.positions, done.explanations, strict=True):
            say_block(f"Row {position}", str(explanation))
        say("", str(done.explanations))
        return
    parts = [f"Row {p}\n{e}\n\n" for p, e in zip(done.positions, done.explanations, strict=True)]
    write_bytes("".join([*parts, f"{done.explanations}\n"]).encode(), output)


def _write_report(explanations: Explanations, output: str, title: str | None) -> None:
    import tempfile

    from suffice._io.files import write_bytes
    from suffice._io.writing import replacing

    if output != "-":
        with replacing(output) as path:
            explanations.report(path, title=title)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        explanations.report(path, title=title)
        write_bytes(path.read_bytes(), output)


# --- rules ------------------------------------------------------------------------------------------------------------


@app.command(
    "rules",
    epilog="[bold]Examples[/]\n\n[cyan]suffice rules loans.suffice --simplify 0.01[/]\n\n"
    "[cyan]suffice rules loans.suffice --format sql -o loans.sql[/]\n\n"
    "[cyan]suffice rules bikes.suffice summer.csv --min-support 50 --format json[/]",
)
def _rules(
    model: Model,
    table: Annotated[
        str | None, typer.Argument(metavar="TABLE", help="Rows whose rules to take; by default the training rows.")
    ] = None,
    format: Annotated[  # noqa: A002
        Literal["text", "json", "sql"], typer.Option("--format", "-f", help="Sentences, JSON, or one SQL expression.")
    ] = "text",
    simplify: Annotated[
        float | None,
        typer.Option(metavar="TOL", help="Leave out rules while coverage and precision stay within TOL, such as 0.01."),
    ] = None,
    min_support: Annotated[int, typer.Option(metavar="N", help="Leave out rules that cover fewer training rows.")] = 1,
    min_precision: Annotated[
        float | None, typer.Option(metavar="P", help="Leave out rules of less precision on the training rows.")
    ] = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where to write; - is standard output.")
    ] = "-",
    check: CheckOption = "rows",
    pi: PiOption = None,
    unseen: UnseenOption = None,
    ignore_extra: IgnoreOption = False,
    input_format: InputOption = None,
) -> None:
    """Make one list of IF-THEN rules of the rules of all training rows, measured on these."""
    from suffice._cli.results import explain_file, load_model
    from suffice._io.files import check_target, write_bytes
    from suffice.global_rules import GlobalRulesClassifier, GlobalRulesRegressor

    if output != "-":
        check_target(output)
    explainer = load_model(model, _settings(pi, unseen, ignore_extra))
    options: dict[str, Any] = {"sets": "minimal", "rules": "minimal", "check": check}
    if table is None:
        explanations = explainer.explain(*explainer.training, **options)
    else:
        explanations = explain_file(
            explainer, table, input_format=input_format, prefer_observed=True, **options
        ).explanations
    is_class = explanations.about["task"] == "classification"
    least = 0.0 if is_class else -math.inf
    with working("Collecting rules"):
        found = (GlobalRulesClassifier if is_class else GlobalRulesRegressor).from_explanations(
            explanations, min_support=min_support, min_precision=least if min_precision is None else min_precision
        )
        if simplify is not None:
            found = found.simplify(simplify)
    if format == "text":
        if output == "-":
            say_numbered(str(found))
        else:
            write_bytes(f"{found}\n".encode(), output)
    else:
        text = found.to_sql() if format == "sql" else _rules_json(found, explanations)
        write_bytes(f"{text}\n".encode(), output)
    if output != "-":
        tell(f"{counted(len(found.rules_), 'rule')} written to {output}.")
    if len(found.rules_) > TIP_RULES and simplify is None:
        tell(f"{len(found.rules_)} rules are many; nearly as good and shorter: --simplify 0.01")


def _rules_json(found: Any, explanations: Explanations) -> str:
    import numpy as np

    table, outcomes = explanations.training
    covered = np.zeros(len(outcomes), dtype=bool)
    lines = []
    for line in found.rules_:
        covered |= line.rule.covers(table)
        figures = {"output": line.output, "support": line.support, "coverage": line.coverage}
        figures["precision"] = line.precision
        if line.frequencies is not None:
            figures["frequencies"] = {str(label): share for label, share in line.frequencies.items()}
        else:
            figures.update(mse=line.mse, mae=line.mae)
        conditions = line.rule.to_dict()["conditions"]
        lines.append({"if": line.text, "sql": line.rule.to_sql(), **figures, "conditions": conditions})
    told = {
        "task": explanations.about["task"],
        "target": explanations.about["target"],
        "n_rows": len(outcomes),
        "coverage": float(covered.mean()),
        "rules": lines,
    }
    return json.dumps(told, ensure_ascii=False, indent=1)


# --- app --------------------------------------------------------------------------------------------------------------


@app.command(
    "app",
    epilog="[bold]Examples[/]\n\n[cyan]suffice app --demo[/]\n\n[cyan]suffice app bikes.suffice today.csv[/]\n\n"
    "[cyan]suffice app bikes.csv --target count[/]",
)
def _app(
    file: Annotated[
        str | None,
        typer.Argument(metavar="FILE", help="A saved model, or a table; without one, choose it in the browser."),
    ] = None,
    table: Annotated[
        str | None, typer.Argument(metavar="TABLE", help="The rows to look at; by default the model's training rows.")
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", "-t", metavar="COL", help="Fit on FILE, a table, with these outcomes.")
    ] = None,
    demo: Annotated[bool, typer.Option("--demo", help="Open a table that comes with scikit-learn.")] = False,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Where to listen: 8050 or the next that is free; 0 for any.")
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True,
) -> None:
    """Look at explanations in the browser. Only this computer can reach the page, and nothing leaves it."""
    from suffice.app.server import address_of, bind, make_app, open_browser, open_files

    with working("Opening"):
        web_app = make_app(*open_files(file, table, target, demo=demo))
        server = bind(web_app, port)
    say(f"The app is at {address_of(server)}")
    tell("Press Ctrl-C to end it.")
    sys.stdout.flush()
    if browser:
        open_browser(address_of(server))
    server.serve_forever()


# --- info -------------------------------------------------------------------------------------------------------------


@app.command(
    "info",
    epilog="[bold]Examples[/]\n\n[cyan]suffice info model.suffice[/]\n\n"
    "[cyan]suffice info model.suffice --format json[/]",
)
def _info(
    model: Model,
    format: Annotated[  # noqa: A002
        Literal["text", "json"], typer.Option("--format", "-f", help="Text, or JSON.")
    ] = "text",
) -> None:
    """Tell what a saved model holds."""
    from suffice._cli.results import load_model, read_origin

    about = load_model(model)._about() | read_origin(model)
    size = Path(model).stat().st_size
    if format == "json":
        told = {"file": model, "bytes": size, **about}
        say(json.dumps(_without_nan(told), ensure_ascii=False, indent=1))
        return
    forest, settings = about["forest"], about["settings"]
    kept = {name: value for name, value in settings.items() if value is not None}
    leaf = forest["min_samples_leaf"]
    lines = {
        "File": f"{model} ({format_size(size)}, format {about['format']})",
        "Rows": f"{about['n_rows']}",
        "Columns": f"{len(about['columns'])}: {listed(about['columns'])}",
        **describe(about),
        "Forest": f"{forest['kind']}, {counted(forest['n_estimators'], 'tree')}, {leaf} rows or more in a leaf",
        "Settings": ", ".join(f"{name} {value}" for name, value in kept.items()),
        "Made by": ", ".join(f"{name} {number}" for name, number in about["versions"].items()),
    }
    say_lines(lines)


def _kinds_text(frame: pl.DataFrame) -> str:
    from collections import Counter

    from suffice._table.table import read_columns

    table = read_columns(frame)
    counts = Counter[str](table.kind(i) for i in range(len(table.names)))
    words = {
        "number": "numeric",
        "category": "categorical",
        "ordered": "ordered",
        "boolean": "boolean",
        "date": "with dates",
    }
    if len(counts) == 1:
        return f"{frame.width}, all {words[next(iter(counts))]}"
    return f"{frame.width}: {', '.join(f'{counts[kind]} {words[kind]}' for kind in words if counts[kind])}"


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _without_nan(held) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(held) for held in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
