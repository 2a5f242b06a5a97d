"""The content of saved files: what it may take in memory is bounded before it is taken."""

from __future__ import annotations

import re
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from forged_files import forge, honest, put_together, take_apart

from suffice import SufficientExplainer
from suffice._io.saved import from_bytes, load_explainer
from suffice._io.saved_content import LIMIT_VARIABLE, Memory, read_strings
from suffice.explainer import SufficientExplainer as Explainer

TESTS = Path(__file__).parents[1]


def draw_often(header, arrays, n=2**27):
    arrays["n_drawn"] = arrays["n_drawn"].astype("<u4")
    arrays["n_drawn"][0, 0] = n


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (draw_often, "rows of its trees"),
        (lambda header, arrays: draw_often(header, arrays, 2**32 - 1), "rows of its trees"),
        (lambda header, arrays: header.update(classes_type="<U200000000"), "its classes"),
    ],
    ids=["2^27 rows", "2^32 rows", "long labels"],
)
def test_small_files_do_not_make_gigabytes(change, kind):
    """A file of 8,858 bytes whose tree drew a row 2^27 times took 2.2 GB; a type of long strings more than there is."""
    content = forge(change)
    assert len(content) < 20_000
    with pytest.raises(ValueError, match=rf"not a valid suffice file: it would take .* for the {kind}|for {kind}"):
        from_bytes(content)


def test_the_limit_is_an_argument_and_an_environment_variable(tmp_path, monkeypatch):
    path = tmp_path / "m.suffice"
    path.write_bytes(honest())
    assert isinstance(SufficientExplainer.load(path, max_bytes=10**6), Explainer)
    with pytest.raises(ValueError, match=r"the limit is 1,000\. If you trust the file, raise the limit: set SUFFICE_"):
        load_explainer(path, max_bytes=1000)
    monkeypatch.setenv(LIMIT_VARIABLE, "1K")
    with pytest.raises(ValueError, match="the limit is 1,024"):
        load_explainer(path)
    assert isinstance(load_explainer(path, max_bytes=10**6), Explainer)
    monkeypatch.setenv(LIMIT_VARIABLE, "much")
    with pytest.raises(ValueError, match=r"SUFFICE_MAX_BYTES must be a number of bytes, or .* got 'much'"):
        load_explainer(path)


def test_the_memory_of_a_file_grows_with_it():
    Memory(10**9).take(60 * 10**9, "a table")
    with pytest.raises(ValueError, match="for a table"):
        Memory(10**6).take(10**9, "a table")


def test_the_largest_accepted_file_takes_little_more_than_the_limit():
    """The limit is an estimate: a process with twice the memory loads whatever it lets pass."""
    code = f"""
import resource
from forged_files import forge, honest
from test_saved_content import draw_often
from suffice._io.saved import from_bytes
from_bytes(honest()).predict([[1, 1.0, "rain", True]])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    from_bytes(forge(lambda header, arrays: draw_often(header, arrays, {13 * 10**6})))
except ValueError as error:
    assert "do not fall into its leaves" in str(error), error
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": f"{TESTS}:{TESTS / '_io'}"},
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) * 1024 < 2 * 256 * 2**20
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > 0


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"X": {"shape": [2**62, 4]}}, "reaches beyond the end"),
        ({"X": {"shape": [2.0, 4]}}, "a number of it is 2.0"),
        ({"X": {"shape": [-1, 4]}}, "a number of it is -1"),
        ({"X": {"offset": -4}}, "a number of it is -4"),
        ({"X": {"offset": True}}, "a number of it is True"),
        ({"X": {"type": "<f8"}}, "the array 'X' has the type '<f8'"),
        ({"y_rank": {"shape": [3]}}, "the array 'y_rank' has the shape [3]"),
    ],
)
def test_arrays_lie_inside_the_file(entries, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        from_bytes(forge(lambda header, arrays: None, entries=entries))


def test_a_header_longer_than_the_file_is_refused():
    import hashlib

    from suffice._io.saved_content import N_DIGEST, PREFIX

    content = honest()
    mark, number, _ = PREFIX.unpack_from(content)
    body = PREFIX.pack(mark, number, 2**63) + content[PREFIX.size : -N_DIGEST]
    with pytest.raises(ValueError, match="its header cannot be read"):
        from_bytes(body + hashlib.sha256(body).digest())


def test_names_differ():
    assert read_strings(["a", "b"], "columns") == ("a", "b")
    for names in (["a", "a"], [], "ab", ["a", 1], {"a": 1}):
        with pytest.raises(ValueError, match="its columns have no proper names"):
            read_strings(names, "columns")


def test_a_file_that_is_put_together_again_is_the_same():
    number, header, arrays = take_apart(honest())
    X = from_bytes(put_together(number, header, arrays)).fitted_.forest.X
    np.testing.assert_array_equal(X, from_bytes(honest()).fitted_.forest.X)
