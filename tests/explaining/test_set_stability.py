"""The stability of best sets: the method of the explainer, the words, the frame, and explanations that carry it."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from small_explainers import CLASSES, FRAME, NUMBERS, X, classifier, regressor

from suffice import SetStability, SufficientExplainer
from suffice.explaining.stability import Recurrence, RowStability


@pytest.fixture(scope="module")
def explainer():
    return classifier().fit(FRAME, CLASSES)


@pytest.fixture(scope="module")
def stability(explainer):
    return explainer.stability(FRAME[:6], n_seeds=4, n_resamples=3, random_state=0)


def made(n_seeds=20, n_resamples=20):
    """Three rows: a set of two variables, one that always returns, and the empty set."""
    seeds = Recurrence(n_seeds, *(np.array(c) for c in ([18, 20, 20], [20, 20, 20], [[20, 18], [20, 0], [0, 0]])))
    resamples = Recurrence(n_resamples, *(np.array(c) for c in ([9, 20, 19], [17, 20, 18], [[19, 9], [20, 1], [1, 0]])))
    best_sets = (("age", "sex"), ("age",), ())
    return SetStability(("age", "sex"), best_sets, np.array([True, True, True]), seeds, resamples)


NONE = Recurrence(0, np.zeros(3, dtype=int), np.zeros(3, dtype=int), np.zeros((3, 2), dtype=int))


def test_rows_are_put_in_plain_words():
    stability = made()
    assert str(stability[0]) == (
        "The same best set in 18 of 20 other forests and in 9 of 20 resampled tables; age recurs in 95 % and sex in "
        "45 % of the tables. Some set is sufficient in 20 of 20 other forests and in 17 of 20 resampled tables."
    )
    assert str(stability[1]) == (
        "The same best set in 20 of 20 other forests and in 20 of 20 resampled tables. Some set is sufficient in 20 of "
        "20 other forests and in 20 of 20 resampled tables."
    )
    assert str(stability[2]).startswith("The same best set in 20 of 20 other forests and in 19 of 20 resampled tables.")


def test_one_kind_of_refits_is_enough():
    both = made()
    of_seeds = SetStability(both.candidates, both.best_sets, both.is_sufficient, both.seeds, NONE)
    assert str(of_seeds[0]) == (
        "The same best set in 18 of 20 other forests; age recurs in 100 % and sex in 90 % of the forests. "
        "Some set is sufficient in 20 of 20 other forests."
    )
    assert of_seeds.core == (("age", "sex"), ("age",), ())
    of_resamples = SetStability(both.candidates, both.best_sets, both.is_sufficient, NONE, both.resamples)
    assert str(of_resamples[0]).startswith("The same best set in 9 of 20 resampled tables; age recurs in 95 %")
    assert list(of_resamples.to_frame().columns) == ["best_set", "core", "same_set_resamples", "sufficient_resamples"]


def test_the_core_holds_the_variables_that_recur_in_most_resampled_tables():
    assert made().core == (("age",), ("age",), ())
    row = RowStability(("a",), True, 5, 5, (0, 0), (5, 5), (("b", 0.8), ("a", 0.79)))
    assert row.core == ("b",)


def test_several_rows_are_summed_up():
    assert str(made()) == (
        "3 rows. On average the same best set in 97 % of 20 other forests and in 80 % of 20 resampled tables. 2 of "
        "them have a core: variables that recur in at least 80 % of the forests."
    )
    assert repr(made()) == str(made())


def test_the_frame_has_a_line_for_each_row():
    frame = made().to_frame()
    assert frame["same_set_seeds"].tolist() == [0.9, 1.0, 1.0]
    assert frame["same_set_resamples"].tolist() == [0.45, 1.0, 0.95]
    assert frame["sufficient_resamples"].tolist() == [0.85, 1.0, 0.9]
    assert frame["best_set"].tolist() == [("age", "sex"), ("age",), ()]
    assert frame["core"].tolist() == [("age",), ("age",), ()]


def test_the_stability_of_rows_is_measured(explainer, stability):
    explanations = explainer.explain(FRAME[:6])
    assert stability.best_sets == tuple(best.variables for best in explanations.best_sets)
    assert stability.is_sufficient.tolist() == explanations.has_set.tolist()
    assert (stability.seeds.n_refits, stability.resamples.n_refits) == (4, 3)
    assert stability.candidates == explainer.candidates_
    assert len(stability) == 6
    assert isinstance(stability.to_frame(), pd.DataFrame)
    again = explainer.stability(FRAME[:6], n_seeds=4, n_resamples=3, random_state=0)
    assert np.array_equal(again.resamples.n_holding, stability.resamples.n_holding)


def test_a_variable_that_decides_alone_always_returns():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(400, 4))
    forest = RandomForestClassifier(25, min_samples_leaf=5, random_state=0)
    explainer = SufficientExplainer(forest).fit(table, table[:, 2] > 0)
    stability = explainer.stability([[0, 0, 2, 0]], n_seeds=3, n_resamples=3, random_state=0)
    assert stability[0].same_set == stability[0].sufficient == (3, 3)
    assert stability.core == (("x2",),)


def test_the_outcomes_stay_the_same_in_the_refits():
    """The other class of each row is hardly ever kept, whatever the refits predict."""
    rng = np.random.default_rng(0)
    table = rng.normal(size=(400, 3))
    forest = RandomForestClassifier(25, min_samples_leaf=5, random_state=0)
    explainer = SufficientExplainer(forest).fit(table, table[:, 0] > 0)
    rows = np.array([[2.0, 0, 0], [-2.0, 0, 0]])
    own = explainer.stability(rows, n_seeds=2, n_resamples=2, random_state=0)
    other = explainer.stability(rows, [False, True], n_seeds=2, n_resamples=2, random_state=0)
    assert own.resamples.n_sufficient.tolist() == [2, 2]
    assert other.resamples.n_sufficient.tolist() == other.seeds.n_sufficient.tolist() == [0, 0]
    assert not other.is_sufficient.any()


def test_a_regression_has_stability_too():
    explainer = regressor().fit(X, NUMBERS)
    stability = explainer.stability(X[:3], n_seeds=2, n_resamples=0, random_state=0)
    assert stability.seeds.n_refits == 2
    assert stability.resamples.n_refits == 0
    assert stability.best_sets == tuple(best.variables for best in explainer.explain(X[:3]).best_sets)


def test_progress_is_reported_and_can_end_the_work(explainer, capsys):
    done = []
    explainer.stability(FRAME[:1], n_seeds=2, n_resamples=1, progress=done.append)
    assert done == [1, 2, 3]

    def stop(n_done):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        explainer.stability(FRAME[:1], n_seeds=1, progress=stop)
    assert capsys.readouterr().err == ""
    explainer.stability(FRAME[:1], n_seeds=1, n_resamples=1, progress=True)
    assert "growing forests: 100%" in capsys.readouterr().err


def test_wrong_numbers_are_refused(explainer):
    with pytest.raises(ValueError, match="`n_seeds` must be a whole number >= 0, got -1"):
        explainer.stability(FRAME, n_seeds=-1)
    with pytest.raises(ValueError, match="`n_seeds` and `n_resamples` are both 0"):
        explainer.stability(FRAME, n_seeds=0, n_resamples=0)


def test_no_rows_have_no_stability(explainer):
    stability = explainer.stability(FRAME[:0], n_seeds=1, n_resamples=1)
    assert len(stability) == 0
    assert str(stability) == "0 rows."


def test_explanations_carry_their_stability(explainer, stability):
    plain = explainer.explain(FRAME[:6])
    explanations = plain.with_stability(stability)
    assert plain[0].stability is None
    assert "stability" not in plain[0].to_dict()
    assert str(explanations[1]) == f"{plain[1]}\n{stability[1]}"
    content = json.loads(explanations.to_json())["explanations"][1]["stability"]
    assert content["n_seeds"] == 4
    assert content["same_set"] == dict(zip(("seeds", "resamples"), stability[1].same_set, strict=True))
    assert content["core"] == list(stability.core[1])
    assert str(stability[1]) in explanations[1]._repr_html_()
    assert "same best set" not in plain[1]._repr_html_()
    assert type(plain).joined([explanations, explanations]).stability is None


def test_the_stability_of_other_rows_is_refused(explainer, stability):
    with pytest.raises(ValueError, match="about 6 rows with other best sets than these 5 explanations"):
        explainer.explain(FRAME[:5]).with_stability(stability)
