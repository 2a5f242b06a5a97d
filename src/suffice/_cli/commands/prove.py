"""``suffice prove``: whether rules hold at every point, on the trees of the model itself."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from suffice._cli.commands import options
from suffice._cli.commands.certify import DOES_NOT_HOLD, rules_to_check
from suffice._cli.printing import say, working

if TYPE_CHECKING:
    from suffice.explainer import SufficientExplainer


def prove(
    explainer: options.Explainer,
    model: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="The model, as its library saves it: XGBoost .json or .ubj, LightGBM .txt, CatBoost .json.",
        ),
    ],
    rows: Annotated[
        str | None,
        typer.Argument(metavar="ROWS", help="The rows whose rules are proven, or -; by default the training rows."),
    ] = None,
    rules: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="The rules to prove instead, as JSON from [bold]suffice rules[/]."),
    ] = None,
    rule: Annotated[
        list[str] | None,
        typer.Option(metavar="RULE", help="A rule of your own, as 'income < 20 then refuse'; may be repeated."),
    ] = None,
    classes: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="The classes in the order of the model's numbers; a file holds only these."),
    ] = None,
    certain: Annotated[
        bool, typer.Option("--certain", help="Find the variables of each of ROWS that fix the model's decision.")
    ] = False,
    max_seconds: Annotated[float, typer.Option(help="The time for one rule or row.")] = 10.0,
    json: Annotated[bool, typer.Option("--json", help="Print JSON, not sentences.")] = False,
    n_rows: options.Limit = None,
) -> None:
    """Prove which rules hold at every point, not only at the rows: on the trees of the model itself.

    A proof is about the model, not about the world, and about values that the training rows have. If a rule has an
    exception, the exit code is 3.

    [bold]Examples[/]

    [cyan]suffice prove loans.suffice --model model.json[/]

    [cyan]suffice prove loans.suffice --model model.txt --classes refuse,grant --rule 'income < 20000 then refuse'[/]

    [cyan]suffice prove loans.suffice new.csv --model model.json --certain[/]
    """
    from suffice._cli.rows import read_rows

    if certain and rows is None:
        raise ValueError("--certain needs ROWS: the rows whose decisions are to be fixed.")
    loaded = options.load(explainer)
    read = _read_model(loaded, model, classes)
    frame = None if rows is None else read_rows(loaded, rows, limit=n_rows, outcomes="unused").X
    with working("Proving"):
        if certain:
            answers: Any = loaded.certain_reasons(frame, read, max_seconds=max_seconds)
        else:
            is_of_rows = frame is not None and rules is None and not rule
            what = loaded.explain(frame, rules="minimal") if is_of_rows else rules_to_check(loaded, rules, rule or [])
            answers = loaded.prove(what, read, max_seconds=max_seconds)
    say(answers.to_json(ensure_ascii=False, indent=1) if json else str(answers))
    if not certain and any(proof.verdict == "refuted" for proof in answers.proofs):
        raise typer.Exit(DOES_NOT_HOLD)


def _read_model(explainer: SufficientExplainer, path: str, classes: str | None) -> Any:
    """Read a model from a file, with the classes of the explainer's outcomes."""
    import numpy as np

    from suffice._io.model_file import read_model_file

    model = read_model_file(path, explainer.training[0])
    if model.classes is None:
        return model
    own, known = model.classes.tolist(), {str(label): label for label in explainer.classes_.tolist()}
    names = options.read_names(classes) if classes is not None else [str(label) for label in own]
    if len(names) != len(own) or not {*names} <= {*known}:
        raise ValueError(f"--classes must name the model's classes {own}, in this order, as {', '.join(known)}.")
    return replace(model, classes=np.array([known[name] for name in names]))
