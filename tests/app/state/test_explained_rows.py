from suffice.app.state.explained_rows import ExplainedRows, explain_rows
from suffice.app.state.jobs import Job
from suffice.app.state.view import View


def test_rows_explained_a_few_at_a_time_are_explained_as_at_once(mixed):
    rows = mixed.frame[:60].select(mixed.names)
    explanations = explain_rows(mixed, View(pi=0.8), rows, None, Job("", 60))
    assert explanations.to_dict() == mixed.explainer_for(View(pi=0.8)).explain(rows).to_dict()
    assert explanations.mean_importance() == mixed.explainer_for(View(pi=0.8)).explain(rows).mean_importance()


def test_rows_are_grouped_by_their_best_set(mixed):
    rows = list(range(5, 45))
    explained = ExplainedRows(explain_rows(mixed, View(), mixed.frame[rows], None, Job("", 40)), rows)
    groups = explained.groups()
    assert sum(group["n"] for group in groups) == 40
    assert [group["n"] for group in groups] == sorted((group["n"] for group in groups), reverse=True)
    largest = groups[0]
    members = [
        (row, one)
        for row, one in zip(rows, explained.explanations, strict=True)
        if one.is_sufficient and list(one.best_set.variables) == largest["variables"]
    ]
    assert len(members) == largest["n"] > 8
    assert largest["rows"] == ", ".join(str(row) for row, _ in members[:8]) + ", …"
    for label in {one.outcome for _, one in members}:
        assert f"{label} ({sum(one.outcome == label for _, one in members)})" in largest["outcomes"]


def test_rows_without_a_sufficient_set_are_one_group(mixed):
    view = View(pi=1.0, n_candidates=1)
    rows = list(range(20))
    explained = ExplainedRows(explain_rows(mixed, view, mixed.frame[rows], None, Job("", 20)), rows)
    n_without = sum(not one.is_sufficient for one in explained.explanations)
    assert n_without > 0
    assert [g["n"] for g in explained.groups() if g["variables"] == ["(no sufficient set)"]] == [n_without]
