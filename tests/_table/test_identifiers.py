import numpy as np
import pytest

from suffice._table.encoding import is_identifier, warn_of_identifiers
from suffice.errors import IdentifierWarning

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("n", [50, 300, 5000])
@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("running", np.arange),
        ("shuffled", lambda n: RNG.permutation(n) + 1000),
        ("with gaps", lambda n: np.cumsum(RNG.integers(1, 4, n))),
        ("drawn", lambda n: RNG.choice(n * n // 25, n, replace=False) + 10_000_000),
        ("with missing ones", lambda n: np.where(np.arange(n) % 9 == 0, np.nan, np.arange(n))),
    ],
)
def test_numbers_that_were_made_to_differ_are_identifiers(name, make, n):
    assert is_identifier(name, make(n))
    assert is_identifier(name, make(n).astype(float))


@pytest.mark.parametrize("n", [30, 100, 300, 1000, 20_000])
@pytest.mark.parametrize(
    "make",
    [
        lambda n: np.round(RNG.lognormal(8, 1, n)),
        lambda n: RNG.integers(10_000, 200_000, n),
        lambda n: RNG.integers(1, 10**7, n),
        lambda n: np.round(RNG.normal(0, 1000, n)),
        lambda n: RNG.integers(1900, 2020, n),
        lambda n: RNG.integers(0, 3 * n, n),
        lambda n: RNG.normal(size=n),
        lambda n: np.arange(n) / 2,
        lambda n: np.full(n, 7),
        lambda n: np.full(n, np.nan),
    ],
)
def test_measured_numbers_are_no_identifiers(make, n):
    """Most amounts of a small table differ, too: what counts is how often chance would repeat them."""
    for _ in range(5):
        assert not is_identifier("amount", make(n))


def test_a_name_supports_the_decision_and_does_not_make_it():
    drawn = RNG.choice(20_000, 300, replace=False)  # chance would repeat about 2
    assert not is_identifier("customer", drawn)
    assert all(is_identifier(name, drawn) for name in ("customer_id", "CustomerID", "customerId", "id", "Row Number"))
    assert not is_identifier("paid", drawn)
    assert not is_identifier("id", RNG.choice(10**7, 300, replace=False))
    assert not is_identifier("id", RNG.integers(0, 50, 300))


def test_a_few_repeated_numbers_do_not_matter():
    numbers = np.arange(1000)
    numbers[:5] = numbers[5:10]
    assert is_identifier("customer", numbers)
    numbers[:30] = numbers[30:60]
    assert not is_identifier("customer", numbers)


def test_the_warning_names_the_columns_and_what_to_do():
    one = r"look like identifiers: 'id'\. Leave the column out if it only names the rows\.$"
    with pytest.warns(IdentifierWarning, match=one):
        warn_of_identifiers(["id"])
    two = r"look like identifiers: 'id' and 'no'\. Leave the column out if it only names the rows\.$"
    with pytest.warns(IdentifierWarning, match=two):
        warn_of_identifiers(["id", "no"])
    warn_of_identifiers([])
