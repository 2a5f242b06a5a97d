"""The page of the experiments: tables and costs."""

import dataclasses
import math
from pathlib import Path

import pytest
from experiments.__main__ import EXPERIMENTS
from experiments.cost import gather
from experiments.page import HEAD, format_figure, make_page, write_page
from experiments.runs import Experiment, Line, Outcome, Plan, run_experiment, summarise
from matplotlib.figure import Figure
from toy_experiment import FIGURES, MADE, toy

ROOT = Path(__file__).parents[2]


def test_the_page_sets_figures_beside_the_papers():
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
    assert "| ours | share | 0.60 ± 0.14 | 0.5 |" in page
    assert "| ours | 2.000 ± 0.000 |\n| theirs | 1.500 ± 0.000 |" in page
    assert "goal" not in page.lower()
    assert "> IF x > 1 THEN y" in page
    assert "Note: 10 rows only." in page
    assert "Read with care." in page
    assert "Made on 2026-01-01, 2 cores, Python 3.11.7, suffice 0.1.0." in page


def lines_of_page(lines, figures, **summary):
    experiment = Experiment("toy", "A toy", "Nothing is done.", lines, None)
    outcome = {"figures": figures, "seconds": {}, "notes": [], "data": {}, "wall_seconds": 1.0, "made": MADE}
    page = make_page([experiment], {"toy": {**summarise(experiment, Plan("full"), [outcome]), **summary}})
    return [line for line in page.split("## Cost")[0].splitlines() if line.startswith("|")]


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
        "| method | figure | here | paper |", "| --- | --- | --- | --- |",
        "| a | x | 0 | 5 |", "| d | own | 5 |  |",
    ]  # fmt: skip
    lines = [Line(method, label, f"{method} {label}", digits=0) for method in "ab" for label in "xyz"]
    figures = {line.key: float(i) for i, line in enumerate(lines)}
    assert lines_of_page(lines, figures) == [
        "|  | a | b |", "| --- | --- | --- |", "| x | 0 | 3 |", "| y | 1 | 4 |", "| z | 2 | 5 |"
    ]  # fmt: skip


def test_a_figure_that_could_not_be_measured_is_none():
    lines = [Line("a", "x", "a x", "5"), Line("a", "y", "a y")]
    assert lines_of_page(lines, {"a x": math.nan, "a y": 1.0})[2:] == [
        "| a | x | none | 5 |",
        "| a | y | 1.000 |  |",
    ]


@pytest.mark.parametrize("need", ["peers", "full"])
def test_a_line_is_left_out_where_its_figure_cannot_be_had(need):
    partial = {"peers": {"peers": "left out on request"}, "full": {"scale": "quick"}}
    lines = [Line("a", "x", "a x", "5"), Line("b", "y", "b y", needs=(need,))]
    assert lines_of_page(lines, {"a x": 1.0}, **partial[need])[2:] == ["| a | x | 1.000 | 5 |"]
    with pytest.raises(ValueError, match="shows the figure 'b y', which the run does not have"):
        lines_of_page(lines, {"a x": 1.0})


def test_a_misspelt_key_of_a_figure_is_an_error():
    """The line was silently left out of the page."""
    message = r"Experiment 'toy': the line 'ours', 'size' shows the figure 'sise', which .* Did you mean 'size'\?"
    for partial in ({}, {"scale": "tiny"}, {"peers": "left out on request"}):
        with pytest.raises(ValueError, match=message):
            lines_of_page([Line("ours", "size", "sise")], {"size": 1.0}, **partial)


def test_a_misspelt_key_of_a_goal_is_an_error():
    lines = [Line("ours", "size", "size", goal=("<=", "their sise")), Line("theirs", "size", "their size")]
    with pytest.raises(
        ValueError, match=r"the goal of 'size' compares with 'their sise', .* Did you mean 'their size'"
    ):
        lines_of_page(lines, {"size": 1.0, "their size": 1.0})


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


def test_an_experiment_that_is_not_run_again_keeps_its_part_of_the_page():
    outcome = {"figures": FIGURES, "seconds": {"ours": 0.004}, "notes": [], "data": {}, "wall_seconds": 1.0}
    second = dataclasses.replace(toy(None), name="second", title="A second toy")
    both = [toy(None), second]

    def summary_of(experiment, date):
        return summarise(experiment, Plan("full"), [{**outcome, "made": {**MADE, "date": date}}])

    old = {e.name: summary_of(e, "2026-01-01") for e in both}
    page = make_page(both, old)
    new = {"second": summary_of(second, "2026-02-03")}
    assert make_page(both, new, before=page) == page.replace("2026-01-01", "2026-01-01 to 2026-02-03")
    later = dataclasses.replace(second, setting="Done in another way.")
    rewritten = make_page([toy(None), later], new, before=page)
    assert rewritten.count("Done in another way.") == 1
    assert rewritten.count("Nothing is done.") == page.count("Nothing is done.") - 1
    assert "Not run yet." in make_page(both, new)
    assert "2026-01-01" not in make_page([second], new, before=page)


def test_the_page_states_the_dates_of_its_figures():
    outcome = {"figures": FIGURES, "seconds": {}, "notes": [], "data": {}, "wall_seconds": 1.0}
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
    summary = summarise(toy(None), Plan("full"), [{"figures": FIGURES, "seconds": {}, "notes": [], "data": {},
                                                   "wall_seconds": 1.0, "made": MADE}])  # fmt: skip
    page = make_page([toy(None)], {"toy": {**summary, "seconds": {"suffice": seconds}}})
    assert "| `toy` | suffice | 500 |" in page
    assert [row["method"] for row in gather({"toy": {"seconds": {"suffice": seconds}}})] == ["suffice"]


def test_the_committed_page_names_every_experiment():
    page = (ROOT / "docs" / "reproduce.md").read_text()
    assert [e.title for e in EXPERIMENTS if f"## {e.title}\n" not in page] == []
    assert page.startswith(HEAD)
    assert [e.name for e in EXPERIMENTS if e.setting not in page or e.reading not in page] == []


def test_the_committed_page_has_the_lines_of_the_default():
    page = (ROOT / "docs" / "reproduce.md").read_text()
    methods = {line.method for e in EXPERIMENTS for line in e.lines if "by default" in line.method}
    assert len(methods) == 1 + 1 + 2 * 3 + 2 + 2 * 3
    assert [method for method in methods if f"| {method} |" not in page] == []
