"""Explanations of large table files, part by part, in a file: memory for one part, and work that can go on later.

Finished parts are kept in a folder beside the output until all of them can be joined. A plan in the folder tells what
they answer, so that no part is taken for another question; a lock keeps a second run away.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import re
import shutil
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from suffice import __version__
from suffice._cli.printing import tell, working
from suffice._cli.results import ExplainedRows, Question
from suffice._io.files import STDIO, to_bytes
from suffice._io.result_table import check_kept
from suffice._io.writing import replacing
from suffice.errors import SearchSizeWarning
from suffice.words import counted, join

KINDS = ("parquet", "arrow", "csv", "jsonl")
PLAN, LOCK, JOINED = "plan.json", "lock", "joined"
_PART = re.compile(r"(\d{6,})-([0-9a-f]{32})\.\w+")
_BEGUN = re.compile(r"\.(?:plan|joined|\d{6,}-[0-9a-f]{32})-[0-9a-f]{8}(?:\.\w+)?")  # by a run that was killed
_SECONDS = 1.0  # between two moves of the bar
_FIRST_STEP = 100  # rows that are explained before their speed is known
_SPOKEN = {
    "version": "the version of suffice",
    "model": "the model",
    "table": "the table",
    "format": "--format",
    "batch": "--batch",
    "limit": "--rows",
    "kept": "--id",
}


def folder_of(output: str) -> Path:
    """Tell where the finished parts of a file are kept.

    Parameters
    ----------
    output : str
        The path of the file.

    Returns
    -------
    Path
        A folder beside the file, or beside that to which it is a link.
    """
    path = Path(os.path.realpath(output))
    return path.with_name(f".{path.name}.parts")


def is_in_parts(asked: Question, output: str, kind: str, batch: int) -> bool:
    """Tell whether rows are explained part by part.

    Parameters
    ----------
    asked : Question
        The rows, and what is asked about them.
    output : str
        Where the explanations are to be written.
    kind : str
        What is to be written.
    batch : int
        The rows of a part.

    Returns
    -------
    bool
        True for a table or lines from a file into a file, if there is more than one part, or there are parts already.
    """
    path = Path(output)
    if output == STDIO or kind not in KINDS or (path.exists() and not path.is_file()) or asked.table.identity is None:
        return False
    return asked.end > batch or folder_of(output).exists()


def explain_in_parts(asked: Question, output: str, kind: str, *, model: str, batch: int, restart: bool = False) -> None:
    """Explain rows part by part, and write the explanations into one file.

    Parameters
    ----------
    asked : Question
        The rows, and what is asked about them.
    output : str
        The path of the file.
    kind : {"parquet", "arrow", "csv", "jsonl"}
        What to write.
    model : str
        The path of the model.
    batch : int
        The rows of a part.
    restart : bool, default=False
        Whether to discard the parts of an earlier run.
    """
    if kind != "jsonl":
        check_kept(asked.kept, "--id", with_row=True)
    asked.check()
    plan = make_plan(asked, kind, model, batch)
    with _locked(folder_of(output), output) as folder:
        parts = Parts(folder, kind, -(-asked.end // batch))
        if restart:
            parts.clear()
        parts.follow(plan)
        try:
            _explain_missing(asked, parts, batch)
            with working("Joining the parts"):
                os.replace(parts.join(), os.path.realpath(output))
            parts.clear()
        except KeyboardInterrupt:
            n_done = len(parts.find())
            if n_done:
                tell(f"Stopped: {n_done} of {parts.n} parts are done. The same command goes on from there.")
            raise
        finally:
            if not parts.find():
                parts.clear()


def make_plan(asked: Question, kind: str, model: str, batch: int) -> dict[str, Any]:
    """Tell what parts depend on.

    Parameters
    ----------
    asked : Question
        The rows, and what is asked about them.
    kind : str
        What is to be written.
    model : str
        The path of the model.
    batch : int
        The rows of a part.

    Returns
    -------
    dict
        Plain values, ready for JSON.
    """
    digest = hashlib.sha256()
    with open(model, "rb") as file:
        for data in iter(lambda: file.read(2**20), b""):
            digest.update(data)
    explainer, table = asked.explainer, asked.table
    return {
        "version": __version__,
        "model": digest.hexdigest(),
        "table": {**(table.identity or {}), "rows": table.n_rows, "columns": [*map(str, table.schema.items())]},
        "format": kind,
        "batch": batch,
        "limit": None if asked.end == table.n_rows else asked.end,
        "target": asked.target,
        "kept": list(asked.kept),
        **asked.options,
        **explainer._about()["settings"],
    }


def differences(done: Mapping[str, Any], plan: Mapping[str, Any]) -> list[str]:
    """Name what keeps the parts of one plan from being those of another.

    Parameters
    ----------
    done : mapping of str to object
        The plan of the parts.
    plan : mapping of str to object
        The other plan.

    Returns
    -------
    list of str
        Options and files.
    """
    differing = [name for name in plan if done.get(name) != plan[name]]
    if (done.get("unseen"), plan["unseen"]) == ("error", "missing"):  # what would have been an error, was not there
        differing.remove("unseen")
    return [_SPOKEN.get(name, f"--{name.replace('_', '-')}") for name in differing]


# --- the work ---------------------------------------------------------------------------------------------------------


def _explain_missing(asked: Question, parts: Parts, batch: int) -> None:
    """Explain the rows of the parts that are not there."""
    done = parts.check()
    n_done = sum(_end(asked, part, batch) - part * batch for part in done)
    if done:
        tell(f"Going on: {len(done)} of {parts.n} parts were done.")
    step, n_cut_short = _FIRST_STEP, 0
    with _bar(asked.end, n_done) as move, warnings.catch_warnings():
        warnings.simplefilter("ignore", SearchSizeWarning)  # of all pieces together it is told below
        for part in (part for part in range(parts.n) if part not in done):
            start, pieces = part * batch, []
            frame = asked.read(start, _end(asked, part, batch))
            while start < _end(asked, part, batch):
                begin = time.perf_counter()
                piece = frame.slice(start - part * batch, step)
                explained = asked.explain(piece, start, progress=False)
                n_cut_short += sum(not complete for complete in explained.explanations.is_search_complete)
                pieces.append(_lines(explained, parts.kind))
                start += piece.height
                move(piece.height)
                # The next piece takes about a second, or four times as many rows.
                speed = piece.height / max(time.perf_counter() - begin, 1e-6)
                step = max(1, min(4 * step, round(speed * _SECONDS)))
            asked.table.check_unchanged()
            parts.write(part, pieces)
    if n_cut_short:
        tell(
            f"In {counted(n_cut_short, 'row')} the search ended at the model's --max-sets: is_search_complete is false "
            "there, and there may be other sufficient sets."
        )


def _end(asked: Question, part: int, batch: int) -> int:
    return min(asked.end, (part + 1) * batch)


def _lines(done: ExplainedRows, kind: str) -> pl.DataFrame | bytes:
    if kind != "jsonl":
        return done.to_frame()
    return "".join(json.dumps(told, ensure_ascii=False) + "\n" for told in done.dicts()).encode()


@contextmanager
def _bar(total: int, n_done: int) -> Iterator[Callable[[int], object]]:
    """Show rows, speed and the time left on a terminal; rows that were done before do not count for the speed."""
    if not sys.stderr.isatty():
        yield lambda n: None
        return
    from tqdm import tqdm

    with tqdm(total=total, initial=n_done, unit="row", desc="explaining", dynamic_ncols=True) as bar:
        yield bar.update


# --- the folder -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Parts:
    """The finished parts of a file, in a folder.

    Parameters
    ----------
    folder : Path
        The folder.
    kind : {"parquet", "arrow", "csv", "jsonl"}
        What the parts make together. Those of an Arrow file are Parquet files themselves.
    n : int
        How many there are when all are done.
    """

    folder: Path
    kind: str
    n: int

    def follow(self, plan: Mapping[str, Any]) -> None:
        """Keep the parts of the same plan, and refuse those of another.

        Parameters
        ----------
        plan : mapping of str to object
            What is to be done.
        """
        try:
            done = json.loads((self.folder / PLAN).read_bytes())
        except (FileNotFoundError, ValueError):  # stopped before there was a plan, or nobody knows what was done
            self.clear()
        else:
            differing = differences(done, plan)
            if differing and self.find():
                raise ValueError(
                    f"{self.folder} holds parts of an earlier run that differs in {join(differing)}: give --restart to "
                    "discard them, or another file by -o."
                )
            self.clear(of_killed_only=not differing)
        self._replace(PLAN, json.dumps(plan).encode())

    def find(self) -> dict[int, Path]:
        """Find the finished parts by their names.

        Returns
        -------
        dict of int to Path
            The number and the file of each part.
        """
        named = ((_PART.fullmatch(path.name), path) for path in self.folder.iterdir())
        return {int(name[1]): path for name, path in named if name and int(name[1]) < self.n}

    def check(self) -> dict[int, Path]:
        """Find the finished parts, and remove those that are damaged.

        Returns
        -------
        dict of int to Path
            The number and the file of each part whose content has the digest that its name tells.
        """
        found = self.find()
        for part, path in list(found.items()):
            if not path.name.startswith(_name(part, path.read_bytes())):
                path.unlink()
                del found[part]
        return found

    def write(self, part: int, pieces: list[Any]) -> None:
        """Write a part, in one step.

        Parameters
        ----------
        part : int
            Its number, from 0.
        pieces : list of polars.DataFrame or list of bytes
            Its content.
        """
        suffix = "parquet" if self.kind == "arrow" else self.kind
        data = b"".join(pieces) if self.kind == "jsonl" else to_bytes(pl.concat(pieces), suffix, header=part == 0)
        self._replace(f"{_name(part, data)}.{suffix}", data)

    def join(self) -> Path:
        """Join all parts, of which one is in memory at a time.

        Returns
        -------
        Path
            The file.
        """
        found = self.check()
        if len(found) < self.n:
            raise ValueError(f"A part in {self.folder} was damaged: the same command does it again.")
        paths = [found[part] for part in range(self.n)]
        with replacing(self.folder / JOINED) as joined:
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
                    lines.sink_ipc(joined, compression="uncompressed")
        return self.folder / JOINED

    def clear(self, of_killed_only: bool = False) -> None:
        """Remove the files of the folder, but for the lock, and nothing that is not ours.

        Parameters
        ----------
        of_killed_only : bool, default=False
            Whether to remove only what a run that was killed has begun.
        """
        for path in self.folder.iterdir():
            is_whole = path.name in (PLAN, JOINED) or _PART.fullmatch(path.name)
            if _BEGUN.fullmatch(path.name) or (is_whole and not of_killed_only):
                path.unlink()

    def _replace(self, name: str, data: bytes) -> None:
        with replacing(self.folder / name) as path:
            path.write_bytes(data)


def _name(part: int, data: bytes) -> str:
    return f"{part:06}-{hashlib.sha256(data).hexdigest()[:32]}"


@contextmanager
def _locked(folder: Path, output: str) -> Iterator[Path]:
    """Make the folder for one run at a time; the lock of a run that was killed is none. Remove it if it is empty."""
    folder.mkdir(exist_ok=True)
    path = folder / LOCK
    with open(path, "a+b") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_ours = os.path.samestat(os.fstat(lock.fileno()), os.stat(path))
        except (BlockingIOError, FileNotFoundError):
            is_ours = False
        except OSError as error:  # some file systems of clusters have no locks
            if error.errno not in (errno.ENOSYS, errno.ENOTSUP, errno.ENOLCK):
                raise
            is_ours = True
        if not is_ours:  # held by another, or removed by one that has just ended
            raise ValueError(f"Another run is writing {output!r}: wait for it, or give another file by -o.")
        try:
            yield folder
        finally:
            if {path.name for path in folder.iterdir()} == {LOCK}:
                path.unlink()
                with suppress(OSError):
                    folder.rmdir()
