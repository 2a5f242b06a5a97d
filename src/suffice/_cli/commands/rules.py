"""``suffice rules``: one list of rules for all rows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from suffice._cli.commands.options import (
    CheckOption,
    ConfidenceOption,
    ExplainerArgument,
    IgnoreOption,
    InputOption,
    LevelsOption,
    PiOption,
    UnseenOption,
    changed_settings,
)
from suffice._cli.printing import note, say_numbered, working
from suffice.words import counted

if TYPE_CHECKING:
    from suffice.explainer import SufficientExplainer
    from suffice.explanations import Explanations
    from suffice.rule_lists import RuleList

EXAMPLES = (
    "[bold]Examples[/]\n\n[cyan]suffice rules loans.suffice --simplify 0.01[/]\n\n"
    "[cyan]suffice rules loans.suffice --format sql -o loans.sql[/]\n\n"
    "[cyan]suffice rules bikes.suffice summer.csv --min-support 50 --format json[/]"
)
N_MANY = 20  # more rules than this come with a hint how to get fewer


def rules(
    explainer: ExplainerArgument,
    table: Annotated[
        str | None,
        typer.Argument(metavar="TABLE", help="The rows whose rules are collected; by default the training rows."),
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
        float | None, typer.Option(metavar="P", help="Leave out rules with a lower precision on the training rows.")
    ] = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where to write; - is standard output.")
    ] = "-",
    check: CheckOption = "rows",
    pi: PiOption = None,
    levels: LevelsOption = None,
    confidence: ConfidenceOption = None,
    unseen: UnseenOption = None,
    ignore_extra: IgnoreOption = False,
    input_format: InputOption = None,
) -> None:
    """Collect the rules of all training rows in one list of IF-THEN rules, and measure them on these rows."""
    from suffice._io.explainer_file import load_explainer_file
    from suffice._io.output import check_output, write_bytes
    from suffice.global_rules import GlobalRulesClassifier, GlobalRulesRegressor

    if output != "-":
        check_output(output)
    loaded = load_explainer_file(explainer, changed_settings(pi, levels, confidence, unseen, ignore_extra))
    explanations = _explain(loaded, table, input_format, check)
    is_class = explanations.about["task"] == "classification"
    least = 0.0 if is_class else -math.inf
    with working("Collecting rules"):
        rule_list = (GlobalRulesClassifier if is_class else GlobalRulesRegressor).from_explanations(
            explanations, min_support=min_support, min_precision=least if min_precision is None else min_precision
        )
        if simplify is not None:
            rule_list = rule_list.simplify(simplify)
    if format == "text" and output == "-":
        say_numbered(rule_list.heading, [str(line) for line in rule_list.rules_])
    else:
        write_bytes(f"{_text(rule_list, format)}\n".encode(), output)
    n_rules = len(rule_list.rules_)
    if output != "-":
        note(f"{counted(n_rules, 'rule')} written to {output}.")
    if n_rules > N_MANY and simplify is None:
        note(f"For fewer than these {n_rules} rules, which are nearly as good, add --simplify 0.01")


def _explain(explainer: SufficientExplainer, table: str | None, input_format: str | None, check: str) -> Explanations:
    """Explain the training rows, or the rows of a table: their observed outcomes, if it has them."""
    from suffice._cli.questions import explain_whole, open_question

    options: dict[str, Any] = {"sets": "minimal", "rules": "minimal", "check": check}
    if table is None:
        return explainer.explain(*explainer.training, **options)
    question = open_question(explainer, table, input_format=input_format, prefer_observed=True, **options)
    return explain_whole(question).explanations


def _text(rule_list: RuleList, format: str) -> str:  # noqa: A002
    if format == "sql":
        return rule_list.to_sql()
    return str(rule_list) if format == "text" else rule_list.to_json(ensure_ascii=False, indent=1)
