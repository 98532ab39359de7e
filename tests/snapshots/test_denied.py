"""What the fleet's policy keeps from a placement, and what of it stays because it is placed already (D37)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api.conditions import Reason
from gitfleet.api.objects import Manifest
from gitfleet.api.placing_policy import KindPattern, PlacingPolicy, PlacingRule
from gitfleet.api.texts import ApiText
from gitfleet.snapshots.selection import UserError
from gitfleet.snapshots.texts import SnapshotsText
from tests.snapshots.builders import (
    ANNOTATION,
    config,
    envelope,
    index,
    manifest,
    namespace,
    obj,
    pick,
    pick_namespace,
    placement,
    record_of,
    role,
    take,
)

WEB, SETTINGS, READER = namespace("web"), config("settings", "web"), role("reader")
ALL = (pick_namespace("web"), pick("ClusterRole"))
ROLES = KindPattern(group="rbac.authorization.k8s.io", kind="ClusterRole")


DENIED = ApiText.DENIED_SPEC_POLICY_DENY_FLEETCONFIG(index="0")
RESERVED = (
    "ConfigMap/kube-node-lease/inner in ConfigMap/web/bundle (resources/ConfigMap/web/bundle.yaml:1): its namespace "
    + ApiText.RESERVED_PLACE_ELSEWHERE()
)
BUNDLE = envelope("bundle", "web", config("inner", "kube-node-lease"))
UNREADABLE = obj("v1", "ConfigMap", "b", "web", data={"a": "{"}, metadata={"annotations": {ANNOTATION: "true"}})


def denying(*kinds: KindPattern, **more: Any) -> PlacingPolicy:
    """A policy of one rule."""
    return PlacingPolicy(deny=(PlacingRule(kinds=kinds, **more),))


@pytest.mark.parametrize(
    ("policy", "payload", "message"),
    [
        (denying(ROLES), (READER,), f"ClusterRole/reader (resources/ClusterRole/reader.yaml:1): its kind {DENIED}"),
        (denying(ROLES, placements=("api",)), (READER,), None),
        (PlacingPolicy(), (BUNDLE,), RESERVED),
        (PlacingPolicy(), (UNREADABLE,), None),
    ],
)
def test_what_a_placement_may_not_have(
    policy: PlacingPolicy, payload: tuple[Manifest, ...], message: str | None
) -> None:
    found = take(placement(*ALL), index(WEB, *payload, policy=policy))
    if message is None:
        assert found.user_error is None
        assert [m.key for m in found.resource_snapshots[0].manifests or ()] == [m.key for m in (WEB, *payload)]
        return
    assert found.user_error is not None and found.resource_snapshots == ()
    assert found.user_error.reason == Reason.INVALID_RESOURCE_SELECTORS
    assert found.user_error.message.startswith(
        SnapshotsText.RESOURCE_SELECTORS_CANNOT_USED(placement="web", why=message)
    )


OPEN = PlacingPolicy(allow=(PlacingRule(scope="Cluster", placements=("web/web",)),))
NOT_OPEN = PlacingPolicy(allow=(PlacingRule(scope="Cluster"), PlacingRule(placements=("web/other",))))


@pytest.mark.parametrize(
    ("inner", "policy", "may"),
    [
        (config("inner", "web"), PlacingPolicy(), True),
        (role("boss"), PlacingPolicy(), False),
        (config("inner", "ops"), PlacingPolicy(), False),
        (role("boss"), OPEN, True),
        (role("boss"), NOT_OPEN, False),
    ],
)
def test_an_envelope_takes_a_resource_placement_no_further_than_its_namespace(
    inner: Manifest, policy: PlacingPolicy, may: bool
) -> None:
    found = take(placement(pick("ConfigMap"), ns="web"), index(WEB, envelope("bundle", "web", inner), policy=policy))
    assert (found.user_error is None) is may
    if not may:
        assert found.user_error is not None
        assert ApiText.NOT_IN_NAMESPACE_PLACEMENT(home="web", placement="web/web") in found.user_error.message
    assert take(placement(pick_namespace("web")), index(WEB, envelope("bundle", "web", inner))).user_error is None


def test_what_is_placed_already_stays_in_the_version_that_it_has() -> None:
    subject, policy = placement(*ALL), denying(ROLES)
    first = take(subject, index(WEB, SETTINGS, READER))
    record = record_of(subject, first)
    exported = manifest({**READER.body, "status": {"by": "a server"}})
    edited = config("settings", "web", "2")
    stays = take(subject, index(WEB, edited, exported, policy=policy), record)
    assert stays.user_error is None
    bodies = [m.body for m in stays.resource_snapshots[-1].manifests or ()]
    assert bodies == [m.body for m in (WEB, edited, READER)]
    unusable = SnapshotsText.RESOURCE_SELECTORS_CANNOT_USED(placement="web", why="ClusterRole")
    for payload in ((role("reader", tier="x"),), (READER, role("writer"))):
        found = take(subject, index(WEB, SETTINGS, *payload, policy=policy), record)
        assert found.resource_snapshots == first.resource_snapshots
        assert found.user_error is not None and found.user_error.message.startswith(
            f"{unusable}/{payload[-1].key.name} (resources/"
        )
    (latest,) = first.resource_snapshots
    unloaded = replace(record, resource_snapshots=(replace(latest, manifests=None),))
    denied = take(subject, index(WEB, SETTINGS, READER, policy=policy), unloaded).user_error
    assert denied == UserError(
        Reason.INVALID_RESOURCE_SELECTORS, f"{unusable}/reader (resources/ClusterRole/reader.yaml:1): its kind {DENIED}"
    ), "the version that is placed is not known"
