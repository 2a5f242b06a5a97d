"""Explanations of large table files, written part by part: memory for one part, and runs that can be continued.

Where finished parts are kept, and when they can be used again, is left to ``parts``.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from suffice import __version__
from suffice._cli.parts import Parts, folder_of, locked
from suffice._cli.printing import note, working
from suffice._cli.questions import ExplainedRows, Question
from suffice._forest.progress import progress_bar
from suffice._io.result_table import check_kept
from suffice._io.sources import STDIO, file_digest
from suffice._text import counted
from suffice.errors import SearchSizeWarning

KINDS = ("parquet", "arrow", "csv", "jsonl")
_SECONDS = 1.0  # between two moves of the bar
_FIRST_STEP = 100  # rows that are explained before their speed is known


def is_in_parts(question: Question, output: str, kind: str, batch: int) -> bool:
    """Check whether rows are explained part by part."""
    path = Path(output)
    if output == STDIO or kind not in KINDS or (path.exists() and not path.is_file()):
        return False
    if question.table.identity is None:
        return False
    return question.end > batch or folder_of(output).exists()


def explain_in_parts(
    question: Question,
    output: str,
    kind: str,
    *,
    explainer_path: str,
    batch: int,
    restart: bool = False,
    escape_formulas: bool = True,
) -> None:
    """Explain rows part by part, and write the explanations into one file."""
    if kind != "jsonl":
        check_kept(question.kept, "--id", with_row=True)
    question.check()

    def answer(frame: pl.DataFrame, first: int) -> tuple[pl.DataFrame | bytes, int]:
        explained = question.explain(frame, first, progress=False)
        n_cut_short = sum(not complete for complete in explained.explanations.is_search_complete)
        return _lines(explained, kind), n_cut_short

    fingerprint = {
        **make_fingerprint(question, kind, explainer_path, batch),
        "keep_formulas": kind == "csv" and not escape_formulas,
    }
    write_in_parts(
        question, output, kind, answer, fingerprint, batch=batch, restart=restart, escape_formulas=escape_formulas
    )


Answer: TypeAlias = Callable[[pl.DataFrame, int], tuple[pl.DataFrame | bytes, int]]
"""Takes rows and the position of the first one; returns their lines, and in how many rows the search ended early."""


def write_in_parts(
    question: Question,
    output: str,
    kind: str,
    answer: Answer,
    fingerprint: Mapping[str, Any],
    *,
    batch: int,
    restart: bool = False,
    escape_formulas: bool = True,
) -> None:
    """Answer for rows part by part, and write the answers into one file."""
    with locked(folder_of(output), output) as folder:
        parts = Parts(folder, kind, -(-question.end // batch), escape_formulas)
        if restart:
            parts.clear()
        parts.begin(fingerprint)
        try:
            _answer_missing(question, parts, batch, answer)
            with working("Joining the parts"):
                os.replace(parts.join(), os.path.realpath(output))
            parts.clear()
        except KeyboardInterrupt:
            n_done = len(parts.find())
            if n_done:
                note(f"Stopped: {n_done} of {parts.n} parts are done. The same command continues from there.")
            raise
        finally:
            if not parts.find():
                parts.clear()


def make_fingerprint(question: Question, kind: str, explainer_path: str, batch: int) -> dict[str, Any]:
    """Collect everything that the content of the parts depends on."""
    explainer, table = question.explainer, question.table
    return {
        "version": __version__,
        "explainer": file_digest(explainer_path),
        "table": {**(table.identity or {}), "rows": table.n_rows, "columns": [*map(str, table.schema.items())]},
        "format": kind,
        "batch": batch,
        "limit": None if question.end == table.n_rows else question.end,
        "target": question.target,
        "kept": list(question.kept),
        **question.options,
        **explainer.describe()["settings"],
        "candidates": explainer.candidates if isinstance(explainer.candidates, str) else list(explainer.candidates),
    }


def _answer_missing(question: Question, parts: Parts, batch: int, answer: Answer) -> None:
    """Answer for the rows of the parts that are not there yet."""
    finished = parts.check()
    n_done = sum(_end(question, part, batch) - part * batch for part in finished)
    if finished:
        note(f"Continuing: {len(finished)} of {parts.n} parts were done.")
    step, n_cut_short = _FIRST_STEP, 0
    with (
        progress_bar(question.end, sys.stderr.isatty(), n_before=n_done) as show_done,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore", SearchSizeWarning)  # replaced by one note on all parts below
        for part in (part for part in range(parts.n) if part not in finished):
            start, pieces = part * batch, []
            frame = question.read(start, _end(question, part, batch))
            while start < _end(question, part, batch):
                begin = time.perf_counter()
                piece = frame.slice(start - part * batch, step)
                lines, n_early = answer(piece, start)
                n_cut_short += n_early
                pieces.append(lines)
                start += piece.height
                n_done += piece.height
                if show_done is not None:
                    show_done(n_done)
                # The next piece takes about a second, or has four times as many rows.
                speed = piece.height / max(time.perf_counter() - begin, 1e-6)
                step = max(1, min(4 * step, round(speed * _SECONDS)))
            question.table.check_unchanged()
            parts.write(part, pieces)
    if n_cut_short:
        note(
            f"In {counted(n_cut_short, 'row')} the search ended at the --max-sets of the explainer: there, "
            "is_search_complete is false and other sufficient sets may exist."
        )


def _end(question: Question, part: int, batch: int) -> int:
    return min(question.end, (part + 1) * batch)


def _lines(explained: ExplainedRows, kind: str) -> pl.DataFrame | bytes:
    if kind != "jsonl":
        return explained.to_frame()
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in explained.dicts()).encode()
