from suffice.app.pages.one_row.editors import NO_CHANGE, read_edits, read_value, shown_values
from suffice.app.state.view import View


def test_what_inputs_show_reads_back(mixed):
    for row in range(20):
        view = View(row=row)
        shown = shown_values(mixed, view)
        assert read_edits(mixed, view, shown) == {}
    changed = [7, 1.25, None, shown[3]]
    edits = read_edits(mixed, view, changed)
    assert edits["hour"] == 7
    assert edits["temp"] == 1.25
    assert edits["sky"] is None
    assert shown_values(mixed, view.with_(edits=edits))[:2] == [7, 1.25]
    assert read_value(mixed, 0, "-") is NO_CHANGE
    assert read_value(mixed, 2, "99") is NO_CHANGE
