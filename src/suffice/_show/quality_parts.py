"""How well outcomes are predicted, as pieces of HTML that the report and the app show."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from suffice._show.axis import rounded
from suffice._show.cards import Html, element, part, share_cell, table, tile
from suffice._show.picture import gather_rare
from suffice._text import format_percent, format_share

if TYPE_CHECKING:
    from suffice.checks.quality import Quality

MAX_CLASSES = 15  # of a confusion matrix and of the figures by class
QUANTILES = (0.5, 0.9)  # of absolute errors


def quality_tiles(quality: Quality) -> list[Html]:
    """Write the figures of all rows, and those of the class that people care about."""
    tiles = [tile("rows", f"{quality.n_rows:,}", quality.rows.partition(", ")[2] or "of the open table")]
    if quality.classes is None:
        tiles.append(tile("R²", format_share(quality.r2), "share of the variance that is predicted"))
        tiles.append(tile("mean absolute error", rounded(quality.mae, 3), f"of {quality.target}"))
    else:
        constant = f"{format_share(quality.accuracy_of_constant)} by the most frequent class alone"
        tiles.append(tile("accuracy", format_share(quality.accuracy), constant))
    figures = {name: format_share(value) for name, value in quality.of_focus.items()}
    if figures:
        precision = f"precision {figures['precision']}, recall {figures['recall']}"
        tiles.append(tile(f"F1 of {quality.focus}", figures["F1"], precision))
        ranked = f"average precision {figures.get('average precision', '-')}"
        tiles.append(tile(f"ROC AUC of {quality.focus}", figures.get("ROC AUC", "-"), ranked))
    if quality.n_explained:
        note = f"{quality.level}; {quality.n_explained:,} rows searched"
        tiles.append(tile("with a sufficient set", f"{format_percent(quality.share_with_set)} %", note))
    return tiles


def quality_panels(quality: Quality) -> list[Html]:
    """Write the confusion matrix and the figures by class, or the sizes of errors."""
    by_model = "" if quality.predictor == "the forest" else f", {quality.predictor.removeprefix('the ')}"
    if quality.classes is None:
        errors = np.abs(quality.observed.astype(np.float64) - quality.predicted.astype(np.float64))
        sizes = [rounded(float(size), 3) for size in np.quantile(errors, QUANTILES)]
        lines = [
            f"{format_percent(level)} % of the rows are predicted within {size}."
            for level, size in zip(QUANTILES, sizes, strict=True)
        ]
        return [part(f"Predicted and observed{by_model}", "", *(element("div", "", line) for line in lines))]
    note = "rows, and their share of all rows of the class"
    return [
        part(f"Confusion matrix{by_model}", note, confusion_table(quality)),
        part(f"By class{by_model}", "", class_table(quality)),
    ]


def confusion_table(quality: Quality) -> Html:
    """Write the confusion matrix as a table."""
    labels, counts, shares = gather_rare(quality, MAX_CLASSES)
    lines = []
    for i, label in enumerate(labels):
        cells = [
            element(
                "td",
                "right" if i == j else "",
                f"{n:,}",
                element("div", "note", f"{format_percent(share)} %"),
                style=f"--share:{100 * share:.0f}%",
            )
            for j, (n, share) in enumerate(zip(counts[i].tolist(), shares[i].tolist(), strict=True))
        ]
        lines.append([element("th", "", label, scope="row"), *cells])
    corner = "model ↓ predicted →" if quality.is_agreement else "observed ↓ predicted →"
    return table([corner, *labels], lines, "confusion")


def class_table(quality: Quality) -> Html:
    """Write recall, precision and the share of rows with a sufficient set of each class as a table."""
    with_set = {share.outcome: share for share in quality.sets if share.n_explained}
    lines = []
    for one in quality.by_class[:MAX_CLASSES]:
        cells = [element("th", "", str(one.label), scope="row"), element("td", "", f"{one.n_rows:,}")]
        cells += [share_cell(value, format_share(value)) for value in (one.recall, one.precision)]
        if with_set:
            known = with_set.get(one.label)
            text = "-" if known is None else f"{format_percent(known.share)} % of {known.n_explained:,}"
            cells.append(share_cell(math.nan if known is None else known.share, text))
        lines.append(cells)
    heads = ["class", "rows", "recall", "precision", *["with a sufficient set"] * bool(with_set)]
    return table(heads, lines, "by-class")
