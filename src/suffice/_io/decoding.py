"""Text out of bytes: UTF-8, UTF-16, UTF-32 with and without a byte order mark, and Windows-1252."""

from __future__ import annotations

import codecs
import re

from suffice._io.sources import TableFileWarning
from suffice.errors import warn

# UTF-32 comes before UTF-16: its mark begins with the mark of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]")


def decode(data: bytes, name: str) -> str:
    """Decode the text of a file, whatever its encoding.

    Parameters
    ----------
    data : bytes
        The content of the file.
    name : str
        The name of the file in messages.

    Returns
    -------
    str
        The text, without a byte order mark and without control characters.
    """
    text = _decode_marked(data, name)
    if text is None:
        text = _decode_unmarked(data, name)
    text = text.removesuffix("\x1a")  # DOS ended files with it
    control = _CONTROL.search(text)
    if control is not None:
        raise ValueError(
            f"{name}, line {_line_at(text, control.start())}: a table cannot contain the control character "
            f"{control.group()!r}."
        )
    return text


def _decode_marked(data: bytes, name: str) -> str | None:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            try:
                return data[len(mark) :].decode(encoding)
            except UnicodeDecodeError:
                raise ValueError(
                    f"{name} begins with the mark of {encoding.upper()}, but the rest is not {encoding.upper()}."
                ) from None
    return None


def _decode_unmarked(data: bytes, name: str) -> str:
    if b"\0" in data:
        even, odd = data[0::2], data[1::2]
        for zeros, others, encoding in ((odd, even, "utf-16-le"), (even, odd, "utf-16-be")):
            # The high bytes of most letters are 0, the low bytes never are.
            if zeros.count(0) > 0.4 * len(zeros) and not others.count(0) and len(data) % 2 == 0:
                return data.decode(encoding, errors="replace")
        raise ValueError(f"{name} contains NUL bytes, so it is not a text file.")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        lossy = data.decode("utf-8", errors="replace")
        n_bad = lossy.count("\ufffd")
        n_good = sum(not character.isascii() for character in lossy) - n_bad
        if n_good > n_bad:
            raise ValueError(f"{name}, line {line}: a byte is not valid UTF-8, although the rest is.") from None
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError:
        raise ValueError(
            f"{name}, line {line}: the text is neither UTF-8 nor Windows-1252. Save the file as UTF-8."
        ) from None
    warn(f"{name} is not UTF-8; it is read as Windows-1252.", TableFileWarning)
    return text


def _line_at(text: str, position: int) -> int:
    return len(re.findall(r"\r\n|\r|\n", text[:position])) + 1
