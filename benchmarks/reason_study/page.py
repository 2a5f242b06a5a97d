"""The page on the stability of reasons, for a validator: one HTML file that needs nothing else."""

from __future__ import annotations

import datetime
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from benchmarks.reason_study.agreement import CHANGES, Agreement, ChangedReasons, ReasonStability

from suffice._show.markup import Html, bar, bars, element, facts, part, read_template
from suffice._text import counted, format_percent, join
from suffice.reasons.values import REFUSALS

N_LISTED = 10  # rows and variables that are listed
N_COLUMNS = 10  # of the histogram
READING = {
    "Same first reason": (
        "The share of pairs of a row and a change in which the row has the same first reason before and after the "
        "change. A pair counts only if the row has reasons before the change and the same decision after it. A row "
        "that has no reasons after a change has not kept them."
    ),
    "Same reasons": "The share of pairs in which all reasons are the same, in any order.",
    "Changes": (
        "Another seed: the forest is grown again on the same rows. Bootstrap samples: it is grown on rows drawn with "
        "replacement, with the same decisions. Model fitted again: the model and the forest are both fitted on such a "
        "sample. Small noise: every number of the row moves by normal noise."
    ),
    "SHAP": (
        "The variables with the largest positive SHAP values towards the decision, as many as there may be reasons. A "
        "model that does not change gives the same SHAP values again: there is then nothing to compare."
    ),
    "What it does not show": (
        "A reason that stays the same is not a cause, and need not be the true reason. It only does not depend on "
        "accidents of the fit."
    ),
}


def make_stability_page(stability: ReasonStability, *, title: str | None = None) -> str:
    """Make the page."""
    heading = title if title is not None else f"Stability of the reasons for {stability.about['target']}"
    own_style = Path(__file__).with_name("stability.css").read_text(encoding="utf-8")
    style = f"{read_template('card.css')}{read_template('report.css')}{own_style}"
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"{element('title', '', heading)}<style>{style}</style>"
    )
    body = [
        element("header", "", element("h1", "", heading), element("p", "lead", _lead(stability))),
        element(
            "main",
            "",
            _section("At a glance", _tiles(stability), _panels(stability)),
            _section("Figures", _figures(stability), element("p", "note", stability.shap_of)),
            _section("Rows to look at", element("p", "", _about_rows(stability)), _least_stable(stability)),
            _section("How to read it", _reading()),
            _section("Settings", _settings(stability)),
        ),
    ]
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body class="suffice">{"".join(body)}</body></html>\n'


def _section(title: str, *children: str) -> Html:
    return element("section", "", element("h2", "", title), *children)


def _lead(stability: ReasonStability) -> str:
    n = len(stability.reasons)
    have = "has" if n == 1 else "have"
    return (
        f"How often rows keep their reasons when the forest, the training table or the row changes a little. {n} of "
        f"{counted(stability.n_rows, 'row')} with an adverse outcome {have} reasons and {'is' if n == 1 else 'are'} "
        "looked at."
    )


# --- at a glance ------------------------------------------------------------------------------------------------------


def _tiles(stability: ReasonStability) -> Html:
    n, n_rows = len(stability.reasons), stability.n_rows
    tiles = [("Rows with reasons", f"{n} of {n_rows}", _refused_text(stability), n / n_rows)]
    for change in stability.changes:
        ours, shap = stability.ours(change), stability.of_shap(change)
        beside = f"same first reason; SHAP {_percent(shap.same_top)}" if shap is not None else "same first reason"
        tiles.append((_capital(CHANGES[change.kind]), _percent(ours.same_top), beside, ours.same_top))
    drawn = [
        element(
            "div",
            "tile",
            element("div", "eyebrow", name),
            element("div", "large", large),
            "" if math.isnan(share) else bar(share),
            element("div", "note", note),
        )
        for name, large, note, share in tiles
    ]
    return element("div", "tiles", *drawn)


def _refused_text(stability: ReasonStability) -> str:
    if not stability.refusals:
        return "none was refused"
    return "refused: " + "; ".join(f"{REFUSALS[kind]} ({n})" for kind, n in stability.refusals.items())  # type: ignore[index]


def _panels(stability: ReasonStability) -> Html:
    before = _shares_of_first(stability.reasons)
    after = _shares_of_first(
        other
        for change in stability.changes
        for of_change, kept in zip(change.reasons, change.is_kept, strict=True)
        for other, is_kept in zip(of_change, kept.tolist(), strict=True)
        if is_kept
    )
    panels = [
        part("The first reason stays the same", "share of pairs", _paired(stability, is_top=True)),
        part("All reasons stay the same", "share of pairs", _paired(stability, is_top=False)),
        part("Rows", "by the share of changes that keep the first reason", _histogram(stability)),
        part("First reasons before the changes", "share of rows", _named_bars(before)),
        part("First reasons after the changes", "share of pairs", _named_bars(after)),
    ]
    return element("div", "panels", *(element("div", "panel", panel) for panel in panels))


def _paired(stability: ReasonStability, is_top: bool) -> Html:
    """Draw two bars for each kind of change: ours and SHAP's."""
    cells: list[str] = []
    for change in stability.changes:
        cells.append(element("div", "kind", _capital(CHANGES[change.kind])))
        for who, agreement, kind in (
            ("suffice", stability.ours(change), ""),
            ("SHAP", stability.of_shap(change), "plain"),
        ):
            share = math.nan if agreement is None else agreement.same_top if is_top else agreement.same_set
            drawn = bar(0.0 if math.isnan(share) else share, kind)
            cells.append(element("div", "line", element("span", "who", who), drawn))
            cells.append(element("span", "number", _percent(share)))
        cells.append(element("div", "gap"))
    return element("div", "pairs", *cells)


def _histogram(stability: ReasonStability) -> Html:
    shares = stability.same_top_by_row()
    counts, _ = np.histogram(shares[~np.isnan(shares)], bins=N_COLUMNS, range=(0.0, 1.0))
    most = max(int(counts.max()), 1)
    columns = [
        element("div", "column", str(n) if n else "", element("span", "", style=f"height:{120 * n / most:.0f}px"))
        for n in counts.tolist()
    ]
    ends = element("div", "ends", element("span", "", "0 %"), element("span", "", "always: 100 %"))
    return Html(element("div", "columns", *columns) + ends)


def _shares_of_first(reasons: Iterable[Sequence[str]]) -> list[tuple[str, float]]:
    counts = Counter(variables[0] if variables else "no reasons" for variables in reasons)
    n = sum(counts.values())
    return [(name, count / n) for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]


def _named_bars(shares: list[tuple[str, float]]) -> Html:
    more = f"and {len(shares) - N_LISTED} more" if len(shares) > N_LISTED else ""
    return bars([(name, share, _percent(share)) for name, share in shares[:N_LISTED]], more=more)


# --- tables -----------------------------------------------------------------------------------------------------------


def _table(heads: Sequence[str], lines: Iterable[Sequence[str]], n_texts: int) -> Html:
    """Write a table; the columns after the first `n_texts` hold numbers."""

    def row(tag: str, cells: Sequence[str]) -> Html:
        kinds = ["" if i < n_texts else "number" for i in range(len(cells))]
        return element("tr", "", *(element(tag, kind, cell) for kind, cell in zip(kinds, cells, strict=True)))

    body = element("tbody", "", *(row("td", line) for line in lines))
    table = element("table", "plain-table", element("thead", "", row("th", heads)), body)
    return element("div", "scroll", table)


def _figures(stability: ReasonStability) -> Html:
    heads = [
        "Change",
        "Changes",
        "Pairs",
        "Same first reason",
        "Same reasons",
        "No reasons after",
        "SHAP: first",
        "SHAP: all",
    ]
    lines = []
    for change in stability.changes:
        ours, shap = stability.ours(change), stability.of_shap(change)
        figures = [_count(ours.n_same_top, ours), _count(ours.n_same_set, ours), _count(ours.n_none, ours)]
        peers = ["-", "-"] if shap is None else [_count(shap.n_same_top, shap), _count(shap.n_same_set, shap)]
        lines.append([_capital(CHANGES[change.kind]), str(len(change.reasons)), str(ours.n_pairs), *figures, *peers])
    notes = dict.fromkeys(change.shap_note for change in stability.changes if change.shap_note)
    under = [element("p", "note", f"-: {note}") for note in notes]
    return Html(_table(heads, lines, 1) + "".join(under))


def _count(n: int, agreement: Agreement) -> str:
    return f"{n} ({_percent(n / agreement.n_pairs)})" if agreement.n_pairs else "-"


def _about_rows(stability: ReasonStability) -> str:
    n_always = int(np.count_nonzero(stability.same_top_by_row() == 1.0))
    return (
        f"{n_always} of {counted(len(stability.reasons), 'row')} keep their first reason under all changes. These keep "
        "it least often:"
    )


def _least_stable(stability: ReasonStability) -> Html:
    shares = stability.same_top_by_row()
    order = [i for i in np.argsort(shares, kind="stable").tolist() if not math.isnan(shares[i]) and shares[i] < 1]
    if not order:
        return element("p", "note", "There are none.")
    lines = [
        [stability.labels[i], join(stability.reasons[i]), _other_first(stability.changes, i), _percent(shares[i])]
        for i in order[:N_LISTED]
    ]
    return _table(["Row", "Reasons", "First reason after changes", "Same first reason"], lines, 3)


def _other_first(changes: Sequence[ChangedReasons], row: int) -> str:
    """List how often each variable is the first reason of a row after the changes that keep its decision."""
    counts = Counter(
        of_change[row][0] if of_change[row] else "no reasons"
        for change in changes
        for of_change, kept in zip(change.reasons, change.is_kept, strict=True)
        if kept[row]
    )
    return ", ".join(f"{name} ({n})" for name, n in counts.most_common(4))


def _reading() -> Html:
    return element("dl", "", *(piece for name, text in READING.items() for piece in _defined(name, text)))


def _defined(name: str, text: str) -> tuple[Html, Html]:
    return element("dt", "", name), element("dd", "", text)


def _settings(stability: ReasonStability) -> Html:
    about = stability.about
    pairs = [
        ("Written", datetime.date.today().isoformat()),
        ("Target", str(about["target"])),
        ("Model", str(about["model"] or "the forest itself")),
        ("Training rows", f"{about['n_rows']:,}"),
        ("pi", f"{about['settings']['pi']:g}"),
        ("Reasons", f"at most {stability.n_reasons}"),
        ("Noise", f"{stability.scale:g} standard deviations of each column of numbers"),
        ("Versions", ", ".join(f"{name} {version}" for name, version in about["versions"].items())),
    ]
    return element("div", "panel", facts(pairs))


def _percent(share: float) -> str:
    return "-" if math.isnan(share) else f"{format_percent(share)} %"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
