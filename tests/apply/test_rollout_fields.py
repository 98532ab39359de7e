"""What workload rollouts hold: how it is compared and written, and what stays on a cluster for them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api.objects import Identity, JsonObject, Manifest, ObjectKey
from gitfleet.api.strategies import DeletePropagation
from gitfleet.api.values import NamespacedName
from gitfleet.apply import Comparisons, Going, Ignored, PlansMemo, Wanted, plan_fleet, record_all_intended, settle_all
from gitfleet.apply.rollout_fields import reclaimed_fields, with_manifest_values, with_rollout_values
from gitfleet.apply.texts import ApplyText
from gitfleet.formats.managed_fields import ROLLOUT_MANAGER
from gitfleet.model.failures import Failures
from gitfleet.model.observations import LiveObject
from gitfleet.model.operations import Create, Delete, Keep, KeepCode, Operation, Outcome, OutcomeCode, Release, Update
from gitfleet.model.rollout_fields import ABSENT, Fields, RolloutFields
from gitfleet.model.state import FleetState
from tests.apply.model_cluster import manifest, namespace
from tests.apply.test_fleet import HERE, seen
from tests.apply.test_plan_apply import WEB, live, only, owned, plan, work
from tests.gates import OPEN

ROLLOUT = NamespacedName("ns", "roll")
PARTITION = "/spec/updateStrategy/rollingUpdate/partition"


DEPLOYMENT = manifest(
    {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "ns"},
        "spec": {"replicas": 5, "template": {"image": "web:1"}},
    }
)
IDENTITY = DEPLOYMENT.key.identity


def held(fields: Fields, *, stays: bool = False, identity: Identity = IDENTITY) -> dict[Identity, RolloutFields]:
    return {identity: RolloutFields(rollout=ROLLOUT, fields=fields, stays=stays)}


def spec(**parts: Any) -> JsonObject:
    return {"apiVersion": "apps/v1", "spec": parts}


@pytest.mark.parametrize(
    ("fields", "body", "there", "seen_as"),
    [
        ({"/spec/a": 1}, spec(a=5), spec(a=3), spec(a=5)),
        ({"/spec/a": 1}, spec(), spec(a=3), spec()),
        ({"/spec/a": ABSENT}, spec(a=5), spec(a=3, b=1), spec(a=5, b=1)),
        ({PARTITION: 2}, spec(), spec(updateStrategy={"type": None}), spec(updateStrategy={"type": None})),
        (
            {PARTITION: 2},
            spec(updateStrategy={"rollingUpdate": {"partition": 0}}),
            spec(updateStrategy={"type": "RollingUpdate"}),
            spec(updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}),
        ),
        ({"/spec/a/b": 1}, spec(a={"b": 1}), spec(a=["x"]), spec(a=["x"])),
        ({"/spec/a~1b": 1}, spec(**{"a/b": 2}), spec(**{"a/b": 3}), spec(**{"a/b": 2})),
    ],
)  # fmt: skip
def test_what_is_held_is_compared_as_if_it_was_as_wanted(
    fields: Fields, body: JsonObject, there: JsonObject, seen_as: JsonObject
) -> None:
    assert with_manifest_values(fields, body, there) == seen_as


@pytest.mark.parametrize(
    ("fields", "had", "written"),
    [
        ({"/spec/a": 1}, {"a": 5}, {"a": 1}),
        ({"/spec/a": ABSENT}, {"a": 5, "b": 1}, {"b": 1}),
        ({PARTITION: 2}, {}, {"updateStrategy": {"rollingUpdate": {"partition": 2}}}),
        ({PARTITION: 2}, {"updateStrategy": None}, {"updateStrategy": {"rollingUpdate": {"partition": 2}}}),
        ({"/spec/a/b": 2}, {"a": {"c": 1}}, {"a": {"c": 1, "b": 2}}),
        ({"/spec/a/b": 1}, {"a": ["x"]}, {"a": ["x"]}),
    ],
)  # fmt: skip
def test_what_is_held_is_written_under_the_digest_of_the_manifest(
    fields: Fields, had: dict[str, Any], written: dict[str, Any]
) -> None:
    before = manifest({**DEPLOYMENT.body, "spec": had})
    after = with_rollout_values(fields, before)
    assert (after.body["spec"], after.digest, before.body["spec"]) == (written, before.digest, had)


def test_a_manifest_of_which_nothing_else_is_held_is_the_very_same() -> None:
    assert with_rollout_values({}, DEPLOYMENT) is DEPLOYMENT
    assert with_rollout_values({"/spec/replicas": 5, "/spec/paused": ABSENT}, DEPLOYMENT) is DEPLOYMENT


def entry(manager: str, fields: JsonObject, *, operation: str = "Update", version: str = "apps/v1") -> JsonObject:
    return {"manager": manager, "operation": operation, "apiVersion": version, "fieldsV1": fields}


SURGE: JsonObject = {".": {}, "f:rollingUpdate": {"f:maxSurge": {}}}
LEFT: JsonObject = {"f:spec": {"f:replicas": {}, "f:paused": {}, "f:strategy": SURGE}}


@pytest.mark.parametrize(
    ("entries", "manifests", "fields"),
    [
        ([entry(ROLLOUT_MANAGER, LEFT)], [spec(replicas=5)], {"f:spec": {"f:replicas": {}}}),
        ([entry(ROLLOUT_MANAGER, LEFT)], [spec(), spec(paused=True)], {"f:spec": {"f:paused": {}}}),
        ([entry(ROLLOUT_MANAGER, LEFT)], [spec(strategy={"type": "x"})], {}),
        ([entry("kubectl-edit", LEFT)], [spec(replicas=5)], {}),
        ([entry(ROLLOUT_MANAGER, LEFT, version="apps/v1beta1")], [spec(replicas=5)], {}),
        ([entry(ROLLOUT_MANAGER, LEFT), entry("gitfleet", {}, operation="Apply", version="v")], [spec(replicas=5)], {}),
    ],
)  # fmt: skip
def test_an_apply_takes_back_what_rollouts_wrote_and_the_manifest_has(
    entries: list[JsonObject], manifests: list[JsonObject], fields: JsonObject
) -> None:
    assert reclaimed_fields({"apiVersion": "apps/v1", "metadata": {"managedFields": entries}}, *manifests) == fields


def there(wanted: Manifest = DEPLOYMENT, *, by: str = "", **parts: Any) -> LiveObject:
    """What gitfleet applied, with parts that somebody has changed since."""
    found = live(wanted, manager="gitfleet")
    fields: JsonObject = {"f:spec": {f"f:{name}": {} for name in parts}}
    entries = [entry("gitfleet", {}, operation="Apply"), *([entry(by, fields)] if by else [])]
    metadata = {**found.body["metadata"], "managedFields": entries}
    return LiveObject(wanted.key, {**found.body, "metadata": metadata, "spec": {**found.body["spec"], **parts}})


ENTRY = owned(DEPLOYMENT, there())
DRIFT = {"when_to_apply": "IfNotDrifted"}
FULL = {"comparison_option": "FullComparison"}


def _left_by(replicas: int) -> str:
    difference = ApplyText.IS_AND_SHOULD_BE(
        path="/spec/replicas", there=replicas, wanted=5, by=", written by gitfleet-rollout", more_than_first=""
    )
    return ApplyText.ROLLOUT_LEFT(first=difference)


AS_APPLIED = ApplyText.AS_APPLIED()


def decided(wanted: Manifest, found: LiveObject | None, fields: Fields, strategy: dict[str, Any]) -> Operation:
    compared = Comparisons(Ignored(by_rollouts=held(fields) if fields else {}))
    inventory = {wanted.key: ENTRY} if found is not None else {}
    request = {"live": {wanted.key: found}, "inventory": inventory, "compared": compared}
    return only(work(wanted, **strategy), **request)


@pytest.mark.parametrize("strategy", [{}, DRIFT, FULL, {**DRIFT, **FULL}, {"type": "ServerSideApply"}])
@pytest.mark.parametrize("value", [3, 0, 5])
def test_what_is_held_is_no_drift(value: int, strategy: dict[str, Any]) -> None:
    for found in (there(), there(replicas=3, by=ROLLOUT_MANAGER), there(paused=True, by=ROLLOUT_MANAGER)):
        kept = decided(DEPLOYMENT, found, {"/spec/replicas": value, "/spec/paused": True}, strategy)
        assert (type(kept), kept.reason) == (Keep, AS_APPLIED)


def removed(stays: bool, found: LiveObject | None = None, **request: Any) -> list[Operation]:
    """A placement leaves with its Deployment and the namespace around it."""
    home = namespace("ns")
    around = live(home, "n1", manager="gitfleet")
    entries = {DEPLOYMENT.key: ENTRY, home.key: owned(home, around)}
    compared = Comparisons(Ignored(by_rollouts=held({}, stays=stays)))
    answers = {DEPLOYMENT.key: found or there(), home.key: around}
    asked = {"removing": {WEB: DeletePropagation.DELETE}, "compared": compared, "inventory": entries, "live": answers}
    return sorted(plan(**{**asked, **request}), key=lambda one: one.key.kind)


def test_what_a_rollout_still_needs_is_not_deleted_and_neither_is_what_it_lies_in() -> None:
    kept, home = removed(stays=True)
    assert isinstance(kept, Keep) and isinstance(home, Keep)
    why = ApplyText.STAYS_ROLLOUT(rollout="ns/roll")
    assert (kept.code, kept.reason) == (KeepCode.ROLLOUT, why)
    why = ApplyText.STAYS_ROLLOUT_TAKES_PODS_AWAY(rollout="ns/roll")
    assert (home.code, home.reason) == (KeepCode.NAMESPACE_IN_USE, why)
    assert [type(one) for one in removed(stays=False)] == [Delete, Delete]
    abandoned = removed(stays=True, removing={WEB: DeletePropagation.ABANDON})
    assert [type(one) for one in abandoned] == [Release, Release]


def test_a_namespace_stays_for_an_object_in_it_that_no_placement_has() -> None:
    other = ("apps", "Deployment", "ns", "old")
    _, home = removed(stays=False, compared=Comparisons(Ignored(by_rollouts=held({}, stays=True, identity=other))))
    assert isinstance(home, Keep) and home.code is KeepCode.NAMESPACE_IN_USE


class Fleet:
    """One cluster with one Deployment, pass by pass, with the memo of the pass before."""

    def __init__(self) -> None:
        self.state = FleetState(clusters=HERE)
        self.found: dict[ObjectKey, LiveObject | None] = {DEPLOYMENT.key: None}
        self.memo: PlansMemo = {}
        self.works = {"c1": (work(DEPLOYMENT),)}

    def reconcile(self, fields: Fields) -> Operation:
        wanted = Wanted(self.works, by_rollouts={"c1": held(fields)} if fields else {})
        answer = {"c1": seen("c1", live=self.found)}
        (operation,), self.memo = plan_fleet(self.state, wanted, answer, Going({}, OPEN), self.memo, Failures())
        inventory, _ = record_all_intended(self.state.inventory, (operation,), Failures())
        if isinstance(operation, Create | Update):
            body = there(operation.manifest).body
            self.found = {DEPLOYMENT.key: LiveObject(DEPLOYMENT.key, body)}
            done = Outcome(operation=operation, ok=True, code=OutcomeCode.APPLIED, live=self.found[DEPLOYMENT.key])
            inventory = settle_all(inventory, [operation], [done], Failures(), self.memo, wanted)
        self.state = replace(self.state, inventory=inventory)
        return operation

    def patch(self, replicas: int) -> None:
        self.found = {DEPLOYMENT.key: there(replicas=replicas, by=ROLLOUT_MANAGER)}


def test_each_pass_notices_what_is_held_now_and_the_inventory_has_the_digest_of_the_manifest() -> None:
    fleet = Fleet()
    assert isinstance(fleet.reconcile({"/spec/replicas": 0}), Create)
    assert fleet.state.inventory["c1"][DEPLOYMENT.key].applied_digest == DEPLOYMENT.digest
    for value in (0, 2, 4):
        assert fleet.reconcile({"/spec/replicas": value}).reason == AS_APPLIED
        fleet.patch(value)
    assert fleet.reconcile({"/spec/replicas": 4, "/spec/paused": True}).reason == AS_APPLIED
    assert fleet.reconcile({}).reason == _left_by(4)
    assert fleet.reconcile({}).reason == AS_APPLIED
    assert fleet.reconcile({"/spec/replicas": 0}).reason == AS_APPLIED
