"""The record of a rollout as the newest commit wants it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime

from gitfleet.api.metrics import CanaryMetric, MetricTemplate
from gitfleet.api.rollout_plans import RolloutPlan
from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_records import RolloutRecord
from gitfleet.api.workload_rollouts import AppRollout, RolloutTrait, WorkloadRollout

Templates = Mapping[NamespacedName, MetricTemplate]


def record_of(
    wanted: WorkloadRollout, before: RolloutRecord | None, templates: Templates, now: datetime
) -> RolloutRecord:
    """A rollout with what the commit says, and how far it is. A template that the commit has no more stays as it was
    while the rollout names it."""
    plan = wanted.rollout_plan
    if isinstance(wanted, AppRollout) and wanted.revert_on_delete:
        plan = replace(plan, revert_on_delete=True)
    old = {one.key: one for one in before.templates} if before is not None else {}
    named = sorted(set(_named(plan, wanted.key.namespace)))
    kept = tuple(as_stored(found) for key in named if (found := templates.get(key, old.get(key))) is not None)
    new = RolloutRecord(
        key=wanted.key,
        kind=wanted.kind,
        created=before.created if before is not None else now,
        rollout_plan=plan,
        clusters_selector=wanted.clusters,
        order=wanted.order,
        templates=kept,
        clusters=before.clusters if before is not None else (),
    )
    match wanted:
        case RolloutTrait():
            new = replace(new, target_ref=wanted.target_ref, source_ref=wanted.source_ref)
        case AppRollout():
            new = replace(
                new,
                placement_ref=wanted.placement_ref,
                target_revision=wanted.target_revision,
                source_revision=wanted.source_revision,
                component_list=wanted.component_list,
            )
    return before if before == new else new


def as_stored(template: MetricTemplate) -> MetricTemplate:
    """A template without what only its file has."""
    return replace(template, body={}, origin=None)


def metrics_of(plan: RolloutPlan) -> Iterator[CanaryMetric]:
    """All metrics of a plan."""
    yield from plan.canary_metric
    for batch in plan.batches:
        yield from batch.canary_metric


def _named(plan: RolloutPlan, namespace: str) -> Iterator[NamespacedName]:
    for metric in metrics_of(plan):
        yield NamespacedName(metric.template_ref.namespace or namespace, metric.template_ref.name)
