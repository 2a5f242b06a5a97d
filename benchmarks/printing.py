"""Tables in Markdown, as the benchmarks print them."""

from __future__ import annotations

import math
from collections.abc import Sequence


def number(value: float, digits: int = 3) -> str:
    return "-" if math.isnan(value) else f"{value:.{digits}f}"


def print_table(names: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
    """Print a table; its first column is text, the others are aligned to the right where they are numbers."""
    widths = [max(len(cell) for cell in column) for column in zip(names, *lines, strict=True)]
    is_number = [all(line[i][-1:].isdigit() or line[i] == "-" for line in lines) for i in range(len(names))]

    def write(cells: Sequence[str]) -> None:
        padded = (c.rjust(w) if right else c.ljust(w) for c, w, right in zip(cells, widths, is_number, strict=True))
        print(f"| {' | '.join(padded)} |", flush=True)

    write(names)
    write(["-" * (w - 1) + (":" if right else "-") for w, right in zip(widths, is_number, strict=True)])
    for line in lines:
        write(line)
