"""Answers for large table files, written part by part: memory for one part, and runs that can be continued.

Finished parts are kept in a folder until all of them can be joined. A fingerprint in the folder states what the parts
depend on, so that they are not mixed with those of a different run.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from suffice import __version__
from suffice._cli.printing import note, working
from suffice._forest.progress import progress_bar
from suffice._io.output import json_lines, table_bytes
from suffice._io.sources import STDIO, file_digest
from suffice._io.writing import replacing, short_name
from suffice._text import counted, join
from suffice.errors import SearchSizeWarning

if TYPE_CHECKING:
    from suffice._cli.rows import FileRows

KINDS = ("parquet", "csv", "jsonl")
_SECONDS = 1.0  # between two moves of the bar
_FIRST_STEP = 100  # rows that are explained before their speed is known
Answer: TypeAlias = Callable[[pl.DataFrame, int], tuple[pl.DataFrame | bytes, int]]
"""Takes rows and the position of the first one; returns their lines, and in how many rows the search ended early."""

FINGERPRINT = "fingerprint.json"


def folder_of(output: str) -> Path:
    """Return the folder in which the finished parts of a file are kept."""
    path = Path(os.path.realpath(output))
    return path.with_name(f".{short_name(path.name)}.parts")


@dataclass(frozen=True)
class Parts:
    """The finished parts of a file, in a folder. Each is written completely or not at all."""

    folder: Path
    kind: str
    n: int

    def begin(self, fingerprint: Mapping[str, Any]) -> None:
        """Make the folder, or keep the parts in it if they have the same fingerprint."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        _check_own(self.folder)
        path = self.folder / FINGERPRINT
        earlier = json.loads(path.read_bytes()) if path.exists() else {}
        # Finished parts have no unseen categories, which would have been an error.
        earlier |= {"unseen": fingerprint["unseen"]} if earlier.get("unseen") == "error" else {}
        differing = [name for name in fingerprint if earlier.get(name) != fingerprint[name]]
        if differing and self.find():
            raise ValueError(
                f"{self.folder} holds parts of an earlier run that differs in {join(differing)}: remove it to discard "
                "them, or name another file with -o."
            )
        with replacing(path) as written:
            written.write_text(json.dumps(fingerprint))

    def find(self) -> dict[int, Path]:
        """Find the finished parts by their names."""
        return {int(path.stem): path for path in self.folder.glob("[0-9]*")}

    def write(self, part: int, pieces: list[Any]) -> None:
        """Write a part."""
        data = b"".join(pieces) if self.kind == "jsonl" else table_bytes(pl.concat(pieces), self.kind, header=part == 0)
        with replacing(self.folder / f"{part:06}.{self.kind}") as path:
            path.write_bytes(data)

    def join(self, output: str) -> None:
        """Join all parts, with one of them in memory at a time."""
        files = self.find()
        paths = [files[part] for part in range(self.n)]
        with replacing(output) as joined:
            if self.kind == "parquet":
                try:
                    pl.scan_parquet(paths, glob=False).sink_parquet(joined)
                # If the disk is full, polars raises its own errors, and PanicException is not an Exception.
                except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
                    reason = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
                    raise ValueError(f"The parts in {self.folder} cannot be joined: {reason}.") from None
                return
            with open(joined, "wb") as whole:
                for path in paths:
                    with open(path, "rb") as part:
                        shutil.copyfileobj(part, whole)

    def remove(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.folder, ignore_errors=True)  # another run of the same command may still write into it


def _check_own(folder: Path) -> None:
    """Refuse a folder into which somebody else could have put parts: they would end up in the result."""
    about = folder.lstat()
    is_open = not stat.S_ISDIR(about.st_mode) or about.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    if hasattr(os, "geteuid") and (is_open or about.st_uid != os.geteuid()):  # Windows has no such rights
        raise ValueError(
            f"{folder} may hold parts of somebody else: it belongs to another user, or others may write into it. "
            "Remove it, or name another file with -o."
        )


# --- runs -----------------------------------------------------------------------------------------------------------


def is_in_parts(rows: FileRows, output: str, kind: str, batch: int) -> bool:
    """Check whether rows are explained part by part."""
    path = Path(output)
    if output == STDIO or kind not in KINDS or (path.exists() and not path.is_file()):
        return False
    if rows.table.identity is None:
        return False
    return rows.end > batch or folder_of(output).exists()


def explain_in_parts(rows: FileRows, output: str, kind: str, *, explainer_path: str, batch: int) -> None:
    """Explain rows part by part, and write the explanations into one file."""
    rows.check()

    def answer(frame: pl.DataFrame, first: int) -> tuple[pl.DataFrame | bytes, int]:
        explained = rows.explain(frame, first, progress=False)
        n_cut_short = sum(not complete for complete in explained.explanations.is_search_complete)
        return (json_lines(explained.dicts()) if kind == "jsonl" else explained.to_frame()), n_cut_short

    write_in_parts(rows, output, kind, answer, explainer_path=explainer_path, batch=batch)


def write_in_parts(rows: FileRows, output: str, kind: str, answer: Answer, *, explainer_path: str, batch: int) -> None:
    """Answer for rows part by part, and write the answers into one file."""
    parts = Parts(folder_of(output), kind, -(-rows.end // batch))
    parts.begin(make_fingerprint(rows, kind, explainer_path, batch))
    try:
        _answer_missing(rows, parts, batch, answer)
        with working("Joining the parts"):
            parts.join(output)
        parts.remove()
    except KeyboardInterrupt:
        n_done = len(parts.find())
        if n_done:
            note(f"Stopped: {n_done} of {parts.n} parts are done. The same command continues from there.")
        raise
    finally:
        if not parts.find():
            parts.remove()


def make_fingerprint(rows: FileRows, kind: str, explainer_path: str, batch: int) -> dict[str, Any]:
    """Collect everything that the content of the parts depends on."""
    explainer, table = rows.explainer, rows.table
    return {
        "version": __version__,
        "explainer": file_digest(explainer_path),
        "table": {**(table.identity or {}), "rows": table.n_rows, "columns": [*map(str, table.schema.items())]},
        "format": kind,
        "batch": batch,
        "limit": None if rows.end == table.n_rows else rows.end,
        "target": rows.target,
        "kept": list(rows.kept),
        **rows.options,
        **explainer.describe()["settings"],
        "candidates": explainer.candidates if isinstance(explainer.candidates, str) else list(explainer.candidates),
    }


def _answer_missing(rows: FileRows, parts: Parts, batch: int, answer: Answer) -> None:
    """Answer for the rows of the parts that are not there yet."""
    finished = parts.find()
    n_done = sum(_end(rows, part, batch) - part * batch for part in finished)
    if finished:
        note(f"Continuing: {len(finished)} of {parts.n} parts were done.")
    step, n_cut_short = _FIRST_STEP, 0
    with progress_bar(rows.end, sys.stderr.isatty(), n_before=n_done) as show_done, warnings.catch_warnings():
        warnings.simplefilter("ignore", SearchSizeWarning)  # replaced by one note on all parts below
        for part in (part for part in range(parts.n) if part not in finished):
            start, pieces = part * batch, []
            frame = rows.read(start, _end(rows, part, batch))
            while start < _end(rows, part, batch):
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
            rows.table.check_unchanged()
            parts.write(part, pieces)
    if n_cut_short:
        note(
            f"In {counted(n_cut_short, 'row')} the search ended at the --max-sets of the explainer: there, "
            "is_search_complete is false and other sufficient sets may exist."
        )


def _end(rows: FileRows, part: int, batch: int) -> int:
    return min(rows.end, (part + 1) * batch)
