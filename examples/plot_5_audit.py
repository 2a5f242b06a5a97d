"""
An audit of a model by its global rules
=======================================

A model decides on applications. An auditor wants to know what it does in general, in a page that can be read, and
whether it uses a variable that it should not use. This model was trained on decisions of the past in which applicants
from one district were treated worse.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from suffice import GlobalRulesClassifier, SufficientExplainer

rng = np.random.default_rng(0)
n = 1500
people = pd.DataFrame(
    {
        "income": rng.gamma(6, 500, n).round(-1),
        "debt": rng.gamma(2, 400, n).round(-1),
        "years employed": rng.integers(0, 30, n),
        "district": rng.choice(["north", "south", "east"], n),
    }
)
able = people["income"] - people["debt"] > 1500
refused = ~able | ((people["district"] == "east") & (people["income"] < 3500))  # the bias of the past
past = np.where(refused ^ (rng.random(n) < 0.03), "refuse", "grant")
encoder = make_column_transformer((OneHotEncoder(), ["district"]), remainder="passthrough")
model = make_pipeline(encoder, GradientBoostingClassifier(n_estimators=60, random_state=0)).fit(people, past)

# %%
# The model as a short list of rules
# ----------------------------------
#
# The list is made from the model's own decisions. Each rule that covers a person adds to the probability of a decision;
# its figures say how often the model decides so where the rule holds. Some rules name the district.

explainer = SufficientExplainer.for_model(model, people, random_state=0)
rules = GlobalRulesClassifier.from_explainer(explainer, max_rules=8)
print(rules)

# %%
# Coverage and precision of each rule:

rules.plot()

# %%
# Which refusals depend on the district?
# --------------------------------------
#
# For each refused person, the sets of variables that keep the refusal. If the district is in the smallest of them,
# income and debt alone do not explain the decision.

decisions = model.predict(people)
refusals = people[decisions == "refuse"][:200]
explanations = explainer.explain(refusals, sets="minimal", rules=None)
rests_on_district = np.array(["district" in (e.best_set.variables if e.is_sufficient else ()) for e in explanations])
share = pd.Series(rests_on_district, refusals.index).groupby(refusals["district"]).mean()
fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.bar(share.index, share, color="#0072b2")
ax.set(ylabel="refusals that rest on the district", ylim=(0, 1))
ax.spines[["top", "right"]].set_visible(False)

# %%
# One such refusal, in words:

suspect = int(np.flatnonzero(rests_on_district)[0])
print(explainer.explain(refusals[suspect : suspect + 1])[0])

# %%
# Do the rules hold?
# ------------------
#
# Rules are statements about future decisions. They are checked on fresh rows, all together; the outcomes there are the
# model's own decisions. Rules that only shift the probability do not reach the level alone, and are marked.

fresh = people.sample(1000, replace=True, random_state=1)
fresh = fresh.assign(income=fresh["income"] + 5, debt=fresh["debt"] + 5)
checked = explainer.certify(rules, fresh)
print(checked)
