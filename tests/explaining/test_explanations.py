"""The explanations of many rows: a sequence, arrays, frames, dictionaries and text."""

from __future__ import annotations

import itertools
import json
import pickle
import re
import sys
from functools import cache
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from suffice import Explanations, SufficientExplainer, SufficientSet
from suffice._forest.outcomes import Outcomes
from suffice._forest.projection import ProjectedForest
from suffice._table.encoding import Column, Encoding
from suffice._table.variables import Variables
from suffice._text import format_share
from suffice.errors import SearchSizeWarning
from suffice.explaining.explanations import Answers
from suffice.explaining.found_sets import FoundSets, ScoredSet


def data():
    """A table with outcomes 0, 1 and 2; the speed alone is enough for 0, and so are the load and the hue together."""
    X = np.random.default_rng(0).integers(0, 4, size=(400, 4)).astype(float)
    speed, load, hue, day = (X > 1).T
    return pd.DataFrame(X, columns=["speed", "load", "hue", "day"]), np.where(speed | (load & hue), 0, 1 + day)


def explain(y, forest, y_explained=None, **options):
    X, _ = data()
    forest = forest(n_estimators=20, random_state=0)
    # Sets of every size and number are needed here; the counts of the paper find them on this table.
    explainer = SufficientExplainer(forest, counts="bootstrap", min_size=1, levels="same", **options).fit(X, y)
    return explainer.explain(X[:40], (y if y_explained is None else y_explained)[:40], sets="all")


@pytest.fixture(scope="module")
def class_explanations():
    return explain(np.array(["slow", "fast", "stop"])[data()[1]], RandomForestClassifier, pi=0.8)


@pytest.fixture(scope="module")
def number_explanations():
    noise = np.random.default_rng(1).normal(size=400)
    return explain(data()[1] * 10 + noise, RandomForestRegressor, pi=0.95, radius=2.0)


@pytest.fixture(scope="module", params=["class_explanations", "number_explanations"])
def explanations(request):
    return request.getfixturevalue(request.param)


def test_the_data_show_every_kind_of_explanation(class_explanations, number_explanations):
    assert {len(s.variables) for e in class_explanations for s in e.sufficient_sets} == {1, 2, 3}
    assert any(len(e.sufficient_sets) > len(e.minimal_sets) for e in class_explanations)
    assert any(len(e.sufficient_sets) > len(e.minimal_sets) for e in number_explanations)
    assert {e.is_sufficient for e in number_explanations} == {True, False}


def test_explanations_are_a_sequence(explanations):
    assert len(explanations) == 40
    assert list(explanations) == [explanations[i] for i in range(40)]
    assert explanations[-1] == explanations[39]
    assert explanations[-40] == explanations[0]
    assert explanations[np.int64(3)] == explanations[3]
    assert list(explanations[3:5]) == [explanations[3], explanations[4]]
    assert list(explanations[::-20]) == [explanations[39], explanations[19]]
    assert list(explanations[50:]) == []
    assert explanations[3] in explanations
    assert next(reversed(explanations)) == explanations[39]
    assert len(set(explanations)) > 1


def test_lower_bounds_are_computed_when_they_are_read_and_only_those(explanations, monkeypatch):
    asked = []

    def squared_weights(self, X, sets, n_threads):
        asked.append(len(X))
        return weights(self, X, sets, n_threads)

    weights = ProjectedForest.squared_weights
    monkeypatch.setattr(ProjectedForest, "squared_weights", squared_weights)
    unread = explanations.with_answers(explanations.answers)
    [first, second, *others] = np.flatnonzero(np.isnan(unread.answers.sets.best_squares))
    assert len(others) > 3
    _ = str(unread), unread.rules, unread.n_sets, unread.to_frame("importance")
    assert asked == []
    alone = [unread[i].best_set.lower for i in (first, second, first)]
    assert asked == [1, 1]
    assert [e.best_set.lower for e in unread] == unread.lower_bounds.tolist()
    assert asked == [1, 1, len(others) + 2]
    assert alone == unread.lower_bounds[[first, second, first]].tolist()
    assert [best.lower for best in unread.best_sets] == unread.lower_bounds.tolist()


@pytest.mark.parametrize("index", [40, -41, 1000])
def test_a_number_out_of_range_is_refused(explanations, index):
    with pytest.raises(IndexError, match=f"There are 40 explanations; there is no number {index}."):
        explanations[index]


def test_an_explanation_holds_its_row(explanations):
    X, _ = data()
    for i, e in enumerate(explanations):
        assert e.values == tuple((name, ((name, X[name][i]),)) for name in X.columns)
        assert e.pi == explanations.pi
        assert e.best_set == (e.sufficient_sets or (e.best_set,))[0]


def test_an_explanation_holds_its_interval(number_explanations, class_explanations):
    assert [e.interval for e in number_explanations] == [(e.outcome - 2, e.outcome + 2) for e in number_explanations]
    assert {e.interval for e in class_explanations} == {None}


def by_hand():
    """Three rows; the second alone has sufficient sets: {c} and, larger, {a, d}. The candidates are c, d, a."""
    sets = FoundSets(
        candidates=(2, 3, 0),
        offset=np.array([0, 0, 2, 2]),
        masks=np.array([[0b001, 0], [0b110, 0]], dtype=np.uint64),
        sdps=np.array([0.95, 1.0]),
        best_masks=np.array([[0b011, 0], [0b001, 0], [0, 0]], dtype=np.uint64),
        best_sdps=np.array([0.5, 0.95, 0.25]),
        best_squares=np.array([0.01, 0.01, 0.01]),
        is_complete=np.array([True, True, False]),
        offered=np.array([0.5, np.nan, 0.25]),
        smaller={1: ScoredSet((3,), 0.88)},
    )
    X = np.arange(12, dtype=np.float32).reshape(3, 4)
    outcomes = np.array(["u", "v", "w"])
    encoding = Encoding(tuple(Column(name, i) for i, name in enumerate("abcd")), tuple("abcd"), True)
    fitted = SimpleNamespace(
        encoding=encoding,
        variables=Variables.from_columns("abcd"),
        counts="out-of-bag",
        settings=SimpleNamespace(pi=0.9, levels="same", confidence=None, n_threads=1),
        has_signal=True,
        has_whole_outcomes=False,
        n_searched=3,
        target="y",
        model_name=None,
        projected=SimpleNamespace(squared_weights=lambda X, sets, n_threads: np.full(len(X), 0.01)),
        forest=SimpleNamespace(predict_leaves=lambda X, n_threads: np.full((len(X), 3), [0.2, 0.5, 0.3])),
        levels=lambda outcomes: np.full(len(outcomes), 0.9),
        level_text="probability 0.9",
        base_rates=lambda outcomes: np.full(len(outcomes), 0.4),
    )
    ranks = np.arange(3, dtype=np.uint32)
    answers = Answers(X, Outcomes(outcomes, None, ranks, ranks), outcomes, sets, [()] * 3, np.full(3, 0.6))
    return Explanations(answers, fitted, "all", None)


def test_explanations_made_by_hand_say_what_was_put_in():
    first, second, last = by_hand()
    assert (first.best_set, last.best_set) == (SufficientSet(("c", "d"), 0.5), SufficientSet((), 0.25))
    assert second.sufficient_sets == (SufficientSet(("c",), 0.95), SufficientSet(("a", "d"), 1.0))
    assert (first.smaller_set, second.smaller_set) == (None, SufficientSet(("d",), 0.88))
    assert (first.offered_pi, second.offered_pi, last.offered_pi) == (0.5, None, None)
    assert (first.is_contested, second.is_contested) == (False, True)
    assert by_hand().is_contested.tolist() == [False, True, False]
    assert (first.is_sufficient, second.is_sufficient, last.is_sufficient) == (False, True, False)
    assert by_hand().candidates == ("c", "d", "a")
    assert by_hand().variable_names == ("a", "b", "c", "d")
    assert by_hand().mean_importance("all") == {"a": 0.5, "b": 0.0, "c": 0.5, "d": 0.5}
    assert by_hand().mean_importance("minimal") == {"a": 0.0, "b": 0.0, "c": 1.0, "d": 0.0}
    assert by_hand().to_frame("importance").to_numpy().tolist() == [[0] * 4, [0, 0, 1.0, 0], [0] * 4]
    assert by_hand().to_frame()["is_minimal"].tolist() == [False, True, False, False]
    assert str(by_hand()) == (
        "3 rows explained; 1 has a sufficient set (probability 0.9) among 3 candidate variables.\n"
        "1 set is contested: other values of these rows point to another outcome.\n"
        "Mean importance: c 1.00."
    )


def test_missing_values_do_not_make_an_explanation_differ_from_itself():
    """NaN is not equal to NaN, so explanations[0] == explanations[0] was false for a row with a missing value."""
    X, y = data()
    X.loc[0, "hue"] = np.nan
    forest = RandomForestClassifier(n_estimators=5, random_state=0)
    explanations = SufficientExplainer(forest).fit(X, y).explain(X[:1])
    assert dict(explanations[0].values)["hue"] == (("hue", None),)
    assert explanations[0] == explanations[0]
    assert hash(explanations[0]) == hash(explanations[0])


@pytest.mark.parametrize("sets", ["all", "minimal"])
def test_mean_importance_is_the_mean_over_rows_with_a_set(explanations, sets):
    total, n = dict.fromkeys(explanations.variable_names, 0.0), 0
    for e in explanations:
        if e.is_sufficient:
            n += 1
            for name, share in e.ranked_importance(sets):
                total[name] += share
    assert explanations.mean_importance(sets) == pytest.approx({name: value / n for name, value in total.items()})


def test_the_kinds_of_mean_importance_differ(class_explanations):
    assert class_explanations.mean_importance("all") != class_explanations.mean_importance("minimal")


def test_mean_importance_is_zero_if_no_row_has_a_set():
    y = data()[1] + np.arange(400) / 1000
    hopeless = explain(y, RandomForestRegressor, y_explained=y + 1000, radius=1.0)
    assert not any(e.is_sufficient for e in hopeless)
    assert hopeless.mean_importance() == {"speed": 0.0, "load": 0.0, "hue": 0.0, "day": 0.0}
    assert hopeless.mean_importance("minimal") == hopeless.mean_importance()
    assert str(hopeless) == "40 rows explained; 0 have a sufficient set (probability 0.8) among 4 candidate variables."
    assert (hopeless.to_frame("importance") == 0).all(axis=None)


def test_the_summary_says_how_many_variables_were_searched_at_each_row():
    """With candidates of each row it counted all variables, and one row was "1 rows"."""
    X, y = data()
    explainer = SufficientExplainer(
        RandomForestClassifier(n_estimators=5, random_state=0), n_candidates=2, levels="same"
    ).fit(X, y)
    one = str(explainer.explain(X[:1]))
    assert one.startswith("1 row explained; ")
    assert "(probability 0.9) among 4 variables, 2 of them at each row." in one


def test_mean_importance_of_unknown_sets_is_refused(explanations):
    with pytest.raises(ValueError, match=r"`sets` must be one of \['minimal', 'all'\], got 'most'."):
        explanations.mean_importance("most")


def test_a_frame_of_sets_has_a_line_for_each_set(explanations):
    frame = explanations.to_frame()
    lines = []
    for row, e in enumerate(explanations):
        for s in e.sufficient_sets or (e.best_set,):
            is_minimal = e.is_sufficient and len(s.variables) == len(e.sufficient_sets[0].variables)
            interval = () if e.interval is None else e.interval
            lower = s.lower if s == e.best_set else np.inf
            figures = (len(s.variables), s.sdp, lower, e.sdp_of_all, s.sdp / e.base_rate, e.base_rate)
            figures += (e.is_sufficient, is_minimal, e.forest_agrees)
            rule = str(e.rule) if e.rule and s == e.best_set else None
            lines.append((row, e.outcome, *interval, s.variables, *figures, rule))
    bounds = ["low", "high"] if explanations[0].interval else []
    names = ["row", "outcome", *bounds, "variables", "size", "sdp", "sdp_lower", "sdp_of_all", "lift"]
    names += ["base_rate", "is_sufficient", "is_minimal", "forest_agrees", "rule"]
    assert list(frame.columns) == names
    frame["sdp_lower"] = frame["sdp_lower"].fillna(np.inf)  # NaN is not equal to NaN
    frame["rule"] = frame["rule"].astype(object).where(frame["rule"].notna(), None)
    assert [tuple(line) for line in frame.itertuples(index=False)] == lines


def test_a_frame_of_importance_has_a_line_for_each_row(explanations):
    frame = explanations.to_frame("importance")
    assert list(frame.columns) == ["speed", "load", "hue", "day"]
    for (_, line), e in zip(frame.iterrows(), explanations, strict=True):
        assert line.to_dict() == pytest.approx(e.importance)


def test_an_unknown_kind_of_frame_is_refused(explanations):
    message = re.escape("`of` must be one of ['sets', 'rows', 'importance'], got 'row'. Did you mean 'rows'?")
    with pytest.raises(ValueError, match=message):
        explanations.to_frame("row")


def test_a_frame_without_pandas_names_the_fix(explanations, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    for of in ("sets", "rows", "importance"):
        with pytest.raises(ImportError, match=r"`to_frame` needs pandas: pip install pandas."):
            explanations.to_frame(of)


def test_a_dictionary_holds_settings_and_all_explanations(class_explanations):
    whole = class_explanations.to_dict()
    assert whole == {
        "pi": 0.8,
        "levels": "same",
        "sets": "all",
        "variables": ["speed", "load", "hue", "day"],
        "candidates": list(class_explanations.candidates),
        "explanations": [e.to_dict() for e in class_explanations],
    }
    assert sorted(class_explanations.candidates) == ["day", "hue", "load", "speed"]


LABELS = [
    np.array(["slow", "fast", "stop"]),
    np.array(["slow", "fast", "stop"], dtype=object),
    np.array([-1, 0, 7], dtype=np.int8),
    np.array([1.0, 2.0, 4.0], dtype=np.float32),
    np.array([True, False, False]),
]


@pytest.mark.parametrize("labels", LABELS)
def test_json_gives_back_the_dictionary(labels):
    y = labels[data()[1]]
    explanations = explain(y, RandomForestClassifier)
    back = json.loads(explanations.to_json(indent=1))
    assert back == explanations.to_dict()
    outcomes = [e["outcome"] for e in back["explanations"]]
    assert outcomes == y[:40].tolist()
    assert [type(outcome) for outcome in outcomes] == [type(label) for label in y[:40].tolist()]


def test_json_of_a_regression_gives_back_the_dictionary(number_explanations):
    assert json.loads(number_explanations.to_json()) == number_explanations.to_dict()


def test_explanations_read_as_a_summary(class_explanations):
    listed = ", ".join(f"{name} {format_share(value)}" for name, value in class_explanations.ranked_importance())
    n = sum(e.is_sufficient for e in class_explanations)
    summary = f"40 rows explained; {n} have a sufficient set (probability 0.8) among 4 candidate variables."
    assert str(class_explanations) == f"{summary}\nMean importance: {listed}."
    assert repr(class_explanations) == str(class_explanations)


def test_explanations_survive_a_pickle(explanations):
    assert list(pickle.loads(pickle.dumps(explanations))) == list(explanations)


# --- arrays ----------------------------------------------------------------------------------------------------------


def contradicted(task):
    """Explanations, some of which disagree with the forest, and whose searches ended early."""
    X, classes = data()
    if task == "classes":
        y, other = np.array(["slow", "fast", "stop"])[classes], np.roll(np.array(["slow", "fast", "stop"])[classes], 1)
        forest = RandomForestClassifier(20, random_state=0)
    else:
        y = classes * 10 + np.random.default_rng(1).normal(size=400)
        other = np.roll(y, 1)
        forest = RandomForestRegressor(20, random_state=0)
    explainer = SufficientExplainer(forest, max_sets=5, pi=0.6, min_size=1, counts="bootstrap").fit(X, y)
    with pytest.warns(SearchSizeWarning, match="ended after 5 of up to 15 sets"):
        return explainer.explain(X[:40], other[:40], sets="all")


EVERY_KIND = {
    "classes": lambda: explain(data()[1], RandomForestClassifier),
    "numbers": lambda: explain(data()[1] * 10 + np.random.default_rng(1).normal(size=400), RandomForestRegressor),
    "minimal sets without rules": lambda: (
        SufficientExplainer(RandomForestClassifier(20, random_state=0)).fit(*data()).explain(data()[0][:40], rules=None)
    ),
    "contradicted classes": lambda: contradicted("classes"),
    "contradicted numbers": lambda: contradicted("numbers"),
    "by hand": by_hand,
    "no rows": lambda: (
        SufficientExplainer(RandomForestClassifier(5, random_state=0)).fit(*data()).explain(data()[0][:0])
    ),
}


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_the_arrays_of_all_rows_are_those_of_the_single_explanations(kind):
    explanations = EVERY_KIND[kind]()
    singles = [explanations[i] for i in range(len(explanations))]
    n_rows = len(singles)
    assert explanations.outcomes.tolist() == [e.outcome for e in singles]
    if explanations.intervals is None:
        assert {e.interval for e in singles} <= {None}
    else:
        assert explanations.intervals.shape == (n_rows, 2)
        assert [tuple(ends) for ends in explanations.intervals.tolist()] == [e.interval for e in singles]
    assert explanations.predictions.tolist() == [e.prediction for e in singles]
    for name, expected in {
        "forest_agrees": [e.forest_agrees for e in singles],
        "has_set": [e.is_sufficient for e in singles],
        "n_sets": [len(e.sufficient_sets) for e in singles],
    }.items():
        array = getattr(explanations, name)
        assert isinstance(array, np.ndarray)
        assert array.shape == (n_rows,)
        assert array.dtype.kind == ("i" if name == "n_sets" else "b")
        assert array.tolist() == expected
    assert explanations.best_sets == tuple(e.best_set for e in singles)
    assert explanations.is_search_complete == tuple(e.is_search_complete for e in singles)
    assert explanations.rules == tuple(e.rule for e in singles)
    for sets in ("all", "minimal") if explanations.sets == "all" else ("minimal",):
        matrix = explanations.importance_matrix(sets)
        assert matrix.shape == (n_rows, len(explanations.variable_names))
        for shares, e in zip(matrix.tolist(), singles, strict=True):
            important = {n: s for n, s in zip(explanations.variable_names, shares, strict=True) if s > 0}
            assert important == dict(e.ranked_importance(sets))


def test_the_arrays_show_both_answers():
    """Otherwise the test above could not tell an array from a constant."""
    for task in ("classes", "numbers"):
        explanations = contradicted(task)
        assert set(explanations.forest_agrees.tolist()) == {True, False}
        assert set(explanations.has_set.tolist()) == {True, False}
    assert set(contradicted("classes").is_search_complete) == {True, False}
    minimal, every = (EVERY_KIND["classes"]().importance_matrix(sets) for sets in ("minimal", "all"))
    assert (minimal != every).any()


def test_the_importance_of_unknown_sets_is_refused(explanations):
    with pytest.raises(ValueError, match=r"`sets` must be one of \['minimal', 'all'\], got 'most'."):
        explanations.importance_matrix("most")


# --- parts -----------------------------------------------------------------------------------------------------------


@cache
def explainer_of_parts(forest):
    X, y = data()
    y = y if forest is RandomForestClassifier else y * 10.0 + X["speed"]
    return SufficientExplainer(forest(5, random_state=0)).fit(X, y), X, y


@pytest.mark.parametrize("cuts", [[0, 40], [0, 1, 40], [0, 13, 13, 27, 40], [0, 0, 40, 40]])
@pytest.mark.parametrize("options", [{}, {"sets": "minimal"}, {"rules": "all"}, {"rules": None}], ids=str)
@pytest.mark.parametrize("forest", [RandomForestClassifier, RandomForestRegressor])
def test_parts_that_are_joined_are_the_whole(forest, options, cuts):
    explainer, X, y = explainer_of_parts(forest)
    whole = explainer.explain(X[:40], y[:40], **options)
    parts = [explainer.explain(X[begin:end], y[begin:end], **options) for begin, end in itertools.pairwise(cuts)]
    joined = Explanations.joined(parts)
    assert list(joined) == list(whole)
    assert joined.to_dict() == whole.to_dict()
    assert joined.about == whole.about
    assert joined.rules == whole.rules
    assert joined.best_sets == whole.best_sets
    assert joined.is_search_complete == whole.is_search_complete
    for name in ("outcomes", "predictions", "n_sets", "has_set", "forest_agrees", "intervals"):
        ours, theirs = getattr(joined, name), getattr(whole, name)
        if theirs is None:
            assert ours is None
        else:
            np.testing.assert_array_equal(ours, theirs)
            assert ours.dtype == theirs.dtype
    for of in ("sets", "rows", "importance"):
        pd.testing.assert_frame_equal(joined.to_frame(of), whole.to_frame(of))
    for (table, outcomes), (whole_table, whole_outcomes) in zip(
        (joined.explained, joined.training), (whole.explained, whole.training), strict=True
    ):
        assert table.names == whole_table.names
        assert table.n_rows == whole_table.n_rows
        np.testing.assert_array_equal(outcomes, whole_outcomes)
