"""Records of the decisions on the rows of a table file, and what comes with them in the command."""

from __future__ import annotations

import importlib
import os
import sys
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from suffice._cli.questions import Question
from suffice._cli.streaming import make_fingerprint, write_in_parts
from suffice._io.code_book_file import codes_beside, write_code_book
from suffice._io.output import write_bytes
from suffice._io.records import RecordContext, lines_of
from suffice._io.sources import STDIO
from suffice.reasons.values import Reasons


@dataclass(frozen=True, eq=False)
class ReasonQuestion:
    """Rows of a table file whose decisions need reasons."""

    question: Question
    options: dict[str, Any]
    context: RecordContext

    def check(self) -> None:
        """Refuse columns and options that do not suit the explainer, before any row is read."""
        options = {name: value for name, value in self.options.items() if name != "model"}
        self.question.explainer.reasons(self.question.empty(), progress=False, **options)

    def reasons(self, frame: pl.DataFrame, first: int = 0, *, progress: bool | None = None) -> Reasons:
        """Find the reasons of those rows of a part of the file that have an outcome."""
        part = self.question.part(frame, first)
        with part.located():
            reasons = self.question.explainer.reasons(part.X, part.y, ids=part.ids, progress=progress, **self.options)
        answers = [replace(answer, row=row) for answer, row in zip(reasons, part.positions, strict=True)]
        return Reasons(answers, reasons.settings, reasons.codes, reasons.fitted, reasons.library)

    def write(self, output: str, *, explainer_path: str, batch: int, restart: bool) -> None:
        """Write the records of all rows, part by part, and the code book beside them."""
        question, explainer = self.question, self.question.explainer

        def answer(frame: pl.DataFrame, first: int) -> tuple[bytes, int]:
            reasons = self.reasons(frame, first, progress=False)
            n_cut_short = sum(not row.is_search_complete for row in reasons)
            return lines_of(reasons, self.context, explainer), n_cut_short

        if (
            output == STDIO
            or question.table.identity is None
            or (os.path.exists(output) and not os.path.isfile(output))
        ):
            for first in range(0, question.end, batch):
                end = min(question.end, first + batch)
                write_bytes(answer(question.read(first, end), first)[0], output)
            return
        fingerprint = make_fingerprint(question, "jsonl", explainer_path, batch)
        write_in_parts(question, output, "jsonl", answer, fingerprint, batch=batch, restart=restart)
        if self.options["codes"] is not None:
            write_code_book(self.options["codes"], codes_beside(output))


def import_model(name: str | None) -> Any:
    """Import a model from the user's own code."""
    if name is None:
        return None
    module, colon, attribute = name.partition(":")
    if not colon or not module or not attribute:
        raise ValueError(f"--model must be MODULE:NAME, such as scoring:model, got {name!r}.")
    if "" not in sys.path:
        sys.path.insert(0, "")  # modules in the folder of the user, as `python -m` finds them
    try:
        return getattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError as error:
        raise ValueError(f"--model: there is no module {error.name!r} here.") from None
    except AttributeError:
        raise ValueError(f"--model: the module {module!r} has no {attribute!r}.") from None
