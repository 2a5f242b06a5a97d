"""Records are computed again: true ones are the same, and every edit is found."""

from __future__ import annotations

import json
import random

import numpy as np
import pandas as pd
import polars as pl
import pytest
from loans import loan_explainer, make_loans
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from suffice import CodeBook, SufficientExplainer, records
from suffice._cli.main import run
from suffice._io.files import open_table
from suffice._io.records import digest_of, record_bytes

X, Y = make_loans(60, seed=5)
CODES = {
    "income": [
        {"code": "R1", "text": "Income of {value} is not above {bound} €", "direction": "low"},
        {"code": "R2", "text": "Income"},
    ],
    "account": ("R3", "The account is {value}"),
    "age": ("R4", "Age"),
    "debt": ("R5", "Debt of {value}"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """An explainer, rows, a code book and the records of the rows."""
    folder = tmp_path_factory.mktemp("records")
    explainer = loan_explainer()
    explainer.save(folder / "loans.suffice")
    pl.from_pandas(X).write_parquet(folder / "rows.parquet")
    (folder / "codes.json").write_text(json.dumps(CODES))
    reasons = explainer.reasons(X, Y, adverse="bad", codes=CODES, protected=["age"])
    records.write(reasons, folder / "records.jsonl", folder / "loans.suffice", change="good")
    return folder


def verify(folder, lines=None, name="records.jsonl", **options):
    path = folder / name
    if lines is not None:
        path = folder / "edited.jsonl"
        path.write_bytes(b"".join(lines))
    return records.verify(path, folder / "loans.suffice", **{"codes": CODES, **options})


def lines_of(folder):
    return (folder / "records.jsonl").read_bytes().splitlines(keepends=True)


def forged(line, edit):
    """A record that someone has edited, and given the digest that belongs to it."""
    record = json.loads(line)
    del record["digest"]
    edit(record)
    return record_bytes({**record, "digest": digest_of(record)})


def test_true_records_are_the_same_when_computed_again(folder):
    result = verify(folder)
    assert result.is_true
    assert str(result) == (
        "60 records: the same when computed again.\n"
        "Not checked: row, id, values, outcome, source, settings and versions. They are taken from the records: pass "
        "the table to check most of them, and sign records with a key to check all."
    )
    with_rows = verify(folder, rows=folder / "rows.parquet", codes=folder / "codes.json")
    assert with_rows.is_true
    # No column of the table holds the outcomes that were passed.
    assert with_rows.unchecked == ("outcome", "source", "settings", "versions")


BYTES = [*b' \t\r\n"{}[],:.\\0123456789eE+-', *b"nulltruefalse", *range(256)]


def edit_at_random(line, rng):
    """Change, take out, double or put in one byte: a letter, a digit, a space, a quote, the end of the line."""
    edited = line
    while edited == line:  # the byte that was there already
        at, byte = rng.randrange(len(line)), bytes([rng.choice(BYTES)])
        end = line[at + 1 :]
        edited = line[:at] + rng.choice([byte + end, end, line[at : at + 1] + line[at:], byte + line[at:]])
    return edited


@pytest.mark.parametrize("n_edits", [200, pytest.param(1000, marks=pytest.mark.slow)])
def test_every_random_edit_is_found(n_edits, folder, monkeypatch):
    monkeypatch.setattr(records, "MAX_KEPT", 5000)
    rng = random.Random(0)
    lines = lines_of(folder)
    content, spans, n_lines = [], [], 0
    for _ in range(n_edits):
        # A true record follows each edited one, so that an edit of an end of line spoils no other edit.
        edited = edit_at_random(rng.choice(lines), rng)
        content += [edited, rng.choice(lines)]
        spans.append((n_lines, n_lines + edited.count(b"\n")))
        n_lines += edited.count(b"\n") + 1
    result = verify(folder, content)
    bad = {problem.line - 1 for problem in result.problems}
    n_found = sum(bool(bad.intersection(range(first, last + 1))) for first, last in spans)
    assert n_found == n_edits


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        (lambda r: r["reasons"][0].update(text="Other"), 'reasons[0].text is "Other"'),
        (lambda r: r["reasons"][0].update(loss=r["reasons"][0]["loss"] + 1e-16 * 2), "reasons[0].loss is"),
        (lambda r: r["values"].update(income=r["values"]["income"] + 1), 'reasons[0].text is "Income of'),
        (lambda r: r["best_set"].update(sdp=0.99), "best_set.sdp is 0.99"),
        (lambda r: r["rule"].update(support=1), "rule.support is 1"),
        (lambda r: r["change"].update(support=1), "change.support is 1"),
        (lambda r: r.update(outcome="good"), "status is"),
        (lambda r: r.update(more=1), "more should not be there"),
        (lambda r: r.pop("notes"), "notes is missing"),
        (lambda r: r["settings"].update(n="four"), "It cannot be computed again"),
        (lambda r: r["settings"].update(protected=["no"]), "It cannot be computed again"),
        (lambda r: r["values"].pop("income"), "It cannot be computed again"),
        (lambda r: r["values"].update(account="gone"), "It cannot be computed again"),
        (lambda r: r["settings"]["explainer"].update(pi=7), "It cannot be computed again"),
        (lambda r: r["settings"].pop("change"), "It cannot be computed again"),
    ],
)
def test_a_record_with_a_forged_digest_differs_when_computed_again(folder, edit, sentence):
    lines = lines_of(folder)
    i = next(i for i, line in enumerate(lines) if json.loads(line)["reasons"])
    lines[i] = forged(lines[i], edit)
    result = verify(folder, lines[: i + 2])
    assert [(problem.line, problem.kind) for problem in result.problems] == [(i + 1, "differs")]
    assert sentence in result.problems[0].sentence


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """Records whose table has identifiers and outcomes, so that the fields of a row can be checked."""
    folder = tmp_path_factory.mktemp("shop")
    loan_explainer().save(folder / "loans.suffice")
    X.assign(name=[f"N{i}" for i in range(len(X))], loan=Y).to_csv(folder / "rows.csv", index=False)
    command = ["reasons", f"{folder}/loans.suffice", f"{folder}/rows.csv", "--adverse", "bad", "--target", "loan"]
    run([*command, "--id", "name", "-o", f"{folder}/records.jsonl"])
    return folder


OTHERS = [None, True, -1, 0, 3, 0.5, "", "bad", "good", "given", "forest", "N3", [], {}, "0" * 64, "0.1.0"]


def reseal(lines, n_edits=1000):
    """Edit values of records at random, and give each record the digest that belongs to it."""
    rng, content, edited = random.Random(7), [], []
    while len(content) < n_edits:
        record = json.loads(rng.choice(lines))
        del record["digest"]
        place, path = record, []
        while isinstance(place, dict | list) and place and not (path and rng.random() < 0.1):
            holder, key = place, rng.choice(list(place) if isinstance(place, dict) else range(len(place)))
            place, path = holder[key], [*path, key]
        before, holder[key] = holder[key], rng.choice(OTHERS)
        # Some settings ask for a model or a code book, and some change what can be checked.
        is_of_files = path[:2] in [
            ["settings", name] for name in ("model", "has_codes", "outcome_column", "id_columns")
        ]
        if repr(holder[key]) != repr(before) and not is_of_files and path != ["settings"]:
            content.append(record_bytes({**record, "digest": digest_of(record)}))
            edited.append(path)
    return content, edited


@pytest.mark.parametrize("has_table", [False, True])
def test_random_edits_with_a_new_digest_are_found_or_in_fields_named_as_unchecked(has_table, shop, monkeypatch):
    """Without the table, `verify` took a record with another id or row for one that is as it was written."""
    monkeypatch.setattr(records, "MAX_KEPT", 5000)
    content, edited = reseal(lines_of(shop))
    (shop / "edited.jsonl").write_bytes(b"".join(content))
    result = records.verify(shop / "edited.jsonl", shop / "loans.suffice", shop / "rows.csv" if has_table else None)
    bad = {problem.line - 1 for problem in result.problems}
    missed = {".".join(map(str, path)) for i, path in enumerate(edited) if i not in bad}
    of_row = [] if has_table else ["row", "id", "values", "outcome", "source"]
    unchecked = [*of_row, "settings", "versions"]
    words = ["notes", "refusal.sentence", "change.text"]  # of edits that claim another version
    assert [*result.unchecked] == [*unchecked, *words]
    assert not {name for name in missed if not name.startswith((*unchecked, *words))}
    assert missed


def test_a_record_of_another_row_or_source_is_found_with_the_table(shop):
    line = lines_of(shop)[0]
    edits = [{"id": "N3"}, {"row": 3}, {"row": True}, {"row": -1}, {"row": 0.0}, {"row": "0"}, {"source": "forest"}]
    for edit in edits:
        (shop / "edited.jsonl").write_bytes(forged(line, lambda record, edit=edit: record.update(edit)))
        result = records.verify(shop / "edited.jsonl", shop / "loans.suffice", shop / "rows.csv")
        assert result.n_problems == 1, edit
        if edit.get("row", 0) != 3 and "row" in edit:
            assert "which is no position in a table" in str(result)


def test_a_row_that_was_changed_in_the_table_is_found(folder):
    changed = X.copy()
    changed.loc[3, "income"] += 1
    changed.to_csv(folder / "changed.csv", index=False)
    result = verify(folder, rows=folder / "changed.csv")
    assert [problem.line for problem in result.problems] == [4]
    assert "values.income is" in result.text() or "sha256.row is" in result.text()
    X[:50].to_csv(folder / "short.csv", index=False)
    result = verify(folder, rows=folder / "short.csv")
    assert result.n_problems == 10
    assert "short.csv has 50 rows; there is no row 50." in str(result.problems[0])


def test_a_file_that_is_cut_off(folder):
    lines = lines_of(folder)
    result = verify(folder, [*lines[:5], lines[5][:100]])
    assert [str(problem) for problem in result.problems] == ["Line 6: this is not JSON: it was cut off or edited."]
    assert result.text().splitlines()[0] == "1 of 6 records differ; 5 are the same."
    without_end = verify(folder, [*lines[:5], lines[5][:-1]])
    assert without_end.n_problems == 1
    gap = verify(folder, [lines[0], *lines[2:4]])
    assert gap.is_true
    assert gap.notes == ["Records of some rows are missing or stand in another order, first before row 2."]


def test_an_empty_file_and_one_that_is_not_there(folder):
    with pytest.raises(ValueError, match="holds no record: it is empty"):
        verify(folder, [])
    with pytest.raises(ValueError, match=r"There is no file '.*no.jsonl'"):
        verify(folder, name="no.jsonl")


def test_records_of_another_explainer_are_named(folder, tmp_path):
    other = tmp_path / "other.suffice"
    loan_explainer().with_settings(pi=0.95).save(other)
    result = records.verify(folder / "records.jsonl", other, codes=CODES)
    assert result.n_problems == 60
    assert {problem.kind for problem in result.problems} == {"explainer"}
    assert "the record was made with another explainer: SHA-256 " in str(result.problems[0])


def test_records_of_another_code_book_are_named(folder):
    other = {**CODES, "age": ("R4", "Age of {value}")}
    result = verify(folder, codes=other)
    assert {problem.kind for problem in result.problems} == {"codes"}


def test_other_versions_are_noted_and_no_difference(folder):
    lines = [forged(line, lambda r: r["versions"].update(numpy="1.0")) for line in lines_of(folder)[:3]]
    result = verify(folder, lines)
    assert result.is_true
    assert result.notes[0].startswith("Records were made with other versions: numpy 1.0 (here ")


def test_another_version_may_put_a_change_in_other_words(folder):
    changed = next(line for line in lines_of(folder) if json.loads(line)["change"])
    version = json.loads(changed)["versions"]["suffice"]

    def reword(record, version):
        record["change"]["text"] = "income from 20 up to at least 31"
        record["versions"]["suffice"] = version

    assert verify(folder, [forged(changed, lambda r: reword(r, "0.1.0"))]).is_true
    [problem] = verify(folder, [forged(changed, lambda r: reword(r, version))]).problems
    assert "change.text is" in problem.sentence
    both = forged(changed, lambda r: (reword(r, "0.1.0"), r["change"].update(support=1)))
    assert "change.support is 1" in verify(folder, [both]).problems[0].sentence


def test_many_problems_are_counted_and_some_kept(folder, monkeypatch):
    monkeypatch.setattr(records, "MAX_KEPT", 3)
    monkeypatch.setattr(records, "N_TOGETHER", 4)
    result = verify(folder, [b"x\n"] * 9)
    assert (result.n_problems, len(result.problems)) == (9, 3)
    assert "... and 6 more." in result.text()
    assert "... and 8 more." in result.text(1)


def test_settings_of_the_call_are_in_the_record(folder, tmp_path):
    changed = loan_explainer().with_settings(pi=0.97, candidates=["income", "account"], n_jobs=1)
    records.write(changed.reasons(X[:20]), tmp_path / "r.jsonl", folder / "loans.suffice")
    line = (tmp_path / "r.jsonl").read_bytes().splitlines()[0]
    assert json.loads(line)["settings"]["explainer"]["pi"] == 0.97
    assert records.verify(tmp_path / "r.jsonl", folder / "loans.suffice").is_true


def test_records_of_all_outcomes_are_computed_again_for_all(tmp_path):
    """Without adverse outcomes, every row had reasons before there was a focus class: such records stay true."""
    explainer = loan_explainer()
    explainer.save(tmp_path / "loans.suffice")
    records.write(explainer.reasons(X, adverse=["bad", "good"]), tmp_path / "records.jsonl", tmp_path / "loans.suffice")
    written = [json.loads(line) for line in (tmp_path / "records.jsonl").read_text().splitlines()]
    assert {record["settings"]["adverse"] for record in written} == {None}
    assert {record["outcome"] for record in written if record["reasons"]} == {"bad", "good"}
    assert records.verify(tmp_path / "records.jsonl", tmp_path / "loans.suffice").is_true


@pytest.mark.parametrize("where", ["fit", "code book"])
def test_no_record_proposes_to_change_what_is_fixed(where, tmp_path):
    table, y = make_loans()
    forest = RandomForestClassifier(30, min_samples_leaf=5, random_state=0)
    explainer = SufficientExplainer(forest).fit(table, y, fixed=["income"] if where == "fit" else [])
    explainer.save(tmp_path / "loans.suffice")
    codes = [{"variable": name, "code": name, "text": name, "fixed": name == "income"} for name in table]
    reasons = explainer.reasons(X, adverse="bad", codes=None if where == "fit" else codes)
    records.write(reasons, tmp_path / "records.jsonl", tmp_path / "loans.suffice", change="good")
    written = [json.loads(line) for line in (tmp_path / "records.jsonl").read_text().splitlines()]
    variables = {name for record in written for name in (record["change"] or {}).get("variables") or ()}
    assert variables
    assert "income" not in variables
    assert records.verify(tmp_path / "records.jsonl", tmp_path / "loans.suffice").is_true


def test_the_same_bytes_for_any_number_of_threads(folder, tmp_path):
    for n in (1, 3):
        explainer = loan_explainer().with_settings(n_jobs=n)
        reasons = explainer.reasons(X, Y, adverse="bad", codes=CODES, protected=["age"])
        records.write(reasons, tmp_path / f"{n}.jsonl", folder / "loans.suffice", change="good")
        assert (tmp_path / f"{n}.jsonl").read_bytes() == (folder / "records.jsonl").read_bytes()


class Cut:
    def predict(self, table):
        return np.where(np.asarray(table["score"]) > 0, "yes", "no")


def test_records_of_a_model_need_the_model_and_the_rows(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(300, 2)).round(2), columns=["score", "other"])
    explainer = SufficientExplainer.for_model(Cut(), table, forest=RandomForestClassifier(10, random_state=0))
    explainer.save(tmp_path / "cut.suffice")
    table[:20].to_csv(tmp_path / "rows.csv", index=False)
    records.write(explainer.reasons(table[:20], adverse="no"), tmp_path / "r.jsonl", tmp_path / "cut.suffice")
    paths = (tmp_path / "r.jsonl", tmp_path / "cut.suffice")
    with pytest.raises(ValueError, match=r"made with a model \(Cut\): pass it as `model`, and the rows"):
        records.verify(*paths)
    with pytest.raises(ValueError, match="A model is asked about the rows of a table: pass the table, too"):
        records.verify(*paths, model=Cut())
    assert records.verify(*paths, tmp_path / "rows.csv", model=Cut()).is_true


def test_numbers_dates_and_missing_values_are_computed_again(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "paid": rng.uniform(0, 10, 300),
            "day": pd.date_range("2024-01-01", periods=300, freq="7h"),
            "kind": rng.choice(["a", "b"], 300),
        }
    )
    table.loc[::5, "paid"] = np.nan
    y = 40.0 * (table["paid"] > 4) + 10 * (table["kind"] == "a") + rng.normal(0, 1, 300)
    forest = RandomForestRegressor(10, min_samples_leaf=5, random_state=0)
    explainer = SufficientExplainer(forest, dates="parts").fit(table, y)
    explainer.save(tmp_path / "e.suffice")
    reasons = explainer.reasons(table[:60], y[:60], adverse={"below": 20})
    assert reasons.n_adverse > reasons.n_refused
    records.write(reasons, tmp_path / "r.jsonl", tmp_path / "e.suffice")
    result = records.verify(tmp_path / "r.jsonl", tmp_path / "e.suffice")
    assert result.is_true, str(result)


def test_rows_are_taken_in_runs(folder):
    table = open_table(str(folder / "rows.parquet"))
    rows = records.take_rows(table, [3, 4, 5, 1, 0, 59])
    assert rows["income"].to_list() == X["income"][[3, 4, 5, 1, 0, 59]].tolist()
    for wrong in (60, -1, "x"):
        with pytest.raises(ValueError, match="has 60 rows; there is no row"):
            records.take_rows(table, [0, wrong])


def test_a_code_book_is_read_once_for_all(folder):
    assert verify(folder, codes=CodeBook.read(CODES)).is_true


# --- the code book beside the records, and a key ---------------------------------------------------------------------


def test_the_code_book_is_kept_beside_the_records_and_found_there(folder, tmp_path):
    assert CodeBook.read(folder / "records.codes.json").digest == CodeBook.read(CODES).digest
    assert verify(folder, codes=None).is_true
    copy = tmp_path / "alone.jsonl"
    copy.write_bytes(lines_of(folder)[0])
    message = r"^The records were made with a code book, which is not beside them as a \.codes\.json file: pass it as"
    with pytest.raises(ValueError, match=message):
        records.verify(copy, folder / "loans.suffice")
    (tmp_path / "alone.codes.json").write_text(json.dumps({**CODES, "age": ("R4", "Years")}))
    [problem] = records.verify(copy, folder / "loans.suffice").problems
    assert problem.kind == "codes"


def test_records_without_a_code_book_have_none_beside_them(folder, tmp_path):
    records.write(loan_explainer().reasons(X[:3]), tmp_path / "records.jsonl", folder / "loans.suffice")
    assert [path.name for path in tmp_path.iterdir()] == ["records.jsonl"]


KEY = "0123456789abcdef"


@pytest.fixture(scope="module")
def signed(folder):
    """A file of records that were signed, and the file of the key."""
    (folder / "key").write_text(f"{KEY}\n")
    reasons = loan_explainer().reasons(X[:8], Y[:8], adverse="bad", codes=CODES)
    records.write(reasons, folder / "signed.jsonl", folder / "loans.suffice", key=folder / "key")
    return folder


def test_signed_records_need_the_key(signed):
    assert verify(signed, name="signed.jsonl", key=signed / "key").is_true
    with pytest.raises(ValueError, match=r"^The records were signed with a key: pass its file as `key`\.$"):
        verify(signed, name="signed.jsonl")
    (signed / "other").write_text("another key, which is long enough")
    result = verify(signed, name="signed.jsonl", key=signed / "other")
    assert result.n_problems == result.n_records == 8
    assert "was not signed with this key" in result.problems[0].sentence
    assert KEY not in (signed / "signed.jsonl").read_text()


def test_nobody_without_the_key_can_write_a_record_that_is_true(signed):
    """The versions are not compared: with a digest that belongs to it, an edit of them would pass without a key."""
    line = (signed / "signed.jsonl").read_bytes().splitlines(keepends=True)[0]

    def edit(record):
        record["versions"]["suffice"] = "9.9"

    with_digest = forged(line, edit)
    assert verify(signed, [with_digest], key=signed / "key").problems[0].kind == "edited"
    unsigned = forged(line, lambda record: (edit(record), record["settings"].pop("is_signed")))
    assert verify(signed, [unsigned]).is_true
    assert verify(signed, [unsigned], key=signed / "key").problems[0].kind == "edited"


def test_random_edits_with_a_new_digest_are_all_found_with_the_key(signed, monkeypatch):
    monkeypatch.setattr(records, "MAX_KEPT", 5000)
    content, _ = reseal((signed / "signed.jsonl").read_bytes().splitlines(keepends=True))
    result = verify(signed, content, key=signed / "key")
    assert {problem.line for problem in result.problems} == {*range(1, 1001)}
    assert result.unchecked == ()


def test_a_key_that_is_too_short_or_missing_is_refused(folder):
    (folder / "short").write_text("0123456789abcde\n")
    with pytest.raises(ValueError, match=r"^The key in .*short has 15 bytes; at least 16 are needed: openssl"):
        verify(folder, key=folder / "short")
    with pytest.raises(ValueError, match=r"nowhere"):
        verify(folder, key=folder / "nowhere")
