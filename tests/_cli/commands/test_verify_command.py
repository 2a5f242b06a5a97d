"""``suffice verify``: what it prints, and its exit code."""

from __future__ import annotations

from pathlib import Path

import pytest
from shop import command


@pytest.fixture
def recorded(rows_here):
    assert command("reasons buys.suffice rows.parquet --adverse no --id id -o records.jsonl") in (0, 4)
    return rows_here


def test_true_records_exit_with_0(recorded, capsys):
    capsys.readouterr()
    assert command("verify records.jsonl buys.suffice") == 0
    out = capsys.readouterr().out
    assert "60 records: the same when computed again." in out
    assert "Not checked: row, id, values, outcome, source, settings and versions." in out
    assert command("verify records.jsonl buys.suffice rows.parquet") == 0
    assert "Not checked: source, settings and versions." in capsys.readouterr().out


def test_edited_records_exit_with_5_and_are_named(recorded, capsys):
    lines = Path("records.jsonl").read_text().splitlines(keepends=True)
    lines[2] = lines[2].replace('"row":2', '"row":1', 1)
    lines[4] = lines[4].replace(",", ", ", 1)
    Path("edited.jsonl").write_text("".join(lines))
    capsys.readouterr()
    assert command("verify edited.jsonl buys.suffice") == 5
    out = capsys.readouterr().out
    assert "2 of 60 records differ; 58 are the same." in out
    assert "Line 3 (row c2): the record was edited: its digest does not match." in out
    assert "Line 5 (row c4): the record was edited: its values are the same, its bytes are not." in out


def test_long_lists_are_cut(recorded, capsys):
    Path("bad.jsonl").write_text("x\n" * 30)
    assert command("verify bad.jsonl buys.suffice") == 5
    out = capsys.readouterr().out
    assert "Line 20: " in out
    assert "Line 21: " not in out
    assert "... and 10 more." in out


def test_another_explainer_is_named(recorded, capsys):
    assert command("verify records.jsonl flag.suffice") == 5
    assert "the record was made with another explainer: SHA-256" in capsys.readouterr().out


def test_a_code_book_is_asked_for_in_the_words_of_the_command(recorded, capsys):
    Path("codes.json").write_text('{"age": "A", "city": "B", "income": "C", "member": "D"}')
    command("reasons buys.suffice rows.parquet --codes codes.json -o coded.jsonl")
    capsys.readouterr()
    assert command("verify coded.jsonl buys.suffice") == 0  # the code book is beside the records
    Path("coded.codes.json").unlink()
    assert command("verify coded.jsonl buys.suffice") == 2
    assert "which is not beside them as a .codes.json file: pass it as --codes." in capsys.readouterr().err
    assert command("verify coded.jsonl buys.suffice --codes codes.json") == 0


def test_signed_records_are_verified_with_their_key(rows_here, capsys):
    Path("key").write_text("0123456789abcdef")
    Path("other").write_text("fedcba9876543210")
    command("reasons buys.suffice rows.parquet --rows 20 --key key -o signed.jsonl")
    capsys.readouterr()
    assert command("verify signed.jsonl buys.suffice --key key") == 0
    assert command("verify signed.jsonl buys.suffice --key other") == 5
    assert command("verify signed.jsonl buys.suffice") == 2
    assert "The records were signed with a key: pass its file as --key." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("verify no.jsonl buys.suffice", "There is no file 'no.jsonl'"),
        ("verify records.jsonl no.suffice", "There is no file 'no.suffice'"),
        ("verify records.jsonl buys.suffice --model a:b", "there is no module 'a' here"),
        ("verify records.jsonl buys.suffice --codes no.csv", "There is no file 'no.csv'"),
    ],
)
def test_bad_input_exits_with_2(recorded, capsys, line, message):
    assert command(line) == 2
    assert message in capsys.readouterr().err
