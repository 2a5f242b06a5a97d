"""What users do on the page about one row."""

import numpy as np
import polars as pl
import pytest

from suffice.app.pages.row_inputs import (
    NO_CHANGE,
    editors,
    move,
    next_view,
    own_values,
    read_edits,
    read_value,
    shown_alpha,
    shown_values,
)
from suffice.app.state.view import View
from suffice.app.state.workspace import MAX_SEARCHED

INPUTS = {"row": 3, "find": "", "clicked_row": None, "use_pi": [], "outcome": "prediction"}


@pytest.fixture
def inputs(mixed):
    explainer = mixed.explainer
    by_class = {"levels": explainer.levels, "confidence": "0"}
    settings = {
        **by_class,
        "pi": explainer.pi_,
        "alpha": shown_alpha(explainer.fitted_),
        "candidates": [],
    }
    return {**INPUTS, **settings, "unseen": False, "tab": "row", "values": shown_values(mixed, View(row=3))}


@pytest.mark.parametrize(
    ("action", "changed", "expected"),
    [
        ("previous", {}, 2),
        ("next", {}, 4),
        ("row", {"row": 12}, 12),
        ("row", {"row": 10**6}, 399),
        ("row", {"row": ""}, 3),
        ("browser", {"clicked_row": {"rowId": "8"}}, 8),
    ],
)
def test_moves_lead_to_a_row(mixed, inputs, action, changed, expected):
    view, _ = move(mixed, View(row=3, edits={}), action, {**inputs, **changed})
    assert view.row == expected


def test_moves_stay_among_the_rows_that_match(mixed, inputs):
    matches = np.flatnonzero((mixed.frame["hour"] > 20).to_numpy())
    search = {**inputs, "find": "hour > 20"}
    view, note = move(mixed, View(row=int(matches[1])), "next", search)
    assert view.row == matches[2]
    assert note == f"{len(matches)} of 400 rows match"
    assert move(mixed, View(row=int(matches[-1])), "next", search)[0].row == matches[0]
    assert move(mixed, View(row=int(matches[0])), "previous", search)[0].row == matches[-1]
    assert move(mixed, View(row=0), "random", search)[0].row in matches
    assert move(mixed, View(row=0), "find", {**inputs, "find": "hour > 99"})[1] == "No row matches."
    old = View(row=5)
    view, note = move(mixed, old, "find", {**inputs, "find": "hours > 3"})
    assert view is old
    assert "Did you mean 'hour'?" in note.children


def test_a_move_drops_the_edits(mixed, inputs):
    view, _ = move(mixed, View(row=3, edits={"hour": 1}), "next", inputs)
    assert view == View(row=4)


def test_settings_that_are_the_explainers_own_stay_out_of_the_view(mixed, inputs):
    old = View(row=3)
    assert next_view(mixed, old, "pi", inputs) == old
    assert next_view(mixed, old, "pi", {**inputs, "pi": 0.7}) == View(row=3, pi=0.7)
    listed = next_view(mixed, old, "candidates", {**inputs, "candidates": ["sky", "temp"]})
    assert listed == View(row=3, candidates=("sky", "temp"))
    assert next_view(mixed, old, "unseen", {**inputs, "unseen": True}).unseen


def test_levels_and_confidence_are_settings(mixed, inputs):
    old = View(row=3)
    assert next_view(mixed, old, "levels", {**inputs, "levels": "same"}) == View(row=3, levels="same")
    assert next_view(mixed, View(row=3, levels="same"), "levels", {**inputs, "levels": "odds"}) == old
    assert next_view(mixed, old, "confidence", {**inputs, "confidence": "0.95"}) == View(row=3, confidence=0.95)
    assert next_view(mixed, View(row=3, confidence=0.95), "confidence", inputs) == old


def test_edits_and_tabs_make_the_next_view(mixed, inputs):
    old = View(row=3)
    values = [23, *inputs["values"][1:]]
    assert next_view(mixed, old, {"type": "value", "column": 0}, {**inputs, "values": values}).edits == {"hour": 23}
    assert next_view(mixed, old.with_(edits={"hour": 1}), "reset", inputs) == old
    assert next_view(mixed, old, "tabs", {**inputs, "tab": "rules"}).tab == "rules"
    use = {"type": "use-pi", "pi": "0.83"}
    assert next_view(mixed, old, use, {**inputs, "use_pi": [1]}) == old.with_(pi=0.83, levels="same")
    assert next_view(mixed, old, use, {**inputs, "use_pi": [None]}) == old


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


def test_a_date_is_shown_as_text(days):
    assert shown_values(days, View(row=2)) == ["2023-01-03", 2]
    assert read_value(days, 0, "2023-02-01") == "2023-02-01"


def test_candidates_come_first_and_the_others_are_folded(cancer):
    *first, folded = editors(cancer, View())
    names = [editor.children[0].children for editor in first]
    assert names == list(cancer.explainer.candidates_[:MAX_SEARCHED])
    assert folded.children[0].children == f"{30 - len(names)} other variables"


def test_long_categories_have_the_whole_width(mixed, fit_here):
    sky = pl.when(pl.col("hour") > 11).then(pl.lit("covered by clouds")).otherwise(pl.lit("clear"))
    long = fit_here(mixed.frame.with_columns(sky=sky), "traffic")
    classes = {editor.children[0].children: editor.className for editor in editors(long, View())[:-1]}
    assert classes["sky"] == "editor long"
    assert classes["hour"] == "editor"


def test_the_browser_knows_what_was_there_and_the_training_range(mixed):
    names = [editor.children[0].children for editor in editors(mixed, View())]
    known = dict(zip(names, own_values(mixed, View(row=3, edits={"hour": 1})), strict=True))
    hours, own = mixed.frame["hour"], mixed.values(3)
    ends = {"low": hours.min(), "high": hours.max(), "range": f"{hours.min()} to {hours.max()}"}
    assert known["hour"] == {"own": own["hour"], "was": str(own["hour"]), **ends}
    assert known["sky"]["was"] == own["sky"]
    assert "range" not in known["sky"]


def test_0_and_1_are_chosen_as_no_and_yes(fit_here):
    """They had a number input and a slider from 0 to 1."""
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"flag": rng.integers(0, 2, 200), "size": rng.normal(size=200)})
    workspace = fit_here(frame.with_columns(y=10.0 * frame["flag"] + frame["size"]), "y")
    view = View(row=0)
    own = workspace.values(0)["flag"]
    assert shown_values(workspace, view)[0] == str(own)
    assert [read_value(workspace, 0, shown) for shown in ("0", "1", "", "2")] == [0, 1, None, NO_CHANGE]
    assert type(read_value(workspace, 0, "1")) is int
    assert read_edits(workspace, view, [str(1 - own), *shown_values(workspace, view)[1:]]) == {"flag": 1 - own}
    assert ("'label': 'yes'" in str(editors(workspace, view)), "'label': 'no'" in str(editors(workspace, view))) == (
        True,
        True,
    )
    assert ["range" in known for known in own_values(workspace, view)].count(False) == 1
