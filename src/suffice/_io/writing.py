"""Files that are written completely or not at all.

A file is written under a hidden name in the same folder. A killed process leaves the hidden file; a process that writes
the same file a day later removes it.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_UNFINISHED = r"-[0-9a-f]{16}\.unfinished"  # follows the name of the file, before its suffix
_MAX_NAME = 100  # bytes of a name that are kept in the names of hidden files; systems accept 255 in all
_MAX_SUFFIX = 20
_SECONDS = 24 * 3600.0  # an unfinished file that is older belongs to no living process


@contextmanager
def replacing(output: str | os.PathLike[str]) -> Iterator[Path]:
    """Write a file completely or not at all."""
    path = Path(os.path.realpath(output))  # a link stays a link
    if path.exists() and not path.is_file():  # a device or a pipe cannot be replaced
        yield path
        return
    suffix = path.suffix if len(path.suffix.encode()) <= _MAX_SUFFIX else ""
    stem = short_name(path.name.removesuffix(suffix) if suffix else path.name)
    _sweep(path.parent, re.compile(rf"\.{re.escape(stem)}{_UNFINISHED}{re.escape(suffix)}"))
    written = path.with_name(f".{stem}-{secrets.token_hex(8)}.unfinished{suffix}")
    try:
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


def _sweep(folder: Path, pattern: re.Pattern[str]) -> None:
    """Remove the files that match a pattern and to which nobody has written for a day."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            is_unfinished = pattern.fullmatch(entry.name) and entry.is_file(follow_symlinks=False)
            if is_unfinished and time.time() - entry.stat().st_mtime > _SECONDS:
                os.unlink(entry.path)


def write_text(path: str | os.PathLike[str], text: str) -> Path:
    """Write a text file completely or not at all."""
    output = Path(path)
    if not output.parent.is_dir():
        raise FileNotFoundError(f"The folder of {output.name!r} does not exist: {str(output.parent)!r}.")
    with replacing(output) as written:
        written.write_text(text, encoding="utf-8", errors="xmlcharrefreplace", newline="\n")
    return output
