"""``suffice rules`` and ``suffice certify``: one list of rules for all rows, and which rules hold on fresh rows."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from suffice._cli.commands import options
from suffice._cli.printing import note, say, say_numbered, working
from suffice._text import counted

if TYPE_CHECKING:
    import polars as pl

    from suffice.changes.values import RegionalChanges
    from suffice.checks.certificates import CertifiedRules
    from suffice.explainer import SufficientExplainer
    from suffice.rule_lists.estimators import RuleList

N_RULES = 10
_NESTED = ("conditions", "frequencies", "interval")  # parts of a rule that have no place in a table
_FORMATS = {".txt": "text", ".md": "text", ".json": "json", ".csv": "csv", ".sql": "sql"}


def rules(
    explainer: options.Explainer,
    table: Annotated[
        str | None,
        typer.Argument(metavar="TABLE", help="The rows whose rules are collected; by default the training rows."),
    ] = None,
    format: Annotated[  # noqa: A002
        Literal["text", "json", "csv", "sql"] | None,
        typer.Option(
            "--format",
            "-f",
            help="Sentences, JSON, a table or one SQL expression; by default the suffix of FILE decides.",
        ),
    ] = None,
    max_rules: Annotated[
        str, typer.Option(metavar="N", help="At most N rules, chosen by what they add; [bold]all[/] for every rule.")
    ] = str(N_RULES),
    simplify: Annotated[
        float | None,
        typer.Option(metavar="TOL", help="Drop rules while coverage and precision change by at most TOL, as 0.01."),
    ] = None,
    min_support: Annotated[int, typer.Option(metavar="N", help="Leave out rules that cover fewer training rows.")] = 1,
    min_precision: Annotated[
        float | None, typer.Option(metavar="P", help="Leave out rules with a lower precision on the training rows.")
    ] = None,
    unless: Annotated[
        str | None,
        typer.Option(
            metavar="WANTED",
            help="State what would change each rule with another outcome: IF rule THEN outcome UNLESS change. "
            "Outcomes are written as for [bold]suffice change --target[/].",
        ),
    ] = None,
    model: options.AskedModel = None,
    output: Annotated[str, options.output("Where to write; - is standard output.")] = "-",
    check: options.Check = "rows",
    pi: options.Pi = None,
    levels: options.Levels = None,
    confidence: options.Confidence = None,
    unseen: options.Unseen = None,
    ignore_extra: options.IgnoreExtra = False,
    input_format: options.InputFormat = None,
) -> None:
    """Make one list of IF-THEN rules from the rules of training rows, and measure them on these rows.

    [bold]Examples[/]

    [cyan]suffice rules loans.suffice[/]

    [cyan]suffice rules loans.suffice --max-rules 10 -o loans.sql[/]

    [cyan]suffice rules bikes.suffice summer.csv --min-support 50 --format json[/]

    [cyan]suffice rules loans.suffice --unless good[/]
    """
    from suffice._io.explainer_file import load_explainer_file
    from suffice._io.output import check_output, write_bytes

    if output != "-":
        check_output(output, [explainer, table])
    kind = format or _format_of(output)
    _check_unless(unless, kind, model, table)
    most = None if simplify is not None else _read_max_rules(max_rules)
    loaded = load_explainer_file(explainer, options.changed_settings(pi, levels, confidence, unseen, ignore_extra))
    params: dict[str, Any] = {"max_rules": most, "min_support": min_support}
    if min_precision is not None or loaded.task_ == "regression":
        params["min_precision"] = -math.inf if min_precision is None else min_precision
    rule_list = _collect(loaded, table, input_format, check, params)
    if simplify is not None:
        rule_list = rule_list.simplify(simplify)
    answer, heading, lines = rule_list, rule_list.heading, rule_list.rules_
    if unless is not None:
        answer = lines = _changes(loaded, rule_list, unless, model, table, input_format)
        heading = "What would change the outcomes of rules"
    if kind == "text" and output == "-":
        say_numbered(heading, list(map(str, lines)), rule_list.otherwise if unless is None else "")
    else:
        write_bytes(_content(answer, kind), output)
    if output != "-":
        note(f"{counted(len(rule_list.rules_), 'rule')} written to {output}.")


def _format_of(output: str) -> str:
    """Choose the format by the suffix of the output file."""
    suffix = Path(output).suffix.lower()
    if output != "-" and suffix not in _FORMATS:
        problem = f"the suffix {suffix!r} is unknown" if suffix else "it has no suffix"
        known = ", ".join(_FORMATS)
        raise ValueError(f"The format of {output!r} is unclear: {problem}. Use one of {known}, or give --format.")
    return _FORMATS.get(suffix, "text")


def _read_max_rules(text: str) -> int | None:
    if text == "all":
        return None
    if not text.isdigit() or int(text) < 1:
        raise ValueError(f"`max_rules` must be a whole number >= 1 or all, got {text}.")
    return int(text)


def _collect(
    explainer: SufficientExplainer, table: str | None, input_format: str | None, check: Any, params: dict[str, Any]
) -> Any:
    """Collect the rules of training rows, or of the rows of a table with their observed outcomes if it has them."""
    from suffice._cli.rows import open_rows
    from suffice.rule_lists.estimators import GlobalRulesClassifier, GlobalRulesRegressor

    kind: Any = GlobalRulesClassifier if explainer.task_ == "classification" else GlobalRulesRegressor
    if table is None:
        with working("Collecting rules"):
            return kind.from_explainer(explainer, check=check, **params)
    questions: dict[str, Any] = {"sets": "minimal", "rules": "minimal", "check": check}
    opened = open_rows(explainer, table, input_format=input_format, prefer_observed=True, **questions)
    explanations = opened.explain_all().explanations
    with working("Collecting rules"):
        return kind.from_explanations(explanations, **params)


def _check_unless(unless: str | None, format: str, model: str | None, table: str | None) -> None:  # noqa: A002
    if unless is not None and format == "sql":
        raise ValueError("--unless writes text or JSON: changes of rules cannot be written as SQL.")
    if model is not None and (unless is None or table is None):
        raise ValueError("--model needs TABLE and --unless: the model is asked about changed rows of the table.")


def _changes(
    explainer: SufficientExplainer,
    rule_list: RuleList,
    unless: str,
    model: str | None,
    table: str | None,
    input_format: str | None,
) -> RegionalChanges:
    """Find what would change the outcomes of the rules that have another one than the wanted one."""
    from suffice._cli.commands.change import read_rows

    X = None
    if table is not None and model is not None:
        X, _ = read_rows(explainer, table, input_format, [], None)
        explainer = options.with_model(explainer, model)
    target = options.read_target(unless, explainer, "--unless")
    with working("Looking for changes"):
        return explainer.what_if_rules(rule_list, target, X=X)


def _content(answer: Any, kind: str) -> bytes:
    """Write a list of rules, or of their changes, in a format."""
    if kind == "csv":
        import polars as pl

        from suffice._io.output import table_bytes

        rules = answer.to_dict()["rules"]
        lines = [{name: value for name, value in rule.items() if name not in _NESTED} for rule in rules]
        for line in lines:
            if isinstance(line.get("adds"), dict):  # what it adds to the label of the line
                line["adds"] = line["adds"][str(line["output"])]
        return table_bytes(pl.DataFrame(lines, infer_schema_length=None, strict=False), "csv")
    if kind == "json":
        return f"{answer.to_json(ensure_ascii=False, indent=1)}\n".encode()
    return f"{answer.to_sql() if kind == 'sql' else answer}\n".encode()


DOES_NOT_HOLD = 3  # the exit code
N_SHOWN = 20  # rules of each verdict that are printed


def certify(
    explainer: options.Explainer,
    fresh: Annotated[
        str | None,
        typer.Argument(
            metavar="FRESH",
            help="Rows with outcomes that nobody has used before: a table file, or - for standard input. By default "
            "the rows that [bold]suffice fit --holdout[/] has set aside.",
        ),
    ] = None,
    rules: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="The rules to check, as JSON from [bold]suffice rules[/] or [bold]suffice explain[/]; by default the "
            "rules of the training rows.",
        ),
    ] = None,
    rule: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="A rule of your own: see the examples. Repeat the option for several."),
    ] = None,
    target: Annotated[
        str | None, options.outcome_column("The column with the outcomes; by default that of the fit.")
    ] = None,
    level: Annotated[float | None, typer.Option(help="The share that must keep the outcome; pi by default.")] = None,
    confidence: Annotated[float, typer.Option(help="The confidence of bounds and tests.")] = 0.95,
    adjust: Annotated[
        Literal["benjamini-hochberg", "holm", "none"],
        typer.Option(help="How the tests are adjusted for the number of rules."),
    ] = "benjamini-hochberg",
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 3 unless every rule is certified, not only if one is refuted.")
    ] = False,
    output: Annotated[str | None, options.output("Write all rules: .json, .csv, .parquet or .arrow.")] = None,
    pi: options.Pi = None,
    unseen: options.Unseen = None,
    ignore_extra: options.IgnoreExtra = False,
    input_format: options.InputFormat = None,
    escape_formulas: options.Formulas = True,
) -> None:
    """Check rules on rows that nobody has used before: which hold, and which no longer hold.

    A rule holds if the rows certify that it is right in at least a share of --level of the rows that it covers. It does
    not hold if the rows show the contrary. Otherwise it is undecided: it covers too few rows.

    [bold]Examples[/]

    [cyan]suffice certify loans.suffice june.csv[/]

    [cyan]suffice certify loans.suffice june.csv --rule 'income < 20000 and plan = basic then default'[/]

    [cyan]suffice rules loans.suffice --format json -o rules.json[/]

    [cyan]suffice certify loans.suffice june.csv --rules rules.json -o checked.json || echo 'look at the rules'[/]

    [bold]Exit codes[/]

    0: no rule is refuted; 3: the rows show that some rule does not hold, or, with --strict, some rule is not certified;
    2: bad input.
    """
    from suffice._io.explainer_file import load_explainer_file
    from suffice._io.output import format_of_output

    kinds, inputs = ("json", "csv", "parquet", "arrow"), [explainer, fresh, rules]
    kind = None if output is None else format_of_output(output, kinds, inputs)
    loaded = load_explainer_file(explainer, options.changed_settings(pi, None, None, unseen, ignore_extra))
    X, y = (None, None) if fresh is None else _read_fresh(loaded, fresh, target, input_format)
    with working("Checking rules"):
        what = _rules_to_check(loaded, rules, rule or [])
        checked = loaded.certify(
            what, X, y, confidence=confidence, level=level, adjust=None if adjust == "none" else adjust
        )
    _print(checked)
    if output is not None and kind is not None:
        _write(checked, output, kind, escape_formulas)
        note(f"{len(checked.rules)} rules written to {output}.")
    if checked.refuted or (strict and len(checked.certified) < len(checked.rules)):
        raise typer.Exit(DOES_NOT_HOLD)


def _rules_to_check(explainer: SufficientExplainer, path: str | None, texts: list[str]) -> list[Any]:
    from suffice._io.rule_file import read_rules
    from suffice.explaining.own_rule import rule

    if path is not None or texts:
        own: list[Any] = [rule(text, explainer) for text in texts]
        return own + ([] if path is None else read_rules(path, explainer.target_name_))
    explanations = explainer.explain(*explainer.training, sets="minimal", rules="minimal")
    return list(explanations.rules)


def _read_fresh(explainer: SufficientExplainer, path: str, target: str | None, input_format: str | None) -> Any:
    """Read the rows that have an outcome, and their outcomes."""
    from suffice._cli.rows import check_column, with_outcome
    from suffice._io.explainer_file import outcomes_of, text_columns
    from suffice._io.files import read_table

    name = target or explainer.target_name_
    frame: pl.DataFrame = read_table(path, format=input_format, text_columns=text_columns(explainer, name))
    check_column(frame.columns, name, path, "--target")
    frame = with_outcome(frame, name)
    y = outcomes_of(frame, name)
    return (frame if name in explainer.fitted_.encoding.names else frame.drop(name)), y


def _print(checked: CertifiedRules) -> None:
    from suffice.checks.certificates import line_text

    say(checked.heading)
    for rules in (checked.refuted, checked.certified, checked.undecided):
        say(*(line_text(rule) for rule in rules[:N_SHOWN]))
        if len(rules) > N_SHOWN:
            say(f"... and {len(rules) - N_SHOWN} more: {rules[0].certificate.verdict}")


def _write(checked: CertifiedRules, output: str, kind: str, escape_formulas: bool) -> None:
    import polars as pl

    from suffice._io.output import write_bytes, write_table

    if kind == "json":
        write_bytes(f"{checked.to_json(ensure_ascii=False, indent=1)}\n".encode(), output)
    else:
        columns = checked.to_columns()
        columns["outcome"] = [str(outcome) for outcome in columns["outcome"]]
        write_table(pl.DataFrame(columns), output, kind, escape_formulas=escape_formulas)
