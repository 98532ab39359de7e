"""Which new object stands in the place of one that is gone, as a comparison with each of them would find it."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitfleet.formats import renames
from gitfleet.formats.near_names import is_near, is_typing_error
from gitfleet.formats.renames import MOST_LETTERS, Renames

Identity = tuple[str, str, str, str]
OLD: Identity = ("apps", "Deployment", "web", "settings")


def compared(old: Identity, fresh: set[Identity]) -> Identity | None:
    """The first that differs in one field, and there as a typing error does."""
    for new in sorted(fresh):
        differing = [field for field in range(4) if old[field] != new[field]]
        if len(differing) == 1:
            alike = is_near if differing[0] < 2 else is_typing_error
            if alike(old[differing[0]], new[differing[0]]):
                return new
    return None


NAMES = st.text("ab1-", max_size=5)
IDENTITIES = st.tuples(st.sampled_from(["apps", "app"]), st.sampled_from(["Pod", "Pdo"]), NAMES, NAMES)
EVERY = sorted({"".join(letters) for size in range(1, 4) for letters in combinations("abcabc12", size)})


@given(IDENTITIES, st.sets(IDENTITIES, max_size=30))
def test_few_are_found_as_by_a_comparison_with_each(old: Identity, fresh: set[Identity]) -> None:
    assert Renames(fresh).misspelt(old) == compared(old, fresh)


@pytest.mark.parametrize("field", [2, 3])
@given(old=NAMES)
def test_many_are_found_as_by_a_comparison_with_each(field: int, old: str) -> None:
    def with_name(name: str) -> Identity:
        group, kind, *_ = OLD
        return (group, kind, name, OLD[3]) if field == 2 else (group, kind, OLD[2], name)

    fresh = {with_name(name) for name in EVERY if name != old}
    assert len(fresh) > 32
    assert Renames(fresh).misspelt(with_name(old)) == compared(with_name(old), fresh)


def test_thousands_are_compared_with_a_few_each(monkeypatch: pytest.MonkeyPatch) -> None:
    comparisons: list[str] = []

    def counted(old: str, new: str) -> bool:
        comparisons.append(old)
        return is_typing_error(old, new)

    monkeypatch.setattr(renames, "is_typing_error", counted)
    old = [(*OLD[:3], f"settings-{number}") for number in range(2000)]
    here = Renames((*OLD[:3], f"setings-{number}") for number in range(2000))
    assert [here.misspelt(one) for one in old] == [(*OLD[:3], f"setings-{number}") for number in range(2000)]
    assert len(old) <= len(comparisons) < 10 * len(old)


@pytest.mark.parametrize("more", [0, 1])
def test_too_many_letters_are_not_compared(more: int) -> None:
    near = (*OLD[:3], "setings" + "x" * 243)
    every = [near, *((*OLD[:3], f"{number:0250}") for number in range(MOST_LETTERS // 250 - 1)), (*OLD[:3], "y" * more)]
    assert Renames(every).misspelt((*OLD[:3], "settings" + "x" * 243)) == (None if more else near)


def test_what_differs_in_one_field_whatever_it_is() -> None:
    here = Renames([("batch", *OLD[1:]), ("apps", "Deployment", "default", "settings"), (*OLD[:3], "other"), OLD])
    assert here.in_another_group(OLD) == ("batch", *OLD[1:])
    assert here.elsewhere(OLD) == ("apps", "Deployment", "default", "settings")
    assert here.of_the_kind(OLD) == (*OLD[:3], "other")
    assert here.misspelt(OLD) is None
    assert Renames([OLD]).in_another_group(OLD) is Renames([]).elsewhere(OLD) is Renames([OLD]).of_the_kind(OLD) is None
