"""How the command prints."""

from __future__ import annotations

import pytest

from suffice import Explanation, SufficientSet
from suffice._cli.printing import (
    describe_fit,
    format_fidelity,
    in_options,
    name_options,
    note,
    say,
    say_block,
    say_lines,
)


@pytest.mark.parametrize(
    ("text", "translated"),
    [
        ("`X` has 3 columns. With extra_columns='ignore' they", "The table has 3 columns. With --ignore-extra they"),
        ("Column 'a' of `X` holds", "Column 'a' of the table holds"),
        (
            "`y` must hold numbers; give task='classification'",
            "The target must hold numbers; give --task classification",
        ),
        ("`n_candidates` must", "--candidates must"),
        ("`confidence` must", "--confidence must"),
        ("`levels` must", "--levels must"),
    ],
)
def test_messages_speak_of_options(text, translated):
    assert in_options(text) == translated


def test_advice_speaks_of_options_of_this_command():
    """Python's parameters mean nothing to someone at a terminal."""
    age, values = SufficientSet(("age",), 0.62), tuple((name, ((name, 1.0),)) for name in ("age", "income"))
    plain = {"sufficient_sets": (), "best_set": age, "values": values, "offered_pi": 0.6}
    rare = Explanation(outcome="yes", interval=None, prediction="no", pi=0.69, base_rate=0.2, **plain)
    assert name_options(rare.text).splitlines()[-1] == "With --pi 0.6 --levels same, age is enough."
    number = Explanation(outcome=3.0, interval=(2.0, 4.0), pi=0.8, base_rate=0.2, levels="same", **plain)
    assert name_options(number.text).splitlines()[-1] == "With --pi 0.6, age is enough."


def test_results_and_notes_go_different_ways(capsys):
    say("a result", "[bold]not markup[/]")
    note("a note")
    assert capsys.readouterr() == ("a result\n[bold]not markup[/]\n", "a note\n")


def test_lines_are_not_wrapped_in_a_pipe(capsys):
    say("Heading")
    say_lines({"Label": "word " * 60})
    assert len(capsys.readouterr().out.splitlines()) == 2


def about(**changed):
    known = {"task": "regression", "fidelity": 0.914, "fidelity_by_class": None, "classes": None, "target": "y"}
    return {**known, "variables": ["a", "b"], "candidates": ["b"], "task_reason": "numbers", **changed}


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({}, "R2 0.91 on rows that the trees have not seen"),
        ({"fidelity": float("nan")}, "unknown, because every tree has seen every row"),
        (
            {"task": "classification", "fidelity_by_class": {"no": 0.5, "yes": float("nan")}},
            "91 % correct on rows that the trees have not seen (no 50 %)",
        ),
    ],
)
def test_fidelity_in_words(changed, text):
    assert format_fidelity(about(**changed)) == text


def test_what_was_fitted_in_words():
    lines = describe_fit(about())
    assert lines["Target"] == "y, numbers"
    assert lines["Candidates"] == "1 of 2 variables: b"
    assert describe_fit(about(classes=["no", "yes"]))["Target"] == "y, 2 classes: no, yes"


def test_names_cannot_command_the_terminal(capsys):
    """A column could clear the screen, or write its own answer over ours, by the escape sequences in its name."""
    name = "a\x1b[2J\x1b]0;title\x07\x9b31m\u202eb"
    shown = "a\\u001b[2J\\u001b]0;title\\u0007\\u009b31m\\u202eb"
    say(name)
    say_block(name, name)
    say_lines({name: name})
    note(name)
    out, err = capsys.readouterr()
    assert out.count(shown) == 5
    assert err == f"{shown}\n"
    assert "\x1b" not in out


def test_candidates_of_a_wide_table_are_cut():
    """A table of 40,000 columns printed all of their names."""
    names = [f"c{i}" for i in range(41)]
    all_names = describe_fit(about(variables=names[:40], candidates=names[:40]))["Candidates"]
    assert all_names == f"all variables: {', '.join(names[:40])}"
    cut = describe_fit(about(variables=names, candidates=names))["Candidates"]
    assert cut == f"all variables: {', '.join(names[:10])} and 31 more"
