import pytest
from benchmarks.honesty import main


def test_a_small_run_prints_every_table(capsys, monkeypatch):
    monkeypatch.delenv("SUFFICE_DATA", raising=False)
    main(["--quick"])
    text = capsys.readouterr().out
    sections = text.split("\n## ")
    assert [section.splitlines()[0] for section in sections[1:]] == [
        "No signal",
        "Laws that are known",
        "Rules on held-out rows",
        "Rules by the number of training rows that they cover",
        "Intervals on held-out rows",
        "Permuted outcomes",
        "Rare classes",
        "Forests",
    ]
    for section in sections[1:]:
        lines = [line for line in section.splitlines() if line.startswith("|")]
        assert len(lines) > 2
        assert len({line.count("|") for line in lines}) == 1
        assert len({len(line) for line in lines}) == 1


def test_unknown_parts_are_refused(capsys):
    with pytest.raises(SystemExit):
        main(["laws", "lies"])
    assert "unknown part 'lies'; there are nulls, laws, tables, rare, forests" in capsys.readouterr().err
