"""What would change outcomes, as people ask for it: limits, targets, words, frames, models, and plain refusals."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from loans import ROW, ask_instead, loan_explainer, make_loans
from sklearn.ensemble import RandomForestClassifier
from test_house import count_switches

from suffice import SufficientExplainer


@pytest.fixture(scope="module")
def explainer():
    return loan_explainer()


def test_one_variable_is_enough_if_the_others_allow_it(explainer):
    answer = explainer.what_if(ROW, "good")[0]
    assert answer.best.variables == ("income",)
    assert answer.best.optimal
    [move] = answer.best.moves
    assert (move.column, move.before) == ("income", 20)
    assert move.text.startswith("raising income from 20 to at least 3")
    assert answer.best.values == {"income": move.after}
    assert answer.best.probability >= 0.8
    assert "association, not causation" in answer.text


def test_one_row_has_the_answer_that_it_has_among_others(explainer):
    row = pd.DataFrame([ROW])
    alone = explainer.what_if(row, "good")
    assert alone[0] == explainer.what_if(pd.concat([row, row], ignore_index=True), "good")[0]
    assert isinstance(alone.to_frame(), pd.DataFrame)


def test_one_row_takes_a_short_way_through_the_house(explainer):
    """Each wanted outcome was once looked up row by row: 1,752 calls from one module into another."""
    explainer.what_if(ROW, "good")  # what is kept for the next call is there
    assert len(count_switches(lambda: explainer.what_if(ROW, "good"))) <= 200


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_ordered_categories_go_up_or_down_in_their_order(library, tmp_path):
    rng = np.random.default_rng(0)
    grades = ["low", "middle", "high", "top"]
    code = rng.integers(0, 4, 400)
    y = np.where(np.isin(code, [0, 2]), "good", "bad")
    if library == "polars":
        pl = pytest.importorskip("polars")
        columns = {"grade": [grades[c] for c in code], "x": rng.random(400)}
        X = pl.DataFrame(columns, schema={"grade": pl.Enum(grades), "x": pl.Float64})
        row = X.filter(pl.col("grade") == "middle")[:1]
    else:
        X = pd.DataFrame({"grade": pd.Categorical.from_codes(code, grades, ordered=True), "x": rng.random(400)})
        row = X[X["grade"] == "middle"][:1]
    explainer = SufficientExplainer(RandomForestClassifier(10, min_samples_leaf=5, random_state=0)).fit(X, y)
    up = explainer.what_if(row, "good", direction={"grade": "up"})[0].best
    down = explainer.what_if(row, "good", direction={"grade": "down"})[0].best
    assert (str(up), str(down)) == ("changing grade from middle to high", "changing grade from middle to low")
    explainer.save(tmp_path / "grades.suffice")
    loaded = SufficientExplainer.load(tmp_path / "grades.suffice")
    assert str(loaded.what_if(row, "good", direction={"grade": "up"})[0].best) == str(up)


def test_a_bound_and_a_direction_that_leave_nothing_get_a_plain_no(explainer):
    limits = {"only": ["income"], "direction": {"income": "up"}, "bounds": {"income": (None, 15)}}
    answer = explainer.what_if(ROW, "good", **limits)[0]
    assert answer.best is None
    assert answer.lead == "No: `bounds` and `direction` leave this row no other value, so nothing can make loan good."
    both = explainer.what_if(
        ROW, "good", only=["income", "age"], direction=limits["direction"], bounds=limits["bounds"]
    )
    assert both[0].lead.startswith("No: no change of up to 1 variable makes loan good")


def test_a_column_of_a_group_keeps_to_its_direction():
    """No split separates the grades here, so that the box of the core holds all of them."""
    rng = np.random.default_rng(0)
    grades = ["low", "middle", "high", "top"]
    income = rng.random(400)
    code = np.where(income > 0.5, np.where(rng.random(400) < 0.9, 0, 3), rng.integers(0, 4, 400))
    X = pd.DataFrame({"grade": pd.Categorical.from_codes(code, grades, ordered=True), "income": income})
    forest = RandomForestClassifier(10, max_features=None, min_samples_leaf=5, random_state=0)
    explainer = SufficientExplainer(forest, groups={"job": ["grade", "income"]}).fit(
        X, np.where(income > 0.5, "a", "b")
    )
    row = X[(X["grade"] == "high")][:1]
    change = explainer.what_if(row, "a", direction={"grade": "up"})[0].best
    assert change.values["grade"] == "top"
    assert [move.text for move in change.moves if move.column == "grade"] == ["changing grade from high to top"]
    [kept] = [condition for condition in change.conditions if condition.column == "grade"]
    assert set(kept.labels) == {"high", "top"}
    assert explainer.what_if(row, "a")[0].best.values["grade"] == "low"


def test_what_moves_only_with_its_group_has_no_ends_of_the_box():
    """Sentences said "month from 2 up to at least -inf" and "day from 27 down to at least 21"."""
    rng = np.random.default_rng(0)
    days = rng.integers(0, 3650, 500)
    X = pd.DataFrame({"since": pd.Timestamp("2015-01-01") + pd.to_timedelta(days, unit="D")})
    y = np.where(X["since"].dt.year + rng.normal(0, 0.3, 500) >= 2020, "new", "old")
    explainer = SufficientExplainer(RandomForestClassifier(20, random_state=0), dates="parts").fit(X, y)
    changes = explainer.what_if(X[y == "old"][:12], "new")
    assert changes.has_change.any()
    for change in [change for answer in changes for change in answer.changes]:
        assert "inf" not in change.sentence
        for move in change.moves:
            if isinstance(move.after, int) and " between " not in move.text:
                end = int(move.text.split()[-1])
                assert end <= move.after if "at least" in move.text else end >= move.after
                assert end > move.before if move.after > move.before else end < move.before
    assert any("since.year from" in change.sentence for answer in changes for change in answer.changes)


def test_no_rows_say_so(explainer):
    assert str(explainer.what_if(make_loans()[0][:0], "good")) == "No rows."


def test_a_constant_column_is_never_changed():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.random(300), "constant": np.ones(300)})
    y = np.where(X["x"] > 0.5, "good", "bad")
    explainer = SufficientExplainer(RandomForestClassifier(10, min_samples_leaf=5, random_state=0)).fit(X, y)
    row = {"x": 0.2, "constant": 1.0}
    assert explainer.what_if(row, "good")[0].best.variables == ("x",)
    assert "None of the variables that may change" in explainer.what_if(row, "good", only=["constant"])[0].lead


def test_a_hopeless_miss_is_not_named(explainer):
    answer = explainer.what_if(ROW, "good", fixed=["income"])[0]
    assert answer.lead.endswith("No change that is allowed gives it a probability above 0.01.")


def test_the_least_change_is_predicted_as_wanted(explainer):
    X, _ = make_loans(80, seed=1)
    changes = explainer.what_if(X, "good")
    points = changes.points()
    found = changes.has_change
    assert found.sum() > 20
    assert (explainer.predict(points[found].astype({"income": float})) == "good").all()
    for answer in changes:
        if answer.best:
            row = {**answer.values, **answer.best.values}
            assert all(condition.covers([row[condition.column]])[0] for condition in answer.best.conditions)


def test_two_variables_are_named_if_both_are_needed(explainer):
    answer = explainer.what_if({**ROW, "account": "empty"}, "good")[0]
    assert set(answer.best.variables) == {"income", "account"}
    by_column = {move.column: move for move in answer.best.moves}
    assert by_column["account"].after in ("some", "much")
    assert by_column["account"].text in (
        "changing account from empty to some or much",
        "changing account from empty to much or some",
    )


def test_the_target_may_be_reached_already(explainer):
    answer = explainer.what_if({**ROW, "income": 50}, "good")[0]
    assert answer.is_reached
    assert answer.best is None
    assert answer.nearest is None
    assert "already reached" in answer.lead


def test_the_least_change_of_an_ordered_category_is_the_nearest_one():
    """Most rows in the box are at the other end."""
    rng = np.random.default_rng(0)
    grades = ["low", "mid", "high"]
    code = rng.choice(3, 500, p=[0.3, 0.2, 0.5])
    X = pd.DataFrame({"grade": pd.Categorical.from_codes(code, grades, ordered=True), "x": rng.random(500)})
    forest = RandomForestClassifier(20, max_features=None, min_samples_leaf=5, random_state=0)
    explainer = SufficientExplainer(forest).fit(X, np.where(code > 0, "good", "bad"))
    [answer] = explainer.what_if(X[code == 0][:1], "good")
    assert answer.best.sentence == "changing grade from low to mid or high"
    assert answer.best.values == {"grade": "mid"}


def test_bounds_and_directions_beyond_the_training_rows_are_named(explainer):
    """Incomes go from 10 to 59."""
    [answer] = explainer.what_if(ROW, "good", bounds={"income": (100, None)})
    note = "No training row has income at least 100 (training values range from 10 to 59), so nothing is known there."
    assert answer.notes == (note,)
    assert note in answer.text
    assert note in answer._repr_html_()
    assert answer.to_dict()["notes"] == [note]
    between = explainer.what_if(ROW, "good", bounds={"debt": (10, 20), "income": (None, 50)})[0]
    assert between.notes[0].startswith("No training row has debt between 10 and 20 (training values range from 0")
    assert len(between.notes) == 1
    [highest] = explainer.what_if({**ROW, "income": 59, "account": "empty"}, "good", direction={"income": "up"})
    assert highest.notes == ("No training row has a higher income than 59.",)
    assert explainer.what_if(ROW, "good", direction={"income": "up"})[0].notes == ()
    assert explainer.what_if(ROW, "good", fixed=["debt"], bounds={"debt": (10, 20)})[0].notes == (
        "debt stays as it is.",
    )


def test_a_plain_no_names_the_nearest_miss():
    X, y = make_loans()
    is_wrong = np.random.default_rng(0).random(len(X)) < 0.3
    noisy = np.where(is_wrong, np.where(y == "good", "bad", "good"), y)
    explainer = SufficientExplainer(RandomForestClassifier(30, min_samples_leaf=15, random_state=0)).fit(X, noisy)
    answer = explainer.what_if(ROW, "good", ["bad"], only=["income"], pi=0.99)[0]
    assert answer.best is None
    assert answer.lead.startswith("No: no change of up to 1 variable makes the outcome good with probability >= 0.99")
    assert answer.nearest is not None
    assert answer.nearest.probability < 0.9
    assert "Closest: " in answer.lead


def test_a_change_that_is_too_rare_is_said_to_be(explainer):
    answer = explainer.what_if(ROW, "good", only=["income"], min_plausibility=0.95)[0]
    assert answer.best is None
    assert answer.is_too_rare
    assert "% of similar rows fall in this range" in answer.lead
    assert answer.nearest.plausibility < 0.95


def test_directions_and_bounds_are_kept(explainer):
    assert explainer.what_if(ROW, "good", direction={"income": "down"})[0].best is None
    bounded = explainer.what_if(ROW, "good", bounds={"income": (None, 45)})[0].best
    [condition] = bounded.conditions
    assert condition.high == 45
    assert condition.high_closed
    up = explainer.what_if({**ROW, "account": "empty", "income": 50}, "good", bounds={"account": ["much"]})[0].best
    assert up.values == {"account": "much"}
    assert [c.labels for c in up.conditions] == [("much",)]


@pytest.mark.parametrize("check", ["everywhere", "mean"])
def test_ends_at_bounds_are_written_as_they_were_passed(explainer, check):
    """They are not rounded, as ends at thresholds of the forest are."""
    up = explainer.what_if(ROW, "good", only=["income"], bounds={"income": (None, 47.1)}, check=check)[0].best
    assert up.conditions[0].high == 47.1
    rich = {**ROW, "income": 50}
    down = explainer.what_if(rich, "bad", only=["income"], bounds={"income": (10.1, None)}, check=check)[0].best
    assert down.conditions[0].low == 10.1


def test_a_direction_begins_at_the_row_itself(explainer):
    answer = explainer.what_if({**ROW, "income": 50, "account": "empty"}, "good", direction={"income": "up"})[0]
    for change in answer.changes:
        for condition in change.conditions:
            if condition.column == "income":
                assert condition.low >= 50


def test_changes_do_not_overlap(explainer):
    answer = explainer.what_if({**ROW, "account": "empty"}, "good", n=5, sets="all", max_size=3)[0]
    assert len(answer.changes) >= 1
    same = [change for change in answer.changes if change.variables == answer.best.variables]
    boxes = [{c.name: c for c in change.conditions} for change in same]
    for i, first in enumerate(boxes):
        for second in boxes[i + 1 :]:
            apart = [
                name
                for name in first
                if first[name].labels is None
                and (first[name].low > second[name].high or second[name].low > first[name].high)
            ]
            labels = [n for n in first if first[n].labels and not set(first[n].labels) & set(second[n].labels)]
            assert apart or labels


def test_missing_values_may_become_known_but_not_the_other_way():
    X, y = make_loans(800)
    X["income"] = X["income"].astype(float).where(np.arange(800) % 5 > 0)
    explainer = SufficientExplainer(RandomForestClassifier(20, min_samples_leaf=5, random_state=0), pi=0.8).fit(X, y)
    known = explainer.what_if({**ROW, "income": 20.0}, "good")[0].best
    assert known is not None
    assert not any(condition.missing for condition in known.conditions)
    unknown = explainer.what_if({**ROW, "income": None}, "good", only=["income"])[0]
    assert unknown.is_reached or unknown.best is not None
    if unknown.best:
        assert unknown.best.moves[0].text.startswith("setting ")
        assert " (now missing) to at least " in unknown.best.moves[0].text


def test_the_columns_of_a_group_move_together():
    X, y = make_loans()
    wide = pd.get_dummies(X, columns=["account"], dtype=float)
    groups = {"account": [name for name in wide if name.startswith("account_")]}
    forest = RandomForestClassifier(30, min_samples_leaf=5, random_state=0)
    explainer = SufficientExplainer(forest, groups=groups, pi=0.8).fit(wide, y)
    row = wide[(X["account"] == "empty") & (X["income"] > 45)][:1]
    best = explainer.what_if(row, "good", only=["account"])[0].best
    assert best is not None
    point = {**row.iloc[0].to_dict(), **best.values}
    assert sum(point[name] for name in groups["account"]) == 1
    assert point["account_empty"] == 0


def test_numbers_have_targets_of_their_own():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"temp": rng.uniform(0, 30, 800).round(1), "wind": rng.uniform(0, 9, 800).round(1)})
    y = pd.Series(10 * X["temp"] + rng.normal(0, 5, 800), name="rides")
    explainer = SufficientExplainer(random_state=0).fit(X, y)
    row = {"temp": 10.0, "wind": 2.0}
    above = explainer.what_if(row, {"above": 200})[0]
    assert above.wanted == "at least 200"
    assert above.best.variables == ("temp",)
    assert 22 <= above.best.values["temp"] <= 25
    between = explainer.what_if(row, (150, 280))[0]
    assert between.wanted == "between 150 and 280"
    assert 15 <= between.best.values["temp"] <= 20
    more = explainer.what_if(row, {"more": 100})[0]
    assert more.wanted.startswith("at least ")
    assert more.best.variables == ("temp",)
    assert explainer.what_if(row, {"below": 80})[0].best.values["temp"] < 8
    with pytest.raises(ValueError, match="No training row has an outcome that is at least 9999"):
        explainer.what_if(row, {"above": 9999})
    with pytest.raises(ValueError, match="`target` must say which numbers are wanted"):
        explainer.what_if(row)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "god"}, "no training row has it. Did you mean 'good'"),
        ({"target": ["good", "bad"]}, "names every class"),
        ({"target": {"no": "bad"}}, "must be a class, a list of classes"),
        ({"target": "good", "fixed": ["incom"]}, "In `fixed`: Unknown variable 'incom'. Did you mean 'income'"),
        ({"target": "good", "fixed": "income"}, "`fixed` must be a list"),
        ({"target": "good", "fixed": ["age"], "only": ["age"]}, r"both name \['age'\]"),
        ({"target": "good", "fixed": ["income", "account", "age", "debt"]}, "Nothing may change"),
        ({"target": "good", "direction": {"age": "upwards"}}, "must be 'up' or 'down'"),
        ({"target": "good", "direction": {"account": "up"}}, "or list the allowed ones in `bounds`"),
        ({"target": "good", "bounds": {"age": (50, 30)}}, "contradict each other"),
        ({"target": "good", "bounds": {"age": 3}}, r"must be \(low, high\)"),
        ({"target": "good", "bounds": {"account": ["mch"]}}, "unknown category 'mch'"),
        ({"target": "good", "check": "all"}, "`check` must be"),
        ({"target": "good", "n": 0}, "`n` must be a whole number >= 1"),
        ({"target": "good", "pi": 1.5}, "`pi` must be in"),
    ],
)
def test_bad_questions_get_a_clear_sentence(explainer, options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        explainer.what_if(ROW, **options)


def test_more_variables_may_be_asked_for_than_are_needed(explainer):
    few = explainer.what_if(ROW, "good")[0]
    more = explainer.what_if(ROW, "good", min_size=2)[0]
    assert {len(change.variables) for change in few.changes} == {1}
    assert {len(change.variables) for change in more.changes} == {2}
    assert all("income" in change.variables for change in more.changes)
    # What is free has to lie in the box, too; but fewer columns are known.
    assert more.best.plausibility <= few.best.plausibility + 0.02
    with pytest.raises(ValueError, match=r"`min_size` must be at most `max_size`, got 4 and 3"):
        explainer.what_if(ROW, "good", min_size=4)
    with pytest.raises(ValueError, match=r"`min_size` must be .* variables that may change: 1 variable\."):
        explainer.what_if(ROW, "good", min_size=2, only=["income"])


def test_any_other_class_is_the_default_target(explainer):
    assert explainer.what_if(ROW)[0].wanted == "good"
    assert explainer.what_if(ROW, {"not": "bad"})[0].wanted == "good"


def test_the_model_is_asked_about_every_change():
    X, y = make_loans()
    sizes_of_calls = []

    def model(table):
        sizes_of_calls.append(len(table))
        return np.where((table["income"] > 30) & (table["account"] != "empty"), "good", "bad")

    explainer = SufficientExplainer.for_model(model, X, random_state=0)
    sizes_of_calls.clear()
    best = explainer.what_if(X[y == "bad"][:5], "good")
    confirmed = [change for answer in best for change in answer.changes]
    assert confirmed
    assert all(change.confirmed is not None and change.n_asked > 0 for change in confirmed)
    assert len(sizes_of_calls) == 2  # the present outcomes, and all changes together
    assert "moved into this range" in best[0].text or best[0].best is None
    wrong = SufficientExplainer.for_model(model, X, random_state=0)
    ask_instead(wrong, lambda table: np.full(len(table), "bad"))
    refused = wrong.what_if(X[y == "bad"][:3], "good")
    assert all(change.confirmed is False for answer in refused for change in answer.changes)
    assert any("does NOT confirm" in answer.text for answer in refused)


def test_the_model_is_asked_about_real_categories_only():
    """A change to the rare categories asked the model about the text "a rare one (...)", which it has never seen."""
    rng = np.random.default_rng(0)
    common = np.where(rng.random(400) < 0.5, "city", "village")
    place = [f"farm {i // 4}" if i < 200 else common[i] for i in range(400)]
    X = pd.DataFrame({"place": pd.Categorical(place), "size": rng.normal(size=400)})
    questions = set()

    def model(table):
        questions.update(table["place"].astype(str))
        return np.where(table["place"].astype(str).str.startswith("farm"), "far", "near")

    explainer = SufficientExplainer.for_model(model, X, random_state=0)
    change = explainer.what_if(X[300:301], "far")[0].best
    assert change.values["place"].startswith("farm")
    assert change.confirmed
    assert questions == set(place)


def test_rows_in_the_box_are_training_rows(explainer):
    X, y = make_loans()
    best = explainer.what_if(ROW, "good")[0].best
    [condition] = best.conditions
    inside = X.iloc[list(best.rows)]
    assert condition.covers(inside["income"].to_numpy()).all()
    assert best.support == len(inside)
    assert best.n_wanted == int((y.iloc[list(best.rows)] == "good").sum())


def test_the_mean_reading_reaches_the_level_among_rows(explainer):
    best = explainer.what_if(ROW, "good", check="mean", min_plausibility=0.1)[0].best
    assert best.mean >= 0.9
    assert best.plausibility >= 0.1
    assert best.check == "mean"


def test_number_of_threads_changes_nothing(explainer):
    X, _ = make_loans(20, seed=3)
    one = explainer.with_settings(n_jobs=1).what_if(X, "good")
    two = explainer.with_settings(n_jobs=2).what_if(X, "good")
    assert one.to_json() == two.to_json()


def test_a_saved_explainer_answers_the_same(explainer, tmp_path):
    X, _ = make_loans(10, seed=4)
    explainer.save(tmp_path / "loans.suffice")
    loaded = SufficientExplainer.load(tmp_path / "loans.suffice")
    assert loaded.what_if(X, "good").to_json() == explainer.what_if(X, "good").to_json()
