"""The drawings of the plots that are neither boxes nor curves: sets, lists, changes and quality."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice._show import drawing
from suffice._show.axis import code_text, included_codes
from suffice._show.drawing import BLUE, GREY, VERMILION
from suffice._show.picture import NOTHING, gather_rare
from suffice._text import (
    counted,
    format_percent,
    format_probability,
    format_share,
)
from suffice.errors import check_number
from suffice.explaining.importance import rank_in_sets

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from suffice._table.condition import Condition
    from suffice._table.encoding import Column
    from suffice.changes.values import Change, Changes, RowChanges
    from suffice.checks.quality import Quality
    from suffice.explaining.explanation import Explanation, SufficientSet
    from suffice.rule_lists.evaluating import Evaluation

    Series = tuple[NDArray[np.float32], str, str]  # values, colour, label

MAX_POINTS = 5000
MAX_CLASSES = 15  # of a confusion matrix; the rarest ones share a line
N_BINS = 30


# --- the sets of a row -----------------------------------------------------------------------------------------------


def draw_sets(explanation: Explanation, n_sets: int, ax: Axes | None) -> Axes:
    """Draw sets side by side: dots for the variables that each holds, and bars for their probabilities.

    A black line goes down from the end of a bar to the lower bound, where it is known.
    """
    drawn: Sequence[SufficientSet] = explanation.sufficient_sets[:n_sets] or (explanation.best_set,)
    ranked = rank_in_sets([s.variables for s in drawn], [name for name, _ in explanation.values])
    names = [name for name, _ in ranked]
    ax = drawing.make_axes(ax, 3.6 + 0.55 * max(len(drawn), 3), 2.3 + 0.3 * max(len(names), 1))
    color = BLUE if explanation.is_sufficient else GREY
    n_names, n_drawn = max(len(names), 1), len(drawn)
    base, unit = -0.9, 3.0  # of the bars; the axis points down

    def height(probability: float) -> float:
        return base - unit * probability

    for i in range(0, len(names), 2):
        ax.axhspan(i - 0.5, i + 0.5, color="#F2F2F2", lw=0, zorder=0)
    bars = ax.bar(range(n_drawn), [height(s.sdp) - base for s in drawn], bottom=base, width=0.6, color=color)
    for bar, s in zip(bars, drawn, strict=True):
        x = bar.get_x() + bar.get_width() / 2
        ax.text(x, height(s.sdp) - 0.08, format_probability(s.sdp), ha="center", va="bottom", fontsize="small")
        if s.lower is not None:
            ax.plot([x, x], [height(s.lower), height(s.sdp)], color="black", lw=1.2)
            ax.plot([x - 0.12, x + 0.12], [height(s.lower)] * 2, color="black", lw=1.2)
    for x, s in enumerate(drawn):
        held = [i for i, name in enumerate(names) if name in s.variables]
        missing = [i for i in range(len(names)) if i not in held]
        ax.plot([x] * len(missing), missing, "o", color="#D0D0D0", ms=5)
        ax.plot([x] * len(held), held, "o-", color=color, ms=8, lw=1.8)
    ax.hlines(height(explanation.pi), -0.5, n_drawn - 0.5, color=VERMILION, ls="--", lw=1.2)
    ax.annotate(
        drawing.level_text(explanation), (n_drawn - 0.5, height(explanation.pi)), (4, 0), textcoords="offset points",
        va="center", color=VERMILION, annotation_clip=False,
    )  # fmt: skip
    ax.hlines(base, -0.5, n_drawn - 0.5, color="black", lw=0.8)
    labels = [drawing.name_with_value(explanation, name) for name in names] or [NOTHING]
    ax.set_yticks([height(1.0), height(0.5), base, *range(n_names)], ["SDP 1.0", "0.5", "0", *labels])
    ax.set_xticks([])
    ax.set_xlim(-0.6, n_drawn - 0.4)
    ax.set_ylim(n_names - 0.4, height(1.0) - 0.75)
    ax.tick_params(axis="y", length=0)
    n_sets = len(explanation.sufficient_sets)
    title = f"the first {n_drawn} of {n_sets} sufficient sets"
    if not n_sets:
        title = f"{explanation.sentences.verdict} This set comes nearest."
    elif n_sets == n_drawn:
        title = counted(n_sets, "sufficient set")
    drawing.set_title(ax, f"{drawing.row_title(explanation)}\n{title}")
    return drawing.keep_spines(ax)


# --- the rules of a list ---------------------------------------------------------------------------------------------


MAX_RULES = 20  # of a list that are drawn


def draw_measures(measured: Evaluation, ax: Axes | None) -> Axes:
    """Draw each line of a list with its coverage, its precision and what it is compared with."""
    n_rules = min(len(measured.covers), MAX_RULES)
    ax = drawing.make_axes(ax, 9.0, 1.8 + 0.5 * n_rules)
    if not measured.covers.any():
        return drawing.write_message(ax, "No rule covers any of these rows." if n_rules else "The list has no rules.")
    drawn = [*range(n_rules), *range(len(measured.covers), len(measured.lines))]
    lines, held = [measured.lines[i] for i in drawn], [measured.outcomes_of(i) for i in drawn]
    is_class = lines[0].mse is None
    places, precision = np.arange(len(drawn)), measured.precision[:n_rules].tolist()
    # That of the default line of numbers is not drawn: it says what is left, not how good a rule is.
    precision += [
        np.mean(held[-1] == line.output) if is_class and len(held[-1]) else math.nan for line in lines[n_rules:]
    ]
    coverage = [len(outcomes) / len(measured.outcomes) for outcomes in held]
    ax.barh(places, coverage, 0.62, color="0.88", label="coverage", zorder=1)
    if is_class:
        base = [np.mean(measured.outcomes == line.output) for line in lines]
        ax.plot(base, places, "|", color=GREY, ms=17, mew=2, label="of all rows", zorder=2)
    if not measured.is_training:
        training = [line.precision for line in lines[: n_rules + is_class]]
        ax.plot(training, places[: len(training)], "o", color=BLUE, mfc="none", ms=9, label="in training")
    name = "precision" if is_class else "precision: 1 - MSE / variance"
    ax.plot(precision, places, "o", color=BLUE, ms=7, label=name, zorder=3)
    texts = [f"{measured.premise(i)} {line.output_text}" for i, line in zip(drawn, lines, strict=True)]
    texts[:n_rules] = [f"{i}. {text}" for i, text in enumerate(texts[:n_rules], start=1)]
    ax.set_yticks(places, [drawing.escape("\n".join(textwrap.wrap(text, 58)[:3])) for text in texts], fontsize=9)
    ax.set_ylim(len(drawn) - 0.4, -0.6)
    ax.set_xlim(min(0.0, max(-1.0, float(np.nanmin(precision)) - 0.05)), 1.02)
    ax.set_xlabel("share of the rows, or of those covered" if is_class else "share of the rows, or precision")
    drawing.set_legend(ax)
    more = len(measured.covers) - n_rules
    drawing.set_title(ax, f"{measured.heading}{f' The first {n_rules} are drawn.' if more else ''}")
    return drawing.keep_spines(ax, "left", "bottom")


# --- a change --------------------------------------------------------------------------------------------------------


def draw_change(changes: Changes, row: int, number: int, column: str | None, ax: Axes | None) -> Any:
    """Draw a change of a row, or the nearest miss, on axes for each of its columns."""
    check_number("row", row, f"from 0 to {len(changes) - 1}", lambda v: 0 <= v < len(changes), int)
    answer = changes[row]
    listed = answer.changes or ((answer.nearest,) if answer.nearest is not None else ())
    if not listed:
        raise ValueError(f"{answer.label} has no change to draw: {answer.lead}")
    check_number("number", number, f"from 0 to {len(listed) - 1}", lambda v: 0 <= v < len(listed), int)
    change = listed[number]
    changed = [condition.name for condition in change.conditions]
    names = changed if column is None else [column]
    if not names or not set(names) <= {known.name for known in answer.columns}:
        raise ValueError(f"`column` must be one of {changed}, got {column!r}.")
    if len(names) > 1 and ax is not None:
        raise ValueError(f"The change has {len(names)} columns: name one of them in `column` to draw it on `ax`.")
    ax = drawing.make_axes(ax, 8.5, 3.2 if len(names) == 1 else 2.6 * len(names))
    several = [ax]
    if len(names) > 1:
        figure: Any = ax.figure
        ax.remove()
        several = [figure.add_subplot(len(names), 1, i + 1) for i in range(len(names))]
    for axes, name in zip(several, names, strict=True):
        _draw_column(axes, changes.fitted.forest.X, answer, change, name)
    drawing.set_title(several[0], f"{answer.label}: {change.box_text or change.sentence}")
    return several[0] if len(names) == 1 else np.array(several)


def _draw_column(ax: Axes, X: NDArray[np.float32], answer: RowChanges, change: Change, name: str) -> None:
    """Draw one column of a change: the training rows, those like the row in the box, the row and the least change."""
    position = next(i for i, column in enumerate(answer.columns) if column.name == name)
    column = answer.columns[position].drawn
    values = X[:, position]
    known = ~np.isnan(values)
    like = np.zeros(len(values), dtype=bool)
    like[list(change.rows)] = True
    series = ((values[known], GREY, "all training rows"), (values[known & like], BLUE, "rows like this one in the box"))
    condition = next((c for c in change.conditions if c.name == name), None)
    (_draw_categories if column.kind == "category" else _draw_numbers)(ax, column, series, condition)
    own, point = answer.values[name], change.values.get(name, answer.values[name])
    for value, color, style, text in ((own, "black", "-", "the row"), (point, VERMILION, "--", "the least change")):
        at = drawing.place_of(column, value)
        if not math.isnan(at):
            ax.axvline(at, color=color, lw=2, ls=style, label=f"{text}: {answer.columns[position].text_of(value)}")
    ax.set_xlabel(drawing.shorten(name))
    ax.set_ylabel("share of rows")
    ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.01, 1.0))  # beside the bars, not on them


def _draw_numbers(ax: Axes, column: Column, series: Sequence[Series], condition: Condition | None) -> None:
    ends = np.histogram_bin_edges(series[0][0], N_BINS)
    if column.kind == "whole" and ends[-1] - ends[0] < N_BINS:  # one bar for each number
        ends = np.arange(math.floor(ends[0]), math.ceil(ends[-1]) + 2) - 0.5
        ax.locator_params(axis="x", integer=True)
    for values, color, text in series:
        if len(values):
            weights = np.full(len(values), 1 / len(values))
            ax.hist(values, ends.tolist(), weights=weights, color=color, alpha=0.55, label=text)
    if condition is not None and condition.values:
        low, high = max(condition.low, float(ends[0])), min(condition.high, float(ends[-1]))
        ax.axvspan(low, max(high, low), color=BLUE, alpha=0.12, label="the box")


def _draw_categories(ax: Axes, column: Column, series: Sequence[Series], condition: Condition | None) -> None:
    codes = np.arange(len(column.labels))
    for (values, color, text), shift in zip(series, (-0.2, 0.2), strict=True):
        counts = np.bincount(values.astype(np.intp), minlength=len(codes))
        ax.bar(codes + shift, counts / max(counts.sum(), 1), 0.4, color=color, label=text)
    if condition is not None and not condition.is_trivial:
        for code in included_codes(column, condition):
            ax.axvspan(code - 0.5, code + 0.5, color=BLUE, alpha=0.12)
    shown = drawing.label_codes(column)
    ax.set_xticks(shown, [drawing.shorten(code_text(column, code), 14) for code in shown], rotation=20)


# --- the quality of predictions --------------------------------------------------------------------------------------


def draw_quality(measured: Quality, ax: Axes | None) -> Axes:
    """Draw a confusion matrix, or predicted against observed numbers."""
    if measured.classes is None:
        ax = drawing.keep_spines(drawing.make_axes(ax, 6.0, 5.0), "left", "bottom")
        _draw_errors(ax, measured)
    else:
        n = min(len(measured.classes), MAX_CLASSES + 1)
        ax = drawing.keep_spines(drawing.make_axes(ax, 4.4 + 0.62 * n, 2.5 + 0.42 * n))
        _draw_confusion(ax, measured)
    sets = f"\n{format_percent(measured.share_with_set)} % of rows have a sufficient set" if measured.sets else ""
    drawing.set_title(ax, f"{measured.title}\n{measured.summary}{sets}")
    return ax


def _draw_errors(ax: Axes, measured: Quality) -> None:
    """Draw predicted against observed numbers as points, with the line on which they are equal."""
    observed, predicted = measured.observed.astype(np.float64), measured.predicted.astype(np.float64)
    rows = np.arange(len(observed))
    if len(rows) > MAX_POINTS:
        rows = np.sort(np.random.default_rng(0).choice(len(rows), MAX_POINTS, replace=False))
    size, alpha = (8, 0.25) if len(rows) > 1000 else (16, 0.5)
    ax.scatter(observed[rows], predicted[rows], size, color=BLUE, alpha=alpha, lw=0)
    ends = np.array([min(observed.min(), predicted.min()), max(observed.max(), predicted.max())])
    ax.plot(ends, ends, color=GREY, ls="--", lw=1.2)
    ax.set_xlabel(
        f"{drawing.shorten(measured.target)}, {'output of the model' if measured.is_agreement else 'observed'}"
    )
    ax.set_ylabel(f"{drawing.shorten(measured.target)}, predicted by the forest")


def _draw_confusion(ax: Axes, measured: Quality) -> None:
    """Draw the confusion matrix with recall, precision and the shares of rows with a sufficient set."""
    import matplotlib

    labels, counts, shares = gather_rare(measured, MAX_CLASSES)
    n, totals, predicted = len(labels), counts.sum(axis=1), counts.sum(axis=0)
    ax.imshow(shares, aspect="auto", cmap=matplotlib.colormaps["Blues"], vmin=0, vmax=1)
    for i in range(n):
        for j in range(n):
            color = "white" if shares[i, j] > 0.55 else "black"
            text = f"{counts[i, j]:,}" if n > 8 else f"{counts[i, j]:,}\n{format_percent(shares[i, j])} %"
            ax.text(j, i, text, ha="center", va="center", color=color, fontsize="small")
    names = [drawing.shorten(label, 18) for label in labels]
    precision = [_share(counts[j, j], predicted[j]) for j in range(n)]
    ax.set_xticks(range(n), [f"{name}\n{share}" for name, share in zip(names, precision, strict=True)])
    if sum(map(len, names)) > 9 * n:
        drawing.rotate_labels(ax, 30)
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
    return format_share(part / whole) if whole else "-"
