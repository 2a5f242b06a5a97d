"""Files that are written completely or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(output: str | os.PathLike[str]) -> Iterator[Path]:
    """Write a file completely or not at all.

    Parameters
    ----------
    output : path
        The path of the file.

    Yields
    ------
    Path
        A temporary file to write to. It replaces `output` at the end, and is removed if an error occurs.
    """
    path = Path(os.path.realpath(output))  # a link stays a link
    if path.exists() and not path.is_file():  # a device or a pipe cannot be replaced
        yield path
        return
    written = path.with_name(f".{path.stem[:100]}-{secrets.token_hex(4)}{path.suffix}")
    try:
        yield written
        with open(written, "rb+") as file:  # the content before the name: a crash must not leave an empty file
            os.fsync(file.fileno())
        os.replace(written, path)
    finally:
        written.unlink(missing_ok=True)


def write_text(path: str | os.PathLike[str], text: str) -> Path:
    """Write a text file completely or not at all.

    Parameters
    ----------
    path : path
        The path of the file.
    text : str
        The content, written as UTF-8. Half a surrogate pair, as in a broken label, becomes a character reference.

    Returns
    -------
    Path
        The file.
    """
    output = Path(path)
    if not output.parent.is_dir():
        raise FileNotFoundError(f"The folder of {output.name!r} does not exist: {str(output.parent)!r}.")
    with replacing(output) as written:
        written.write_text(text, encoding="utf-8", errors="xmlcharrefreplace", newline="\n")
    return output
