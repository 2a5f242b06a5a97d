"""Saved explainers that were changed by hand, with the right checksum: what an attacker could send."""

from __future__ import annotations

import hashlib
import json
from copy import deepcopy
from functools import cache

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from suffice import SufficientExplainer
from suffice._io.saved import MARK, N_DIGEST, PREFIX, to_bytes

N = 40


def table():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "hour": rng.integers(0, 24, N),
            "temp": np.where(rng.random(N) < 0.1, np.nan, rng.normal(15, 8, N).round(1)),
            "weather": rng.choice(["clear", "mist", "rain"], N),
            "open": rng.random(N) < 0.5,
        }
    )


@cache
def honest(kind="classes"):
    """The bytes of a small explainer of classes or of numbers."""
    X = table()
    y = X["hour"] * 10.0 + (X["weather"] == "rain") * 30
    options = {"min_size": 1, "n_jobs": 1, "random_state": 0}
    few = {"n_estimators": 3, "min_samples_leaf": 2, "random_state": 0}
    if kind == "classes":
        return to_bytes(
            SufficientExplainer(RandomForestClassifier(**few), **options).fit(X, np.where(y > 120, "late", "early"))
        )
    return to_bytes(SufficientExplainer(RandomForestRegressor(**few), **options).fit(X, y, holdout=0.2))


def take_apart(content):
    """The number of the format, the header and the arrays of a file."""
    _, number, length = PREFIX.unpack_from(content)
    header = json.loads(content[PREFIX.size : PREFIX.size + length])
    data = content[PREFIX.size + length : -N_DIGEST]
    arrays = {}
    for name, entry in header["arrays"].items():
        kind = np.dtype(entry["type"])
        n_values = int(np.prod(entry["shape"]))
        arrays[name] = np.frombuffer(data, kind, n_values, entry["offset"]).reshape(entry["shape"]).copy()
    return number, header, arrays


def count_draws(arrays):
    """State how often each tree counts each row, as files of earlier versions do, instead of listing its rows."""
    rows = np.split(arrays.pop("counted"), np.cumsum(arrays.pop("n_counted"))[:-1])
    arrays["n_drawn"] = np.stack([np.bincount(of_tree, minlength=len(arrays["X"])) for of_tree in rows]).astype("|u1")


def put_together(number, header, arrays, entries=None):
    """A file with the right checksum. `entries` replace what the header says of arrays."""
    header = {**header, "arrays": {}}
    data = b""
    for name, array in arrays.items():
        header["arrays"][name] = {"type": array.dtype.str, "shape": list(array.shape), "offset": len(data)}
        data += array.tobytes()
    for name, entry in (entries or {}).items():
        header["arrays"].setdefault(name, {}).update(entry)
    text = json.dumps(header).encode()
    body = PREFIX.pack(MARK, number, len(text)) + text + data
    return body + hashlib.sha256(body).digest()


def forge(change, kind="classes", entries=None):
    """A file whose header and arrays were changed by ``change(header, arrays)``."""
    number, header, arrays = take_apart(honest(kind))
    change(header, arrays)
    return put_together(number, header, arrays, entries)


ODD = [None, -1, 0, 1, 2, 3, 10**9, 2**31, 2**63, 2**70, "", "x", [], {}, [[]], True, False, 0.5, -0.5, 1e300, ["a"]]
ODD += [float("nan"), float("inf"), float("-inf"), "<O8", "|V9", "<U200000000", "whole", "number", "category", "hour"]
ODD += ["regression", "classification", "out-of-bag", "bootstrap", [0, 1], [[0], [1]], {"a": 1}, "\x1b[31m", "\ud800"]
NUMBERS = [0, 1, -1, 2, 7, 0.5, 255, 2**24, 2**31 - 1, -(2**31), 2**32 - 1, np.nan, np.inf, -np.inf, 1e300, 1e-310]


def random_forgery(rng):
    """A file with one to four things changed: values of the header, of the arrays, or what is said of these."""
    kind = ["classes", "numbers"][int(rng.integers(2))]
    number, header, arrays = take_apart(honest(kind))
    if kind == "numbers":
        count_draws(arrays)
    entries = {}
    for _ in range(int(rng.integers(1, 5))):
        how = rng.random()
        if how < 0.45:
            _change_header(header, rng)
        elif how < 0.85:
            _change_array(arrays, rng)
        else:
            name = str(rng.choice(list(arrays)))
            key = str(rng.choice(["type", "shape", "offset"]))
            odd = {"type": ["<f4", "<f8", "|u1", "<u4", "<U4", "|O8"], "offset": [0, 8, -8, 2**60, 0.5, None]}.get(
                key, [[], [0], [2**62], [2**31, 2**31], [-1, 4], list(arrays[name].shape)[::-1], "40"]
            )
            entries.setdefault(name, {})[key] = odd[int(rng.integers(len(odd)))]
    if rng.random() < 0.1:
        number = int(rng.integers(0, 4))
    return put_together(number, header, arrays, entries)


def _change_header(header, rng):
    place = header
    while True:
        keys = [key for key in place if key != "arrays"] if isinstance(place, dict) else range(len(place))
        key = keys[int(rng.integers(len(keys)))]
        if not isinstance(place[key], dict | list) or not place[key] or rng.random() < 0.15:
            break
        place = place[key]
    if isinstance(place, dict) and rng.random() < 0.1:
        del place[key]
    else:
        place[key] = deepcopy(ODD[int(rng.integers(len(ODD)))])


def _change_array(arrays, rng):
    name = str(rng.choice(list(arrays)))
    array = arrays[name]
    how = rng.random()
    if how < 0.15 and len(array):
        arrays[name] = array[: int(rng.integers(len(array)))] if rng.random() < 0.5 else np.concatenate([array, array])
    elif array.size:
        flat = array.reshape(-1)
        n = 1 if how < 0.8 else max(1, len(flat) // 3)
        at = rng.integers(len(flat), size=n)
        with np.errstate(all="ignore"):
            if rng.random() < 0.5:
                flat[at] = flat[rng.integers(len(flat), size=n)]
            else:
                value = NUMBERS[int(rng.integers(len(NUMBERS)))]
                is_whole = array.dtype.kind in "iu"
                flat[at] = np.array(0 if is_whole and not np.isfinite(value) else value).astype(array.dtype)
