"""``suffice rules``: one list of rules for all rows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from suffice._cli.commands import options
from suffice._cli.printing import note, say, working
from suffice._text import counted

if TYPE_CHECKING:
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
    min_support: Annotated[int, typer.Option(metavar="N", help="Leave out rules that cover fewer training rows.")] = 1,
    min_precision: Annotated[
        float | None, typer.Option(metavar="P", help="Leave out rules with a lower precision on the training rows.")
    ] = None,
    output: Annotated[str, options.output("Where to write; - is standard output.")] = "-",
    check: options.Check = "rows",
    pi: options.Pi = None,
    levels: options.Levels = None,
    confidence: options.Confidence = None,
    unseen: options.Unseen = None,
    ignore_extra: options.IgnoreExtra = False,
) -> None:
    """Make one list of IF-THEN rules from the rules of training rows, and measure them on these rows.

    [bold]Examples[/]

    [cyan]suffice rules loans.suffice[/]

    [cyan]suffice rules loans.suffice --max-rules 10 -o loans.sql[/]

    [cyan]suffice rules bikes.suffice summer.csv --min-support 50 --format json[/]
    """
    from suffice._io.output import format_of_output, write_bytes

    kinds, inputs = [*dict.fromkeys(_FORMATS.values())], [explainer, table]
    kind = format_of_output(output, kinds, inputs, requested=format, formats=_FORMATS) or "text"
    loaded = options.load(explainer, ignore_extra, pi=pi, levels=levels, confidence=confidence, unseen=unseen)
    params: dict[str, Any] = {"max_rules": _read_max_rules(max_rules), "min_support": min_support}
    if min_precision is not None or loaded.task_ == "regression":
        params["min_precision"] = -math.inf if min_precision is None else min_precision
    rule_list = _collect(loaded, table, check, params)
    if kind == "text" and output == "-":
        say(*str(rule_list).splitlines())
    else:
        write_bytes(_content(rule_list, kind), output)
    if output != "-":
        note(f"{counted(len(rule_list.rules_), 'rule')} written to {output}.")


def _read_max_rules(text: str) -> int | None:
    if text == "all":
        return None
    if not text.isdigit() or int(text) < 1:
        raise ValueError(f"`max_rules` must be a whole number >= 1 or all, got {text}.")
    return int(text)


def _collect(explainer: SufficientExplainer, table: str | None, check: Any, params: dict[str, Any]) -> Any:
    """Collect the rules of training rows, or of the rows of a table with their observed outcomes if it has them."""
    from suffice._cli.rows import open_rows
    from suffice.rule_lists.estimators import GlobalRulesClassifier, GlobalRulesRegressor

    kind: Any = GlobalRulesClassifier if explainer.task_ == "classification" else GlobalRulesRegressor
    if table is None:
        with working("Collecting rules"):
            return kind.from_explainer(explainer, check=check, **params)
    opened = open_rows(explainer, table, outcomes="preferred", sets="minimal", rules="minimal", check=check)
    explanations = opened.explain_all().explanations
    with working("Collecting rules"):
        return kind.from_explanations(explanations, **params)


def _content(rule_list: RuleList, kind: str) -> bytes:
    """Write a list of rules in a format."""
    if kind == "csv":
        import polars as pl

        from suffice._io.output import table_bytes

        rules = rule_list.to_dict()["rules"]
        lines = [{name: value for name, value in rule.items() if name not in _NESTED} for rule in rules]
        for line in lines:
            if isinstance(line.get("adds"), dict):  # what it adds to the label of the line
                line["adds"] = line["adds"][str(line["output"])]
        return table_bytes(pl.DataFrame(lines, infer_schema_length=None, strict=False), "csv")
    if kind == "json":
        return f"{rule_list.to_json(ensure_ascii=False, indent=1)}\n".encode()
    return f"{rule_list.to_sql() if kind == 'sql' else rule_list}\n".encode()
