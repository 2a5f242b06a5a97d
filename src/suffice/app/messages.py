"""Messages of the library, reworded for the pages of the app."""

from __future__ import annotations

import re

from suffice._text import ARGUMENT_WORDS, ODDS_OPTION

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
    (re.escape(ODDS_OPTION), "a level for each class (under Settings of One row)"),
    (
        r"take a larger `radius`, or a smaller `alpha`\.",
        "take a smaller alpha under Settings, or a larger radius at fit.",
    ),
    (r"Leave out `y` to explain what (.*) predicts instead of the (\w+) outcome\.", r"Explain what \1 predicts."),
    (r"dates='parts'", "the option for dates"),
    (r"With extra_columns='ignore' they are left out\.", ""),
    *ARGUMENT_WORDS,
)
