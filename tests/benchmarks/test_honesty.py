import pytest
from benchmarks.honesty import main
from printed_tables import headings_of_tables


def test_a_small_run_prints_every_table(capsys, monkeypatch):
    monkeypatch.delenv("SUFFICE_DATA", raising=False)
    main(["--quick"])
    text = capsys.readouterr().out
    assert headings_of_tables(text) == [
        "No signal",
        "Laws that are known",
        "Rules on held-out rows",
        "Rules by the number of training rows that they cover",
        "Intervals on held-out rows",
        "Permuted outcomes",
        "The rarest class",
        "Contested sets",
        "Forests",
    ]


def test_unknown_parts_are_refused(capsys):
    with pytest.raises(SystemExit):
        main(["laws", "lies"])
    assert "unknown part 'lies'; there are nulls, laws, tables, claims, forests" in capsys.readouterr().err
