"""Files that are written completely or not at all."""

from __future__ import annotations

import os
import stat

import pytest

from suffice._io.writing import replacing, write_text


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
