import numpy as np
import pandas as pd
import pytest
from proof_models import stump_model

from suffice.proofs.model_trees import ModelTrees, read_model_trees

TABLE = pd.DataFrame({"age": [20.0, 25, 40, 60], "job": ["cook", "smith", "cook", "cook"]})


def test_a_row_is_as_far_as_its_columns_differ():
    model_trees = read_model_trees(stump_model(), TABLE)
    # Differences of age are divided by 40; another label counts 1. The rows' own nearest others: 0.5, 1.125, 0.5, 0.5.
    distance, gaps, unusual = model_trees.nearness(np.array([30.0, 1.0]))
    assert (distance, gaps.tolist(), unusual) == (1.125, [0.125, 1.0], 0.25)
    distance, gaps, unusual = model_trees.nearness(np.array([25.0, 2.0]))
    assert (distance, gaps.tolist(), unusual) == (0.0, [0.0, 0.0], 1.0)
    assert model_trees.place(np.array([25.0, 2.0])) == 1
    assert model_trees.place(np.array([25.0, 0.0])) is None


def test_the_model_itself_confirms_an_exception():
    """It is asked with a row of the user's own table; where it agrees, the trees alone do not refute."""
    model_trees = read_model_trees(stump_model(), TABLE)
    values = np.array([31.0, 0.0])
    assert model_trees.decide(values) == "yes"
    assert not model_trees.keeps(0, values)

    class Model:
        def predict(self, X):
            assert list(X.columns) == ["age", "job"]
            return np.where(X["age"] > 35, "yes", "no")

    confirmed = ModelTrees(model_trees.prover, TABLE, Model())
    assert confirmed.decide(values) == "no"
    assert confirmed.keeps(0, values)


def test_an_unknown_option_is_refused():
    with pytest.raises(TypeError, match="nodes"):
        read_model_trees(stump_model(), TABLE, nodes=3)
