"""Uploads to the app: each becomes a table or an explainer, or is refused in a sentence that shows no path.

The reader runs in this process, and not in one of its own: a process for each case would leave time for few.
"""

from __future__ import annotations

import base64
import importlib
import os
import warnings
from unittest import mock

import polars as pl
from forged_files import honest
from hypothesis import strategies as st

from fuzz.targets import table_files
from suffice.app.state import sessions

MAX_BYTES = 4 * 2**30
_NAMES = st.sampled_from(
    ["t.csv", "t.jsonl", "t.json", "t.parquet", "t.arrow", "t.csv.gz", "e.suffice", "../../etc/passwd", "", "a" * 300]
) | st.sampled_from(["\x1b[31m.csv", "t.csv\0", "/", "t.", ".csv", "<b>.csv", "t\n.csv"])
_CONTENTS = table_files.CASES.map(lambda case: case[0]) | st.tuples(
    st.just(honest()), st.just(bytes), table_files.CHANGES
)
_URLS = st.sampled_from(["data:text/csv;base64,", "data:,", ",", "", "data:text/csv;base64,%"])
CASES = st.tuples(_CONTENTS, _NAMES, _URLS)


def _run_here(function, *args, max_bytes=None):
    module, _, name = function.partition(":")
    return getattr(importlib.import_module(module), name)(*args)


def check(case):
    (content, pack, changes), name, url = case
    data = bytearray(pack(content))
    for where, value in changes:
        data[int(where * len(data))] = value
    limits = mock.patch.dict(os.environ, {"SUFFICE_MAX_UPLOAD": "64M"})
    with warnings.catch_warnings(), mock.patch.object(sessions, "run_in_process", _run_here), limits:
        warnings.simplefilter("ignore")
        try:
            upload, _ = sessions.read_upload(url + base64.b64encode(data).decode(), name)
        except ValueError as error:
            if "/tmp" in str(error):
                raise
            return 1
    assert not isinstance(upload, pl.DataFrame) or upload.width
    return 1
