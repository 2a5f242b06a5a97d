import numpy as np
import pytest
from benchmarks.rare_classes import level_of, measure_rare, rarest_class
from benchmarks.real_tables import load_table


def test_the_level_raises_the_odds_ninefold():
    assert level_of(0.1) == pytest.approx(0.5)
    assert level_of(0.25) == pytest.approx(0.75)
    assert level_of(0.6) == 0.9


def test_the_rarest_class_is_found():
    assert rarest_class(np.array(["a", "b", "a", "a"])) == ("b", 0.25)


def test_only_rows_of_the_rarest_class_are_explained():
    table = load_table("breast cancer")
    result = measure_rare(table, range(1), 30)
    _, explained, _ = table.split(0, 30)
    (usual, at_usual), (lower, at_lower) = result.values()
    assert lower < usual == 0.9
    assert at_usual.n_rows == at_lower.n_rows == np.count_nonzero(explained.y == 0)
    assert at_usual.n_sets <= at_lower.n_sets
