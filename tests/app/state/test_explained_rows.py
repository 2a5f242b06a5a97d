from suffice.app.state.explained_rows import ExplainedRows, explain_rows, join_explanations
from suffice.app.state.jobs import Job
from suffice.app.state.view import View


def test_rows_explained_a_few_at_a_time_are_explained_as_at_once(mixed):
    rows = mixed.frame[:60].select(mixed.names)
    explanations = explain_rows(mixed, View(pi=0.8), rows, None, Job("", 60))
    assert explanations.to_dict() == mixed.explainer_for(View(pi=0.8)).explain(rows).to_dict()
    assert explanations.mean_importance() == mixed.explainer_for(View(pi=0.8)).explain(rows).mean_importance()
    assert join_explanations([explanations]).to_dict() == explanations.to_dict()
