"""``suffice certify``, and ``suffice fit --holdout``."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from shop import command, make_shop

from suffice import SufficientExplainer


@pytest.fixture(scope="module")
def shop_folder(tmp_path_factory):
    """A table, fresh rows that follow the same law, fresh rows that do not, and explainers."""
    folder = tmp_path_factory.mktemp("certify")
    shop = make_shop().drop("id", "since")
    rows = pl.concat([shop.drop_nulls("buys")] * 6)
    rng = np.random.default_rng(1)
    rows = rows.with_columns(age=rng.integers(18, 80, rows.height))
    law = (rows["age"] > 40) & (rows["city"] != "Oslo")
    rows = rows.with_columns(buys=pl.Series(np.where(law, "yes", "no")), spent=rows["age"] * 2.5)
    half = rows.height // 2
    rows[:half].write_csv(folder / "shop.csv")
    rows[half:].write_csv(folder / "fresh.csv")
    rows[half:].with_columns(buys=pl.Series(np.where(rows[half:]["age"] > 60, "yes", "no"))).write_csv(
        folder / "other.csv"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert command("fit shop.csv -t buys --drop spent --trees 20 --holdout 0.3 -o buys.suffice") == 0
        assert command("fit shop.csv -t spent --drop buys --trees 20 -o spent.suffice") == 0
        assert command("rules buys.suffice --format json -o rules.json") == 0
    return folder


@pytest.fixture
def here(shop_folder, monkeypatch):
    monkeypatch.chdir(shop_folder)
    return shop_folder


def test_rows_are_set_aside_at_fit(here, capsys):
    assert command("fit shop.csv -t buys --drop spent --trees 5 --holdout 0.25 -o other.suffice") == 0
    n_rows = pl.read_csv("shop.csv").height
    n_aside = SufficientExplainer.load("other.suffice").describe()["n_set_aside"]
    assert abs(n_aside - n_rows / 4) < 1
    assert f"Rows: {n_rows}; {n_aside} of them set aside for checks" in capsys.readouterr().out
    assert command("info other.suffice") == 0
    assert f"Rows: {n_rows - n_aside}, and {n_aside} set aside for checks" in capsys.readouterr().out
    assert command("explain other.suffice fresh.csv --ignore-extra --rows 3 -f csv") == 0
    assert "n_checked,checked_share,checked_lower,is_certified" in capsys.readouterr().out


def test_a_share_that_is_none_is_refused(here, capsys):
    assert command("fit shop.csv -t buys --holdout 2 -o no.suffice") == 2
    assert "must be a share of the rows in (0, 1), got 2.0" in capsys.readouterr().err
    assert not (here / "no.suffice").exists()


def test_rules_that_hold(here, capsys):
    assert command("certify buys.suffice fresh.csv --ignore-extra") == 0
    lines = capsys.readouterr().out.splitlines()
    assert "fresh rows (95 % confidence); 0 refuted" in lines[0]
    assert any(line.startswith("holds: IF ") for line in lines)


def test_rules_that_no_longer_hold_have_an_exit_code(here, capsys):
    assert command("certify buys.suffice other.csv --ignore-extra --rules rules.json -o checked.json") == 3
    captured = capsys.readouterr()
    assert captured.out.splitlines()[1].startswith("does not hold: IF ")
    checked = json.loads((here / "checked.json").read_text())
    assert checked["n_refuted"] >= 1
    assert checked["n_rules"] == len(checked["rules"])
    assert "rules written to checked.json" in captured.err
    assert command("certify buys.suffice fresh.csv --ignore-extra --rules checked.json") == 0


def test_strict_wants_every_rule_certified(here):
    assert command("certify buys.suffice fresh.csv --ignore-extra --rules rules.json --level 0.999 --strict") == 3
    assert command("certify buys.suffice fresh.csv --ignore-extra --rules rules.json --level 0.999") == 0


def test_rows_set_aside_are_the_default(here, capsys):
    assert command("certify buys.suffice --rules rules.json --adjust none -o checked.csv") == 0
    assert "rows that were set aside (95 % confidence)" in capsys.readouterr().out
    assert set(pl.read_csv("checked.csv").columns) >= {"rule", "outcome", "n_rows", "share", "lower", "verdict"}
    assert command("certify spent.suffice") == 2
    assert "No rows were set aside" in capsys.readouterr().err


def test_numbers_by_their_intervals(here, capsys):
    assert command("explain spent.suffice fresh.csv --ignore-extra --rows 5 -o why.json") == 0
    code = command("certify spent.suffice fresh.csv --ignore-extra --rules why.json --level 0.5 --confidence 0.9")
    assert code == 0
    assert "THEN spent in [" in capsys.readouterr().out


def test_the_column_of_outcomes_is_needed(here, capsys):
    pl.read_csv("fresh.csv").rename({"buys": "bought"}).write_csv("renamed.csv")
    assert command("certify buys.suffice renamed.csv --ignore-extra --rules rules.json") == 2
    assert "--target: there is no column 'buys' in renamed.csv" in capsys.readouterr().err
    assert command("certify buys.suffice renamed.csv --ignore-extra --rules rules.json -t bought") == 0


def test_rules_of_ones_own_are_checked(here, capsys):
    own = "--rule", "age > 40 and city != Oslo then yes", "--rule", "age > 20 then yes"
    assert command("certify buys.suffice fresh.csv --ignore-extra", *own) == 3
    out = capsys.readouterr().out
    assert "1 of 2 rules certified" in out
    assert "does not hold: IF age > 20 THEN yes" in out
    assert "holds: IF age > 40 AND city != Oslo THEN yes" in out
    assert command("certify buys.suffice fresh.csv --ignore-extra", "--rule", "agee > 40") == 2
    assert "Unknown column 'agee'. Did you mean 'age'?" in capsys.readouterr().err
