"""Files that are written completely or not at all."""

from __future__ import annotations

import os
import stat
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


def test_what_a_killed_process_left_is_removed_a_day_later(tmp_path):
    """A hidden file of the size of the model stayed for each kill."""
    others = [".m-20240101.csv", ".other-0123456789abcdef.unfinished.csv", ".m-0123456789abcdef.unfinished.txt"]
    young, old = ".m-0123456789abcdef.unfinished.csv", ".m-fedcba9876543210.unfinished.csv"
    for name in (*others, young, old):
        (tmp_path / name).write_bytes(b"half")
    for name in (*others, old):
        os.utime(tmp_path / name, (time.time() - 90_000, time.time() - 90_000))
    with replacing(tmp_path / "m.csv") as written:
        written.write_bytes(b"whole")
    assert sorted(one.name for one in tmp_path.iterdir()) == sorted([*others, young, "m.csv"])


@pytest.mark.parametrize("name", ["x" * 246 + ".csv", "é" * 120 + ".csv", "x." + "y" * 248])
def test_a_file_may_have_a_name_of_any_length_that_the_system_takes(name, tmp_path):
    with replacing(tmp_path / name) as written:
        written.write_bytes(b"whole")
    assert [one.name for one in tmp_path.iterdir()] == [name]
    assert short_name("short.csv") == "short.csv"
    assert short_name(name) != short_name(f"{name}2")
    assert len(short_name(name).encode()) <= 100
