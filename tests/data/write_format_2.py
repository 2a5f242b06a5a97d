"""Writes format_2.suffice and format_2.json. Run once, by the last version that has the format; kept to show how.

In this format a `radius` is the square of the distance, and text that reads as numbers is a column of categories.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestRegressor

from suffice import SufficientExplainer

if __name__ == "__main__":
    rng = np.random.default_rng(0)
    n = 200
    X = pd.DataFrame(
        {
            "hour": rng.integers(0, 24, n),
            "fare": rng.choice(["2.50", "4", " "], n),
            "temp": np.where(rng.random(n) < 0.1, np.nan, rng.normal(15, 8, n).round(1)),
        }
    )
    y = 10.0 * X["hour"] + rng.normal(0, 5, n).round(1)
    forest = RandomForestRegressor(5, min_samples_leaf=3, random_state=0)
    explainer = SufficientExplainer(forest, radius=900.0, pi=0.7, n_jobs=1).fit(X, y)
    folder = Path(__file__).parent
    explainer.save(folder / "format_2.suffice")
    explanations = explainer.explain(X[:20])
    answers = {
        "rows": X[:20].astype(object).where(X[:20].notna(), None).to_dict("list"),
        "intervals": explainer.interval(X[:20]).tolist(),
        "best_sets": [[list(best.variables), best.sdp] for best in explanations.best_sets],
        "supports": [None if rule is None else rule.support for rule in explanations.rules],
        "predictions": explainer.predict(X[:20]).tolist(),
    }
    (folder / "format_2.json").write_text(json.dumps(answers, indent=1) + "\n")
