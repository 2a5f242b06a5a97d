"""The commands as a whole: version, help and examples."""

from __future__ import annotations

import subprocess
import sys

import pytest
from shop import command

import suffice
from suffice._cli.main import run

COMMANDS = [
    "demo",
    "fit",
    "explain",
    "report",
    "rules",
    "change",
    "reasons",
    "verify",
    "certify",
    "prove",
    "app",
    "info",
]


def test_the_version(capsys):
    assert command("--version") == 0
    assert capsys.readouterr().out == f"suffice {suffice.__version__}\n"


@pytest.mark.parametrize("args", [[], ["--help"], ["-h"]])
def test_the_help_lists_the_commands(args, capsys):
    assert run(args) == 0
    text = capsys.readouterr().out
    assert all(f" {name} " in text for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_examples(name, capsys):
    assert run([name, "--help"]) == 0
    text = capsys.readouterr().out
    assert text.partition("Examples")[2].count(f"suffice {name}") >= 2


def test_the_help_loads_no_heavy_module():
    code = "import sys; from suffice._cli.main import run; run(['fit', '--help']); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True)
    loaded = set(done.stderr.split())
    assert "suffice._cli.commands.fit" in loaded
    assert not {"numpy", "sklearn", "polars", "narwhals", "tqdm"} & loaded
