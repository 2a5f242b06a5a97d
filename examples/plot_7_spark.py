"""
Many rows with Spark
====================

An explainer is fitted on one machine and explains rows on many: ``suffice.spark`` sends it to every worker once. This
example starts Spark on this machine with one worker thread; on a cluster only the session differs. It needs Java and
the extra `spark`.
"""

import os
import sys
import warnings

import matplotlib.pyplot as plt
from pyspark.sql import SparkSession
from sklearn.datasets import load_wine

from suffice import SufficientExplainer, spark

warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")
data = load_wine(as_frame=True)
X, y = data.data.rename(columns={"od280/od315_of_diluted_wines": "od280"}), data.target_names[data.target]
explainer = SufficientExplainer(random_state=0).fit(X, y)
print(f"accuracy on rows that the trees did not see: {explainer.fidelity_:.3f}")

# %%
# The rows as a Spark table
# -------------------------
#
# ``keep`` names columns that go through to the result, here the number of the bottle.

os.environ["PYSPARK_PYTHON"] = sys.executable
session = (
    SparkSession.builder.master("local[1]")
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.ui.enabled", "false")
    .config("spark.ui.showConsoleProgress", "false")
    .getOrCreate()
)
session.sparkContext.setLogLevel("OFF")
rows = session.createDataFrame(X[:60].assign(bottle=range(60)))
lines = spark.explain(explainer, rows, keep=["bottle"], sets="minimal")
lines.printSchema()

# %%
# Nothing has run so far; the types of the result are known before. Now Spark explains the rows.

explained = lines.toPandas()
explained[["bottle", "outcome", "best_set", "sdp", "rule"]].head()

# %%
# The same results, bit for bit
# -----------------------------
#
# However the table is split into partitions, the results are those of one machine.

here = explainer.explain(X[:60], sets="minimal").to_frame("rows")
print("equal:", (explained.sort_values("bottle")["sdp"].to_numpy() == here["sdp"].to_numpy()).sum(), "of", len(here))

# %%
# From here on it is an ordinary table: which variables are in the best sets?

counts = explained["best_set"].explode().value_counts()
fig, ax = plt.subplots(figsize=(7, 3), layout="constrained")
ax.barh(counts.index[::-1], counts[::-1], color="#0072b2")
ax.set_xlabel("rows with the variable in the best set")
ax.spines[["top", "right"]].set_visible(False)
session.stop()
