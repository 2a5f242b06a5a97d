import numpy as np
import polars as pl

from suffice.app.pages.one_row.editors import NO_CHANGE, editors, read_edits, read_value, shown_values, training_ends
from suffice.app.state.opening import fit_workspace
from suffice.app.state.view import View
from suffice.app.state.workspace import MAX_SEARCHED


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


def test_a_date_is_shown_as_text():
    days = pl.date_range(pl.date(2023, 1, 1), pl.date(2023, 12, 31), eager=True)
    frame = pl.DataFrame({"day": days, "x": np.arange(365) % 7}).with_columns(kind=days.dt.weekday() > 5)
    space = fit_workspace(frame, "kind", [], True, "days")
    assert shown_values(space, View(row=2)) == ["2023-01-03", 2]
    assert read_value(space, 0, "2023-02-01") == "2023-02-01"


def test_candidates_come_first_and_the_others_are_folded(cancer):
    *first, folded = editors(cancer, View())
    names = [editor.children[0].children for editor in first]
    assert names == list(cancer.explainer.candidates_[:MAX_SEARCHED])
    assert folded.children[0].children == f"{30 - len(names)} other variables"


def test_long_categories_have_the_whole_width(mixed):
    sky = pl.when(pl.col("hour") > 5).then(pl.lit("covered by clouds")).otherwise(pl.lit("clear"))
    long = fit_workspace(mixed.frame.with_columns(sky=sky), "traffic", [], False, "long")
    classes = {editor.children[0].children: editor.className for editor in editors(long, View())}
    assert classes["sky"] == "editor long"
    assert classes["hour"] == "editor"


def test_the_training_range_is_known_of_each_editor_of_numbers(mixed):
    names = [editor.children[0].children for editor in editors(mixed, View())]
    ends = dict(zip(names, training_ends(mixed), strict=True))
    hours = mixed.frame["hour"]
    assert ends["hour"] == [hours.min(), hours.max(), str(hours.min()), str(hours.max())]
    assert ends["sky"] is None
