"""The quality of the forest in the report: the confusion matrix, or the errors of numbers, and rows with sets."""

from __future__ import annotations

import numpy as np

from suffice._engine.out_of_bag import predict_out_of_bag
from suffice._show.markup import Html, bars, element, part
from suffice._show.quality_figure import gather_rare
from suffice.explanations import Explanations
from suffice.quality import Quality, count_sets, level_of_sets, quality_out_of_bag
from suffice.words import format_number, format_percent, format_probability

MAX_CLASSES = 12
QUANTILES = (0.5, 0.9)  # of absolute errors


def report_quality(explanations: Explanations) -> Quality | None:
    """Compute the out-of-bag quality, with the shares of the explained rows that have a sufficient set.

    Parameters
    ----------
    explanations : Explanations
        The explanations of the report. Nothing is searched again.

    Returns
    -------
    Quality or None
        None if the forest has no rows out of bag.
    """
    fitted = explanations.fitted
    if not predict_out_of_bag(fitted)[1].any():
        return None
    labels = [None] if fitted.classes is None else fitted.classes.tolist()
    codes = np.zeros(len(explanations), dtype=np.intp)
    if fitted.classes is not None:
        codes = explanations.answers.outcomes.low.astype(np.intp)
    sets = count_sets(labels, np.bincount(codes, minlength=len(labels)), codes, explanations.has_set)
    return quality_out_of_bag(fitted, sets, level_of_sets(fitted))


def quality_parts(quality: Quality) -> list[Html]:
    """Write the quality as panels.

    Parameters
    ----------
    quality : Quality
        The quality.

    Returns
    -------
    list of Html
        For classes the confusion matrix, and figures by class; for numbers the size of the errors.
    """
    if quality.classes is None:
        return [_errors(quality)]
    return [part("Confusion matrix", "out of bag", _confusion(quality)), _by_class(quality)]


def _errors(quality: Quality) -> Html:
    errors = np.abs(quality.observed.astype(np.float64) - quality.predicted.astype(np.float64))
    sizes = [format_number(float(size)) for size in np.quantile(errors, QUANTILES)]
    lines = [
        f"{format_percent(level)} % of the rows are predicted within {size}."
        for level, size in zip(QUANTILES, sizes, strict=True)
    ]
    texts = [quality.summary, *lines]
    return part("Predicted and observed", "out of bag", *(element("div", "", text) for text in texts))


def _confusion(quality: Quality) -> Html:
    labels, counts = gather_rare(quality, MAX_CLASSES)
    shares = counts / np.maximum(counts.sum(axis=1), 1)[:, None]
    corner = "model ↓ predicted →" if quality.is_agreement else "observed ↓ predicted →"
    lines = [element("tr", "", element("th", "", corner), *(element("th", "", label) for label in labels))]
    for i, label in enumerate(labels):
        cells = [
            element("td", "right" if i == j else "", f"{n:,}", element("div", "note", f"{format_percent(share)} %"))
            for j, (n, share) in enumerate(zip(counts[i].tolist(), shares[i].tolist(), strict=True))
        ]
        lines.append(element("tr", "", element("th", "", label), *cells))
    return element("div", "scroll", element("table", "confusion", *lines))


def _by_class(quality: Quality) -> Html:
    drawn: list[str] = []
    with_set = {share.outcome: share for share in quality.sets if share.n_explained}
    for one in quality.by_class[:MAX_CLASSES]:
        shares = [
            (name, value, format_probability(value))
            for name, value in (("recall", one.recall), ("precision", one.precision))
            if not np.isnan(value)
        ]
        if one.label in with_set:
            share = with_set[one.label]
            text = f"{format_percent(share.share)} % of {share.n_explained:,}"
            shares.append(("explained rows with a set", share.share, text))
        drawn += [element("div", "class-name", f"{one.label} ({one.n_rows:,} rows)"), bars(shares)]
    return part("By class", "recall and precision out of bag", *drawn)
