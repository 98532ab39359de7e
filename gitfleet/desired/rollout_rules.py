"""What workload rollouts must not do to each other, what must not move the same workload beside them, and workloads
that they name and nothing brings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from gitfleet.api import Break
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.objects import GroupKind, Identity, Manifest, ObjectKey
from gitfleet.api.rollout_plans import OnFailure, RolloutWebhook
from gitfleet.api.scalers import is_scaled_by, scalers_of
from gitfleet.api.workload_records import RollingState, RolloutRecord
from gitfleet.api.workload_rollouts import AppRollout, RolloutTrait, WorkloadRollout
from gitfleet.desired.crosschecks import Refusals
from gitfleet.desired.known_kinds import KnownKinds
from gitfleet.desired.metric_rules import metric_refusals
from gitfleet.desired.present import Present
from gitfleet.desired.readings import ReadObject
from gitfleet.desired.shared_workloads import Clusters, same_workload_refusals
from gitfleet.desired.texts import DesiredText
from gitfleet.desired.workload_kinds import unhandled, unmovable
from gitfleet.formats.kinds import BUILT_IN_KINDS
from gitfleet.formats.texts import FormatsText

_API_FIELDS: Final = {"group": "apiVersion", "kind": "kind"}
_DAEMON_SET: Final = GroupKind("apps", "DaemonSet")
_OR_ADD: Final = DesiredText.CORRECT_ADD_MANIFEST()


def rollout_refusals(
    objects: Iterable[ReadObject], known: KnownKinds, standing: Callable[[ReadObject], tuple[bool, bool]]
) -> Refusals:
    """Rollouts of one name or of one workload, of which the first one stays, by `standing` and then by path; rollouts
    to a size of a workload that something else scales; what cannot go back; references to misspelt kinds; and metrics
    that cannot be measured, also those of staged runs."""
    items = list(objects)
    rollouts = [(item, item.value) for item in items if isinstance(item.value, RolloutTrait | AppRollout)]
    refused = metric_refusals(items)
    if not rollouts:
        return refused
    # What a rollout of another namespace names takes nothing from those of the workload's own namespace.
    rollouts.sort(key=lambda pair: (_reaches_out(pair[1]), standing(pair[0]), pair[0].origin))
    scalers = scalers_of(item.value for item in items if isinstance(item.value, Manifest))
    same_name = _same_name(rollouts)
    others = {item.identity for item, _ in same_name}
    refused += same_name
    refused += same_workload_refusals([pair for pair in rollouts if pair[0].identity not in others], _clusters(items))
    for item, rollout in rollouts:
        if isinstance(rollout, RolloutTrait):
            refused += [
                (item, note)
                for note in (
                    *_scaled(rollout, scalers),
                    *_misspelt(rollout, known),
                    *unmovable(rollout),
                    *_one_way(rollout),
                )
            ]
    return refused


def workload_notes(value: object, present: Present) -> Iterator[Break]:
    """The workloads of a rollout that no manifest of the commit has. None where it says on which `clusters` they are,
    as they may live there without one, where they may be in what cannot be read, or for sources that have done their
    part. Before that, a kind that may have no handler."""
    if not isinstance(value, RolloutTrait):
        return
    yield from unhandled(value)
    if value.clusters is not None or present.hidden.has_envelope():
        return
    for workload, field in value.workloads:
        is_source = workload != value.target
        if _is_there(workload, present) or (is_source and _goes(workload, value, present)):
            continue
        so = DesiredText.NO_PODS_TAKEN_FROM() if is_source else DesiredText.NOTHING_ROLLED_OUT()
        part, hint = _meant(workload, present)
        yield (*field, part), DesiredText.NAMES_NO_MANIFEST_REPO(workload=workload.kind, so=so, hint=hint)


def _reaches_out(rollout: WorkloadRollout) -> bool:
    workloads = rollout.workloads if isinstance(rollout, RolloutTrait) else ()
    return any(workload.namespace != rollout.key.namespace for workload, _ in workloads)


def _is_there(workload: ObjectKey, present: Present) -> bool:
    place = (workload.group, workload.kind, workload.namespace)
    is_here = workload.name in present.objects(*place) or workload.name in present.wrapped.get(place, ())
    return is_here or present.hidden.has_object(workload.kind, workload.name)


def _goes(source: ObjectKey, rollout: RolloutTrait, present: Present) -> bool:
    """Whether a source is on its way out: its pods are gone, or this commit or an earlier one takes it away, and it
    stays on clusters until they are."""
    is_applied = any(source in found for found in present.accepted.inventory.values())
    return is_applied or source.identity in present.before or _is_through(present.accepted.rollouts.get(rollout.key))


def _is_through(record: RolloutRecord | None) -> bool:
    states = {status.rolling_state for status in record.clusters} if record is not None else set()
    return states == {RollingState.SUCCEEDED}


def _meant(workload: ObjectKey, present: Present) -> tuple[str, str]:
    """The field of a reference that is probably wrong, and what to do."""
    group, kind, namespace, name = workload.identity
    if (was := present.before.get(workload.identity)) is not None:
        return "name", DesiredText.COMMIT_TAKES_FROM(origin=was.origin)
    place = (group, kind, namespace)
    gone = {identity[3] for identity in present.before if identity[:3] == place}
    near = present.nearest(name, {*present.objects(*place), *present.wrapped.get(place, {}), *gone})
    if near is not None:
        return "name", FormatsText.YOU_MEAN(near=near)
    if (elsewhere := present.namespaces.get((group, kind, name))) is not None:
        return "namespace", DesiredText.YOU_MEAN_NAMESPACE(elsewhere=elsewhere)
    kinds = (other for at, other in BUILT_IN_KINDS if at == group and name in present.objects(group, other, namespace))
    other = next(kinds, None)
    return ("kind", FormatsText.YOU_MEAN(near=other)) if other is not None else ("name", _OR_ADD)


def _clusters(items: Iterable[ReadObject]) -> Clusters:
    values = (item.value for item in items)
    return {value.name: value.scheduling_labels for value in values if isinstance(value, MemberCluster)}


def _same_name(rollouts: Sequence[tuple[ReadObject, WorkloadRollout]]) -> Refusals:
    """Those of two kinds that have one name: how far a rollout is stands under its namespace and name."""
    refused: Refusals = []
    first: dict[object, ReadObject] = {}
    for item, rollout in rollouts:
        other = first.setdefault(rollout.key, item)
        if other is not item:
            sentence = DesiredText.NAME_TOO_WORKLOAD_ROLLOUT(other=other.label, origin=other.origin)
            refused.append((item, (("metadata", "name"), sentence)))
    return refused


def _scaled(rollout: RolloutTrait, scalers: Mapping[Identity, Manifest]) -> Iterator[Break]:
    if rollout.rollout_plan.target_size is None:
        return  # the size is the one that the autoscaler has set
    for workload, field in rollout.workloads:
        if (scaler := scalers.get(workload.identity)) is not None:
            yield field, f"is {is_scaled_by(scaler)}"


def _one_way(rollout: RolloutTrait) -> Iterator[Break]:
    """What is to go back and cannot: a DaemonSet's controller makes pods of its newest template alone."""
    if rollout.target.group_kind != _DAEMON_SET:
        return
    plan = rollout.rollout_plan
    if plan.revert_on_delete:
        yield ("spec", "rolloutPlan", "revertOnDelete"), DesiredText.CANNOT_GO_BACK_DAEMON_SET()
    hooks: list[tuple[tuple[str | int, ...], RolloutWebhook]]
    hooks = [(("rolloutWebhooks", n), hook) for n, hook in enumerate(plan.webhooks)]
    for number, batch in enumerate(plan.batches):
        at = "rolloutBatches", number, "batchRolloutWebhooks"
        hooks += [((*at, n), hook) for n, hook in enumerate(batch.webhooks)]
    for place, hook in hooks:
        if hook.on_failure is OnFailure.ROLLBACK:
            yield ("spec", "rolloutPlan", *place, "onFailure"), DesiredText.CANNOT_GO_BACK_DAEMON_SET()


def _misspelt(rollout: RolloutTrait, known: KnownKinds) -> Iterator[Break]:
    for workload, field in rollout.workloads:
        if (wrong := known.unknown(workload.group, workload.kind)) is not None:
            yield (*field, _API_FIELDS[wrong.field]), wrong.sentence
