"""The table whose explanations the tests of the report write, and its page as text."""

from __future__ import annotations

import html
import re

import numpy as np
import pandas as pd

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "{{data}} 'a' & \"b\" <!--",
    "\u2028 \u4e2d",
]
SEED = 0


def table(n):
    """Numbers, whole numbers, many labels, booleans, indicators, and gaps."""
    rng = np.random.default_rng(SEED)
    X = pd.DataFrame({"hour": rng.integers(0, 24, n), "temp": rng.normal(10, 8, n), "rain": rng.exponential(size=n)})
    X["town"] = rng.choice([f"town {k}" for k in range(16)], n)
    X["holiday"] = rng.random(n) < 0.3
    X.loc[rng.random(n) < 0.15, "temp"] = np.nan
    X.loc[rng.random(n) < 0.1, "town"] = None
    is_north = rng.random(n) < 0.5
    X["wind_N"], X["wind_S"] = is_north.astype(int), (~is_north).astype(int)
    return X


def text_of(markup):
    """The text of HTML as it is read."""
    return " ".join(html.unescape(re.sub(r"<(style|script)>.*?</\1>|<[^>]+>", " ", markup, flags=re.S)).split())


def cards_of(page):
    """The cards of the rows by position: their attributes, and their HTML."""
    found = re.findall(r'<article class="suffice card" data-row="(\d+)" ([^>]*)>(.*?)</article>', page, re.S)
    return {int(row): (dict(re.findall(r'data-(\w+)="([^"]*)"', named)), markup) for row, named, markup in found}
