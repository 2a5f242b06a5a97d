"""What rows are called, and choosing some of the explanations."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from suffice import Explanations, SufficientExplainer, plots

N = 8
X = pd.DataFrame(np.random.default_rng(0).normal(size=(300, 3)), columns=["speed", "load", "hue"])
NAMES = [f"1677-{letter}" for letter in "ABCDEFGH"]


@pytest.fixture(scope="module")
def explainer():
    return SufficientExplainer(random_state=0, n_jobs=1).fit(X, np.where(X["speed"] > 0, "busy", "calm"))


@pytest.fixture(scope="module")
def named(explainer):
    return explainer.explain(X[:N].set_index(pd.Index(NAMES)))


def test_rows_are_called_by_the_index_of_a_frame(named):
    assert named.ids == tuple(NAMES)
    assert [e.id for e in named] == NAMES
    assert named[3].label == "Row 1677-D"
    assert named[3].row == 3


def test_rows_without_identifiers_are_counted(explainer):
    explanations = explainer.explain(X[:N])
    assert explanations.ids is None
    assert explanations[3].id is None
    assert explanations[3].label == "Row 3"
    assert "id" not in explanations[3].to_dict()
    assert "id" not in explanations.to_frame()
    assert "id" not in explanations.to_frame("rows")
    assert not str(explanations[3]).startswith("Row")


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_rows_are_called_by_a_column(explainer, named, make):
    table = make({"customer": NAMES, **X[:N].to_dict("list")})
    explanations = explainer.explain(table, ids="customer")
    assert explanations.ids == tuple(NAMES)
    assert list(explanations) == list(named)


def test_a_model_does_not_get_the_column_of_identifiers():
    seen = []

    def model(table):
        seen.append(list(table.columns))
        return np.where(table["speed"] > 0, "busy", "calm")

    explainer = SufficientExplainer.for_model(model, X, random_state=0)
    explanations = explainer.explain(X[:N].assign(customer=NAMES), ids="customer")
    assert explanations.ids == tuple(NAMES)
    assert seen == [list(X.columns)] * 2


def test_every_output_names_the_row(named, tmp_path):
    assert str(named[3]).startswith("Row 1677-D\n")
    assert "Row 1677-D" in named[3]._repr_html_()
    assert named[3].to_dict()["id"] == "1677-D"
    assert [line["id"] for line in json.loads(named.to_json())["explanations"]] == NAMES
    assert named.to_frame("rows")["id"].tolist() == NAMES
    assert named.to_frame("rows")["row"].tolist() == list(range(N))
    assert list(dict.fromkeys(named.to_frame()["id"])) == NAMES
    page = named.report(tmp_path / "r.html").read_text()
    assert all(f"Row {name}" in page for name in NAMES)
    assert plots.sets(named[3]).get_title(loc="left").startswith("Row 1677-D, outcome: ")
    assert plots.importance(named[3]).get_title(loc="left").startswith("Row 1677-D, outcome: ")


@pytest.mark.parametrize(
    ("choice", "rows"),
    [
        (slice(2, 5), [2, 3, 4]),
        (slice(None, None, -3), [7, 4, 1]),
        ([5, -1, 0], [5, 7, 0]),
        (np.array([1, 1]), [1, 1]),
        (np.arange(N) % 4 == 1, [1, 5]),
        ([False] * (N - 1) + [True], [7]),
        ([], []),
    ],
)
def test_some_rows_are_explanations_too(named, choice, rows, tmp_path):
    some = named[choice]
    assert isinstance(some, Explanations)
    assert list(some) == [named[i] for i in rows]
    assert some.ids == tuple(NAMES[i] for i in rows)
    assert some.positions.tolist() == rows
    assert [e.label for e in some] == [named[i].label for i in rows]
    assert some.to_frame("rows")["row"].tolist() == rows
    assert some.report(tmp_path / "some.html").exists()
    assert np.array_equal(some.importance_matrix(), named.importance_matrix()[rows])


def test_a_slice_without_identifiers_keeps_its_positions(explainer, tmp_path):
    some = explainer.explain(X[:N])[5:7]
    assert [e.label for e in some] == ["Row 5", "Row 6"]
    page = some.report(tmp_path / "r.html").read_text()
    assert all(f"Row {i}" in page for i in (5, 6))
    assert "Row 0" not in page


def test_a_slice_keeps_its_stability(explainer):
    explanations = explainer.explain(X[:4])
    stability = explainer.stability(X[:4], n_seeds=2, n_resamples=2)
    some = explanations.with_stability(stability)[[3, 1]]
    assert [str(e.stability) for e in some] == [str(stability[3]), str(stability[1])]


@pytest.mark.parametrize(
    ("choice", "error", "message"),
    [
        ([0, 8], IndexError, "index 8 is out of bounds for axis 0 with size 8"),
        (np.array([-9]), IndexError, "index -9 is out of bounds for axis 0 with size 8"),
        (np.array([True]), IndexError, "boolean index did not match indexed array"),
        (["a"], IndexError, "arrays used as indices must be of integer"),
        (np.zeros((2, 2), dtype=int), TypeError, "Choose explanations by places or by a mask of booleans, got"),
    ],
)
def test_a_wrong_choice_is_refused(named, choice, error, message):
    with pytest.raises(error, match=message):
        named[choice]


def test_joined_explanations_keep_their_identifiers(named):
    joined = Explanations.joined([named[:3], named[3:]])
    assert joined.ids == named.ids
    assert list(joined) == list(named)


def test_certified_explanations_keep_their_identifiers(named, explainer):
    certified = explainer.certify(named, X, np.where(X["speed"] > 0, "busy", "calm"))
    assert certified.attached.ids == named.ids


def test_other_identifiers_can_be_put_in(named):
    other = named.with_ids(["x"] * N, range(10, 10 + N))
    assert other[0].label == "Row x"
    assert other.positions.tolist() == list(range(10, 10 + N))
    assert other.with_ids(None)[0].label == "Row 10"
