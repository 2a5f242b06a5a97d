"""The experiments run without the other methods, and the command that runs them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from experiments.__main__ import EXPERIMENTS, WITH_FILES, time_before
from experiments.page import make_pages, merge, read_summaries
from experiments.runs import Plan, run_experiment
from experiments.stability import _mean_different

ROOT = Path(__file__).parents[2]
WITHOUT_FILES = [e for e in EXPERIMENTS if e.name not in WITH_FILES]


@pytest.mark.parametrize("experiment", WITHOUT_FILES, ids=lambda e: e.name)
def test_experiments_on_made_up_data_run_without_the_other_methods(experiment, tmp_path):
    pytest.importorskip("matplotlib")
    summary = run_experiment(experiment, Plan("tiny", peers=False), tmp_path, lambda line: None)
    assert summary["figures"]
    assert all(np.isfinite(seconds["mean"]) for seconds in summary["seconds"].values())
    assert (tmp_path / f"{experiment.name}.png").exists() == (experiment.draw is not None)
    assert f"`{experiment.name}`" in "".join(
        make_pages([experiment], merge({}, [experiment], read_summaries(tmp_path))).values()
    )


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("SUFFICE_DATA"), reason="SUFFICE_DATA names no folder of data")
@pytest.mark.parametrize("name", WITH_FILES)
def test_experiments_on_files_run_without_the_other_methods(name, tmp_path):
    experiment = next(e for e in EXPERIMENTS if e.name == name)
    plan = Plan("tiny", peers=False, data=os.environ["SUFFICE_DATA"])
    figures = run_experiment(experiment, plan, tmp_path, lambda line: None)["figures"]
    pairs = [(claim.key, claim.default) for claim in experiment.claims if claim.default]
    pairs += [(name.removeprefix("default "), name) for name in figures if name.startswith("default ")]
    pairs = [(papers, ours) for papers, ours in pairs if papers in figures]
    assert not pairs or any(figures[ours] != figures[papers] for papers, ours in pairs)
    assert figures


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda e: e.name)
def test_the_default_stands_beside_the_papers_settings(experiment):
    defaults = [claim.default for claim in experiment.claims if claim.default]
    assert bool(defaults) == (experiment.name != "changes-law")
    assert not {claim.key for claim in experiment.claims} & set(defaults)


def test_the_default_is_not_the_papers_settings_on_the_switch_model():
    experiment = next(e for e in EXPERIMENTS if e.name == "switch")
    figures = experiment.run(Plan("tiny", peers=False), 0).figures
    assert [claim.label for claim in experiment.claims if figures[claim.key] == figures[claim.default]] == []


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
    assert f"Left out: {', '.join(WITH_FILES)}. They read files, and neither" in done.stdout
    assert WITH_FILES[:6] == ("bike", "anchors", "stability", "lucas", "global", "changes-compas")
    assert {path.stem for path in (tmp_path / "tiny-ours").glob("*.json")} >= {"switch", "cdf", "moons"}


def test_the_full_run_of_all_needs_the_data(tmp_path):
    done = run_command("--out", str(tmp_path))
    assert done.returncode == 2
    assert f"{', '.join(WITH_FILES)} read files" in done.stderr


def test_the_command_refuses_unknown_names():
    done = run_command("switches")
    assert done.returncode == 2
    assert "unknown experiment 'switches'; there are switch, lxi," in done.stderr


def test_the_command_writes_results_and_pages(tmp_path):
    done = run_command("--tiny", "--only-ours", "rule", "--out", str(tmp_path), "--pages", str(tmp_path / "docs"))
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "tiny-ours" / "rule.json").read_text())["peers"] == "left out on request"
    assert "lower end of the rule on X5" in (tmp_path / "docs" / "reproduce.md").read_text()
    assert "# The Sufficient Rule of a row" in (tmp_path / "docs" / "evidence" / "reproduce-rule.md").read_text()


def test_the_whole_run_says_how_long_it_took_before(tmp_path):
    (tmp_path / "record.json").write_text('{"rule": {"minutes": 2.0}, "cdf": {"minutes": 16.4}, "lxi": {"minutes": 9}}')
    assert "this took 18 minutes on two cores" in time_before(["rule", "cdf", "bike"], tmp_path / "record.json")


# --- stability --------------------------------------------------------------------------------------------------------


def test_different_rules_are_counted_among_a_row_and_its_copies():
    keys = ["r", "r", "s", None, None, None, "t", None, "t"]
    assert _mean_different(keys, [0, 2], 3) == 2.0
    assert _mean_different(keys, [0, 1, 2], 3) == pytest.approx(5 / 3)
    assert np.isnan(_mean_different(keys, [], 3))
