"""The check of the built site: dead links and foreign assets are found, and nothing else is."""

from __future__ import annotations

import pytest
from docs.check_site import find_problems

GOOD = '<a href="b.html#part">b</a> <a href="https://example.org">elsewhere</a> <img src="x.png"> <h1 id="top">A</h1>'


@pytest.fixture
def site(tmp_path):
    (tmp_path / "a.html").write_text(GOOD)
    (tmp_path / "b.html").write_text('<h2 id="part">B</h2> <a href="a.html?page=1#top">a</a> <a href="#part">here</a>')
    (tmp_path / "x.png").write_bytes(b"")
    (tmp_path / "site.css").write_text("h1 { background: url('x.png') }")
    return tmp_path


def test_a_good_site_has_no_problems(site):
    assert find_problems(site) == []


@pytest.mark.parametrize(
    ("tag", "problem"),
    [
        ('<a href="c.html">c</a>', "a.html links to c.html"),
        ('<a href="b.html#other">b</a>', "a.html links to b.html#other"),
        ('<img src="y.png">', "a.html links to y.png"),
        ('<script src="https://cdn.example/x.js"></script>', "a.html loads https://cdn.example/x.js"),
        ('<link href="//fonts.example/x.css">', "a.html loads //fonts.example/x.css"),
        ("<style>@import 'https://x.example/y.css';</style>", "a.html loads https://x.example/y.css"),
    ],
)
def test_dead_links_and_foreign_assets_of_a_page_are_found(site, tag, problem):
    (site / "a.html").write_text(GOOD + tag)
    assert find_problems(site) == [problem]


def test_foreign_assets_of_a_style_sheet_are_found(site):
    (site / "site.css").write_text("@font-face { src: url(https://fonts.example/x.woff2) }")
    assert find_problems(site) == ["site.css loads https://fonts.example/x.woff2"]
