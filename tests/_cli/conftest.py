"""Fixtures of the command: tables and saved explainers in a folder."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl
import pytest
from shop import command, make_shop
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from streamed import N_ROWS, OUTCOMES, make_table

from suffice import SufficientExplainer


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Tables, and saved explainers of classes, of numbers, and with dates."""
    folder = tmp_path_factory.mktemp("shop")
    shop = make_shop()
    shop.write_csv(folder / "shop.csv")
    shop.write_parquet(folder / "shop.parquet")
    shop.head(12).write_csv(folder / "new.csv")
    shop.head(12).with_columns(pl.lit(1).alias("extra")).write_csv(folder / "more.csv")
    start = Path.cwd()
    os.chdir(folder)
    try:
        assert command("fit shop.csv -t buys --drop id --drop since --drop spent -o buys.suffice") == 0
        assert command("fit shop.csv -t spent --drop id --drop since --drop buys --trees 30 -o spent.suffice") == 0
        assert command("fit shop.csv -t buys --drop id --drop spent --dates parts -o dated.suffice") == 0
    finally:
        os.chdir(start)
    return folder


@pytest.fixture(scope="session")
def rows_folder(tmp_path_factory):
    """A saved explainer for each kind of outcome, and tables."""
    folder = tmp_path_factory.mktemp("shop")
    train = make_table(300, seed=1)
    for target in OUTCOMES:
        known = train.drop_nulls(target)
        forest = RandomForestRegressor if target == "spent" else RandomForestClassifier
        explainer = SufficientExplainer(forest(8, min_samples_leaf=5, random_state=0), extra_columns="ignore")
        explainer.fit(known["city", "age", "income", "member"], known[target]).save(folder / f"{target}.suffice")
    make_table(N_ROWS).write_parquet(folder / "rows.parquet")
    return folder


@pytest.fixture
def rows_here(rows_folder, tmp_path, monkeypatch):
    """The explainers and the table in a folder of the test's own."""
    for path in rows_folder.iterdir():
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def n_explained(monkeypatch):
    """The number of rows in each call of the explainer that had any."""
    explain, counts = SufficientExplainer.explain, []

    def count(self, X, *args, **options):
        counts.extend([len(X)] if len(X) else [])
        return explain(self, X, *args, **options)

    monkeypatch.setattr(SufficientExplainer, "explain", count)
    return counts
