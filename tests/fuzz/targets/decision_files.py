"""Code books and records of decisions, forged: each is used, or refused in a sentence.

Forged records have the right digest, as those of an attacker who knows the format.
"""

from __future__ import annotations

import json
import tempfile
import warnings
from contextlib import contextmanager, suppress
from copy import deepcopy
from functools import cache
from pathlib import Path

import numpy as np
from forged_files import ODD, honest, table
from hypothesis import strategies as st

from suffice import CodeBook, records
from suffice._io.records import digest_of, record_bytes
from suffice._io.saved import from_bytes

MAX_BYTES = 4 * 2**30
_BOOK_PIECES = ["variable", "code", "text", "direction", ",", ";", "\n", '"', "hour", "temp", "low", "high", "{value}"]
_BOOK_PIECES += [
    "{",
    "}",
    "[",
    "]",
    ":",
    '"hour":',
    '{"code":"A","text":"b"}',
    '["A","b"]',
    "null",
    "1e999",
    "\x1b[31m",
]
_BOOK_PIECES += [
    "variable,code,text\n",
    "hour,A1,The hour\n",
    "{bound}",
    "{0.__class__}",
    "{value!r:>99}",
    "\0",
    "\ufeff",
]
CASES = st.one_of(
    st.tuples(st.sampled_from(["codes.csv", "codes.json"]), st.lists(st.sampled_from(_BOOK_PIECES), max_size=30)),
    st.tuples(st.just("records.jsonl"), st.integers(0, 2**62)),
)


@cache
def _true_records() -> tuple[str, list[bytes]]:
    """The file of an explainer, and the records of some rows."""
    folder = tempfile.mkdtemp()
    explainer = from_bytes(honest())
    (Path(folder) / "e.suffice").write_bytes(honest())
    reasons = explainer.reasons(table()[:6], adverse="late")
    records.write(reasons, Path(folder) / "records.jsonl", Path(folder) / "e.suffice")
    return f"{folder}/e.suffice", (Path(folder) / "records.jsonl").read_bytes().splitlines(keepends=True)


def _forge(line, rng):
    record = json.loads(line)
    del record["digest"]
    place = record
    while True:
        keys = list(place) if isinstance(place, dict) else range(len(place))
        key = keys[int(rng.integers(len(keys)))]
        if not isinstance(place[key], dict | list) or not place[key] or rng.random() < 0.2:
            break
        place = place[key]
    place[key] = deepcopy(ODD[int(rng.integers(len(ODD)))])
    try:
        return record_bytes({**record, "digest": digest_of(record)})
    except ValueError:  # a value that JSON cannot hold, such as a lone surrogate
        return json.dumps({**record, "digest": "0" * 64}).encode() + b"\n"


def _changed_fields(line, forged):
    before, after = json.loads(line), json.loads(forged)
    return {name for name in before if name != "digest" and repr(before[name]) != repr(after.get(name))}


def check(case):
    name, pieces = case
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / name
        if name == "records.jsonl":
            return _check_records(path, np.random.default_rng(pieces))
        path.write_text("".join(pieces), encoding="utf-8")
        with _refused_by_name(name):
            CodeBook.read(path)
    return 1


@contextmanager
def _refused_by_name(name):
    """Let a refusal pass that names the file."""
    try:
        yield
    except ValueError as error:
        if name not in str(error):
            raise


def _check_records(path, rng):
    """A forged record is found by `verify`, or what was forged is named as unchecked."""
    explainer, lines = _true_records()
    at = int(rng.integers(len(lines)))
    forged = _forge(lines[at], rng)
    path.write_bytes(b"".join([*lines[:at], forged, *lines[at + 1 :]]))
    with suppress(ValueError):
        result = records.verify(path, explainer)
        assert str(result)
        assert result.n_problems or _changed_fields(lines[at], forged) <= {*result.unchecked}, forged
    return 1
