"""How many examples hypothesis draws: a fifth of what is asked for, and all of them where time does not matter.

``make test-slow`` sets the variable and runs every test of hypothesis again, with all examples.
"""

from __future__ import annotations

import os

IS_THOROUGH = os.environ.get("SUFFICE_EXAMPLES") == "all"


def n_examples(n):
    return n if IS_THOROUGH else max(n // 5, min(n, 20))
