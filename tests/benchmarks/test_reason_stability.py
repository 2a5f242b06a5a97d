"""Whether rows keep their reasons: what changes, what stays, and what is refused."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
from benchmarks.reason_study.changed import ONLY_MODEL, reason_stability, take_rows
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier

from suffice import SufficientExplainer


def table(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {"income": rng.integers(10, 90, n), "debt": rng.uniform(size=n).round(2), "age": rng.normal(size=n)}
    )
    return X, np.where((X["income"] < 40) & (X["debt"] > 0.3), "declined", "approved")


FEW = {"n_changes": 2, "random_state": 0, "progress": False}
FOREST = RandomForestClassifier(15, min_samples_leaf=5, random_state=0)


@pytest.fixture(scope="module")
def explainer():
    return SufficientExplainer(FOREST, pi=0.8, random_state=0).fit(*table())


@pytest.fixture(scope="module")
def measured(explainer):
    return reason_stability(explainer, table()[0][:80], adverse="declined", n_rows=15, **FEW)


def test_the_forest_itself_changes_with_seeds_samples_and_noise(measured):
    assert [change.kind for change in measured.changes] == ["seeds", "bootstraps", "noise"]
    assert measured.n_rows == len(measured.reasons) + sum(measured.refusals.values()) == 15
    for change in measured.changes:
        ours, shap = measured.ours(change), measured.of_shap(change)
        assert 0 < ours.n_pairs <= 2 * len(measured.reasons)
        assert ours.same_top > 0.5
        assert shap.n_pairs == ours.n_pairs
        assert set().union(*(set(row) for of in change.shap for row in of)) <= {"income", "debt", "age"}
    assert measured.shap_of == "SHAP ranks the variables of the forest itself (shap.TreeExplainer)."


def test_reasons_before_the_changes_are_those_of_the_explainer(explainer, measured):
    rows = [int(label.split()[1]) for label in measured.labels]
    reasons = explainer.reasons(table()[0][:80], adverse="declined", progress=False)
    assert measured.reasons == tuple(tuple(reason.variables[0] for reason in reasons[row].reasons) for row in rows)


def test_the_same_seed_gives_the_same_figures(explainer, measured):
    again = reason_stability(explainer, table()[0][:80], adverse="declined", n_rows=15, **FEW)
    assert again.to_dict() == measured.to_dict()
    assert again.changes[1].reasons == measured.changes[1].reasons


def test_without_noise_nothing_changes_at_the_row(explainer):
    still = reason_stability(explainer, table()[0][:40], adverse="declined", n_rows=5, scale=0.0, **FEW)
    ours = still.ours(still.changes[-1])
    assert ours.n_pairs == ours.n_same_top == ours.n_same_set == 2 * len(still.reasons)


def test_a_model_is_fitted_again_and_a_fixed_one_leaves_shap_as_it_is():
    X, y = table()
    model = HistGradientBoostingClassifier(max_iter=15, random_state=0).fit(X, y)
    explainer = SufficientExplainer.for_model(model, X, forest=FOREST, pi=0.8, random_state=0)
    found = reason_stability(explainer, X[:60], adverse="declined", training=(X, y), n_rows=8, **FEW)
    assert [change.kind for change in found.changes] == ["seeds", "bootstraps", "refits", "noise"]
    assert [change.shap_note for change in found.changes] == [ONLY_MODEL, ONLY_MODEL, "", ""]
    assert [change.shap is None for change in found.changes] == [True, True, False, False]
    assert "HistGradientBoostingClassifier" in found.shap_of


def test_outcomes_that_are_passed_stay_the_same(explainer):
    X = table()[0][:40]
    y = np.where(X["income"] < 40, "declined", "approved")
    found = reason_stability(explainer, X, y, adverse="declined", n_rows=10, **FEW)
    assert all(change.is_kept.all() for change in found.changes)


def test_a_saved_explainer_can_be_measured(explainer, tmp_path):
    explainer.save(tmp_path / "loan.suffice")
    loaded = SufficientExplainer.load(tmp_path / "loan.suffice")
    found = reason_stability(loaded, table()[0][:40], adverse="declined", n_rows=5, n_changes=1, random_state=0)
    assert found.shap is not None
    assert (
        found.reasons
        == reason_stability(
            explainer, table()[0][:40], adverse="declined", n_rows=5, n_changes=1, random_state=0
        ).reasons
    )


def test_the_page_and_the_text_say_if_shap_is_not_there(explainer, monkeypatch):
    monkeypatch.setitem(sys.modules, "shap", None)
    found = reason_stability(explainer, table()[0][:40], adverse="declined", n_rows=5, **FEW)
    assert found.shap is None
    assert found.shap_of.startswith("The package shap is not installed")
    assert all(change.shap is None for change in found.changes)


def test_a_model_that_shap_does_not_take_is_named():
    X, y = table(150)
    model = KNeighborsClassifier().fit(X, y)
    explainer = SufficientExplainer.for_model(model, X, forest=FOREST, pi=0.7, random_state=0)
    found = reason_stability(explainer, X[:60], adverse="declined", n_rows=5, **FEW)
    assert "does not take this KNeighborsClassifier" in found.shap_of


def test_progress_counts_the_changes(explainer):
    steps = []
    options = {**FEW, "progress": steps.append}
    reason_stability(explainer, table()[0][:40], adverse="declined", n_rows=3, **options)
    assert steps == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_rows": 0}, "`n_rows` must be a whole number >= 1, got 0"),
        ({"n_changes": 1.5}, "`n_changes` must be a whole number >= 1, got 1.5"),
        ({"n": 0}, "`n` must be a whole number >= 1, got 0"),
        ({"scale": -0.1}, "`scale` must be a number >= 0, got -0.1"),
        ({"training": table(30)}, "no model is explained here"),
        ({"adverse": "refused"}, "refused"),
    ],
)
def test_bad_input_is_refused(explainer, options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        reason_stability(explainer, table()[0][:20], **{"adverse": "declined", **options})


def test_rows_without_adverse_outcomes_or_reasons_are_refused(explainer):
    X = table()[0]
    with pytest.raises(ValueError, match="No row has an adverse outcome"):
        reason_stability(explainer, X[X["income"] > 60][:10], adverse="declined")
    strict = explainer.with_settings(pi=1.0)
    with pytest.raises(ValueError, match=r"None of \d+ rows with an adverse outcome has reasons: no sufficient set"):
        reason_stability(strict, X[:40], adverse="declined", n_rows=2)


def test_numbers_need_an_adverse_range_and_a_function_cannot_be_fitted_again():
    X, _ = table(150)
    numbers = SufficientExplainer(random_state=0).fit(X, X["income"] * 1.5)
    with pytest.raises(ValueError, match="`adverse` is needed for numbers"):
        reason_stability(numbers, X[:5])
    function = SufficientExplainer.for_model(lambda rows: rows["income"] > 40, X, random_state=0)
    with pytest.raises(TypeError, match="cannot be fitted again: function has no `get_params`"):
        reason_stability(function, X[:5], adverse=False, training=(X, X["income"] > 40))


def test_rows_are_taken_from_frames_and_arrays():
    X = table(5)[0]
    rows = np.array([3, 0, 3])
    assert take_rows(X, rows).to_numpy().tolist() == X.iloc[rows].to_numpy().tolist()
    assert take_rows(X, rows).index.tolist() == [0, 1, 2]
    assert take_rows(X.to_numpy(), rows).tolist() == X.iloc[rows].to_numpy().tolist()
