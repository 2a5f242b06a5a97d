import re
import subprocess
import sys
from urllib.request import urlopen

import pytest

from suffice.app.server import HOST, bind, make_app
from suffice.app.state.desk import Desk


def test_the_server_listens_on_the_loopback_address_only(mixed):
    server = bind(make_app(Desk(mixed)), 0)
    assert server.server_address[0] == HOST == "127.0.0.1"
    with pytest.raises(ValueError, match="is taken"):
        bind(make_app(Desk(mixed)), server.port)
    server.server_close()


def test_other_hosts_and_pages_of_others_are_refused(mixed):
    client = make_app(Desk(mixed)).server.test_client()
    assert client.get("/", headers={"Host": "127.0.0.1:8050"}).status_code == 200
    assert client.get("/", headers={"Host": "localhost:8050"}).status_code == 200
    assert client.get("/", headers={"Host": "evil.example"}).status_code == 403
    assert client.get("/", headers={"Host": "127.0.0.1:8050", "Origin": "http://evil.example"}).status_code == 403
    policy = client.get("/", headers={"Host": "127.0.0.1"}).headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "http" not in policy


def test_the_page_names_no_other_host(mixed):
    page = make_app(Desk(mixed)).server.test_client().get("/", headers={"Host": "127.0.0.1"}).text
    assert re.findall(r"""(?:src|href)="(?:https?:)?//""", page) == []


def test_without_its_packages_the_app_names_its_extra():
    code = "import sys; sys.modules['dash'] = None\nimport suffice.app.server"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip().endswith("ImportError: The web app needs its extra: pip install 'suffice[app]'.")


def test_an_explainer_shows_itself(mixed):
    address = mixed.explainer.app(mixed.frame, port=0)
    assert b"suffice" in urlopen(address).read()
