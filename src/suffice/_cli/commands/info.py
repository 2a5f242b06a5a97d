"""``suffice info``: describe a saved explainer."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from suffice._cli.commands import options
from suffice._cli.printing import describe_fit, listed, say, say_lines
from suffice._text import counted


def info(
    explainer: options.Explainer,
    format: Annotated[  # noqa: A002
        Literal["text", "json"], typer.Option("--format", "-f", help="Text, or JSON.")
    ] = "text",
) -> None:
    """Describe a saved explainer.

    [bold]Examples[/]

    [cyan]suffice info bikes.suffice[/]

    [cyan]suffice info bikes.suffice --format json[/]
    """
    from suffice._io.explainer_file import load_explainer_file
    from suffice._io.saved import read_origin
    from suffice._io.sources import format_bytes
    from suffice.checks.quality import text_of_focus

    loaded = load_explainer_file(explainer)
    about = loaded.describe() | read_origin(explainer)
    size = Path(explainer).stat().st_size
    if format == "json":
        content = {"file": explainer, "bytes": size, **about}
        say(json.dumps(_without_nan(content), ensure_ascii=False, indent=1))
        return
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


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
