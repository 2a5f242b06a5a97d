"""The options that several commands share: in the help of each, and as changes of settings."""

from __future__ import annotations

import pytest

from suffice._cli.commands.options import changed_settings
from suffice._cli.main import run

SHARED = ("--pi", "--levels", "--confidence", "--unseen", "--ignore-extra", "--input-format", "--check")


@pytest.mark.parametrize("command", ["explain", "report", "rules"])
def test_the_help_of_a_command_lists_the_options_that_it_shares(command, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    assert run([command, "--help"]) == 0
    text = capsys.readouterr().out
    assert "EXPLAINER" in text
    assert [option for option in SHARED if option not in text] == []


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        ((None, None, None, None, False), {}),
        ((0.8, None, None, None, False), {"pi": 0.8}),
        ((None, "odds", 0.95, None, False), {"levels": "odds", "confidence": 0.95}),
        ((None, None, None, "missing", True), {"unseen": "missing", "extra_columns": "ignore"}),
    ],
)
def test_options_that_are_given_change_settings(options, settings):
    assert {name: value for name, value in changed_settings(*options).items() if value is not None} == settings
