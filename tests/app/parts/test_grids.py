import polars as pl
import pytest

from suffice.app.parts.grids import cell_value, choose_rows, grid, page_of, page_response, table_columns


@pytest.mark.parametrize(
    ("filters", "condition"),
    [
        ({"c0": {"type": "greaterThan", "filter": 20}}, lambda f: f["hour"] > 20),
        ({"c0": {"type": "inRange", "filter": 3, "filterTo": 5}}, lambda f: f["hour"].is_between(3, 5)),
        ({"c1": {"type": "blank"}}, lambda f: f["temp"].is_null()),
        ({"c2": {"type": "contains", "filter": "IS"}}, lambda f: f["sky"] == "mist"),
        ({"c3": {"type": "equals", "filter": "true"}}, lambda f: f["holiday"]),
        (
            {
                "c0": {
                    "operator": "OR",
                    "conditions": [{"type": "equals", "filter": 1}, {"type": "equals", "filter": 2}],
                }
            },
            lambda f: f["hour"].is_in([1, 2]),
        ),
        ({"c99": {"type": "blank"}}, lambda f: pl.Series([True] * f.height)),
    ],
)
def test_the_filters_of_a_grid_choose_rows(mixed, filters, condition):
    assert choose_rows(mixed.frame, filters, None).tolist() == condition(mixed.frame).arg_true().to_list()


def test_the_order_of_a_grid_orders_rows(mixed):
    rows = choose_rows(mixed.frame, None, [{"colId": "c1", "sort": "desc"}, {"colId": "row", "sort": "asc"}])
    temps = mixed.frame["temp"][rows.tolist()].to_list()
    known = [t for t in temps if t is not None]
    assert known == sorted(known, reverse=True)
    assert temps[len(known) :] == [None] * (len(temps) - len(known))
    assert page_of(mixed.frame, rows[:1])[0]["row"] == rows[0]


def test_a_page_of_the_table_has_the_rows_that_a_grid_requests(mixed):
    request = {"startRow": 1, "endRow": 3, "filterModel": {"c0": {"type": "equals", "filter": 7}}, "sortModel": []}
    response = page_response(mixed, request)
    rows = (mixed.frame["hour"] == 7).arg_true().to_list()
    assert response["rowCount"] == len(rows) > 3
    assert [line["row"] for line in response["rowData"]] == rows[1:3]
    assert [line["c0"] for line in response["rowData"]] == [7, 7]


def test_rows_are_chosen_by_position_whatever_the_columns_are_called():
    """A column with the name of the added index was taken for the positions of the rows."""
    frame = pl.DataFrame({"__row": [7, 8, 9], "^a$": [3, 1, 2], "*": ["x", "y", "x"]})
    assert choose_rows(frame, {"c2": {"type": "equals", "filter": "x"}}, None).tolist() == [0, 2]
    assert choose_rows(frame, {"c1": {"type": "lessThan", "filter": 3}}, None).tolist() == [1, 2]
    assert choose_rows(frame, None, [{"colId": "c1", "sort": "asc"}]).tolist() == [1, 2, 0]


def test_columns_are_numbered_and_filtered_by_their_type():
    frame = pl.DataFrame({"a.b": [1.5], "text": ["x"]})
    columns = table_columns(frame)
    assert [column["field"] for column in columns] == ["row", "c0", "c1"]
    assert [column.get("filter") for column in columns[1:]] == ["agNumberColumnFilter", "agTextColumnFilter"]


@pytest.mark.parametrize(
    ("value", "cell"), [(None, None), (float("nan"), None), (True, "True"), (3, 3), (0.1 + 0.2, 0.3), ("a", "a")]
)
def test_cells_hold_what_json_can_hold(value, cell):
    assert cell_value(value) == cell
    assert type(cell_value(value)) is type(cell)


def test_options_of_one_grid_are_added_to_those_of_all():
    one = grid("name", [{"field": "a"}], 100, dashGridOptions={"animateRows": True}, defaultColDef={"minWidth": 5})
    assert one.dashGridOptions["animateRows"] is True
    assert one.dashGridOptions["suppressFieldDotNotation"] is True
    assert one.defaultColDef == {"sortable": True, "resizable": True, "minWidth": 5}
