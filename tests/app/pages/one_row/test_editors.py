import numpy as np
import polars as pl

from suffice.app.pages.one_row.editors import NO_CHANGE, editors, read_edits, read_value, shown_values
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


def test_long_categories_and_dates_have_the_whole_width(mixed):
    frame = mixed.frame.with_columns(sky=pl.lit("covered by clouds"), holiday=pl.col("hour") < 4)
    long = fit_workspace(
        frame.with_columns(sky=pl.when(pl.col("hour") > 5).then(pl.col("sky")).otherwise(pl.lit("clear"))),
        "traffic",
        [],
        False,
        "long",
    )
    classes = {e.children[0].children: e.className for e in editors(long, View()) if e.className}
    assert classes["sky"] == "editor long"
    assert classes["hour"] == "editor"


def test_an_editor_of_numbers_knows_the_training_range(mixed):
    stores = {}
    for editor in editors(mixed, View()):
        [store] = [child for child in editor.children if type(child).__name__ == "Store"]
        stores[editor.children[0].children] = store.data
    hours = mixed.frame["hour"]
    assert stores["hour"] == [hours.min(), hours.max(), str(hours.min()), str(hours.max())]
    assert stores["sky"] is None
