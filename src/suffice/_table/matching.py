"""The columns of a later table, found by the names of the columns at fit."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from suffice.errors import did_you_mean

MAX_LISTED = 50  # names that an error lists


def match_columns(names: Sequence[str], fitted: Sequence[str], extra: str | Collection[str]) -> list[int]:
    """Find the columns of the training table in another table.

    Parameters
    ----------
    names : sequence of str
        The columns of the table.
    fitted : sequence of str
        The columns of the training table.
    extra : {"error", "ignore"} or collection of str
        What to do with other columns: refuse them, ignore them, or ignore those of these names.

    Returns
    -------
    list of int
        For each column of the training table its position in `names`.
    """
    # Sets, and each made once: with 40,000 columns, lists take minutes.
    position_of = {name: i for i, name in enumerate(names)}
    known, ignored = set(fitted), set(names if extra == "ignore" else () if extra == "error" else extra)
    missing = [name for name in fitted if name not in position_of]
    unexpected = [name for name in names if name not in known]
    refused = [name for name in unexpected if name not in ignored]
    if missing or refused:
        near = did_you_mean(missing[0], unexpected) if missing else " With extra_columns='ignore' they are left out."
        raise ValueError(
            f"`X` has {len(names)} columns, there were {len(fitted)} at fit: missing {_listed(missing)}, unexpected "
            f"{_listed(unexpected if missing else refused)}.{near}"
        )
    return [position_of[name] for name in fitted]


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
    return f"{names[:MAX_LISTED]}{more}"
