"""``with_settings``: other settings without another fit, and several threads at once."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from functools import cache

import numpy as np
import pytest
from rentals import BUSY, COUNT, as_pandas, explainer_for
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from small_explainers import CLASSES, FRAME, NUMBERS, ROWS, X, answers, classifier, regressor

from suffice import SufficientExplainer
from suffice._forest.settings import CHANGEABLE

pytestmark = pytest.mark.filterwarnings("ignore::suffice.errors.SearchSizeWarning")

OPTIONS = {
    "pi": {"pi": 0.6},
    "confidence": {"confidence": 0.6, "pi": 0.5},
    "n_candidates": {"n_candidates": 2},
    "candidates listed": {"candidates": ["x2", 0]},
    "candidates by impurity": {"candidates": "impurity", "n_candidates": 3},
    "min_size": {"min_size": 3},
    "max_size": {"max_size": 1},
    "max_sets": {"max_sets": 3},
    "min_support": {"min_support": 30},
    "n_jobs": {"n_jobs": 1},
    "several": {"pi": 0.7, "n_candidates": 3, "max_size": 2, "n_jobs": 3},
}
OPTIONS_OF_CLASSES = {"levels": {"levels": "odds"}, "levels and confidence": {"levels": "odds", "confidence": 0.6}}
OPTIONS_OF_NUMBERS = {"alpha": {"alpha": 0.3}, "radius": {"radius": 2.0}}


def seeded(task, **options):
    make, y = {"classes": (classifier, CLASSES), "numbers": (regressor, NUMBERS)}[task]
    return make(random_state=0, **options).fit(X, y)


@cache
def plain(task):
    """An explainer with the defaults, and its answers."""
    explainer = seeded(task)
    return explainer, answers(explainer)


def assert_same(copy, fitted, expected=None):
    assert answers(copy) == (answers(fitted) if expected is None else expected)
    assert copy.candidates_ == fitted.candidates_
    assert copy.describe() == fitted.describe()


def every_option():
    return [
        *(("classes", options) for options in {**OPTIONS, **OPTIONS_OF_CLASSES}.values()),
        *(("numbers", options) for options in {**OPTIONS, **OPTIONS_OF_NUMBERS}.values()),
    ]


@pytest.mark.parametrize(("task", "options"), every_option(), ids=str)
def test_a_copy_with_other_settings_answers_as_a_fresh_fit_does(task, options):
    untouched, before = plain(task)
    explainer = deepcopy(untouched)
    copy = explainer.with_settings(**options)
    assert_same(copy, seeded(task, **options))
    assert {name: copy.get_params()[name] for name in options} == options
    # The explainer itself stays as it is.
    assert_same(explainer, untouched, before)
    assert_same(copy.with_settings(**{name: getattr(explainer, name) for name in options}), explainer, before)


def test_every_setting_that_can_be_changed_is_tried():
    tried = {name for _, options in every_option() for name in options}
    assert tried | {"unseen", "extra_columns"} == set(CHANGEABLE)


@pytest.mark.slow
def test_the_settings_do_make_a_difference():
    """Otherwise the tests above could not fail."""
    for task, options in every_option():
        if options != {"n_jobs": 1}:
            assert answers(seeded(task, **options)) != answers(seeded(task)), (task, options)


@pytest.mark.parametrize(("task", "y"), [("classification", BUSY), ("regression", COUNT)])
def test_unseen_categories_and_extra_columns_can_be_allowed_afterwards(task, y):
    table = as_pandas()
    rows = table[:9].assign(weather="frogs", tide=1.0)
    explainer = explainer_for(task).fit(table, y)
    tolerant = explainer.with_settings(unseen="missing", extra_columns="ignore")
    expected = explainer_for(task, unseen="missing", extra_columns="ignore").fit(table, y).explain(rows)
    assert list(tolerant.explain(rows)) == list(expected)
    with pytest.raises(ValueError, match=re.escape("unexpected ['tide']")):
        explainer.explain(rows)
    with pytest.raises(ValueError, match=re.escape("unexpected ['tide']")):
        explainer.with_settings(unseen="missing").explain(rows)
    with pytest.raises(ValueError, match="holds 'frogs'"):
        explainer.with_settings(extra_columns="ignore").explain(rows)


def test_a_copy_shares_the_forest_and_what_was_computed(explainer):
    copy = explainer.with_settings(pi=0.7, n_candidates=2)
    assert copy is not explainer
    assert (copy.pi_, explainer.pi_) == (
        0.7,
        0.9 if explainer.task_ == "classification" else 0.8,
    )  # before any other call
    assert copy.forest_ is explainer.forest_
    assert copy.fitted_.forest is explainer.fitted_.forest
    assert copy.fitted_.forest.core is explainer.fitted_.forest.core
    assert copy.fitted_.projected.cells is explainer.fitted_.projected.cells
    assert explainer.with_settings(pi=0.7).fitted_.projected is explainer.fitted_.projected


def test_parameters_set_after_fit_are_kept():
    explainer = seeded("classes").set_params(pi=0.6)
    assert_same(explainer.with_settings(max_size=1), seeded("classes", pi=0.6, max_size=1))


def test_a_copy_can_be_fitted_cloned_and_saved(explainer, tmp_path):
    copy = explainer.with_settings(pi=0.6, n_candidates=3)
    assert clone(copy).get_params()["pi"] == 0.6
    copy.save(tmp_path / "copy.suffice")
    assert answers(SufficientExplainer.load(tmp_path / "copy.suffice")) == answers(copy)
    y = CLASSES if explainer.task_ == "classification" else NUMBERS
    assert answers(clone(copy).fit(X, y)) == answers(copy)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_candidate": 3}, "got 'n_candidate'. Did you mean 'n_candidates'?"),
        ({"groups": {"a": [0, 1]}}, "`with_settings` can change pi, levels, confidence, alpha, "),
        ({"groups": {"a": [0, 1]}}, "got 'groups'. For other parameters, fit again."),
        ({"forest": None}, "got 'forest'. For other parameters, fit again."),
        ({"min_node_size": 3}, "got 'min_node_size'."),
        ({"counts": "bootstrap"}, "got 'counts'. For other parameters, fit again."),
        ({"levels": "even"}, "`levels` must be one of ['same', 'odds'], got 'even'."),
        ({"confidence": 2}, "`confidence` must be None or in (0, 1), got 2."),
        ({"random_state": 3}, "got 'random_state'. For other parameters, fit again."),
        ({"pi": 2}, "`pi` must be in (0, 1], got 2."),
        ({"candidates": "split"}, "got 'split'. Did you mean 'splits'?"),
        ({"candidates": ["x9"]}, "Unknown variable 'x9'."),
        ({"unseen": "ignore"}, "`unseen` must be one of ['error', 'missing'], got 'ignore'."),
    ],
)
def test_what_cannot_be_changed_is_refused(explainer, changes, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        explainer.with_settings(**changes)


def test_numbers_have_no_levels_of_their_own():
    explainer = seeded("numbers")
    same, odds = (explainer.with_settings(levels=levels).explain(X[:20]) for levels in ("same", "odds"))
    assert list(same) == list(odds)


def test_classes_have_no_radius():
    """`fit` refuses it; a copy accepted and ignored it."""
    with pytest.raises(ValueError, match="`radius` is for regression, but `y` holds classes; leave it None"):
        seeded("classes").with_settings(radius=1.0)


def test_settings_can_be_passed_for_one_call():
    explainer = seeded("numbers")
    copy = explainer.with_settings(pi=0.6, max_size=2, radius=1.0)
    changed = explainer.explain(ROWS, sets="minimal", rules=None, pi=0.6, max_size=2, radius=1.0)
    assert list(changed) == list(copy.explain(ROWS, sets="minimal", rules=None))
    assert list(changed) != list(explainer.explain(ROWS, sets="minimal", rules=None))
    assert explainer.rule(ROWS, [0], pi=0.4, radius=3.0) == explainer.with_settings(pi=0.4, radius=3.0).rule(ROWS, [0])
    assert (explainer.pi, explainer.max_size, explainer.radius) == (None, None, None)
    assert list(explainer.explain(ROWS)) == list(seeded("numbers").explain(ROWS))


@pytest.mark.parametrize("method", ["explain", "rule"])
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"chek": "rows"}, r"can change pi, .*, got 'chek'\. Did you mean 'check'\?"),
        ({"max_sise": 2}, r"got 'max_sise'\. Did you mean 'max_size'\?"),
        ({"forest": None}, r"got 'forest'\. For other parameters, fit again\."),
    ],
)
def test_a_call_refuses_what_is_no_setting(method, settings, message):
    explainer = seeded("classes")
    arguments = (ROWS,) if method == "explain" else (ROWS, [0])
    with pytest.raises(TypeError, match=f"`{method}` {'.*' if not message.startswith('can') else ''}{message}"):
        getattr(explainer, method)(*arguments, **settings)
    with pytest.raises(ValueError, match=r"`pi` must be in \(0, 1\]"):
        getattr(explainer, method)(*arguments, pi=2)


QUESTIONS = {
    "explain": lambda e, **s: e.explain(ROWS, **s).to_dict(),
    "rule": lambda e, **s: e.rule(ROWS, [0], **s),
    "sdp": lambda e, **s: e.sdp(ROWS, [0], **s).tolist(),
    "what_if": lambda e, **s: e.what_if(ROWS, **s).to_dict(),
    "what_if_rules": lambda e, **s: e.what_if_rules(e.rule(ROWS[:1], [0], pi=0.3), **s).to_frame().to_dict(),
    "reasons": lambda e, **s: e.reasons(ROWS, **s).to_dict(),
    "quality": lambda e, **s: e.quality(n_explained=20, **s).to_dict(),
    "check_signal": lambda e, **s: e.check_signal(n_rows=20, random_state=0, **s),
    "stability": lambda e, **s: str(e.stability(ROWS[:2], n_seeds=2, n_resamples=0, random_state=0, **s)),
}


@pytest.mark.parametrize("question", sorted(QUESTIONS))
def test_every_question_takes_settings_for_one_call(question):
    """`reasons(levels="odds")` was refused in words that named an internal class; `explain` took it."""
    explainer, settings = seeded("classes"), {"n_candidates": 2}
    if question not in ("what_if", "what_if_rules"):  # a change reaches its target with the same probability for all
        settings["levels"] = "odds"
    kept = explainer.fitted_
    assert QUESTIONS[question](explainer, **settings) == QUESTIONS[question](explainer.with_settings(**settings))
    assert explainer.fitted_ is kept
    with pytest.raises(TypeError, match=f"`{question}` can change pi, .* got 'n_trees'"):
        QUESTIONS[question](explainer, n_trees=3)


@pytest.mark.parametrize(
    ("question", "setting"),
    [
        ("what_if", {"confidence": 0.95}),
        ("what_if", {"min_support": 5}),
        ("what_if_rules", {"min_size": 2}),
        ("reasons", {"min_support": 5}),
    ],
    ids=str,
)
def test_a_setting_that_makes_no_difference_to_a_question_is_refused(question, setting):
    [name] = setting
    with pytest.raises(TypeError, match=f"`{question}` can change pi, .*, got '{name}'. It makes no difference here."):
        QUESTIONS[question](seeded("classes"), **setting)


def test_an_unfitted_explainer_has_no_copy():
    with pytest.raises(NotFittedError, match="not fitted"):
        classifier().with_settings(pi=0.5)


@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_a_loaded_explainer_has_copies_too(task, tmp_path):
    seeded(task).save(tmp_path / "some.suffice")
    loaded = SufficientExplainer.load(tmp_path / "some.suffice")
    tried = OPTIONS if task == "classes" else {**OPTIONS, **OPTIONS_OF_NUMBERS}
    for name, options in tried.items():
        if name != "candidates by impurity":
            assert answers(loaded.with_settings(**options)) == answers(seeded(task, **options)), name


def test_the_impurities_of_a_loaded_forest_are_not_known(tmp_path):
    message = "The impurities of a forest are not saved: list the `candidates`, or choose them by 'row' or 'splits'"
    seeded("classes").save(tmp_path / "splits.suffice")
    with pytest.raises(ValueError, match=message):
        SufficientExplainer.load(tmp_path / "splits.suffice").with_settings(candidates="impurity")
    seeded("classes", candidates="impurity", n_candidates=3).save(tmp_path / "impurity.suffice")
    loaded = SufficientExplainer.load(tmp_path / "impurity.suffice")
    with pytest.raises(ValueError, match=message):
        loaded.with_settings(n_candidates=2)
    same = loaded.with_settings(pi=0.6)
    assert answers(same) == answers(seeded("classes", candidates="impurity", n_candidates=3, pi=0.6))


def test_the_copy_of_an_explainer_of_a_model_explains_the_model():
    model = lambda rows: rows["speed"] + rows["load"] > 5  # noqa: E731
    explainer = SufficientExplainer.for_model(model, FRAME, random_state=0)
    copy = explainer.with_settings(pi=0.6, n_candidates=2)
    fresh = SufficientExplainer.for_model(model, FRAME, random_state=0, pi=0.6, n_candidates=2)
    assert copy.model_ is model
    assert copy.target_name_ == "prediction"
    assert list(copy.explain(FRAME[:20])) == list(fresh.explain(FRAME[:20]))
    assert copy.explain(FRAME[:20]).outcomes.tolist() == model(FRAME[:20]).tolist()
    np.testing.assert_array_equal(copy.sdp(FRAME[:20], ["load"]), fresh.sdp(FRAME[:20], ["load"]))


@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_threads_may_use_copies_at_once(task):
    """The copies share projections and cells, which the threads look up and fill at the same time."""
    explainer = seeded(task)
    changes = [{"pi": pi, "n_candidates": n, "n_jobs": 1 + n % 2} for pi in (0.5, 0.7, 0.9) for n in (1, 2, 4)] * 2
    expected = [answers(seeded(task, **options)) for options in changes[:9]] * 2

    def answer(options):
        return answers(explainer.with_settings(**options), ROWS)

    with ThreadPoolExecutor(6) as pool:
        results = list(pool.map(answer, changes))
    assert results == expected


# --- parameters that are set after the fit ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options", [{"n_candidates": 2}, {"candidates": ["x2", 0]}, {"pi": 0.6, "n_candidates": 3}], ids=str
)
def test_parameters_set_after_the_fit_take_effect_as_in_a_copy(options):
    """The candidates stayed as they were, while `describe` showed the new number; a copy then kept the old ones."""
    explainer = seeded("classes")
    copy = explainer.with_settings(**options)
    explainer.set_params(**options)
    assert answers(explainer) == answers(copy)
    assert explainer.describe() == copy.describe()
    assert explainer.with_settings(**options).candidates_ == copy.candidates_


def test_parameters_that_need_another_fit_take_no_effect_before_it():
    explainer = seeded("numbers")
    before, description = answers(explainer), explainer.describe()
    explainer.set_params(voters="all", min_node_size=50, task="classification")
    assert answers(explainer) == before
    assert explainer.describe() == description


def test_a_radius_set_after_the_fit_is_refused_for_classes():
    """`explain` accepted it without a word."""
    with pytest.raises(ValueError, match="`radius` is for regression, but `y` holds classes"):
        seeded("classes").set_params(radius=1.0).explain(ROWS)


def test_fitting_again_forgets_the_model():
    """Rows were explained by the outputs of the model of before."""
    explainer = SufficientExplainer.for_model(lambda table: np.full(len(table), 1.0) * (table[:, 2] > 0), X)
    explainer.fit(X, CLASSES)
    assert not hasattr(explainer, "model_")
    assert explainer.describe()["model"] is None
    assert explainer.explain(ROWS).outcomes.tolist() == explainer.predict(ROWS).tolist()


def test_a_forest_without_scikit_learn_has_a_short_text(tmp_path):
    seeded("classes").save(tmp_path / "e.suffice")
    assert len(repr(SufficientExplainer.load(tmp_path / "e.suffice").forest_)) < 500
