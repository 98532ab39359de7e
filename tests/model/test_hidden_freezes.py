"""Which errors of a commit may be all that is left of a Freeze: table over faults, and over what goes on instead."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.api.faults import Fault, LastGood, Severity
from gitfleet.api.freeze_files import FREEZES, Freeze
from gitfleet.api.objects import Origin
from gitfleet.api.values import NamespacedName
from gitfleet.model.desired import Desired
from tests.rollout.builders import NOW

HERE = f"{FREEZES}/a.yaml"
OUT = "clusters/a.yaml"
SALE = ("Freeze", "sale")


def fault(object_: str = "Freeze/sale", path: str = HERE, line: int = 3, **more: Any) -> Fault:
    """An error of a field."""
    return Fault(**{"path": path, "line": line, "object": object_, "field": "spec", "message": "no", **more})


def desired(*faults: Fault, origin: Origin | None = None, written: bool = False, **more: Any) -> Desired:
    """A commit with these faults, and the freeze `sale` where it is written or has an origin."""
    sale = Freeze(name="sale", owner="ann", reason="r", until=NOW, origin=origin)
    freezes = {SALE: sale} if written or origin else {}
    return Desired(commit="d", objects={FREEZES: freezes}, faults=faults, **more)


WARNING: dict[str, Any] = {"severity": Severity.WARNING}
KIND: dict[str, Any] = {"field": "kind"}


@pytest.mark.parametrize(
    ("found", "hides"),
    [
        (fault(), True),
        (fault(path=OUT), True),
        (fault(**WARNING), False),
        (fault(**WARNING, **KIND), True),
        (fault("Freezes/sale", OUT, **WARNING, **KIND), False),
        # Another known kind.
        (fault("ClusterResourcePlacement/web"), False),
        (fault("ClusterResourcePlacement/web", OUT), False),
        (fault("Pin/whatever/x"), False),
        # No kind that is known: in the folder whatever it is, elsewhere what is nearly a Freeze by its kind.
        (fault("Freezes/sale"), True),
        (fault("Freezes/sale", OUT), False),
        (fault("Freezes/sale", OUT, **KIND), True),
        (fault("Evictin/sale"), False),
        (fault("Evictin/sale", OUT, **KIND), False),
        (fault("Whatever/x"), True),
        (fault("Whatever/x", **KIND), True),
        (fault("Whatever/x", OUT), False),
        (fault("Whatever/x", OUT, **KIND), False),
        (fault(""), True),
        (fault("", OUT), False),
        (fault("", "freezes-of-old/a.yaml"), False),
        (fault("Freezes/shop/sale", **KIND), True),
        (fault("Freeze/Eviction/sale"), True),
    ],
)
def test_an_error_that_may_hide_a_freeze(found: Fault, hides: bool) -> None:
    assert desired(found).freezes.unreadable == ((f"{found.path}:3",) if hides else ())


@pytest.mark.parametrize(
    ("found", "hides"),
    [
        (fault(), False),
        (fault(path=OUT), False),
        (fault("Freeze/other"), True),
        (fault("FreezeOverride/sale"), False),
        (fault("Freezes/sale"), True),
    ],
)
def test_a_freeze_that_is_in_force_is_not_hidden(found: Fault, hides: bool) -> None:
    assert bool(desired(found, written=True).freezes.unreadable) is hides
    assert Desired(commit="d", faults=(found,)).freezes.unreadable == (
        () if found.object.startswith("FreezeO") else (f"{found.path}:3",)
    )


GOOD = LastGood(blob="b", documents=(0, 2))


@pytest.mark.parametrize(
    ("object_", "origin", "good", "hides"),
    [
        # Without a name, any last good version of the file counts.
        ("", None, {HERE: (GOOD,)}, False),
        ("", None, {OUT: (GOOD,)}, True),
        ("", None, {HERE: (LastGood(blob="b", documents=()),)}, True),
        ("Freezes", None, {HERE: (GOOD,)}, False),
        ("Freezes", None, {}, True),
        ("Whatever", None, {HERE: (GOOD,)}, True),
        # With a name, that of the freeze.
        ("Freezes/sale", Origin(HERE, 1, "b", 2), {HERE: (LastGood(blob="a", documents=(0,)), GOOD)}, False),
        ("Freezes/shop/sale", Origin(HERE, 1, "b", 0), {HERE: (GOOD,)}, False),
        ("Freezes/sale", Origin(HERE, 1, "b", 1), {HERE: (GOOD,)}, True),
        ("Freezes/sale", Origin(HERE, 1, "c", 0), {HERE: (GOOD,)}, True),
        ("Freezes/sale", Origin(HERE, 1, "b", 0), {OUT: (GOOD,)}, True),
        ("Freezes/other", Origin(HERE, 1, "b", 0), {HERE: (GOOD,)}, True),
        ("Freezes/sale", None, {HERE: (GOOD,)}, True),
        ("Whatever/sale", Origin(HERE, 1, "b", 0), {HERE: (GOOD,)}, False),
        # Its name alone is near no kind.
        ("autumn", Origin(HERE, 1, "b", 0), {HERE: (GOOD,)}, True),
    ],
)
def test_a_freeze_that_goes_on_as_it_last_was_is_not_hidden(
    object_: str, origin: Origin | None, good: dict[str, tuple[LastGood, ...]], hides: bool
) -> None:
    given = desired(fault(object_), origin=origin, written=True, last_good=good)
    assert bool(given.freezes.unreadable) is hides
    assert not desired(fault(object_, **WARNING), origin=origin, last_good=good).freezes.unreadable
    unlisted = Desired(commit="d", faults=given.faults, last_good=good)
    assert bool(unlisted.freezes.unreadable) is (hides or "/" in object_)


def test_the_place_of_the_first_error_of_each_is_named_once() -> None:
    found = (fault(line=5), fault(line=7), fault("Freeze/late", line=5), fault("Freeze/last", line=9), fault(path=OUT))
    assert desired(*found).freezes.unreadable == (f"{HERE}:5", f"{HERE}:9", f"{OUT}:3")
    assert desired(*found[:4], found[0]).freezes.unreadable == (f"{HERE}:5", f"{HERE}:9")


@pytest.mark.parametrize(
    ("found", "hides"),
    [
        (fault(), True),
        (fault(path=OUT), True),
        (fault(**WARNING), False),
        (fault("", **WARNING), False),
        (fault(""), True),
        (fault("", OUT), False),
        (fault("Freeze/other"), False),
        (fault("Pin/sale"), False),
    ],
)
def test_where_the_errors_are_that_an_object_of_a_name_may_have(found: Fault, hides: bool) -> None:
    given = desired(found, fault(line=4))
    places = list(given.faults_hiding("Freeze", NamespacedName("", "sale"), FREEZES))
    assert places == [f"{one.path}:{one.line}" for one in (found,) * hides] + [f"{HERE}:4"]
