"""Records of decisions: written for each row, and computed again to see whether they are true.

What a record holds, and its bytes, are in ``_io.records``.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from suffice._io import records as record_io
from suffice._io.code_book_file import codes_beside, write_code_book
from suffice._io.explainer_file import load_explainer_file, outcomes_of, text_columns
from suffice._io.files import TableFile, open_table
from suffice._io.records import RecordContext, answer_settings
from suffice._io.sources import cannot_read, file_digest
from suffice._io.writing import replacing
from suffice._table.rows import id_text, table_of_values
from suffice._text import counted, join, printed
from suffice.errors import SearchSizeWarning
from suffice.explainer import SufficientExplainer
from suffice.reasons.code_book import CodeBook
from suffice.reasons.values import Reasons

__all__ = ["RecordProblem", "Verification", "verify", "write"]

# Records that are computed again together.
N_TOGETHER = 1000
# Problems that a verification keeps; more are only counted.
MAX_KEPT = 1000
# Differences of one record that its sentence lists.
MAX_LISTED = 3
# What another version may put in other words.
_WORDS = ("notes", "refusal.sentence", "change.text")
# What a damaged record can raise when it is computed again.
_DAMAGE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, pl.exceptions.PolarsError)


@dataclass(frozen=True)
class RecordProblem:
    """A record that is not as it should be.

    Parameters
    ----------
    line : int
        Its line in the file, from 1.
    label : str
        What its row is called, if that is known.
    kind : {"unreadable", "edited", "explainer", "codes", "differs"}
        What is wrong: it cannot be read, it was edited, it was made with another explainer or code book, or it differs
        from what was computed again.
    sentence : str
        What is wrong, in words.
    """

    line: int
    label: str
    kind: str
    sentence: str

    @printed
    def __str__(self) -> str:
        """Return the line, the row and what is wrong."""
        return f"Line {self.line}{f' ({self.label})' if self.label else ''}: {self.sentence}"


@dataclass
class Verification:
    """What came out when records were computed again.

    Parameters
    ----------
    n_records : int, default=0
        How many lines the file has.
    n_problems : int, default=0
        How many of them are not as they should be.
    problems : list of RecordProblem
        The first of them.
    notes : list of str
        What else should be known, such as other versions of libraries.
    unchecked : tuple of str, default=()
        Fields that nothing outside the records confirms, so that an edit with a new digest is not found there. With a
        key there are none.
    """

    n_records: int = 0
    n_problems: int = 0
    problems: list[RecordProblem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unchecked: tuple[str, ...] = ()

    @property
    def is_true(self) -> bool:
        """Whether every record is equal to what was computed again, in all fields that could be checked."""
        return self.n_problems == 0

    def add(self, problem: RecordProblem) -> None:
        """Count a problem, and keep it if there are not too many.

        Parameters
        ----------
        problem : RecordProblem
            The problem.
        """
        self.n_problems += 1
        if len(self.problems) < MAX_KEPT:
            self.problems.append(problem)

    def note(self, sentence: str) -> None:
        """Add a note, once.

        Parameters
        ----------
        sentence : str
            The note.
        """
        if sentence not in self.notes:
            self.notes.append(sentence)

    def text(self, n_shown: int = MAX_KEPT) -> str:
        """State how many records are true, which differ and in what, and what else should be known.

        Parameters
        ----------
        n_shown : int, default=1000
            How many of the records that differ are named.

        Returns
        -------
        str
            Some lines.
        """
        if self.is_true:
            written = "" if self.unchecked else "as written, and "
            first = f"{counted(self.n_records, 'record')}: {written}the same when computed again."
        else:
            n_true = self.n_records - self.n_problems
            first = f"{self.n_problems} of {counted(self.n_records, 'record')} differ; {n_true} are the same."
        shown = [str(problem) for problem in self.problems[:n_shown]]
        n_more = self.n_problems - len(shown)
        more = [f"... and {n_more} more."] if n_more else []
        if self.unchecked:
            table = "pass the table to check most of them, and " if "row" in self.unchecked else ""
            how = f"They are taken from the records: {table}sign records with a key to check all."
            more.append(f"Not checked: {join(self.unchecked)}. {how}")
        return "\n".join([first, *shown, *more, *self.notes])

    @printed
    def __str__(self) -> str:
        """Return the text."""
        return self.text()


def write(
    reasons: Reasons,
    path: str | os.PathLike[str],
    explainer: str | os.PathLike[str],
    *,
    change: Any = None,
    key: str | os.PathLike[str] | None = None,
) -> None:
    """Write a record of each row, as JSON lines, and the code book beside it.

    Parameters
    ----------
    reasons : Reasons
        What ``explainer.reasons`` returned.
    path : path
        Where to; what is there is replaced only when the new file is whole.
    explainer : path
        The file of the explainer, as ``explainer.save`` wrote it. Its SHA-256 stands in every record.
    change : object, default=None
        If given, what would change each outcome to these outcomes is recorded: see the `target` of `what_if`.
    key : path, default=None
        A file with a secret of 16 bytes or more: records are signed with it (HMAC), so that nobody without it can write
        one that `verify` takes for true.

    Examples
    --------
    Without a key, whoever has these files can write records that are computed again with the same result, about other
    rows or by other settings; `verify` names the fields that it could not check.

    >>> import tempfile, numpy as np
    >>> X = np.random.default_rng(0).uniform(size=(300, 2)).round(2)
    >>> fitted = SufficientExplainer(random_state=0).fit(X, np.where(X[:, 1] > 0.6, "good", "bad"))
    >>> with tempfile.TemporaryDirectory() as folder:  # doctest: +ELLIPSIS
    ...     fitted.save(f"{folder}/loans.suffice")
    ...     write(fitted.reasons(X[:5], adverse="bad"), f"{folder}/records.jsonl", f"{folder}/loans.suffice")
    ...     print(verify(f"{folder}/records.jsonl", f"{folder}/loans.suffice"))
    5 records: the same when computed again.
    Not checked: row, id, values, outcome, source, settings and versions. They are taken from the records: ...
    """
    name = os.fspath(explainer)
    context = RecordContext(file_digest(name), change, key=record_io.read_key(key))
    loaded = load_explainer_file(name)
    data = record_io.lines_of(reasons, context, with_answer_settings(loaded, answer_settings(reasons.fitted)))
    with replacing(path) as written:
        written.write_bytes(data)
    if not reasons.codes.is_default:
        write_code_book(reasons.codes, codes_beside(path))


def with_answer_settings(explainer: SufficientExplainer, settings: Mapping[str, Any]) -> SufficientExplainer:
    """Return an explainer with the settings that a record states."""
    saved = answer_settings(explainer.fitted_)
    # Setting `alpha` has an effect even if it is the value of before.
    changed = {name: value for name, value in settings.items() if value != saved.get(name)}
    return explainer.with_settings(**changed) if changed else explainer


def verify(
    records: str | os.PathLike[str],
    explainer: str | os.PathLike[str],
    rows: str | os.PathLike[str] | None = None,
    *,
    codes: Any = None,
    model: Any = None,
    key: str | os.PathLike[str] | None = None,
) -> Verification:
    """Compute records again, and report which differ and how.

    Parameters
    ----------
    records : path
        A file of records, as `write` or ``suffice reasons`` wrote it.
    explainer : path
        The file of the explainer with which they were made.
    rows : path, default=None
        The table file with the rows. None takes the values in the records.
    codes : CodeBook, path, dict or list, default=None
        The code book with which they were made, if any. None takes the one that was written beside the records.
    model : estimator or callable, default=None
        The model that was asked, if any; it needs `rows`.
    key : path, default=None
        The file with the key with which they were signed, if any.

    Returns
    -------
    Verification
        How many records differ, and in what.
    """
    beside = codes_beside(records)
    codes = beside if codes is None and beside.is_file() else codes
    book = None if codes is None else CodeBook.read(codes)
    checker = _Checker(os.fspath(explainer), rows, book, model, record_io.read_key(key))
    result = Verification()
    for part in _parts(os.fspath(records)):
        for problem in checker.check(part, result):
            result.add(problem)
    return result


def _parts(path: str) -> Iterator[list[tuple[int, bytes]]]:
    """Yield the numbered lines of a file, some at a time."""
    try:
        if not Path(path).stat().st_size:
            raise ValueError(f"{path} holds no record: it is empty.")
        with open(path, "rb") as file:
            numbered = enumerate(file, start=1)
            while part := list(islice(numbered, N_TOGETHER)):
                yield part
    except OSError as error:
        raise cannot_read(path, error) from None


def _compared(record: dict[str, Any], with_words: bool) -> dict[str, Any]:
    """Return what of a record must be the same when it is computed again: all but the versions of libraries."""
    compared = {name: value for name, value in record.items() if name not in ("versions", "digest")}
    if not with_words:
        compared.pop("notes", None)
        for name, words in (("refusal", "sentence"), ("change", "text")):
            if isinstance(compared.get(name), dict):
                compared[name] = {key: value for key, value in compared[name].items() if key != words}
    return compared


@dataclass(frozen=True)
class _Line:
    """A line of a file: the record, and what shows that it was edited."""

    number: int
    record: dict[str, Any]
    damage: str | None

    def problem(self, kind: str, sentence: str) -> RecordProblem:
        sentences = dict.fromkeys(filter(None, (self.damage, sentence)))
        name = "edited" if self.damage else kind
        return RecordProblem(self.number, record_io.label_of(self.record), name, " ".join(sentences))


class _Checker:
    """An explainer, and what else records are computed again with."""

    def __init__(self, explainer: str, rows: Any, codes: CodeBook | None, model: Any, key: bytes | None) -> None:
        self._digest = file_digest(explainer)
        self._explainer = load_explainer_file(explainer, {"extra_columns": "ignore"})
        self._versions = self._explainer.describe()["versions"]
        self._codes, self._model, self._key = codes, model, key
        self._source = None if rows is None else os.fspath(rows)
        self._tables: dict[str | None, TableFile] = {}
        if model is not None and rows is None:
            raise ValueError("A model is asked about the rows of a table: pass the table, too.")
        self._last = -1

    def check(self, part: Sequence[tuple[int, bytes]], result: Verification) -> list[RecordProblem]:
        """Check some lines of a file: count and note them in a result, and return what is wrong, by line."""
        groups: dict[str, list[_Line]] = {}
        problems: list[RecordProblem] = []
        for number, text in part:
            result.n_records += 1
            record, damage = record_io.read_line(text, self._key)
            if record is None:
                problems.append(RecordProblem(number, "", "unreadable", f"{damage}"))
                continue
            if record_io.is_signed(record) and self._key is None:
                raise ValueError("The records were signed with a key: pass its file as `key`.")
            line = _Line(number, record, damage)
            kind, sentence = self._other_origin(line)
            if sentence:
                problems.append(line.problem(kind, sentence))
                continue
            groups.setdefault(repr((record["settings"], record.get("source"))), []).append(line)
            self._note_gap(record, result)
            self._note_versions(record, result)
            result.unchecked = tuple(dict.fromkeys([*result.unchecked, *self._unchecked(record)]))
        for lines in groups.values():
            problems += self._check_group(lines)
        return sorted(problems, key=lambda problem: problem.line)

    def _other_origin(self, line: _Line) -> tuple[str, str]:
        """Return why a record cannot be computed again with this explainer, code book and model."""
        digests, settings = line.record.get("sha256"), line.record.get("settings")
        if not isinstance(digests, dict) or not isinstance(settings, dict):
            return "edited", line.damage or "the record lacks its settings and the SHA-256 of its explainer."
        row = line.record["row"]
        if type(row) is not int or row < 0:
            return "differs", f"row is {json.dumps(row)[:80]}, which is no position in a table."
        needs_codes, needs_model = settings.get("has_codes"), settings.get("model") is not None
        expected = {"explainer": self._digest}
        if needs_codes and self._codes is not None:
            expected["codes"] = self._codes.digest
        for kind, here in expected.items():
            if digests.get(kind) != here:
                what, other = {"codes": "code book"}.get(kind, kind), str(digests.get(kind))
                return kind, f"the record was made with another {what}: SHA-256 {other[:12]}..., here {here[:12]}...."
        lacks_codes, lacks_model = needs_codes and self._codes is None, needs_model and self._model is None
        if line.damage and (lacks_codes or lacks_model):
            return "edited", line.damage
        if lacks_codes:
            raise ValueError(
                "The records were made with a code book, which is not beside them as a .codes.json file: pass it as "
                "`codes`."
            )
        if lacks_model:
            raise ValueError(
                f"The records were made with a model ({settings['model']}): pass it as `model`, and the rows."
            )
        return "", ""

    def _unchecked(self, record: dict[str, Any]) -> list[str]:
        """Name the fields of a record that nothing outside of it confirms."""
        if self._key is not None:
            return []
        settings = record["settings"]
        of_row = [] if settings.get("id_columns") or record.get("id") is None else ["id"]
        if not settings.get("outcome_column"):  # else it is the outcome that the table has
            of_row += ["source"] if record.get("source") == "forest" else ["outcome", "source"]
        if self._source is None:
            of_row = ["row", "id", "values", "outcome", "source"]
        return [*of_row, "settings", "versions", *([] if self._has_words(record) else _WORDS)]

    def _has_words(self, record: dict[str, Any]) -> bool:
        """Tell whether sentences must be the same: another version may put a refusal or a change in other words."""
        versions = record.get("versions")
        return not isinstance(versions, dict) or versions.get("suffice") == self._versions["suffice"]

    def _note_gap(self, record: dict[str, Any], result: Verification) -> None:
        row = record.get("row")
        if isinstance(row, int) and row != self._last + 1 and not record["settings"].get("outcome_column"):
            result.note(f"Records of some rows are missing or stand in another order, first before row {row}.")
        self._last = row if isinstance(row, int) else self._last

    def _note_versions(self, record: dict[str, Any], result: Verification) -> None:
        versions, here = record.get("versions"), self._versions
        if versions != here and isinstance(versions, dict):
            changed = [name for name in here if versions.get(name) != here[name]]
            other = ", ".join(f"{name} {versions.get(name)} (here {here[name]})" for name in changed)
            result.note(f"Records were made with other versions: {other}.")

    def _check_group(self, lines: list[_Line]) -> Iterator[RecordProblem]:
        """Compute records with the same settings again; if that fails, one by one."""
        try:
            expected = list(self._again([line.record for line in lines]))
        except _DAMAGE as error:
            if len(lines) == 1:
                yield lines[0].problem("differs", f"It cannot be computed again: {error}")
            else:
                for line in lines:
                    yield from self._check_group([line])
            return
        for line, again in zip(lines, expected, strict=True):
            with_words = self._has_words(line.record)
            differing = list(record_io.differences(_compared(line.record, with_words), _compared(again, with_words)))
            if differing or line.damage:
                more = f" and {len(differing) - MAX_LISTED} more" if len(differing) > MAX_LISTED else ""
                yield line.problem("differs", f"{'; '.join(differing[:MAX_LISTED])}{more}." if differing else "")

    def _again(self, records: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Compute the records of some rows with the same settings again, from the values up."""
        settings, source = records[0]["settings"], records[0]["source"]
        explainer = with_answer_settings(self._explainer, settings["explainer"])
        is_asked = settings["outcome_column"] is None and (source == "forest" or (source == "model" and self._model))
        X, y, ids = self._rows(records, explainer, settings)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SearchSizeWarning)  # the record states it
            reasons = explainer.reasons(
                X,
                None if is_asked else y,
                codes=self._codes if settings["has_codes"] else None,
                n=settings["n"],
                adverse=explainer.fitted_.classes if settings["adverse"] is None else settings["adverse"],
                protected=settings["protected"],
                model=self._model if settings["model"] is not None else None,
                progress=False,
            )
        answers = [
            # No file holds the model that an explainer explains.
            replace(answer, row=record["row"], id=row_id, source=source if source == "model" else answer.source)
            for answer, record, row_id in zip(reasons, records, ids, strict=True)
        ]
        named = Reasons(answers, reasons.settings, reasons.codes, reasons.fitted, reasons.library)
        context = RecordContext(
            self._digest, settings["change"], settings["outcome_column"], tuple(settings["id_columns"]), self._key
        )
        yield from record_io.make_records(named, context, explainer)

    def _rows(self, records: list[dict[str, Any]], explainer: SufficientExplainer, settings: dict[str, Any]) -> Any:
        """Return the rows, outcomes and identifiers: those of the table, or those in the records."""
        ids = [record["id"] for record in records]
        outcomes = [record["outcome"] for record in records]
        encoding = explainer.fitted_.encoding
        if self._source is None:
            return table_of_values([record["values"] for record in records], encoding), outcomes, ids
        frame = take_rows(self._table(self._source, settings["outcome_column"]), [record["row"] for record in records])
        if settings["id_columns"]:
            ids = [id_text(values) for values in frame.select(settings["id_columns"]).iter_rows()]
        if settings["outcome_column"] is not None:
            outcomes = outcomes_of(frame, settings["outcome_column"]).to_list()
        spare = {*settings["id_columns"], settings["outcome_column"], explainer.target_name_} - set(encoding.names)
        return frame.drop([name for name in frame.columns if name in spare]), outcomes, ids

    def _table(self, source: str, outcome_column: str | None) -> TableFile:
        """Open the table of the rows, in which a column of outcomes holds text if the classes are text."""
        if outcome_column not in self._tables:
            text = text_columns(self._explainer, outcome_column)
            self._tables[outcome_column] = open_table(source, text_columns=text)
        return self._tables[outcome_column]


def take_rows(table: TableFile, positions: Sequence[int]) -> pl.DataFrame:
    """Read some rows of a table file."""
    beyond = [row for row in positions if not isinstance(row, int) or not 0 <= row < table.n_rows]
    if beyond:
        raise ValueError(f"{Path(table.source).name} has {table.n_rows} rows; there is no row {beyond[0]!r}.")
    runs: list[list[int]] = []
    for row in positions:
        if runs and row == runs[-1][1]:
            runs[-1][1] += 1
        else:
            runs.append([row, row + 1])
    return pl.concat([table.rows(first, end - first) for first, end in runs])
