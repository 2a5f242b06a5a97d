"""How experiments are run: seeds that are kept, means and spreads, notes."""

import json
import warnings

import numpy as np
import pytest
from experiments.runs import Outcome, Plan, aggregate, naming, run_experiment, summarise
from toy_experiment import MADE, toy

from suffice.errors import FidelityWarning, SearchSizeWarning


def test_means_and_spreads_leave_missing_figures_out():
    figures = aggregate([{"a": 1.0, "b": 5.0}, {"a": 3.0, "b": None}, {"a": float("nan"), "c": 2.0}])
    assert figures["a"] == {"mean": 2.0, "median": 2.0, "spread": pytest.approx(np.sqrt(2)), "values": [1.0, 3.0]}
    assert figures["b"] == {"mean": 5.0, "median": 5.0, "spread": None, "values": [5.0]}
    assert aggregate([{"d": None}]) == {"d": {"mean": None, "median": None, "spread": None, "values": []}}


def test_finished_seeds_are_not_run_again(tmp_path):
    seeds = []

    def run(plan, seed):
        seeds.append(seed)
        return Outcome(
            {"share": seed / 2, "size": np.float64(1), "their size": 1.0},
            {"ours": 0.25},
            ["a note"],
            {"x": np.arange(2)},
        )

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


def test_seeds_of_another_version_are_run_again(tmp_path):
    for version, share in ((1, 0.5), (2, 0.25), (2, 0.75)):
        done = run_experiment(
            toy(lambda plan, seed, share=share: Outcome({"share": share}), version=version),
            Plan("tiny"), tmp_path, lambda line: None,
        )  # fmt: skip
    assert done["figures"]["share"]["values"] == [0.25]


def test_notes_name_the_table_of_a_warning(tmp_path):
    def run(plan, seed):
        with naming("Iris"):
            warnings.warn("Poor.", FidelityWarning, stacklevel=1)
            warnings.warn("Ended early.", SearchSizeWarning, stacklevel=1)
            warnings.warn("Of another library.", UserWarning, stacklevel=1)
        return Outcome({"share": 1.0})

    summary = run_experiment(toy(run), Plan("tiny"), tmp_path, lambda line: None)
    assert summary["notes"] == ["Iris: Poor.", "Iris: Ended early."]


def test_a_run_without_the_figure_of_a_line_is_an_error(tmp_path):
    """A misspelt key in a line of an experiment only made the line disappear."""
    with pytest.raises(ValueError, match=r"shows the figure 'share', which .* Did you mean 'shares'"):
        run_experiment(toy(lambda plan, seed: Outcome({"shares": 0.5})), Plan("tiny"), tmp_path, lambda line: None)
