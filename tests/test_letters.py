"""Letters: one safe page for each record with reasons, and none for a refused row."""

from __future__ import annotations

import csv
import datetime
import json

import pytest

from suffice._io.records import digest_of, read_key, record_bytes
from suffice.letters import INDEX, LetterTemplate, file_name, read_records, write_letters

DATE = datetime.date(2026, 11, 17)


def record(row=0, id=None, status="reasons", texts=("Income too low",)):  # noqa: A002
    refusal = {"kind": "no_set", "sentence": "no set of variables keeps the outcome."} if status == "refused" else None
    return {
        "row": row,
        "id": id,
        "outcome": "declined",
        "target": "loan",
        "status": status,
        "refusal": refusal,
        "reasons": [{"rank": i + 1, "code": f"R{i}", "text": text} for i, text in enumerate(texts)],
        "values": {"income": 20},
    }


def line_of(record, key=None):
    """The line of a record, with its digest."""
    return record_bytes({**record, "digest": digest_of(record, key)})


def index_of(folder):
    with open(folder / INDEX, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_plain_letter_states_the_reasons_in_their_order_without_the_refused_row(tmp_path):
    records = [record(0, "A-1", texts=("Income too low", "Debt too high")), record(1, "A-2", "refused")]
    letters = write_letters(iter([*records, record(2, "A-3", "not_adverse")]), tmp_path / "out", date=DATE)
    page = (tmp_path / "out" / "A-1.html").read_text(encoding="utf-8")
    assert page.index("Income too low") < page.index("Debt too high")
    assert "2026-11-17" in page
    assert "declined" in page
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["A-1.html", "letters.csv"]
    assert (letters.n_written, letters.n_not_adverse, letters.refused) == (1, 1, {"no_set": 1})
    assert str(letters) == (
        "1 letter written. 1 row with another outcome needs none. No letter for 1 refused row, for a person to look "
        "at: no sufficient set (1)."
    )
    assert [(line["id"], line["status"], line["file"]) for line in index_of(tmp_path / "out")] == [
        ("A-1", "reasons", "A-1.html"),
        ("A-2", "refused", ""),
        ("A-3", "not_adverse", ""),
    ]
    assert index_of(tmp_path / "out")[1]["refusal"] == "no set of variables keeps the outcome."


def test_one_reason_is_stated_in_the_singular(tmp_path):
    write_letters([record()], tmp_path / "out")
    page = (tmp_path / "out" / "0.html").read_text(encoding="utf-8")
    assert "The principal reason is:" in page
    assert "most important" not in page


def test_everything_from_a_record_is_escaped(tmp_path):
    script = "<script>alert(1)</script>"
    write_letters([record(0, script, texts=(script,))], tmp_path / "out")
    (path,) = (tmp_path / "out").glob("*.html")
    page = path.read_text(encoding="utf-8")
    assert script not in page
    assert page.count("&lt;script&gt;") == 3


def test_a_template_of_the_user_gets_all_fields(tmp_path):
    path = tmp_path / "mine.html"
    path.write_text(
        "\ufeff{{ id }} {{ row }} {{ date }} {{ target }}={{ outcome }} {{ values.income }} {{ change }} "
        "{{ record.status }}{% for r in reasons %} {{ loop.index }}:{{ r.code }}{% endfor %}",
        encoding="utf-8",
    )
    write_letters([record(3, "é")], tmp_path / "out", template=path, date=DATE)
    text = (tmp_path / "out" / "é.html").read_text(encoding="utf-8")
    assert text == "é 3 2026-11-17 loan=declined 20 None reasons 1:R0"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<p>\n{% for r in reasons %}\n</p>", r"letter, line 2: .*endfor"),
        ("a\nb\n{{ reasns }}", r"letter, line 3: letters have no 'reasns'. Did you mean 'reasons'\? They have id, row"),
        ("{{ id | shout }}", r"letter, line 1: No filter named 'shout'"),
        ("{% include 'other.html' %}", r"letter, line 1: other files cannot be included"),
    ],
)
def test_a_broken_template_is_refused_with_its_line_before_any_record(text, message):
    with pytest.raises(ValueError, match=message):
        LetterTemplate(text, "letter")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\n{{ values.incme }}", r"letter, line 2: .*has no attribute 'incme' \(at the record 'A'\)"),
        ("{{ 1 / 0 }}", r"letter, line 1: division by zero"),
        ("\n\n{{ id.__class__.__mro__ }}", r"letter, line 3: access to attribute '__class__' .* is unsafe"),
    ],
)
def test_an_error_while_a_letter_is_written_names_line_and_record(text, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        write_letters([record(0, "A")], tmp_path / "out", template=LetterTemplate(text, "letter"))


@pytest.mark.parametrize(
    "forged",
    [
        {"status": "refused", "refusal": [1]},
        {"status": "refused", "refusal": {"kind": ["a"], "sentence": "b"}},
        {"reasons": "none"},
        {"reasons": [1]},
        {"id": [[]]},
        {"row": "first"},
    ],
)
def test_a_forged_record_is_refused_with_its_line(forged, tmp_path):
    """A refusal that is a list ended `suffice letters` with a traceback."""
    lines = [record(), {**record(), **forged}]
    (tmp_path / "records.jsonl").write_bytes(b"".join(map(line_of, lines)))
    message = rf"^records\.jsonl, line 2 is not a record of `suffice reasons`: its '{list(forged)[-1]}' is "
    with pytest.raises(ValueError, match=message):
        write_letters(read_records(tmp_path / "records.jsonl"), tmp_path / "out")


def test_an_edited_record_gets_no_letter(tmp_path):
    """Letters were written for records that `suffice verify` finds to be edited."""
    path, out = tmp_path / "records.jsonl", tmp_path / "out"
    path.write_bytes(line_of(record(0)) + line_of(record(1)).replace(b"Income too low", b"Income too high"))
    with pytest.raises(ValueError, match=r"^records\.jsonl, line 2 was edited: its digest does not match\."):
        write_letters(read_records(path), out)
    assert not out.exists()
    out.mkdir()
    with pytest.raises(ValueError, match="line 2 was edited"):
        write_letters(read_records(path), out)
    assert not list(out.iterdir())  # nor the letter of the first record
    path.write_bytes(line_of(record(0)).replace(b":", b": "))  # the values are the same
    assert write_letters(read_records(path), out).n_written == 1


def test_signed_records_need_their_key(tmp_path):
    path, key, other = tmp_path / "records.jsonl", tmp_path / "key", tmp_path / "other"
    key.write_bytes(b"0123456789abcdef")
    other.write_bytes(b"fedcba9876543210")
    path.write_bytes(line_of({**record(), "settings": {"is_signed": True}}, read_key(key)))
    with pytest.raises(ValueError, match="signed with a key: pass its file as `key`"):
        list(read_records(path))
    with pytest.raises(ValueError, match="line 1 was edited, or was not signed with this key"):
        list(read_records(path, key=other))
    assert len(list(read_records(path, key=key))) == 1


def test_a_file_that_is_not_there_leaves_no_folder(tmp_path):
    """The empty folder with a list of no letters stood in the way of the next run."""
    with pytest.raises(ValueError, match="There is no file"):
        write_letters(read_records(tmp_path / "none.jsonl"), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_template_cannot_change_a_record():
    with pytest.raises(ValueError, match="unsafe"):
        LetterTemplate("{{ record.clear() }}").render({"id": "A", "record": {"row": 1}})


def test_a_template_in_another_encoding_is_refused(tmp_path):
    path = tmp_path / "old.html"
    path.write_bytes("Gründe".encode("latin-1"))
    with pytest.raises(ValueError, match=r"old.html is not UTF-8 at byte 2: save it as UTF-8"):
        write_letters([], tmp_path / "out", template=path)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "label",
    ["../../etc/passwd", "a/b\\c", "x" * 250, "ä" * 250, "", " ", ".", "CON", "letters", "a\x00b", "\ud800", "~"],
)
def test_file_names_are_safe(label):
    name = file_name(label)
    assert name != label
    assert name == file_name(label)
    assert not set(name) & set('/\\:*?"<>|\0 ')
    assert len(f"{name}.html".encode()) <= 200
    assert name[0] not in ".-"


def test_a_plain_identifier_is_its_file_name():
    assert [file_name(label) for label in ("A-17", "2024.001", "größe_1")] == ["A-17", "2024.001", "größe_1"]


def test_rows_with_equal_or_similar_identifiers_get_files_of_their_own(tmp_path):
    labels = ["a", "a", "A", "a_2", "a/b", "a b", "x" * 250, "x" * 249]
    letters = write_letters([record(i, label) for i, label in enumerate(labels)], tmp_path / "out")
    files = [line["file"] for line in index_of(tmp_path / "out")]
    assert len({name.casefold() for name in files}) == len(labels) == letters.n_written
    assert all((tmp_path / "out" / name).is_file() for name in files)
    assert [line["id"] for line in index_of(tmp_path / "out")] == labels


def test_letters_are_not_mixed_with_those_of_an_earlier_run(tmp_path):
    write_letters([record()], tmp_path / "out")
    with pytest.raises(ValueError, match=r"The folder '.*out' is not empty: choose another one"):
        write_letters([record()], tmp_path / "out")
    with pytest.raises(ValueError, match=r"letters.csv' is a file: name a folder"):
        write_letters([record()], tmp_path / "out" / INDEX)


def test_records_are_not_kept_in_memory(tmp_path):
    alive = set()

    class Record(dict):
        def __init__(self, row):
            super().__init__(record(row))
            alive.add(row)

        def __del__(self):
            alive.discard(self["row"])

    def records():
        for row in range(300):
            yield Record(row)
            assert len(alive) <= 2

    assert write_letters(records(), tmp_path / "out").n_written == 300


def test_the_same_records_give_the_same_bytes(tmp_path):
    records = [json.loads(json.dumps(record(i, f"id {i}"))) for i in range(3)]
    pages = []
    for folder in ("one", "two"):
        write_letters(records, tmp_path / folder, date=DATE)
        pages.append({path.name: path.read_bytes() for path in (tmp_path / folder).iterdir()})
    assert pages[0] == pages[1]
