"""The code blocks of the Markdown pages: run in order, and compared with the output that follows.

``python tests/page_blocks.py README.md docs/start.md`` runs the blocks of these pages and writes what they print into
the ``text`` block after each. A page is one program: a block uses the names of those before it. A comment
``<!-- setup: ... -->`` holds lines that run but are not shown. In ``sh`` blocks, the lines that start with ``suffice``
run. A block after a comment ``<!-- runs in ... -->`` runs there instead.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
import warnings
from pathlib import Path

BLOCK = re.compile(
    r"^```(?P<kind>python|sh)\n(?P<code>.*?)^```\n(?:\n^```text\n(?P<output>.*?)^```\n)?"
    r"|^<!-- setup:\n(?P<setup>.*?)-->\n",
    re.S | re.M,
)
RUNS_ELSEWHERE = re.compile(r"^<!-- runs in .* -->\n\Z", re.M)
COMMAND = re.compile(r"^suffice (?!app\b)[^#\n]*", re.M)  # the app does not end by itself; it has tests of its own


def run_python(code, names):
    """Run a block and return what it prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "<page>", "exec"), names)
    return "".join(f"{line.rstrip()}\n" for line in printed.getvalue().splitlines())


def run_commands(code):
    """Run the lines of a block that call the command, and return what they print."""
    from suffice._cli.main import run

    printed, messages = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()  # the command writes bytes
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(messages):
        for line in COMMAND.findall(code):
            exit_code = run(shlex.split(line)[1:])
            assert exit_code == 0, f"{line}\nended with {exit_code}: {messages.getvalue()}"
    printed.flush()
    return printed.buffer.getvalue().decode()


def run_page(text):
    """Run the blocks of a page in the current folder; return each match with what it printed."""
    import matplotlib as mpl

    mpl.use("agg")
    names = {"__name__": "page"}
    results = []
    with warnings.catch_warnings():
        warnings.resetwarnings()  # other libraries deprecate what they use themselves
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", UserWarning)  # ours
        warnings.filterwarnings("ignore", message="One column alone is enough")
        for block in BLOCK.finditer(text):
            if RUNS_ELSEWHERE.search(text, 0, block.start()):
                continue
            if block["setup"] is not None:
                run_python(block["setup"], names)
            elif block["kind"] == "python":
                results.append((block, run_python(block["code"], names)))
            else:
                results.append((block, run_commands(block["code"])))
    return results


def shorten(printed, output):
    """Cut what was printed as the page cuts it: a line of three dots stands for the rest."""
    lines = output.splitlines(keepends=True)
    if lines and lines[-1] == "...\n":
        return "".join(printed.splitlines(keepends=True)[: len(lines) - 1]) + "...\n"
    return printed


def write_outputs(path):
    """Write what the blocks of a page print into the page."""
    text = path.read_text()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        results = run_page(text)
    for block, printed in reversed(results):
        if block["output"] is not None:
            start, end = block.span("output")
            text = text[:start] + shorten(printed, block["output"]) + text[end:]
    path.write_text(text)


if __name__ == "__main__":
    for path in [Path(name).resolve() for name in sys.argv[1:]]:
        write_outputs(path)
