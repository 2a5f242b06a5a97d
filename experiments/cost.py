"""The cost of an explained row with each method: the seconds that the other experiments took, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from experiments.runs import write_json


def gather(summaries: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """List the seconds per row of all methods, in the order of the summaries.

    Parameters
    ----------
    summaries : mapping of str to mapping
        The experiments' summaries by name.

    Returns
    -------
    list of dict
        Experiment, method, and the seconds: their median, mean, spread and values over seeds.
    """
    return [
        {"experiment": name, "method": method, **seconds}
        for name, summary in summaries.items()
        for method, seconds in summary["seconds"].items()
    ]


def write_cost(summaries: Mapping[str, Mapping[str, Any]], folder: Path) -> None:
    """Write the table as JSON."""
    write_json(folder / "cost.json", {"experiment": "cost", "seconds_per_row": gather(summaries)})
