"""``suffice reasons``: printed reasons, records, parts, refusals and their exit code."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest
from shop import command
from streamed import parts, stop_after

from suffice import SufficientExplainer, records
from suffice._io.files import read_table

CODES = """variable,condition,direction,code,text
age,,low,A1,Age of {value} is not above {bound}
age,,,A2,Age
city,= Oslo,,C1,Lives in {value}
city,,,C2,City
income,,,I1,Income <script>alert(1)</script>
member,,,M1,Member
"""


@pytest.fixture
def here(rows_here):
    Path("codes.csv").write_text(CODES)
    return rows_here


def run(line):
    return command(f"reasons buys.suffice rows.parquet --codes codes.csv --adverse no --id id {line}")


def lines_of(path):
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def test_the_first_rows_are_printed(here, capsys):
    assert run("--rows 4") in (0, 4)
    out = capsys.readouterr().out
    assert "Row c0" in out
    assert "1 of 1 row whose outcome is no has reasons." in out


def test_a_record_of_each_row_is_written(here, capsys):
    assert run("--protected member --reasons 2 -o out.jsonl") == 4
    explainer = SufficientExplainer.load("buys.suffice")
    frame = pl.read_parquet("rows.parquet")
    columns = explainer.feature_names_in_.tolist()
    expected = explainer.reasons(
        frame.select(columns), adverse="no", codes="codes.csv", n=2, protected=["member"], ids=frame["id"].to_list()
    )
    written = lines_of("out.jsonl")
    assert len(written) == frame.height
    for record, answer in zip(written, expected, strict=True):
        assert {name: record[name] for name in answer.to_dict()} == json.loads(json.dumps(answer.to_dict()))
    err = capsys.readouterr().err
    assert f"60 records written to out.jsonl: {expected.n_adverse - expected.n_refused} with reasons." in err
    assert f"{expected.n_refused} rows need human review: " in err


def test_without_refusals_the_exit_code_is_0(here, capsys):
    assert run("--pi 0.7 -o out.jsonl") == 0
    assert not any(record["refusal"] for record in lines_of("out.jsonl"))
    assert "refused" not in capsys.readouterr().err


def test_decisions_in_a_column_are_explained_and_rows_without_one_left_out(here):
    assert run("--target buys -o out.jsonl") == 4
    buys = pl.read_parquet("rows.parquet")["buys"].to_list()
    written = lines_of("out.jsonl")
    assert [record["row"] for record in written] == [i for i, value in enumerate(buys) if value is not None]
    assert [record["outcome"] for record in written] == [value for value in buys if value is not None]
    assert {record["source"] for record in written} == {"given"}
    assert "forest_disagrees" in {record["refusal"]["kind"] for record in written if record["refusal"]}
    result = records.verify("out.jsonl", "buys.suffice", "rows.parquet", codes="codes.csv")
    assert result.is_true, str(result)
    assert result.notes == []


def test_numbers_and_changes(here):
    line = "reasons spent.suffice rows.parquet --adverse <=100 --change >=150 -o out.jsonl"
    assert command(line) in (0, 4)
    written = lines_of("out.jsonl")
    assert all(record["outcome"] <= 100 for record in written if record["status"] != "not_adverse")
    assert any(record["change"] is not None for record in written)
    assert written[0]["settings"]["adverse"] == [None, 100.0]
    assert records.verify("out.jsonl", "spent.suffice").is_true


def test_parts_give_the_same_bytes_and_a_stopped_run_goes_on(here, monkeypatch, capsys):
    assert run("--protected city -o whole.jsonl --batch 1000") == 4
    assert run("--protected city -o parts.jsonl --batch 7") == 4
    assert Path("parts.jsonl").read_bytes() == Path("whole.jsonl").read_bytes()
    for _ in stop_after(3, monkeypatch, RuntimeError("stopped by the test")):
        with pytest.raises(RuntimeError, match="stopped by the test"):
            run("--protected city -o late.jsonl --batch 7")
    assert len(parts("late.jsonl")) == 3
    capsys.readouterr()
    assert run("-o late.jsonl --batch 7 --protected age") == 2
    assert "differs in protected: remove it to discard them" in capsys.readouterr().err
    assert run("--protected city -o late.jsonl --batch 7") == 4
    assert "Continuing: 3 of 9 parts were done." in capsys.readouterr().err
    assert Path("late.jsonl").read_bytes() == Path("whole.jsonl").read_bytes()
    assert not Path(".late.jsonl.parts").exists()


def test_records_may_go_through_a_pipe(here, capfdbinary):
    run("-o file.jsonl")
    capfdbinary.readouterr()
    run("-o - --batch 9")
    assert capfdbinary.readouterr().out == Path("file.jsonl").read_bytes()


def test_rows_from_standard_input_are_all_recorded(here, monkeypatch):
    """Each part had replaced the one before, and no code book was written."""
    run("-o file.jsonl")
    with open("rows.parquet", "rb") as stream:
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=stream, isatty=lambda: False))
        assert command("reasons buys.suffice - --codes codes.csv --adverse no --id id -o piped.jsonl --batch 9") == 4
    assert Path("piped.jsonl").read_bytes() == Path("file.jsonl").read_bytes()
    assert Path("piped.codes.json").read_bytes() == Path("file.codes.json").read_bytes()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--adverse maybe -o a.jsonl", "--adverse must be among the classes ['no', 'yes'], got 'maybe'"),
        ("--codes none.csv -o a.jsonl", "There is no file 'none.csv'"),
        ("--codes short.csv -o a.jsonl", "has no code: ['city']"),
        ("--protected ages -o a.jsonl", "Unknown variable 'ages'. Did you mean 'age'?"),
        ("-o a.csv", "the suffix '.csv' is unknown. Use one of .jsonl"),
        ("--model scoring -o a.jsonl", "--model must be MODULE:NAME, such as scoring:model, got 'scoring'"),
        ("--model no_such_module:a -o a.jsonl", "--model: there is no module 'no_such_module' here"),
        ("--model json:nothing -o a.jsonl", "--model: the module 'json' has no 'nothing'"),
    ],
)
def test_bad_input_gets_a_clear_sentence(here, capsys, line, message):
    Path("short.csv").write_text("variable,code,text\nage,A,Age\n")
    assert command(f"reasons buys.suffice rows.parquet {line}") == 2
    assert message in capsys.readouterr().err
    assert not Path("a.jsonl").exists()


def test_a_model_in_the_users_code_is_asked(here, monkeypatch):
    Path("scoring_of_test.py").write_text(
        "import numpy as np\ndef decide(table):\n    return np.where(table['income'].fill_null(0) > 30, 'yes', 'no')\n"
    )
    monkeypatch.syspath_prepend(str(here))
    assert run("--model scoring_of_test:decide -o out.jsonl") == 4
    written = lines_of("out.jsonl")
    income = read_table("rows.parquet")["income"].fill_null(0).to_list()
    assert [record["outcome"] for record in written] == ["yes" if value > 30 else "no" for value in income]
    kinds = {record["refusal"]["kind"] for record in written if record["refusal"]}
    assert "unused_variable" in kinds
    line = "verify out.jsonl buys.suffice rows.parquet --codes codes.csv --model scoring_of_test:decide"
    assert command(line) == 0
