import json

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb
from fitted_models import mixed_table, number_table, two, with_gaps

from suffice.proofs.reading import compare_outputs, read_model


def test_trees_after_the_best_iteration_are_left_out():
    X, score = with_gaps()
    y = (score > 4).astype(int)
    fitted = xgb.XGBClassifier(n_estimators=50, early_stopping_rounds=2)
    fitted.fit(X[:300], y[:300], eval_set=[(X[300:], y[300:])], verbose=0)
    ensemble = read_model(fitted, X)
    assert len(ensemble.roots) == fitted.best_iteration + 1 < 50
    assert compare_outputs(ensemble, X, fitted.predict(X)) == 0
    whole = read_model(fitted.get_booster(), X)
    assert len(whole.roots) == fitted.get_booster().num_boosted_rounds() > len(ensemble.roots)
    data = lgb.Dataset(X[:300], y[:300], free_raw_data=False)
    booster = lgb.train(
        {"objective": "binary", "verbose": -1},
        data,
        50,
        [data.create_valid(X[300:], y[300:])],
        callbacks=[lgb.early_stopping(2, verbose=False)],
    )
    ensemble = read_model(booster, X)
    assert len(ensemble.roots) == booster.best_iteration < 50
    assert compare_outputs(ensemble, X, (booster.predict(X) > 0.5).astype(int)) == 0


def _forged(library, dump):
    """Make an object that looks like a booster of a library and hands out any dump."""
    methods = {"save_raw": lambda self, kind: json.dumps(dump).encode(), "dump_model": lambda self: dump}
    return type("Booster", (), {**methods, "__module__": library})()


def _mutate(dump, random):
    """Change, drop or nest one part of a dump, anywhere."""
    parts = []

    def visit(part):
        items = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
        for key, child in items:
            parts.append((part, key))
            visit(child)

    visit(dump)
    part, key = parts[random.integers(len(parts))]
    if random.random() < 0.2:
        del part[key]
    else:
        odd = [None, -1, 0, 1, 7, 1e308, float("nan"), float("inf"), "x", [], {}, [0], 2**31, True, "NaN"]
        part[key] = odd[random.integers(len(odd))]


@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
def test_forged_dumps_are_refused_or_read_as_forests(library):
    X, score = mixed_table()
    y = (score > np.median(score)).astype(int)
    random = np.random.default_rng(0)
    if library == "xgboost":
        model = xgb.XGBClassifier(n_estimators=2, max_depth=3, enable_categorical=True).fit(X, y).get_booster()
        text = bytes(model.save_raw("json")).decode()
    else:
        text = json.dumps(lgb.LGBMClassifier(n_estimators=2, n_jobs=1, verbose=-1).fit(X, y).booster_.dump_model())
    n_refused = 0
    for _ in range(400):
        dump = json.loads(text)
        for _ in range(3):
            _mutate(dump, random)
        try:
            ensemble = read_model(_forged(library, dump), X)
            assert np.isfinite(ensemble.margins(ensemble.encode(X[:5]))).all()
        except (TypeError, ValueError):
            n_refused += 1
    assert n_refused > 100


def _dump_of_xgboost():
    X, score = number_table()
    model = xgb.XGBClassifier(n_estimators=1, max_depth=2).fit(X, score > 4).get_booster()
    return json.loads(bytes(model.save_raw("json")))


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        ("left_children", 0, "two ways lead to one node"),
        ("right_children", 99, "a node has the number"),
        ("split_indices", 7, "a split asks about column 7 of 3"),
        ("split_conditions", float("nan"), "a threshold is NaN"),
        ("split_type", 5, "unknown type 5"),
        ("split_type", 1, "has no categories"),
    ],
)
def test_what_is_wrong_with_a_forged_tree_is_said(part, value, message):
    dump = _dump_of_xgboost()
    dump["learner"]["gradient_booster"]["model"]["trees"][0][part][0] = value
    with pytest.raises(ValueError, match=message):
        read_model(_forged("xgboost", dump))


def test_what_is_wrong_with_a_forged_model_is_said():
    dump = _dump_of_xgboost()
    model = dump["learner"]["gradient_booster"]["model"]
    model["tree_info"] = [1]
    with pytest.raises(ValueError, match="adds to output 1 of 1"):
        read_model(_forged("xgboost", dump))
    model["tree_info"] = [0]
    leaf = model["trees"][0]["left_children"].index(-1)
    model["trees"][0]["split_conditions"][leaf] = float("nan")
    with pytest.raises(ValueError, match="a leaf adds no finite number"):
        read_model(_forged("xgboost", dump))
    model["trees"], model["tree_info"] = [], []
    with pytest.raises(ValueError, match="it has none"):
        read_model(_forged("xgboost", dump))
    shape = dump["learner"]["learner_model_param"]
    shape["num_class"] = "2147483648"
    with pytest.raises(ValueError, match="it states 2147483648 where at most 0 can be"):
        read_model(_forged("xgboost", dump))
    shape["num_class"], shape["num_feature"] = "0", "5"
    with pytest.raises(ValueError, match="names 3 columns and has 5"):
        read_model(_forged("xgboost", dump))
    del dump["learner"]["objective"]
    with pytest.raises(ValueError, match="is not what xgboost documents: KeyError"):
        read_model(_forged("xgboost", dump))


def test_a_model_of_no_outputs_is_said_to_be_forged():
    """The number of a tree was divided by it."""
    X, score = number_table()
    model = lgb.LGBMRegressor(n_estimators=1, n_jobs=1, verbose=-1).fit(X, score)
    dump = {**model.booster_.dump_model(), "num_tree_per_iteration": 0}
    with pytest.raises(ValueError, match="not what lightgbm documents: ZeroDivisionError"):
        read_model(_forged("lightgbm", dump), X)


def test_other_boosters_are_named():
    X, score = number_table()
    y = (score > 4).astype(int)
    for settings, message in (
        ({"booster": "dart"}, "the booster 'dart'"),
        ({"booster": "gblinear"}, "the booster 'gblinear'"),
        ({"objective": "binary:hinge"}, "the objective 'binary:hinge'"),
        ({"missing": -1.0}, "takes -1.0 for missing"),
    ):
        with pytest.raises(ValueError, match=message):
            read_model(xgb.XGBClassifier(n_estimators=2, **settings).fit(X, y), X)
    quick = {"n_estimators": 2, "n_jobs": 1, "verbose": -1}
    for model, message in (
        (lgb.LGBMRegressor(linear_tree=True, **quick), "linear_tree=True"),
        (lgb.LGBMRegressor(reg_sqrt=True, **quick), "reg_sqrt=True"),
        (lgb.LGBMRegressor(zero_as_missing=True, **quick), "zero_as_missing=True"),
        (lgb.LGBMClassifier(boosting_type="rf", subsample=0.5, subsample_freq=1, **quick), "boosting_type='rf'"),
        (lgb.LGBMClassifier(objective="multiclassova", num_class=2, **quick), "objective 'multiclassova'"),
    ):
        with pytest.raises(ValueError, match=message):
            read_model(model.fit(X, y), X)


def test_categories_need_the_types_of_the_fit():
    X, score = mixed_table()
    model = lgb.LGBMClassifier(n_estimators=2, n_jobs=1, verbose=-1).fit(X, two(score))
    with pytest.raises(ValueError, match=r"fitted on 1 columns of categories, `X` has 0"):
        read_model(model, X.assign(job=X.job.cat.codes))
    from sklearn.ensemble import HistGradientBoostingClassifier

    with pytest.raises(ValueError, match="has categories: pass `X`"):
        read_model(HistGradientBoostingClassifier(max_iter=2).fit(X, two(score)))


def test_categories_are_read_in_any_order():
    X, score = mixed_table()
    y = (score > np.median(score)).astype(int)
    other = X.assign(job=X.job.cat.reorder_categories(["pilot", "cook", "judge", "smith", "nurse"]))
    for model in (
        lgb.LGBMClassifier(n_estimators=5, n_jobs=1, verbose=-1),
        xgb.XGBClassifier(n_estimators=5, enable_categorical=True),
    ):
        model.fit(X, y)
        for table in (X, other):
            ensemble = read_model(model, table)
            assert compare_outputs(ensemble, other, model.predict(other)) == 0
            assert compare_outputs(ensemble, X, model.predict(X)) == 0
