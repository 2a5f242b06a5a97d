"""Answers for large table files, written part by part: memory for one part, and runs that can be continued.

Finished parts are kept in a folder until all of them can be joined. A fingerprint in the folder states what the parts
depend on, so that they are not mixed with those of a different run; a lock keeps out a second run.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import shutil
import stat
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl
from filelock import FileLock, Timeout

from suffice import __version__
from suffice._cli.printing import note, working
from suffice._forest.progress import progress_bar
from suffice._io.output import json_lines, table_bytes
from suffice._io.result_table import check_kept
from suffice._io.sources import STDIO, file_digest
from suffice._io.writing import UNFINISHED, replacing, short_name
from suffice._text import counted, join
from suffice.errors import SearchSizeWarning

if TYPE_CHECKING:
    from suffice._cli.rows import FileRows

KINDS = ("parquet", "arrow", "csv", "jsonl")
_SECONDS = 1.0  # between two moves of the bar
_FIRST_STEP = 100  # rows that are explained before their speed is known
Answer: TypeAlias = Callable[[pl.DataFrame, int], tuple[pl.DataFrame | bytes, int]]
"""Takes rows and the position of the first one; returns their lines, and in how many rows the search ended early."""

FINGERPRINT, LOCK, JOINED = "fingerprint.json", "lock", "joined"
_PART = re.compile(r"(\d{6,})-([0-9a-f]{32})\.\w+")
_UNFINISHED = re.compile(rf"\.(?:fingerprint|joined|\d{{6,}}-[0-9a-f]{{32}}){UNFINISHED}(?:\.\w+)?")
_NO_LOCKS = (errno.ENOSYS, errno.ENOTSUP, errno.ENOLCK)
_NAMES = {
    "version": "the version of suffice",
    "explainer": "the explainer",
    "table": "the table",
    "format": "--format",
    "batch": "--batch",
    "limit": "--rows",
    "kept": "--id",
    "n": "--reasons",
}


def folder_of(output: str) -> Path:
    """Return the folder in which the finished parts of a file are kept."""
    path = Path(os.path.realpath(output))
    return path.with_name(f".{short_name(path.name)}.parts")


@dataclass(frozen=True)
class Parts:
    """The finished parts of a file, in a folder."""

    folder: Path
    kind: str
    n: int
    escape_formulas: bool = True

    def begin(self, fingerprint: Mapping[str, Any]) -> None:
        """Keep the parts with the same fingerprint, and refuse parts with another one."""
        try:
            earlier = json.loads((self.folder / FINGERPRINT).read_bytes())
        except (FileNotFoundError, ValueError):  # stopped before it was written, or damaged
            self.clear()
        else:
            differing = differences(earlier, fingerprint)
            if differing and self.find():
                raise ValueError(
                    f"{self.folder} holds parts of an earlier run that differs in {join(differing)}: add --restart to "
                    "discard them, or name another file with -o."
                )
            self.clear(unfinished_only=not differing)
        self._replace(FINGERPRINT, json.dumps(fingerprint).encode())

    def find(self) -> dict[int, Path]:
        """Find the finished parts by their names."""
        matches = ((_PART.fullmatch(path.name), path) for path in self.folder.iterdir())
        return {int(match[1]): path for match, path in matches if match and int(match[1]) < self.n}

    def check(self) -> dict[int, Path]:
        """Find the finished parts, and remove damaged ones."""
        files = self.find()
        for part, path in list(files.items()):
            if not path.name.startswith(_name(part, path.read_bytes())):
                path.unlink()
                del files[part]
        return files

    def write(self, part: int, pieces: list[Any]) -> None:
        """Write a part completely or not at all."""
        suffix = "parquet" if self.kind == "arrow" else self.kind
        if self.kind == "jsonl":
            data = b"".join(pieces)
        else:
            frame = pl.concat(pieces)
            data = table_bytes(frame, suffix, header=part == 0, escape_formulas=self.escape_formulas)
        self._replace(f"{_name(part, data)}.{suffix}", data)

    def join(self) -> Path:
        """Join all parts, with one of them in memory at a time."""
        files = self.check()
        if len(files) < self.n:
            raise ValueError(f"A part in {self.folder} was damaged: run the same command again.")
        paths = [files[part] for part in range(self.n)]
        with replacing(self.folder / JOINED) as joined, _writing(self.folder):
            if self.kind in ("csv", "jsonl"):
                with open(joined, "wb") as whole:
                    for path in paths:
                        with open(path, "rb") as part:
                            shutil.copyfileobj(part, whole)
            else:
                lines = pl.scan_parquet(paths, glob=False)
                if self.kind == "parquet":
                    lines.sink_parquet(joined)
                else:
                    lines.sink_ipc(joined, compression=None)  # older polars refuses "uncompressed" here
        return self.folder / JOINED

    def clear(self, unfinished_only: bool = False) -> None:
        """Remove the files of earlier runs from the folder, but neither the lock nor files of others."""
        for path in self.folder.iterdir():
            is_finished = path.name in (FINGERPRINT, JOINED) or _PART.fullmatch(path.name)
            if _UNFINISHED.fullmatch(path.name) or (is_finished and not unfinished_only):
                path.unlink()

    def _replace(self, name: str, data: bytes) -> None:
        with replacing(self.folder / name, sweeps=False) as path:  # `clear` has removed what was there
            path.write_bytes(data)


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        yield
    # If the disk is full, polars raises its own errors, and PanicException is not an Exception.
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
        raise ValueError(f"The parts in {folder} cannot be joined: {reason}.") from None


def _name(part: int, data: bytes) -> str:
    return f"{part:06}-{hashlib.sha256(data).hexdigest()[:32]}"


def differences(earlier: Mapping[str, Any], fingerprint: Mapping[str, Any]) -> list[str]:
    """List in what an earlier run differs, so that its parts cannot be used."""
    differing = [name for name in fingerprint if earlier.get(name) != fingerprint[name]]
    # Finished parts have no unseen categories, which would have been an error.
    if (earlier.get("unseen"), fingerprint["unseen"]) == ("error", "missing"):
        differing.remove("unseen")
    return [_NAMES.get(name, f"--{name.replace('_', '-')}") for name in differing]


def _check_own(folder: Path) -> None:
    """Refuse a folder into which somebody else could have put parts: they would end up in the result."""
    if not hasattr(os, "geteuid"):  # Windows
        return
    about = folder.lstat()
    is_open = not stat.S_ISDIR(about.st_mode) or about.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    owners = {about.st_uid, *(path.lstat().st_uid for path in ([] if is_open else folder.iterdir()))}
    if is_open or owners != {os.geteuid()}:
        raise ValueError(
            f"{folder} may hold parts of somebody else: it, or a file in it, belongs to another user, or others may "
            "write into it. Remove it, or name another file with -o."
        )


@contextmanager
def locked(folder: Path, output: str) -> Iterator[Path]:
    """Make the folder for one run at a time, and remove it at the end if it is empty.

    The operating system releases the lock of a killed run. Some file systems of clusters have no locks; there, two runs
    can interfere, because a file that serves as a lock would outlive a killed run.
    """
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    _check_own(folder)
    path = folder / LOCK
    lock = FileLock(path, blocking=False, fallback_to_soft=False)
    try:
        lock.acquire()
    except (Timeout, FileNotFoundError):  # held by another run, or removed by one that has just ended
        raise ValueError(
            f"Another run is writing {output!r}: wait until it has ended, or name another file with -o."
        ) from None
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
    try:
        yield folder
    finally:
        is_empty = {path.name for path in folder.iterdir()} <= {LOCK}
        if is_empty:
            with suppress(PermissionError):  # Windows removes the file when the lock is released
                path.unlink(missing_ok=True)
        lock.release()
        if is_empty:
            with suppress(OSError):  # another run has come
                folder.rmdir()


# --- runs -----------------------------------------------------------------------------------------------------------


def is_in_parts(rows: FileRows, output: str, kind: str, batch: int) -> bool:
    """Check whether rows are explained part by part."""
    path = Path(output)
    if output == STDIO or kind not in KINDS or (path.exists() and not path.is_file()):
        return False
    if rows.table.identity is None:
        return False
    return rows.end > batch or folder_of(output).exists()


def explain_in_parts(
    rows: FileRows,
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
        check_kept(rows.kept, "--id", with_row=True)
    rows.check()

    def answer(frame: pl.DataFrame, first: int) -> tuple[pl.DataFrame | bytes, int]:
        explained = rows.explain(frame, first, progress=False)
        n_cut_short = sum(not complete for complete in explained.explanations.is_search_complete)
        return (json_lines(explained.dicts()) if kind == "jsonl" else explained.to_frame()), n_cut_short

    fingerprint = {
        **make_fingerprint(rows, kind, explainer_path, batch),
        "keep_formulas": kind == "csv" and not escape_formulas,
    }
    write_in_parts(
        rows, output, kind, answer, fingerprint, batch=batch, restart=restart, escape_formulas=escape_formulas
    )


def write_in_parts(
    rows: FileRows,
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
        parts = Parts(folder, kind, -(-rows.end // batch), escape_formulas)
        if restart:
            parts.clear()
        parts.begin(fingerprint)
        try:
            _answer_missing(rows, parts, batch, answer)
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
    finished = parts.check()
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
