"""
Demand for bikes, a regression
==============================

How many bikes will be rented in an hour? The outcome is a number, so "the outcome is kept" needs an interval. This
synthetic year of hours follows the pattern of bike sharing systems: two peaks on working days, one on free days, more
in warm and dry weather.
"""

import numpy as np
import pandas as pd

from suffice import SufficientExplainer

rng = np.random.default_rng(0)
n = 3000
hours = pd.DataFrame(
    {
        "hour": rng.integers(0, 24, n),
        "workingday": rng.random(n) < 0.7,
        "temp": rng.normal(15, 9, n).round(1),
        "humidity": rng.integers(20, 100, n),
        "weather": rng.choice(["clear", "mist", "rain"], n, p=[0.6, 0.25, 0.15]),
    }
)
commute = np.isin(hours["hour"], [8, 17, 18]) * hours["workingday"]
leisure = hours["hour"].between(11, 18) * ~hours["workingday"]
demand = 30 + 400 * commute + 250 * leisure + 5 * hours["temp"].clip(0) * hours["hour"].between(7, 21)
demand = (demand * hours["weather"].map({"clear": 1.0, "mist": 0.9, "rain": 0.4})).rename("rentals")
demand = (demand + rng.normal(0, 15, n)).clip(0).round()

explainer = SufficientExplainer(random_state=0, radius=80).fit(hours, demand)
print(explainer.task_reason_)
print(f"R2 on rows that the trees did not see: {explainer.fidelity_:.2f}")

# %%
# A rush hour
# -----------
#
# With ``radius=80``, the outcome is kept if the demand stays within 80 rentals of the prediction. Without it, the
# interval holds 95 % of the outcomes of such hours, and is as wide as they vary.

rush = {"hour": 17, "workingday": True, "temp": 18.0, "humidity": 55, "weather": "clear"}
explanations = explainer.explain(rush)
explanations[0]

# %%
# The rule on the training rows: hours in the box keep their demand near the prediction.

explanations.plot("rule", variables=["hour", "temp"])

# %%
# What is known if only some variables are known?
# -----------------------------------------------
#
# The quantiles of the demand for this hour, first with everything known, then without the weather.

levels = [0.05, 0.5, 0.95]
print(explainer.quantile(rush, levels).round())
print(explainer.quantile(rush, levels, ["hour", "workingday", "temp"]).round())
