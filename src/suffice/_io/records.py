"""Records of decisions as JSON lines: what each holds, its canonical bytes, and its digest.

A record is one line of ASCII, in the one form that `record_bytes` writes, so that every edit is found, even of a space.
Computing records again is left to ``records``.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from suffice._forest.fitted import Fitted
from suffice._forest.settings import CHANGEABLE
from suffice._io.sources import cannot_read
from suffice._table.rows import table_of_values
from suffice._text import to_plain
from suffice.explainer import SufficientExplainer
from suffice.reasons.values import Reasons, RowReasons

FORMAT = 1
LEAST_KEY = 16  # bytes
END = b"\n"  # of a line
# Settings that change no answer.
_NO_ANSWER = ("n_jobs", "extra_columns")
_CHANGE_FIELDS = ("text", "variables", "values", "probability", "plausibility", "support")
_STATUS = re.compile(rb'\{"record":\d+,"row":\d+,"status":"(\w+)","refusal":(?:null|\{"kind":"(\w+)")')


@dataclass(frozen=True)
class RecordContext:
    """What the records of a run have in common."""

    explainer_digest: str
    change: Any = None
    outcome_column: str | None = None
    id_columns: tuple[str, ...] = ()
    key: bytes | None = field(default=None, repr=False)


def make_records(reasons: Reasons, context: RecordContext, explainer: SufficientExplainer) -> Iterator[dict[str, Any]]:
    """Make the record of each row."""
    settings = settings_of(reasons, context)
    versions = reasons.fitted.describe()["versions"]
    changes = _changes(reasons, context, explainer)
    for i, answer in enumerate(reasons):
        content = answer.to_dict()
        record = {
            "record": FORMAT,
            **{name: content.pop(name) for name in ("row", "status", "refusal", "id", "outcome", "reasons")},
            **content,
            "change": changes.get(i),
            "settings": settings,
            "versions": versions,
            "sha256": {
                "explainer": context.explainer_digest,
                "row": digest_of(answer.values),
                "codes": reasons.codes.digest,
            },
        }
        yield {**record, "digest": digest_of(record, context.key)}


def settings_of(reasons: Reasons, context: RecordContext) -> dict[str, Any]:
    """Collect what a record depends on, besides the explainer, the row and the code book."""
    return {
        **reasons.settings.to_dict(),
        "has_codes": not reasons.codes.is_default,
        "change": context.change,
        "outcome_column": context.outcome_column,
        "id_columns": list(context.id_columns),
        **({} if context.key is None else {"is_signed": True}),
        "explainer": answer_settings(reasons.fitted),
    }


def answer_settings(fitted: Fitted) -> dict[str, Any]:
    """Return the settings of an explainer that can be changed without fitting and change its answers."""
    settings = {name: getattr(fitted.settings, name) for name in CHANGEABLE if name not in _NO_ANSWER}
    return {
        name: list(map(to_plain, value)) if isinstance(value, list | tuple) else to_plain(value)
        for name, value in settings.items()
    }


def _changes(reasons: Reasons, context: RecordContext, explainer: SufficientExplainer) -> dict[int, dict[str, Any]]:
    """Find what would change the outcomes of the rows with reasons; protected and fixed variables stay as they are."""
    places = [i for i, answer in enumerate(reasons) if answer.reasons]
    if context.change is None or not places:
        return {}
    encoding = reasons.fitted.encoding
    table = table_of_values([reasons[i].values for i in places], encoding)
    changes = explainer.what_if(
        table,
        context.change,
        [reasons[i].outcome for i in places],
        fixed=[*reasons.settings.protected, *reasons.fitted.declared.fixed, *reasons.codes.fixed],
        n=1,
        confirm=False,
        progress=False,
    )
    change_of_row = {}
    for i, answer in zip(places, changes, strict=True):
        values = {name: getattr(answer.best, name, None) for name in _CHANGE_FIELDS}
        if answer.best is not None:
            values |= {"text": answer.best.sentence, "variables": list(answer.best.variables)}
        change_of_row[i] = {"target": answer.wanted, **values}
    return change_of_row


def record_bytes(record: Mapping[str, Any]) -> bytes:
    """Write a record as its line."""
    return f"{_canonical(record)}\n".encode("ascii")


def digest_of(values: Any, key: bytes | None = None) -> str:
    """Return the SHA-256 of plain values in their canonical form."""
    content = _canonical(values).encode("ascii")
    return (hashlib.sha256(content) if key is None else hmac.new(key, content, hashlib.sha256)).hexdigest()


def _canonical(values: Any) -> str:
    return json.dumps(values, separators=(",", ":"), allow_nan=False, default=str)


def lines_of(reasons: Reasons, context: RecordContext, explainer: SufficientExplainer) -> bytes:
    """Write the records of some rows."""
    return b"".join(map(record_bytes, make_records(reasons, context, explainer)))


def count_statuses(lines: Iterable[bytes]) -> dict[str, int]:
    """Count reasons and refusals in the lines of a file, without reading the records."""
    counts: dict[str, int] = {}
    for match in filter(None, map(_STATUS.match, lines)):
        for name in filter(None, match.groups()):
            counts[name.decode()] = counts.get(name.decode(), 0) + 1
    return counts


def read_line(line: bytes, key: bytes | None = None) -> tuple[dict[str, Any] | None, str | None]:
    """Read a line of a file of records."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None, f"this is not JSON: it was {'edited' if line.endswith(END) else 'cut off or edited'}."
    if not isinstance(record, dict) or not {"record", "row", "digest"} <= set(record):
        return None, "this is not a record of `suffice reasons`."
    if record["record"] != FORMAT:
        return None, f"the record has format {record['record']!r}; this version of suffice reads format {FORMAT}."
    return record, _damage(record, line, key)


def _damage(record: dict[str, Any], line: bytes, key: bytes | None) -> str | None:
    """Return how a record shows that it was edited."""
    content = {name: value for name, value in record.items() if name != "digest"}
    try:
        has_digest = hmac.compare_digest(digest_of(content, key).encode(), str(record["digest"]).encode())
    except ValueError:  # NaN
        has_digest = False
    if not has_digest:
        cause = "was edited" if key is None else "was edited, or was not signed with this key"
        return f"the record {cause}: its digest does not match."
    return (
        None if record_bytes(record) == line else "the record was edited: its values are the same, its bytes are not."
    )


def is_signed(record: Mapping[str, Any]) -> bool:
    """Return whether a record states that it was signed with a key."""
    settings = record.get("settings")
    return isinstance(settings, dict) and settings.get("is_signed") is True


def read_key(path: str | os.PathLike[str] | None) -> bytes | None:
    """Read the key with which records are signed."""
    if path is None:
        return None
    name = os.fspath(path)
    try:
        key = Path(name).read_bytes().rstrip(b"\r\n")
    except OSError as error:
        raise cannot_read(name, error) from None
    if len(key) < LEAST_KEY:
        raise ValueError(
            f"The key in {name} has {len(key)} bytes; at least {LEAST_KEY} are needed: openssl rand -hex 32 makes one."
        )
    return key


def differences(record: Any, again: Any, path: str = "") -> Iterator[str]:
    """Yield the differences between a record and what was computed again."""
    if isinstance(record, dict) and isinstance(again, dict):
        for name in [*record, *(name for name in again if name not in record)]:
            place = f"{path}.{name}" if path else str(name)
            if name not in again:
                yield f"{place} should not be there"
            elif name not in record:
                yield f"{place} is missing"
            else:
                yield from differences(record[name], again[name], place)
    elif isinstance(record, list) and isinstance(again, list) and len(record) == len(again):
        for i, (value, expected) in enumerate(zip(record, again, strict=True)):
            yield from differences(value, expected, f"{path}[{i}]")
    elif type(record) is not type(again) or record != again:
        one, other = (json.dumps(value, default=str, ensure_ascii=False) for value in (record, again))
        same = next((i for i, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), 0)
        yield f"{path} is {_shortened(one, same)}, computed again {_shortened(other, same)}"


def _shortened(text: str, n_same: int, n_shown: int = 80) -> str:
    """Return the part of a text in which it differs from another one."""
    start = max(0, n_same - n_shown // 2) if len(text) > n_shown else 0
    end = start + n_shown
    return f"{'...' if start else ''}{text[start:end]}{'...' if end < len(text) else ''}"


def label_of(answer: RowReasons | Mapping[str, Any]) -> str:
    """Return the name of the row of a record."""
    if isinstance(answer, RowReasons):
        return answer.label.lower()
    row_id = answer.get("id")
    return f"row {answer.get('row') if row_id is None else row_id}"
