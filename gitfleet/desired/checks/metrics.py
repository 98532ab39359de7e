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
from gitfleet.api.workload_rollouts import AppRollout, RolloutTrait, WorkloadRollout
from gitfleet.desired.checks.commit import Commit, Refusal, noted
from gitfleet.desired.reading.files import ReadObject
from gitfleet.desired.texts import DesiredText
from gitfleet.formats.near_names import did_you_mean
from gitfleet.formats.query_variables import variables_of

Templates = Mapping[NamespacedName, MetricTemplate]


def metric_refusals(commit: Commit) -> Iterator[Refusal]:
    """Refuse workload rollouts and strategies of staged runs whose metrics could not be measured."""
    templates = {template.key: template for _, template in commit.of(MetricTemplate)}
    rollouts: list[tuple[ReadObject, WorkloadRollout]] = [*commit.of(RolloutTrait), *commit.of(AppRollout)]
    for item, rollout in rollouts:
        yield from noted(item, _of_plan(rollout.rollout_plan, rollout.key.namespace, templates))
    for item, strategy in commit.of(StagedStrategy):
        yield from noted(item, _of_stages(strategy, templates))


def _of_plan(plan: RolloutPlan, namespace: str, templates: Templates) -> Iterator[Break]:
    location: Location = ("spec", "rolloutPlan")
    places = [(location, plan.canary_metric)]
    places += [((*location, "rolloutBatches", index), batch.canary_metric) for index, batch in enumerate(plan.batches)]
    for place, metrics in places:
        for index, metric in enumerate(metrics):
            notes = metric_breaks(metric, namespace, templates, ROLLOUT_VARIABLES)
            yield from below((*place, "canaryMetric", index), list(notes))


def _of_stages(strategy: StagedStrategy, templates: Templates) -> Iterator[Break]:
    for number, stage in enumerate(strategy.stages):
        for place, task in enumerate(stage.after_tasks):
            own = {"cluster"} if task.scope is AnalysisScope.CLUSTER else set[str]()
            for index, metric in enumerate(task.metrics):
                location = ("spec", "stages", number, "afterStageTasks", place, "metrics", index)
                notes = metric_breaks(metric, strategy.key.namespace, templates, RUN_VARIABLES | own)
                yield from below(location, list(notes))


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
        names = [template_key.name for template_key in templates if template_key.namespace == key.namespace]
        hint = did_you_mean(key.name, names, DesiredText.ADD_CORRECT_NAME(metric_template=METRIC_TEMPLATE, key=key))
        yield ("templateRef", "name"), DesiredText.NAMES_NOT_REPO(kind=METRIC_TEMPLATE, hint=hint)
        return
    needed, provided = set(variables_of(template.query)), {*variables, *metric.args}
    for name in sorted(needed - provided):
        hint = did_you_mean(name, provided, DesiredText.GIVE_ARGS())
        yield ("templateRef", "name"), DesiredText.QUERY_NOTHING_GIVES(origin=template.origin, name=name, hint=hint)
    for name in sorted(metric.args.keys() - needed):
        hint = did_you_mean(name, needed, "remove it")
        yield ("args", name), DesiredText.NO_VARIABLE_QUERY(origin=template.origin, hint=hint)
