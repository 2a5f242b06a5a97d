"""Where the outcomes of the rows of a question come from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from small_explainers import CLASSES, X

from suffice._forest.asked_rows import ask_about
from suffice._forest.model_outputs import ExplainedModel


def always(label):
    return ExplainedModel(lambda table: np.full(len(table), label))


def test_the_user_comes_before_the_model_and_the_model_before_the_forest(of_classes):
    state, rows = of_classes.fitted_, X[:5]
    matrix = of_classes.encode(rows)
    by_forest = ask_about(state, rows, matrix, None)
    assert (by_forest.source, by_forest.values.tolist()) == ("forest", state.predict(matrix).tolist())
    assert by_forest.predictions(state) is by_forest.values
    label = next(label for label in state.classes.tolist() if label != by_forest.values[0])
    by_model = ask_about(replace(state, model=always(label)), rows, matrix, None)
    assert (by_model.source, by_model.values.tolist()) == ("model", [label] * 5)
    np.testing.assert_array_equal(by_model.predictions(state), by_forest.values)
    by_user = ask_about(replace(state, model=always(label)), rows, matrix, CLASSES[:5])
    assert (by_user.source, by_user.values.tolist()) == ("given", list(CLASSES[:5]))
    assert by_user.outcomes(state).values.tolist() == list(CLASSES[:5])


def test_a_model_is_not_asked_about_no_rows(of_classes):
    def refuse(table):
        raise AssertionError("asked about no rows")

    state = replace(of_classes.fitted_, model=ExplainedModel(refuse))
    rows = ask_about(state, X[:0], of_classes.encode(X[:0]), None)
    assert (rows.source, len(rows.values)) == ("model", 0)


def test_results_hold_no_model_and_so_can_go_to_another_process(of_classes):
    state = of_classes.fitted_
    assert state.without_model is state
    assert replace(state, model=always("a")).without_model.model is None


def test_outcomes_of_another_length_are_refused(of_classes):
    with pytest.raises(ValueError, match="`y` has 4 entries, `X` has 5 rows"):
        ask_about(of_classes.fitted_, X[:5], of_classes.encode(X[:5]), pd.Series(CLASSES[:4]))
