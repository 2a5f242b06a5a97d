"""The experiments without the other methods: their metrics, their bookkeeping, their page, and that each one runs."""

import dataclasses
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from experiments.__main__ import EXPERIMENTS, WITH_FILES
from experiments.cost import gather
from experiments.metrics import (
    cdf_distances,
    detection,
    moons_detection,
    rule_figures,
    switch_cdf,
    switch_mean,
)
from experiments.page import format_figure, make_page, read_summaries, write_page
from experiments.peers import Anchor, top
from experiments.runs import Experiment, Line, Outcome, Plan, aggregate, naming, run_experiment, summarise
from experiments.stability import _mean_different, _rule_keys
from matplotlib.figure import Figure

from suffice.datasets import make_switch
from suffice.errors import FidelityWarning, SearchSizeWarning
from suffice.rules import Condition, Rule

ROOT = Path(__file__).parents[1]
MADE = {"date": "2026-01-01", "cores": 2, "python": "3.11.7", "versions": {"suffice": "0.1.0"}}


# --- metrics ----------------------------------------------------------------------------------------------------------


def test_detection_averages_over_rows():
    found, truth = [{"a", "b"}, {"a"}, set()], [{"a", "c", "d", "e"}, {"a"}, {"b"}]
    assert detection(found, truth) == pytest.approx(((0.25 + 1 + 0) / 3, (0.5 + 0 + 0) / 3))


def test_moons_detection_asks_for_z1_and_one_of_the_coordinates():
    assert moons_detection([{"Z1", "X1"}, {"Z1", "X1", "X2"}]) == (1.0, 0.0)
    assert moons_detection([{"X2", "Z7"}]) == (0.5, 0.5)


@pytest.mark.parametrize("S", [[], [0], [0, 1], [2, 5], [0, 1, 4], [2, 4], [4]])
def test_exact_means_of_the_switch_model_agree_with_simulation(S):
    rng = np.random.default_rng(0)
    x = np.array([1.2, -0.7, 0.4, 2.0, 0.9, -1.5])
    _, y = simulate_given(x, S, 200_000, rng)
    assert switch_mean(x, S) == pytest.approx(y.mean(), abs=4 * y.std() / np.sqrt(len(y)) + 1e-9)


@pytest.mark.parametrize("x5", [-1.0, 1.0])
@pytest.mark.parametrize("S", [[4], [0, 4], [0, 2, 4], [0, 1, 2, 4]])
def test_exact_distributions_of_the_switch_model_agree_with_simulation(S, x5):
    x = np.array([1.2, -0.7, 0.4, 2.0, x5, -1.5])
    _, y = simulate_given(x, S, 200_000, np.random.default_rng(1))
    grid = np.linspace(-8, 8, 33) + 0.01
    shares = np.array([(y <= value).mean() for value in grid])
    assert np.abs(switch_cdf(x, S, grid) - shares).max() < 0.005


def test_exact_distributions_need_the_switch_itself():
    with pytest.raises(ValueError, match="must hold X5"):
        switch_cdf(np.zeros(6), [0, 1], [0.0])


def simulate_given(x, S, n, rng):
    """Draw the unknown columns given the known ones, by the normal distribution's general formula."""
    covariance = 0.8 * np.ones((6, 6)) + 5 * np.eye(6)
    rest = [i for i in range(6) if i not in S]
    mean, left = np.zeros(len(rest)), covariance[np.ix_(rest, rest)]
    if S:
        weights = covariance[np.ix_(rest, S)] @ np.linalg.inv(covariance[np.ix_(S, S)])
        mean, left = weights @ x[S], left - weights @ covariance[np.ix_(S, rest)]
    X = np.tile(x, (n, 1))
    X[:, rest] = rng.multivariate_normal(mean, left, n)
    return X, np.where(X[:, 4] <= 0, X[:, 0] + X[:, 1], X[:, 2] + X[:, 3])


def test_exact_means_of_all_columns_are_the_outcomes():
    data = make_switch(50, n_columns=7, random_state=0)
    assert [switch_mean(x, range(7)) for x in data.X.to_numpy()] == pytest.approx(data.mean.tolist())


def test_distances_of_distributions_by_hand():
    grid = np.array([0.0, 1.0, 3.0, 4.0])
    assert cdf_distances(grid, np.array([0, 0.5, 0.5, 1]), np.array([0, 0.25, 1, 1])) == pytest.approx((0.5, 1.0))


def test_figures_of_rules_by_hand():
    covers = [np.array([True, True, False, False]), np.array([False] * 4), np.array([True] * 4)]
    same = [np.array([True, False, True, True]), np.array([True] * 4), np.array([True, True, True, False])]
    assert rule_figures(covers, [1, 2, 3], same) == pytest.approx(
        {"accuracy": (0.5 + 0.75) / 2, "coverage": 0.5, "size": 2.0, "size_std": np.sqrt(2 / 3), "size_max": 3.0}
    )


def test_an_anchor_covers_rows_by_their_bins():
    anchor = Anchor(frozenset({(0, "geq", 1), (0, "leq", 2), (2, "eq", 0)}))
    bins = np.array([[1, 9, 0], [2, 9, 0], [3, 9, 0], [2, 9, 1]])
    assert anchor.covers(bins).tolist() == [False, True, False, False]
    assert anchor.columns == {0, 2}


def test_top_takes_the_greatest_absolute_weights():
    assert top(np.array([[0.1, -3.0, 2.0, 0.0]]), 2, "abcd") == [{"b", "c"}]


# --- bookkeeping ------------------------------------------------------------------------------------------------------


def test_means_and_spreads_leave_missing_figures_out():
    found = aggregate([{"a": 1.0, "b": 5.0}, {"a": 3.0, "b": None}, {"a": float("nan"), "c": 2.0}])
    assert found["a"] == {"mean": 2.0, "median": 2.0, "spread": pytest.approx(np.sqrt(2)), "values": [1.0, 3.0]}
    assert found["b"] == {"mean": 5.0, "median": 5.0, "spread": None, "values": [5.0]}
    assert aggregate([{"d": None}]) == {"d": {"mean": None, "median": None, "spread": None, "values": []}}


def toy(run, **options):
    lines = [
        Line("ours", "share", "share", "0.5", (">=", 0.5), 2),
        Line("ours", "size", "size", "", ("<=", "their size")),
        Line("theirs", "size", "their size"),
    ]
    return Experiment("toy", "A toy", "Nothing is done.", lines, run, n_seeds=(3, 2, 1), **options)


def test_finished_seeds_are_not_run_again(tmp_path):
    seeds = []

    def run(plan, seed):
        seeds.append(seed)
        return Outcome({"share": seed / 2, "size": np.float64(1)}, {"ours": 0.25}, ["a note"], {"x": np.arange(2)})

    first = run_experiment(toy(run), Plan("quick"), tmp_path, lambda line: None)
    second = run_experiment(toy(run), Plan("full"), tmp_path, lambda line: None)
    assert seeds == [0, 1, 2]
    assert (first["n_seeds"], second["n_seeds"]) == (2, 3)
    assert second["figures"]["share"]["values"] == [0.0, 0.5, 1.0]
    assert second["notes"] == ["a note"]
    assert second["data"] == {"x": [0, 1]}
    assert json.loads((tmp_path / "toy.json").read_text()) == json.loads(json.dumps(second))


def test_results_without_the_other_methods_are_kept_apart_and_marked():
    assert Plan("quick", peers=False).folder == "quick-ours"
    outcome = {"figures": {"share": 0.5}, "seconds": {}, "notes": [], "data": {}, "wall_seconds": 1.0, "made": MADE}
    summary = summarise(toy(None), Plan("quick", peers=False), [outcome])
    assert summary["peers"] == "left out on request"
    assert "left out on request" in make_page([toy(None)], {"toy": summary})


def test_seeds_of_another_version_are_run_again(tmp_path):
    for version, share in ((1, 0.5), (2, 0.25), (2, 0.75)):
        done = run_experiment(
            toy(lambda plan, seed, share=share: Outcome({"share": share}), version=version),
            Plan("tiny"), tmp_path, lambda line: None,
        )  # fmt: skip
    assert done["figures"]["share"]["values"] == [0.25]


def test_notes_tell_which_table_a_warning_is_about(tmp_path):
    def run(plan, seed):
        with naming("Iris"):
            warnings.warn("Poor.", FidelityWarning, stacklevel=1)
            warnings.warn("Ended early.", SearchSizeWarning, stacklevel=1)
            warnings.warn("Of another library.", UserWarning, stacklevel=1)
        return Outcome({"share": 1.0})

    summary = run_experiment(toy(run), Plan("tiny"), tmp_path, lambda line: None)
    assert summary["notes"] == ["Iris: Poor.", "Iris: Ended early."]


def test_goals_compare_with_the_paper_as_printed_and_with_other_methods_to_the_last_digit():
    share, size, _ = toy(None).lines
    assert share.is_reached({"share": {"mean": 0.4951}}) is True
    assert share.is_reached({"share": {"mean": 0.4949}}) is False
    assert size.is_reached({"size": {"mean": 2.0001}, "their size": {"mean": 2.0}}) is False
    assert size.is_reached({"size": {"mean": 2.0}, "their size": {"mean": 1.9}}) is False
    assert size.is_reached({"size": {"mean": 2.0}}) is None


# --- the page ---------------------------------------------------------------------------------------------------------


def test_the_page_sets_figures_beside_the_papers_and_lists_what_is_missed():
    outcomes = [
        {
            "figures": {"share": share, "size": 2.0, "their size": 1.5},
            "seconds": {"ours": 0.004},
            "notes": ["10 rows only."],
            "data": {"sentences": ["IF x > 1 THEN y"]},
            "wall_seconds": 30.0,
            "made": MADE,
        }
        for share in (0.5, 0.7)
    ]
    summary = summarise(toy(None, reading="Read with care."), Plan("full"), outcomes)
    page = make_page([toy(None, reading="Read with care.")], {"toy": summary})
    assert [goal["reached"] for goal in summary["goals"]] == [True, False]
    assert "2 seeds, 1.0 minutes." in page
    assert "| ours | share | 0.60 ± 0.14 | 0.5 | >= 0.5: reached |" in page
    assert "| ours | 2.000 ± 0.000<br>goal <= 1.500: **missed** |\n| theirs | 1.500 ± 0.000 |" in page
    assert "1 of 2 goals are reached." in page
    assert "| `toy` ours | size | 2.000 ± 0.000 | <= 1.500 |" in page
    assert "> IF x > 1 THEN y" in page
    assert "Note: 10 rows only." in page
    assert "Read with care." in page
    assert "Made on 2026-01-01, 2 cores, Python 3.11.7, suffice 0.1.0." in page


def lines_of_page(lines, figures, **summary):
    experiment = Experiment("toy", "A toy", "Nothing is done.", lines, None)
    outcome = {"figures": figures, "seconds": {}, "notes": [], "data": {}, "wall_seconds": 1.0, "made": MADE}
    page = make_page([experiment], {"toy": {**summarise(experiment, Plan("full"), [outcome]), **summary}})
    return [line for line in page.split("## Goals")[0].splitlines() if line.startswith("|")]


def test_figures_that_methods_share_are_columns_and_the_longer_side_goes_down_the_page():
    lines = [
        Line("a", "x", "a x", "5", digits=0),
        Line("b", "y", "b y", digits=0),
        Line("a", "y", "a y", digits=0),
        Line("b", "z", "b z", digits=0),
        Line("c", "z", "c z", digits=0),
        Line("d", "own", "d own", digits=0),
        Line("e", "other", "e other", digits=0),
        Line("f", "other", "f other", digits=0),
    ]
    figures = {line.key: float(i) for i, line in enumerate(lines)}
    assert lines_of_page(lines, figures) == [
        "|  | y | z |", "| --- | --- | --- |", "| a | 2 |  |", "| b | 1 | 3 |", "| c |  | 4 |",
        "|  | other |", "| --- | --- |", "| e | 6 |", "| f | 7 |",
        "| method | figure | here | paper | goal |", "| --- | --- | --- | --- | --- |",
        "| a | x | 0 | 5 |  |", "| d | own | 5 |  |  |",
    ]  # fmt: skip
    lines = [Line(method, label, f"{method} {label}", digits=0) for method in "ab" for label in "xyz"]
    figures = {line.key: float(i) for i, line in enumerate(lines)}
    assert lines_of_page(lines, figures) == [
        "|  | a | b |", "| --- | --- | --- |", "| x | 0 | 3 |", "| y | 1 | 4 |", "| z | 2 | 5 |"
    ]  # fmt: skip


def test_what_the_paper_has_and_a_full_run_has_not_is_none():
    lines = [Line("a", "x", "a x", "5"), Line("a", "y", "a y")]
    assert lines_of_page(lines, {})[2:] == ["| a | x | none | 5 |  |"]
    assert lines_of_page(lines, {}, peers="left out on request") == []
    assert lines_of_page(lines, {}, scale="quick") == []


def test_the_page_has_its_figures_beside_it(tmp_path):
    def draw(summary):
        figure = Figure()
        figure.subplots()
        return figure

    experiment = toy(lambda plan, seed: Outcome({"share": 0.5}), draw=draw)
    run_experiment(experiment, Plan("tiny"), tmp_path / "results", lambda line: None)
    write_page(tmp_path / "docs" / "page.md", [experiment], tmp_path / "results")
    assert "![A toy](page/toy.png)" in (tmp_path / "docs" / "page.md").read_text()
    assert (tmp_path / "docs" / "page" / "toy.png").read_bytes().startswith(b"\x89PNG")


def test_the_page_tells_since_when_there_are_figures():
    outcome = {"figures": {}, "seconds": {}, "notes": [], "data": {}, "wall_seconds": 1.0}
    old, new = (
        summarise(toy(None), Plan("full"), [{**outcome, "made": {**MADE, "date": date}}])
        for date in ("2026-01-01", "2026-02-03")
    )
    second = dataclasses.replace(toy(None), name="second")
    page = make_page([toy(None), second], {"toy": new, "second": old})
    assert "Made on 2026-01-01 to 2026-02-03, 2 cores" in page


def test_an_experiment_that_was_not_run_says_so():
    assert "Not run yet." in make_page([toy(None)], {})


@pytest.mark.parametrize(
    ("figure", "text"),
    [
        ({"mean": 0.949, "spread": 0.011}, "0.95 ± 0.01"),
        ({"mean": 3.0, "spread": None}, "3.00"),
        ({"mean": None, "spread": None}, "none"),
    ],
)
def test_figures_are_written_with_their_spread(figure, text):
    assert format_figure(figure, 2) == text


def test_costs_are_medians_over_seeds():
    seconds = {"mean": 2.0, "median": 0.5, "spread": None, "values": [0.5, 0.5, 5.0]}
    summary = summarise(toy(None), Plan("full"), [{"figures": {}, "seconds": {}, "notes": [], "data": {},
                                                   "wall_seconds": 1.0, "made": MADE}])  # fmt: skip
    page = make_page([toy(None)], {"toy": {**summary, "seconds": {"suffice": seconds}}})
    assert "| `toy` | suffice | 500 |" in page
    assert [row["method"] for row in gather({"toy": {"seconds": {"suffice": seconds}}})] == ["suffice"]


def test_the_committed_page_names_every_experiment():
    page = (ROOT / "docs" / "reproduce.md").read_text()
    assert [e.title for e in EXPERIMENTS if f"## {e.title}\n" not in page] == []


# --- stability --------------------------------------------------------------------------------------------------------


def test_rules_are_told_apart_by_their_variables_and_the_training_rows_that_they_cover():
    def rule(*conditions):
        return Rule(conditions, 1, None, 0.95, 2, 0.5, 1.0, None, True, 2.0, False)

    train = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [1.0, 2.0, 3.0]})
    whole, noisy = rule(Condition("a", -np.inf, 2.0)), rule(Condition("a", -np.inf, 2.5))
    wider, other = rule(Condition("a", -np.inf, 3.0)), rule(Condition("b", -np.inf, 2.0))
    first, same, *others = _rule_keys([whole, noisy, wider, other, None], train)
    assert first == same
    assert len({first, *others}) == 4
    assert others[-1] is None


def test_different_rules_are_counted_among_a_row_and_its_copies():
    keys = ["r", "r", "s", None, None, None, "t", None, "t"]
    assert _mean_different(keys, [0, 2], 3) == 2.0
    assert _mean_different(keys, [0, 1, 2], 3) == pytest.approx(5 / 3)
    assert np.isnan(_mean_different(keys, [], 3))


# --- the experiments themselves ---------------------------------------------------------------------------------------

WITHOUT_FILES = [e for e in EXPERIMENTS if e.name not in WITH_FILES]


@pytest.mark.parametrize("experiment", WITHOUT_FILES, ids=lambda e: e.name)
def test_experiments_on_made_up_data_run_without_the_other_methods(experiment, tmp_path):
    pytest.importorskip("matplotlib")
    summary = run_experiment(experiment, Plan("tiny", peers=False), tmp_path, lambda line: None)
    assert summary["figures"]
    assert all(np.isfinite(seconds["mean"]) for seconds in summary["seconds"].values())
    assert (tmp_path / f"{experiment.name}.png").exists() == (experiment.draw is not None)
    assert "## Cost" in make_page(EXPERIMENTS, read_summaries(tmp_path))


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("SUFFICE_DATA"), reason="SUFFICE_DATA names no folder of data")
@pytest.mark.parametrize("name", ["bike", "anchors", "stability", "lucas", "global"])
def test_experiments_on_files_run_without_the_other_methods(name, tmp_path):
    experiment = next(e for e in EXPERIMENTS if e.name == name)
    plan = Plan("tiny", peers=False, data=os.environ["SUFFICE_DATA"])
    assert run_experiment(experiment, plan, tmp_path, lambda line: None)["figures"]


def run_command(*arguments, **environment):
    env = {key: value for key, value in os.environ.items() if key != "SUFFICE_DATA"} | environment
    command = [sys.executable, "-m", "experiments", *arguments]
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)


def test_the_command_says_which_data_are_missing(tmp_path):
    done = run_command("--quick", "bike", "--out", str(tmp_path))
    assert done.returncode == 2
    assert "no folder of data was given, and bike read files: give --data FOLDER or set SUFFICE_DATA" in done.stderr


def test_a_small_run_of_all_leaves_out_what_needs_the_data_and_says_so(tmp_path):
    done = run_command("--tiny", "--only-ours", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "Left out: bike, anchors, stability, lucas, global. They read files, and neither" in done.stdout
    assert {path.stem for path in (tmp_path / "tiny-ours").glob("*.json")} >= {"switch", "cdf", "moons"}


def test_the_full_run_of_all_needs_the_data(tmp_path):
    done = run_command("--out", str(tmp_path))
    assert done.returncode == 2
    assert "bike, anchors, stability, lucas, global read files" in done.stderr


def test_the_command_refuses_unknown_names():
    done = run_command("switches")
    assert done.returncode == 2
    assert "unknown experiment 'switches'; there are switch, lxi," in done.stderr


def test_the_command_writes_results_and_a_page(tmp_path):
    done = run_command("--tiny", "--only-ours", "rule", "--out", str(tmp_path), "--page", str(tmp_path / "page.md"))
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "tiny-ours" / "rule.json").read_text())["peers"] == "left out on request"
    assert "The other methods were left out on request." in (tmp_path / "page.md").read_text()
