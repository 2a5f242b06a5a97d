import numpy as np
import pandas as pd
import pytest
from proof_models import stump_model

from suffice.proofs.ensemble import ModelColumn


def test_a_model_decides_by_what_its_leaves_add():
    X = pd.DataFrame({"job": ["cook", "nurse", None, "smith"], "more": 1, "age": [30.0, 20.0, np.nan, 31.0]})
    model = stump_model()
    values = model.encode(X)
    np.testing.assert_array_equal(values, [[30, 0], [20, 1], [np.nan, np.nan], [31, 2]])
    np.testing.assert_array_equal(model.margins(values), [[-1.75], [1.25], [0.25], [0.25]])
    assert model.decide(values).tolist() == ["no", "yes", "yes", "yes"]


def test_a_tie_goes_to_the_first_class_and_to_the_first_output():
    values = np.array([[31.0, 0.0]])
    assert stump_model(start=np.array([-0.5])).decide(values).tolist() == ["no"]
    largest = stump_model(
        value=np.tile(stump_model().value, (1, 2)), start=np.zeros(2), decides_by="largest", classes=np.array([7, 3])
    )
    assert largest.decide(values).tolist() == [7]


def test_numbers_pass_through_the_link():
    model = stump_model(decides_by="number", classes=None, link="exp")
    np.testing.assert_allclose(model.decide(np.array([[31.0, 0.0]])), np.exp([0.25]))


def test_an_array_is_read_by_position():
    numbers = stump_model(columns=(ModelColumn("a"), ModelColumn("b", (0.0, 1.0, 2.0))))
    np.testing.assert_array_equal(numbers.encode(np.array([[5.0, 2.0]])), [[5, 2]])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"left": np.array([0, -1, -1, 4, -1, -1])}, "two ways lead to one node"),
        ({"left": np.array([3, -1, -1, 4, -1, -1])}, "two ways lead to one node"),
        ({"left": np.array([9, -1, -1, 4, -1, -1])}, "a node has the number 2 or 9, of 6 nodes"),
        ({"value": np.full((6, 1), np.nan)}, "a leaf adds no finite number"),
        ({"threshold": np.full(6, np.nan)}, "a threshold is NaN"),
        ({"label_set": np.full(6, -1)}, "asks numbers about labels"),
        ({"column": np.array([5, -1, -1, 1, -1, -1])}, "a split asks about column 5 of 2"),
        ({"label_sets": np.array([[True, False]])}, "fewer places than its column has labels"),
        ({"classes": np.array(["no"])}, "1 output cannot decide among 1 classes"),
        ({"rounding": -1.0}, "not negative"),
        ({"missing_left": np.array([True])}, "`missing_left` has 1 lines for 6 nodes"),
        ({"value": np.zeros((6, 2))}, r"the leaves add \(2,\) numbers to 1 output"),
    ],
)
def test_arrays_that_are_no_forest_are_refused(changes, message):
    with pytest.raises(ValueError, match=f"two stumps cannot be read as trees: .*{message}"):
        stump_model(**changes)


def test_an_unknown_label_is_named_with_its_row():
    with pytest.raises(ValueError, match=r"Column 'job' of `X` holds 'vicar', which two stumps .* \(row 1\)"):
        stump_model().encode(pd.DataFrame({"age": [1.0, 2.0], "job": ["cook", "vicar"]}))


def test_a_table_without_a_column_is_refused():
    with pytest.raises(ValueError, match=r"missing \['job'\]"):
        stump_model().encode(pd.DataFrame({"age": [1.0]}))
