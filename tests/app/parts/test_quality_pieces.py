"""The pieces of the page about model quality."""

import numpy as np
from app_client import all_text, with_class

from suffice import Quality
from suffice.app.parts.quality_pieces import class_table, confusion_table, numbers_chart, quality_tiles
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
    assert [all_text(one) for one in with_class(table, "right")] == ["1 50 %", "3 100 %", "0 0 %"]
    assert "observed ↓  predicted →" in all_text(table)


def test_classes_have_recall_precision_and_a_share_of_rows_with_a_set():
    text = all_text(class_table(QUALITY))
    assert "a 2 0.50 1.00 50 % (1 of 2)" in text
    assert "b 3 1.00 0.75 100 % (3 of 3)" in text
    assert text.endswith("never 0 - - -")


def test_tiles_name_the_figures():
    assert [all_text(tile) for tile in quality_tiles(QUALITY)] == [
        "rows 5 predicted out of bag",
        "accuracy 0.80 0.60 by the most frequent class alone",
        "with a sufficient set 80 % probability 0.9; 5 rows searched",
    ]
    numbers = Quality("y", "the forest", "the observed outcomes", "3 rows", *[np.array([1.0, 2.0, 4.0])] * 2, None)
    assert [all_text(tile) for tile in quality_tiles(numbers)][1:] == [
        "R² 1.00 share of the variance that is predicted",
        "mean absolute error 0 of y",
    ]


def test_numbers_are_drawn_around_the_diagonal():
    observed = np.arange(5000.0)
    quality = Quality("y", "the forest", "the outputs of Model", "rows", observed, observed + 1, None)
    figure = numbers_chart(quality, "light")
    assert len(figure.data[1].x) == 3000
    assert list(figure.data[0].x) == list(figure.data[0].y) == [0.0, 5000.0]
    assert figure.layout.xaxis.title.text == "y, output of the model"
