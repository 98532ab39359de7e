"""A fight over a field on a real kube-apiserver: who writes it is named, and gitfleet backs off from it alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from kubernetes.client import CoreV1Api

from gitfleet.adapters.kube import KubeClient
from gitfleet.api.objects import Manifest
from gitfleet.apply import ApplyRequest, plan_apply, settle_inventory
from gitfleet.apply.texts import ApplyText
from gitfleet.fleet.apply_backoff import ApplyBackoff
from gitfleet.model.operations import Operation, Outcome, OutcomeCode, Update, Write
from gitfleet.model.state import Inventory
from gitfleet.simulation.clock import ManualClock
from tests import builders as make
from tests.adapters.kube.test_real_cluster import manifest
from tests.apply.test_plan_apply import work
from tests.gates import open_gate
from tests.realparts.control_plane import ApiServer


class Fight:
    """A reconciler that backs off, and its clock."""

    def __init__(self, cluster: KubeClient, *manifests: Manifest) -> None:
        self.cluster, self.manifests = cluster, manifests
        self.repeats, self.clock = ApplyBackoff(), ManualClock()
        self.inventory: Inventory = {}

    def reconcile(self) -> tuple[tuple[Operation, ...], tuple[Outcome, ...]]:
        """One pass: what was planned and what came of it."""
        seen = self.cluster.observe({m.key for m in self.manifests})
        request = ApplyRequest(
            gate=open_gate(self.cluster.cluster),
            cluster=self.cluster.cluster,
            works=(replace(work(*self.manifests), cluster=self.cluster.cluster),),
            inventory=self.inventory,
            live=seen.live,
            known_namespaces=seen.namespaces,
        )
        plan = plan_apply(request)
        writes = [operation for operation in plan if isinstance(operation, Write)]
        outcomes = self.repeats.perform(writes, self.clock, lambda writes: tuple(self._performed(writes)))
        self.inventory = settle_inventory(self.inventory, outcomes, plan)
        return plan, outcomes

    def _performed(self, writes: Any) -> Iterator[Outcome]:
        for operations in writes.values():
            yield from self.cluster.perform(operations)


def test_who_fights_is_named_and_only_that_object_waits(server: ApiServer, cluster: KubeClient) -> None:
    flag, other = (manifest(make.config_map("fight", name, {"a": "1"})) for name in ("flag", "other"))
    fight = Fight(cluster, manifest(make.namespace("fight")), flag, other)
    with server.client() as client:
        core = CoreV1Api(client)
        outcomes: tuple[Outcome, ...] = fight.reconcile()[1]
        for value in range(4):
            core.patch_namespaced_config_map(
                "flag", "fight", {"data": {"a": f"x{value}"}}, field_manager="flag-controller"
            )
            plan, outcomes = fight.reconcile()
            (update,) = (operation for operation in plan if isinstance(operation, Update))
            first = ApplyText.IS_AND_SHOULD_BE(
                path="/data/a", there=f"x{value}", wanted="", by="", more_than_first="1, written by flag-controller"
            )
            assert update.reason == ApplyText.DRIFTED(first=first, doubt="")
            if outcomes[-1].code is OutcomeCode.NOT_ASKED:
                break
        (waits,) = outcomes
        assert waits.operation.key == flag.key and waits.retry
        assert "; flag-controller " in waits.message
        core.patch_namespaced_config_map("other", "fight", {"data": {"a": "9"}}, field_manager="kubectl-edit")
        codes = {outcome.operation.key.name: outcome.code for outcome in fight.reconcile()[1]}
        assert codes == {"flag": OutcomeCode.NOT_ASKED, "other": OutcomeCode.APPLIED}
        fight.clock.advance(300)
        assert [outcome.code for outcome in fight.reconcile()[1]] == [OutcomeCode.APPLIED]
        assert core.read_namespaced_config_map("flag", "fight").data == {"a": "1"}
        assert fight.reconcile()[1] == (), "nobody writes any more"
