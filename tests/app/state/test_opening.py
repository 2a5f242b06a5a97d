import pytest

from suffice.app.state.opening import open_files


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
