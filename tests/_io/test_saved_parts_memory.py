"""The content of saved files: what it may take in memory is bounded before it is taken."""

from __future__ import annotations

import re
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from forged_files import count_draws, forge, honest, put_together, take_apart

from suffice import SufficientExplainer
from suffice._io.saved import from_bytes, load_explainer
from suffice._io.saved_parts import LIMIT_VARIABLE, Memory, read_names
from suffice.explainer import SufficientExplainer as Explainer

TESTS = Path(__file__).parents[1]


def draw_often(header, arrays, n=2**27):
    count_draws(arrays)
    arrays["n_drawn"] = arrays["n_drawn"].astype("<u4")
    arrays["n_drawn"][0, 0] = n


def name_categories(header):
    [column] = [one for one in header["columns"] if one["name"] == "weather"]
    column["labels"] = [[letter * 10**6] for letter in "abc"]
    return header


def repeat_rows(header, arrays, n=10):
    count_draws(arrays)
    for name in ("X", "y_rank", "out_of_bag"):
        arrays[name] = np.concatenate([arrays[name]] * n)
    arrays["n_drawn"] = np.tile(arrays["n_drawn"], n)
    arrays["n_rows"] *= n


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (draw_often, "rows of the trees"),
        (lambda header, arrays: draw_often(header, arrays, 2**32 - 1), "rows of the trees"),
        (lambda header, arrays: arrays["n_counted"].fill(2**32 - 1), "rows of the trees"),
        (lambda header, arrays: header.update(classes=["a" * 10**7, "b"], classes_type="<U10000000"), "the classes"),
        (lambda header, arrays: repeat_rows(name_categories(header), arrays), "the categories of 'weather'"),
    ],
    ids=["2^27 rows", "2^32 rows", "long lists", "long classes", "long categories"],
)
def test_small_files_do_not_make_gigabytes(change, kind):
    """A file of 8,858 bytes whose tree drew a row 2^27 times took 2.2 GB.

    A class or a category with a long name is repeated in every row that is explained or shown.
    """
    content = forge(change)
    assert len(content) < 11 * 10**6
    with pytest.raises(ValueError, match=rf"not a valid suffice file: it would take .* for (the )?{kind}"):
        from_bytes(content)


@pytest.mark.parametrize("width", [20_000_000, 200_000_000])
def test_a_type_of_long_strings_takes_no_more_than_its_labels(width):
    """The type `<U200000000` took more memory than there is; each row that was explained had a label of this type."""
    explainer = from_bytes(forge(lambda header, arrays: header.update(classes_type=f"<U{width}")))
    assert explainer.classes_.tolist() == ["early", "late"]
    assert explainer.classes_.itemsize == 20


def test_labels_of_rows_that_are_set_aside_count():
    """So that a file with few labels and many such rows is refused before it takes gigabytes."""
    number, header, arrays = take_apart(honest())
    arrays["set_aside_X"] = np.concatenate([arrays["X"]] * 100)
    arrays["set_aside_y"] = np.zeros(len(arrays["set_aside_X"]))
    assert from_bytes(put_together(number, header, arrays)).fitted_.set_aside.outcomes[0] == "early"
    header.update(classes=["a" * 10**5, "b"], classes_type="<U100000")
    with pytest.raises(ValueError, match="for the classes of the set-aside rows"):
        from_bytes(put_together(number, header, arrays))


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


@pytest.mark.slow
def test_the_largest_accepted_file_takes_little_more_than_the_limit():
    """The limit is an estimate: a process with twice the memory loads whatever it lets pass."""
    code = f"""
import resource
from forged_files import forge, honest
from test_saved_parts_memory import draw_often
from suffice._io.saved import from_bytes
from_bytes(honest()).predict([[1, 1.0, "rain", True]])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    from_bytes(forge(lambda header, arrays: draw_often(header, arrays, {13 * 10**6})))
except ValueError as error:
    assert "do not fall into" in str(error), error
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
        ({"X": {"shape": [2.0, 4]}}, "invalid integer in header: 2.0"),
        ({"X": {"shape": [-1, 4]}}, "invalid integer in header: -1"),
        ({"X": {"offset": -4}}, "invalid integer in header: -4"),
        ({"X": {"offset": True}}, "invalid integer in header: True"),
        ({"X": {"type": "<f8"}}, "array 'X' has type '<f8'"),
        ({"y_rank": {"shape": [3]}}, "array 'y_rank' has shape [3]"),
    ],
)
def test_arrays_lie_inside_the_file(entries, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        from_bytes(forge(lambda header, arrays: None, entries=entries))


def test_a_header_longer_than_the_file_is_refused():
    import hashlib

    from suffice._io.saved import N_DIGEST, PREFIX

    content = honest()
    mark, number, _ = PREFIX.unpack_from(content)
    body = PREFIX.pack(mark, number, 2**63) + content[PREFIX.size : -N_DIGEST]
    with pytest.raises(ValueError, match="its header cannot be read"):
        from_bytes(body + hashlib.sha256(body).digest())


def test_names_differ():
    assert read_names(["a", "b"], "column") == ("a", "b")
    for names in (["a", "a"], [], "ab", ["a", 1], {"a": 1}):
        with pytest.raises(ValueError, match="invalid column names"):
            read_names(names, "column")


def test_a_file_that_is_put_together_again_is_the_same():
    number, header, arrays = take_apart(honest())
    X = from_bytes(put_together(number, header, arrays)).fitted_.forest.X
    np.testing.assert_array_equal(X, from_bytes(honest()).fitted_.forest.X)
