"""The class that people care about, and the variables that they cannot change: declared at fit, kept, and used."""

from __future__ import annotations

import json
from functools import partial

import numpy as np
import pandas as pd
import pytest
from forged_files import put_together, take_apart
from loans import ROW, loan_explainer, make_loans
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import average_precision_score, f1_score, precision_score, recall_score, roc_auc_score

from suffice import SufficientExplainer
from suffice._text import format_share

X, Y = make_loans()
FOREST = RandomForestClassifier(20, min_samples_leaf=5, random_state=0)
make = partial(SufficientExplainer, FOREST)


def forge(path, edit):
    """Save an edited header with the right checksum."""
    number, header, arrays = take_apart(path.read_bytes())
    edit(header)
    path.write_bytes(put_together(number, header, arrays))
    return path


@pytest.mark.parametrize(
    ("y", "focus"),
    [
        (Y, "good"),
        (np.where(Y == "good", "bad", "good"), "bad"),
        ((Y == "good").astype(int), 1),
        (Y == "bad", False),
        (np.arange(600) % 2, 1),  # as frequent: the second
        (np.arange(600) % 3, None),
    ],
    ids=["text", "the first", "numbers", "booleans", "equal", "three"],
)
@pytest.mark.filterwarnings("ignore:The variables say nothing")
def test_the_rarer_of_two_classes_is_the_focus(y, focus):
    explainer = make().fit(X, y)
    assert explainer.focus_ == focus
    assert type(explainer.focus_) is type(focus)
    assert explainer.describe()["focus"] == focus


def test_the_training_rows_decide_which_class_is_rarer():
    """With rows set aside, those that are left are counted."""
    y = np.where(np.arange(41) < 21, "first", "second")
    explainer = make().fit(np.arange(41.0)[:, None], y, holdout=0.1)
    n_first = np.count_nonzero(explainer.training[1] == "first")
    assert explainer.focus_ == ("first" if 2 * n_first < len(explainer.training[1]) else "second")


def test_any_class_can_be_the_focus():
    assert make().fit(X, Y, focus="bad").focus_ == "bad"
    assert make().fit(X, Y, focus="bad", holdout=0.2).focus_ == "bad"
    assert make().fit(X, X["age"] // 25, focus="2").focus_ == 2  # a command knows text only
    model = clone(FOREST).fit(X.drop(columns="account"), Y)
    assert SufficientExplainer.for_model(model, X.drop(columns="account"), focus="bad").focus_ == "bad"


def test_numbers_have_no_focus():
    assert SufficientExplainer().fit(X, X["income"] + X["debt"]).focus_ is None


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        (Y, {"focus": "god"}, r"`focus` must be among the classes \['bad', 'good'\], got 'god'.*Did you mean 'good'\?"),
        (X["debt"], {"focus": 1}, "`focus` names a class, but the outcomes are numbers: leave it None, got 1"),
        (Y, {"fixed": ["ages"]}, r"In `fixed`: Unknown variable 'ages'. Did you mean 'age'\?"),
    ],
)
def test_what_is_not_there_is_refused_before_the_forest_is_fitted(y, options, message, monkeypatch):
    monkeypatch.setattr("suffice._forest.fitting.fit_screened_forest", None)
    with pytest.raises(ValueError, match=message):
        SufficientExplainer().fit(X, y, **options)


def test_one_name_is_no_list_of_fixed_variables():
    with pytest.raises(TypeError, match=r"`fixed` must be a list of variables, got 'age': write \['age'\]"):
        make().fit(X, Y, fixed="age")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"focus": np.array(["good", "bad"])}, r"`focus` must be among the classes .* got array"),
        ({"focus": pd.Series(["good"])}, "`focus` must be among the classes"),
        ({"focus": pd.NA}, "`focus` must be among the classes .* got <NA>"),
        ({"fixed": None}, "`fixed` must be a list of variables, got None.$"),
        ({"fixed": 5}, "`fixed` must be a list of variables, got 5.$"),
    ],
    ids=["array", "series", "NA", "none", "number"],
)
def test_what_cannot_be_compared_or_counted_is_refused(options, message):
    """NumPy, pandas and Python answered in words of their own."""
    with pytest.raises((TypeError, ValueError), match=message):
        make().fit(X, Y, **options)


def test_both_are_saved_and_files_of_before_have_the_rarer_class(tmp_path):
    explainer = make().fit(X, Y, focus="bad", fixed=["age", 0])
    explainer.save(tmp_path / "new.suffice")
    loaded = SufficientExplainer.load(tmp_path / "new.suffice")
    assert (loaded.focus_, loaded.fitted_.declared.fixed) == ("bad", ("income", "age"))
    assert (loaded.describe()["focus"], loaded.describe()["fixed"]) == ("bad", ["income", "age"])

    def without(header):
        del header["focus"], header["fixed"]

    old = SufficientExplainer.load(forge(tmp_path / "new.suffice", without))
    assert (old.focus_, old.fitted_.declared.fixed) == ("good", ())
    assert list(old.explain(X[:5])) == list(explainer.explain(X[:5]))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("focus", "best", "`focus` must be among the classes"),
        ("focus", ["bad"], "`focus` must be among the classes"),
        ("fixed", ["no"], "Unknown variable 'no'"),
        ("fixed", 3, "not a valid suffice file"),
    ],
)
def test_forged_fields_are_refused(name, value, message, tmp_path):
    loan_explainer().save(tmp_path / "new.suffice")
    path = forge(tmp_path / "new.suffice", lambda header: header.update({name: value}))
    with pytest.raises(ValueError, match=message):
        SufficientExplainer.load(path)


@pytest.mark.parametrize("focus", ["good", "bad"])
def test_quality_measures_how_well_the_focus_class_is_predicted(focus):
    y = np.where(np.arange(600) % 20 == 0, "bad", Y)
    forest = RandomForestClassifier(50, min_samples_leaf=5, oob_score=True, random_state=0)
    explainer = SufficientExplainer(forest).fit(X[["income", "debt"]], y, focus=focus)
    quality = explainer.quality(n_explained=0)
    votes = explainer.forest_.oob_decision_function_
    scores, predicted = votes[:, list(explainer.classes_).index(focus)], explainer.classes_[votes.argmax(axis=1)]
    has_class = y == focus
    expected = {
        "precision": precision_score(y, predicted, pos_label=focus),
        "recall": recall_score(y, predicted, pos_label=focus),
        "F1": f1_score(y, predicted, pos_label=focus),
        "ROC AUC": roc_auc_score(has_class, scores),
        "average precision": average_precision_score(has_class, scores),
    }
    assert quality.of_focus == pytest.approx(expected)
    assert len({round(value, 3) for value in expected.values()}) == 5
    assert f"{focus}: precision {format_share(expected['precision'])}, recall" in str(quality)
    assert quality.to_dict()["focus"] == {"label": focus, **quality.of_focus}
    json.dumps(quality.to_dict())


def test_quality_on_rows_of_one_class_has_no_curves():
    quality = loan_explainer().quality(X[Y == "bad"], Y[Y == "bad"], n_explained=0)
    assert np.isnan([quality.of_focus[name] for name in ("ROC AUC", "average precision", "recall")]).all()
    assert "ROC AUC -, average precision -." in str(quality)
    assert quality.to_dict()["focus"]["ROC AUC"] is None
    assert "focus" not in SufficientExplainer(FOREST).fit(X, X["age"] // 25).quality(n_explained=0).to_dict()


def test_the_quality_of_a_model_has_no_curves():
    """Its labels are known, not its probabilities."""
    table = X.drop(columns="account")
    explainer = SufficientExplainer.for_model(clone(FOREST).fit(table, Y), table)
    model = explainer.quality(table, Y, n_explained=0).model
    assert set(model.of_focus) == {"precision", "recall", "F1"}


# --- what people cannot change ---


def fixed_explainer(*names):
    return make().fit(X, Y, fixed=list(names))


def test_a_variable_that_is_fixed_at_fit_stays_as_it_is():
    explainer = fixed_explainer("income")
    plain, declared = (e.what_if(ROW, "good", n=5)[0] for e in (loan_explainer(), explainer))
    assert "income" in plain.best.variables
    assert all("income" not in change.variables for change in declared.changes)
    assert declared.notes[0] == "income stays as it is."
    assert "income stays as it is." in declared.text
    assert "income stays as it is." in declared._repr_html_()
    two = fixed_explainer("age", "income").what_if(ROW, "good")[0]
    assert two.notes[0] == "income and age stay as they are."


@pytest.mark.parametrize("limits", [{"fixed": []}, {"fixed": ["debt"]}, {"only": ["income", "account"]}])
def test_a_call_may_say_otherwise(limits):
    declared, plain = (e.what_if(ROW, "good", **limits)[0] for e in (fixed_explainer("income"), make().fit(X, Y)))
    assert "income" in declared.best.variables
    assert declared == plain


def test_what_else_is_fixed_stays_if_only_some_may_change():
    answer = fixed_explainer("income", "age").what_if(ROW, "good", only=["income", "debt"])[0]
    assert answer.n_changeable == 2


def test_rules_are_changed_within_what_is_fixed_too():
    rule = loan_explainer().explain(pd.DataFrame([ROW])).rules[0]
    assert "income" in loan_explainer().what_if_rules([rule], "good")[0].variables
    assert "income" not in fixed_explainer("income").what_if_rules([rule], "good")[0].variables
