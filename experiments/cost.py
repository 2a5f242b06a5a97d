"""What an explained row costs by each method: the seconds that the other experiments took, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.runs import write_json

ORDER = ("switch", "lxi", "rule", "cdf", "moons", "attributions", "lucas", "anchors", "stability", "bike", "global")


def gather(summaries: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """List the seconds per row of all methods.

    Parameters
    ----------
    summaries : mapping of str to mapping
        The experiments' summaries by name.

    Returns
    -------
    list of dict
        Experiment, method, mean and spread of the seconds.
    """
    rows = []
    for name in ORDER:
        for method, seconds in summaries.get(name, {}).get("seconds", {}).items():
            rows.append({"experiment": name, "method": method, "mean": seconds["mean"], "spread": seconds["spread"]})
    return rows


def write_cost(summaries: Mapping[str, Mapping[str, Any]], folder: Path) -> Sequence[Mapping[str, Any]]:
    """Write the table as JSON."""
    rows = gather(summaries)
    write_json(folder / "cost.json", {"experiment": "cost", "seconds_per_row": rows})
    return rows
