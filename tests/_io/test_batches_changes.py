"""Changes of Dask and Spark tables: the same as on one machine."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

from suffice import SufficientExplainer


@pytest.fixture(scope="module")
def loans():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"name": np.arange(300), "income": rng.integers(10, 60, 300), "debt": rng.uniform(0, 5, 300)})
    y = np.where(X["income"] > 30, "good", "bad")
    forest = RandomForestClassifier(8, min_samples_leaf=5, random_state=0)
    return SufficientExplainer(forest).fit(X[["income", "debt"]], y), X


def check(lines, explainer, X):
    rows = explainer.what_if(X[["income", "debt"]], "good", fixed=["debt"]).to_frame("rows")
    assert lines["name"].tolist() == X["name"].tolist()
    assert lines["n_changes"].tolist() == rows["n_changes"].tolist()
    for name in ("what_changes", "box", "nearest"):
        assert [v for v in lines[name].tolist() if isinstance(v, str)] == [
            v for v in rows[name].tolist() if isinstance(v, str)
        ]


def test_dask(loans):
    dd = pytest.importorskip("dask.dataframe")
    from suffice import dask

    explainer, X = loans
    lines = dask.what_if(explainer, dd.from_pandas(X[:40], npartitions=3), "good", keep="name", fixed=["debt"])
    assert lines.columns.tolist()[:3] == ["name", "outcome", "target"]
    check(lines.compute(scheduler="sync"), explainer, X[:40].reset_index(drop=True))
