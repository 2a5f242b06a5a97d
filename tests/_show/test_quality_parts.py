"""Model quality in the report and in the app."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from drawn_plots import all_explanations, explainer_of_numbers, mixed_table
from reported import text_of
from sklearn.ensemble import RandomForestClassifier

from suffice import Quality, SufficientExplainer
from suffice._show.quality_parts import class_table, confusion_table, quality_panels, quality_tiles
from suffice._show.report import make_report, report_quality
from suffice.checks.quality import SetShare

QUALITY = Quality(
    "traffic",
    "the forest",
    "the observed outcomes",
    "5 training rows, predicted out of bag",
    np.array(["a", "a", "b", "b", "b"]),
    np.array(["a", "b", "b", "b", "b"]),
    ("a", "b", "never"),
    (SetShare("a", 2, 2, 1), SetShare("b", 3, 3, 3), SetShare("never", 0, 0, 0)),
    "probability 0.9",
)


def test_the_confusion_matrix_is_a_table_of_counts_and_shares():
    table = confusion_table(QUALITY)
    assert re.findall(r'"right"[^>]*>(\d+)<div class="note">(\d+ %)', table) == [
        ("1", "50 %"),
        ("3", "100 %"),
        ("0", "0 %"),
    ]
    assert "observed ↓ predicted →" in text_of(table)


def test_classes_have_recall_precision_and_a_share_of_rows_with_a_set():
    text = text_of(class_table(QUALITY))
    assert "a 2 0.50 1.00 50 % of 2 b 3 1.00 0.75 100 % of 3" in text
    assert text.endswith("never 0 - - -")


def test_shares_and_percentages_of_a_class_are_rounded_alike():
    """The page printed a recall of .90 beside 91 %."""
    observed = np.repeat(["a", "b"], [200, 200])
    predicted = np.where(np.arange(400) % 200 < 181, observed, np.where(observed == "a", "b", "a"))
    quality = replace(QUALITY, observed=observed, predicted=predicted, classes=("a", "b"), sets=())
    assert "181 90 %" in text_of(confusion_table(quality))
    assert "a 200 0.90 0.90" in text_of(class_table(quality))


def test_tiles_name_the_figures():
    assert [text_of(tile) for tile in quality_tiles(QUALITY)] == [
        "rows 5 predicted out of bag",
        "accuracy 0.80 0.60 by the most frequent class alone",
        "with a sufficient set 80 % probability 0.9; 5 rows searched",
    ]
    votes = np.array([0.9, 0.4, 0.2, 0.6, 0.1])
    tiles = [text_of(tile) for tile in quality_tiles(replace(QUALITY, focus="a", votes=np.stack([votes] * 3, axis=1)))]
    assert tiles[2:4] == [
        "F1 of a 0.67 precision 1.00, recall 0.50",
        "ROC AUC of a 0.83 average precision 0.83",
    ]
    numbers = Quality("y", "the forest", "the observed outcomes", "3 rows", *[np.array([1.0, 2.0, 4.0])] * 2, None)
    assert [text_of(tile) for tile in quality_tiles(numbers)][1:] == [
        "R² 1.00 share of the variance that is predicted",
        "mean absolute error 0 of y",
    ]


def test_the_report_counts_the_explained_rows_with_a_set():
    explanations = all_explanations()
    quality = report_quality(explanations)
    assert quality.accuracy == pytest.approx(explanations.fitted.fidelity)
    for share in quality.sets:
        is_class = explanations.outcomes == share.outcome
        assert share.n_explained == np.count_nonzero(is_class)
        assert share.n_with_set == np.count_nonzero(explanations.has_set[is_class])
    page = make_report(explanations)
    assert all(panel in page for panel in (*quality_tiles(quality), *quality_panels(quality)))


def test_numbers_have_the_sizes_of_their_errors():
    explanations = explainer_of_numbers().explain(mixed_table()[0][:5], rules=None)
    [panel] = quality_panels(report_quality(explanations))
    assert "50 % of the rows are predicted within" in panel
    assert panel in make_report(explanations)


def test_a_forest_without_rows_out_of_bag_has_no_quality():
    X, y = mixed_table()
    forest = RandomForestClassifier(n_estimators=5, bootstrap=False, random_state=0)
    explainer = SufficientExplainer(forest, counts="bootstrap").fit(X[["hour"]], y)
    explanations = explainer.explain(X[["hour"]][:3])
    assert report_quality(explanations) is None
    assert "Confusion matrix" not in make_report(explanations)
