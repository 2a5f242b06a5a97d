"""The result table: one line for each explained row, with the same columns and types whatever library holds it.

The command writes it, ``Explanations.to_frame("rows")`` returns it, and Spark, Dask and the web app give the same
columns. Where the rows come from is left to the callers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from suffice._table.frames import load_pandas, make_frame
from suffice.changes.values import Change, Changes, RowChanges
from suffice.explaining.certificate import Certificate
from suffice.explaining.explanations import Explanations
from suffice.explaining.rule import Rule
from suffice.reasons.values import Reasons

ValueType: TypeAlias = Literal["bool", "int", "float", "str", "bytes", "list of str"]
"""What a column of the result table holds. Any value but a list may be missing."""

# "outcome" stands for the type of the outcomes: numbers, or labels of one type.
RESULT_COLUMNS: dict[str, ValueType | Literal["outcome"]] = {
    "outcome": "outcome",
    "low": "float",
    "high": "float",
    "prediction": "outcome",
    "forest_agrees": "bool",
    "is_sufficient": "bool",
    "best_set": "list of str",
    "size": "int",
    "sdp": "float",
    "sdp_lower": "float",
    "sdp_of_all": "float",
    "lift": "float",
    "rule": "str",
    "rule_sql": "str",
    "support": "int",
    "coverage": "float",
    "precision": "float",
    "optimal": "bool",
    "n_sufficient_sets": "int",
    "is_search_complete": "bool",
}
# Further columns if the rules have certificates: the rows checked, the share that keeps the outcome, its lower bound,
# and whether the rule is certified.
CHECK_COLUMNS: dict[str, ValueType] = {
    "n_checked": "int",
    "checked_share": "float",
    "checked_lower": "float",
    "is_certified": "bool",
}
# The columns before these, where the rows have an order, and where they have identifiers.
ROW, ID = "row", "id"
# The columns of a frame with one line for each sufficient set.
SETS_COLUMNS = (
    ROW,
    ID,
    "outcome",
    "low",
    "high",
    "variables",
    "size",
    "sdp",
    "sdp_lower",
    "sdp_of_all",
    "lift",
    "is_sufficient",
    "is_minimal",
    "forest_agrees",
    "rule",
)

_OF_RULE: dict[str, Callable[[Rule], Any]] = {
    "rule": attrgetter("sentence"),
    "rule_sql": Rule.to_sql,
    "support": attrgetter("support"),
    "coverage": attrgetter("coverage"),
    "precision": attrgetter("precision"),
    "optimal": attrgetter("optimal"),
}
_OF_CERTIFICATE: dict[str, Callable[[Certificate], Any]] = {
    "n_checked": attrgetter("n_rows"),
    "checked_share": attrgetter("share"),
    "checked_lower": attrgetter("lower"),
    "is_certified": attrgetter("is_certified"),
}
_TYPE_OF_KIND: dict[str, ValueType] = {
    "b": "bool",
    "i": "int",
    "u": "int",
    "f": "float",
    "U": "str",
    "S": "bytes",
}


# --- values ---------------------------------------------------------------------------------------------------------


def result_columns(explanations: Explanations) -> dict[str, list[Any]]:
    """Return the best sets and the rules of all rows, column by column.

    No `Explanation` is made: that would take ten times as long.
    """
    n_rows, intervals, rules = len(explanations), explanations.intervals, explanations.rules
    low, high = ([None] * n_rows, [None] * n_rows) if intervals is None else intervals.T.tolist()
    best_sets = explanations.best_sets
    certificates = [None if rule is None else rule.certificate for rule in rules]
    return {
        "outcome": explanations.outcomes.tolist(),
        "low": low,
        "high": high,
        "prediction": explanations.predictions.tolist(),
        "forest_agrees": explanations.forest_agrees.tolist(),
        "is_sufficient": explanations.has_set.tolist(),
        "best_set": [list(best_set.variables) for best_set in best_sets],
        "size": [len(best_set.variables) for best_set in best_sets],
        "sdp": [best_set.sdp for best_set in best_sets],
        "sdp_lower": explanations.lower_bounds.tolist(),
        "sdp_of_all": explanations.answers.sdps_of_all.tolist(),
        "lift": [None if math.isnan(lift) else lift for lift in explanations.lifts.tolist()],
        **{name: [None if rule is None else of_rule(rule) for rule in rules] for name, of_rule in _OF_RULE.items()},
        "n_sufficient_sets": explanations.n_sets.tolist(),
        "is_search_complete": list(explanations.is_search_complete),
        **{
            name: [None if certificate is None else of(certificate) for certificate in certificates]
            for name, of in (_OF_CERTIFICATE if explanations.is_checked else {}).items()
        },
    }


def check_kept(names: Iterable[str], option: str, *, with_row: bool) -> None:
    """Refuse columns of the user's table that have the name of a column of the result table."""
    for name in names:
        if name in RESULT_COLUMNS or name in CHECK_COLUMNS or (with_row and name == ROW):
            raise ValueError(f"{option}: {name!r} is also the name of a column of the result, so rename it.")


# --- types ----------------------------------------------------------------------------------------------------------


def value_type_of(labels: NDArray[Any]) -> ValueType:
    """Return what a column of outcomes or predictions holds."""
    return _TYPE_OF_KIND[labels.dtype.kind]


def result_types(
    prediction: ValueType, outcome: ValueType | None = None, *, is_checked: bool = False
) -> dict[str, ValueType]:
    """Return the type of each column of the result table."""
    of_outcomes = {"outcome": prediction if outcome is None else outcome, "prediction": prediction}
    types = {name: of_outcomes[name] if kind == "outcome" else kind for name, kind in RESULT_COLUMNS.items()}
    return {**types, **CHECK_COLUMNS} if is_checked else types


def polars_types() -> dict[ValueType, Any]:
    """Return the types of polars."""
    import polars as pl

    return {
        "bool": pl.Boolean(),
        "int": pl.Int64(),
        "float": pl.Float64(),
        "str": pl.String(),
        "bytes": pl.Binary(),
        "list of str": pl.List(pl.String()),
    }


def arrow_types() -> dict[ValueType, Any]:
    """Return the types of Arrow."""
    import pyarrow as pa

    return {
        "bool": pa.bool_(),
        "int": pa.int64(),
        "float": pa.float64(),
        "str": pa.string(),
        "bytes": pa.binary(),
        "list of str": pa.list_(pa.string()),
    }


def pandas_types() -> dict[ValueType, Any]:
    """Return the types of pandas that need no other library."""
    pd = load_pandas()
    return {
        "bool": pd.BooleanDtype(),
        "int": pd.Int64Dtype(),
        "float": np.dtype(np.float64),
        "str": pd.StringDtype(),
        "bytes": np.dtype(object),
        "list of str": np.dtype(object),
    }


def pandas_arrow_types() -> dict[ValueType, Any]:
    """Return types of pandas none of which is ``object``, which Dask takes for text. They need pyarrow."""
    pd, types = load_pandas(), arrow_types()
    return {
        **pandas_types(),
        "str": pd.StringDtype("pyarrow"),
        "bytes": pd.ArrowDtype(types["bytes"]),
        "list of str": pd.ArrowDtype(types["list of str"]),
    }


def spark_types() -> dict[ValueType, Any]:
    """Return the types of Spark."""
    from pyspark.sql import types

    return {
        "bool": types.BooleanType(),
        "int": types.LongType(),
        "float": types.DoubleType(),
        "str": types.StringType(),
        "bytes": types.BinaryType(),
        "list of str": types.ArrayType(types.StringType()),
    }


# --- frames ---------------------------------------------------------------------------------------------------------


def result_frame(
    explanations: Explanations,
    library: str | None = None,
    *,
    positions: Sequence[int] | None = None,
    kept: Mapping[str, Any] | None = None,
    outcome_type: ValueType | None = None,
) -> Any:
    """Return the result table as a frame."""
    kept = kept or {}
    check_kept(kept, "`kept`", with_row=True)
    named = {ID: list(explanations.ids)} if explanations.ids is not None and not kept else {}
    numbered = explanations.positions.tolist() if positions is None else list(positions)
    columns = {ROW: numbered, **named, **result_columns(explanations)}
    outcome = value_type_of(explanations.outcomes) if outcome_type is None else outcome_type
    prediction, is_checked = value_type_of(explanations.predictions), explanations.is_checked
    types: dict[str, ValueType] = {ROW: "int", ID: "str", **result_types(prediction, outcome, is_checked=is_checked)}
    library = explanations.library if library is None else library
    made = {"polars": _polars_columns, "pyarrow": _arrow_columns}.get(library or "", _pandas_columns)(columns, types)
    made = {ROW: made.pop(ROW), **kept, **made}
    if library == "polars":
        import polars as pl

        return pl.DataFrame([column.alias(name) for name, column in made.items()])
    if library == "pyarrow":
        import pyarrow as pa

        return pa.table(made)
    return load_pandas().DataFrame({name: getattr(column, "array", column) for name, column in made.items()})


def sets_frame(explanations: Explanations) -> Any:
    """Return one line for each sufficient set as a frame of the kind of the explained table."""
    columns: dict[str, list[Any]] = {name: [] for name in SETS_COLUMNS}
    for explanation in explanations:
        low, high = explanation.interval or (None, None)
        minimal = explanation.minimal_sets
        for i, s in enumerate(explanation.sufficient_sets or (explanation.best_set,)):
            rule = explanation.rules[i] if i < len(explanation.rules) else None
            line = {
                ROW: explanation.row,
                ID: explanation.id,
                "outcome": explanation.outcome,
                "low": low,
                "high": high,
                "variables": s.variables,
                "size": len(s.variables),
                "sdp": s.sdp,
                "sdp_lower": math.nan if s.lower is None else s.lower,
                "sdp_of_all": explanation.sdp_of_all,
                "lift": s.sdp / explanation.base_rate if explanation.base_rate else math.nan,
                "is_sufficient": explanation.is_sufficient,
                "is_minimal": s in minimal,
                "forest_agrees": explanation.forest_agrees,
                "rule": None if rule is None else str(rule),
            }
            for name, value in line.items():
                columns[name].append(value)
    if explanations.intervals is None:
        del columns["low"], columns["high"]
    if explanations.ids is None:
        del columns[ID]
    return make_frame(columns, explanations.library)


def _polars_columns(columns: Mapping[str, list[Any]], types: Mapping[str, ValueType]) -> dict[str, Any]:
    import polars as pl

    dtypes = polars_types()
    made = {}
    for name, values in columns.items():
        dtype = dtypes[types[name]]
        if types[name] != "list of str":
            made[name] = pl.Series(name, values, dtype=dtype)
            continue
        # polars takes 10 microseconds for each list, as much as for all other columns together, and few lists differ.
        place_of = {distinct: place for place, distinct in enumerate(dict.fromkeys(map(tuple, values)))}
        distinct_lists = pl.Series(name, [list(distinct) for distinct in place_of], dtype=dtype)
        made[name] = distinct_lists.gather([place_of[tuple(value)] for value in values])
    return made


def _arrow_columns(columns: Mapping[str, list[Any]], types: Mapping[str, ValueType]) -> dict[str, Any]:
    import pyarrow as pa

    dtypes = arrow_types()
    return {name: pa.array(values, dtypes[types[name]]) for name, values in columns.items()}


def _pandas_columns(columns: Mapping[str, list[Any]], types: Mapping[str, ValueType]) -> dict[str, Any]:
    pd, dtypes = load_pandas(), pandas_types()
    return {name: pd.Series(values, dtype=dtypes[types[name]]) for name, values in columns.items()}


def change_columns(changes: Changes) -> dict[str, list[Any]]:
    """Return one line for each change."""
    lines = [
        {**_of_row(answer), "change": i + 1, **_of_change(change)}
        for answer in changes
        for i, change in enumerate(answer.changes)
    ]
    return _columns(lines, [*_row_names(changes), "change", *_CHANGE])


def row_columns(changes: Changes) -> dict[str, list[Any]]:
    """Return one line for each row, with its best change."""
    lines = []
    for answer in changes:
        nearest = answer.nearest
        lines.append(
            {
                **_of_row(answer),
                "is_reached": answer.is_reached,
                "n_changes": len(answer.changes),
                **(_of_change(answer.best) if answer.best is not None else {}),
                "nearest": None if nearest is None else nearest.sentence,
                "nearest_probability": None if nearest is None else nearest.probability,
                "nearest_plausibility": None if nearest is None else nearest.plausibility,
                "is_complete": answer.is_complete,
                "text": answer.lead,
            }
        )
    names = [*_row_names(changes), "is_reached", "n_changes", *_CHANGE, "nearest", "nearest_probability"]
    return _columns(lines, [*names, "nearest_plausibility", "is_complete", "text"])


_CHANGE = (
    "variables",
    "size",
    "what_changes",
    "box",
    "probability",
    "mean",
    "plausibility",
    "optimal",
    "cdp",
    "support",
    "n_wanted",
    "cost",
    "by",
    "confirmed",
    "confirmed_share",
)


def _row_names(changes: Changes) -> list[str]:
    ids = ["id"] if any(answer.id is not None for answer in changes) else []
    return ["row", *ids, "outcome", "target"]


def _of_row(answer: RowChanges) -> dict[str, Any]:
    return {"row": answer.row, "id": answer.id, "outcome": answer.outcome, "target": answer.wanted}


def _of_change(change: Change) -> dict[str, Any]:
    return {
        "variables": ", ".join(change.variables),
        "size": len(change.variables),
        "what_changes": change.sentence,
        "box": change.box_text,
        **{name: getattr(change, name) for name in _CHANGE[4:]},
    }


def _columns(lines: list[dict[str, Any]], names: list[str]) -> dict[str, list[Any]]:
    return {name: [line.get(name) for line in lines] for name in names}


def reason_row_columns(reasons: Reasons) -> dict[str, list[Any]]:
    """Return one line for each row."""
    columns: dict[str, list[Any]] = {"row": [answer.row for answer in reasons]}
    if any(answer.id is not None for answer in reasons):
        columns["id"] = [answer.id for answer in reasons]
    columns |= {
        "outcome": [answer.outcome for answer in reasons],
        "status": [answer.status for answer in reasons],
        "refusal": [None if answer.refusal is None else answer.refusal.kind for answer in reasons],
        "refusal_text": [None if answer.refusal is None else answer.refusal.sentence for answer in reasons],
        "n_reasons": [len(answer.reasons) for answer in reasons],
        "best_set": [None if a.best_set is None else ", ".join(a.best_set.variables) for a in reasons],
        "sdp": [None if answer.best_set is None else answer.best_set.sdp for answer in reasons],
    }
    for i in range(reasons.settings.n):
        for name in ("code", "text"):
            columns[f"{name}_{i + 1}"] = [
                getattr(answer.reasons[i], name) if i < len(answer.reasons) else None for answer in reasons
            ]
    return columns


def reason_columns(reasons: Reasons) -> dict[str, list[Any]]:
    """Return one line for each reason."""
    lines = [(answer, reason) for answer in reasons for reason in answer.reasons]
    columns: dict[str, list[Any]] = {"row": [answer.row for answer, _ in lines]}
    if any(answer.id is not None for answer in reasons):
        columns["id"] = [answer.id for answer, _ in lines]
    return columns | {
        "outcome": [answer.outcome for answer, _ in lines],
        "rank": [reason.rank for _, reason in lines],
        "code": [reason.code for _, reason in lines],
        "text": [reason.text for _, reason in lines],
        "variables": [", ".join(reason.variables) for _, reason in lines],
        "bounds": ["; ".join(reason.bounds) for _, reason in lines],
        "loss": [reason.loss for _, reason in lines],
    }
