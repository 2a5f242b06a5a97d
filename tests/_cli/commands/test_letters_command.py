"""`suffice letters`."""

from __future__ import annotations

import json
from pathlib import Path

from shop import command

from suffice._io.records import digest_of

RECORD = {
    "row": 0,
    "id": "A/1",
    "outcome": "no",
    "status": "reasons",
    "refusal": None,
    "reasons": [{"rank": 1, "code": "R1", "text": "Too young"}],
}
REFUSED = {**RECORD, "row": 1, "status": "refused", "reasons": [], "refusal": {"kind": "no_set", "sentence": "none."}}


def write(*records):
    lines = [{**record, "digest": digest_of(record)} if isinstance(record, dict) else record for record in records]
    Path("records.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def test_letters_are_written_and_refused_rows_are_counted(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write(RECORD, REFUSED)
    assert command("letters records.jsonl -o out --date 2026-11-17") == 0
    printed = capsys.readouterr().out
    assert "1 letter written." in printed
    assert "No letter for 1 refused row" in printed
    [page] = Path("out").glob("*.html")
    assert "Too young" in page.read_text(encoding="utf-8")
    assert command("letters records.jsonl -o out") == 2
    assert "is not empty" in capsys.readouterr().err


def test_bad_records_and_templates_are_refused_with_their_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write(RECORD)
    with Path("records.jsonl").open("a") as file:
        file.write('{"row": 1, "id"')
    assert command("letters records.jsonl -o out") == 2
    assert "records.jsonl, line 2 is not a record" in capsys.readouterr().err
    for record, message in (
        ({"row": 1}, "records.jsonl, line 1 is not a record of `suffice reasons`: it has no 'id', 'outcome'"),
        ([1], "it has no 'row'"),
        ({**RECORD, "status": "fine"}, "has the status 'fine': it must be one of reasons, refused, not_adverse"),
        ({**RECORD, "refusal": {"kind": "no_set"}}, "has the status 'reasons', which its refusal contradicts"),
    ):
        write(record)
        assert command(f"letters records.jsonl -o out{len(message)}") == 2
        assert message in capsys.readouterr().err
    write(RECORD)
    Path("mine.html").write_text("<p>\n{{ reason }}</p>")
    assert command("letters records.jsonl -o other --template mine.html") == 2
    assert "mine.html, line 2: letters have no 'reason'. Did you mean 'reasons'?" in capsys.readouterr().err
    assert not Path("other").exists()
    assert command("letters none.jsonl -o other") == 2
    assert "There is no file 'none.jsonl'" in capsys.readouterr().err
    assert not Path("other").exists()


def test_edited_and_signed_records(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write(RECORD)
    Path("records.jsonl").write_text(Path("records.jsonl").read_text().replace("Too young", "Too old"))
    assert command("letters records.jsonl -o out") == 2
    assert "records.jsonl, line 1 was edited: its digest does not match. No letter" in capsys.readouterr().err
    write({**RECORD, "settings": {"is_signed": True}})
    assert command("letters records.jsonl -o out") == 2
    assert "signed with a key: pass its file as --key." in capsys.readouterr().err
