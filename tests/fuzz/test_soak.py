"""The app under a few clients for half a minute; `make soak` has fifty, for ten minutes. And that the soak can fail."""

from __future__ import annotations

import random
import sys

import pytest

from fuzz import soak as soaking
from fuzz.soak import (
    EXPECTED,
    MAX_GROWTH,
    MAX_NEW_FILES,
    Client,
    KnownTable,
    Tally,
    blame_what_is_missing,
    describe,
    judge,
    soak,
)

SETS = [["hour 0.90"]] * soaking.N_LOOKED_AT
TABLE = KnownTable(b"", SETS, ["It is busy."] * soaking.N_LOOKED_AT, ["IF hour > 8"])


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the memory of the app is read from /proc")
def test_the_app_answers_some_clients_as_the_library_does():
    tally, figures = soak(0.4, 6)
    assert tally.wrong == [], describe(tally, figures)
    assert tally.counts["answers compared"] > 0
    assert tally.counts["uploads"] > 0


class Answers:
    """A caller that has all answers ready."""

    def __init__(self, **answers):
        self.__dict__ = {name: lambda *_, answer=answer: answer for name, answer in answers.items()}


def blamed(monkeypatch, action, **answers):
    """What a client says about an app with these answers."""
    monkeypatch.setattr(soaking, "MAX_CANCEL", 0.0)
    monkeypatch.setattr(soaking, "MAX_WORK", 0.0)  # each looks once, however slow the machine
    monkeypatch.setattr(soaking.time, "sleep", lambda seconds: None)
    client, tally = Client(0, 1, [TABLE], Tally()), Tally()
    client._caller, client._tally, client._draw = Answers(**answers), tally, random.Random(0)
    getattr(client, action)()
    assert sum(tally.counts.values())
    return "; ".join(tally.wrong)


FIT = {"upload": ("table", ""), "start_fit": "job", "explained": "It is busy."}
BAD = {"upload": (None, "is empty, NUL bytes, line 2: 3 fields, Parquet")}
RULES = {"start_rules": "job", "look_at_rules": (True, "")}


@pytest.mark.parametrize(
    ("action", "answers", "blame"),
    [
        ("look", {"sets": "hour 0.90", "explained": "It is busy."}, None),
        ("look", {"sets": "hour 0.90", "explained": "It is calm."}, "It is calm"),
        ("look", {"sets": "sky 0.90", "explained": "It is busy."}, "sky"),
        ("look", {"sets": "hour 0.91", "explained": "It is busy."}, "0.91"),
        ("look", {"sets": None, "explained": None}, "the first workspace is gone"),
        ("fit", {**FIT, "look_at_fit": (True, "ws", ""), "sets": "hour 0.90"}, None),
        ("fit", {**FIT, "look_at_fit": (True, "ws", ""), "sets": ""}, "instead of"),
        ("fit", {**FIT, "look_at_fit": (True, "", "has ended (signal 9)")}, None),
        ("fit", {**FIT, "look_at_fit": (True, "", "has ended (signal 6)")}, "signal 6"),
        ("fit", {**FIT, "look_at_fit": (False, "", "Fitting")}, "a fit ended with: Fitting"),
        ("fit", {"upload": (None, "Something is wrong")}, "an upload was refused"),
        ("fit_and_cancel", {**FIT, "look_at_fit": (True, "", "Cancelled.")}, None),
        ("fit_and_cancel", {**FIT, "look_at_fit": (False, "", "Fitting")}, "went on"),
        ("collect_rules", {**RULES, "rules": ["IF hour > 8"]}, None),
        ("collect_rules", {**RULES, "rules": []}, "instead of"),
        ("collect_rules", {**RULES, "look_at_rules": (True, "a KeyError"), "rules": ["IF hour > 8"]}, "a KeyError"),
        ("collect_rules", {**RULES, "look_at_rules": (False, "Finding"), "rules": []}, "rules ended with: Finding"),
        ("collect_rules", {**RULES, "look_at_rules": (True, "has ended (signal 9)")}, None),
        ("collect_rules", {**RULES, "look_at_rules": (True, "8 jobs are running already")}, None),
        ("cancel_stability", {"start_stability": "job", "cancel_stability": (True, "Cancelled.")}, None),
        ("cancel_stability", {"start_stability": "job", "cancel_stability": (False, "")}, "went on"),
        ("send_bad_file", BAD, None),
        ("send_bad_file", {"upload": ("table", "")}, ": "),
        ("send_bad_file", {"upload": (None, "Something is wrong")}, "Something is wrong"),
    ],
)
def test_a_wrong_answer_is_seen(monkeypatch, action, answers, blame):
    """A soak that cannot fail would say nothing."""
    wrong = blamed(monkeypatch, action, **answers)
    assert wrong == "" if blame is None else blame in wrong


@pytest.mark.parametrize(
    ("change", "blame"),
    [
        ({}, None),
        ({"largest": 2**28 + MAX_GROWTH}, None),
        ({"largest": 2**28 + MAX_GROWTH + 1}, "memory grew by 100 MiB"),
        ({"processes": 1}, "1 processes are left"),
        ({"new files": MAX_NEW_FILES + 1}, "files are open"),
    ],
)
def test_what_the_app_keeps_is_seen(change, blame):
    figures = {"warm": 2**28, "largest": 2**28, "end": 2**28, "peak": 2**28, "threads": 10, "processes": 0}
    tally = Tally()
    judge({**figures, "new files": 3, **change}, tally)
    assert tally.wrong == [] if blame is None else blame in tally.wrong[0]


def test_a_refused_list_of_rules_is_asked_for_again(monkeypatch):
    """Else fifty clients hardly ever see a list, and nothing is compared."""
    monkeypatch.setattr(soaking.time, "sleep", lambda seconds: None)
    looks = iter([(True, "8 jobs are running already"), (True, "")])
    client, tally = Client(0, 1, [TABLE], Tally()), Tally()
    client._caller, client._tally = Answers(start_rules="job", rules=["IF hour > 8"]), tally
    client._caller.look_at_rules = lambda job: next(looks)
    client.collect_rules()
    assert tally.counts["lists of rules compared"] == 1
    assert tally.wrong == []


@pytest.mark.parametrize("missing", [None, *EXPECTED])
def test_a_long_soak_without_some_kind_of_work_fails(missing):
    tally = Tally()
    tally.counts.update({what: 1 for what in EXPECTED if what != missing})
    blame_what_is_missing(tally)
    assert tally.wrong == ([] if missing is None else [f"0 {missing}"])


def test_an_error_of_a_client_is_seen():
    tally = Tally()
    Client(0, 1, [TABLE], tally).run(0.0)  # nobody listens on port 1
    assert "ConnectionRefusedError" in tally.wrong[0]
    assert "1 wrong answers or errors" in describe(tally, {})
