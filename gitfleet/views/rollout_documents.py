"""Workload rollouts in `explain` and `plan`: a document for each cluster of a rollout, and its sentences."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from gitfleet.api.objects import Identity, JsonObject, ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_records import ClusterRolloutStatus, RolloutRecord
from gitfleet.model.decisions import Decision
from gitfleet.model.operations import DeletePod, RolloutWrite
from gitfleet.model.rollout_fields import RolloutFields
from gitfleet.model.state import PlacementRecord
from gitfleet.model.works import manifests_on
from gitfleet.status import object_reference
from gitfleet.views.texts import ViewsText
from gitfleet.views.workload_rollouts import (
    RolloutProgress,
    RolloutView,
    by_key,
    progress_document,
    progress_sentence,
)

_MOST_POINTERS: Final = 8


def rollout_documents(decision: Decision) -> list[dict[str, Any]]:
    """The `rollouts` of a plan: each cluster of each rollout on which something is left to do, or that this reconcile
    changes, with the steps that it takes there and what applying leaves alone."""
    before, after = decision.inputs.before.rollouts, decision.after.rollouts
    steps = defaultdict[tuple[NamespacedName, str], list[RolloutWrite]](list)
    for step in decision.steps:
        steps[step.rollout, step.cluster].append(step)
    rollout_fields = defaultdict[tuple[NamespacedName, str], list[tuple[Identity, RolloutFields]]](list)
    for cluster, objects in decision.by_rollouts.items():
        for identity, fields in sorted(objects.items()):
            rollout_fields[fields.rollout, cluster].append((identity, fields))
    return [
        {
            **progress_document(progress),
            "next": [_step(step) for step in steps[record.key, progress.status.cluster]],
            "leaves": [
                {
                    "object": _reference_of(identity, progress, decision),
                    "fields": sorted(fields.fields),
                    "stays": fields.stays,
                }
                for identity, fields in rollout_fields[record.key, progress.status.cluster]
            ],
        }
        for record in by_key(after.values())
        for progress in RolloutView(record=record).clusters
        if not progress.is_done or progress.status not in (before[record.key].clusters if record.key in before else ())
    ]


def with_rollouts(
    rows: Iterable[JsonObject], record: PlacementRecord, rollouts: Iterable[RolloutRecord]
) -> list[JsonObject]:
    """The rows of `explain`, each with the `rollouts` of workloads that the placement has there. What one that is not
    done says counts as waiting."""
    identities = _identities(record)
    by_cluster: dict[str, list[RolloutProgress]] = {}
    for rollout in by_key(rollouts):
        for progress in RolloutView(record=rollout).clusters:
            if _is_about(rollout, progress.status, record.placement.key, identities):
                by_cluster.setdefault(progress.status.cluster, []).append(progress)
    return [_with(row, by_cluster.get(str(row["clusterName"]), [])) for row in rows]


def rollout_sentences(document: Mapping[str, Any]) -> Iterator[str]:
    """A document of a plan in lines: the rollout on its cluster, then what it does there and what applying leaves
    alone, two to the right."""
    yield rollout_sentence(document)
    for step in document["next"]:
        if step["pod"]:
            yield ViewsText.NEXT_POD_GOES(name=_name(step["object"]), step=step["reason"])
        else:
            yield f"  next: {step['reason']}"
    for entry in document["leaves"]:
        name = f"{entry['object']['kind']} {_name(entry['object'])}"
        fields = ", ".join(entry["fields"][:_MOST_POINTERS])
        more = len(entry["fields"]) - _MOST_POINTERS
        field_list = f"{fields}{f' and {more} more' if more > 0 else ''}" if fields else ""
        if field_list:
            yield ViewsText.APPLYING_LEAVES_ROLLOUT(what=name, why=field_list)
        if entry["stays"]:
            yield ViewsText.STAYS_UNTIL_ROLLOUT_LETS_GO(what=name)


def rollout_sentence(document: Mapping[str, Any]) -> str:
    """How far a rollout is on its cluster, and what it waits for, with the numbers of its metrics."""
    name = f"{document['namespace']}/{document['name']}"
    target = f" of {document['target']['kind']} {_name(document['target'])}" if document["target"] else ""
    head = ViewsText.WORKLOAD_ROLLOUT(name=name, target=target, document=document["clusterName"])
    waits = f": {document['waits']}" if document["waits"] and not document["idle"] else ""
    numbers = "".join(f"; {_numbers(measurement)}" for measurement in document["measurements"])
    return f"{head}: {progress_sentence(document)}{waits}{numbers}"


def _step(step: RolloutWrite) -> dict[str, Any]:
    return {
        "object": object_reference(step.key),
        "patch": None if isinstance(step, DeletePod) else step.patch,
        "pod": isinstance(step, DeletePod),
        "reason": step.reason,
    }


def _reference_of(identity: Identity, progress: RolloutProgress, decision: Decision) -> dict[str, str | None]:
    """The reference of an object, with the version under which the rollout or a placement knows it, "" for
    none."""
    keys = [key for key in (progress.status.target, *progress.status.sources) if key is not None]
    keys += [manifest.key for manifest in manifests_on(decision.works, progress.status.cluster)]
    group, kind, namespace, name = identity
    unknown = ObjectKey(group, "", kind, namespace, name)
    return object_reference(next((key for key in keys if key.identity == identity), unknown))


def _identities(record: PlacementRecord) -> frozenset[Identity]:
    """What the placement's snapshots have."""
    return frozenset(ref.key.identity for snapshot in record.resource_snapshots for ref in snapshot.documents)


def placements_of_rollout(rollout: RolloutRecord, placements: Iterable[PlacementRecord]) -> Iterator[PlacementKey]:
    """The placements whose workloads a rollout takes from one revision to the next, on any cluster."""
    for record in placements:
        key, identities = record.placement.key, _identities(record)
        if any(_is_about(rollout, status, key, identities) for status in rollout.clusters):
            yield key


def _is_about(
    record: RolloutRecord, status: ClusterRolloutStatus, placement: PlacementKey, identities: frozenset[Identity]
) -> bool:
    namespace = record.key.namespace
    if record.placement_ref is not None:
        return placement == record.placement_ref.key(namespace)
    written = [ref.key(namespace) for ref in (record.target_ref, *record.source_ref) if ref is not None]
    keys = (*written, status.target, *status.sources)
    return any(key is not None and key.identity in identities for key in keys)


def _with(row: JsonObject, rollouts: Iterable[RolloutProgress]) -> JsonObject:
    documents = [progress_document(progress) for progress in rollouts]
    sentences = [rollout_sentence(document) for document, p in zip(documents, rollouts, strict=True) if not p.is_done]
    return {**row, "waiting": [*row["waiting"], *sentences], "rollouts": documents}


def _numbers(measurement: Mapping[str, Any]) -> str:
    numbers = ", ".join(f"{value:g}" for value in measurement["values"])
    values = numbers or measurement["message"] or ViewsText.NO_ANSWER_YET()
    verdict = f" ({measurement['verdict']})" if measurement["verdict"] else ""
    return f"{measurement['metric']} {values}{verdict}"


def _name(reference: Mapping[str, Any]) -> str:
    return f"{reference['namespace']}/{reference['name']}" if reference["namespace"] else str(reference["name"])
