"""The anchor of one row of breast cancer, for the example of the gallery: ``python -m benchmarks.anchor_of_row``.

anchor-exp needs many packages (the extra `bench`), so the gallery holds what this prints.
"""

from __future__ import annotations

import time

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

ROW = 21


def main():
    from anchor import anchor_tabular

    data = load_breast_cancer()
    X, y = data.data, data.target
    forest = RandomForestClassifier(100, min_samples_leaf=5, random_state=0).fit(X[30:], y[30:])
    peer = anchor_tabular.AnchorTabularExplainer(list(data.target_names), list(data.feature_names), X[30:])
    np.random.seed(0)  # noqa: NPY002 (anchor-exp draws from it)
    start = time.process_time()
    anchor = peer.explain_instance(X[ROW], forest.predict, threshold=0.9)
    seconds = time.process_time() - start
    print(f"IF {' AND '.join(anchor.names())} THEN {data.target_names[forest.predict(X[[ROW]])[0]]}")
    print(f"precision {anchor.precision():.2f}, coverage {anchor.coverage():.2f}, {seconds:.1f} s of processor")


if __name__ == "__main__":
    main()
