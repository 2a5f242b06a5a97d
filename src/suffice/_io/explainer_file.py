"""What the command and the app do with table files and explainers: fitting, loading, long work of the app, and a demo.

The app calls `fit_table`, `collect_rules` and `measure_stability` in a process of their own (``processes``). The demo
has a table with classes and one with numbers, both of which come with scikit-learn.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from suffice._forest.progress import enter_stage, watched
from suffice._io.sources import cannot_read
from suffice._table.table import read_columns
from suffice.explainer import SufficientExplainer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.explaining.stability import SetStability

MIN_SUPPORT = 10  # of the rules for numbers


def is_known(column: pl.Series) -> pl.Series:
    """Find the values of a column that are not missing."""
    not_null = column.is_not_null()
    return not_null & ~column.is_nan().fill_null(True) if column.dtype.is_float() else not_null


def outcomes_of(frame: pl.DataFrame, target: str) -> pl.Series:
    """Return the outcomes of a table."""
    column = frame[target]
    return column.cast(pl.String) if column.dtype in (pl.Categorical, pl.Enum) else column


def load_explainer_file(path: str, settings: Mapping[str, Any] | None = None) -> SufficientExplainer:
    """Load a saved explainer."""
    try:
        Path(path).open("rb").close()
    except OSError as error:
        raise cannot_read(path, error) from None
    explainer: SufficientExplainer = SufficientExplainer.load(path)
    return explainer.with_settings(**{name: value for name, value in (settings or {}).items() if value is not None})


def text_columns(explainer: SufficientExplainer, outcome: str | None = None) -> set[str]:
    """Return the columns that held text at fit, and the column of outcomes if the classes are text.

    In a CSV file they may happen to look like numbers, and must not be read as such.
    """
    encoding = explainer.fitted_.encoding
    columns = {
        encoding.names[column.source]
        for column in encoding.columns
        if column.part is None and any(isinstance(label, str) for labels in column.labels for label in labels)
    }
    is_text = explainer.task_ == "classification" and explainer.classes_.dtype.kind not in "biuf"
    return columns | {outcome} if is_text and outcome is not None else columns


def training_rows(explainer: SufficientExplainer) -> tuple[pl.DataFrame, Any]:
    """Return the training rows that a saved explainer holds."""
    matrix, outcomes = explainer.fitted_.training
    columns = []
    for values, column in zip(matrix.T, explainer.fitted_.encoding.columns, strict=True):
        if column.part is not None:
            raise ValueError(
                "This explainer was fitted on dates and holds only their parts: name the table as well, as in "
                "`suffice app EXPLAINER TABLE`."
            )
        if column.kind == "category":
            labels = [None if np.isnan(value) else column.labels[int(value)][0] for value in values.tolist()]
            is_mixed = len({type(label) for label in labels if label is not None}) > 1
            # polars would write the label False among texts as "false", which is another category.
            columns.append(pl.Series(column.name, labels, dtype=pl.Object if is_mixed else None))
        else:
            columns.append(pl.Series(column.name, values.astype(np.float64)))
    return pl.DataFrame(columns), outcomes


def fit_table(
    frame: pl.DataFrame,
    target: str,
    left_out: list[str],
    has_dates: bool,
    fixed: Sequence[str] = (),
    focus: str | None = None,
    *,
    step: Callable[..., None] | None = None,
) -> SufficientExplainer:
    """Fit an explainer to a table; `step` is told what is done."""
    X = frame.drop([target, *(column for column in left_out if column != target)])
    table = read_columns(X)
    dated = [column for i, column in enumerate(table.names) if table.kind(i) == "date"]
    if dated and not has_dates:
        X = X.drop(dated)
    if not X.width:
        raise ValueError("No columns are left besides the target.")
    with warnings.catch_warnings(), watched(step):
        warnings.simplefilter("ignore")  # the app shows the fidelity
        enter_stage("Reading the columns")
        kept = [column for column in fixed if column in X.columns]
        return SufficientExplainer(random_state=0, dates="parts").fit(
            X, outcomes_of(frame, target), fixed=kept, focus=focus
        )


def collect_rules(
    explainer: SufficientExplainer, table: Any, outcomes: NDArray[Any], n_rows: int, *, step: Callable[[int], None]
) -> Any:
    """Collect the rules of training rows at several levels."""
    from suffice.rule_lists.estimators import GlobalRulesClassifier, GlobalRulesRegressor
    from suffice.rule_lists.mining import mine_rules

    rules = mine_rules(explainer, table, outcomes, n_rows=n_rows, report=lambda share: step(round(share * n_rows)))
    if explainer.task_ == "regression":
        return GlobalRulesRegressor.from_explanations(
            rules, table, outcomes, min_precision=-math.inf, min_support=MIN_SUPPORT
        )
    return GlobalRulesClassifier.from_explanations(rules, table, outcomes)


def measure_stability(
    explainer: SufficientExplainer, row: Any, outcome: Any, n_forests: int, *, step: Callable[[int], None]
) -> SetStability:
    """Measure whether the best set of a row returns when the forest is grown again."""
    return explainer.stability(row, [outcome], n_seeds=n_forests, n_resamples=n_forests, random_state=0, progress=step)


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
    from sklearn.datasets import load_breast_cancer, load_diabetes

    tumours = load_breast_cancer()
    kinds = tumours.target_names[tumours.target]
    yield _split("Breast cancer", tumours.data, tumours.feature_names, "diagnosis", kinds, (17, 16))
    patients = load_diabetes(scaled=False)
    yield _split("Diabetes progression", patients.data, PATIENT + SERUM, "progression", patients.target, (13, 5))


def _split(title: str, X: Any, names: Any, target: str, y: Any, shown: tuple[int, ...]) -> DemoData:
    from sklearn.model_selection import train_test_split

    X_fit, X_new, y_fit, y_new = train_test_split(X, y, test_size=N_HELD_OUT, random_state=0)
    columns = [str(name) for name in names]

    X_fit, X_new = (pl.DataFrame(part, schema=columns, orient="row") for part in (X_fit, X_new))
    y_fit, y_new = (pl.Series(target, part.tolist()) for part in (y_fit, y_new))
    return DemoData(title, X_fit, X_new, y_fit, y_new, shown)
