"""Files uploaded through the browser: their size is checked before they are read, and refusals are one sentence."""

from __future__ import annotations

import base64
import binascii
import tempfile
from collections.abc import Collection
from pathlib import Path, PurePath
from typing import Any

from suffice._io.processes import run_in_process
from suffice._io.saved import MARK
from suffice._io.saved_parts import HOW_TO_RAISE, saved_limit
from suffice._io.sources import UPLOAD_VARIABLE, is_packed, memory_limit, unpack
from suffice.explainer import SufficientExplainer
from suffice.reasons.code_book import CodeBook

MAX_UPLOAD = 200 * 2**20  # bytes that a browser may send; `UPLOAD_VARIABLE` limits what they become in memory
_READER_FACTOR = 6  # the memory of a reader, as a multiple of that of the table
_THREAD_BYTES = 2**29  # and what its threads take
MAX_COLUMNS = 5000  # with more, the lists of names alone make a page slow


def read_upload(content: str, name: str, text_columns: Collection[str] = ()) -> tuple[Any, list[str]]:
    """Read an uploaded file."""
    shown, data = _decode(content, name)
    if len(data) > MAX_UPLOAD:
        raise ValueError(f"{shown} is larger than {MAX_UPLOAD // 2**20} MiB: start the app with its path instead.")
    was_packed, data = is_packed(data), unpack(data, shown, UPLOAD_VARIABLE)
    if was_packed and is_packed(data):
        raise ValueError(f"{shown} is compressed twice: unpack it first.")
    suffix = "".join(c for c in PurePath(shown).suffix if c.isalnum() or c == ".")[:10]
    if PurePath(shown).suffix.lower() in (".gz", ".bz2", ".xz"):
        suffix = PurePath(PurePath(shown).stem).suffix[:10]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"table{suffix}"
        path.write_bytes(data)
        try:
            return _read(path, data, text_columns)
        except Exception as error:  # a broken file can make its reader raise anything
            raise ValueError(str(error).replace(str(path), shown)) from None


def _decode(content: str, name: str) -> tuple[str, bytes]:
    """Return the name of an uploaded file as it is shown, and its bytes."""
    shown = PurePath(name.replace("\\", "/")).name[:100] or "The file"
    try:
        return shown, base64.b64decode(content.partition(",")[2], validate=True)
    except (binascii.Error, ValueError):
        raise ValueError(f"{shown} was not received completely: upload it again.") from None


def read_code_book_upload(content: str, name: str) -> CodeBook:
    """Read an uploaded code book."""
    shown, data = _decode(content, name)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("codes.json" if PurePath(shown).suffix.lower() == ".json" else "codes.csv")
        path.write_bytes(data)
        try:
            return CodeBook.read(path)
        except (ValueError, TypeError) as error:
            raise ValueError(str(error).replace(str(path), shown).replace(path.name, shown)) from None


def _read(path: Path, data: bytes, text_columns: Collection[str]) -> tuple[Any, list[str]]:
    if data.startswith(MARK):
        return _load(path, len(data)), []
    arguments = (str(path), tuple(text_columns), UPLOAD_VARIABLE)
    max_bytes = _READER_FACTOR * memory_limit(UPLOAD_VARIABLE) + _THREAD_BYTES
    frame, notes = run_in_process("suffice._io.files:read_with_notes", *arguments, max_bytes=max_bytes)
    if frame.width > MAX_COLUMNS:
        raise ValueError(
            f"{path} has {frame.width} columns, and the app takes at most {MAX_COLUMNS}: leave some out, or fit by the "
            "command `suffice fit`."
        )
    return frame, notes


def _load(path: Path, n_bytes: int) -> SufficientExplainer:
    """Load a saved explainer; its memory is limited like that of a table, because it stays in the app."""
    limit = memory_limit(UPLOAD_VARIABLE)
    if saved_limit(n_bytes) <= limit:
        return SufficientExplainer.load(path)
    try:
        return SufficientExplainer.load(path, max_bytes=limit)
    except ValueError as error:
        how = f"set {UPLOAD_VARIABLE}, or start the app with the path of the file"
        raise ValueError(str(error).replace(HOW_TO_RAISE, how)) from None
