"""Pieces of HTML: what is escaped, and what is drawn."""

from __future__ import annotations

import pytest

from suffice._show.cards import Html, bar, bars, element, facts, joined, percent, read_template
from suffice._show.picture import Share


def test_an_element_escapes_texts_and_attributes():
    made = element("span", "a", "<b>", element("i", "", "&"), title="\"'>")
    assert made == '<span class="a" title="&quot;&#x27;&gt;">&lt;b&gt;<i>&amp;</i></span>'


def test_joined_pieces_are_escaped_unless_they_are_html():
    made = joined(["<a>", Html("<b>c</b>")], " & ")
    assert made == "&lt;a&gt; &amp; <b>c</b>"
    assert isinstance(made, Html)


@pytest.mark.parametrize(("share", "text"), [(-1.0, "0%"), (0.12345, "12.35%"), (1.0, "100%"), (7.0, "100%")])
def test_shares_are_cut_at_0_and_1(share, text):
    assert percent(share) == text


def test_a_bar_has_a_width_and_a_tick():
    made = bar(0.5, "plain", 0.9)
    assert 'class="fill plain" style="width:50%"' in made
    assert 'class="tick" style="left:90%"' in made
    assert "tick" not in bar(0.5)


def test_bars_and_facts_hold_their_texts():
    assert "and 3 more" in bars([Share("a <b>", 0.5, "0.50")], more="and 3 more")
    assert "a &lt;b&gt;" in bars([Share("a <b>", 0.5, "0.50")])
    assert facts([("key", "<value>")]).count("&lt;value&gt;") == 1


def test_templates_are_part_of_the_package():
    for name in ("card.css", "report.css", "report.html", "report.js"):
        assert read_template(name)
