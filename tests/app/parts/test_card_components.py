import pytest
from app_client import HOSTILE, all_text, with_class

from suffice._show.cards import bar, bars, element
from suffice._show.picture import Share
from suffice.app.parts.markup import to_components


def test_pieces_of_html_become_components():
    [drawn] = to_components(element("div", "figure", "SDP", bar(0.25, "plain", tick=0.5)))
    assert drawn.className == "figure"
    assert drawn.children[0] == "SDP"
    [fill], [tick] = with_class(drawn, "fill"), with_class(drawn, "tick")
    assert fill.className == "fill plain"
    assert fill.style == {"width": "25%"}
    assert tick.style == {"left": "50%"}


def test_text_stays_text():
    components = to_components([element("p", "", HOSTILE), bars([Share("a & b", 0.5, "<0.5>")])])
    assert all_text(components) == f"{HOSTILE} a & b <0.5>"
    assert len(components) == 2


def test_names_of_styles_are_those_of_react():
    [drawn] = to_components(element("span", "", "x", style="margin-left:3px;width:2%", title="why"))
    assert drawn.style == {"marginLeft": "3px", "width": "2%"}
    assert drawn.title == "why"


def test_an_element_that_is_not_closed_is_refused():
    with pytest.raises(AssertionError, match="close what they open"):
        to_components("<div><span></div>")
