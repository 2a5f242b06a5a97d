"""The code blocks of the Markdown pages: run in order, and compared with the output that follows.

``python tests/page_blocks.py README.md docs/start.md`` runs the blocks of these pages and writes what they print into
the ``text`` block after each. A page is one program: a block uses the names of those before it. A comment
``<!-- setup: ... -->`` holds lines that run but are not shown. In ``sh`` blocks, the lines that start with ``suffice``
run.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

BLOCK = re.compile(
    r"^```(?P<kind>python|sh)\n(?P<code>.*?)^```\n(?:\n^```text\n(?P<output>.*?)^```\n)?"
    r"|^<!-- setup:\n(?P<setup>.*?)-->\n",
    re.S | re.M,
)
COMMAND = re.compile(r"^suffice (?!app\b)[^#\n]*", re.M)  # the app does not end by itself; it has tests of its own


def run_python(code, names):
    """Run a block and return what it prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "<page>", "exec"), names)
    return "".join(f"{line.rstrip()}\n" for line in printed.getvalue().splitlines())


def run_commands(code):
    """Run the lines of a block that call the command, and return what they print."""
    bin_folder = os.path.dirname(sys.executable)
    environment = {**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}", "NO_COLOR": "1", "COLUMNS": "120"}
    printed = ""
    for line in COMMAND.findall(code):
        done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, env=environment, check=False)
        if done.returncode:
            raise AssertionError(f"{line}\nended with {done.returncode}: {done.stderr}")
        printed += done.stdout
    return printed


def run_page(text):
    """Run the blocks of a page in the current folder; return each match with what it printed."""
    import matplotlib as mpl

    mpl.use("agg")
    names = {"__name__": "page"}
    results = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message="One column alone is enough")
        for block in BLOCK.finditer(text):
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
