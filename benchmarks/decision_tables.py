"""Tables of decisions about people: three drawn from known laws, and five published ones.

The laws are written down here in full, so that the tables need no file and their reasons are known: `adult_like` (who
earns much), `telco_like` (who cancels a contract) and `credit_like` (who does not pay back). Their columns mix numbers,
categories, correlations and missing values as the tables of the same names do. All returned frames are those of pandas.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from experiments.data.loaders import load_attrition, load_compas, load_nhanes


@dataclass(frozen=True)
class DecisionTable:
    """A table whose outcome is a decision, and the outcome for which people are owed reasons."""

    name: str
    X: Any
    y: Any
    adverse: Any


def _choose(rng: np.random.Generator, n: int, shares: dict[str, float]) -> Any:
    return rng.choice(np.array(list(shares), dtype=object), n, p=np.array(list(shares.values())))


def _decide(rng: np.random.Generator, score: Any, labels: tuple[str, str]) -> Any:
    """Draw the second label with the probability that the logistic function gives to a score."""
    return np.where(rng.random(len(score)) < 1 / (1 + np.exp(-score)), labels[1], labels[0]).astype(object)


def adult_like(n: int, seed: int) -> DecisionTable:
    """Draw people with age, education, work and family; those with a low income have the adverse outcome."""
    rng = np.random.default_rng(seed)
    age = np.clip(rng.gamma(7, 5.6, n) + 3, 17, 90).round()
    years = np.clip(rng.normal(10.1, 2.6, n), 1, 16).round()
    married = rng.random(n) < 1 / (1 + np.exp(-(age - 31) / 7))
    status = np.where(married, "married", _choose(rng, n, {"never married": 0.65, "divorced": 0.28, "widowed": 0.07}))
    sex = _choose(rng, n, {"male": 0.67, "female": 0.33})
    role = np.where(married, np.where(sex == "male", "husband", "wife"), "not in family")
    skilled = rng.random(n) < 1 / (1 + np.exp(-(years - 11) / 1.5))
    job = np.where(
        skilled,
        _choose(rng, n, {"manager": 0.45, "professional": 0.4, "sales": 0.15}),
        _choose(rng, n, {"craft": 0.35, "clerical": 0.3, "service": 0.25, "farming": 0.1}),
    )
    hours = np.clip(rng.normal(38 + 4 * skilled, 10, n), 5, 90).round()
    gain = np.where(rng.random(n) < 0.04 + 0.05 * skilled, rng.lognormal(8.4, 0.9, n).round(), 0.0)
    sector = _choose(rng, n, {"private": 0.74, "own business": 0.11, "government": 0.15})
    score = (
        -3.2 + 2.2 * married + 0.32 * (years - 10) + 0.05 * np.minimum(age - 38, 15) + 0.035 * (hours - 40)
        + 0.8 * np.isin(job, ["manager", "professional"]) + 3.5 * (gain > 5000)
    )  # fmt: skip
    X = pd.DataFrame(
        {
            "age": age,
            "sector": sector,
            "education_years": years,
            "status": status,
            "job": job,
            "role": role,
            "sex": sex,
            "capital_gain": gain,
            "hours": hours,
            "population_weight": rng.lognormal(12, 0.5, n).round(),
        }
    )
    return DecisionTable("adult-like", X, pd.Series(_decide(rng, 1.3 * score, ("low", "high")), name="income"), "low")


def telco_like(n: int, seed: int) -> DecisionTable:
    """Draw customers with contracts and services; those who leave have the adverse outcome."""
    rng = np.random.default_rng(seed)
    contract = _choose(rng, n, {"month": 0.55, "one year": 0.21, "two years": 0.24})
    longest = pd.Series(contract).map({"month": 30, "one year": 60, "two years": 72}).to_numpy()
    tenure = np.ceil(rng.beta(1.0 + (longest > 40), 1.2, n) * longest)
    internet = _choose(rng, n, {"fiber": 0.44, "dsl": 0.34, "none": 0.22})
    online = internet != "none"
    security, support, streaming = (
        np.where(online, np.where(rng.random(n) < share, "yes", "no"), "no internet") for share in (0.37, 0.37, 0.49)
    )
    base = pd.Series(internet).map({"fiber": 70.0, "dsl": 45.0, "none": 20.0}).to_numpy()
    monthly = base + 5 * (security == "yes") + 5 * (support == "yes") + 10 * (streaming == "yes") + rng.normal(0, 3, n)
    total = monthly * tenure * rng.normal(1, 0.03, n)
    payment = _choose(rng, n, {"electronic check": 0.34, "mailed check": 0.23, "transfer": 0.22, "card": 0.21})
    score = (
        -2.6 + 1.8 * (contract == "month") - 1.2 * (contract == "two years") - 0.045 * (tenure - 20)
        + 1.1 * (internet == "fiber") - 0.6 * (internet == "none") - 0.5 * (support == "yes")
        - 0.4 * (security == "yes") + 0.6 * (payment == "electronic check")
    )  # fmt: skip
    X = pd.DataFrame(
        {
            "gender": _choose(rng, n, {"female": 0.5, "male": 0.5}),
            "senior": rng.random(n) < 0.16,
            "partner": rng.random(n) < 0.48,
            "tenure": tenure,
            "contract": contract,
            "internet": internet,
            "online_security": security,
            "tech_support": support,
            "streaming": streaming,
            "payment": payment,
            "paperless": rng.random(n) < 0.59,
            "monthly_charges": monthly.round(2),
            "total_charges": np.where(tenure <= 1, np.nan, total.round(2)),
        }
    )
    return DecisionTable(
        "telco-like", X, pd.Series(_decide(rng, 1.5 * score, ("stays", "leaves")), name="customer"), "leaves"
    )


def credit_like(n: int, seed: int) -> DecisionTable:
    """Draw applicants for a loan; those who do not pay back have the adverse outcome."""
    rng = np.random.default_rng(seed)
    age = np.clip(rng.gamma(9, 4.6, n), 18, 80).round()
    income = np.exp(rng.normal(10.3 + 0.012 * np.minimum(age - 25, 25), 0.45, n)).round(-2)
    employed = np.clip(rng.exponential(0.18 * (age - 16)), 0, age - 16).round(1)
    amount = np.exp(rng.normal(8.9, 0.7, n)).round(-2)
    months = rng.choice([12, 24, 36, 48, 60], n, p=[0.2, 0.25, 0.3, 0.15, 0.1])
    lines = rng.poisson(4, n) + 1
    late = rng.negative_binomial(0.5, 0.4, n)
    used = np.clip(rng.beta(1.3, 2.2, n) + 0.08 * np.minimum(late, 4), 0, 1.2)
    debt = (rng.beta(2, 5, n) * 0.8 + 12 * amount / months / income).clip(0, 1.5)
    housing = np.where(
        rng.random(n) < 1 / (1 + np.exp(-(age - 36) / 6)), "owner", _choose(rng, n, {"rent": 0.8, "family": 0.2})
    )
    score = (
        -2.4 + 0.9 * np.minimum(late, 4) + 3.2 * (used - 0.4) + 3.0 * (debt - 0.35) - 0.06 * np.minimum(employed, 10)
        + 0.5 * (housing == "rent") + 0.012 * (months - 24) - 0.5 * (np.log(income) - 10.4)
    )  # fmt: skip
    X = pd.DataFrame(
        {
            "age": age,
            "income": income,
            "years_employed": np.where(rng.random(n) < 0.05, np.nan, employed),
            "housing": housing,
            "purpose": _choose(rng, n, {"car": 0.35, "furniture": 0.25, "debts": 0.25, "education": 0.15}),
            "amount": amount,
            "months": months,
            "credit_lines": lines,
            "late_payments": late,
            "credit_used": used.round(3),
            "debt_to_income": debt.round(3),
            "region": _choose(rng, n, {"north": 0.3, "south": 0.3, "east": 0.2, "west": 0.2}),
        }
    )
    return DecisionTable(
        "credit-like", X, pd.Series(_decide(rng, 1.4 * score, ("pays", "defaults")), name="loan"), "defaults"
    )


def _published(name: str, X: Any, y: Any, adverse: Any) -> DecisionTable:
    return DecisionTable(name, X, y, adverse)


def _german_credit(data: str | None) -> DecisionTable:
    table = pd.read_csv(Path(data or "") / "german_credit.csv")
    return _published("german credit", table.drop(columns="class"), table["class"], "bad")


def _bank(data: str | None) -> DecisionTable:
    table = pd.read_csv(Path(data or "") / "bank_marketing.csv.gz").drop(columns="duration")  # known after the call
    return _published("bank", table.drop(columns="subscribed"), table["subscribed"], "no")


N_DRAWN = 4000

TABLES: dict[str, Callable[[str | None], DecisionTable]] = {
    "adult-like": lambda data: adult_like(N_DRAWN, 0),
    "german credit": _german_credit,
    "attrition": lambda data: _published("attrition", *load_attrition(data), "Yes"),
    "compas": lambda data: _published("compas", *load_compas(data), 1),
    "telco-like": lambda data: telco_like(N_DRAWN, 0),
    "credit-like": lambda data: credit_like(N_DRAWN, 0),
    # Other draws of the same laws, for what was chosen on the first ones.
    "adult-like, other draw": lambda data: replace(adult_like(N_DRAWN, 1), name="adult-like, other draw"),
    "credit-like, other draw": lambda data: replace(credit_like(N_DRAWN, 1), name="credit-like, other draw"),
    "telco-like, other draw": lambda data: replace(telco_like(N_DRAWN, 1), name="telco-like, other draw"),
    "bank": _bank,
    "nhanes": lambda data: _published("nhanes", *load_nhanes(data), True),
}
LAWS = {"adult-like": adult_like, "telco-like": telco_like, "credit-like": credit_like}


def _third_draw(law: str) -> Callable[[str | None], DecisionTable]:
    return lambda data: replace(LAWS[law](N_DRAWN, 2), name=f"{law}, third draw")


# For what was looked at on the other draws as well.
TABLES |= {f"{law}, third draw": _third_draw(law) for law in LAWS}
