"""The worked example of docs/evidence/reasons.md: ``python -m benchmarks.reasons_example``.

A boosted model decides on loans. The table is drawn from the law of `decision_tables.credit_like`, so it needs no file
and the true reasons are known: late payments, the share of credit used, debt to income and, less, the others.
"""

from __future__ import annotations

import warnings

from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from benchmarks.decision_tables import credit_like
from suffice import SufficientExplainer

CODES = [
    {"variable": "late_payments", "code": "D1", "text": "Payments that were late: {value}"},
    {"variable": "credit_used", "direction": "high", "code": "B1", "text": "Share of credit used: {value}"},
    {"variable": "credit_used", "code": "B2", "text": "Little use of credit: {value}"},
    {"variable": "debt_to_income", "code": "I1", "text": "Debt of {value} times the income"},
    {"variable": "income", "code": "I2", "text": "Income: {value}"},
    {"variable": "years_employed", "condition": "is missing", "code": "E2", "text": "Employment not stated"},
    {"variable": "years_employed", "code": "E1", "text": "Years in employment: {value}"},
    {"variable": "housing", "code": "H1", "text": "Housing: {value}"},
    {"variable": "purpose", "code": "L1", "text": "Purpose of the loan: {value}"},
    {"variable": "amount", "code": "L2", "text": "Amount of the loan: {value}"},
    {"variable": "months", "code": "L3", "text": "Months of the loan: {value}"},
    {"variable": "credit_lines", "code": "B3", "text": "Number of credit lines: {value}"},
    {"variable": "region", "code": "R1", "text": "Region: {value}"},
]


def main() -> None:
    """Fit the model, ask for the reasons of its refusals, and print them."""
    warnings.simplefilter("ignore")
    table = credit_like(5000, seed=0)
    X, y, fresh = table.X[:4000], table.y[:4000], table.X[4000:].reset_index(drop=True)
    encode = make_column_transformer(
        (OrdinalEncoder(), make_column_selector(dtype_exclude="number")), remainder="passthrough"
    )
    model = make_pipeline(encode, HistGradientBoostingClassifier(max_iter=60, random_state=0)).fit(X, y)
    explainer = SufficientExplainer.for_model(model, X, levels="odds", random_state=0)
    shares = ", ".join(f"{label} {share:.2f}" for label, share in explainer.fidelity_by_class_.items())
    print(f"The forest follows the model: {shares}")
    reasons = explainer.reasons(fresh, codes=CODES, adverse="defaults", protected=["age"], progress=False)
    print(reasons)
    shown = [row for row in reasons if len(row.reasons) > 1][:2] + [row for row in reasons if row.refusal][:1]
    for row in shown:
        print(f"\n{row}")


if __name__ == "__main__":
    main()
