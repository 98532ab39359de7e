"""Metrics of rollouts name templates that are in the repo, and give every variable of their queries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from gitfleet.api import Break, Location
from gitfleet.api.annotations import below
from gitfleet.api.metrics import METRIC_TEMPLATE, ROLLOUT_VARIABLES, RUN_VARIABLES, CanaryMetric, MetricTemplate
from gitfleet.api.rollout_plans import RolloutPlan
from gitfleet.api.stage_tasks import AnalysisScope
from gitfleet.api.staged import StagedStrategy
from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_rollouts import AppRollout, RolloutTrait
from gitfleet.desired.crosschecks import Refusals
from gitfleet.desired.readings import ReadObject
from gitfleet.desired.texts import DesiredText
from gitfleet.formats.near_names import did_you_mean
from gitfleet.formats.query_variables import variables_of

Templates = Mapping[NamespacedName, MetricTemplate]


def metric_refusals(objects: Iterable[ReadObject]) -> Refusals:
    """Workload rollouts and strategies of staged runs whose metrics could not be measured."""
    items = list(objects)
    templates = {item.value.key: item.value for item in items if isinstance(item.value, MetricTemplate)}
    refused: Refusals = []
    for item in items:
        if isinstance(item.value, RolloutTrait | AppRollout):
            notes = _of_plan(item.value.rollout_plan, item.value.key.namespace, templates)
        elif isinstance(item.value, StagedStrategy):
            notes = _of_stages(item.value, templates)
        else:
            continue
        refused += [(item, note) for note in notes]
    return refused


def _of_plan(plan: RolloutPlan, namespace: str, templates: Templates) -> Iterator[Break]:
    here: Location = ("spec", "rolloutPlan")
    places = [(here, plan.canary_metric)]
    places += [((*here, "rolloutBatches", index), batch.canary_metric) for index, batch in enumerate(plan.batches)]
    for place, metrics in places:
        for index, metric in enumerate(metrics):
            notes = metric_breaks(metric, namespace, templates, ROLLOUT_VARIABLES)
            yield from below((*place, "canaryMetric", index), list(notes))


def _of_stages(strategy: StagedStrategy, templates: Templates) -> Iterator[Break]:
    for number, stage in enumerate(strategy.stages):
        for place, task in enumerate(stage.after_tasks):
            own = {"cluster"} if task.scope is AnalysisScope.CLUSTER else set[str]()
            for index, metric in enumerate(task.metrics):
                here = ("spec", "stages", number, "afterStageTasks", place, "metrics", index)
                notes = metric_breaks(metric, strategy.key.namespace, templates, RUN_VARIABLES | own)
                yield from below(here, list(notes))


def metric_breaks(
    metric: CanaryMetric, namespace: str, templates: Templates, variables: Iterable[str]
) -> Iterator[Break]:
    """What is wrong with a metric beside the templates of the repo; `namespace` is where one is looked for that says
    none, `variables` are those that are always there."""
    key = NamespacedName(metric.template_ref.namespace or namespace, metric.template_ref.name)
    if not key.namespace:
        yield ("templateRef", "namespace"), DesiredText.REQUIRED_CLUSTER_SCOPED_KIND(metric_template=METRIC_TEMPLATE)
        return
    template = templates.get(key)
    if template is None:
        known = [one.name for one in templates if one.namespace == key.namespace]
        hint = did_you_mean(key.name, known, DesiredText.ADD_CORRECT_NAME(metric_template=METRIC_TEMPLATE, key=key))
        yield ("templateRef", "name"), DesiredText.NAMES_NOT_REPO(metric_template=METRIC_TEMPLATE, hint=hint)
        return
    asked = variables_of(template.query)
    given = {*variables, *metric.args}
    for name in asked:
        if name not in given:
            hint = did_you_mean(name, given, DesiredText.GIVE_ARGS())
            yield ("templateRef", "name"), DesiredText.QUERY_NOTHING_GIVES(origin=template.origin, name=name, hint=hint)
    for name in metric.args:
        if name not in asked:
            hint = did_you_mean(name, set(asked), "remove it")
            yield ("args", name), DesiredText.NO_VARIABLE_QUERY(origin=template.origin, hint=hint)
