"""Tables on a page: one look for all grids, and the pages, filters and orders that a grid requests from the server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import dash_ag_grid as dag
import numpy as np
import polars as pl
from dash.exceptions import PreventUpdate

from suffice._text import format_value

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.app.state.workspace import Workspace

_THEME = {
    "function": "themeQuartz.withParams({backgroundColor: 'var(--panel)', foregroundColor: 'var(--text)', "
    "accentColor: 'var(--blue)', borderColor: 'var(--line)', headerBackgroundColor: 'var(--panel)', "
    "browserColorScheme: 'inherit', fontFamily: 'inherit', fontSize: 13, headerFontSize: 12, "
    "headerFontWeight: 600, spacing: 5, wrapperBorder: false, wrapperBorderRadius: 0, rowHoverColor: 'var(--faint)', "
    "selectedRowBackgroundColor: 'var(--chosen)'})"
}
_NUMBER: dict[str, Any] = {
    "equals": lambda c, v, _: c == v,
    "notEqual": lambda c, v, _: c != v,
    "lessThan": lambda c, v, _: c < v,
    "lessThanOrEqual": lambda c, v, _: c <= v,
    "greaterThan": lambda c, v, _: c > v,
    "greaterThanOrEqual": lambda c, v, _: c >= v,
    "inRange": lambda c, v, w: (c >= v) & (c <= w),
}
_TEXT: dict[str, Any] = {
    "contains": lambda c, v: c.str.contains(v, literal=True),
    "notContains": lambda c, v: ~c.str.contains(v, literal=True),
    "equals": lambda c, v: c == v,
    "notEqual": lambda c, v: c != v,
    "startsWith": lambda c, v: c.str.starts_with(v),
    "endsWith": lambda c, v: c.str.ends_with(v),
}


def grid(name: str, columns: Sequence[Mapping[str, Any]], height: int, **options: Any) -> dag.AgGrid:
    """Make a grid with the look of the app."""
    own = options.pop("dashGridOptions", {})
    return dag.AgGrid(
        id=name,
        columnDefs=[dict(column) for column in columns],
        defaultColDef={"sortable": True, "resizable": True, "minWidth": 70, **options.pop("defaultColDef", {})},
        dashGridOptions={
            "theme": _THEME,
            "suppressCellFocus": False,
            "animateRows": False,
            "suppressFieldDotNotation": True,
            "enableBrowserTooltips": True,
            **own,
        },
        style={"height": height, "width": "100%"},
        className="",
        **options,
    )


CHIPS = {"cellRenderer": "Chips", "cellDataType": False}
WRAPPED = {"flex": 1, "wrapText": True, "autoHeight": True}
SELECT_ONE = {"rowSelection": {"mode": "singleRow", "checkboxes": False, "enableClickSelection": True}}


def right_column(field: str, title: str, width: int, formatter: str = "") -> dict[str, Any]:
    """Define a column of numbers; `formatter` is the field with their texts."""
    column = {"field": field, "headerName": title, "width": width, "type": "rightAligned"}
    return {**column, "valueFormatter": {"function": f"params.data.{formatter}"}} if formatter else column


def table_grid(name: str, frame: pl.DataFrame, height: int, n_blocks: int, **options: Any) -> dag.AgGrid:
    """Make a grid that requests the pages of a table from the server."""
    own = {"cacheBlockSize": 100, "maxBlocksInCache": n_blocks}
    key = {"rowModelType": "infinite", "getRowId": "params.data.key"}
    return grid(name, table_columns(frame), height, dashGridOptions=own, **key, **options)


def table_columns(frame: pl.DataFrame) -> list[dict[str, Any]]:
    """Define the columns of a grid that shows a table a page at a time."""
    columns: list[dict[str, Any]] = [{"field": "row", "headerName": "row", "pinned": "left", "width": 86}]
    for i, (name, dtype) in enumerate(frame.schema.items()):
        kind = "agNumberColumnFilter" if dtype.is_numeric() else "agTextColumnFilter"
        columns.append(
            {
                "field": f"c{i}",
                "headerName": name,
                "filter": kind,
                "width": _width(name, frame[name]),
                "filterParams": {"maxNumConditions": 2, "buttons": ["reset"]},
                **({"type": "rightAligned"} if dtype.is_numeric() else {}),
            }
        )
    return columns


def _width(name: str, column: pl.Series) -> int:
    """Return a width in pixels that the name and most values of a column need."""
    n = 0 if column.dtype.is_numeric() else max((len(str(value)) for value in column.head(100).to_list()), default=0)
    return int(np.clip(max(9 * len(name) + 60, 7 * n + 40), 90, 220))


def choose_rows(
    frame: pl.DataFrame, filters: Mapping[str, Any] | None, order: Sequence[Mapping[str, Any]] | None
) -> NDArray[np.intp]:
    """Select the rows that pass the filters of a grid, in its order."""
    numbered = frame.clone()
    numbered.columns = [f"c{i}" for i in range(frame.width)]
    numbered = numbered.with_row_index("row")
    for field, grid_filter in (filters or {}).items():
        if field in numbered.columns and field != "row":
            numbered = numbered.filter(_expression(field, numbered.schema[field], grid_filter))
    sorted_by = [one for one in order or () if one.get("colId") in numbered.columns]
    if sorted_by:
        fields, descending = [one["colId"] for one in sorted_by], [one.get("sort") == "desc" for one in sorted_by]
        numbered = numbered.sort(fields, descending=descending, nulls_last=True, maintain_order=True)
    return numbered["row"].to_numpy().astype(np.intp)


def _expression(name: str, dtype: Any, grid_filter: Mapping[str, Any]) -> pl.Expr:
    if "conditions" in grid_filter:
        parts = [_expression(name, dtype, one) for one in grid_filter["conditions"]]
        return pl.any_horizontal(parts) if grid_filter.get("operator") == "OR" else pl.all_horizontal(parts)
    column, kind = pl.col(name), grid_filter.get("type")
    if kind == "blank":
        return column.is_null()
    if kind == "notBlank":
        return column.is_not_null()
    if dtype.is_numeric():
        passes = _NUMBER[str(kind)](column, grid_filter.get("filter"), grid_filter.get("filterTo"))
    else:
        text = column.cast(pl.String, strict=False).str.to_lowercase()
        passes = _TEXT[str(kind)](text, str(grid_filter.get("filter", "")).lower())
    expression: pl.Expr = passes.fill_null(False)
    return expression


def page_of(frame: pl.DataFrame, rows: NDArray[np.intp]) -> list[dict[str, Any]]:
    """Write rows of a table for a grid."""
    chosen = frame[rows.tolist()]
    lines = zip(rows.tolist(), chosen.iter_rows(), strict=True)
    return [
        {"key": str(row), "row": row, **{f"c{i}": cell_value(value) for i, value in enumerate(values)}}
        for row, values in lines
    ]


def page_response(workspace: Workspace, request: Mapping[str, Any] | None) -> dict[str, Any]:
    """Answer a grid that requests a page of the table."""
    if request is None:
        raise PreventUpdate
    rows = choose_rows(workspace.frame, request.get("filterModel"), request.get("sortModel"))
    page = rows[int(request["startRow"]) : int(request["endRow"])]
    return {"rowData": page_of(workspace.frame, page), "rowCount": len(rows)}


def cell_value(value: Any) -> Any:
    """Prepare a value for a cell; numbers stay numbers."""
    if value is None or (isinstance(value, float) and not np.isfinite(value)):
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return float(format_value(value)) if isinstance(value, float) else value
