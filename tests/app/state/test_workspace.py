import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.ensemble import RandomForestClassifier

from suffice import SufficientExplainer
from suffice.app.messages import reword
from suffice.app.state.view import View
from suffice.app.state.workspace import Workspace


def test_what_a_link_asks_for_and_the_table_does_not_have_is_replaced(mixed):
    view = View(row=10**6, edits={"hour": 3, "none": 1}, candidates=("none", "sky"))
    assert mixed.check(view) == View(row=399, edits={"hour": 3}, candidates=("sky",))


def test_the_first_row_shown_is_of_the_focus_class_and_has_a_set(mixed, diabetes):
    explanations = mixed.explainer.explain(mixed.frame[:200].select(mixed.names))
    focus = mixed.explainer.focus_
    wanted = [i for i, e in enumerate(explanations) if e.outcome == focus and e.is_sufficient]
    assert mixed.first_row == wanted[0] > 0
    assert diabetes.first_row == 0
    unseen = mixed.frame.with_columns(sky=pl.lit("frogs"))
    assert Workspace.of(mixed.explainer, unseen).first_row == 0
    none = Workspace.of(mixed.explainer.with_settings(pi=1.0, max_size=1, min_size=1), mixed.frame)
    assert none.first_row == 0


def test_the_first_row_shown_is_found_behind_many_rows_of_another_class(mixed):
    """It was sought among the first 200 rows only, and there was none in a table that is sorted by its classes."""
    outcomes = np.array([e.outcome for e in mixed.explainer.explain(mixed.frame.select(mixed.names), rules=None)])
    order = np.argsort(outcomes == mixed.explainer.focus_, kind="stable").tolist()
    long = mixed.frame[[*order[:100] * 4, *order]]
    first = Workspace.of(mixed.explainer, long, name="sorted").first_row
    assert mixed.explainer.explain(long[first].select(mixed.names))[0].outcome == mixed.explainer.focus_


def test_a_row_of_another_class_is_shown_first_if_none_of_the_focus_class_has_a_set(rare):
    """Row 0 was shown, which had none either."""
    explainer, X = rare.explainer.with_settings(levels="same", pi=0.9, min_size=0), rare.frame
    explanations = explainer.explain(rare.as_input(X), rules=None)
    focus, bare = explainer.focus_, [i for i, e in enumerate(explanations) if not e.is_sufficient]
    other = next(i for i, e in enumerate(explanations) if e.is_sufficient and e.outcome != focus)
    wanted = [i for i in bare if explanations[i].outcome == focus]
    assert wanted
    assert Workspace.of(explainer, X[[*wanted, other]]).first_row == len(wanted)


def test_a_workspace_answers_as_the_library_does(mixed):
    explainer = mixed.explainer
    row = mixed.frame[7].select(mixed.names)
    expected = explainer.explain(row)[0]
    explanation = mixed.explain(View(row=7))
    assert explanation.sufficient_sets == expected.sufficient_sets
    assert explanation.rule == expected.rule
    S = expected.sufficient_sets[-1].variables
    assert mixed.rule_of(View(row=7), S) == explainer.rule(row, list(S))[0]
    of_set, of_all = mixed.distribution(View(row=7))
    assert np.array_equal(of_set, explainer.predict_proba(row, list(expected.best_set.variables))[0])
    own = of_all[explainer.classes_.tolist().index(expected.outcome)]
    assert own == pytest.approx(expected.sdp_of_all)  # by the same counts
    assert of_all.sum() == pytest.approx(1)


def test_settings_of_a_view_do_not_touch_the_explainer(mixed):
    before = (mixed.explainer.pi, mixed.explainer.candidates_, mixed.explainer.fitted_)
    view = View(row=2, pi=0.6, candidates=("hour", "sky"))
    assert mixed.explainer_for(view).candidates_ == ("hour", "sky")
    assert (mixed.explainer.pi, mixed.explainer.candidates_, mixed.explainer.fitted_) == before
    frame = mixed.frame
    again = SufficientExplainer(random_state=0, pi=0.6, candidates=["hour", "sky"], dates="parts").fit(
        frame.drop("traffic"), frame["traffic"]
    )
    expected = again.explain(frame[2].select(mixed.names))[0]
    assert mixed.explain(view).sufficient_sets == expected.sufficient_sets
    assert mixed.explain(view).rule == expected.rule


@pytest.mark.parametrize(
    ("name", "value"), [("hour", 23), ("hour", 5.5), ("temp", None), ("sky", "rain"), ("holiday", True)]
)
def test_an_edited_row_is_explained_with_the_edit(mixed, name, value):
    frame = mixed.frame[7].select(mixed.names)
    edited = frame.with_columns(pl.Series(name, [value], dtype=frame.schema[name] if value is None else None))
    expected = mixed.explainer.explain(edited)[0]
    assert mixed.explain(View(row=7, edits={name: value})).to_dict() == expected.to_dict()


def test_an_unseen_category_is_refused_or_counts_as_missing(mixed):
    view = View(row=1, edits={"sky": "snow"})
    with pytest.raises(ValueError, match="not among its categories at fit") as refused:
        mixed.explain(view)
    assert "Let it count as missing under Settings." in reword(refused.value)
    as_missing = mixed.explain(View(row=1, edits={"sky": None}))
    assert mixed.explain(view.with_(unseen=True)).sufficient_sets == as_missing.sufficient_sets


def test_the_observed_outcome_is_explained_on_request_but_not_for_an_edited_row(mixed):
    wrong = next(i for i in range(400) if mixed.explain(View(row=i)).outcome == "calm")
    other = Workspace(mixed.explainer, mixed.frame, ["busy"] * 400, "other")
    assert other.explain(View(row=wrong, outcome="observed")).outcome == "busy"
    assert (
        other.explain(View(row=wrong, outcome="observed", edits={"temp": None})).prediction
        == other.explain(View(row=wrong, outcome="observed", edits={"temp": None})).outcome
    )


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("hour > 20 AND sky = rain", lambda f: (f["hour"] > 20) & (f["sky"] == "rain")),
        ("hour <= 2 and holiday = True", lambda f: (f["hour"] <= 2) & f["holiday"]),
        ("temp is missing", lambda f: f["temp"].is_null()),
        ("MIST", lambda f: f["sky"] == "mist"),
        ("traffic = busy", lambda f: f["traffic"] == "busy"),
        ("", lambda f: pl.Series([True] * f.height)),
    ],
)
def test_rows_are_found_by_conditions_or_words(mixed, text, condition):
    assert mixed.find(text).tolist() == condition(mixed.frame).arg_true().to_list()


def test_a_search_that_cannot_be_read_is_refused(mixed):
    with pytest.raises(ValueError, match="Did you mean 'hour'"):
        mixed.find("hours > 3")


def test_a_workspace_takes_arrays_and_pandas_frames():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    explainer = SufficientExplainer(RandomForestClassifier(5, random_state=0)).fit(X, X[:, 1] > 0)
    space = Workspace.of(explainer, X)
    assert space.explain(View(row=4)).best_set == explainer.explain(X[4:5])[0].best_set
    frame = pd.DataFrame({"a": X[:, 0], "b": pd.Categorical(np.where(X[:, 1] > 0, "p", "q"))})

    def model(rows):
        assert isinstance(rows, pd.DataFrame)
        assert rows["b"].dtype == "category"
        return np.where(rows["b"] == "p", "yes", "no")

    space = Workspace.of(SufficientExplainer.for_model(model, frame, random_state=0), frame)
    assert space.explain(View(row=0)).outcome == model(frame)[0]
    assert space.explain(View(row=0, edits={"b": "q"})).outcome == "no"


def test_a_table_without_a_column_of_the_explainer_is_refused(mixed):
    with pytest.raises(ValueError, match=r"missing \['sky'\]"):
        Workspace.of(mixed.explainer, mixed.frame.drop("sky"))


def test_a_date_is_edited_as_text(days):
    assert days.explain(View(row=2, edits={"day": "2023-01-07"})).values[0][1][2] == ("day.weekday", "Sat")
    with pytest.raises(ValueError, match="'soon' is not a date: write the value of 'day' as 2024-01-31"):
        days.explain(View(row=2, edits={"day": "soon"}))


def test_listed_candidates_are_searched_and_unknown_ones_dropped(mixed):
    view = mixed.check(View(row=3, candidates=("sky", "nothing", "temp")))
    assert view.candidates == ("sky", "temp")
    assert mixed.explainer_for(view).candidates_ == ("sky", "temp")
    assert mixed.explanations(view).candidates == ("sky", "temp")


def test_rows_are_called_by_a_column_that_nobody_uses(mixed):
    """The page said "row 3" although the table had a column of customers."""
    frame = mixed.frame.with_columns(pl.Series("customer", [f"{i}-AEVQX" for i in range(400)]))
    space = Workspace(mixed.explainer, frame, None, "customers")
    assert space.name_of(3) == "row 3-AEVQX (number 3)"
    assert space.explain(View(row=3)).label == "Row 3-AEVQX"
    assert mixed.ids is None
    assert mixed.name_of(3) == "row 3"
    assert mixed.explain(View(row=3)).label == "Row 3"


def test_rows_of_a_pandas_frame_are_called_by_its_index():
    X = pd.DataFrame({"a": np.arange(60) / 7, "b": np.arange(60) % 7}, index=[f"r{i}" for i in range(60)])
    explainer = SufficientExplainer(random_state=0).fit(X, X["a"] > 4)
    assert Workspace.of(explainer, X).name_of(2) == "row r2 (number 2)"
    assert Workspace.of(explainer, X.reset_index(drop=True)).ids is None


def test_a_curve_is_about_the_best_set(mixed):
    view = View(row=7)
    best = mixed.explain(view).best_set
    curve = mixed.curve(view, mixed.positions_of[best.variables[0]][0])
    assert set(curve.known) == set(best.variables)
    assert curve.curve.at_own[0] == pytest.approx(best.sdp)


def test_quality_is_out_of_bag_or_of_the_open_table(mixed):
    out_of_bag, of_table = mixed.quality(False), mixed.quality(True)
    assert out_of_bag.accuracy == pytest.approx(mixed.explainer.fidelity_)
    assert of_table.accuracy == pytest.approx(
        mixed.explainer.score(mixed.frame.select(mixed.names), mixed.frame["traffic"])
    )
    assert mixed.quality(False) is out_of_bag


def test_quality_leaves_rows_without_an_outcome_out(mixed):
    observed = [None, *mixed.observed[1:]]
    space = Workspace(mixed.explainer, mixed.frame, observed, "gap")
    assert space.quality(True).n_rows == 399
