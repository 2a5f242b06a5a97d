"""`suffice info`."""

from __future__ import annotations

from shop import command


def test_info_describes_a_saved_explainer(here, capsys):
    assert command("info spent.suffice") == 0
    lines = dict(line.split(": ", 1) for line in capsys.readouterr().out.splitlines())
    assert lines["File"].startswith("spent.suffice (")
    assert lines["File"].endswith("format 4)")
    assert lines["Columns"] == "5: city, age, income, code, member"
    assert lines["Target"] == "spent, numbers"
    assert "R2 0." in lines["Fidelity"]
