"""What changes and reasons share."""

from __future__ import annotations

import json

from loans import loan_explainer, make_loans


def test_parts_of_answers_are_answers_of_the_same_kind():
    explainer, (X, _) = loan_explainer(), make_loans()
    codes = {name: (name, name) for name in X.columns}
    for answers in (explainer.what_if(X[:5], "good"), explainer.reasons(X[:5], codes=codes, adverse="bad")):
        part = answers[1:3]
        assert type(part) is type(answers)
        assert (len(answers), len(part)) == (5, 2)
        assert list(part) == [answers[1], answers[2]]
        assert {name: value for name, value in vars(part).items() if name != "answers"} == {
            name: value for name, value in vars(answers).items() if name != "answers"
        }
        assert len(json.loads(part.to_json(indent=1))["rows"]) == 2
