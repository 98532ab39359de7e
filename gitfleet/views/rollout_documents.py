"""Workload rollouts in `explain` and `plan`: a document for each cluster of a rollout, and its sentences."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from gitfleet.api.objects import Identity, JsonObject, ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_records import ClusterRolloutStatus, Measurement, RolloutRecord
from gitfleet.formats.canonical_json import json_text
from gitfleet.formats.sentences import counted
from gitfleet.formats.times import time_text
from gitfleet.model.decisions import Decision
from gitfleet.model.held_fields import HeldFields
from gitfleet.model.operations import DeletePod, RolloutWrite
from gitfleet.model.state import PlacementRecord
from gitfleet.status import object_reference
from gitfleet.views.texts import ViewsText
from gitfleet.views.workload_rollouts import RolloutProgress, by_key
from gitfleet.workload import batch_sizes

_MOST_POINTERS: Final = 8


def rollout_documents(decision: Decision) -> list[dict[str, Any]]:
    """The `rollouts` of a plan: each cluster of each rollout on which something is left to do, or that this reconcile
    changes, with the steps that it takes there and what applying leaves alone."""
    before, after = decision.inputs.before.rollouts, decision.after.rollouts
    steps = defaultdict[tuple[NamespacedName, str], list[RolloutWrite]](list)
    for step in decision.steps:
        steps[step.rollout, step.cluster].append(step)
    left = defaultdict[tuple[NamespacedName, str], list[tuple[Identity, HeldFields]]](list)
    for cluster, objects in decision.held.items():
        for identity, held in sorted(objects.items()):
            left[held.rollout, cluster].append((identity, held))
    return [
        {
            **progress_document(one),
            "next": [_step(step) for step in steps[record.key, one.status.cluster]],
            "leaves": [
                _left(_key_of(identity, one, decision), held) for identity, held in left[record.key, one.status.cluster]
            ],
        }
        for record in by_key(after.values())
        for one in _clusters(record)
        if not one.is_done or one.status not in _known(before.get(record.key))
    ]


def with_rollouts(
    rows: Iterable[JsonObject], record: PlacementRecord, rollouts: Iterable[RolloutRecord]
) -> list[JsonObject]:
    """The rows of `explain`, each with the `rollouts` of workloads that the placement has there. What one that is not
    done says counts as waiting."""
    mine = _identities(record)
    found: dict[str, list[RolloutProgress]] = {}
    for rollout in by_key(rollouts):
        for one in _clusters(rollout):
            if _is_about(rollout, one.status, record.placement.key, mine):
                found.setdefault(one.status.cluster, []).append(one)
    return [_with(row, found.get(str(row["clusterName"]), [])) for row in rows]


def progress_document(one: RolloutProgress) -> dict[str, Any]:
    """How far a rollout is on one cluster. `currentBatch` counts from 0; `waits` is null where nothing is to be
    said."""
    record, status = one.record, one.status
    return {
        "name": record.key.name,
        "namespace": record.key.namespace,
        "kind": record.kind,
        "clusterName": status.cluster,
        "state": status.rolling_state.value,
        "batchState": status.batch_rolling_state.value if status.batch_rolling_state is not None else None,
        "currentBatch": status.current_batch,
        "batches": one.batches,
        "batchSizes": list(batch_sizes(record.rollout_plan, status)),
        "idle": one.is_idle,
        "paused": record.rollout_plan.paused,
        "target": object_reference(status.target) if status.target is not None else None,
        "sources": [object_reference(key) for key in status.sources],
        "originalSize": status.original_size,
        "targetSize": status.target_size,
        "upgraded": status.upgraded_replicas,
        "ready": status.upgraded_ready_replicas,
        "measurements": [_measurement(measurement) for measurement in _newest(status.measurements)],
        "waits": one.message or None,
    }


def rollout_sentences(document: Mapping[str, Any]) -> Iterator[str]:
    """A document of a plan in lines: the rollout on its cluster, then what it does there and what applying leaves
    alone, two to the right."""
    yield rollout_sentence(document)
    for step in document["next"]:
        what = f"{step['object']['kind']} {_name(step['object'])}"
        if step["pod"]:
            yield ViewsText.NEXT_POD_GOES(name=_name(step["object"]), step=step["reason"])
        else:
            yield f"  next: {what}: {json_text(step['patch'])}: {step['reason']}"
    for left in document["leaves"]:
        what = f"{left['object']['kind']} {_name(left['object'])}"
        fields = ", ".join(left["fields"][:_MOST_POINTERS])
        more = len(left["fields"]) - _MOST_POINTERS
        said = f"{fields}{f' and {more} more' if more > 0 else ''}" if fields else ""
        if said:
            yield ViewsText.APPLYING_LEAVES_ROLLOUT(what=what, why=said)
        if left["stays"]:
            yield ViewsText.STAYS_UNTIL_ROLLOUT_LETS_GO(what=what)


def rollout_sentence(document: Mapping[str, Any]) -> str:
    """How far a rollout is on its cluster, and what it waits for, with the numbers of its metrics."""
    name = f"{document['namespace']}/{document['name']}"
    target = f" of {document['target']['kind']} {_name(document['target'])}" if document["target"] else ""
    head = ViewsText.WORKLOAD_ROLLOUT(name=name, target=target, document=document["clusterName"])
    if document["idle"]:
        return ViewsText.NOTHING_ROLL_YET(head=head)
    parts = [ViewsText.IS_IN(head=head, document=document["state"])]
    if document["batchState"]:
        parts.append(
            ViewsText.BATCH(
                document=document["batchState"], document_2=document["currentBatch"] + 1, document_3=document["batches"]
            )
        )
        size = counted(document["targetSize"], "pod")
        parts.append(f"{document['upgraded']} of {size} upgraded, {document['ready']} ready")
    paused = " (paused)" if document["paused"] else ""
    waits = f": {document['waits']}" if document["waits"] else ""
    numbers = "".join(f"; {_numbers(one)}" for one in document["measurements"])
    return f"{', '.join(parts)}{paused}{waits}{numbers}"


def _clusters(record: RolloutRecord) -> tuple[RolloutProgress, ...]:
    return tuple(RolloutProgress(record=record, status=status) for status in record.clusters)


def _known(record: RolloutRecord | None) -> Iterable[Any]:
    return record.clusters if record is not None else ()


def _step(step: RolloutWrite) -> dict[str, Any]:
    is_pod = isinstance(step, DeletePod)
    return {
        "object": object_reference(step.key),
        "patch": None if isinstance(step, DeletePod) else step.patch,
        "pod": is_pod,
        "reason": step.reason,
    }


def _key_of(identity: Identity, one: RolloutProgress, decision: Decision) -> ObjectKey:
    """The key of an object that is held, with the version under which the rollout or a placement knows it, "" for
    none."""
    known = [key for key in (one.status.target, *one.status.sources) if key is not None]
    works = decision.works.get(one.status.cluster, ())
    known += [manifest.key for work in works for manifest in work.manifests]
    group, kind, namespace, name = identity
    return next((key for key in known if key.identity == identity), ObjectKey(group, "", kind, namespace, name))


def _left(key: ObjectKey, held: HeldFields) -> dict[str, Any]:
    return {"object": object_reference(key), "fields": sorted(held.fields), "stays": held.stays}


def _identities(record: PlacementRecord) -> frozenset[Identity]:
    """What the placement's snapshots have."""
    return frozenset(ref.key.identity for snapshot in record.resource_snapshots for ref in snapshot.documents)


def placements_of_rollout(rollout: RolloutRecord, placements: Iterable[PlacementRecord]) -> Iterator[PlacementKey]:
    """The placements whose workloads a rollout takes from one revision to the next, on any cluster."""
    for record in placements:
        key, mine = record.placement.key, _identities(record)
        if any(_is_about(rollout, status, key, mine) for status in rollout.clusters):
            yield key


def _is_about(
    record: RolloutRecord, status: ClusterRolloutStatus, placement: PlacementKey, mine: frozenset[Identity]
) -> bool:
    namespace = record.key.namespace
    if record.placement_ref is not None:
        return placement == record.placement_ref.key(namespace)
    named = [one.key(namespace).identity for one in (record.target_ref, *record.source_ref) if one is not None]
    found = [key.identity for key in (status.target, *status.sources) if key is not None]
    return bool(mine & {*named, *found})


def _with(row: JsonObject, found: Iterable[RolloutProgress]) -> JsonObject:
    documents = [progress_document(one) for one in found]
    said = [rollout_sentence(document) for document, one in zip(documents, found, strict=True) if not one.is_done]
    waiting = [*row["waiting"], *said]
    why = {"why": waiting[0]} if said and not row["waiting"] else {}
    return {**row, "waiting": waiting, "rollouts": documents, **why}


def _newest(measurements: Iterable[Measurement]) -> Iterable[Measurement]:
    """The newest measurement of each metric."""
    return {one.metric: one for one in measurements}.values()


def _measurement(one: Measurement) -> dict[str, Any]:
    return {
        "metric": one.metric,
        "time": time_text(one.at),
        "values": list(one.values),
        "verdict": one.verdict.value if one.verdict is not None else None,
        "message": one.message,
        "query": one.query,
    }


def _numbers(one: Mapping[str, Any]) -> str:
    values = ", ".join(f"{value:g}" for value in one["values"]) or one["message"] or ViewsText.NO_ANSWER_YET()
    verdict = f" ({one['verdict']})" if one["verdict"] else ""
    return f"{one['metric']} {values}{verdict}"


def _name(reference: Mapping[str, Any]) -> str:
    return f"{reference['namespace']}/{reference['name']}" if reference["namespace"] else str(reference["name"])
