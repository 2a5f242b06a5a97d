"""The files in which XGBoost, LightGBM and CatBoost save models, read without running code that they hold.

The libraries trust these files: a forged one can end the process that loads it, or occupy it for ever, so another
process does.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from suffice._io.processes import EndedError, limit_seconds, run_in_process
from suffice._text import printable
from suffice.proofs.reading import read_boosted

if TYPE_CHECKING:
    from suffice.proofs.ensemble import Ensemble

MAX_BYTES = 4 * 2**30  # that a library may take
MAX_SECONDS = 20  # of processor time, and one more for each MiB of the file
MAX_TEXT = 200  # characters of what it says


@dataclass(frozen=True)
class Booster:
    """A model of a file, as its library has dumped it."""

    dump: Any

    def save_raw(self, _: str) -> Any:
        """Return what XGBoost writes."""
        return self.dump

    def dump_model(self) -> Any:
        """Return what LightGBM writes."""
        return self.dump


def read_model_file(path: str | Path, X: Any = None) -> Ensemble:
    """Read a model from the file that its library has saved: XGBoost .json or .ubj, LightGBM .txt, CatBoost .json.

    Classes are numbered from 0, and all trees are read.
    """
    path = Path(path)
    kind = path.suffix.lower()
    if kind not in (".json", ".ubj", ".txt"):
        raise ValueError(
            f"{str(path)!r} must be a model file, as its library saves it: XGBoost .json or .ubj, LightGBM .txt or "
            "CatBoost .json. A pickle, which may run any code, is not loaded: in Python, pass the model itself."
        )
    with path.open("rb") as file:
        is_catboost = kind == ".json" and b'"oblivious_trees"' in file.read()
    library = "CatBoost" if is_catboost else "LightGBM" if kind == ".txt" else "XGBoost"
    name = library.lower()
    if not is_catboost and name not in sys.modules and importlib.util.find_spec(name) is None:
        raise ImportError(f"Reading {str(path)!r} needs {name}: pip install {name}.")
    seconds = MAX_SECONDS + path.stat().st_size // 2**20
    try:
        dump = run_in_process("suffice._io.model_file:dump_file", str(path), name, seconds, max_bytes=MAX_BYTES)
    except ValueError as error:
        why = "its library ended while reading it." if isinstance(error, EndedError) else str(error)
        raise ValueError(f"{str(path)!r} is no model of {library}: {why}") from None
    try:
        return read_boosted(name, dump if is_catboost else Booster(dump), X)
    except ValueError as error:
        raise ValueError(f"{str(path)!r} cannot be read: {error}") from None


def dump_file(path: str, name: str, seconds: int) -> Any:
    """Return the dump of a model by its library: called in the other process."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())  # libraries print what they find in the file
    limit_seconds(seconds)  # LightGBM waits for ever for what follows a zero byte
    try:
        if name == "catboost":
            return json.loads(Path(path).read_text(encoding="utf-8"))
        booster = importlib.import_module(name).Booster(model_file=path)
        return booster.dump_model() if name == "lightgbm" else booster.save_raw("json")
    except Exception as error:  # each library has errors of its own, and some tell where they were raised
        said = " ".join(str(error).partition("Stack trace")[0].split())
        raise ValueError(printable(said[:MAX_TEXT])) from None
