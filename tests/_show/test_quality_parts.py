"""Model quality in the report."""

from __future__ import annotations

import numpy as np
import pytest
from drawn_plots import all_explanations, explainer_of_numbers, mixed_table
from sklearn.ensemble import RandomForestClassifier

from suffice import SufficientExplainer
from suffice._show.report import make_report, quality_parts, report_quality


def test_classes_have_a_matrix_and_the_shares_of_the_explained_rows():
    explanations = all_explanations()
    quality = report_quality(explanations)
    assert quality.accuracy == pytest.approx(explanations.fitted.fidelity)
    for share in quality.sets:
        is_class = explanations.outcomes == share.outcome
        assert share.n_explained == np.count_nonzero(is_class)
        assert share.n_with_set == np.count_nonzero(explanations.has_set[is_class])
    of_focus, matrix, by_class = quality_parts(quality)
    assert f"How well {quality.focus} is predicted" in of_focus
    assert all(name in of_focus for name in ("precision", "recall", "F1", "ROC AUC", "average precision"))
    assert f"{quality.confusion[0, 0]:,}" in matrix
    assert "explained rows with a set" in by_class
    page = make_report(explanations)
    assert "Confusion matrix" in page
    assert matrix in page


def test_numbers_have_the_sizes_of_their_errors():
    explanations = explainer_of_numbers().explain(mixed_table()[0][:5], rules=None)
    [panel] = quality_parts(report_quality(explanations))
    assert "Predicted and observed" in panel
    assert "50 % of the rows are predicted within" in panel
    assert panel in make_report(explanations)


def test_a_forest_without_rows_out_of_bag_has_no_quality():
    X, y = mixed_table()
    forest = RandomForestClassifier(n_estimators=5, bootstrap=False, random_state=0)
    explainer = SufficientExplainer(forest, counts="bootstrap").fit(X[["hour"]], y)
    explanations = explainer.explain(X[["hour"]][:3])
    assert report_quality(explanations) is None
    assert "Confusion matrix" not in make_report(explanations)
