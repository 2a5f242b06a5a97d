import re
import subprocess
import sys
from urllib.error import HTTPError
from urllib.request import HTTPCookieProcessor, build_opener, urlopen

import pytest
from app_client import all_text

from suffice.app.server import _page, make_app
from suffice.app.state.sessions import PendingTables, Sessions
from suffice.app.state.view import View


def test_the_page_names_no_other_host(mixed):
    app = make_app(Sessions(mixed))
    client = app.server.test_client()
    page = client.get(
        f"/?token={app.server.config['TOKEN']}", headers={"Host": "127.0.0.1"}, follow_redirects=True
    ).text
    assert "suffice" in page
    assert re.findall(r"""(?:src|href)="(?:https?:)?//""", page) == []


@pytest.mark.parametrize(("search", "row"), [("", None), ("?tab=row", None), ("?row=0", 0), ("?tab=row&row=5", 5)])
def test_a_link_without_a_row_leads_to_the_first_one_of_the_focus_class(mixed, search, row):
    assert mixed.first_row not in (0, 5)
    page = _page(Sessions(mixed), PendingTables(), "/", search)
    assert page[-2].data["row"] == (mixed.first_row if row is None else row)


def test_a_link_whose_data_are_gone_leads_to_the_first_page(mixed):
    page = _page(Sessions(mixed), PendingTables(), "/", "?data=0123456789abcdef")
    assert "no longer here: open the table again." in all_text(page)
    assert "no longer here" not in all_text(_page(Sessions(mixed), PendingTables(), "/start", ""))


def test_the_first_row_keeps_its_link(mixed):
    """Row 0 was left out of links."""
    assert View.from_search(View(row=0, pi=0.8).to_search()) == View(row=0, pi=0.8)
    assert "row=0" in View().to_search()


def test_without_its_packages_the_app_names_its_extra():
    code = "import sys; sys.modules['dash'] = None\nimport suffice.app.server"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip().endswith("ImportError: The web app needs its extra: pip install 'suffice[app]'.")


def test_an_explainer_shows_itself(mixed):
    address = mixed.explainer.app(mixed.frame, port=0)
    browser = build_opener(HTTPCookieProcessor())
    assert b"suffice" in browser.open(address).read()
    with pytest.raises(HTTPError, match="403"):
        urlopen(address.partition("?")[0])
