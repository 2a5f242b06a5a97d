"""The quality of predictions with matplotlib: a confusion matrix, or predicted against observed numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice._show.drawing import BLUE, GREY, keep_spines, make_axes, set_title, shorten
from suffice._text import format_percent, format_probability
from suffice.checks.quality import Quality
from suffice.explainer import SufficientExplainer

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_POINTS = 5000
MAX_DRAWN = 15  # classes of a confusion matrix; the rarest ones share a line


def quality(explainer: SufficientExplainer | Quality, X: Any = None, y: Any = None, *, ax: Axes | None = None) -> Axes:
    """Draw how well the forest predicts: a confusion matrix, or predicted against observed numbers."""
    measured = explainer if isinstance(explainer, Quality) else explainer.quality(X, y)
    if measured.classes is None:
        ax = make_axes(ax, 6.0, 5.0)
        draw_numbers(ax, measured)
        drawn = keep_spines(ax, "left", "bottom")
    else:
        n = min(len(measured.classes), MAX_DRAWN + 1)
        ax = make_axes(ax, 4.4 + 0.62 * n, 2.5 + 0.42 * n)
        draw_confusion(ax, measured)
        drawn = keep_spines(ax)
    sets = f"\n{format_percent(measured.share_with_set)} % of rows have a sufficient set" if measured.sets else ""
    set_title(ax, f"{measured.title}\n{measured.summary}{sets}")
    return drawn


def draw_numbers(ax: Axes, measured: Quality) -> None:
    """Draw predicted against observed numbers as points, with the line on which they are equal."""
    observed, predicted = measured.observed.astype(np.float64), measured.predicted.astype(np.float64)
    rows = np.arange(len(observed))
    if len(rows) > MAX_POINTS:
        rows = np.sort(np.random.default_rng(0).choice(len(rows), MAX_POINTS, replace=False))
    size, alpha = (8, 0.25) if len(rows) > 1000 else (16, 0.5)
    ax.scatter(observed[rows], predicted[rows], size, color=BLUE, alpha=alpha, lw=0)
    ends = np.array([min(observed.min(), predicted.min()), max(observed.max(), predicted.max())])
    ax.plot(ends, ends, color=GREY, ls="--", lw=1.2)
    ax.set_xlabel(f"{shorten(measured.target)}, {'output of the model' if measured.is_agreement else 'observed'}")
    ax.set_ylabel(f"{shorten(measured.target)}, predicted by the forest")


def gather_rare(measured: Quality, n_drawn: int) -> tuple[list[str], NDArray[np.int64]]:
    """Return the labels and the confusion matrix of the most frequent classes; the others share one entry."""
    assert measured.classes is not None
    counts = measured.confusion
    if len(counts) <= n_drawn:
        return [str(label) for label in measured.classes], counts
    order = np.sort(np.argsort(-counts.sum(axis=1), kind="stable")[:n_drawn])
    group = np.full(len(counts), n_drawn)
    group[order] = np.arange(n_drawn)
    gathered = np.zeros((n_drawn + 1, n_drawn + 1), dtype=np.int64)
    np.add.at(gathered, (group[:, None], group[None, :]), counts)
    return [*(str(measured.classes[c]) for c in order), f"{len(counts) - n_drawn} others"], gathered


def draw_confusion(ax: Axes, measured: Quality) -> None:
    """Draw the confusion matrix with recall, precision and the shares of rows with a sufficient set."""
    import matplotlib

    labels, counts = gather_rare(measured, MAX_DRAWN)
    n = len(labels)
    totals = counts.sum(axis=1)
    shares = counts / np.maximum(totals, 1)[:, None]
    ax.imshow(shares, aspect="auto", cmap=matplotlib.colormaps["Blues"], vmin=0, vmax=1)
    for i in range(n):
        for j in range(n):
            color = "white" if shares[i, j] > 0.55 else "black"
            text = f"{counts[i, j]:,}" if n > 8 else f"{counts[i, j]:,}\n{format_percent(shares[i, j])} %"
            ax.text(j, i, text, ha="center", va="center", color=color, fontsize="small")
    names = [shorten(label, 18) for label in labels]
    predicted = counts.sum(axis=0)
    precision = [_share(counts[j, j], predicted[j]) for j in range(n)]
    ax.set_xticks(range(n), [f"{name}\n{share}" for name, share in zip(names, precision, strict=True)])
    if sum(map(len, names)) > 9 * n:
        for tick in ax.get_xticklabels():
            tick.set(rotation=30, ha="right", rotation_mode="anchor")
    ax.set_yticks(range(n), names)
    ax.set_xlabel("predicted by the forest; below each class its precision")
    ax.set_ylabel("output of the model" if measured.is_agreement else "observed")
    ax.tick_params(length=0)
    with_set = {str(share.outcome): share.share for share in measured.sets if not math.isnan(share.share)}
    columns = [("recall", [_share(counts[i, i], totals[i]) for i in range(n)])]
    if with_set:
        texts = [f"{format_percent(with_set[label])} %" if label in with_set else "-" for label in labels]
        columns.append(("rows with\na set", texts))
    right: dict[str, Any] = {
        "xycoords": ax.get_yaxis_transform(),
        "textcoords": "offset points",
        "annotation_clip": False,
    }
    for k, (name, texts) in enumerate(columns):
        x = 30 + 58 * k
        ax.annotate(name, (1, -0.5), (x, 4), ha="center", va="bottom", fontsize="small", **right)
        for i, text in enumerate(texts):
            ax.annotate(text, (1, i), (x, 0), ha="center", va="center", fontsize="small", **right)


def _share(part: int, whole: int) -> str:
    return format_probability(part / whole) if whole else "-"
