"""The data of ``suffice demo``: a table with classes and one with numbers, both of which come with scikit-learn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.model_selection import train_test_split

N_HELD_OUT = 20
# scikit-learn calls the last six s1 to s6; these names are from the description of the data.
PATIENT = ("age", "sex", "body mass index", "blood pressure")
SERUM = ("total cholesterol", "LDL", "HDL", "cholesterol/HDL", "log triglycerides", "blood sugar")


@dataclass(frozen=True, eq=False)
class DemoData:
    """Rows to fit on and rows to explain."""

    title: str
    X_fit: Any
    X_new: Any
    y_fit: Any
    y_new: Any
    shown: tuple[int, ...]


def demo_data() -> Iterator[DemoData]:
    """Split the two tables."""
    tumours = load_breast_cancer()
    kinds = tumours.target_names[tumours.target]
    yield _split("Breast cancer", tumours.data, tumours.feature_names, "diagnosis", kinds, (17, 16))
    patients = load_diabetes(scaled=False)
    yield _split("Diabetes progression", patients.data, PATIENT + SERUM, "progression", patients.target, (13, 5))


def _split(title: str, X: Any, names: Any, target: str, y: Any, shown: tuple[int, ...]) -> DemoData:
    import polars as pl

    X_fit, X_new, y_fit, y_new = train_test_split(X, y, test_size=N_HELD_OUT, random_state=0)
    columns = [str(name) for name in names]

    X_fit, X_new = (pl.DataFrame(part, schema=columns, orient="row") for part in (X_fit, X_new))
    y_fit, y_new = (pl.Series(target, part.tolist()) for part in (y_fit, y_new))
    return DemoData(title, X_fit, X_new, y_fit, y_new, shown)
