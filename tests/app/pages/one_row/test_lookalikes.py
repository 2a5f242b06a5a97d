from suffice.app.pages.one_row.lookalikes import covered_rows, distances, look_alikes
from suffice.app.state.view import View


def test_similar_rows_are_near_and_have_another_outcome(mixed):
    view = View(row=7)
    explanation = mixed.explain(view)[0]
    matrix, outcomes, _ = mixed.training
    row = mixed.encoded(view)
    distance = distances(mixed, row, [0, 2])
    assert distance[7] == 0
    other_sky = matrix[:, 2] != row[2]
    assert (distance[other_sky] >= 0.5).all()
    lines, _ = look_alikes(mixed, row, explanation, [0, 1, 2, 3])
    assert {line["outcome"] for line in lines} == set(outcomes) - {explanation.outcome}
    assert [line["distance"] for line in lines] == sorted(line["distance"] for line in lines)
    rule = mixed.rule(view)
    lines, note = covered_rows(mixed, rule, explanation)
    assert len(lines) == rule.support
    assert note.startswith(f"{rule.support} rows")
