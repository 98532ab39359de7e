"""Which names are taken for misspellings of each other."""

from __future__ import annotations

import pytest

from gitfleet.formats.near_names import did_you_mean, is_near, is_typing_error, nearest
from gitfleet.formats.texts import FormatsText


@pytest.mark.parametrize(
    ("one", "other", "near"),
    [
        ("web", "web", True),
        ("web", "wbe", True),
        ("web", "wed", True),
        ("web", "eb", False),
        ("EU", "eu", True),
        ("eu", "us", False),
        ("", "web", False),
        ("eu-1", "us-1", False),
        ("eu-west-1", "eu-wset-1", True),
        ("eu-west-1", "eu-west-2", False),
        ("eu-west-1", "eu-west-10", False),
        ("eu-west-1", "eu-west", True),
        ("deployments", "Deployment", True),
        ("Approval", "Approved", True),
        ("pproved", "Approved", True),
        ("lon-1", "sfo-1", False),
        ("prod", "production", False),
        ("production", "productoin-eu", True),
        ("abcd", "abXX", False),
        ("abcd", "abcX", True),
        ("abcdXX", "abcdYY", False),
        ("abcdefXX", "abcdefYY", True),
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


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("web", "web", False),
        ("web", "wb", True),
        ("web", "wweb", True),
        ("web", "wxb", True),
        ("web", "wbe", True),
        ("web", "w", False),
        ("web", "bew", False),
        ("web-1", "web-2", False),
        ("web1", "web", False),
        ("ab", "ba", True),
        ("worker-a", "worker-b", False),
        ("worker-a", "worker-aa", True),
        ("worker-a", "workr-a", True),
        ("worker-a", "wroker-a", True),
        ("worker-a", "workker-a", True),
        ("eu-1a", "eu-1b", False),
        ("a-worker", "b-worker", False),
        ("web.a.v1", "web.b.v1", False),
        ("worker-ab", "worker-ac", True),
        ("worker-blue", "worker-green", False),
        ("worker-v1", "worker-v2", False),
        ("worker-a", "workera", True),
        ("a", "b", False),
    ],
)
def test_one_typing_error(old: str, new: str, expected: bool) -> None:
    assert (is_typing_error(old, new), is_typing_error(new, old)) == (expected, expected)
