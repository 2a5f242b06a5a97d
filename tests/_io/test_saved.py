"""Explainers in files: the same answers afterwards, and a clear error for every file that is not valid."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import threading
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from forged_files import count_draws, forge, honest, take_apart
from forged_files import table as forged_table
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier, RandomForestRegressor

from suffice import GlobalRulesClassifier, SufficientExplainer, _core
from suffice._io.saved import FORMAT, MARK, OLDEST, PREFIX, from_bytes, load_explainer, to_bytes

DATA = Path(__file__).parents[1] / "data"
RNG = np.random.default_rng(0)
N = 120
TABLE = pd.DataFrame(
    {
        "hour": RNG.integers(0, 24, N),
        "weather": pd.Categorical(RNG.choice(["clear", "mist", "rain"], N)),
        "temp": np.where(RNG.random(N) < 0.1, np.nan, RNG.normal(15, 8, N).round(1)),
        "workingday": RNG.random(N) < 0.7,
        "when": pd.date_range("2024-01-01", periods=N, freq="7h"),
        "street": RNG.choice([f"s{i}" for i in range(40)], N),
    }
)
RIDES = TABLE["hour"] * 10.0 + (TABLE["weather"] == "clear") * 50 + RNG.normal(size=N)
CLASSES = {
    "text": np.where(TABLE["hour"] > 12, "late", "early"),
    "numbers": np.where(TABLE["hour"] > 12, 7, -3),
    "booleans": (TABLE["hour"] > 12).to_numpy(),
    "fractions": np.where(TABLE["hour"] > 12, 0.5, 1.0),
}
FEW = {"n_estimators": 6, "random_state": 0}


def make(kind):
    options = {"dates": "parts", "n_jobs": 1}
    if kind == "numbers of a regression":
        return SufficientExplainer(RandomForestRegressor(**FEW), **options).fit(TABLE, RIDES.rename("rides"))
    if kind == "array":
        return SufficientExplainer(ExtraTreesClassifier(**FEW), n_jobs=1, counts="bootstrap").fit(
            TABLE[["hour", "temp"]].to_numpy(), CLASSES["text"]
        )
    if kind == "groups":
        groups = {"sky": ["weather", "temp"]}
        return SufficientExplainer(RandomForestClassifier(**FEW), groups=groups, **options).fit(TABLE, CLASSES["text"])
    return SufficientExplainer(RandomForestClassifier(**FEW), task="classification", **options).fit(
        TABLE, CLASSES[kind]
    )


pytestmark = [
    pytest.mark.filterwarnings("ignore::suffice.errors.RareCategoriesWarning"),
    pytest.mark.filterwarnings("ignore::suffice.errors.FidelityWarning"),
]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "explainer.suffice"
    make("text").save(path)
    return path


@pytest.mark.parametrize("kind", [*list(CLASSES)[:3], "numbers of a regression", "array", "groups"])
def test_a_saved_explainer_gives_the_same_answers(kind, tmp_path):
    explainer = make(kind)
    explainer.save(tmp_path / "explainer.suffice")
    loaded = SufficientExplainer.load(tmp_path / "explainer.suffice")
    X = TABLE[["hour", "temp"]].to_numpy() if kind == "array" else TABLE
    assert loaded.explain(X, rules="all").to_dict() == explainer.explain(X, rules="all").to_dict()
    assert [str(e) for e in loaded.explain(X[:20])] == [str(e) for e in explainer.explain(X[:20])]
    np.testing.assert_array_equal(loaded.predict(X), explainer.predict(X))
    np.testing.assert_array_equal(loaded.predict(X, [0]), explainer.predict(X, [0]))
    assert loaded.predict(X).dtype == explainer.predict(X).dtype
    if kind == "numbers of a regression":
        np.testing.assert_array_equal(loaded.interval(X), explainer.interval(X))
    else:
        np.testing.assert_array_equal(loaded.predict_proba(X), explainer.predict_proba(X))
        assert str(loaded.fidelity_by_class_) == str(explainer.fidelity_by_class_)  # nan is not nan
        assert loaded.classes_.dtype == explainer.classes_.dtype
    for name in ("task_", "task_reason_", "target_name_", "fidelity_", "variable_names_", "candidates_", "pi"):
        assert str(getattr(loaded, name)) == str(getattr(explainer, name))
    own = ("forest", "n_jobs", "random_state")
    params = {name: value for name, value in explainer.get_params(deep=False).items() if name not in own}
    assert {name: value for name, value in loaded.get_params(deep=False).items() if name not in own} == params
    assert str(loaded.describe()) == str(explainer.describe())


def test_a_loaded_explainer_is_saved_to_the_same_bytes(saved, tmp_path):
    load_explainer(saved).save(tmp_path / "again.suffice")
    assert (tmp_path / "again.suffice").read_bytes() == saved.read_bytes()


def test_a_loaded_explainer_takes_frames_and_refuses_what_the_saved_one_refuses(saved):
    loaded = load_explainer(saved)
    assert loaded.explain(TABLE[TABLE.columns[::-1]][:3])[0] == loaded.explain(TABLE[:3])[0]
    with pytest.raises(ValueError, match="Column 'weather' of `X` holds 'fog'"):
        loaded.explain(TABLE[:3].assign(weather="fog"))
    with pytest.raises(ValueError, match=r"missing \['hour'\]"):
        loaded.explain(TABLE.drop(columns="hour"))
    assert GlobalRulesClassifier.from_explanations(loaded.explain(TABLE)).rules_


def test_a_forest_that_cannot_take_missing_values_remembers_that(tmp_path):
    numbers = TABLE[["hour", "workingday"]]
    forest = RandomForestRegressor(**FEW, monotonic_cst=[1, 0])
    SufficientExplainer(forest).fit(numbers, RIDES).save(tmp_path / "m")
    loaded = load_explainer(tmp_path / "m")
    with pytest.raises(ValueError, match="this forest cannot take missing values"):
        loaded.explain(pd.DataFrame({"hour": [np.nan], "workingday": [True]}))


def test_only_the_fitted_explainer_of_a_model_is_saved(tmp_path):
    explainer = SufficientExplainer.for_model(lambda X: X["hour"] > 12, TABLE[["hour", "temp"]], random_state=0)
    explainer.save(tmp_path / "m")
    loaded = load_explainer(tmp_path / "m")
    assert not hasattr(loaded, "model_")
    of_forest, of_model = (e.explain(TABLE[["hour", "temp"]][:1])[0] for e in (loaded, explainer))
    assert of_forest.sufficient_sets == of_model.sufficient_sets
    assert of_forest.rules == of_model.rules
    # The model is not in the file, so the forest's own prediction is explained.
    assert (of_forest.source, of_model.source) == ("forest", "model")


def test_an_explainer_that_is_not_fitted_cannot_be_saved(tmp_path):
    with pytest.raises(ValueError, match="not fitted yet"):
        SufficientExplainer().save(tmp_path / "m")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("outcomes", ["classes", "numbers"])
@pytest.mark.parametrize("times_saved", [0, 1])
def test_a_file_of_the_third_format_answers_as_before(outcomes, times_saved, tmp_path):
    """Votes, probabilities given all variables, intervals and the order of categories were others until version 0.2."""
    loaded = load_explainer(DATA / f"format_3_{outcomes}.suffice")
    if times_saved:
        loaded.save(tmp_path / "again.suffice")
        loaded = load_explainer(tmp_path / "again.suffice")
    content = json.loads((DATA / "format_3.json").read_text())
    rows, expected = pd.DataFrame(content["rows"]), content[outcomes]
    explanations = loaded.explain(rows, check="rows")
    assert [[[list(S.variables), S.sdp] for S in e.sufficient_sets] for e in explanations] == expected["sets"]
    assert [e.sdp_of_all for e in explanations] == expected["of_all"]
    assert [e.interval and list(e.interval) for e in explanations] == expected["intervals"]
    assert [None if rule is None else rule.sentence for rule in explanations.rules] == expected["rules"]
    assert loaded.predict(rows).tolist() == expected["predictions"]


def test_a_file_that_keeps_some_of_the_training_rows_is_read():
    """Earlier versions wrote such files if `reference_rows` was set."""
    loaded = from_bytes(forge(lambda header, arrays: header["params"].update(reference_rows=40)))
    rows = forged_table()
    assert list(loaded.explain(rows)) == list(from_bytes(honest()).explain(rows))
    assert "reference_rows" not in loaded.get_params()


@pytest.mark.parametrize(
    ("outcomes", "counts"),
    [
        ("classes", "auto"),
        ("classes", "bootstrap"),
        ("classes", "all"),
        ("numbers", "out-of-bag"),
        ("numbers", "bootstrap"),
        ("numbers", "all"),
        ("noise", "auto"),
        ("noise", "bootstrap"),
        ("noise", "all"),
    ],
)
def test_counts_the_gate_and_the_errors_out_of_bag_are_saved(outcomes, counts, tmp_path):
    y = {"classes": CLASSES["text"], "numbers": RIDES, "noise": np.random.default_rng(1).normal(size=N)}[outcomes]
    table = TABLE[["hour", "temp", "workingday"]]
    explainer = SufficientExplainer(counts=counts, confidence=0.8, random_state=0, n_jobs=1).fit(table, y)
    explainer.save(tmp_path / "m")
    loaded = load_explainer(tmp_path / "m")
    assert (loaded.counts, loaded.confidence) == (counts, 0.8)
    is_honest = counts in ("auto", "out-of-bag")
    assert loaded.fitted_.counts == ("out-of-bag" if is_honest else counts)
    assert loaded.fitted_.has_signal is (outcomes != "noise" or not is_honest)
    if outcomes == "classes" or not is_honest:
        assert loaded.fitted_.errors is None
    else:
        saved, errors = explainer.fitted_.errors, loaded.fitted_.errors
        np.testing.assert_array_equal(errors.own, saved.own)
        np.testing.assert_array_equal(errors.near, saved.near)
        assert errors.least_spread == saved.least_spread
    assert list(loaded.explain(table[:20])) == list(explainer.explain(table[:20]))
    again = loaded.with_settings(alpha=0.3)
    assert list(again.explain(table[:9])) == list(explainer.with_settings(alpha=0.3).explain(table[:9]))


def test_the_shorter_way_to_state_the_counted_rows_is_saved_and_both_are_read():
    by_draws = forge(lambda header, arrays: count_draws(arrays))
    listed, drawn = from_bytes(honest()), from_bytes(by_draws)
    for of_list, of_draws in zip(listed.fitted_.estimator.trees, drawn.fitted_.estimator.trees, strict=True):
        assert of_list.rows.dtype == of_draws.rows.dtype
        assert of_list.rows.tolist() == of_draws.rows.tolist()
    assert to_bytes(drawn) == to_bytes(listed) == honest()
    assert take_apart(honest())[2]["counted"].nbytes < take_apart(by_draws)[2]["n_drawn"].nbytes
    assert "n_drawn" in take_apart(to_bytes(make("array")))[2]  # it counts as many rows as there are


# --- files that are not valid ----------------------------------------------------------------------------------------


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        make("array").save(tmp_path / "nowhere" / "m")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not a suffice file: save one with"),
        (b"PK\x03\x04" + b"\0" * 100, "is not a suffice file"),
        (MARK, "is not a suffice file"),
        (PREFIX.pack(MARK, OLDEST - 1, 2) + b"{}" + b"\0" * 32, "was written before version 0.2 of suffice (format 2)"),
        (PREFIX.pack(MARK, FORMAT + 1, 2) + b"{}" + b"\0" * 32, "was written by a later version of suffice (format 5"),
        (PREFIX.pack(MARK, FORMAT, 2) + b"{}" + b"\0" * 32, "is damaged: its content does not match its checksum."),
    ],
)
def test_another_file_is_refused(content, message, tmp_path):
    (tmp_path / "m").write_bytes(content)
    with pytest.raises(ValueError, match=re.escape(message)):
        load_explainer(tmp_path / "m")


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing"):
        load_explainer(tmp_path / "nothing")


def damaged(content, rng):
    """Bytes changed, cut out, put in or cut off at random places."""
    content = bytearray(content)
    at = int(rng.integers(len(content)))
    how = rng.integers(5)
    if how == 0:
        content[at] ^= 1 << int(rng.integers(8))
    elif how == 1:
        content[at : at + 50] = rng.bytes(50)
    elif how == 2:
        del content[at : at + int(rng.integers(1, 100))]
    elif how == 3:
        content[at:at] = rng.bytes(int(rng.integers(1, 100)))
    else:
        del content[at:]
    return bytes(content)


def changed(content, change):
    """A file whose header or scores were changed by `change(header, scores)`, with the right checksum."""
    _, number, length = PREFIX.unpack_from(content)
    header = json.loads(content[PREFIX.size : PREFIX.size + length])
    data = bytearray(content[PREFIX.size + length : -32])
    entry = header["arrays"]["own_errors"]
    begin, size = entry["offset"], 8 * entry["shape"][0]
    scores = np.frombuffer(bytes(data[begin : begin + size]), "<f8").copy()
    change(header, scores)
    data[begin : begin + size] = scores.tobytes()
    text = json.dumps(header).encode()
    body = PREFIX.pack(MARK, number, len(text)) + text + bytes(data)
    return body + hashlib.sha256(body).digest()


def set_at(array, i, value):
    array[i] = value


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda header, scores: set_at(scores, 3, np.nan), "the errors out of bag are not sorted"),
        (lambda header, scores: set_at(scores, -1, np.inf), "the errors out of bag are not sorted"),
        (lambda header, scores: set_at(scores, 0, 5e9), "the errors out of bag are not sorted"),
        (
            lambda header, scores: header["arrays"]["own_errors"].update(type="<f4"),
            "array 'own_errors' has type",
        ),
        (lambda header, scores: header["arrays"]["own_errors"].update(shape=[2, 3]), "has shape"),
        (lambda header, scores: header["arrays"]["near_errors"].update(shape=[3]), "has shape"),
        (lambda header, scores: header.update(counts="oob"), "invalid counts: 'oob'"),
        (lambda header, scores: header["params"].update(counts="oob"), "`counts` must be one of"),
    ],
)
def test_damaged_counts_and_scores_are_refused(change, message, tmp_path):
    path = tmp_path / "m"
    make("numbers of a regression").save(path)
    content = path.read_bytes()
    path.write_bytes(changed(content, lambda header, scores: None))
    load_explainer(path)
    path.write_bytes(changed(content, change))
    with pytest.raises(ValueError, match=f"is not a valid suffice file: .*{re.escape(message)}"):
        load_explainer(path)


def test_any_damage_raises_an_error(saved, tmp_path):
    content, rng = saved.read_bytes(), np.random.default_rng(0)
    path = tmp_path / "m"
    for _ in range(300):
        changed = damaged(content, rng)
        if changed == content:
            continue
        path.write_bytes(changed)
        with pytest.raises(
            ValueError, match=r"is (damaged|not a suffice file|not a valid suffice file)|a later version"
        ):
            load_explainer(path)


def forged(content, rng):
    """A file with something changed inside and the right checksum: what an attacker could send."""
    _, number, length = PREFIX.unpack_from(content)
    header, data = (
        json.loads(content[PREFIX.size : PREFIX.size + length]),
        bytearray(content[PREFIX.size + length : -32]),
    )
    if rng.random() < 0.5:  # numbers of the arrays
        for _ in range(int(rng.integers(1, 4))):
            name = rng.choice(list(header["arrays"]))
            entry = header["arrays"][name]
            kind = np.dtype(entry["type"])
            n_values = int(np.prod(entry["shape"]))
            value = rng.choice([0, 1, -1, 7, 2**31 - 1, 2**24, -(2**31), np.nan, np.inf, -np.inf, 1e300])
            with np.errstate(all="ignore"):
                new = np.array([value]).astype(kind).tobytes() if kind.kind == "f" else rng.bytes(kind.itemsize)
            at = entry["offset"] + int(rng.integers(n_values)) * kind.itemsize
            data[at : at + kind.itemsize] = new
    else:  # values of the header
        for _ in range(int(rng.integers(1, 3))):
            place = header
            while True:
                keys = list(place) if isinstance(place, dict) else range(len(place))
                key = keys[int(rng.integers(len(keys)))]
                if not isinstance(place[key], dict | list) or not place[key] or rng.random() < 0.2:
                    break
                place = place[key]
            odd = [None, -1, 0, 1, 10**9, 2**70, "", "x", [], {}, [[]], True, float("nan"), 0.5, ["a"], "<O8", "|V9"]
            place[key] = odd[int(rng.integers(len(odd)))]
            if isinstance(place, dict) and rng.random() < 0.2:
                del place[key]
    text = json.dumps(header).encode()
    body = PREFIX.pack(MARK, number, len(text)) + text + bytes(data)
    return body + hashlib.sha256(body).digest()


@pytest.mark.filterwarnings("ignore:X has feature names")
def test_a_forged_file_raises_an_error_or_gives_answers(saved, tmp_path):
    """Some changes leave a valid file, such as another name; then `explain` gives answers or a clear error."""
    content, rng = saved.read_bytes(), np.random.default_rng(1)
    path = tmp_path / "m"
    n_refused = 0
    for _ in range(300):
        path.write_bytes(forged(content, rng))
        refusals = []
        with suppress_into(refusals):
            explainer = load_explainer(path)
        n_refused += len(refusals)
        if refusals:
            assert "is not a valid suffice file" in refusals[0]
            continue
        with contextlib.suppress(TypeError, ValueError):
            list(explainer.explain(TABLE[:2]))
    assert 90 < n_refused < 285


@contextlib.contextmanager
def suppress_into(messages):
    try:
        yield
    except ValueError as error:
        messages.append(str(error))


def test_an_explainer_with_many_candidates_comes_back(tmp_path):
    wide = np.random.default_rng(0).normal(size=(60, 70))
    explainer = SufficientExplainer(n_candidates=128, max_size=1, random_state=0, counts="bootstrap")
    explainer.fit(wide, wide[:, 69] > 0)
    explainer.save(tmp_path / "wide.suffice")
    again = SufficientExplainer.load(tmp_path / "wide.suffice")
    assert len(again.candidates_) > 64
    assert list(again.explain(wide[:3])) == list(explainer.explain(wide[:3]))
    assert again.sdp(wide[:3], ["x69", "x1"]).tolist() == explainer.sdp(wide[:3], ["x69", "x1"]).tolist()


@pytest.mark.parametrize("is_class", [True, False])
def test_forged_rows_that_were_set_aside_are_refused(is_class, tmp_path):
    """A file of known arrays in which the outcomes of set-aside rows are changed: the checksum is right."""
    X = np.random.default_rng(0).normal(size=(80, 2))
    explainer = SufficientExplainer(random_state=0, n_jobs=1)
    explainer.fit(X, np.where(X[:, 0] > 0, "a", "b") if is_class else X[:, 0], holdout=0.25).save(tmp_path / "m")
    content = (tmp_path / "m").read_bytes()
    _, _, length = PREFIX.unpack_from(content)
    header = json.loads(content[PREFIX.size : PREFIX.size + length])
    at = PREFIX.size + length + header["arrays"]["set_aside_y"]["offset"]
    for value in (np.nan, np.inf, -1.0, 0.5, 2.0):
        body = content[:at] + np.array([value], dtype="<f8").tobytes() + content[at + 8 : -32]
        (tmp_path / "m").write_bytes(body + hashlib.sha256(body).digest())
        if is_class or not np.isfinite(value):
            with pytest.raises(ValueError, match="the outcomes of the set-aside rows are"):
                load_explainer(tmp_path / "m")
        else:
            assert load_explainer(tmp_path / "m").fitted_.set_aside.outcomes[0] == value


@pytest.mark.parametrize("n_more", [0, 1, 3, 7, 8, 15, 16])
def test_a_file_whose_header_has_any_length_is_read(n_more, saved, tmp_path):
    """The table is not copied if it is aligned, which depends on the length of the header."""
    _, number, n_header = PREFIX.unpack_from(saved.read_bytes())
    body = saved.read_bytes()[PREFIX.size : -32]
    header = body[:n_header] + b" " * n_more
    content = PREFIX.pack(MARK, number, len(header)) + header + body[n_header:]
    path = tmp_path / "longer.suffice"
    path.write_bytes(content + hashlib.sha256(content).digest())
    loaded, first = load_explainer(path), load_explainer(saved)
    assert loaded.fitted_.forest.X.flags.aligned
    np.testing.assert_array_equal(loaded.fitted_.forest.X, first.fitted_.forest.X)
    assert loaded.explain(TABLE[:3]).to_dict() == first.explain(TABLE[:3]).to_dict()


def test_a_file_is_loaded_without_the_projection(saved):
    with mock.patch.object(_core, "Projection", wraps=_core.Projection) as made:
        loaded = load_explainer(saved)
        assert made.call_count == 0
        loaded.explain(TABLE[:1], rules=None)
        loaded.explain(TABLE[:1], rules=None)
        assert made.call_count == 1


def test_a_stream_can_be_loaded(saved, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    thread = threading.Thread(target=lambda: pipe.write_bytes(saved.read_bytes()))
    thread.start()
    loaded = load_explainer(pipe)
    thread.join()
    np.testing.assert_array_equal(loaded.predict(TABLE), load_explainer(saved).predict(TABLE))
