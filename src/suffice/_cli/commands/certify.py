"""``suffice certify``: check on fresh rows which rules still hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from suffice._cli.commands import options
from suffice._cli.printing import note, say, working

if TYPE_CHECKING:
    from suffice.checks.certificates import CertifiedRules
    from suffice.explainer import SufficientExplainer

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
    target: Annotated[str | None, options.outcome_column("The column of outcomes; by default that of the fit.")] = None,
    level: Annotated[float | None, typer.Option(help="The share that must keep the outcome; pi by default.")] = None,
    confidence: Annotated[float, typer.Option(help="The confidence of bounds and tests.")] = 0.95,
    adjust: Annotated[
        Literal["benjamini-hochberg", "holm", "none"],
        typer.Option(help="How the tests are adjusted for the number of rules."),
    ] = "benjamini-hochberg",
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 3 unless every rule is certified, not only if one is refuted.")
    ] = False,
    output: Annotated[str, options.output("Write all rules: .json, .csv or .parquet.")] = "-",
    pi: options.Pi = None,
    unseen: options.Unseen = None,
    ignore_extra: options.IgnoreExtra = False,
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
    from suffice._cli.rows import read_rows
    from suffice._io.output import format_of_output

    kind = format_of_output(output, ("json", "csv", "parquet"), [explainer, fresh, rules])
    loaded = options.load(explainer, ignore_extra, pi=pi, unseen=unseen)
    part = None if fresh is None else read_rows(loaded, fresh, target=target or loaded.target_name_)
    X, y = (None, None) if part is None else (part.X, part.y)
    with working("Checking rules"):
        what = rules_to_check(loaded, rules, rule or [])
        checked = loaded.certify(
            what, X, y, confidence=confidence, level=level, adjust=None if adjust == "none" else adjust
        )
    _print(checked)
    if kind is not None:
        _write(checked, output, kind)
        note(f"{len(checked.rules)} rules written to {output}.")
    if checked.refuted or (strict and len(checked.certified) < len(checked.rules)):
        raise typer.Exit(DOES_NOT_HOLD)


def rules_to_check(explainer: SufficientExplainer, path: str | None, texts: list[str]) -> list[Any]:
    """Return the rules of a file and of texts, or those of the training rows."""
    from suffice._io.rule_file import read_rules
    from suffice.explaining.own_rule import rule

    if path is not None or texts:
        own: list[Any] = [rule(text, explainer) for text in texts]
        return own + ([] if path is None else read_rules(path, explainer.target_name_))
    explanations = explainer.explain(*explainer.training, sets="minimal", rules="minimal")
    return list(explanations.rules)


def _print(checked: CertifiedRules) -> None:
    from suffice.checks.certificates import line_text

    say(checked.heading)
    for rules in (checked.refuted, checked.certified, checked.undecided):
        say(*(line_text(rule) for rule in rules[:N_SHOWN]))
        if len(rules) > N_SHOWN:
            say(f"... and {len(rules) - N_SHOWN} more: {rules[0].certificate.verdict}")


def _write(checked: CertifiedRules, output: str, kind: str) -> None:
    import polars as pl

    from suffice._io.output import write_bytes, write_table

    if kind == "json":
        write_bytes(f"{checked.to_json(ensure_ascii=False, indent=1)}\n".encode(), output)
    else:
        columns = checked.to_columns()
        columns["outcome"] = [str(outcome) for outcome in columns["outcome"]]
        write_table(pl.DataFrame(columns), output, kind)
