import os
from pathlib import Path

import pytest


@pytest.fixture
def folder():
    """The folder of the published tables."""
    path = os.environ.get("SUFFICE_DATA")
    if not path:
        pytest.skip("SUFFICE_DATA is not set: give the folder of the published tables to test their loaders")
    return Path(path)
