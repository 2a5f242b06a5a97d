"""Certificates as values: figures, sentences, verdicts and JSON."""

from __future__ import annotations

import json

import pytest

from suffice.explaining.certificate import Certificate, make_certificates


def certificate(n_rows=412, n_kept=396, is_set_aside=True, **options):
    settings = {"level": 0.9, "confidence": 0.95, "adjustment": None, **options}
    return make_certificates([n_rows], [n_kept], is_set_aside=is_set_aside, **settings)[0]


def test_the_sentence_of_rows_set_aside():
    expected = "checked on 412 rows that were set aside: right in 96 %, at least 94 % (95 % confidence)"
    assert str(certificate()) == certificate().sentence == expected


def test_the_sentence_of_fresh_rows():
    assert certificate(1, 1, False).sentence == "checked on 1 fresh row: right in 100 %, at least 5 % (95 % confidence)"
    text = certificate(1000, 999, False, confidence=0.999).sentence
    assert text == "checked on 1,000 fresh rows: right in 99 %, at least 99 % (99.9 % confidence)"
    assert "on 1 row that was set aside" in certificate(1, 1).sentence


def test_a_rule_that_covers_no_row_says_so():
    assert certificate(0, 0).sentence == "not checked: it covers none of the rows that were set aside"
    assert certificate(0, 0, False).sentence == "not checked: it covers none of the fresh rows"
    assert certificate(0, 0).share is None
    assert certificate(0, 0).verdict == "undecided"


def test_bounds_are_rounded_down():
    """The bound of 300 right of 310 is 0.9460, of 94 of 100 it is 0.8854: neither reaches the next per cent."""
    assert "at least 94 %" in certificate(310, 300).sentence
    assert "at least 88 %" in certificate(100, 94).sentence


@pytest.mark.parametrize(
    ("n_rows", "n_kept", "verdict"),
    [(28, 28, "undecided"), (29, 29, "holds"), (200, 188, "holds"), (200, 187, "undecided"), (40, 31, "does not hold")],
)
def test_verdicts(n_rows, n_kept, verdict):
    checked = certificate(n_rows, n_kept)
    assert checked.verdict == verdict
    assert checked.is_certified == (checked.lower >= 0.9)


def test_rules_are_adjusted_together_if_they_can_be_certified():
    rows, kept = [100, 46, 5, 300], [97, 45, 5, 290]
    alone = make_certificates(rows, kept, level=0.9, confidence=0.95, adjustment=None, is_set_aside=False)
    holm = make_certificates(rows, kept, level=0.9, confidence=0.95, adjustment="holm", is_set_aside=False)
    assert [c.n_rules for c in alone] == [1] * 4
    assert [c.n_rules for c in holm] == [3] * 4  # five rows can never be enough
    assert [c.is_certified for c in alone] == [True, True, False, True]
    assert [c.is_certified for c in holm] == [True, True, False, True]
    assert holm[3].p_adjusted == pytest.approx(3 * alone[3].p_value)
    assert holm[0].lower == alone[0].lower
    assert holm[0].decision == "certified at 90 % among 3 rules (Holm)"
    assert alone[2].decision == "not certified at 90 %"


def test_json_and_back():
    checked = certificate(adjustment="benjamini-hochberg")
    values = json.loads(json.dumps(checked.to_dict()))
    assert Certificate.from_dict(values) == checked
    assert values["lower"] == checked.lower
    assert values["is_certified"] is True
    with pytest.raises(ValueError, match="not the fields of a certificate: missing \\['n_kept'\\]"):
        Certificate.from_dict({name: value for name, value in values.items() if name != "n_kept"})


def test_figures_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="`n_kept` must be from 0 to `n_rows`, got 3 of 2"):
        Certificate(2, 3, 0.9, 0.95, 1.0, 1.0)
    with pytest.raises(ValueError, match="`level` must be in \\(0, 1\\]"):
        certificate(level=1.2)
    with pytest.raises(ValueError, match="`confidence` must be in \\(0, 1\\)"):
        certificate(confidence=1.0)
    with pytest.raises(ValueError, match="`adjust` must be"):
        certificate(adjustment="sidak")
