"""PyXAI as a worker of ``benchmarks.proofs``: reasons of rows of a saved model, in its own environment.

Its argument is a folder with ``table.csv`` (the training rows, the outcome last), ``rows.npy`` and ``model.json``
(XGBoost) or ``model.pkl`` (a forest of scikit-learn, written by the benchmark itself).
"""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import xgboost
from pyxai import Explaining, Learning, Tools

from benchmarks.turns import serve

SECONDS = 5  # a row of a forest may take


def main(folder, is_class):
    Tools.set_verbose(0)
    table, rows = pd.read_csv(folder / "table.csv"), np.load(folder / "rows.npy")
    if (folder / "model.json").exists():
        model = xgboost.XGBClassifier() if is_class else xgboost.XGBRegressor()
        model.load_model(folder / "model.json")
    else:
        model = pickle.loads((folder / "model.pkl").read_bytes())
    _, trees = Learning.ModelIO.import_models(model, table)
    numbers = {"numerical": Learning.DEFAULT}
    explainer = Explaining.initialize(trees, instance=pd.Series(rows[0], table.columns[:-1]), features_type=numbers)
    is_forest = not hasattr(model, "get_booster")
    width = 0.1 * float(np.ptp(table.iloc[:, -1]))

    def explain(i, **settings):
        explainer.set_instance(pd.Series(rows[i], table.columns[:-1]))
        if is_forest:
            reason = explainer.sufficient_reason(time_limit=SECONDS)
        else:
            if not is_class:
                predicted = float(model.predict(rows[i : i + 1])[0])
                explainer.set_interval(predicted - width, predicted + width)
            reason = explainer.tree_specific_reason(**settings)
        if not reason:
            return {"names": None, "n_conditions": 0}
        features = explainer.to_features(reason)
        names = {name for name in table.columns[:-1] for text in features if str(text).startswith(f"{name} ")}
        return {"names": sorted(names), "n_conditions": len(reason)}

    serve({"one": lambda i: explain(i, n_iterations=1), "most": explain})


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2] == "class")
