"""
One row, three answers: suffice, SHAP and Anchors
=================================================

A random forest predicts that a tumour is benign. Why? Three methods answer for the same row of the same forest, and
each of them answers another question.
"""

import matplotlib.pyplot as plt
import numpy as np
import shap
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

from suffice import SufficientExplainer

data = load_breast_cancer(as_frame=True)
X, y = data.data, data.target_names[data.target]
row = X[21:22]
forest = RandomForestClassifier(100, min_samples_leaf=5, random_state=0)
explainer = SufficientExplainer(forest).fit(X[30:], y[30:])
forest = explainer.forest_
print(f"The forest gives benign a probability of {explainer.predict_proba(row)[0, 0]:.3f}.")

# %%
# SHAP: how much does each variable move the prediction?
# -------------------------------------------------------
#
# The values add up to the difference between the probability of this row and the mean probability. Nearly every one of
# the 30 variables gets a part; size and shape of the cells are spread over many correlated columns.

values = shap.TreeExplainer(forest).shap_values(explainer.encode(row))[0, :, 0]
order = np.argsort(-np.abs(values))[:12]
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.barh([X.columns[i] for i in order][::-1], values[order][::-1], color="#0072b2")
ax.set_xlabel("SHAP value: change of the probability of benign")
ax.spines[["top", "right"]].set_visible(False)
print(f"{np.count_nonzero(np.abs(values) > 0.001)} of {len(values)} values are larger than 0.001.")

# %%
# SHAP does not say whether the first two or three of these variables are *enough*, nor how far their values may move
# before the prediction changes.
#
# Anchors: which conditions keep the prediction of perturbed rows?
# ------------------------------------------------------------------
#
# anchor-exp needs many packages, so this page does not run it. ``python -m benchmarks.anchor_of_row`` in the repository
# prints its answer for this forest and row (2026-11-17, AMD EPYC, 2 cores, anchor-exp 0.0.2.0):
#
# .. code-block:: text
#
#    IF worst concave points <= 0.06 AND worst radius <= 12.89 THEN benign
#    precision 1.00, coverage 0.13, 12.5 s of processor
#
# The columns are cut at their quartiles, so the bounds are quartiles of the data. Precision and coverage are those of
# perturbed rows, in which columns are drawn independently of each other: a large radius may come with a small area.
#
# suffice: which variables are enough, within which bounds?
# -----------------------------------------------------------

explanations = explainer.explain(row)
explanations[0]

# %%
# The bounds lie where the forest itself changes its prediction, and no larger box has the same property. The
# probability is counted on rows of the data that the trees did not see. The rule on these rows:

explanations.plot("rule")

# %%
# What each method is good for
# ----------------------------
#
# ============  =======================================  ==========================================================
# method        answer for this row                      what it is good for
# ============  =======================================  ==========================================================
# SHAP          a signed number for each variable        the direction and size of every contribution
# Anchors       one rule with quartiles as bounds        models that can only be called, also for text and images
# suffice       sets that are enough, the largest box    knowing what the decision depends on, how far values may
#               around the row, and how sure both are    move, and how often this is right
# ============  =======================================  ==========================================================
