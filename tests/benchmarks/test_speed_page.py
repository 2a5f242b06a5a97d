import sys

from benchmarks.speed_page import print_section, replaced, written_to

PAGE = "# Speed\n\nText.\n\n## Tables\n\n### Bank\n\nold\n\n### Bike\n\nstays\n\n## Limits\n\nend\n"


def test_a_section_is_replaced_up_to_the_next_heading():
    page = replaced(PAGE, "\n### Bank\n\nnew\n")
    assert page == PAGE.replace("old", "new")


def test_the_last_section_of_a_part_ends_at_the_next_part():
    assert replaced(PAGE, "### Bike\n\nnew\n") == PAGE.replace("stays", "new")


def test_a_new_section_comes_last():
    page = replaced(PAGE, "noise\n### Flights\n\nnew\n")
    assert page == PAGE + "\n### Flights\n\nnew\n"
    assert replaced(page, "### Flights\n\nnewer\n") == PAGE + "\n### Flights\n\nnewer\n"


def test_what_is_printed_is_written_and_shown(tmp_path, capsys):
    path = tmp_path / "speed.md"
    path.write_text(PAGE)
    with written_to(path):
        print_section("bank")
        sys.stdout.write("new\n")
    shown = capsys.readouterr().out
    assert shown.startswith("\n### Bank\n\n20")
    assert "cores" in shown
    assert path.read_text() == PAGE.replace("### Bank\n\nold", shown.strip())
    with written_to(None):
        print_section("bike")
    assert path.read_text().count("### Bike") == 1
