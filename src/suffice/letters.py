"""Letters: one page for each decision that has reasons, from a template of jinja2.

Which reasons a row has is left to ``reasons``, and whether records are true to ``suffice verify``. But a record whose
digest shows that it was edited gets no letter.
"""

from __future__ import annotations

import csv
import datetime
import hashlib
import json
import os
import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from suffice._io.records import has_own_digest, is_signed, read_key
from suffice._io.sources import cannot_read
from suffice._show.markup import read_template
from suffice.errors import did_you_mean
from suffice.reasons import REFUSALS
from suffice.words import counted, join

FIELDS = ("id", "row", "date", "outcome", "target", "reasons", "values", "change", "record")
"""What a template may use."""
NEEDED = ("row", "id", "outcome", "status", "reasons", "refusal", "digest")
STATUSES = ("reasons", "refused", "not_adverse")
INDEX = "letters.csv"
N_NAME = 80  # characters of an identifier in the name of a file
_DEFAULT_NAME = "letter.html"


@dataclass(frozen=True)
class Letters:
    """The letters that were written.

    Parameters
    ----------
    folder : Path
        Where they are, with the file letters.csv, which has a line for each record.
    n_written : int
        How many records got a letter.
    n_not_adverse : int
        How many rows need none, because their outcome is not adverse.
    refused : dict of str to int
        How many rows got none because they were refused, by the kind of the refusal.
    """

    folder: Path
    n_written: int
    n_not_adverse: int
    refused: Mapping[str, int]

    @property
    def n_refused(self) -> int:
        """How many rows were refused."""
        return sum(self.refused.values())

    def __str__(self) -> str:
        """Return one or two sentences."""
        sentences = [f"{counted(self.n_written, 'letter')} written."]
        if self.n_not_adverse:
            need = "needs" if self.n_not_adverse == 1 else "need"
            sentences.append(f"{counted(self.n_not_adverse, 'row')} with another outcome {need} none.")
        if self.n_refused:
            kinds = "; ".join(f"{REFUSALS.get(kind, kind)} ({n})" for kind, n in self.refused.items())  # type: ignore[call-overload]
            sentences.append(
                f"No letter for {counted(self.n_refused, 'refused row')}, for a person to look at: {kinds}."
            )
        return " ".join(sentences)


class LetterTemplate:
    """A template of letters: HTML with places for what a record holds.

    The template runs in a sandbox of jinja2. Every value is escaped, and a name that letters do not have is refused
    before the first letter is written.

    Parameters
    ----------
    text : str
        The template.
    name : str, default="the template"
        What it is called in messages.

    Examples
    --------
    >>> template = LetterTemplate("<p>{{ id }}: {% for r in reasons %}{{ r.text }}{% endfor %}</p>")
    >>> template.render({"id": "A < B", "reasons": [{"text": "Low income"}]})
    '<p>A &lt; B: Low income</p>'
    """

    def __init__(self, text: str, name: str = "the template") -> None:
        jinja2 = _import_jinja2()
        from jinja2.sandbox import ImmutableSandboxedEnvironment

        self.name = name
        self._errors: Any = jinja2.TemplateError
        environment = ImmutableSandboxedEnvironment(autoescape=True, undefined=jinja2.StrictUndefined)
        try:
            tree = environment.parse(text)
            _refuse_other_files(tree, name)
            unknown = sorted(_unknown_names(tree, environment))
            self._template = environment.from_string(tree)
        except jinja2.TemplateSyntaxError as error:
            raise ValueError(f"{name}, line {error.lineno}: {error.message}") from None
        if unknown:
            line, first = unknown[0]
            near = did_you_mean(first, FIELDS)
            raise ValueError(f"{name}, line {line}: letters have no {first!r}.{near} They have {join(FIELDS)}.")

    @classmethod
    def read(cls, path: str | os.PathLike[str] | None) -> LetterTemplate:
        """Read a template.

        Parameters
        ----------
        path : path or None
            A file in UTF-8; None for the template of the package.

        Returns
        -------
        LetterTemplate
            The template.
        """
        if path is None:
            return cls(read_template(_DEFAULT_NAME), _DEFAULT_NAME)
        shown = Path(path).name
        try:
            return cls(Path(path).read_text(encoding="utf-8-sig"), shown)
        except UnicodeDecodeError as error:
            raise ValueError(f"{shown} is not UTF-8 at byte {error.start}: save it as UTF-8.") from None

    def render(self, fields: Mapping[str, Any]) -> str:
        """Write a letter.

        Parameters
        ----------
        fields : mapping of str to object
            The values of the names in the template.

        Returns
        -------
        str
            The page.
        """
        try:
            return str(self._template.render(fields))
        except Exception as error:  # a template is a program: it can raise anything
            line = _line_of(error.__traceback__)
            at = f", line {line}" if line else ""
            raise ValueError(f"{self.name}{at}: {error} (at the record {fields.get('id')!r})") from None


def _import_jinja2() -> Any:
    try:
        import jinja2
    except ImportError:
        raise ImportError("Letters need jinja2: pip install 'suffice[cli]'.") from None
    return jinja2


def _refuse_other_files(tree: Any, name: str) -> None:
    """Refuse a template that asks for other files: it stands alone."""
    from jinja2 import nodes

    for node in tree.find_all((nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)):
        raise ValueError(f"{name}, line {node.lineno}: other files cannot be included; write the template in one file.")


def _unknown_names(tree: Any, environment: Any) -> set[tuple[int, str]]:
    """Find the names in a template that letters do not have, each with its first line."""
    from jinja2 import meta, nodes

    unknown = meta.find_undeclared_variables(tree) - set(FIELDS) - set(environment.globals)
    lines: dict[str, int] = {}
    for node in tree.find_all(nodes.Name):
        if node.name in unknown:
            lines[node.name] = min(node.lineno, lines.get(node.name, node.lineno))
    return {(line, name) for name, line in lines.items()}


def _line_of(traceback: TracebackType | None) -> int | None:
    """Find the line of the template in which an error came up."""
    line = None
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == "<template>":
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return line


def read_records(
    source: str | os.PathLike[str], *, key: str | os.PathLike[str] | None = None
) -> Iterator[dict[str, Any]]:
    """Read the records of decisions from JSON lines, one after the other.

    A record that was edited since it was written is refused: its digest does not match.

    Parameters
    ----------
    source : path
        The file, or "-" for standard input.
    key : path, default=None
        The file with the key with which the records were signed, if they were.

    Yields
    ------
    dict
        A record.
    """
    name = "standard input" if str(source) == "-" else Path(source).name
    secret = read_key(key)
    try:
        with nullcontext(sys.stdin.buffer) if str(source) == "-" else open(source, "rb") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield _read_record(line, f"{name}, line {number}", secret)
    except OSError as error:
        raise cannot_read(os.fspath(source), error) from None


def _read_record(line: bytes, place: str, key: bytes | None) -> dict[str, Any]:
    try:
        record: dict[str, Any] = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{place} is not a record: {error}. Was the file cut off or edited?") from None
    absent = [name for name in NEEDED if not isinstance(record, dict) or name not in record]
    if absent:
        raise ValueError(f"{place} is not a record of `suffice reasons`: it has no {join([repr(n) for n in absent])}.")
    if record["status"] not in STATUSES:
        raise ValueError(f"{place} has the status {record['status']!r}: it must be one of {', '.join(STATUSES)}.")
    if (record["status"] == "refused") != (record["refusal"] is not None):
        raise ValueError(f"{place} has the status {record['status']!r}, which its refusal contradicts.")
    _check_kinds(record, place)
    if is_signed(record) and key is None:
        raise ValueError("The records were signed with a key: pass its file as `key`.")
    if not has_own_digest(record, key):
        unsigned = "" if key is None else ", or was not signed with this key"
        raise ValueError(f"{place} was edited{unsigned}: its digest does not match. No letter was written.")
    return record


def _check_kinds(record: Mapping[str, Any], place: str) -> None:
    """Refuse a record whose entries are of another kind than those that `suffice reasons` writes."""
    refusal, reasons = record["refusal"], record["reasons"]
    is_refusal = isinstance(refusal, dict) and all(isinstance(refusal.get(name), str) for name in ("kind", "sentence"))
    kinds = {
        "refusal": refusal is None or is_refusal,
        "reasons": isinstance(reasons, list) and all(isinstance(reason, dict) for reason in reasons),
        "id": record["id"] is None or isinstance(record["id"], str | int | float),
        "row": isinstance(record["row"], int),
    }
    for name, is_right in kinds.items():
        if not is_right:
            raise ValueError(f"{place} is not a record of `suffice reasons`: its {name!r} is {record[name]!r}.")


def write_letters(
    records: Iterable[Mapping[str, Any]],
    folder: str | os.PathLike[str],
    *,
    template: str | os.PathLike[str] | LetterTemplate | None = None,
    date: datetime.date | None = None,
) -> Letters:
    """Write a page for each record that has reasons.

    The records are read one after the other, and none is kept. A row that was refused gets no letter.

    Parameters
    ----------
    records : iterable of mapping
        The records of decisions, as ``suffice reasons`` writes them and `read_records` reads them.
    folder : path
        Where the pages are written; a new or an empty folder. Each is named by the identifier of its row, and
        letters.csv has a line for each record: its status, and the file of its letter.
    template : path or LetterTemplate, default=None
        A jinja2 template; None for the plain one of the package. It may use `id`, `row`, `date`, `outcome`,
        `target`, `reasons` (each with `rank`, `code`, `text`, `variables`, `values` and `bounds`), `values`, `change`
        and the whole `record`.
    date : date, default=None
        The date of the letters; None for today.

    Returns
    -------
    Letters
        How many were written, and how many rows were refused.
    """
    page = template if isinstance(template, LetterTemplate) else LetterTemplate.read(template)
    shown_date = (date or datetime.date.today()).isoformat()
    names, refused, n_written, n_not_adverse = _FileNames(), dict[str, int](), 0, 0
    with _filling(folder) as output, open(output / INDEX, "w", encoding="utf-8", newline="") as file:
        index = csv.writer(file)
        index.writerow(["row", "id", "status", "file", "refusal"])
        for record in records:
            row, status, name, refusal = record["row"], record["status"], "", record["refusal"]
            if status == "refused":
                refused[refusal["kind"]] = refused.get(refusal["kind"], 0) + 1
            elif status == "not_adverse":
                n_not_adverse += 1
            else:
                name = names.of(_label(record))
                text = page.render(_fields(record, shown_date))
                (output / name).write_text(text, encoding="utf-8", errors="xmlcharrefreplace", newline="\n")
                n_written += 1
            index.writerow([row, _label(record), status, name, refusal["sentence"] if refusal else ""])
    return Letters(output, n_written, n_not_adverse, refused)


def _label(record: Mapping[str, Any]) -> str:
    """Return what a row is called: its identifier or its position."""
    return str(record["row"] if record["id"] is None else record["id"])


def _fields(record: Mapping[str, Any], date: str) -> dict[str, Any]:
    """Return what a template may use of a record."""
    of_record = {name: record.get(name) for name in ("row", "outcome", "target", "reasons", "values", "change")}
    return {**of_record, "id": _label(record), "date": date, "record": record}


class _FileNames:
    """Names of files that are safe on every file system, one for each row."""

    def __init__(self) -> None:
        self._used: dict[str, int] = {}

    def of(self, label: str) -> str:
        name = file_name(label)
        key = name.casefold()  # some file systems do not tell A from a
        n_before = self._used.get(key, 0)
        self._used[key] = n_before + 1
        if not n_before:
            return f"{name}.html"
        while (numbered := f"{name}_{n_before + 1}").casefold() in self._used:
            n_before += 1
        self._used[numbered.casefold()] = 1
        return f"{numbered}.html"


def file_name(label: str) -> str:
    """Make the name of a file of an identifier, without its suffix.

    Parameters
    ----------
    label : str
        The identifier.

    Returns
    -------
    str
        Letters, digits, ``-`` and ``_``, and dots between them. If that changes the identifier or cuts it, eight
        digits of its SHA-256 follow, so that two identifiers do not get the same name.

    Examples
    --------
    >>> file_name("A-17"), file_name("../etc/passwd")
    ('A-17', 'etc_passwd_7fef78f5')
    """
    plain = unicodedata.normalize("NFC", label)
    safe = re.sub(r"[^\w.-]+", "_", plain).strip("._-")[:N_NAME].rstrip("._-")
    while len(safe.encode()) > 2 * N_NAME:  # file systems count bytes
        safe = safe[:-1]
    if safe and safe == label and not _RESERVED.fullmatch(safe):
        return safe
    digest = hashlib.sha256(label.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{safe}_{digest}" if safe else digest


_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d|letters)(\..*)?", re.IGNORECASE)  # names of devices on Windows


@contextmanager
def _filling(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """Make a folder, or take one that is empty, and empty it again if an error occurs.

    A letter of an earlier run, or of a file that turns out to be cut off, must not be taken for one of this run.
    """
    path = Path(folder)
    if path.exists() and not path.is_dir():
        raise ValueError(f"{str(path)!r} is a file: name a folder for the letters.")
    if path.is_dir() and any(path.iterdir()):
        raise ValueError(f"The folder {str(path)!r} is not empty: choose another one, or remove what is in it.")
    is_new = not path.exists()
    path.mkdir(parents=True, exist_ok=True)
    try:
        yield path
    except BaseException:
        for written in [path / INDEX, *path.glob("*.html")]:
            written.unlink(missing_ok=True)
        if is_new:
            with suppress(OSError):  # someone else has put a file there
                path.rmdir()
        raise
