"""``suffice app``: it serves the page on this computer alone, and refuses what it cannot open."""

from __future__ import annotations

import re
import subprocess
import sys
from urllib.error import HTTPError
from urllib.request import HTTPCookieProcessor, build_opener, urlopen

import pytest

from suffice._cli.main import run


@pytest.mark.slow
def test_the_command_serves_the_app(here):
    code = "import sys; from suffice._cli.main import main; main(sys.argv[1:])"
    command = [sys.executable, "-c", code, "app", "buys.suffice", "--port", "0", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            address = re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", process.stdout.readline())[0]
            assert b"suffice" in build_opener(HTTPCookieProcessor()).open(address).read()
            with pytest.raises(HTTPError, match="403"):
                urlopen(address.partition("?")[0])
        finally:
            process.terminate()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nothing.suffice", "There is no file 'nothing.suffice'."),
        ("shop.csv --target bys", "--target: there is no column 'bys' in shop.csv. Did you mean 'buys'?"),
        ("shop.csv new.csv", "'shop.csv' is not a saved explainer"),
        ("shop.csv --demo", "--demo"),
    ],
)
def test_what_cannot_be_opened_is_refused_in_one_sentence(here, capsys, line, message):
    assert run(["app", *line.split(), "--no-browser"]) == 2
    assert message in capsys.readouterr().err
