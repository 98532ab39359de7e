"""Which removals wait for the errors of a commit, and when these are corrected."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from gitfleet.api.faults import Fault, Severity
from gitfleet.api.holds import Hold, HoldReason, HoldRule, Removal, RemovalKind
from gitfleet.api.objects import Identity, ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.model.state import FleetState
from gitfleet.removals import deleted_still, without_corrected
from gitfleet.removals.unclear import changed_meanwhile, unclear
from tests.state import builders

T0 = datetime(2026, 11, 23, tzinfo=UTC)
WEB = PlacementKey("", "web")
OBJECT = Removal(kind=RemovalKind.OBJECT, placement=WEB, object=ObjectKey("", "v1", "Namespace", "", "x"))
PLACEMENT = Removal(kind=RemovalKind.PLACEMENT, placement=WEB)
BINDING = Removal(kind=RemovalKind.BINDING, placement=WEB, cluster="c1")
CLUSTER = Removal(kind=RemovalKind.CLUSTER, cluster="c1")
ALL = [OBJECT, PLACEMENT, BINDING, CLUSTER]
NEW = Fault("placements/shop.yaml", 3, "ClusterResourcePlacement/shop", "spec.x", "is not a known field; remove it")
OLD = replace(NEW, path="placements/zoo.yaml", line=1)
HIDDEN = Fault("placements/old.yaml", 1, "", "", "is not read any more", Severity.WARNING)
NAMES = {
    "error": "{} has an error, so that what goes may be meant to stay; correct it, and this is decided again",
    "warning": "placements/old.yaml is not read any more, so that what goes may be meant to stay",
}


@pytest.mark.parametrize(
    ("places", "removals", "found"),
    [
        ([], ALL, []),
        ([NEW], [], []),
        ([NEW], ALL, [(NAMES["error"].format("placements/shop.yaml:3"), NEW.path, ALL)]),
        ([OLD], ALL, [(NAMES["error"].format("placements/zoo.yaml:1"), OLD.path, [OBJECT, PLACEMENT])]),
        ([OLD], [BINDING, CLUSTER], []),
        ([HIDDEN], ALL, [(NAMES["warning"], "", ALL)]),
        ([OLD, NEW], [BINDING], [(NAMES["error"].format("placements/shop.yaml:3"), NEW.path, [BINDING])]),
        (
            [OLD, NEW],
            [OBJECT, BINDING],
            [
                (NAMES["error"].format("placements/shop.yaml:3"), NEW.path, [OBJECT, BINDING]),
                (NAMES["error"].format("placements/zoo.yaml:1"), OLD.path, [OBJECT]),
            ],
        ),
    ],
)
def test_removals_wait_for_each_place(
    places: list[Fault], removals: list[Removal], found: list[tuple[str, str, list[Removal]]]
) -> None:
    findings = list(unclear(places, removals, (OLD,)))
    assert {finding.reason.rule for finding in findings} <= {HoldRule.UNCLEAR_COMMIT}
    said = [(one.reason.message, one.reason.error_in, list(one.removals)) for one in findings]
    assert said == found
    assert [one.reason.unread for one in findings] == ["" if error_in else HIDDEN.path for _, error_in, _ in found]


def test_ten_errors_are_named() -> None:
    places = [replace(NEW, path=f"placements/{number:02}.yaml") for number in range(12)]
    assert [one.reason.error_in for one in unclear(places, ALL, ())] == [one.path for one in places[:10]]
    named = [places[index].path for index in (*range(2, 12), 0)][:10]
    assert [one.reason.error_in for one in unclear(places, ALL, places[:2])] == named


AGAIN = "{} has kept it, and commits that came since may have changed what goes"


@pytest.mark.parametrize(
    ("observed", "removals", "found"),
    [
        ("c", ALL, {"hold-new": ALL}),
        ("later", ALL, {"hold-a": ALL, "hold-b": ALL}),
        (None, ALL, {"hold-a": ALL, "hold-new": ALL, "hold-b": ALL}),
        ("later", [OBJECT], {"hold-a": [OBJECT], "hold-b": [OBJECT]}),
        ("later", [replace(CLUSTER, cluster="c2"), CLUSTER], {"hold-a": [CLUSTER], "hold-b": [CLUSTER]}),
    ],
)
def test_what_a_hold_kept_is_judged_again_after_later_commits(
    observed: str | None, removals: list[Removal], found: dict[str, list[Removal]]
) -> None:
    """Each hold that has ended by itself is a reason of its own; the commit that it is about came not since."""
    commits = {"hold-a": "c", "hold-new": "later", "hold-b": "c"}
    ended = [replace(hold("a"), name=name, commit=commit, removals=tuple(ALL)) for name, commit in commits.items()]
    said = {one.reason: list(one.removals) for one in changed_meanwhile(ended, removals, observed)}
    assert said == {HoldReason(rule=HoldRule.UNCLEAR_COMMIT, message=AGAIN.format(n)): one for n, one in found.items()}


def hold(*errors: str) -> Hold:
    reasons = tuple(HoldReason(rule=HoldRule.UNCLEAR_COMMIT, message="why", error_in=one) for one in errors)
    return Hold(name="hold-web-1", commit="c", since=T0, digest="d", reasons=reasons, removals=(OBJECT,))


@pytest.mark.parametrize(
    ("errors", "faults", "stays"),
    [
        (("a", "b"), ["a", "b"], True),
        (("a", "b"), ["b"], True),
        (("a", "b"), ["c"], False),
        (("a", "b"), [], False),
        (("a", ""), [], True),
        (("",), [], True),
        ((), [], True),
    ],
)
def test_a_hold_goes_with_the_last_of_its_errors(errors: tuple[str, ...], faults: list[str], stays: bool) -> None:
    found = [replace(NEW, path=path) for path in faults] + [replace(HIDDEN, path="a")]
    holds = {"hold-web-1": hold(*errors)}
    assert without_corrected(holds, found, ()) == (holds if stays else {})


def test_where_not_all_errors_are_listed_none_counts_as_corrected() -> None:
    many = [replace(NEW, line=number) for number in range(1001)]
    assert without_corrected({"hold-web-1": hold("a")}, many, ()) == {"hold-web-1": hold("a")}
    assert without_corrected({"hold-web-1": hold("a")}, many[1:], ()) == {}


@pytest.mark.parametrize(
    ("unread", "again", "stays"), [("a", (), True), ("a", ("b",), True), ("a", ("a",), False), ("", ("a",), True)]
)
def test_a_hold_goes_when_what_was_out_of_sight_is_read_again(unread: str, again: tuple[str, ...], stays: bool) -> None:
    reason = HoldReason(rule=HoldRule.UNCLEAR_COMMIT, message="why", unread=unread)
    holds = {"hold-web-1": replace(hold(), reasons=(reason,))}
    assert without_corrected(holds, (), again) == (holds if stays else {})


KEY = ObjectKey("", "v1", "ConfigMap", "web", "a")
TAKEN = Removal(kind=RemovalKind.OVERRIDDEN, placement=WEB, cluster="c1", object=KEY, override="cut")
THERE = replace(TAKEN, cluster="c2")
OTHERS = replace(TAKEN, placement=PlacementKey("", "gone"))
ANOTHER = replace(TAKEN, object=replace(KEY, name="b"))


@pytest.mark.parametrize(
    ("removals", "found"),
    [
        ([TAKEN], [TAKEN]),
        # Overrides take it elsewhere no more, take something else, or not of this placement.
        ([THERE], []),
        ([ANOTHER], []),
        ([OTHERS], []),
        ([OBJECT, PLACEMENT, BINDING, CLUSTER], []),
        ([replace(TAKEN, kind=RemovalKind.OBJECT)], []),
        ([replace(TAKEN, object=None), replace(TAKEN, placement=None)], []),
        ([CLUSTER, OTHERS, THERE, TAKEN, ANOTHER, replace(TAKEN, override="other")],
         [TAKEN, replace(TAKEN, override="other")]),
    ],
)  # fmt: skip
def test_what_overrides_delete_still_of_that_which_an_ended_hold_kept(
    removals: list[Removal], found: list[Removal]
) -> None:
    def overridden(key: PlacementKey, cluster: str) -> tuple[Identity, ...]:
        return (KEY.identity,) if (key, cluster) == (WEB, "c1") else ()

    after = FleetState(placements={WEB: builders.record("web")})
    ended = [replace(hold(""), removals=tuple(removals)), replace(hold(""), removals=(TAKEN,))]
    assert list(deleted_still(ended[:1], after, overridden)) == found
    assert list(deleted_still(ended, after, overridden)) == [*found, TAKEN]
