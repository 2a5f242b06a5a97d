"""Files that are written completely or not at all."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time

import pytest

from suffice._io.writing import replacing, short_name, write_text


def test_a_file_that_cannot_be_finished_leaves_what_was_there(tmp_path):
    path = tmp_path / "m.csv"
    path.write_bytes(b"before")
    with pytest.raises(KeyboardInterrupt), replacing(path) as written:  # noqa: PT012
        written.write_bytes(b"half")
        raise KeyboardInterrupt
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_takes_its_place_when_it_is_whole(tmp_path):
    path = tmp_path / "m.csv"
    path.write_bytes(b"before")
    with replacing(path) as written:
        written.write_bytes(b"after")
        assert path.read_bytes() == b"before"
        assert written.suffix == ".csv"
    assert path.read_bytes() == b"after"
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_has_the_usual_rights(tmp_path):
    (tmp_path / "plain").write_bytes(b"")
    with replacing(tmp_path / "m") as written:
        written.write_bytes(b"whole")
    assert stat.S_IMODE(os.stat(tmp_path / "m").st_mode) == stat.S_IMODE(os.stat(tmp_path / "plain").st_mode)


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").write_bytes(b"before")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with replacing(tmp_path / "link") as written:
        written.write_bytes(b"after")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"after"


def test_a_device_is_written_to_as_it_is():
    # A new terminal, because an error here would replace /dev/null of the machine if the tests run as root.
    ours, theirs = os.openpty()
    try:
        device = os.ttyname(theirs)
        with replacing(device) as written:
            assert str(written) == device
            written.write_bytes(b"something")
        assert not os.path.isfile(device)
        assert os.read(ours, 100) == b"something"
    finally:
        os.close(ours)
        os.close(theirs)


def test_a_text_is_written_whole_with_its_line_ends(tmp_path):
    assert write_text(tmp_path / "a.html", "é\n\ud800\n") == tmp_path / "a.html"
    assert (tmp_path / "a.html").read_bytes() == "é\n&#55296;\n".encode()
    with pytest.raises(FileNotFoundError, match=r"The folder of 'a\.html' does not exist: '.*nowhere'"):
        write_text(tmp_path / "nowhere" / "a.html", "")


KILLED = """
import os, signal, sys
from suffice._io.writing import replacing
with replacing(sys.argv[1]) as written:
    written.write_bytes(b"half")
    if sys.argv[2] == "wait":
        print("writing", flush=True)
        sys.stdin.read()
    else:
        os.kill(os.getpid(), signal.SIGKILL)
"""


def write_in_process(path, how, **options):
    return subprocess.Popen([sys.executable, "-c", KILLED, str(path), how], **options)


def test_what_a_killed_process_left_is_removed_by_the_next_one(tmp_path):
    """A hidden file of the size of the model stayed for each kill."""
    path = tmp_path / "m.csv"
    others = [".m-20240101.csv", ".other-0123456789abcdef.unfinished.csv", ".m-0123456789abcdef.unfinished.txt"]
    for name in others:
        (tmp_path / name).write_bytes(b"of the user")
    for n_left in (1, 1):  # each removes what the one before it left
        assert write_in_process(path, "kill").wait() == -signal.SIGKILL
        assert len(list(tmp_path.glob(".m-*.unfinished.csv"))) == n_left
    with replacing(path) as written:
        written.write_bytes(b"whole")
    assert sorted(one.name for one in tmp_path.iterdir()) == sorted([*others, "m.csv"])


def test_what_a_living_process_writes_stays(tmp_path):
    path = tmp_path / "m.csv"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with write_in_process(path, "wait", **pipes) as other:
        other.stdout.readline()
        with replacing(path) as written:
            written.write_bytes(b"ours")
        assert len(list(tmp_path.glob(".m-*.unfinished.csv"))) == 1
        assert path.read_bytes() == b"ours"
        other.communicate()
    assert other.returncode == 0
    assert path.read_bytes() == b"half"
    assert list(tmp_path.iterdir()) == [path]


def test_an_empty_file_that_may_be_about_to_be_locked_stays(tmp_path):
    begun = tmp_path / ".m-0123456789abcdef.unfinished"
    for age, stays in ((0, True), (3600, False)):
        begun.touch()
        os.utime(begun, (time.time() - age, time.time() - age))
        with replacing(tmp_path / "m") as written:
            written.write_bytes(b"whole")
        assert begun.exists() == stays


@pytest.mark.parametrize("name", ["x" * 246 + ".csv", "é" * 120 + ".csv", "x." + "y" * 248])
def test_a_file_may_have_a_name_of_any_length_that_the_system_takes(name, tmp_path):
    with replacing(tmp_path / name) as written:
        written.write_bytes(b"whole")
    assert [one.name for one in tmp_path.iterdir()] == [name]
    assert short_name("short.csv") == "short.csv"
    assert short_name(name) != short_name(f"{name}2")
    assert len(short_name(name).encode()) <= 100
