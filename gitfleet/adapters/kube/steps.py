"""Steps of workload rollouts on one cluster: patches of what a rollout holds, and pods that go; nothing else is done.

A patch is made under a field manager of its own. An apply then takes no field out that a rollout has set since, and
knows a rollout's value from one that somebody else set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gitfleet.adapters.kube.discovery import Absence, Discovery, Resource
from gitfleet.adapters.kube.observing import run_parallel
from gitfleet.adapters.kube.performing import contained
from gitfleet.adapters.kube.refusals import doubtful_404, other_object, refusal_of
from gitfleet.adapters.kube.texts import KubeText
from gitfleet.adapters.kube.wire import MERGE_PATCH, Wire
from gitfleet.api.objects import GroupKind
from gitfleet.api.values import NamespacedName
from gitfleet.formats.managed_fields import ROLLOUT_MANAGER
from gitfleet.model.operations import DeletePod, OutcomeCode, Patch, RolloutOutcome, RolloutWrite

POD: Final = GroupKind("", "Pod")
PODS: Final = Resource("/api/v1", "pods", True)
_Numbered = tuple[int, RolloutWrite]


class StepPerformer:
    """Carries out the steps of rollouts on one cluster."""

    def __init__(self, wire: Wire, discovery: Discovery, *, parallel: int) -> None:
        self._wire = wire
        self._discovery = discovery
        self._parallel = parallel

    def perform(self, steps: Sequence[RolloutWrite]) -> tuple[RolloutOutcome, ...]:
        """One outcome for each step, in the order given: rollouts side by side, the steps of one in their order. After
        one that failed no other of its rollout is asked for. Never raises for what a cluster does."""
        by_rollout: dict[NamespacedName, list[_Numbered]] = {}
        for number, step in enumerate(steps):
            by_rollout.setdefault(step.rollout, []).append((number, step))
        by_number: dict[int, RolloutOutcome] = {}
        for outcomes in run_parallel(self._in_order, by_rollout.values(), self._parallel):
            by_number |= outcomes
        return tuple(by_number[number] for number in range(len(steps)))

    def _in_order(self, steps: Sequence[_Numbered]) -> dict[int, RolloutOutcome]:
        outcomes: dict[int, RolloutOutcome] = {}
        failed: RolloutOutcome | None = None
        for number, step in steps:
            if failed is not None:
                why = KubeText.LEFT_ALONE_SINCE_EARLIER_STEP(failed=failed.message)
                outcomes[number] = _outcome(step, OutcomeCode.NOT_ASKED, why)
                continue
            outcomes[number] = contained(step, self._perform, _outcome)
            failed = None if outcomes[number].ok else outcomes[number]
        return outcomes

    def _perform(self, step: RolloutWrite) -> RolloutOutcome:
        return self._delete(step) if isinstance(step, DeletePod) else self._patch(step)

    def _patch(self, step: Patch) -> RolloutOutcome:
        """Only for that very object in that very version: a conflict is decided again in the next pass."""
        if not (step.uid and step.resource_version):
            return _outcome(step, OutcomeCode.INVALID, KubeText.PATCH_NAMES_OBJECT_VERSION())
        resource = self._discovery.find(step.key, refresh=True)
        if isinstance(resource, Absence):
            why = KubeText.CLUSTER_NO_KIND(key=step.key.kind, api_version=step.key.api_version)
            return _outcome(step, OutcomeCode.NEEDS_CRD, why)
        metadata = {**(step.patch.get("metadata") or {}), "uid": step.uid, "resourceVersion": step.resource_version}
        query = {"fieldManager": ROLLOUT_MANAGER, "fieldValidation": "Strict"}
        path = resource.path(step.key.namespace, step.key.name)
        body = {**step.patch, "metadata": metadata}
        response = self._wire.send("PATCH", path, query, body=body, headers={"Content-Type": MERGE_PATCH})
        if not response.ok:
            refusal = refusal_of(response)
            return _outcome(step, refusal.code, refusal.message)
        if mismatch := other_object(response.json(), step.key, namespaced=resource.namespaced):
            return _outcome(step, OutcomeCode.SERVER_ERROR, mismatch)
        return RolloutOutcome(operation=step, ok=True, code=OutcomeCode.APPLIED)

    def _delete(self, step: DeletePod) -> RolloutOutcome:
        if step.key.group_kind != POD or not step.uid:
            return _outcome(step, OutcomeCode.INVALID, KubeText.ROLLOUT_DELETES_NOTHING_BUT_PODS())
        options = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": step.uid}}
        response = self._wire.send("DELETE", PODS.path(step.key.namespace, step.key.name), body=options)
        if response.status == 404:
            if doubt := doubtful_404(response, step.key, PODS.plural):
                return _outcome(step, OutcomeCode.SERVER_ERROR, doubt)
            return RolloutOutcome(operation=step, ok=True, code=OutcomeCode.NOT_FOUND, message=KubeText.IS_GONE())
        if not response.ok:
            refusal = refusal_of(response)
            return _outcome(step, refusal.code, refusal.message)
        body = response.json()
        if body.get("kind") != "Status" and (mismatch := other_object(body, step.key, namespaced=True)):
            return _outcome(step, OutcomeCode.SERVER_ERROR, mismatch)
        # A pod has time to end: it is gone once an observation does not find it.
        return RolloutOutcome(operation=step, ok=True, code=OutcomeCode.DELETING)


def _outcome(step: RolloutWrite, code: OutcomeCode, why: str) -> RolloutOutcome:
    return RolloutOutcome(operation=step, ok=False, code=code, message=why)
