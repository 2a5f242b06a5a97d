"""A first look: ``python -m suffice.demo`` explains held-out rows of two data sets that come with scikit-learn."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.model_selection import train_test_split

from suffice import SufficientExplainer

WIDTH = 96
N_HELD_OUT = 20
# scikit-learn calls the last six s1 to s6; the description of the data tells what they are.
PATIENT = ("age", "sex", "body mass index", "blood pressure")
SERUM = ("total cholesterol", "LDL", "HDL", "cholesterol/HDL", "log triglycerides", "blood sugar")


def main() -> None:
    """Explain kinds of tumours (classes) and the progression of diabetes (numbers)."""
    tumours = load_breast_cancer()
    kinds = tumours.target_names[tumours.target]
    show("Breast cancer", tumours.data, tumours.feature_names, kinds, held_out_rows=(0, 16, 10))
    patients = load_diabetes(scaled=False)
    show("Diabetes progression", patients.data, PATIENT + SERUM, patients.target, held_out_rows=(13, 5))


def show(title: str, X: Any, names: Sequence[str], y: Any, held_out_rows: Sequence[int]) -> None:
    """Hold out some rows, fit on the others, and tell why the forest predicts what it does.

    Parameters
    ----------
    title : str
        What to call the data.
    X : ndarray of shape (n_rows, n_columns)
        The table.
    names : sequence of str
        The names of its columns.
    y : ndarray of shape (n_rows,)
        The outcomes.
    held_out_rows : sequence of int
        Which of the held-out rows to show.
    """
    X_fit, X_new, y_fit, y_new = train_test_split(_name_columns(X, names), y, test_size=N_HELD_OUT, random_state=0)
    explainer = SufficientExplainer(random_state=0).fit(X_fit, y_fit)
    explanations = explainer.explain(X_new)

    is_class = explainer.task_ == "classification"
    share = f"{100 * explainer.fidelity_:.0f} %"
    trust = f"gets {share} right" if is_class else f"accounts for {share} of the variance"
    size = f"{len(X_fit)} rows, {X.shape[1]} columns, {len(explainer.forest_)} trees"
    _say(title, "=" * len(title), f"{size}. On unseen rows the forest {trust}.")
    for row in held_out_rows:
        explanation = explanations[row]
        predicted = explanation.outcome if is_class else round(explanation.outcome)
        observed = y_new[row] if is_class else round(y_new[row])
        _say("", f"Held-out row {row}: observed {observed}, predicted {predicted}")
        _say(*str(explanation).splitlines(), indent="  ")
    _say("", "Summary")
    _say(*str(explanations).splitlines(), "", indent="  ")


def _name_columns(X: Any, names: Sequence[str]) -> Any:
    try:
        import pandas as pd
    except ImportError:
        return X  # explanations then speak of x0, x1, ...
    return pd.DataFrame(X, columns=[str(name) for name in names])  # np.str_ would not pass for a name


def _say(*lines: str, indent: str = "") -> None:
    for line in lines:
        print(textwrap.fill(line, WIDTH, initial_indent=indent, subsequent_indent=indent + "    "))


if __name__ == "__main__":
    main()
