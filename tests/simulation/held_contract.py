"""What is promised of objects that workload rollouts hold, on any cluster: applied with what is held, left alone while
it is, and given back to the manifest; see cluster_contract."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import pytest

from gitfleet.api.objects import JsonObject, Manifest, ObjectKey
from gitfleet.apply import Ignored
from gitfleet.apply.texts import ApplyText
from gitfleet.formats.managed_fields import ROLLOUT_MANAGER, managed_entries
from gitfleet.model.operations import Operation
from gitfleet.model.rollout_fields import ABSENT, Fields, RolloutFields
from tests import builders as make
from tests.adapters.kube.test_real_cluster import Reconciles
from tests.simulation.cluster_contract import ClusterBench, is_quiet
from tests.simulation.steps_contract import ONE, patch

STRATEGIES: dict[str, dict[str, Any]] = {
    "ClientSideApply": {},
    "ServerSideApply": {"type": "ServerSideApply"},
    "IfNotDrifted": {"when_to_apply": "IfNotDrifted"},
    "FullComparison": {"when_to_apply": "IfNotDrifted", "comparison_option": "FullComparison"},
}
PARTIAL = {name: STRATEGIES[name] for name in ("ClientSideApply", "ServerSideApply", "IfNotDrifted")}
"""Those for which only what the manifest says is to be as it says."""


@dataclass
class Rollout:
    """One Deployment that is reconciled, and what a rollout holds and does."""

    bench: ClusterBench
    home: str
    strategy: dict[str, Any]

    def __post_init__(self) -> None:
        self.reconciles = Reconciles(cast(Any, self.bench.client))
        self.key = ObjectKey("apps", "v1", "Deployment", self.home, "web")

    def hold(self, fields: Fields) -> None:
        held = {self.key.identity: RolloutFields(rollout=ONE, fields=fields)} if fields else {}
        self.reconciles.ignored = Ignored(by_rollouts=held)

    def reconcile(self, image: str, **spec: Any) -> Operation:
        """What is done about the Deployment."""
        manifests: list[Manifest] = [make.manifest_of(make.namespace(self.home))]
        body = make.deployment(self.home, "web", image, 5)
        manifests.append(make.manifest_of({**body, "spec": {**body["spec"], **spec}}))
        plan = self.reconciles.reconcile(*manifests, **self.strategy)
        assert all(ok for _, ok in self.reconciles.reported()), self.reconciles.outcomes
        return next(one for one in plan if one.key == self.key)

    def patch(self, value: JsonObject) -> None:
        self.bench.eventually(lambda: is_quiet(self.bench, self.key))
        (done,) = self.bench.client.perform_steps([patch(self.bench.must_see(self.key), value)])
        assert done.ok, done

    @property
    def spec(self) -> dict[str, Any]:
        return dict(self.bench.must_see(self.key).body["spec"])

    @property
    def surge(self) -> Any:
        return self.spec["strategy"]["rollingUpdate"]["maxSurge"]

    @property
    def managers(self) -> set[str]:
        return {str(entry["manager"]) for entry in managed_entries(self.bench.must_see(self.key).body)}


def said(operation: Operation) -> tuple[str, str]:
    return type(operation).__name__, operation.reason


class HeldContract:
    """One test for each promise, with each strategy that differs."""

    @pytest.mark.parametrize("strategy", STRATEGIES.values(), ids=STRATEGIES)
    def test_what_is_held_stays_until_it_is_released(self, bench: ClusterBench, strategy: dict[str, Any]) -> None:
        rollout = Rollout(bench, bench.fresh(), strategy)
        rollout.hold({"/spec/replicas": 0})
        assert said(rollout.reconcile("web:1")) == ("Create", ApplyText.NOT_CLUSTER_YET())
        assert rollout.spec["replicas"] == 0
        assert said(rollout.reconcile("web:1")) == ("Keep", "as applied")
        rollout.patch({"spec": {"replicas": 3}})
        rollout.hold({"/spec/replicas": 3})
        assert said(rollout.reconcile("web:1")) == ("Keep", "as applied")
        assert said(rollout.reconcile("web:2")) == ("Update", ApplyText.MANIFEST_CHANGED())
        assert rollout.spec["replicas"] == 3
        assert rollout.spec["template"]["spec"]["containers"][0]["image"] == "web:2"
        rollout.patch({"spec": {"replicas": 4}})
        rollout.hold({"/spec/replicas": 4})
        assert said(rollout.reconcile("web:2")) == ("Keep", "as applied")
        rollout.hold({})
        left = ApplyText.ROLLOUT_LEFT(
            first=ApplyText.IS_AND_SHOULD_BE(
                path="/spec/replicas", there="4", wanted="", by="", more_than_first="5, written by gitfleet-rollout"
            )
        )
        assert said(rollout.reconcile("web:2")) == ("Update", left)
        assert rollout.spec["replicas"] == 5
        assert ROLLOUT_MANAGER not in rollout.managers
        assert said(rollout.reconcile("web:2")) == ("Keep", "as applied")

    @pytest.mark.parametrize("strategy", STRATEGIES.values(), ids=STRATEGIES)
    def test_holding_and_releasing_the_value_of_the_manifest_writes_nothing(
        self, bench: ClusterBench, strategy: dict[str, Any]
    ) -> None:
        rollout = Rollout(bench, bench.fresh(), strategy)
        rollout.reconcile("web:1")
        for fields in ({"/spec/replicas": 5, "/spec/strategy/rollingUpdate/maxSurge": 1}, {}):
            rollout.hold(fields)
            assert said(rollout.reconcile("web:1")) == ("Keep", "as applied")
        rollout.hold({"/spec/replicas": 3})
        rollout.patch({"spec": {"replicas": 3}})
        rollout.patch({"spec": {"replicas": 5}})
        rollout.hold({})
        assert said(rollout.reconcile("web:1")) == ("Keep", "as applied")

    @pytest.mark.parametrize("strategy", PARTIAL.values(), ids=PARTIAL)
    def test_what_the_manifest_does_not_say_is_as_the_rollout_leaves_it(
        self, bench: ClusterBench, strategy: dict[str, Any]
    ) -> None:
        rollout = Rollout(bench, bench.fresh(), strategy)
        rollout.reconcile("web:1")
        held: Fields = {"/spec/paused": True, "/spec/strategy/rollingUpdate/maxSurge": 0}
        rollout.hold({**held, "/spec/minReadySeconds": ABSENT})
        assert said(rollout.reconcile("web:2")) == ("Update", ApplyText.MANIFEST_CHANGED())
        assert (rollout.spec["paused"], rollout.surge) == (True, 0)
        pace = {"minReadySeconds": 500, "paused": None, "strategy": {"rollingUpdate": {"maxSurge": 2}}}
        rollout.patch({"spec": pace})
        rollout.hold({"/spec/paused": ABSENT, "/spec/strategy/rollingUpdate/maxSurge": 2, "/spec/minReadySeconds": 500})
        assert said(rollout.reconcile("web:2")) == ("Keep", "as applied")
        rollout.reconcile("web:3")
        assert (rollout.spec["minReadySeconds"], rollout.spec.get("paused")) == (500, None)
        back = {"minReadySeconds": None, "strategy": {"rollingUpdate": {"maxSurge": "25%"}}}
        rollout.patch({"spec": back})
        rollout.hold({})
        rollout.reconcile("web:4")
        spec = rollout.spec
        assert (rollout.surge, spec.get("minReadySeconds"), spec.get("paused")) == ("25%", None, None)
        assert said(rollout.reconcile("web:4")) == ("Keep", "as applied")

    def test_what_somebody_else_changed_is_drift_all_the_same(self, bench: ClusterBench) -> None:
        rollout = Rollout(bench, bench.fresh(), STRATEGIES["IfNotDrifted"])
        rollout.reconcile("web:1", minReadySeconds=1)
        rollout.hold({"/spec/replicas": 3})
        rollout.patch({"spec": {"replicas": 3}})
        bench.by_hand(rollout.key, [{"op": "replace", "path": "/spec/minReadySeconds", "value": 2}])
        why = "drifted: " + ApplyText.IS_AND_SHOULD_BE(
            path="/spec/minReadySeconds", there="2", wanted="", by="", more_than_first="1, written by kubectl-edit"
        )
        for fields in ({"/spec/replicas": 3}, {}):
            rollout.hold(fields)
            assert said(rollout.reconcile("web:1", minReadySeconds=1)) == ("Refuse", why)
