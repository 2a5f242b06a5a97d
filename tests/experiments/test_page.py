"""The pages of the experiments: claims with verdicts, tables, and a record that keeps what was not run again."""

import dataclasses
import json
from pathlib import Path

import pytest
from experiments.__main__ import EXPERIMENTS
from experiments.page import RECORD, format_figure, make_pages, merge, tables, varied, verdict, write_pages
from experiments.runs import Claim, Line, Outcome, Plan, run_experiment, summarise
from matplotlib.figure import Figure
from toy_experiment import FIGURES, MADE, toy

DOCS = Path(__file__).parents[2] / "docs"


def record_of(experiment, figures=FIGURES, **made):
    outcome = {"figures": figures, "seconds": {"ours": 0.004}, "notes": [], "data": {"sentences": ["IF x THEN y"]}}
    outcome |= {"wall_seconds": 60.0, "made": {**MADE, **made}}
    return merge({}, [experiment], {experiment.name: summarise(experiment, Plan("full"), [outcome])})


def table(lines, figures):
    return tables(lines, {key: [mean, None, 1, "0.1.0, 2026-01-01"] for key, mean in figures.items()})


def test_claims_stand_beside_the_papers_figures_with_a_verdict():
    outcomes = [
        {"figures": {**FIGURES, "share": share}, "seconds": {"ours": 0.004}, "notes": [], "wall_seconds": 30.0}
        | {"data": {"sentences": ["IF x > 1 THEN y"]}, "made": MADE}
        for share in (0.5, 0.7)
    ]
    record = merge({}, [toy(None)], {"toy": summarise(toy(None), Plan("full"), outcomes)})
    pages = make_pages([toy(None, reading="Read with care.")], record)
    assert set(pages) == {"reproduce.md", "evidence/reproduce-toy.md"}
    row = "| [toy](evidence/reproduce-toy.md) | share | 0.5 | 0.60 ± 0.14 | 2.00 ± 0.00 | equal / better |"
    assert row in pages["reproduce.md"].splitlines()
    page = pages["evidence/reproduce-toy.md"]
    assert "| ours | 0.60 ± 0.14 (0.5) | 2.000 ± 0.000 |\n| theirs |  | 1.500 ± 0.000 |" in page
    assert "> IF x > 1 THEN y" in page
    assert "Read with care." in page
    assert "Seeds: 2. Milliseconds for a row: ours 4." in page


@pytest.mark.parametrize(
    ("better", "paper", "mean", "spread", "words"),
    [
        (">=", "0.95", 0.97, 0.01, "better"),
        ("<=", "0.95", 0.97, 0.01, "worse"),
        (">=", "0.95", 0.93, 0.03, "equal"),
        (">=", "0.95", 0.9451, None, "equal"),
        (">=", "0.95", 0.9449, None, "worse"),
        ("==", "2", 2.004, None, "equal"),
        ("==", "2", 2.006, None, "differs"),
        ("<=", "2", 2.2, 0.01, "worse"),
        ("<=", "0", 0.04, 0.01, "worse"),
        ("<=", "0", 0.2, 0.3, "equal"),
        (">=", "0.95", None, None, "none"),
    ],
)
def test_a_figure_is_equal_within_its_spread_or_the_rounding_of_the_print(better, paper, mean, spread, words):
    claim = Claim("x", paper, "x", better=better, digits=2)
    assert claim.verdict(mean, spread) == words
    assert verdict(claim, {"x": [mean, spread, 1, ""]}) == words
    assert verdict(dataclasses.replace(claim, slip="why"), {}) == "cannot be right: why"
    assert verdict(claim, {}) == "not run"


def test_the_longer_side_of_a_table_goes_down_the_page_and_methods_with_other_figures_get_another():
    lines = [Line(method, label, f"{method} {label}", digits=0) for method in "ab" for label in "xyz"]
    lines.append(Line("c", "own", "c own", "7", 0))
    assert table(lines, {line.key: float(i) for i, line in enumerate(lines)}) == [
        "|  | a | b |", "| --- | --- | --- |", "| x | 0 | 3 |", "| y | 1 | 4 |", "| z | 2 | 5 |", "",
        "|  | own |", "| --- | --- |", "| c | 6 (7) |",
    ]  # fmt: skip


@pytest.mark.parametrize("need", ["peers", "full"])
def test_a_figure_that_a_run_cannot_have_is_left_out_and_another_missing_one_is_an_error(need):
    experiment = toy(None, claims=[])
    experiment = dataclasses.replace(experiment, lines=[*experiment.lines[:1], Line("b", "y", "b y", needs=(need,))])
    plan = {"peers": Plan("full", peers=False), "full": Plan("quick")}[need]
    outcome = {"figures": FIGURES, "seconds": {}, "notes": [], "data": {}, "wall_seconds": 1.0, "made": MADE}
    assert "b y" not in merge({}, [experiment], {"toy": summarise(experiment, plan, [outcome])})["toy"]["figures"]
    with pytest.raises(ValueError, match="shows the figure 'b y', which the run does not have"):
        merge({}, [experiment], {"toy": summarise(experiment, Plan("full"), [outcome])})


def test_a_misspelt_key_of_a_line_or_a_claim_is_an_error():
    """The line was silently left out of the page."""
    misspelt = dataclasses.replace(toy(None), lines=[Line("ours", "size", "sise")])
    with pytest.raises(ValueError, match=r"the line 'ours', 'size' shows the figure 'sise', .* Did you mean 'size'\?"):
        record_of(misspelt)
    with pytest.raises(ValueError, match="a claim compares 'sise', which the run does not have"):
        record_of(toy(None, claims=[Claim("size", "2", "sise")]))


def test_the_pages_are_written_with_their_pictures_and_their_record(tmp_path):
    def draw(summary):
        figure = Figure()
        figure.subplots()
        return figure

    experiment = toy(lambda plan, seed: Outcome({"share": 0.5, "size": 2.0}), draw=draw)
    run_experiment(experiment, Plan("tiny"), tmp_path / "results", lambda line: None)
    write_pages(tmp_path / "docs", [experiment], tmp_path / "results")
    evidence = tmp_path / "docs" / "evidence"
    assert "![A toy](reproduce-toy.png)" in (evidence / "reproduce-toy.md").read_text()
    assert (evidence / "reproduce-toy.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((tmp_path / "docs" / RECORD).read_text())["toy"]["figures"]["share"][:3] == [0.5, None, 1]


def test_figures_that_are_one_in_every_run_are_left_out():
    lines = [Line(method, label, f"{method} {label}") for method in "ab" for label in ("always", "once", "lower")]
    figures = {line.key: [1.0, 0.0, 2, ""] for line in lines}
    figures |= {"a once": [1.0, None, 1, ""], "b lower": [0.9, 0.0, 2, ""]}
    assert {line.label for line in varied(lines, figures)} == {"once", "lower"}


def test_figures_that_were_not_run_again_stay_with_their_version_and_date():
    experiment = toy(None)
    other = dataclasses.replace(experiment, name="other", title="Another")
    record = record_of(experiment) | {"other": record_of(other)["other"]}
    outcome = {"figures": {"share": 0.25, "size": 2.0}, "seconds": {}, "notes": [], "data": {}, "wall_seconds": 1.0}
    outcome["made"] = {**MADE, "date": "2026-02-03", "versions": {"suffice": "0.2.0"}}
    ours = summarise(experiment, Plan("full", peers=False), [outcome])
    merged = merge(record, [experiment, other], {"toy": ours})
    assert merged["toy"]["figures"] == {
        "share": [0.25, None, 1, "0.2.0, 2026-02-03"],
        "size": [2.0, None, 1, "0.2.0, 2026-02-03"],
        "their size": [1.5, None, 1, "0.1.0, 2026-01-01"],
    }
    assert merged["toy"]["minutes"] == 1.0  # of the whole run
    assert merged["toy"]["sentences"] == ["IF x THEN y"]
    assert merged["other"] == record["other"]
    pages = make_pages([experiment, other], merged)
    assert "Figures are of 0.2.0, 2026-02-03, unless" in pages["reproduce.md"]
    assert "Older figures: theirs (0.1.0, 2026-01-01)." in pages["evidence/reproduce-toy.md"]
    assert "All figures: 0.1.0, 2026-01-01." in pages["evidence/reproduce-other.md"]


def test_an_experiment_that_was_not_run_says_so():
    assert "Not run yet." in make_pages([toy(None)], {})["evidence/reproduce-toy.md"]


def test_the_second_paper_has_a_page_of_its_own():
    second = dataclasses.replace(toy(None), name="changes-toy")
    pages = make_pages([second], record_of(second))
    page = pages["evidence/reproduce-changes.md"]
    assert "| changes-toy | share | 0.5 |" in page
    assert "> IF x THEN y" not in page  # sentences are on the pages of the first paper alone
    assert "changes-toy" not in pages["reproduce.md"]


@pytest.mark.parametrize(
    ("mean", "spread", "text"), [(0.949, 0.011, "0.95 ± 0.01"), (3.0, None, "3.00"), (None, None, "none")]
)
def test_figures_are_written_with_their_spread(mean, spread, text):
    assert format_figure(mean, spread, 2) == text


def test_the_committed_pages_are_those_of_the_record_and_the_experiments():
    for name, text in make_pages(EXPERIMENTS, json.loads((DOCS / RECORD).read_text())).items():
        assert (DOCS / name).read_text() == text, name


def test_every_figure_of_the_paper_has_been_compared():
    record = json.loads((DOCS / RECORD).read_text())
    assert [c.key for e in EXPERIMENTS for c in e.claims if c.key not in record[e.name]["figures"]] == []
