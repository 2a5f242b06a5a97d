"""Writes format_1.suffice and format_1.json. Run once, by the first version that has the format; kept to show how."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier

from suffice import SufficientExplainer

if __name__ == "__main__":
    rng = np.random.default_rng(0)
    n = 80
    X = pd.DataFrame(
        {
            "hour": rng.integers(0, 24, n),
            "weather": rng.choice(["clear", "mist", "rain"], n),
            "temp": np.where(rng.random(n) < 0.1, np.nan, rng.normal(15, 8, n).round(1)),
            "workingday": rng.random(n) < 0.7,
        }
    )
    y = np.where((X["hour"] > 12) & (X["weather"] != "rain"), "busy", "calm")
    forest = RandomForestClassifier(5, min_samples_leaf=3, random_state=0)
    explainer = SufficientExplainer(forest).fit(X, y)
    folder = Path(__file__).parent
    explainer.save(folder / "format_1.suffice")
    rows = X[:20].astype(object).where(X[:20].notna(), None)
    answers = {
        "rows": rows.to_dict("list"),
        "explanations": [str(e) for e in explainer.explain(X[:20])],
        "probabilities": explainer.predict_proba(X[:20]).tolist(),
    }
    (folder / "format_1.json").write_text(json.dumps(answers, indent=1) + "\n")
