"""`suffice info`."""

from __future__ import annotations

import json
from pathlib import Path

from shop import command


def test_info_as_json(here, capsys):
    assert command("info spent.suffice --format json") == 0
    content = json.loads(capsys.readouterr().out)
    assert content["file"] == "spent.suffice"
    assert content["bytes"] == Path("spent.suffice").stat().st_size
    assert content["format"] == 4
    assert content["columns"] == ["city", "age", "income", "code", "member"]
    assert content["task"] == "regression"
    assert 0.8 < content["fidelity"] <= 1
