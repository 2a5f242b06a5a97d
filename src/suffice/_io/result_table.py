"""Result tables: one line for each explained row, with the same columns and types whatever library holds it.

The command writes them, ``to_frame`` returns them, and Spark, Dask and the web app give the same columns. Also here:
the tables with one line for each set, change or reason. Where the rows come from is left to the callers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter, methodcaller
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from suffice._table.frames import load_pandas, make_frame
from suffice.explaining.certificate import CHECKED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.changes.values import Change, Changes, RowChanges
    from suffice.explaining.explanations import Explanations
    from suffice.reasons.values import Reasons, RowReasons

ValueType: TypeAlias = Literal["bool", "int", "float", "str", "bytes", "list of str"]
"""What a column of a result table holds. Any value but a list may be missing."""
VALUE_TYPES: tuple[ValueType, ...] = ("bool", "int", "float", "str", "bytes", "list of str")

# "outcome" stands for the type of the outcomes: numbers, or labels of one type. No `Explanation` is made: that would
# take ten times as long.
_READ: dict[str, tuple[ValueType | Literal["outcome"], Callable[[Explanations], list[Any]]]] = {
    "outcome": ("outcome", lambda e: e.outcomes.tolist()),
    "low": ("float", lambda e: [None] * len(e) if e.intervals is None else e.intervals[:, 0].tolist()),
    "high": ("float", lambda e: [None] * len(e) if e.intervals is None else e.intervals[:, 1].tolist()),
    "prediction": ("outcome", lambda e: e.predictions.tolist()),
    "forest_agrees": ("bool", lambda e: e.forest_agrees.tolist()),
    "is_sufficient": ("bool", lambda e: e.has_set.tolist()),
    "best_set": ("list of str", lambda e: [list(best_set.variables) for best_set in e.best_sets]),
    "size": ("int", lambda e: [len(best_set.variables) for best_set in e.best_sets]),
    "sdp": ("float", lambda e: [best_set.sdp for best_set in e.best_sets]),
    "sdp_lower": ("float", lambda e: e.lower_bounds.tolist()),
    "sdp_of_all": ("float", lambda e: e.sdps_of_all.tolist()),
    "is_contested": ("bool", lambda e: e.is_contested.tolist()),
    "lift": ("float", lambda e: [None if math.isnan(lift) else lift for lift in e.lifts.tolist()]),
    "base_rate": ("float", lambda e: e.base_rates.tolist()),
    "rule": ("str", lambda e: _of_known(e.rules, attrgetter("sentence"))),
    "rule_sql": ("str", lambda e: _of_known(e.rules, methodcaller("to_sql"))),
    "support": ("int", lambda e: _of_known(e.rules, attrgetter("support"))),
    "coverage": ("float", lambda e: _of_known(e.rules, attrgetter("coverage"))),
    "precision": ("float", lambda e: _of_known(e.rules, attrgetter("precision"))),
    "optimal": ("bool", lambda e: _of_known(e.rules, attrgetter("optimal"))),
    "n_sufficient_sets": ("int", lambda e: e.n_sets.tolist()),
    "is_search_complete": ("bool", lambda e: list(e.is_search_complete)),
}
RESULT_COLUMNS = {name: value_type for name, (value_type, _) in _READ.items()}
# Further columns if the rules have certificates: the rows checked, the share that keeps the outcome, its lower bound,
# and whether the rule is certified.
_CHECK_TYPES: tuple[ValueType, ...] = ("int", "float", "float", "bool")
CHECK_COLUMNS = dict(zip(CHECKED, _CHECK_TYPES, strict=True))
# The columns before these: the position of a row, and its identifier if it has one.
ROW, ID = "row", "id"
SETS_COLUMNS = (
    *(ROW, ID, "outcome", "low", "high", "variables", "size", "sdp", "sdp_lower", "sdp_of_all", "lift"),
    *("base_rate", "is_sufficient", "is_minimal", "forest_agrees", "rule"),
)
_OF_ROW = ("outcome", "sdp_of_all", "base_rate", "is_sufficient", "forest_agrees")
_CHANGE_COLUMNS = (
    *("variables", "size", "what_changes", "box", "probability", "mean", "plausibility", "optimal", "cdp", "support"),
    *("n_wanted", "by", "confirmed", "confirmed_share"),
)
# One line for each row, with its best change. Outcomes are text: labels and numbers share one column.
CHANGED_ROW_COLUMNS = (
    *("outcome", "target", "is_reached", "n_changes", *_CHANGE_COLUMNS),
    *("nearest", "nearest_probability", "nearest_plausibility", "is_complete", "text"),
)


# --- types ----------------------------------------------------------------------------------------------------------


def value_type_of(labels: NDArray[Any]) -> ValueType:
    """Return what a column of outcomes or predictions holds."""
    types: dict[str, ValueType] = {"b": "bool", "i": "int", "u": "int", "f": "float", "S": "bytes"}
    return types.get(labels.dtype.kind, "str")


def result_types(
    prediction: ValueType, outcome: ValueType | None = None, *, is_checked: bool = False
) -> dict[str, ValueType]:
    """Return the type of each column of the explanations."""
    outcomes = {"outcome": prediction if outcome is None else outcome, "prediction": prediction}
    types = {name: outcomes[name] if kind == "outcome" else kind for name, kind in RESULT_COLUMNS.items()}
    return {**types, **CHECK_COLUMNS} if is_checked else types


def types_in(library: str) -> dict[ValueType, Any]:
    """Return the types of a library.

    Those of "pandas" need no other library. None of "pandas with pyarrow" is ``object``, which Dask takes for text.
    """
    types: list[Any]
    if library == "polars":
        import polars as pl

        types = [pl.Boolean(), pl.Int64(), pl.Float64(), pl.String(), pl.Binary(), pl.List(pl.String())]
    elif library == "pyarrow":
        import pyarrow as pa

        types = [pa.bool_(), pa.int64(), pa.float64(), pa.string(), pa.binary(), pa.list_(pa.string())]
    elif library == "spark":
        from pyspark.sql import types as spark

        types = [spark.BooleanType(), spark.LongType(), spark.DoubleType(), spark.StringType(), spark.BinaryType()]
        types.append(spark.ArrayType(spark.StringType()))
    else:
        pd = load_pandas()
        types = [pd.BooleanDtype(), pd.Int64Dtype(), np.dtype(np.float64), pd.StringDtype(), *[np.dtype(object)] * 2]
        if library == "pandas with pyarrow":
            arrow = types_in("pyarrow")
            types[3:] = [pd.StringDtype("pyarrow"), *(pd.ArrowDtype(arrow[kind]) for kind in VALUE_TYPES[4:])]
    return dict(zip(VALUE_TYPES, types, strict=True))


# --- explanations ---------------------------------------------------------------------------------------------------


def result_columns(explanations: Explanations) -> dict[str, list[Any]]:
    """Return the best sets and the rules of all rows, column by column."""
    certificates = _of_known(explanations.rules, attrgetter("certificate"))
    checks = CHECKED.items() if explanations.is_checked else ()
    return {
        **{name: read(explanations) for name, (_, read) in _READ.items()},
        **{name: _of_known(certificates, attrgetter(field)) for name, field in checks},
    }


def _of_known(values: Iterable[Any], read: Callable[[Any], Any]) -> list[Any]:
    return [None if value is None else read(value) for value in values]


def check_kept(names: Iterable[str], option: str, *, with_row: bool) -> None:
    """Refuse columns of the user's table that have the name of a column of the result table."""
    for name in names:
        if name in RESULT_COLUMNS or name in CHECK_COLUMNS or (with_row and name == ROW):
            raise ValueError(f"{option}: {name!r} is also the name of a column of the result, so rename it.")


def result_frame(
    explanations: Explanations,
    library: str | None = None,
    *,
    kept: Mapping[str, Any] | None = None,
    outcome_type: ValueType | None = None,
) -> Any:
    """Return the best sets and the rules of all rows as a frame."""
    kept = kept or {}
    ids = {ID: list(explanations.ids)} if explanations.ids is not None and not kept else {}
    outcome = value_type_of(explanations.outcomes) if outcome_type is None else outcome_type
    prediction, is_checked = value_type_of(explanations.predictions), explanations.is_checked
    types: dict[str, ValueType] = {ROW: "int", ID: "str", **result_types(prediction, outcome, is_checked=is_checked)}
    library = (explanations.library if library is None else library) or "pandas"
    columns = {ROW: explanations.positions.tolist(), **ids, **result_columns(explanations)}
    proofs = [None if rule is None or rule.proof is None else rule.proof.verdict for rule in explanations.rules]
    if any(proofs):
        columns["proof"], types["proof"] = proofs, "str"
    made = {name: _make_column(values, types[name], library) for name, values in columns.items()}
    made = {ROW: made.pop(ROW), **kept, **made}
    if library == "polars":
        import polars as pl

        return pl.DataFrame([column.alias(name) for name, column in made.items()])
    if library == "pyarrow":
        import pyarrow as pa

        return pa.table(made)
    return load_pandas().DataFrame({name: getattr(column, "array", column) for name, column in made.items()})


def _make_column(values: list[Any], value_type: ValueType, library: str) -> Any:
    dtype = types_in(library)[value_type]
    if library == "pyarrow":
        import pyarrow as pa

        return pa.array(values, dtype)
    if library != "polars":
        return load_pandas().Series(values, dtype=dtype)
    import polars as pl

    if value_type != "list of str":
        return pl.Series("", values, dtype=dtype)
    # polars takes 10 microseconds for each list, as much as for all other columns together, and few lists differ.
    place_of = {distinct: place for place, distinct in enumerate(dict.fromkeys(map(tuple, values)))}
    distinct_lists = pl.Series("", [list(distinct) for distinct in place_of], dtype=dtype)
    return distinct_lists.gather([place_of[tuple(value)] for value in values])


def sets_frame(explanations: Explanations) -> Any:
    """Return one line for each sufficient set as a frame of the kind of the explained table."""
    lines = []
    for explanation in explanations:
        low, high = explanation.interval or (None, None)
        minimal = explanation.minimal_sets
        for i, s in enumerate(explanation.sufficient_sets or (explanation.best_set,)):
            rule = explanation.rules[i] if i < len(explanation.rules) else None
            lines.append(
                {
                    ROW: explanation.row,
                    ID: explanation.id,
                    **{name: getattr(explanation, name) for name in _OF_ROW},
                    "low": low,
                    "high": high,
                    "variables": s.variables,
                    "size": len(s.variables),
                    "sdp": s.sdp,
                    "sdp_lower": math.nan if s.lower is None else s.lower,
                    "lift": s.sdp / explanation.base_rate if explanation.base_rate else math.nan,
                    "is_minimal": s in minimal,
                    "rule": None if rule is None else str(rule),
                }
            )
    absent = {
        *(("low", "high") if explanations.intervals is None else ()),
        *((ID,) if explanations.ids is None else ()),
    }
    return make_frame(_columns(lines, [name for name in SETS_COLUMNS if name not in absent]), explanations.library)


def _columns(lines: Sequence[Mapping[str, Any]], names: Iterable[str]) -> dict[str, list[Any]]:
    return {name: [line.get(name) for line in lines] for name in names}


# --- changes and reasons --------------------------------------------------------------------------------------------


def change_columns(changes: Changes) -> dict[str, list[Any]]:
    """Return one line for each change."""
    lines = [
        {**_changed_row(answer), "change": i, **_change(change)}
        for answer in changes
        for i, change in enumerate(answer.changes, start=1)
    ]
    return _columns(lines, [*_row_names(changes), "outcome", "target", "change", *_CHANGE_COLUMNS])


def changed_row_columns(changes: Changes) -> dict[str, list[Any]]:
    """Return one line for each row, with its best change."""
    lines = []
    for answer in changes:
        nearest = answer.nearest
        lines.append(
            {
                **_changed_row(answer),
                "is_reached": answer.is_reached,
                "n_changes": len(answer.changes),
                **({} if answer.best is None else _change(answer.best)),
                "nearest": getattr(nearest, "sentence", None),
                "nearest_probability": getattr(nearest, "probability", None),
                "nearest_plausibility": getattr(nearest, "plausibility", None),
                "is_complete": answer.is_complete,
                "text": answer.lead,
            }
        )
    return _columns(lines, [*_row_names(changes), *CHANGED_ROW_COLUMNS])


def _row_names(answers: Changes | Reasons) -> list[str]:
    return [ROW, ID] if any(answer.id is not None for answer in answers) else [ROW]


def _changed_row(answer: RowChanges) -> dict[str, Any]:
    return {ROW: answer.row, ID: answer.id, "outcome": answer.outcome, "target": answer.wanted}


def _change(change: Change) -> dict[str, Any]:
    texts = {"variables": ", ".join(change.variables), "what_changes": change.sentence, "box": change.box_text}
    rest = {name: getattr(change, name) for name in _CHANGE_COLUMNS if name not in (*texts, "size")}
    return {**texts, "size": len(change.variables), **rest}


def reason_columns(reasons: Reasons) -> dict[str, list[Any]]:
    """Return one line for each reason."""
    lines = [
        {
            **_reasoned_row(answer),
            **{name: getattr(reason, name) for name in ("rank", "code", "text", "loss")},
            "variables": ", ".join(reason.variables),
            "bounds": "; ".join(reason.bounds),
        }
        for answer in reasons
        for reason in answer.reasons
    ]
    names = ["outcome", "rank", "code", "text", "variables", "bounds", "loss"]
    return _columns(lines, [*_row_names(reasons), *names])


def reasoned_row_columns(reasons: Reasons) -> dict[str, list[Any]]:
    """Return one line for each row, with its codes and texts."""
    codes = [f"{name}_{i}" for i in range(1, reasons.settings.n + 1) for name in ("code", "text")]
    lines = []
    for answer in reasons:
        refusal, best = answer.refusal, answer.best_set
        values = [value for reason in answer.reasons for value in (reason.code, reason.text)]
        lines.append(
            {
                **_reasoned_row(answer),
                "status": answer.status,
                "refusal": None if refusal is None else refusal.kind,
                "refusal_text": None if refusal is None else refusal.sentence,
                "n_reasons": len(answer.reasons),
                "best_set": None if best is None else ", ".join(best.variables),
                "sdp": None if best is None else best.sdp,
                **dict(zip(codes, values, strict=False)),
            }
        )
    names = ["outcome", "status", "refusal", "refusal_text", "n_reasons", "best_set", "sdp", *codes]
    return _columns(lines, [*_row_names(reasons), *names])


def _reasoned_row(answer: RowReasons) -> dict[str, Any]:
    return {ROW: answer.row, ID: answer.id, "outcome": answer.outcome}
