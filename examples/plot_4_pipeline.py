"""
A pipeline with a ColumnTransformer
===================================

Many models are pipelines: numbers are imputed and scaled, categories become indicators. An explanation of indicators
after scaling helps nobody. The explainer treats the pipeline as one model, so its answers are about the columns of the
table, with their own units, categories and missing values.
"""

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from suffice import SufficientExplainer

rng = np.random.default_rng(0)
n = 2000
patients = pd.DataFrame(
    {
        "age": rng.integers(18, 90, n).astype(float),
        "pressure": rng.normal(130, 18, n).round(),
        "smoker": rng.choice(["never", "former", "current"], n, p=[0.5, 0.3, 0.2]),
        "ward": rng.choice(["A", "B", "C"], n),
    }
)
risk = 0.09 * (patients["age"] - 60) + 0.06 * (patients["pressure"] - 135) + 2.5 * (patients["smoker"] == "current")
returns = np.where(risk + rng.logistic(0, 0.5, n) > 0, "returns", "recovers")
patients.loc[rng.random(n) < 0.1, "pressure"] = np.nan  # not measured

numbers = make_pipeline(SimpleImputer(), StandardScaler())
categories = OneHotEncoder(handle_unknown="ignore")
columns = ColumnTransformer(
    [
        ("numbers", numbers, ["age", "pressure"]),
        ("categories", categories, make_column_selector(dtype_exclude="number")),
    ]
)
pipeline = make_pipeline(columns, LogisticRegression()).fit(patients, returns)
pipeline

# %%
# The pipeline as it is
# ---------------------
#
# The table goes in with text and missing values. The answer has the pressure in its own unit, not in standard
# deviations, and the smoker as one column, not as three indicators.

explainer = SufficientExplainer.for_model(pipeline, patients, random_state=0)
print(f"agreement of forest and pipeline: {explainer.fidelity_:.3f}")
patient = {"age": 74.0, "pressure": 150.0, "smoker": "former", "ward": "B"}
explanations = explainer.explain(patient)
explanations[0]

# %%
explanations.plot("rule")

# %%
# A value that is missing
# -----------------------
#
# The same patient without a measured pressure. The pipeline imputes the mean; the explanation says what the decision
# depends on instead.

print(explainer.explain({**patient, "pressure": None})[0])

# %%
# What all patients have in common
# --------------------------------
#
# The mean importance over patients. ``ward`` plays no part, as it should.

explainer.explain(patients[:100], rules=None).plot("importance")
