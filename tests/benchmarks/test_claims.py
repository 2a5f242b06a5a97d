"""What the default answers claim, on a small table."""

import numpy as np
import pandas as pd
from benchmarks.claims import measure_claims, print_claims, rarest_class
from benchmarks.real_tables import RealTable


def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(900, 3)), columns=["a", "b", "c"])
    share = np.where(X["a"] > 0.8, 0.85, 0.05)
    return RealTable("small", X, np.where(rng.random(900) < share, "yes", "no"), True)


def test_the_rarest_class_is_the_one_with_the_fewest_rows():
    assert rarest_class(np.array(["b", "a", "b", "b"])) == ("a", 0.25)


def test_a_rare_class_has_more_sets_by_default_and_all_parts_agree(capsys):
    claims = measure_claims(table(), range(1), 150)
    assert 0.5 < claims.level[0] < 0.9
    n_sets = {levels: checked.n_sets for levels, checked in claims.rare.items()}
    assert n_sets["odds"] > n_sets["same"]
    assert claims.agrees
    assert all(claims.agrees)
    assert claims.right(False) > 0.8
    print_claims([table()], range(1), 60)
    assert "| small | yes   |" in capsys.readouterr().out
