"""Kubernetes quantities, by apimachinery's own tables and by properties."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitfleet.formats.quantities import InvalidQuantity, parse_quantity

VALUES = [
    ("0", 0),
    ("+1", 1),
    ("1.", 1),
    (".5", Fraction(1, 2)),
    ("100m", Fraction(1, 10)),
    ("1n", Fraction(1, 10**9)),
    ("5u", Fraction(5, 10**6)),
    ("3M", 3 * 10**6),
    ("1E", 10**18),
    ("1e-3", Fraction(1, 1000)),
    ("1.5Gi", 3 * 2**29),
    ("8Ei", 2**63 - 1),  # capped
    ("9223372036854775808", 2**63 - 1),  # capped
    ("100E", 100 * 10**18),  # fits the fast form, which is not capped
    ("0.1n", Fraction(1, 10**9)),  # rounded up to nano
    ("-0.1n", -Fraction(1, 10**9)),
]


@pytest.mark.parametrize(("text", "value"), VALUES)
def test_values(text: str, value: Fraction | int) -> None:
    assert parse_quantity(text).value == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1e",
        "a",
        "0x1",
        "1.1.1",
        "1e300",
        "1e-301",
        "1" * 300,
        "١",
    ],
)
def test_what_is_no_quantity(text: str) -> None:
    with pytest.raises(InvalidQuantity):
        parse_quantity(text)


def test_spellings_of_one_value_are_equal() -> None:
    assert parse_quantity("1024Mi") == parse_quantity("1Gi")
    assert hash(parse_quantity("500m")) == hash(parse_quantity("0.5"))
    assert parse_quantity("500m") < parse_quantity("1") <= parse_quantity("1000m")


@given(st.from_regex(r"[+-]?[0-9]{1,40}(\.[0-9]{0,20})?([KMG]i|[numkMGTPE]|[eE][+-]?[0-9]{1,3})?", fullmatch=True))
def test_every_quantity_that_is_read_is_a_finite_float(text: str) -> None:
    try:
        quantity = parse_quantity(text)
    except InvalidQuantity as refused:
        assert refused.reason.startswith("has more than 300 digits")
        return
    assert math.isfinite(float(quantity))


@given(st.integers(-(10**12), 10**12), st.sampled_from(["", "m", "k", "Ki", "Mi", "e3"]))
def test_text_of_a_quantity_means_the_same(number: int, suffix: str) -> None:
    quantity = parse_quantity(f"{number}{suffix}")
    assert parse_quantity(str(quantity)) == quantity


@given(st.decimals(-1000, 1000, places=4), st.decimals(-1000, 1000, places=4))
def test_order_is_that_of_the_values(left: object, right: object) -> None:
    a, b = parse_quantity(f"{left:f}"), parse_quantity(f"{right:f}")
    assert (a < b, a == b, a > b) == (a.value < b.value, a.value == b.value, a.value > b.value)
