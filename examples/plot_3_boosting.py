"""
A gradient-boosted model with categories
========================================

LightGBM reads categories as they are. So does the explainer: the model gets the table unchanged, and the explanation
names its columns. The table is a synthetic list of flats and whether they were let within a week.
"""

# sphinx_gallery_thumbnail_number = 2

import lightgbm
import numpy as np
import pandas as pd

from suffice import SufficientExplainer, plots

rng = np.random.default_rng(0)
n = 3000
flats = pd.DataFrame(
    {
        "district": pd.Categorical(rng.choice(["harbour", "old town", "north", "south", "west"], n)),
        "rooms": rng.integers(1, 6, n),
        "rent": rng.normal(1100, 300, n).round(-1),
        "balcony": rng.random(n) < 0.5,
        "heating": pd.Categorical(rng.choice(["gas", "district", "heat pump"], n)),
    }
)
fair = 500 + 180 * flats["rooms"] + 200 * flats["district"].isin(["harbour", "old town"])
let_soon = np.where(flats["rent"] < fair + rng.normal(0, 40, n), "within a week", "later")

model = lightgbm.LGBMClassifier(n_estimators=60, num_leaves=15, random_state=0, n_jobs=1, verbose=-1)
model.fit(flats[:2400], let_soon[:2400])
print(f"The model's accuracy on other flats: {model.score(flats[2400:], let_soon[2400:]):.2f}")

# %%
# Does the forest follow the model?
# ---------------------------------
#
# ``for_model`` fits a forest to the model's outputs. Its agreement with the model on rows that its trees did not see is
# the first number to look at.

explainer = SufficientExplainer.for_model(model, flats[:2400], random_state=0)
print(f"agreement of forest and model: {explainer.fidelity_:.3f}")
plots.quality(explainer)

# %%
# One flat
# --------
#
# A flat of two rooms in the north for 1040: the model expects that it takes longer than a week to let. The rule names
# the categories by their labels.

explanations = explainer.explain(flats[2400:2440])
row = next(i for i, e in enumerate(explanations) if e.rule and any(c.name == "district" for c in e.rule.conditions))
explanations[row]

# %%
explanations.plot("rule", row=row)

# %%
# Forest and model do not agree on every flat. Such explanations are marked, and should be read with care.

print(f"{explanations.forest_agrees.sum()} of {len(explanations)} explanations are of rows on which both agree")
