"""`suffice demo`."""

from __future__ import annotations

import os

import pytest
from shop import suffice_in


@pytest.mark.slow
def test_the_demo(tmp_path):
    done = suffice_in(tmp_path, "demo --report first.html")
    text = done.stdout.decode()
    assert done.returncode == 0, done.stderr.decode()
    assert "Breast cancer\n=" in text
    assert "Diabetes progression\n=" in text
    assert "Held-out row 17, observed: malignant" in text
    assert "Report, for a browser: first.html" in text
    assert sorted(os.listdir(tmp_path)) == ["first-2.html", "first.html"]
