"""What SufficientExplainer answers.

Bad input is in test_explainer_input.py, other settings in test_explainer_settings.py, and what needs no search in
test_conditional.py.
"""

from __future__ import annotations

import copy
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from itertools import chain, combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.feature_selection import SelectFromModel
from small_explainers import CLASSES, FRAME, NAMES, NUMBERS, ROWS, X, answers, classifier, regressor

from suffice import SufficientExplainer
from suffice.errors import SearchSizeWarning

# --- sets ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sets", ["all", "minimal"])
@pytest.mark.parametrize(
    "options", [{}, {"min_size": 0}, {"max_size": 1}, {"min_size": 2, "pi": 0.6}, {"pi": 1.0, "alpha": 0.05}]
)
def test_explanations_are_what_a_search_by_sdp_finds(explainer, options, sets):
    explainer = copy.deepcopy(explainer).set_params(**options)
    names, pi = explainer.candidates_, explainer.explain(ROWS[:1]).pi
    sizes = range(explainer.min_size, (explainer.max_size or len(names)) + 1)
    every = list(chain.from_iterable(combinations(names, size) for size in sizes))
    sdps = np.array([explainer.sdp(ROWS, S) for S in every])
    for i, explanation in enumerate(explainer.explain(ROWS, sets=sets)):
        enough = {frozenset(S): sdp for S, sdp in zip(every, sdps[:, i], strict=True) if sdp >= pi}
        enough = {S: sdp for S, sdp in enough.items() if not any(T < S for T in enough)}
        if sets == "minimal":
            enough = {S: sdp for S, sdp in enough.items() if len(S) == min(map(len, enough))}
        sdp_of_set = {frozenset(s.variables): s.sdp for s in explanation.sufficient_sets}
        assert sdp_of_set == pytest.approx(enough)
        assert explanation.is_sufficient == bool(enough)
        order = [(len(s.variables), -s.sdp) for s in explanation.sufficient_sets]
        assert order[1:] == sorted(order[1:])
        assert not order or order[0][0] == min(order)[0]  # the best set is one of the smallest
        if not enough:
            # The best set of a level that is not far below the highest SDP.
            assert sdps[:, i].max() - 0.07 < explanation.best_set.sdp <= sdps[:, i].max() + 1e-12


# --- outcomes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("check", ["rows", "everywhere"])
def test_the_rules_alone_are_those_of_the_explanations(explainer, check):
    explainer = explainer.with_settings(pi=0.85)
    for y in (None, explainer.predict(ROWS)):
        rules = explainer.explain(ROWS, y, sets="minimal", check=check).rules
        assert explainer.rules_of(ROWS, y, check=check) == rules
        assert any(rules)


def test_without_outcomes_the_predictions_are_explained(explainer):
    predicted = explainer.predict(ROWS)
    assert list(explainer.explain(ROWS)) == list(explainer.explain(ROWS, predicted))
    np.testing.assert_array_equal(explainer.sdp(ROWS, [0]), explainer.sdp(ROWS, [0], predicted))
    assert [e.outcome for e in explainer.explain(ROWS)] == predicted.tolist()


def test_without_outcomes_the_radius_is_around_the_predictions(of_numbers):
    explainer = copy.deepcopy(of_numbers).set_params(radius=3.0)
    predicted = explainer.predict(ROWS)
    np.testing.assert_array_equal(explainer.interval(ROWS), np.c_[predicted - 3, predicted + 3])
    assert list(explainer.explain(ROWS)) == list(explainer.explain(ROWS, predicted))


LABELS = [
    np.array([0, 1, 2]),
    np.array([-3, 0, 7], dtype=np.int8),
    np.array([2, 5, 9], dtype=np.uint64),
    np.array([0.0, 1.0, 2.0]),
    np.array(["low", "mid", "top"]),
    np.array(["low", "mid", "top"], dtype=object),
    np.array([False, False, True]),
    np.array([False, False, True], dtype=object),
]


@pytest.mark.parametrize(
    "wrap", [np.asarray, list, pd.Series, lambda y: pd.Series(y, index=range(7, 157)).astype("category")]
)
@pytest.mark.parametrize("labels", LABELS)
def test_labels_of_any_kind_are_explained_alike(labels, wrap):
    y = labels[CLASSES]
    explainer = classifier().fit(X, wrap(y))
    assert explainer.task_ == "classification"
    assert explainer.classes_.tolist() == sorted(set(labels.tolist()))
    explanations = explainer.explain(ROWS, wrap(y)[:12])
    assert [e.outcome for e in explanations] == y[:12].tolist()
    assert [type(e.outcome) for e in explanations] == [type(label) for label in y[:12].tolist()]
    ranks = (
        np.unique(y.astype(str), return_inverse=True)[1]
        if labels.dtype.kind in "UO"
        else np.unique(y, return_inverse=True)[1]
    )
    np.testing.assert_array_equal(
        explainer.sdp(ROWS, [0], wrap(y)[:12]), classifier().fit(X, ranks).sdp(ROWS, [0], ranks[:12])
    )


# --- parameters ------------------------------------------------------------------------------------------------------


def test_parameters_set_after_fit_take_effect(explainer):
    explainer = copy.deepcopy(explainer)
    for options in ({"pi": 0.5}, {"pi": 0.99}, {"max_size": 1}, {"max_size": None, "min_size": 3}):
        explainer.set_params(**options)
        fitted_so = clone(explainer).fit(X, CLASSES if explainer.task_ == "classification" else NUMBERS)
        assert list(explainer.explain(ROWS)) == list(fitted_so.explain(ROWS))
        assert explainer.explain(ROWS).pi == explainer.pi


def test_wrong_parameters_set_after_fit_are_refused(explainer):
    with pytest.raises(ValueError, match=r"`pi` must be in \(0, 1\], got 2."):
        copy.deepcopy(explainer).set_params(pi=2).explain(ROWS)


@pytest.mark.parametrize("n_jobs", [1, 2, 3, -1, -2, -100, None])
def test_the_number_of_threads_changes_nothing(explainer, n_jobs):
    y = CLASSES if explainer.task_ == "classification" else NUMBERS
    assert answers(clone(explainer).set_params(n_jobs=n_jobs).fit(X, y)) == answers(explainer)


# --- names and groups ------------------------------------------------------------------------------------------------


def test_columns_of_an_array_are_numbered(of_classes):
    assert of_classes.variable_names_ == ("x0", "x1", "x2", "x3", "x4")
    assert not hasattr(of_classes, "feature_names_in_")
    assert of_classes.n_features_in_ == 5


@pytest.mark.parametrize("frame", [FRAME, pytest.importorskip("polars").from_pandas(FRAME)])
def test_columns_of_a_frame_keep_their_names(frame, of_classes):
    explainer = classifier().fit(frame, CLASSES)
    assert explainer.variable_names_ == tuple(NAMES)
    assert list(explainer.feature_names_in_) == NAMES
    rows = frame[:12]
    np.testing.assert_array_equal(explainer.sdp(rows, ["hue", "speed"]), of_classes.sdp(ROWS, [0, 2]))
    for named, numbered in zip(explainer.explain(rows), of_classes.explain(ROWS), strict=True):
        assert [name for name, _ in named.values] == NAMES
        as_numbered = {tuple(f"x{NAMES.index(name)}" for name in s.variables) for s in named.sufficient_sets}
        assert as_numbered == {s.variables for s in numbered.sufficient_sets}


GROUPS = {"look": ["day", "hue"]}


def test_a_group_is_one_variable(of_classes):
    explainer = classifier(groups=GROUPS).fit(FRAME, CLASSES)
    assert explainer.variable_names_ == ("speed", "load", "look", "dust")
    assert set(explainer.candidates_) == {"speed", "load", "look"}
    np.testing.assert_array_equal(explainer.sdp(FRAME, ["look", "load"]), of_classes.sdp(X, [1, 2, 3]))
    np.testing.assert_array_equal(explainer.sdp(FRAME, [2, 1]), of_classes.sdp(X, [1, 2, 3]))
    values = dict(explainer.explain(FRAME[:1])[0].values)
    assert values["look"] == (("hue", X[0, 2]), ("day", X[0, 3]))


def test_a_group_of_columns_is_searched_as_one():
    explanations = regressor(groups=GROUPS, pi=0.7).fit(FRAME, NUMBERS).explain(FRAME[:40])
    held = {name for e in explanations for s in e.sufficient_sets for name in s.variables}
    assert "look" in held
    assert held <= {"speed", "load", "look"}


def test_a_group_by_position_is_the_group_by_name():
    by_name, by_position = (classifier(groups=g).fit(FRAME, CLASSES) for g in (GROUPS, {"look": (2, 3)}))
    assert list(by_name.explain(FRAME[:12])) == list(by_position.explain(FRAME[:12]))


def test_missing_values_are_explained():
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)
    explainer = classifier().fit(holes, CLASSES)
    np.testing.assert_array_equal(explainer.predict_proba(holes), explainer.forest_.predict_proba(holes))
    np.testing.assert_allclose(explainer.predict_proba(holes, range(5)), explainer.predict_proba(holes))
    assert len(explainer.explain(holes[:12])) == 12


# --- searches that end early ------------------------------------------------------------------------------------------


def test_a_search_that_ends_early_warns(explainer):
    limited = copy.deepcopy(explainer).set_params(max_sets=4)
    message = r"The search ended after 4 of up to 15 sets of candidates in \d+ of 12 rows: they may have other"
    with pytest.warns(SearchSizeWarning, match=message) as caught:
        explanations = limited.explain(ROWS)
    assert [warning.filename for warning in caught] == [__file__]
    is_complete = [e.is_search_complete for e in explanations]
    assert not all(is_complete)
    assert [e["is_search_complete"] for e in explanations.to_dict()["explanations"]] == is_complete
    assert ["there may be others" in str(e) for e in explanations] == [not complete for complete in is_complete]
    whole = explainer.explain(ROWS)
    assert all(e.is_search_complete for e in whole)
    for some, every in zip(explanations, whole, strict=True):
        assert some.sufficient_sets == tuple(s for s in every.sufficient_sets if len(s.variables) == 1)
    copy.deepcopy(explainer).set_params(max_sets=None).explain(ROWS)


def test_repeated_rows_have_the_answers_of_the_first_and_are_counted(explainer):
    limited = copy.deepcopy(explainer).set_params(max_sets=4)
    with pytest.warns(SearchSizeWarning, match=r"in \d+ of 12 rows"):
        once = limited.explain(ROWS)
    order = np.tile(np.arange(12)[::-1], 3)
    n_ended = 3 * sum(not e.is_search_complete for e in once)
    with pytest.warns(SearchSizeWarning, match=f"in {n_ended} of 36 rows"):
        repeated = limited.explain(ROWS[order])
    assert [str(e) for e in repeated] == [str(once[i]) for i in order]


# --- copies ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("again", [lambda e: pickle.loads(pickle.dumps(e)), copy.deepcopy, copy.copy])
def test_a_copy_gives_identical_answers(explainer, again):
    before = answers(explainer)
    twin = again(explainer)
    assert answers(twin) == before
    assert answers(explainer) == before
    assert answers(again(twin)) == before


def test_a_pickle_leaves_the_explainer_whole():
    """The state handed to pickle was the explainer's own __dict__, from which the compiled core was taken away."""
    explainer = classifier().fit(X, CLASSES)
    pickle.dumps(explainer)
    assert len(explainer.explain(ROWS)) == 12


def test_an_unfitted_explainer_can_be_pickled():
    explainer = pickle.loads(pickle.dumps(classifier(pi=0.7)))
    assert explainer.pi == 0.7
    assert not hasattr(explainer, "forest_")


def test_a_clone_is_unfitted_and_has_the_same_parameters(explainer):
    twin = clone(explainer)
    assert not hasattr(twin, "forest_")
    assert repr(twin.get_params()) == repr(explainer.get_params())


def test_fitting_again_forgets_the_first_fit():
    explainer = SufficientExplainer(random_state=0).fit(FRAME, CLASSES)
    explainer.fit(X[:, :4], NUMBERS)
    assert explainer.task_ == "regression"
    assert explainer.variable_names_ == ("x0", "x1", "x2", "x3")
    assert answers(explainer, ROWS[:, :4]) == answers(
        SufficientExplainer(random_state=0).fit(X[:, :4], NUMBERS), ROWS[:, :4]
    )


# --- Ctrl-C ----------------------------------------------------------------------------------------------------------


# A search of years: none of the very many sets of noise is sufficient.
ENDLESS = """
import signal, warnings
import numpy as np
from sklearn.ensemble import ExtraTreesRegressor
from suffice import SufficientExplainer

warnings.simplefilter("ignore")
signal.signal(signal.SIGINT, signal.default_int_handler)
rng = np.random.default_rng(0)
X, y = rng.normal(size=(300, 60)), rng.normal(size=300)
forest = ExtraTreesRegressor(n_estimators=20)
explainer = SufficientExplainer(forest, n_candidates=60, pi=1.0, max_sets=None).fit(X, y)
"""


@pytest.mark.skipif(os.name != "posix", reason="Windows sends no SIGINT to a child process")
def test_ctrl_c_ends_a_long_search():
    code = f"{ENDLESS}\nprint('started', flush=True)\nexplainer.explain(X)\nprint('finished', flush=True)"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "started\n"
        time.sleep(1)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=300)
    finally:
        process.kill()
    assert out == ""
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert process.returncode == -signal.SIGINT


@pytest.mark.filterwarnings("ignore::suffice.errors.SearchSizeWarning", "ignore::suffice.errors.FidelityWarning")
def test_an_interrupted_explainer_still_answers():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(300, 60))
    forest = ExtraTreesRegressor(n_estimators=20, random_state=0)
    explainer = SufficientExplainer(forest, n_candidates=60, max_size=1, counts="bootstrap")
    explainer.fit(table, rng.normal(size=300))
    before = answers(explainer, table[:5])
    explainer.set_params(max_size=None, max_sets=None, pi=1.0)
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt, match=r"^$"):
            explainer.explain(table)
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, handler)
    assert answers(explainer.set_params(max_size=1, max_sets=2**12, pi=None), table[:5]) == before


def test_an_explainer_is_called_as_those_of_shap():
    X = np.random.default_rng(0).normal(size=(200, 3))
    explainer = SufficientExplainer(random_state=0).fit(X, X[:, 1] > 0)
    assert list(explainer(X[:4])) == list(explainer.explain(X[:4]))
    assert list(explainer(X[:4], [True] * 4)) == list(explainer.explain(X[:4], [True] * 4))


def test_the_importance_of_the_columns_is_that_of_training_rows():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(300, 3)), columns=["a", "b", "c"])
    y = (X["b"] > 0) & (X["c"] > -1)
    explainer = SufficientExplainer(random_state=0).fit(X, y)
    importance = explainer.feature_importances_
    expected = explainer.explain(X, y, sets="minimal", rules=None).mean_importance("minimal")
    assert importance.tolist() == pytest.approx(list(expected.values()))
    assert importance.argmax() == 1
    assert explainer.with_settings(pi=0.6).feature_importances_.tolist() != importance.tolist()
    assert SelectFromModel(explainer, prefit=True, threshold=importance[1]).get_support().tolist() == [
        False,
        True,
        False,
    ]


def test_the_importance_of_columns_is_computed_once(monkeypatch):
    X = np.random.default_rng(0).normal(size=(1200, 3))
    explainer = SufficientExplainer(random_state=0).fit(X, X[:, 1] > 0)
    importance = explainer.feature_importances_
    calls = []
    monkeypatch.setattr("suffice.explainer.importance_of_columns", lambda *args: calls.append(args))
    importance[:] = 7.0  # a copy: the next reader must not see this
    assert explainer.feature_importances_.max() <= 1
    assert not calls


def test_the_importance_of_a_group_is_shared_by_its_columns():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"day": pd.to_datetime("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, 400), unit="D")})
    X["same"], X["red"], X["blue"] = 1.0, rng.integers(0, 2, 400), rng.normal(size=400)
    explainer = SufficientExplainer(random_state=0, dates="parts", groups={"colour": ["red", "blue"]})
    day, same, red, blue = explainer.fit(X, X["blue"] > 0).feature_importances_
    assert explainer.n_features_in_ == 4
    assert (same, red) == (0, blue)
    assert red + blue > 0.9 > day


def test_an_explainer_that_is_not_fitted_has_no_importances():
    assert not hasattr(SufficientExplainer(), "feature_importances_")
