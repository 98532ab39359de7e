"""Which names are taken for misspellings of each other."""

from __future__ import annotations

import pytest

from gitfleet.formats.near_names import did_you_mean, is_near, nearest
from gitfleet.formats.texts import FormatsText


@pytest.mark.parametrize(
    ("one", "other", "near"),
    [
        ("web", "web", True),
        ("web", "wbe", True),
        ("EU", "eu", True),
        ("eu", "us", False),
        ("", "web", False),
        ("eu-1", "us-1", False),
        ("eu-west-1", "eu-wset-1", True),
        ("eu-west-1", "eu-west-2", False),
        ("deployments", "Deployment", True),
        ("prod", "production", False),
        ("abcd", "abXX", False),
        ("abcd", "abcX", True),
    ],
)
def test_near_names(one: str, other: str, near: bool) -> None:
    assert (is_near(one, other), is_near(other, one)) == (near, near)


@pytest.mark.parametrize(
    ("name", "known", "expected"),
    [
        ("wbe", ["db", "web"], "web"),
        ("WEB", ["web", "weeb"], "web"),
        ("frontend", ["frontends", "frontned", "backend"], "frontends"),
        ("abcx", ["abcz", "abcy"], "abcy"),
        ("web", [], None),
        ("web", ["database"], None),
    ],
)
def test_the_nearest_name(name: str, known: list[str], expected: str | None) -> None:
    assert nearest(name, iter(known)) == expected
    hint = FormatsText.YOU_MEAN(near=expected) if expected else "correct it"
    assert did_you_mean(name, known, "correct it") == hint
