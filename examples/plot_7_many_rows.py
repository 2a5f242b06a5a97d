"""
Many rows with Dask or Spark
============================

An explainer is fitted on one machine and explains rows on many: ``suffice.dask`` and ``suffice.spark`` send it to every
worker once. This example runs Dask on this machine; with a cluster, the current client runs it. For Spark only the
frame differs: ``spark.explain(explainer, session.createDataFrame(rows), keep=["bottle"])``.
"""

import dask
import dask.dataframe as dd
import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

import suffice.dask
from suffice import SufficientExplainer

dask.config.set(scheduler="threads")
data = load_wine(as_frame=True)
X, y = data.data.rename(columns={"od280/od315_of_diluted_wines": "od280"}), data.target_names[data.target]
explainer = SufficientExplainer(random_state=0).fit(X, y)
print(f"accuracy on rows that the trees did not see: {explainer.fidelity_:.3f}")

# %%
# The rows as a distributed table
# -------------------------------
#
# ``keep`` names columns that go through to the result, here the number of the bottle.

rows = dd.from_pandas(X[:60].assign(bottle=range(60)), npartitions=4)
lines = suffice.dask.explain(explainer, rows, keep=["bottle"])
print(lines.dtypes.head(8))

# %%
# Nothing has run so far; the types of the result are known before. Now Dask explains the rows.

explained = lines.compute()
explained[["bottle", "outcome", "best_set", "sdp", "rule"]].head()

# %%
# The same results, bit for bit
# -----------------------------
#
# However the table is split into partitions, the results are those of one machine.

here = explainer.explain(X[:60]).to_frame("rows")
print("equal:", (explained.sort_values("bottle")["sdp"].to_numpy() == here["sdp"].to_numpy()).sum(), "of", len(here))

# %%
# From here on it is an ordinary table: which variables are in the best sets?

counts = explained["best_set"].explode().value_counts()
fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.barh(counts.index[::-1], counts[::-1], color="#0072b2")
ax.set_xlabel("rows with the variable in the best set")
ax.spines[["top", "right"]].set_visible(False)
