"""What SufficientExplainer refuses, and its messages."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.exceptions import NotFittedError

from suffice import SufficientExplainer

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
CLASSES = np.where(X[:, 0] > 0, "high", "low")
NUMBERS = X[:, 0] * 5 + X[:, 1]
FRAME = pd.DataFrame(X, columns=["speed", "load", "hue", "day"])
ROWS = X[:3]
NAN, INF = np.nan, np.inf
NO_CLASSES = (
    f"Unknown label type: `y` holds the number {NUMBERS[0].item()} (row 0), but numbers with fractions are no classes: "
    "take task='regression' to explain them as numbers, or turn them into labels."
)


def small(kind=RandomForestClassifier, **options):
    return SufficientExplainer(kind(n_estimators=5, random_state=0), **options)


@pytest.fixture(scope="module")
def of_classes():
    return small().fit(X, CLASSES)


@pytest.fixture(scope="module")
def of_numbers():
    return small(RandomForestRegressor).fit(X, NUMBERS)


@pytest.fixture(scope="module")
def of_frame():
    return small().fit(FRAME, CLASSES)


CALLS = {
    "explain": lambda e, X: e.explain(X),
    "sdp": lambda e, X: e.sdp(X, [0]),
    "predict": lambda e, X: e.predict(X),
    "predict with S": lambda e, X: e.predict(X, [0]),
    "score": lambda e, X: e.score(X, CLASSES),
    "predict_proba": lambda e, X: e.predict_proba(X),
    "cdf": lambda e, X: e.cdf(X, [0], [1.0]),
    "quantile": lambda e, X: e.quantile(X, 0.5),
    "interval": lambda e, X: e.interval(X),
}


# --- parameters ------------------------------------------------------------------------------------------------------


def test_more_than_128_candidates_are_refused():
    wide = RNG.normal(size=(60, 129))
    with pytest.raises(ValueError, match=r"`candidates` names 129 variables; the search takes at most 128."):
        small(RandomForestRegressor, candidates=list(range(129))).fit(wide, wide[:, 0])
    twice = small(RandomForestRegressor, candidates=[*range(64), 0]).fit(wide, wide[:, 0])
    assert len(twice.candidates_) == 64


def test_sets_larger_than_the_number_of_candidates_are_refused():
    with pytest.raises(ValueError, match=r"`min_size` is 4, but there are only 3 candidates."):
        small(min_size=4, candidates=[0, 1, 2]).fit(X, CLASSES).explain(ROWS)


def test_an_unknown_kind_of_sets_is_refused(explainer):
    with pytest.raises(ValueError, match=r"`sets` must be one of \['minimal', 'all'\], got 'foo'."):
        explainer.explain(ROWS, sets="foo")


@pytest.mark.parametrize("call", CALLS)
def test_an_unfitted_explainer_is_refused(call):
    with pytest.raises(NotFittedError, match=r"This SufficientExplainer instance is not fitted yet. Call 'fit'"):
        CALLS[call](SufficientExplainer(), ROWS)


# --- tables ----------------------------------------------------------------------------------------------------------


def with_value(value, row=2, column=1):
    table = X.copy()
    table[row, column] = value
    return table


TOO_LARGE = "Column 'x1' of `X` holds infinity or a number too large for float32 (row 2): give a finite number"


@pytest.mark.parametrize(
    ("table", "error", "message"),
    [
        (with_value(INF), ValueError, TOO_LARGE),
        (with_value(-INF), ValueError, TOO_LARGE),
        (with_value(1e300), ValueError, TOO_LARGE),
        (pd.DataFrame(with_value(INF), columns=list("abcd")), ValueError, TOO_LARGE.replace("x1", "b")),
        (X[:0], ValueError, "`X` has no rows (0 samples): `fit` needs at least 2 rows."),
        (X[:, :0], ValueError, "Found array with 0 feature(s)"),
        (X[:1], ValueError, "`X` has only one row (1 sample): `fit` needs at least 2 rows."),
        (X[:, 0], ValueError, "Expected 2D array, got 1D array instead"),
        (X[None], ValueError, "Found array with dim 3"),
        (X[None].tolist(), ValueError, "Found array with dim 3"),
        (sparse.csr_matrix(X), TypeError, "Sparse data was passed for X, but dense data is required. Use '.toarray()'"),
        (X + 1j, ValueError, "Complex data not supported"),
        (FRAME.assign(when=pd.Timestamp("2020")), TypeError, "Column 'when' of `X` holds dates: leave it out, or use"),
        (FRAME.assign(x=[1, "a"] * 30), TypeError, "Column 'x' of `X` must hold numbers, labels or dates, got objects"),
        (FRAME.set_axis(["a", "b", "a", "c"], axis=1), ValueError, "'a'"),
        (
            FRAME.set_axis(["a", 1, "b", "c"], axis=1),
            TypeError,
            "only supported if all input features have string names",
        ),
    ],
)
def test_a_wrong_table_is_refused_at_fit(table, error, message):
    n_rows = len(FRAME) if sparse.issparse(table) or len(table) == 60 else len(table)
    with pytest.raises(error, match=re.escape(message)):
        small().fit(table, CLASSES[:n_rows])


@pytest.mark.parametrize(
    ("table", "error", "message"),
    [
        (X[:, :3], ValueError, "X has 3 features, but SufficientExplainer is expecting 4 features as input."),
        (with_value(INF), ValueError, TOO_LARGE),
        (with_value(1e300), ValueError, TOO_LARGE),
        (X[0], ValueError, "Expected 2D array, got 1D array instead"),
        (sparse.csr_matrix(X), TypeError, "Sparse data was passed for X, but dense data is required. Use '.toarray()'"),
        ([[1, 2, 3, "four"]], TypeError, "Column 'x3' of `X` must hold numbers, got the text 'four' (row 0)."),
    ],
)
@pytest.mark.parametrize("call", ["explain", "sdp", "predict", "score", "predict_proba"])
def test_a_wrong_table_is_refused_by_every_method(of_classes, call, table, error, message):
    with pytest.raises(error, match=re.escape(message)):
        CALLS[call](of_classes, table)


@pytest.mark.parametrize("call", ["cdf", "quantile", "interval", "explain"])
def test_a_wrong_table_is_refused_by_every_method_for_numbers(of_numbers, call):
    with pytest.raises(
        ValueError, match=r"X has 3 features, but SufficientExplainer is expecting 4 features as input."
    ):
        CALLS[call](of_numbers, X[:, :3])


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (FRAME.rename(columns={"hue": "hues"}), "missing ['hue'], unexpected ['hues']. Did you mean 'hues'?"),
        (FRAME.drop(columns="day"), "`X` has 3 columns, there were 4 at fit: missing ['day'], unexpected []."),
        (FRAME.assign(city="Rome"), "missing [], unexpected ['city']. With extra_columns='ignore' they are left out."),
    ],
)
def test_a_frame_with_other_columns_is_refused(of_frame, frame, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        of_frame.explain(frame)


def test_a_table_without_column_names_warns(of_frame, of_classes):
    with pytest.warns(
        UserWarning, match="X does not have valid feature names, but SufficientExplainer was fitted with"
    ):
        of_frame.predict(ROWS)
    with pytest.warns(UserWarning, match="X has feature names, but SufficientExplainer was fitted without"):
        of_classes.predict(FRAME)


def test_missing_values_are_refused_where_the_forest_cannot_take_them():
    message = "Column 'x1' of `X` holds NaN (row 2): this forest cannot take missing values, so fill them in or choose"
    forest = RandomForestRegressor(n_estimators=5, monotonic_cst=[1, 0, 0, 0], random_state=0)
    explainer = SufficientExplainer(forest)
    with pytest.raises(ValueError, match=re.escape(message)):
        explainer.fit(with_value(NAN), NUMBERS)
    with pytest.raises(ValueError, match=re.escape(message)):
        explainer.fit(X, NUMBERS).explain(with_value(NAN))
    assert len(small().fit(with_value(NAN), CLASSES).explain(with_value(NAN)[:5])) == 5


# --- outcomes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "task", "error", "message"),
    [
        (
            CLASSES,
            "regression",
            ValueError,
            "`y` must hold numbers for a regression; give task='classification' for labels",
        ),
        (np.arange(60).astype("M8[D]"), "auto", TypeError, "`y` must hold labels or numbers, got datetime64[D]."),
        (
            pd.Series(pd.date_range("2020", periods=60)),
            "regression",
            TypeError,
            "`y` must hold labels or numbers, got date",
        ),
        (
            NUMBERS,
            "classification",
            ValueError,
            NO_CLASSES,
        ),
        (
            np.c_[NUMBERS, NUMBERS],
            "auto",
            ValueError,
            "`y` has 2 columns; explain one output at a time: fit(X, y[:, 0]).",
        ),
        (["a"] * 60, "auto", ValueError, "`y` has one class only, 'a': there is nothing to explain."),
        ([3] * 60, "auto", ValueError, "`y` has one class only, 3: there is nothing to explain."),
        ([2.5] * 60, "auto", ValueError, "`y` has one value only, 2.5: there is nothing to explain."),
        (CLASSES[:59], "auto", ValueError, "`y` has 59 entries, `X` has 60 rows."),
        (
            ["a", None] * 30,
            "auto",
            ValueError,
            "`y` has a missing value (row 1): leave out the rows without an outcome.",
        ),
        (
            np.where(X[:, 0] > 0, NAN, 1.0),
            "auto",
            ValueError,
            "`y` holds NaN or inf (row 0): leave out the rows without a",
        ),
        (np.where(np.arange(60) == 7, INF, NUMBERS), "auto", ValueError, "`y` holds NaN or inf (row 7)"),
        (None, "auto", ValueError, "requires y to be passed, but the target y is None"),
        (np.where(X[:, 0] > 0, b"a", b"b"), "auto", TypeError, "`y` holds bytes, such as"),
    ],
)
def test_wrong_outcomes_are_refused_at_fit(y, task, error, message):
    with pytest.raises(error, match=re.escape(message)):
        SufficientExplainer(task=task).fit(X, y)


@pytest.mark.parametrize("method", ["explain", "sdp"])
@pytest.mark.parametrize(
    ("y", "error", "message"),
    [
        (
            ["high", "low", "mid"],
            ValueError,
            "`y` holds the label 'mid' (row 2), which was not among the labels at fit: ['high', 'l",
        ),
        ([1, 0, 1], ValueError, "`y` holds the label 1 (row 0), which was not among the labels at fit: ['high', "),
        (["high", "low"], ValueError, "`y` has 2 entries, `X` has 3 rows."),
        (["high", None, "low"], ValueError, "`y` has a missing value (row 1)"),
        ("high", ValueError, "y should be a 1d array"),
    ],
)
def test_wrong_classes_are_refused_afterwards(of_classes, method, y, error, message):
    with pytest.raises(error, match=re.escape(message)):
        of_classes.explain(ROWS, y) if method == "explain" else of_classes.sdp(ROWS, [0], y)


@pytest.mark.parametrize("method", ["explain", "sdp", "interval"])
@pytest.mark.parametrize(
    ("y", "error", "message"),
    [
        (["a", "b", "c"], ValueError, "`y` must hold numbers for a regression"),
        ([1.0, NAN, 2.0], ValueError, "`y` has a missing value (row 1)"),
        (np.array([1.0, 2.0, INF]), ValueError, "`y` holds NaN or inf (row 2)"),
        ([1.0], ValueError, "`y` has 1 entries, `X` has 3 rows."),
    ],
)
def test_wrong_numbers_are_refused_afterwards(of_numbers, method, y, error, message):
    arguments = {"sdp": (ROWS, [0], y)}.get(method, (ROWS, y))
    with pytest.raises(error, match=re.escape(message)):
        getattr(of_numbers, method)(*arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"sample_weight": np.ones(60)},
            "`fit` takes `X`, `y`, `holdout`, `focus` and `fixed`, got 'sample_weight'. Weights, like",
        ),
        (
            {"weights": np.ones(60)},
            "`fit` takes `X`, `y`, `holdout`, `focus` and `fixed`, got 'weights'. Weights, like",
        ),
        ({"groups": np.ones(60)}, "`fit` takes `X`, `y`, `holdout`, `focus` and `fixed`, got 'groups'."),
    ],
)
def test_fit_takes_no_weights(arguments, message):
    with pytest.raises(TypeError, match=re.escape(message)):
        small().fit(X, CLASSES, **arguments)


# --- methods for one task --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("call", ["cdf", "quantile", "interval"])
def test_classes_have_no_distribution_of_numbers(of_classes, call):
    with pytest.raises(ValueError, match=f"`{call}` is for regression; `y` held classes. See `predict_proba`."):
        CALLS[call](of_classes, ROWS)


@pytest.mark.parametrize("task", ["fitted", "by forest", "by name"])
def test_numbers_have_no_class_probabilities(of_numbers, task):
    by_name = SufficientExplainer(task="regression")
    explainer = {"fitted": of_numbers, "by forest": small(RandomForestRegressor), "by name": by_name}[task]
    assert not hasattr(explainer, "predict_proba")
    with pytest.raises(AttributeError, match="has no attribute 'predict_proba'") as raised:
        explainer.predict_proba(ROWS)
    assert str(raised.value.__cause__) == "`predict_proba` is for classification; for a regression see `cdf`."


def test_an_explainer_of_classes_has_class_probabilities(of_classes):
    assert hasattr(of_classes, "predict_proba")
    assert hasattr(SufficientExplainer(), "predict_proba")


# --- sets, levels and values -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("S", "error", "message"),
    [
        (["speeds"], ValueError, "Unknown variable 'speeds'. Did you mean 'speed'?"),
        ([["speed"], ["hue"], ["nope"]], ValueError, "Unknown variable 'nope'."),
        ([4], ValueError, "Unknown variable 4: there are 4, numbered from 0."),
        ("speed", TypeError, "`S` must be a list of variables, or one such list per row, got 'speed'."),
        (["speed", ["hue"]], TypeError, "`S` mixes variables and lists of variables"),
        ([["speed"], ["hue"]], ValueError, "`S` has 2 sets for the 3 rows of `X`: give one per row, or one list."),
        ([True], TypeError, "A variable is given by its name or its number, got True."),
    ],
)
@pytest.mark.parametrize("method", ["sdp", "predict", "predict_proba"])
def test_a_wrong_set_is_refused(of_frame, method, S, error, message):
    with pytest.raises(error, match=re.escape(message)):
        getattr(of_frame, method)(FRAME[:3], S=S)


def test_the_sdp_needs_a_set(explainer):
    with pytest.raises(TypeError, match=r"`S` must be a list of variables, or one such list per row, got None."):
        explainer.sdp(ROWS, None)


@pytest.mark.parametrize("levels", [1.5, -0.1, NAN, [0.5, 2], [[0.5]]])
def test_a_level_outside_0_to_1_is_refused(of_numbers, levels):
    with pytest.raises(ValueError, match=re.escape(f"`levels` must be in [0, 1], got {levels!r}.")):
        of_numbers.quantile(ROWS, levels)


@pytest.mark.parametrize("values", [NAN, [1, NAN], [[1, 2]]])
def test_values_that_are_no_list_of_numbers_are_refused(of_numbers, values):
    with pytest.raises(ValueError, match=r"`values` must be a list of numbers without NaN."):
        of_numbers.cdf(ROWS, [0], values)


# --- no rows ---------------------------------------------------------------------------------------------------------


def test_no_rows_give_no_answers(of_classes, of_numbers):
    none = X[:0]
    for explainer in (of_classes, of_numbers):
        assert explainer.sdp(none, [0]).shape == (0,)
        assert explainer.sdp(none, []).shape == (0,)
        assert explainer.sdp(none, [0], []).shape == (0,)
        assert explainer.predict(none).shape == (0,)
        assert explainer.predict(none, [0, 1]).shape == (0,)
    assert of_classes.predict_proba(none).shape == (0, 2)
    assert of_classes.predict_proba(none, [0]).shape == (0, 2)
    assert of_numbers.cdf(none, [0], [1, 2, 3]).shape == (0, 3)
    assert of_numbers.cdf(none, None, [1, 2, 3]).shape == (0, 3)
    assert of_numbers.quantile(none, [0.1, 0.9]).shape == (0, 2)
    assert of_numbers.quantile(none, 0.5, [0]).shape == (0,)
    assert of_numbers.interval(none).shape == (0, 2)


@pytest.mark.parametrize("sets", ["all", "minimal"])
def test_no_rows_give_empty_explanations(explainer, sets):
    explanations = explainer.explain(X[:0], sets=sets)
    assert list(explanations) == []
    assert list(explanations[:5]) == []
    assert explanations.to_dict()["explanations"] == []
    assert explanations.to_frame().shape == (0, 13 if explainer.task_ == "classification" else 15)
    assert explanations.to_frame("importance").shape == (0, 4)
    assert set(explanations.mean_importance().values()) == {0.0}
    assert set(explanations.mean_importance("minimal").values()) == {0.0}
    assert str(explanations).startswith("0 rows explained; 0 have a sufficient set")
    with pytest.raises(IndexError, match=r"There are 0 explanations; there is no number 0."):
        explanations[0]


def test_a_frame_without_rows_gives_empty_explanations(of_frame):
    assert len(of_frame.explain(FRAME[:0])) == 0
    assert of_frame.sdp(FRAME[:0], [["hue"]][:0]).shape == (0,)
