"""``suffice prove``."""

from __future__ import annotations

import json

import lightgbm as lgb
import numpy as np
import polars as pl
import pytest
import xgboost as xgb
from shop import command


@pytest.fixture(scope="module")
def loans_folder(tmp_path_factory):
    """A table with a lender's decisions, explainers of them, and two models as their libraries save them."""
    folder = tmp_path_factory.mktemp("prove")
    random = np.random.default_rng(0)
    income, debt = random.integers(20, 80, 400), random.integers(0, 60, 400)
    grants = (income > 40) & (debt < 40)
    loans = pl.DataFrame({"income": income, "debt": debt, "decision": np.where(grants, "grant", "refuse")})
    loans = loans.with_columns(score=income - debt)
    loans.write_csv(folder / "loans.csv")
    loans[:2].write_csv(folder / "new.csv")
    X = loans["income", "debt"].to_pandas()
    xgb.XGBClassifier(n_estimators=5, max_depth=3).fit(X, ~grants).save_model(folder / "model.json")
    lgb.LGBMRegressor(n_estimators=5, n_jobs=1, verbose=-1).fit(X, loans["score"]).booster_.save_model(
        folder / "score.txt"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert command("fit loans.csv -t decision --drop score --trees 20 -o loans.suffice") == 0
        assert command("fit loans.csv -t score --drop decision --trees 20 -o score.suffice") == 0
    return folder


@pytest.fixture
def here(loans_folder, monkeypatch):
    monkeypatch.chdir(loans_folder)
    return loans_folder


MODEL = "--model model.json --classes grant,refuse"
NAMED = "--classes must name the model's classes [0, 1], in this order, as grant, refuse."


def test_rules_are_proven_or_have_an_exception(here, capsys):
    rules = ["--rule", "income < 35 then refuse", "--rule", "income < 35 then grant"]
    assert command(f"prove loans.suffice {MODEL}", *rules) == 3
    out = capsys.readouterr().out
    assert out.startswith(
        "1 of 2 rules proven for Booster (5 trees); 1 refuted, 0 open.\nproven: IF income < 35 THEN refuse "
    )
    assert "An exception exists: Booster (5 trees) decides refuse at income = " in out
    assert command(f"prove loans.suffice {MODEL} --json --rule", "income < 35 then refuse") == 0
    answers = json.loads(capsys.readouterr().out)
    assert [rule["proof"]["verdict"] for rule in answers["rules"]] == ["proven"]


def test_the_rules_of_rows_and_of_the_training_rows_are_proven(here, capsys):
    assert command(f"prove loans.suffice new.csv {MODEL} --ignore-extra") == 2
    capsys.readouterr()
    pl.read_csv("new.csv").drop("score").write_csv("rows.csv")
    assert command(f"prove loans.suffice rows.csv {MODEL} --rows 1") in (0, 3)
    assert " of 1 rule proven for Booster" in capsys.readouterr().out
    assert command("rules loans.suffice -o rules.json") == 0
    for more in ("", " --rules rules.json"):
        capsys.readouterr()
        assert command(f"prove loans.suffice {MODEL}{more}") in (0, 3)
        lines = capsys.readouterr().out.splitlines()
        assert " rules proven for Booster (5 trees); " in lines[0]
        assert all(": IF " in line for line in lines[1::2])
    assert command("prove score.suffice --model score.txt --max-seconds 1") in (0, 3)
    assert " rules proven for Booster" in capsys.readouterr().out


def test_certain_reasons_of_rows_are_printed(here, capsys):
    pl.read_csv("new.csv").drop("score").write_csv("rows.csv")
    assert command(f"prove loans.suffice rows.csv {MODEL} --certain") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line[:15] for line in lines] == ["Row 0: Proven: ", "Row 1: Proven: "]
    assert command(f"prove loans.suffice rows.csv {MODEL} --certain --json --rows 1") == 0
    assert json.loads(capsys.readouterr().out)[0]["is_minimal"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (f"prove loans.suffice {MODEL} --certain", "--certain needs ROWS"),
        (
            "prove loans.suffice --model model.json --classes grant",
            NAMED,
        ),
        (
            "prove loans.suffice --model model.json --classes yes,no",
            NAMED,
        ),
        ("prove loans.suffice --model model.json", NAMED),
        ("prove loans.suffice --model loans.csv", "'loans.csv' must be a model file"),
        ("prove loans.suffice --model nowhere.json", "No such file or directory"),
        ("prove loans.suffice", "Missing option '--model'"),
    ],
)
def test_what_cannot_be_proven_is_said(here, capsys, line, message):
    assert command(line) == 2
    assert message in capsys.readouterr().err
