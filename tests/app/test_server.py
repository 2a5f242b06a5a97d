import re
import subprocess
import sys
from urllib.error import HTTPError
from urllib.request import HTTPCookieProcessor, build_opener, urlopen

import pytest

from suffice.app.server import make_app
from suffice.app.state.sessions import Sessions


def test_the_page_names_no_other_host(mixed):
    app = make_app(Sessions(mixed))
    client = app.server.test_client()
    page = client.get(
        f"/?token={app.server.config['TOKEN']}", headers={"Host": "127.0.0.1"}, follow_redirects=True
    ).text
    assert "suffice" in page
    assert re.findall(r"""(?:src|href)="(?:https?:)?//""", page) == []


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
