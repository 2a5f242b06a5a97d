"""Files that are written completely or not at all.

A file is written under a hidden name in the same folder, and locked meanwhile. A killed process releases the lock but
leaves the hidden file; the next process that writes the same file removes it.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

try:
    import fcntl as _fcntl
except ImportError:  # Windows; there, nothing is locked and nothing is removed
    _fcntl = None  # type: ignore[assignment]

UNFINISHED = r"-[0-9a-f]{16}\.unfinished"  # follows the name of the file, before its suffix
_MAX_NAME = 100  # bytes of a name that are kept in the names of hidden files; systems accept 255 in all
_MAX_SUFFIX = 20
_SECONDS = 60.0  # an older empty file is not about to be locked


@contextmanager
def replacing(output: str | os.PathLike[str], *, sweeps: bool = True) -> Iterator[Path]:
    """Write a file completely or not at all."""
    path = Path(os.path.realpath(output))  # a link stays a link
    if path.exists() and not path.is_file():  # a device or a pipe cannot be replaced
        yield path
        return
    suffix = path.suffix if len(path.suffix.encode()) <= _MAX_SUFFIX else ""
    stem = short_name(path.name.removesuffix(suffix) if suffix else path.name)
    if sweeps:
        _sweep(path.parent, re.compile(rf"\.{re.escape(stem)}{UNFINISHED}{re.escape(suffix)}"))
    written = path.with_name(f".{stem}-{secrets.token_hex(8)}.unfinished{suffix}")
    try:
        with _locked(written):
            yield written
            with open(written, "rb+") as file:  # the content before the name: a crash must not leave an empty file
                os.fsync(file.fileno())
            os.replace(written, path)
    finally:
        written.unlink(missing_ok=True)


def short_name(name: str) -> str:
    """Shorten the name of a file, so that longer names made of it are not too long for the file system."""
    encoded = os.fsencode(name)
    if len(encoded) <= _MAX_NAME:
        return name
    return f"{encoded[: _MAX_NAME - 17].decode(errors='ignore')}-{hashlib.sha256(encoded).hexdigest()[:16]}"


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Make a file, and lock it: the system releases the lock when the process ends, whatever ends it."""
    if _fcntl is None:
        yield
        return
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with suppress(OSError):  # some file systems have no locks
            _fcntl.flock(descriptor, _fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _sweep(folder: Path, pattern: re.Pattern[str]) -> None:
    """Remove the files of this user that match a pattern and that no process has locked."""
    if _fcntl is None or not folder.is_dir():
        return
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if pattern.fullmatch(entry.name):
                _remove_dead(entry.path)


def _remove_dead(path: str) -> None:
    with suppress(OSError):  # locked, or on a file system without locks, or removed by another process
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
        try:
            about = os.fstat(descriptor)
            fcntl: Any = _fcntl
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Nothing is written before the lock is taken.
            is_new = not about.st_size and time.time() - about.st_mtime < _SECONDS
            if stat.S_ISREG(about.st_mode) and about.st_uid == os.geteuid() and not is_new:
                os.unlink(path)
        finally:
            os.close(descriptor)


def write_text(path: str | os.PathLike[str], text: str) -> Path:
    """Write a text file completely or not at all."""
    output = Path(path)
    if not output.parent.is_dir():
        raise FileNotFoundError(f"The folder of {output.name!r} does not exist: {str(output.parent)!r}.")
    with replacing(output) as written:
        written.write_text(text, encoding="utf-8", errors="xmlcharrefreplace", newline="\n")
    return output
