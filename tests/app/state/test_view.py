import json

import pytest

from suffice.app.state.view import View


@pytest.mark.parametrize(
    "view",
    [
        View(),
        View(row=3, tab="rules", data="ab12"),
        View(edits={"a b": 1.5, "x.y": None, "&=?": "é <b>", "n": "null", "t": True, "s": "12"}, find="hour > 17"),
        View(levels="odds", confidence=0.95),
        View(tab="quality", candidates=("hour", "a,b")),
        View(levels="same", confidence=0.0),
        View(pi=0.85, alpha=0.2, outcome="observed", unseen=True),
    ],
)
def test_a_link_gives_the_view_back(view):
    assert View.from_search(view.to_search()) == view
    assert View.from_store(json.loads(json.dumps(view.to_store()))) == view


@pytest.mark.parametrize(
    "search",
    [
        "?row=-1",
        "?row=x",
        "?row=1.5",
        "?pi=2",
        "?pi=NaN",
        "?alpha=0",
        "?tab=no",
        "?levels=any",
        "?confidence=1",
        "?data=../x",
        "?x.a=[1]",
        "?x.a=NaN",
        "?x.a=1e999",
        f"?x.a=1{'0' * 400}",
        f"?row=1{'0' * 5000}",
        "&&=",
        None,
        "?row=" + "[" * 50_000,
    ],
)
def test_a_broken_link_is_the_default_view(search):
    assert View.from_search(search) == View()
