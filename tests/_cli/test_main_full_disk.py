"""A full disk: every writer says so in one sentence, and leaves what was there."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

# The system refuses to make a file larger than the limit, as a full disk does.
LIMITED = """
import json, resource, sys
from suffice._cli.main import run
resource.setrlimit(resource.RLIMIT_FSIZE, (200, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
print(json.dumps([run(line.split()) for line in json.loads(sys.argv[1])]))
"""
KINDS = ("parquet", "csv", "jsonl", "json")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit on the size of files")
def test_every_writer_refuses_in_one_sentence(here):
    lines = [f"explain buys.suffice shop.csv --ignore-extra -o out.{kind}" for kind in KINDS]
    parts = [f"explain buys.suffice shop.parquet --ignore-extra -o part.{kind} --batch 40" for kind in KINDS[:3]]
    lines += [
        *parts,
        "explain buys.suffice shop.csv --ignore-extra --format text -o out.txt",
        "change buys.suffice shop.csv --ignore-extra -t yes -n 60 -o changes.csv",
        "fit shop.csv -t buys --drop id --drop since --drop spent --trees 5 --no-signal -o old.suffice",
        "rules buys.suffice --format json --max-rules all -o rules.json",
        "report buys.suffice shop.csv --ignore-extra -o page.html",
        "certify buys.suffice shop.csv --ignore-extra -o checked.json",
    ]
    names = [line.rsplit("-o ")[1].split()[0] for line in lines]
    for name in names:
        with open(name, "w") as file:
            file.write("what was there")
    before = set(os.listdir())
    command = [sys.executable, "-c", LIMITED, json.dumps(lines)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    codes = json.loads(done.stdout.splitlines()[-1])
    assert dict(zip(lines, codes, strict=True)) == dict.fromkeys(lines, 2)
    errors = [line for line in done.stderr.splitlines() if line.startswith("Error: ")]
    assert len(errors) == len(lines)
    assert [error for error in errors if "File too large" not in error] == []
    for name in names:
        with open(name) as file:
            assert file.read() == "what was there"
    left = set(os.listdir()) - before
    assert {name for name in left if not name.endswith(".parts")} == set()
