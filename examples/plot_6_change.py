"""
What would change it?
=====================

An explanation says what keeps an outcome. A person with a refused loan asks the opposite: what would have to be
different? The answer is not one point but a box of values, with the number of people who are in it.
"""

import numpy as np
import pandas as pd

from suffice import SufficientExplainer

rng = np.random.default_rng(0)
n = 2000
loans = pd.DataFrame(
    {
        "income": rng.gamma(6, 500, n).round(-1),
        "amount": rng.gamma(3, 3000, n).round(-2),
        "months": rng.choice([12, 24, 36, 48, 60, 72], n),
        "account": rng.choice(["none", "some", "much"], n, p=[0.4, 0.4, 0.2]),
        "age": rng.integers(18, 75, n),
    }
)
burden = loans["amount"] / loans["months"] / loans["income"]
is_good = (burden < 0.12) & ((loans["account"] != "none") | (loans["income"] > 3500))
decision = pd.Series(np.where(is_good ^ (rng.random(n) < 0.03), "granted", "refused"), name="decision")
explainer = SufficientExplainer(random_state=0, pi=0.8).fit(loans, decision)

# %%
# A refused loan
# --------------

applicant = {"income": 2300.0, "amount": 12000.0, "months": 24, "account": "some", "age": 31}
print(explainer.explain(applicant)[0])

# %%
# The fewest changes
# ------------------
#
# The age must not change, and the income may only increase. Each change is a box: the loan would be granted with
# probability 0.8 or more everywhere in it.

changes = explainer.what_if(applicant, "granted", fixed=["age"], direction={"income": "up"}, n=2)
changes[0]

# %%
# The box on the data: the row, the box, and the least change.

changes.plot()

# %%
# A plain "No"
# ------------
#
# Not every target can be reached. If only the account may change, nothing plausible leads to a loan, and the answer
# says how close it comes.

print(explainer.what_if(applicant, "granted", only=["account"])[0])

# %%
# For a whole group
# -----------------
#
# For a rule instead of a row: what would change the outcome of everyone that the rule covers?

rule = explainer.explain(applicant)[0].rule
print(rule)
print(explainer.what_if_rules([rule]))
