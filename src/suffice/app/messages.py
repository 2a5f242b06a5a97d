"""Messages of the library, reworded for the pages of the app."""

from __future__ import annotations

import re

from suffice._text import ARGUMENT_WORDS, SAME_OPTION

# Errors that bad input raises in the library; the page shows their messages.
ERRORS = (ValueError, TypeError, ImportError, OSError)


def reword(error: BaseException | str) -> str:
    """Reword a message of the library for the app."""
    text = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.strerror}."
    for pattern, words in _WORDS:
        text = re.sub(pattern, words, text)
    return text


_WORDS = (
    (r"With unseen='missing' it counts as missing\.", "Let it count as missing under Settings."),
    (rf"^With pi=([\d.]+)(?:, {re.escape(SAME_OPTION)})?", r"With π = \1"),
    (r"dates='parts'", "the option for dates"),
    (r"With extra_columns='ignore' they are left out\.", ""),
    *ARGUMENT_WORDS,
)
