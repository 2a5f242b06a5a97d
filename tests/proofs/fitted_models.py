"""Fitted models of each library, what they add up to, and rows at and beside every threshold that was read of them."""

from __future__ import annotations

from functools import partial

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ExtraTreeRegressor

from suffice.proofs.reading import read_model

JOBS = ("cook", "nurse", "smith", "judge", "pilot")
NUMBERS = ["age", "income", "debt"]
FLOAT32, FLOAT64 = 3e38, 1e300


def number_table(missing=False, n=400):
    random = np.random.default_rng(0)
    age, income, debt = random.integers(18, 70, n).astype(float), random.normal(50, 20, n), random.exponential(5, n)
    score = age / 20 + income / 30 - debt / 4 + random.normal(0, 0.5, n)
    X = pd.DataFrame({"age": age, "income": income, "debt": debt})
    return (X.mask(random.random(X.shape) < 0.15) if missing else X), score


def mixed_table():
    X, score = number_table(missing=True)
    random = np.random.default_rng(1)
    codes = random.choice(len(JOBS), len(X), p=[0.35, 0.25, 0.2, 0.15, 0.05])
    X["job"] = pd.Categorical.from_codes(codes, JOBS)
    X["rooms"] = random.integers(1, 5, len(X))
    X.loc[random.random(len(X)) < 0.1, "job"] = np.nan
    return X, score + np.array([2.0, -1.0, 0.5, 3.0, -2.0])[codes] + 0.4 * X.rooms.to_numpy()


def text_table():
    X, score = mixed_table()
    return X.astype({"job": object}), score


def two(score):
    return np.array(["no", "yes"])[(score > np.median(score)).astype(int)]


def three(score):
    return np.array(["low", "middle", "top"])[np.searchsorted(np.quantile(score, [0.3, 0.7]), score)]


def coded(labels):
    """Classes as XGBoost takes them."""
    return lambda score: np.unique(labels(score), return_inverse=True)[1]


def as_is(score):
    return score


def positive(score):
    return np.exp(score / 4)


def decision(model):
    return model.decision_function


def predicted(model):
    return model.predict


def log_predicted(model):
    return lambda X: np.log(model.predict(X))


def xgb_margin(model):
    return lambda X: model.predict(X, output_margin=True)


def lgb_margin(model):
    return lambda X: model.predict(X, raw_score=True)


def _columns(encoder, numbers=None, **settings):
    return make_column_transformer(
        (encoder, ["job"]), (numbers or SimpleImputer(), NUMBERS), remainder="passthrough", **settings
    )


def _one_hot(**settings):
    return make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore", **settings))


forest = partial(RandomForestClassifier, 15, random_state=0)
few = {"n_estimators": 15, "random_state": 0}
leafy = {"n_estimators": 20, "min_child_samples": 5, "n_jobs": 1, "verbose": -1}
with_gaps = partial(number_table, missing=True)
_kept = _columns("passthrough", "passthrough", verbose_feature_names_out=False).set_output(transform="pandas")

# Model, table, outcomes, what gives its margins or None, and the largest threshold beside which rows are asked.
MODELS = {
    "tree": (DecisionTreeClassifier(random_state=0), with_gaps, three, None, FLOAT32),
    "random tree": (ExtraTreeClassifier(random_state=0), number_table, two, None, FLOAT32),
    "tree of numbers": (DecisionTreeRegressor(random_state=0), with_gaps, as_is, predicted, FLOAT32),
    "random tree of numbers": (ExtraTreeRegressor(random_state=0), with_gaps, as_is, predicted, FLOAT32),
    "forest": (RandomForestClassifier(**few), with_gaps, two, None, FLOAT32),
    "forest of small trees": (RandomForestClassifier(max_depth=4, **few), with_gaps, three, None, FLOAT32),
    "extra trees": (ExtraTreesClassifier(**few), with_gaps, three, None, FLOAT32),
    "forest of numbers": (RandomForestRegressor(**few), with_gaps, as_is, predicted, FLOAT32),
    "extra trees of numbers": (ExtraTreesRegressor(**few), with_gaps, as_is, predicted, FLOAT32),
    "boosting": (GradientBoostingClassifier(**few), number_table, two, decision, FLOAT32),
    "boosting from 0": (
        GradientBoostingClassifier(init="zero", loss="exponential", **few), number_table, two, decision, FLOAT32
    ),
    "boosting of classes": (GradientBoostingClassifier(**few), number_table, three, decision, FLOAT32),
    "boosting of numbers": (GradientBoostingRegressor(loss="huber", **few), number_table, as_is, predicted, FLOAT32),
    "histograms": (HistGradientBoostingClassifier(max_iter=15), with_gaps, two, decision, FLOAT64),
    "histograms of classes": (HistGradientBoostingClassifier(max_iter=5), with_gaps, three, decision, FLOAT64),
    "histograms of categories": (
        HistGradientBoostingClassifier(max_iter=15, min_samples_leaf=5), mixed_table, two, decision, FLOAT64
    ),
    "histograms of named categories": (
        HistGradientBoostingClassifier(max_iter=15, min_samples_leaf=5, categorical_features=["rooms", "job"]),
        mixed_table, three, decision, FLOAT64,
    ),
    "histograms of counts": (
        HistGradientBoostingRegressor(max_iter=15, loss="poisson"), with_gaps, positive, log_predicted, FLOAT64
    ),
    "xgboost": (xgb.XGBClassifier(n_estimators=30), with_gaps, coded(two), xgb_margin, FLOAT32),
    "xgboost, own base": (
        xgb.XGBClassifier(n_estimators=5, base_score=0.3), with_gaps, coded(two), xgb_margin, FLOAT32
    ),
    "xgboost of classes": (xgb.XGBClassifier(n_estimators=10), with_gaps, coded(three), xgb_margin, FLOAT32),
    "xgboost of numbers": (xgb.XGBRegressor(n_estimators=30), with_gaps, as_is, xgb_margin, FLOAT32),
    "xgboost of amounts": (
        xgb.XGBRegressor(n_estimators=10, objective="reg:tweedie"), with_gaps, positive, xgb_margin, FLOAT32
    ),
    "xgboost of probabilities": (
        xgb.XGBRegressor(n_estimators=10, objective="reg:logistic"), with_gaps, coded(two), xgb_margin, FLOAT32
    ),
    "xgboost forest": (xgb.XGBRFClassifier(n_estimators=10), with_gaps, coded(two), xgb_margin, FLOAT32),
    "xgboost of categories": (
        xgb.XGBClassifier(n_estimators=15, enable_categorical=True), mixed_table, coded(two), xgb_margin, FLOAT32
    ),
    "xgboost of sets of categories": (
        xgb.XGBClassifier(n_estimators=15, enable_categorical=True, max_cat_to_onehot=1),
        mixed_table, coded(three), xgb_margin, FLOAT32,
    ),
    "lightgbm": (lgb.LGBMClassifier(**leafy), with_gaps, two, lgb_margin, FLOAT64),
    "lightgbm without gaps": (lgb.LGBMClassifier(**leafy), number_table, two, lgb_margin, FLOAT64),
    "lightgbm, gaps are 0": (lgb.LGBMClassifier(use_missing=False, **leafy), with_gaps, two, lgb_margin, FLOAT64),
    "lightgbm of classes": (lgb.LGBMClassifier(**leafy), with_gaps, three, lgb_margin, FLOAT64),
    "lightgbm of numbers": (lgb.LGBMRegressor(**leafy), with_gaps, as_is, lgb_margin, FLOAT64),
    "lightgbm of counts": (lgb.LGBMRegressor(objective="poisson", **leafy), with_gaps, positive, lgb_margin, FLOAT64),
    "lightgbm of categories": (lgb.LGBMClassifier(**leafy), mixed_table, two, lgb_margin, FLOAT64),
    "lightgbm of sets of categories": (
        lgb.LGBMClassifier(max_cat_to_onehot=1, **leafy), mixed_table, three, lgb_margin, FLOAT64
    ),
}  # fmt: skip

PIPELINES = {
    "imputed": (make_pipeline(SimpleImputer(), forest()), with_gaps, two),
    "imputed by a constant": (
        make_pipeline(SimpleImputer(strategy="constant", fill_value=-1, add_indicator=True), forest()), with_gaps, two
    ),
    "imputed and scaled": (
        make_pipeline(SimpleImputer(add_indicator=True), StandardScaler(), forest()), with_gaps, two
    ),
    "scaled three times, chosen": (
        make_pipeline(
            SimpleImputer(), MinMaxScaler(), RobustScaler(), SelectKBest(k=2), GradientBoostingClassifier(**few)
        ),
        with_gaps, two,
    ),
    "scaled before lightgbm": (make_pipeline(StandardScaler(), lgb.LGBMClassifier(**leafy)), with_gaps, two),
    "scaled before xgboost": (
        make_pipeline(MaxAbsScaler(), FunctionTransformer(), "passthrough", xgb.XGBClassifier(n_estimators=10)),
        with_gaps, coded(two),
    ),
    "one-hot": (make_pipeline(_columns(_one_hot()), forest()), mixed_table, two),
    "one-hot of text": (make_pipeline(_columns(_one_hot()), forest()), text_table, two),
    "one-hot without the first": (make_pipeline(_columns(_one_hot(drop="first")), forest()), mixed_table, three),
    "one-hot of frequent labels": (make_pipeline(_columns(_one_hot(min_frequency=70)), forest()), text_table, two),
    "one-hot, infrequent if unknown": (
        make_pipeline(_columns(OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=3)), forest()),
        text_table, two,
    ),
    "one-hot of numbers": (
        make_pipeline(
            ColumnTransformer(
                [
                    ("rooms", OneHotEncoder(handle_unknown="ignore"), ["rooms"]),
                    ("numbers", SimpleImputer(), NUMBERS),
                    ("job", "drop", ["job"]),
                ]
            ),
            forest(),
        ),
        mixed_table, two,
    ),
    "ordinal": (
        make_pipeline(_columns(OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-2)), forest()),
        mixed_table, two,
    ),
    "ordinal before histograms": (
        make_pipeline(
            _columns(OrdinalEncoder(), StandardScaler()),
            HistGradientBoostingClassifier(max_iter=15, categorical_features=[0]),
        ),
        text_table, two,
    ),
    "columns by their types": (
        make_pipeline(
            ColumnTransformer(
                [
                    ("labels", _one_hot(), make_column_selector(dtype_exclude=np.number)),
                    (
                        "numbers",
                        make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()),
                        make_column_selector(dtype_include=np.number),
                    ),
                ]
            ),
            GradientBoostingClassifier(n_estimators=15),
        ),
        mixed_table, two,
    ),
    "frames": (
        make_pipeline(_columns(_one_hot(sparse_output=False)).set_output(transform="pandas"), forest()),
        mixed_table, two,
    ),
    "categories handed on": (make_pipeline(_kept, HistGradientBoostingClassifier(max_iter=15)), mixed_table, two),
    "categories handed on to lightgbm": (make_pipeline(_kept, lgb.LGBMClassifier(**leafy)), mixed_table, two),
}  # fmt: skip


def rows_at_thresholds(ensemble, X, n, largest):
    """Draw rows from a table, with other labels, and with numbers at and next to each threshold, huge ones and -0.0."""
    random = np.random.default_rng(2)
    rows = X.iloc[random.integers(0, len(X), n)].reset_index(drop=True)
    for c, column in enumerate(ensemble.columns):
        own = X[column.name]
        if column.labels is not None:
            drawn = pd.Series(random.choice(np.array(column.labels, dtype=object), n))
            rows[column.name] = drawn.mask(own.isna().any() & (random.random(n) < 0.1)).astype(own.dtype)
            continue
        at = ensemble.threshold[(ensemble.column == c) & (ensemble.label_set < 0)]
        at = np.append(np.unique(at[np.abs(at) < largest]), 0.0)
        with np.errstate(over="ignore"):
            single = at.astype(np.float32)
        near = [at, np.nextafter(at, np.inf), np.nextafter(at, -np.inf), single.astype(float)]
        near += [np.nextafter(single, np.float32(end)).astype(float) for end in (np.inf, -np.inf)]
        near += [(near[3] + near[4]) / 2, (near[3] + near[5]) / 2, at + random.normal(0, 1, len(at))]
        near += [[0.0, -0.0, 1e-35, -1e-35, 1e-45, -1e-45, 1e30, -1e30]]
        numbers = np.concatenate(near)
        numbers = random.choice(numbers[np.abs(numbers) < largest], n)
        numbers = np.where(random.random(n) < 0.3, rows[column.name].astype(float), numbers)
        rows[column.name] = np.where(own.isna().any() & (random.random(n) < 0.1), np.nan, numbers)
    return rows


SIZES = [1_000, pytest.param(100_000, marks=pytest.mark.slow)]


def predict_as_read(model, make_table, outcomes, n_rows, largest):
    """Fit a model, and return what it is read as, with rows and what both say of them."""
    X, score = make_table()
    model = clone(model).fit(X, outcomes(score))
    ensemble = read_model(model, X)
    rows = rows_at_thresholds(ensemble, X, n_rows, largest)
    values = ensemble.encode(rows)
    return model, ensemble, rows, ensemble.margins(values), ensemble.decide(values)
