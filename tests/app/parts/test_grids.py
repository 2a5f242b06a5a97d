import polars as pl
import pytest

from suffice.app.parts.grids import choose_rows, grid, page_of, page_response, shown, table_columns


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
