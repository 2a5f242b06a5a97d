"""
Churn: why does this customer leave?
====================================

A telephone company wants to know, customer by customer, why some leave. The table is synthetic, so that the true law is
known and the answers can be checked against it: customers leave if they have a monthly contract and are new, or if they
pay a lot for fibre without support. One customer in twenty acts otherwise.
"""

import numpy as np
import pandas as pd

from suffice import SufficientExplainer


def make_customers(n: int, seed: int) -> tuple[pd.DataFrame, pd.Series]:
    """Make customers, and whether they leave."""
    rng = np.random.default_rng(seed)
    customers = pd.DataFrame(
        {
            "contract": rng.choice(["monthly", "one year", "two years"], n, p=[0.55, 0.25, 0.2]),
            "tenure": rng.integers(0, 72, n),
            "internet": rng.choice(["fibre", "DSL", "none"], n, p=[0.45, 0.35, 0.2]),
            "support": rng.random(n) < 0.4,
            "charge": rng.uniform(20, 120, n).round(1),
            "paperless": rng.random(n) < 0.6,
        }
    )
    is_new = (customers["contract"] == "monthly") & (customers["tenure"] < 12)
    is_dear = (customers["internet"] == "fibre") & ~customers["support"] & (customers["charge"] > 80)
    leaves = (is_new | is_dear) ^ (rng.random(n) < 0.05)
    return customers, leaves.map({True: "leaves", False: "stays"}).rename("decision")


customers, decisions = make_customers(2000, seed=0)
customers.assign(decision=decisions).head()

# %%
# One customer
# ------------
#
# The table needs no encoding. The customer below is new and has a monthly contract. The explanation names exactly these
# two columns: if only they are known, the customer leaves with the probability that is stated.

explainer = SufficientExplainer(random_state=0).fit(customers, decisions)
newcomer = {
    "contract": "monthly", "tenure": 5, "internet": "DSL", "support": True, "charge": 55.0, "paperless": True,
}  # fmt: skip
explanations = explainer.explain(newcomer)
explanations[0]

# %%
# The rule says how far the values may move: the contract stays monthly, and the tenure has an upper bound. It lies
# below the 12 months of the law, since near the boundary the forest is less certain than the level of 0.9.
# The curve shows the probability along the tenure.

explanations.plot("curve", variable="tenure")

# %%
# Another reason for another customer
# -----------------------------------
#
# A customer of five years leaves for another reason. No single importance for the whole table would show this.

loyal = {
    "contract": "two years", "tenure": 60, "internet": "fibre", "support": False, "charge": 105.0, "paperless": False,
}  # fmt: skip
explainer.explain(loyal)[0]

# %%
# All customers who leave
# -----------------------
#
# The overview has a lane for each variable: how often it is in the best set, and the values of these customers. They
# leave for two reasons. ``paperless`` plays no role in the decision.

leaving = explainer.explain(customers[decisions == "leaves"][:40], rules=None)
leaving.plot("overview")
