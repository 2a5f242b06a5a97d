"""
A credit decision with reasons
==============================

A bank refuses a loan and must tell the applicant the principal reasons, in the wording of its code book, and must not
base a refusal on a protected variable. ``reasons`` gives them in order, or refuses to give any where they would not be
true. The table is synthetic: applicants are refused if their debt is high for their income, or if they have missed
payments before.
"""

import json
import tempfile
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from suffice import SufficientExplainer, records

rng = np.random.default_rng(0)
n = 2000
applicants = pd.DataFrame(
    {
        "income": rng.gamma(6, 500, n).round(-1),
        "debt": rng.gamma(2, 3000, n).round(-2),
        "missed payments": rng.poisson(0.6, n),
        "years employed": rng.integers(0, 30, n),
        "home": rng.choice(["rents", "owns"], n),
        "age": rng.integers(18, 80, n),
    }
)
is_bad = (applicants["debt"] > 3 * applicants["income"]) | (applicants["missed payments"] >= 2)
past = np.where(is_bad ^ (rng.random(n) < 0.03), "refuse", "grant")
encoder = make_column_transformer((OneHotEncoder(), ["home"]), remainder="passthrough")
model = make_pipeline(encoder, GradientBoostingClassifier(n_estimators=60, random_state=0)).fit(applicants, past)

# %%
# The code book
# -------------
#
# Each variable has a code and a text; ``{value}`` is the applicant's value and ``{bound}`` how far it may be without
# another decision. A bank keeps it in a CSV or JSON file.

codes = {
    "income": ("R01", "Income of {value} is too low: {bound}"),
    "debt": ("R02", "Debt of {value} is too high: {bound}"),
    "missed payments": ("R03", "Missed payments: {value}"),
    "years employed": ("R04", "Length of employment: {value} years"),
    "home": ("R05", "Home: {value}"),
}

# %%
# The reasons of refusals
# -----------------------
#
# The model's own decisions are explained. ``adverse`` says which of them need reasons.

explainer = SufficientExplainer.for_model(model, applicants, random_state=0)
new = applicants[:60]
reasons = explainer.reasons(new, adverse="refuse", codes=codes, protected=["age"], n=4)
print(reasons)

# %%
# One applicant with missed payments, and one whose debt is high for the income. As many reasons are given as were
# needed to keep the decision; the list is not filled up.

with_reasons = [answer for answer in reasons if answer.codes]
missed = next(answer for answer in with_reasons if "R03" in answer.codes)
indebted = next(answer for answer in with_reasons if {"R01", "R02"} <= set(answer.codes))
print(missed.text)
print()
print(indebted.text)

# %%
# As a card for the clerk:

indebted

# %%
# The rule behind the reasons, on the decisions of the past: the bounds in the texts are those of this box.

row = new.iloc[[reasons.index(indebted)]]
explainer.explain(row).plot("rule")

# %%
# Where no reasons are given
# --------------------------
#
# A reason must be true. If the forest decides otherwise than the model, if no small set keeps the decision, or if a
# refusal rests on a protected variable, the answer is a refusal that says why.

print(reasons.refusals)
print(reasons.to_frame("reasons")[["row", "rank", "code", "text"]].head().to_string(index=False))

# %%
# A letter to each applicant
# --------------------------
#
# ``records.write`` keeps a record of each decision, one JSON object per line; ``records.verify`` computes them again.
# Plain Python turns those with reasons into letters. A template that other people write may run without end or take all
# memory, even in a sandbox; ``escape`` keeps texts of the table from becoming markup.

with tempfile.TemporaryDirectory() as folder:
    explainer.save(f"{folder}/loans.suffice")
    records.write(reasons, f"{folder}/records.jsonl", f"{folder}/loans.suffice")
    decisions = [json.loads(line) for line in Path(folder, "records.jsonl").read_text().splitlines()]


def write_letter(record: dict[str, Any]) -> str:
    """Write a letter with the reasons of a record."""
    reasons = [f"<li>{escape(reason['text'])} ({escape(reason['code'])})</li>" for reason in record["reasons"]]
    lines = [f"<p>Dear applicant {record['row']},</p>", "<p>we cannot grant the loan, for these reasons:</p>"]
    return "\n".join([*lines, "<ol>", *reasons, "</ol>"])


letters = {record["row"]: write_letter(record) for record in decisions if record["status"] == "reasons"}
print(len(letters), "letters, one of them:")
print(letters[indebted.row])

# %%
# What would change it?
# ---------------------
#
# The next question of the applicant, answered for the same model; see also :ref:`what would change it
# <sphx_glr_gallery_plot_6_change.py>`.

print(explainer.what_if(row, "grant", fixed=["age", "home", "years employed"], pi=0.8)[0])
