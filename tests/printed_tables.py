"""The sections of tables that benchmarks print."""

from __future__ import annotations


def headings_of_tables(text):
    """The headings of the sections; each must hold a table whose lines are equally long, with as many columns."""
    sections = text.split("\n## ")[1:]
    for section in sections:
        lines = [line for line in section.splitlines() if line.startswith("|")]
        assert len(lines) > 2
        assert len({line.count("|") for line in lines}) == 1
        assert len({len(line) for line in lines}) == 1
    return [section.splitlines()[0] for section in sections]
