"""Writes format_3_*.suffice and format_3.json. Run once, by the last version that has the format; kept to show how.

In this format categories are ordered by their mean outcome, all trees vote on every set, the probability given all
variables is the share in the leaves, and intervals of numbers are quantiles of leaves.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from suffice import SufficientExplainer

if __name__ == "__main__":
    rng = np.random.default_rng(0)
    n = 200
    X = pd.DataFrame(
        {
            "hour": rng.integers(0, 24, n),
            "sky": rng.choice(["rain", "mist", "clear", "snow"], n),
            "temp": np.where(rng.random(n) < 0.1, np.nan, rng.normal(15, 8, n).round(1)),
        }
    )
    busy = np.where((X["hour"] > 7) & X["sky"].isin(["clear", "mist"]), "busy", "calm")
    rides = 10.0 * X["hour"] + 20.0 * (X["sky"] == "clear") + rng.normal(0, 5, n).round(1)
    outcomes = {"classes": busy, "numbers": rides}
    folder = Path(__file__).parent
    answers = {"rows": X[:20].astype(object).where(X[:20].notna(), None).to_dict("list")}
    for name, y in outcomes.items():
        kind = RandomForestClassifier if name == "classes" else RandomForestRegressor
        forest = kind(10, min_samples_leaf=5, random_state=0)
        explainer = SufficientExplainer(forest, n_jobs=1).fit(X, y)
        explainer.save(folder / f"format_3_{name}.suffice")
        explanations = explainer.explain(X[:20], check="rows")
        answers[name] = {
            "sets": [[[list(S.variables), S.sdp] for S in e.sufficient_sets] for e in explanations],
            "of_all": [e.sdp_of_all for e in explanations],
            "intervals": [e.interval for e in explanations],
            "rules": [None if rule is None else str(rule.sentence) for rule in explanations.rules],
            "predictions": explainer.predict(X[:20]).tolist(),
        }
    (folder / "format_3.json").write_text(json.dumps(answers, indent=1) + "\n")
