"""Reasons of rows: which rows get them, in which order and wording, and when they are refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from loans import ROW, loan_explainer, make_loans
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from suffice import CodeBook, SufficientExplainer
from suffice.reasons.search import format_exact
from suffice.reasons.values import REFUSALS

X, Y = make_loans()
CODES = [
    {"variable": "income", "direction": "low", "code": "R1", "text": "Income of {value} is not above {bound}"},
    {"variable": "income", "code": "R2", "text": "Income is {bound}"},
    {"variable": "account", "condition": "= empty", "code": "R3", "text": "The account is {value}"},
    {"variable": "account", "code": "R4", "text": "The account is {bound}"},
    {"variable": "age", "code": "R5", "text": "Age"},
    {"variable": "debt", "code": "R6", "text": "Debt"},
]


def row(**values):
    return {**ROW, **values}


def test_only_adverse_outcomes_get_reasons():
    reasons = loan_explainer().reasons(X[:30], adverse="bad", codes=CODES)
    predictions = loan_explainer().predict(X[:30])
    for answer, prediction in zip(reasons, predictions, strict=True):
        assert answer.outcome == prediction
        assert answer.is_adverse == (prediction == "bad")
        assert bool(answer.reasons) == answer.is_adverse
    good = next(answer for answer in reasons if answer.outcome == "good")
    assert good.status == "not_adverse"
    assert good.text == "loan = good is not adverse: no reasons are needed."
    assert reasons.n_adverse == (predictions == "bad").sum()


def test_without_adverse_outcomes_the_focus_class_gets_reasons():
    assert loan_explainer().focus_ == "good"
    reasons, named = (loan_explainer().reasons(X[:30], **options) for options in ({}, {"adverse": "good"}))
    assert reasons.to_dict() == named.to_dict()
    assert {answer.outcome: answer.is_adverse for answer in reasons} == {"good": True, "bad": False}


@pytest.mark.parametrize("adverse", [["bad", "good"], np.array(["good", "bad"])], ids=["list", "array"])
def test_all_classes_are_adverse_on_request(adverse):
    reasons = loan_explainer().reasons(X[:10], adverse=adverse)
    assert all(answer.reasons for answer in reasons)
    assert reasons.settings.adverse is None


def test_the_text_names_the_value_and_the_bound():
    [answer] = loan_explainer().reasons(row(income=20), adverse="bad", codes=CODES)
    assert str(answer.reasons[0]) == "1. R1: Income of 20 is not above 30"
    assert answer.reasons[0].bounds == ("at most 30",)
    assert answer.best_set.variables == ("income",)
    [answer] = loan_explainer().reasons(row(income=50, account="empty"), adverse="bad", codes=CODES)
    assert [reason.text for reason in answer.reasons] == ["The account is empty"]
    [answer] = loan_explainer().reasons(row(income=50, account="much"), codes=CODES)
    assert {reason.code for reason in answer.reasons} == {"R2", "R4"}


def test_reasons_are_the_variables_of_a_smallest_set_by_what_is_lost_without_them():
    explainer = loan_explainer()
    rows = X[:60]
    several = 0
    all_reasons = explainer.reasons(rows, adverse=explainer.classes_)
    for answer, explanation in zip(all_reasons, explainer.explain(rows), strict=True):
        best = answer.best_set
        assert best in answer.minimal_sets
        assert best.lower == (explanation.best_set.lower if best == explanation.best_set else None)
        assert answer.sufficient_sets == explanation.sufficient_sets
        losses = {}
        for name in best.variables:
            smaller = [other for other in best.variables if other != name]
            losses[name] = best.sdp - explainer.sdp(rows[answer.row : answer.row + 1], smaller)[0]
        assert [reason.loss for reason in answer.reasons] == sorted(losses.values(), reverse=True)
        assert {reason.variables[0]: reason.loss for reason in answer.reasons} == losses
        assert answer.rule == explainer.rule(rows[answer.row : answer.row + 1], list(best.variables))[0]
        several += len(best.variables) > 1
    assert several > 3


def test_no_more_reasons_than_wanted_are_given_and_the_rest_is_named():
    explainer = loan_explainer()
    rows = pd.DataFrame([row(income=50, account="much")])
    [all_of_them], [one] = explainer.reasons(rows), explainer.reasons(rows, n=1)
    assert len(all_of_them.reasons) == 2
    assert one.reasons == all_of_them.reasons[:1]
    left = all_of_them.reasons[1].variables[0]
    assert one.notes == (f"The set also contains {left}; a row gets at most 1 reason.",)


def test_variables_that_share_a_code_are_one_reason():
    text = "Income or account"
    codes = {"income": ("R1", text), "account": ("R1", text), "age": ("R2", "Age"), "debt": ("R3", "Debt")}
    explainer = loan_explainer()
    rows = pd.DataFrame([row(income=50, account="much")])
    [apart], [together] = explainer.reasons(rows), explainer.reasons(rows, codes=codes, n=1)
    [reason] = together.reasons
    assert reason.variables == tuple(r.variables[0] for r in apart.reasons)
    assert reason.loss == max(r.loss for r in apart.reasons)
    assert dict(reason.values) == {"income": 50, "account": "much"}
    assert together.notes == ()


def test_missing_codes_are_listed_before_anything_runs(monkeypatch):
    monkeypatch.setattr(SufficientExplainer, "encode", None)
    with pytest.raises(ValueError, match=r"3 variables may come out .* have no code: \['account', 'age', 'debt'\]"):
        loan_explainer(candidates="row").reasons(object(), codes={"income": "Income"})
    # A protected variable is never a reason.
    with pytest.raises(ValueError, match=r"1 variable may come out .* has no code: \['debt'\]"):
        loan_explainer(candidates="row").reasons(object(), codes={"income": "A", "account": "B"}, protected=["age"])
    # Nor is a variable that is not searched, since its splits gain nothing.
    with pytest.raises(ValueError, match=r"1 variable may come out .* has no code: \['account'\]"):
        loan_explainer().reasons(object(), codes={"income": "Income"})


def test_unknown_variables_are_named_and_counted():
    codes = {f"v{i}": "A" for i in range(1, 1235)}
    with pytest.raises(ValueError, match=r"does not have: \['v1', .*'v20'\] and 1,214 more\."):
        loan_explainer().reasons(object(), codes=codes)
    with pytest.raises(ValueError, match=r"does not have: \['incom'\]\. Did you mean 'income'\?"):
        loan_explainer().reasons(object(), codes={"incom": "A"})


# --- refusals ---


def refusal_of(answer):
    assert answer.status == "refused"
    assert answer.reasons == ()
    assert "The row needs human review." in answer.text
    return answer.refusal.kind


def test_a_row_is_refused_if_the_forest_gives_another_outcome():
    [answer] = loan_explainer().reasons(row(income=50, account="much"), ["bad"], adverse="bad")
    assert refusal_of(answer) == "forest_disagrees"
    assert answer.refusal.sentence == "the explainer's forest predicts good."


def test_a_row_is_refused_without_a_sufficient_set():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(300, 2))
    noise = rng.random(300) < 0.3
    y = (table[:, 0] > 0) ^ noise
    explainer = SufficientExplainer(RandomForestClassifier(20, min_samples_leaf=20, random_state=0)).fit(table, y)
    reasons = explainer.reasons(table[:20], adverse=[False, True])
    assert reasons.refusals == {"no_set": 20}
    assert refusal_of(reasons[0]) == "no_set"
    assert reasons[0].refusal.sentence == "no set of variables keeps the outcome with probability 0.89."


def test_a_row_is_refused_if_no_variable_is_needed():
    table = np.random.default_rng(0).normal(size=(400, 2))
    y = np.where((table[:, 0] > 1.6) & (table[:, 1] > -1), "rare", "common")
    explainer = SufficientExplainer(RandomForestClassifier(20, random_state=0)).fit(table, y)
    [answer] = explainer.reasons([[0.0, 0.0]], adverse="common")
    assert refusal_of(answer) == "no_variable_needed"
    [answer] = explainer.with_settings(min_size=1).reasons([[0.0, 0.0]], adverse="common")
    assert answer.reasons[0].loss > 0


def test_a_set_that_rests_on_a_protected_variable_is_refused():
    [answer] = loan_explainer().reasons(row(income=20), adverse="bad", protected=["income"])
    assert refusal_of(answer) == "protected_variable"
    assert answer.refusal.sentence == "the outcome rests on income, which is protected."
    assert answer.refusal.variables == ("income",)


def test_another_set_of_the_same_size_does_not_hide_a_protected_variable():
    """Both income and the account are enough here: the reasons must not name the one and hide the other."""
    both = row(income=12, account="empty")
    [answer] = loan_explainer().reasons(both, adverse="bad")
    assert {s.variables for s in answer.minimal_sets} == {("income",), ("account",)}
    for name in ("income", "account"):
        [answer] = loan_explainer().reasons(both, adverse="bad", protected=[name])
        assert answer.refusal.variables == (name,)


def test_larger_sets_with_a_protected_variable_are_named_in_a_note():
    table = np.random.default_rng(0).uniform(-1, 1, size=(600, 3)).round(2)
    y = np.where((table[:, 0] < 0) | ((table[:, 1] < 0) & (table[:, 2] < 0)), "bad", "good")
    explainer = SufficientExplainer(RandomForestClassifier(30, random_state=0)).fit(table, y)
    [answer] = explainer.reasons([[-0.5, -0.5, -0.5]], adverse="bad", protected=["x2"])
    assert [s.variables for s in answer.sufficient_sets] == [("x0",), ("x1", "x2")]
    assert [reason.code for reason in answer.reasons] == ["x0"]
    assert answer.notes == ("1 of 2 sufficient sets contains a protected variable; the smallest do not.",)


class Cut:
    """A model that reads one column."""

    def predict(self, table):
        return np.where(table["score"] > 0, "yes", "no")


@pytest.fixture(scope="module")
def proxied():
    """An explainer whose forest reads a column that goes along with the one that the model reads; and such rows."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(400, 3)).round(2), columns=["score", "proxy", "other"])
    forest = RandomForestClassifier(20, random_state=0)
    explainer = SufficientExplainer(forest, pi=0.8).fit(table, np.where(table["proxy"] > 0, "yes", "no"))
    return explainer, table[:20].assign(score=table["proxy"])


def test_a_set_with_a_variable_that_the_model_does_not_use_is_refused(proxied):
    explainer, rows = proxied
    reasons = explainer.reasons(rows, model=Cut(), adverse="no")
    refused = [answer for answer in reasons if answer.refusal is not None]
    assert reasons.refusals == {"unused_variable": len(refused)}
    assert len(refused) == reasons.n_adverse > 5
    assert refused[0].refusal.variables == ("proxy",)
    assert refused[0].refusal.sentence == (
        "the model does not use proxy: its output stays the same with the values of 32 training rows."
    )
    assert not explainer.reasons(rows, adverse="no").refusals


def test_the_model_is_that_of_the_fit_or_an_argument(tmp_path):
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(300, 2)).round(2), columns=["score", "other"])
    fitted = SufficientExplainer.for_model(Cut(), table, random_state=0)
    fitted.save(tmp_path / "cut.suffice")
    loaded = SufficientExplainer.load(tmp_path / "cut.suffice")
    alone, with_model = (loaded.reasons(table[:20], adverse="no", model=model) for model in (None, Cut()))
    assert [a.to_dict() for a in with_model] == [a.to_dict() for a in fitted.reasons(table[:20], adverse="no")]
    assert (alone.settings.model, with_model.settings.model) == (None, "Cut")
    assert (alone[0].source, with_model[0].source) == ("forest", "model")
    assert with_model.n_adverse > 5
    assert not with_model.refusals


def test_a_value_without_a_line_is_refused():
    codes = [*CODES[:3], *CODES[4:]]
    [answer] = loan_explainer().reasons(row(income=50, account="much"), codes=codes)
    assert refusal_of(answer) == "no_code"
    assert answer.refusal.sentence == "the code book has no line for the value much of account."


# --- numbers ---


@pytest.fixture(scope="module")
def scores():
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.uniform(0, 10, size=(500, 3)).round(1), columns=["paid", "owed", "age"])
    y = pd.Series(40 * (table["paid"] > 4) + 30 * (table["owed"] < 5) + rng.normal(0, 2, 500), name="score")
    forest = RandomForestRegressor(30, min_samples_leaf=5, random_state=0)
    return SufficientExplainer(forest).fit(table, y), table


def test_sets_keep_a_number_in_the_adverse_range(scores):
    explainer, table = scores
    reasons = explainer.reasons(table[:80], adverse={"below": 50})
    predictions = explainer.predict(table[:80])
    assert [a.is_adverse for a in reasons] == (predictions <= 50).tolist()
    some = [a for a in reasons if a.reasons]
    assert len(some) > 20
    for answer in some:
        low, high = answer.rule.interval
        assert high == 50
        assert low == explainer.fitted_.forest.y_values[0]
        # The SDP is the probability of a score of at most 50.
        cdf = explainer.cdf(table[answer.row : answer.row + 1], list(answer.best_set.variables), [50])[0, 0]
        assert answer.best_set.sdp == pytest.approx(cdf, abs=1e-12)
    alone = {a.best_set.variables for a in some}
    assert ("paid",) in alone
    assert ("owed",) in alone


def test_a_number_is_refused_if_the_forest_is_on_the_other_side(scores):
    explainer, table = scores
    high = table[explainer.predict(table) > 60][:1]
    [answer] = explainer.reasons(high, [49.0], adverse={"below": 50})
    assert refusal_of(answer) == "forest_disagrees"


@pytest.mark.parametrize(("adverse", "kept"), [({"above": 50}, (50.0, None)), ((10, 60), (10.0, 60.0))])
def test_adverse_numbers_are_kept_in_the_settings(scores, adverse, kept):
    explainer, table = scores
    reasons = explainer.reasons(table[:5], adverse=adverse)
    assert reasons.settings.adverse == kept
    again = explainer.reasons(table[:5], adverse=kept)
    assert [a.to_dict() for a in again] == [a.to_dict() for a in reasons]


def test_without_adverse_numbers_the_interval_of_the_outcome_is_kept(scores):
    explainer, table = scores
    for answer, explanation in zip(explainer.reasons(table[:20]), explainer.explain(table[:20]), strict=True):
        assert answer.sufficient_sets == explanation.sufficient_sets


# --- input ---


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"adverse": "worst"}, r"`adverse` must be among the classes \['bad', 'good'\], got 'worst'"),
        ({"adverse": {"more": 3}}, r"`adverse` must be a range of numbers or classes, got \{'more': 3\}"),
        ({"adverse": []}, "`adverse` must name at least one class"),
        ({"protected": ["incom"]}, "In `protected`: Unknown variable 'incom'. Did you mean 'income'?"),
        ({"n": 0}, "`n` must be a whole number >= 1, got 0"),
        ({"codes": {"incom": "A"}}, r"the explainer does not have: \['incom'\]. Did you mean 'income'?"),
        (
            {"codes": [{"variable": "account", "direction": "low", "code": "a", "text": "b"}]},
            "a direction for 'account', which holds labels",
        ),
        (
            {"codes": [{"variable": "account", "condition": "< 3", "code": "a", "text": "b"}]},
            r"asks for numbers of 'account' \(account < 3\), which holds labels",
        ),
        (
            {"codes": [{"variable": "income", "condition": "= low", "code": "a", "text": "b"}]},
            r"asks for labels of 'income' \(income = low\), which holds numbers",
        ),
        (
            {"codes": [{"variable": "account", "condition": "= emty", "code": "a", "text": "b"}]},
            "asks for 'emty' of 'account', which has no such label. Did you mean 'empty'?",
        ),
    ],
)
def test_bad_options_get_a_clear_sentence(options, message):
    with pytest.raises(ValueError, match=message):
        loan_explainer().reasons(X[:1], **options)


def test_one_protected_name_is_no_list():
    with pytest.raises(TypeError, match=r"`protected` must be a list of variables, got 'age': write \['age'\]"):
        loan_explainer().reasons(X[:1], protected="age")


def test_no_rows_give_no_reasons():
    reasons = loan_explainer().reasons(X[:0], adverse="bad", codes=CODES)
    assert len(reasons) == 0
    assert str(reasons) == "0 of 0 rows whose outcome is bad have reasons."


def test_identifiers_and_libraries_are_kept():
    frame = pl.DataFrame(make_loans()[0][:3].to_dict("list")).with_columns(name=pl.Series(["a", "b", "c"]))
    reasons = loan_explainer().reasons(frame, ids="name", adverse="bad")
    assert [answer.label for answer in reasons] == ["Row a", "Row b", "Row c"]
    assert isinstance(reasons.to_frame(), pl.DataFrame)


def test_rare_labels_and_groups_are_written_in_the_users_words():
    rng = np.random.default_rng(0)
    place = np.where(rng.random(500) < 0.5, "north", "south").astype(object)
    place[:12] = [f"isle {i}" for i in range(12)]
    table = pd.DataFrame({"place": place, "a": rng.integers(0, 2, 500), "b": rng.integers(0, 2, 500)})
    y = np.where((table["place"] == "south") | (table["a"] + table["b"] == 2), "no", "yes")
    explainer = SufficientExplainer(
        RandomForestClassifier(30, random_state=0), groups={"both": ["a", "b"]}, min_size=1
    ).fit(table, y)
    reasons = explainer.reasons(table[:12], adverse=explainer.classes_)
    assert [answer.values["place"] for answer in reasons] == [f"isle {i}" for i in range(12)]
    texts = [str(reason) for answer in reasons for reason in answer.reasons if reason.variables == ("both",)]
    assert texts
    assert texts[0].startswith("1. both: a ")


def test_the_same_bits_for_any_number_of_threads():
    one, three = (loan_explainer().with_settings(n_jobs=n).reasons(X[:50], adverse="bad") for n in (1, 3))
    assert one.to_json() == three.to_json()


def test_rows_have_the_same_reasons_alone_and_together():
    explainer = loan_explainer()
    together = explainer.reasons(X[:20], adverse="bad", codes=CODES)
    for i, answer in enumerate(together):
        alone = explainer.reasons(X[i : i + 1], adverse="bad", codes=CODES)[0]
        assert {**alone.to_dict(), "row": i, "id": None} == {**answer.to_dict(), "id": None}


def test_numbers_are_written_with_all_their_digits():
    assert format_exact(1234567.891) == "1234567.891"
    assert format_exact(1e300) == "1e+300"
    assert format_exact(True) == "yes"


def test_every_kind_of_refusal_has_a_meaning():
    assert next(iter(REFUSALS)) == "forest_disagrees"
    assert CodeBook.of_names(["a{b}"]).find("a{b}", 1, None).write("1", "") == "a{b}: 1"
