"""The comparison with other explainers: what is asked about, and how answers are judged."""

import json

import numpy as np
import pytest
from benchmarks import peers
from benchmarks.peers_worker import Suffice, inside, load


def answer(variables, covered, interval=None):
    return {"text": "IF", "variables": variables, "covered": covered, "interval": interval}


def judged(*answers, held=(0, 0, 1, 1)):
    outputs = np.array([0, 1])
    figures = peers.judge(answers, [0.5, 1.5], outputs, np.array(held), np.array([0, 1, 1, 1]))
    return dict(zip(peers.COLUMNS, figures, strict=True))


def test_answers_are_judged_by_the_held_out_rows_that_they_cover():
    first = [(answer(["a"], [0, 1]), 0.1), (None, 0.3)]
    second = [(answer(["a"], [0, 1, 2]), 0.1), (answer(["a", "b"], [3]), 0.1)]
    figures = judged(first, second)
    assert figures["rows answered"] == "3 of 4"
    assert figures["variables"] == "1.3"
    assert figures["coverage"] == "0.50"
    assert figures["precision, forest"] == "0.89"  # 1, 2 / 3 and 1
    assert figures["precision, truth"] == "0.61"  # 1 / 2, 1 / 3 and 1
    assert (figures["same variables"], figures["same rule"]) == ("1.00", "0.00")
    assert (figures["s, fit"], figures["s, row"]) == ("1.00", "0.100")


def test_numbers_are_judged_by_their_intervals_and_methods_without_rules_by_their_size():
    assert judged([(answer(["a"], [0, 2], interval=[0.5, 1.5]), 0.1)])["precision, forest"] == "0.50"
    weights = {**answer(["a"], None), "n_conditions": 7}
    figures = judged([(weights, 0.1)])
    assert (figures["variables"], figures["coverage"], figures["same variables"]) == ("7.0", "-", "-")


def test_boxes_are_open_below_and_closed_above():
    X = np.array([[1.0, 5.0], [2.0, 5.0], [2.0, 9.0]])
    assert inside(X, {0: (1.0, 2.0), 1: (-np.inf, 5.0)}) == [1]


def test_averages_leave_out_numbers_and_figures_that_a_method_does_not_have():
    lines = [
        ["bank", "calibrated", "3 of 4", "2.0", "-", "0.9", "0.8", "1", "-", "0.1", "0.2"],
        ["compas", "calibrated", "2 of 4", "4.0", "-", "0.7", "0.8", "1", "-", "0.1", "0.4"],
        ["california", "calibrated", "4 of 4", "9.0", "-", "0.1", "0.8", "1", "-", "0.1", "0.2"],
    ]
    row = ["calibrated", "2", "5 of 8", "3.0", "-", "0.80", "0.80", "1.00", "-", "0.10", "0.300"]
    assert peers.average(lines) == [row]


@pytest.mark.slow
def test_rows_of_a_table_are_explained_and_written_to_a_page(tmp_path):
    outputs, held_outputs, held_labels = peers.prepare("breast cancer", tmp_path, 3)
    assert len(outputs) == 3
    assert len(held_outputs) == len(held_labels) == len(np.load(tmp_path / "held.npy"))
    assert json.loads((tmp_path / "meta.json").read_text())["pi"] == 0.9
    explainer = Suffice(load(tmp_path))
    explainer.fit(0)
    given = explainer.explain(0)
    line = ["breast cancer", "suffice", *peers.judge([[(given, 0.1)]], [0.1], outputs, held_outputs, held_labels)]
    page = peers.make_page([line], [{"table": "breast cancer", "output": 1.0, "answers": {"suffice": given["text"]}}])
    assert "| breast cancer | suffice | 1 of 1 |" in page
    assert "## breast cancer, forest: 1\n\n- suffice: IF " in page
