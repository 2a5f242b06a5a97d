import polars as pl
import pytest
from app_client import traffic_table

from suffice.app.state.opening import fit_workspace, open_files


def test_files_are_opened_for_what_they_are(mixed, tmp_path):
    saved, table = str(tmp_path / "e.suffice"), str(tmp_path / "t.csv")
    mixed.explainer.save(saved)
    mixed.frame.write_csv(table)
    assert open_files(saved)[0].first.frame.height == 400
    assert open_files(saved, table)[0].first.observed == mixed.observed
    desk, waiting = open_files(table)
    assert desk.first is None
    assert waiting.get("").frame.shape == (400, 5)
    assert open_files(table, target="traffic")[0].first.explainer.target_name_ == "traffic"
    assert open_files(None)[0].first is None
    with pytest.raises(ValueError, match=r"there is no column 'trafic' in .* Did you mean 'traffic'"):
        open_files(table, target="trafic")
    with pytest.raises(ValueError, match="is not a saved explainer"):
        open_files(table, table)
    with pytest.raises(ValueError, match="There is no file"):
        open_files(str(tmp_path / "none.suffice"))
    with pytest.raises(ValueError, match="--demo"):
        open_files(table, demo=True)


def test_a_table_is_fitted_without_rows_and_columns_that_are_left_out():
    frame = traffic_table(200).with_columns(
        traffic=pl.when(pl.int_range(200) < 50).then(None).otherwise(pl.col("traffic"))
    )
    space = fit_workspace(frame, "traffic", ["temp", "traffic"], True, "name")
    assert space.names == ("hour", "sky", "holiday")
    assert space.frame.height == len(space.observed) == 150
    assert space.name == "name"
    with pytest.raises(ValueError, match="The column 'x' is empty: there is no outcome"):
        fit_workspace(frame.with_columns(x=pl.lit(None, pl.Float64)), "x", [], True, "")
    with pytest.raises(ValueError, match="No columns are left besides the target"):
        fit_workspace(frame.select("hour", "traffic"), "traffic", ["hour"], True, "")


def test_dates_are_left_out_unless_they_are_wanted():
    days = pl.date_range(pl.date(2023, 1, 1), pl.date(2023, 4, 10), eager=True)
    frame = pl.DataFrame({"day": days, "x": range(100), "y": [i % 2 for i in range(100)]})
    assert fit_workspace(frame, "y", [], False, "").names == ("x",)
    assert fit_workspace(frame, "y", [], True, "").names == ("day", "x")
