"""Workload rollouts beside everything else in a commit: what they name, what contradicts them, what may change while
one runs, and that an error in a file never takes one away."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from gitfleet.api import read_state, write
from gitfleet.api.texts import ApiText
from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_records import ClusterRolloutStatus, RollingState, RolloutRecord
from gitfleet.api.workload_rollouts import AppRollout, RolloutTrait
from gitfleet.desired.checks.updates import rollout_update_breaks
from gitfleet.desired.history import rollout_of
from gitfleet.desired.texts import DesiredText
from gitfleet.formats.texts import FormatsText
from gitfleet.model.state import FleetState
from gitfleet.workload.lookup import record_of
from tests.desired.commits import faults_of, read

Json = Mapping[str, Any]
NOW = datetime(2026, 1, 1, tzinfo=UTC)
DEPLOYMENT = {"apiVersion": "apps/v1", "kind": "Deployment"}
PATH = "rollouts/api.yaml"


def trait(name: str = "api", kind: str = "RolloutTrait", plan: Json | None = None, **spec: Any) -> str:
    """A rollout of Deployment web/api, each field of its spec on a line of its own."""
    fields = {"targetRef": {**DEPLOYMENT, "name": "api"}, "rolloutPlan": plan or {}, **spec}
    return _document("standard.oam.dev/v1alpha1", kind, name, fields)


def app(name: str = "app", **spec: Any) -> str:
    """A rollout of placement web to its snapshot 2."""
    fields = {"placementRef": {"name": "web"}, "targetRevision": "2", "rolloutPlan": {}, **spec}
    return _document("core.oam.dev/v1beta1", "AppRollout", name, fields)


def template(query: str = "up", name: str = "errors", namespace: str = "web") -> str:
    spec = {"provider": {"address": "http://prometheus.example"}, "query": query}
    return _document("gitfleet.dev/v1alpha1", "MetricTemplate", name, spec, namespace)


def _document(api_version: str, kind: str, name: str, spec: Json, namespace: str = "web") -> str:
    lines = [f"  {field}: {json.dumps(value)}\n" for field, value in spec.items()]
    head = f"apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: {name}, namespace: {namespace}}}\nspec:\n"
    return head + "".join(lines)


def strategy(metric: Json, scope: str = "Stage", **metadata: str) -> str:
    """A strategy whose one stage ends with an analysis."""
    tasks = [{"type": "Analysis", "scope": scope, "metrics": [{"name": "e", "metricsRange": {"max": 1}, **metric}]}]
    kind = f"{'' if metadata else 'Cluster'}StagedUpdateStrategy"
    spec = {"stages": [{"name": "one", "labelSelector": {}, "afterStageTasks": tasks}]}
    body = {"metadata": {"name": "s", **metadata}, "spec": spec}
    return json.dumps({"apiVersion": "placement.kubernetes-fleet.io/v1beta1", "kind": kind, **body})


def cluster(name: str, **labels: str) -> str:
    return (
        f"apiVersion: cluster.kubernetes-fleet.io/v1\nkind: MemberCluster\n"
        f"metadata: {{name: {name}, labels: {json.dumps(labels)}}}\nspec: {{connection: {{simulated: true}}}}\n"
    )


def measured(**metric: Any) -> Json:
    """A plan with one metric."""
    given = {"name": "errors", "metricsRange": {"max": 1}, "templateRef": {"name": "errors"}, **metric}
    return {"canaryMetric": [given]}


SIZED = {"targetSize": 5}
GOES_BACK = {"type": "pre-batch-rollout", "name": "x", "url": "https://x.example/y", "onFailure": "rollback"}
PLACEMENT = (
    "apiVersion: placement.kubernetes-fleet.io/v1\nkind: ClusterResourcePlacement\nmetadata: {name: web}\n"
    "spec: {resourceSelectors: [{group: '', version: v1, kind: Namespace, name: web}]}\n"
)
NAMESPACE = "{apiVersion: v1, kind: Namespace, metadata: {name: web}}\n"
WORKLOADS = "---\n".join(
    f"{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: {name}, namespace: web}}}}\n"
    for name in ("a", "api", "b", "old", "other")
)
AROUND = {
    "placements/web.yaml": PLACEMENT,
    "resources/web.yaml": f"{NAMESPACE}---\n{WORKLOADS}",
    "clusters/a.yaml": cluster("a", zone="eu"),
    "clusters/b.yaml": cluster("b", zone="us"),
}


def scaler(name: str = "api", kind: str = "Deployment", version: str = "v2", own: str = "h") -> str:
    reference = {"apiVersion": "apps/v1", "kind": kind, "name": name}
    metadata = {"name": own, "namespace": "web"}
    spec = {"scaleTargetRef": reference, "maxReplicas": 3}
    return json.dumps(
        {"apiVersion": f"autoscaling/{version}", "kind": "HorizontalPodAutoscaler", "metadata": metadata, "spec": spec}
    )


def envelope(name: str) -> str:
    """An envelope with a Deployment."""
    inner = {**DEPLOYMENT, "metadata": {"name": name, "namespace": "web"}}
    body = {"apiVersion": "placement.kubernetes-fleet.io/v1beta1", "kind": "ResourceEnvelope"}
    return json.dumps({**body, "metadata": {"name": "e", "namespace": "web"}, "data": {"x.yaml": inner}})


def scaled_object(**reference: str) -> str:
    metadata = {"name": "h", "namespace": "web"}
    spec = {"scaleTargetRef": reference}
    return json.dumps({"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "metadata": metadata, "spec": spec})


def fleet(**policy: Any) -> dict[str, str]:
    """A FleetConfig with a policy."""
    body = {"apiVersion": "gitfleet.dev/v1alpha1", "kind": "FleetConfig", "metadata": {"name": "fleet"}}
    return {"gitfleet.yaml": json.dumps({**body, "spec": {"policy": policy}})}


def near(name: str) -> str:
    return FormatsText.YOU_MEAN(near=name)


def moved(other: str) -> str:
    return DesiredText.MOVED_ALREADY(other=other, origin=f"{PATH}:1")


def scaled_by(kind: str) -> str:
    return "is " + ApiText.SCALED_WOULD_UNDO_ROLLOUT(scaler=f"{kind}/web/h", where=" (resources/h.yaml:1)")


NOT_MOVED = DesiredText.NO_KIND_ROLLOUT_MOVE(kinds="CloneSet, DaemonSet, Deployment, StatefulSet")
RESERVED = ApiText.RESERVED_PLACE_ELSEWHERE()
NO_PLACEMENT = "spec.placementRef.name: " + DesiredText.NAMES_NOT_REPO(kind="placement", hint="")
B = "rollouts/b.yaml:{}: RolloutTrait/web/b: {}".format
STAGE = "spec.stages[0].afterStageTasks[0].metrics[0]"
NO_DEFINITION = "kind: " + DesiredText.NO_CUSTOMRESOURCEDEFINITION_REPO(
    hint=(DesiredText.CLUSTERS_NOT_REFUSE_OBJECTS() + " (warning)")
)
AT = f"{PATH}:{{}}: RolloutTrait/web/api: {{}}".format
NO_WORKLOAD = DesiredText.NAMES_NO_MANIFEST_REPO(workload="Deployment", hint="")


OR_CLUSTERS = DesiredText.CORRECT_ADD_MANIFEST()
NO_TEMPLATE = DesiredText.NAMES_NOT_REPO(kind="MetricTemplate", hint="")
EU, US = ({"matchLabels": {"zone": zone}} for zone in ("eu", "us"))


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({PATH: trait()}, []),
        ({PATH: trait(kind="Rollout")}, []),
        ({PATH: app()}, []),
        # Metrics and their templates.
        ({PATH: trait(plan=measured()), "metrics/a.yaml": template()}, []),
        ({PATH: trait(plan=measured(templateRef={"name": "erors"})), "metrics/a.yaml": template()},
         [AT(6, f"spec.rolloutPlan.canaryMetric[0].templateRef.name: {NO_TEMPLATE}{near('errors')}")]),
        ({PATH: trait(plan={"rolloutBatches": [{"replicas": 1, **measured()}]}),
          "metrics/a.yaml": template(namespace="ops")},
         [AT(6, (f'spec.rolloutPlan.rolloutBatches[0].canaryMetric[0].templateRef.name: {NO_TEMPLATE}' +
             DesiredText.ADD_CORRECT_NAME(metric_template="MetricTemplate", key="web/errors")))]),
        ({PATH: trait(plan=measured()),
          "metrics/a.yaml": template("{{cluster}}{{namespace}}{{name}}{{kind}}{{batch}}{{interval}}{{rollout}}")}, []),
        ({PATH: trait(plan=measured()), "metrics/a.yaml": template("{{ clustr }}{{ code }}")},
         [AT(6, ("spec.rolloutPlan.canaryMetric[0].templateRef.name: " + DesiredText.QUERY_NOTHING_GIVES(
             origin="metrics/a.yaml:1", name="clustr", hint=near("cluster")))),
          AT(6, ("spec.rolloutPlan.canaryMetric[0].templateRef.name: " + DesiredText.QUERY_NOTHING_GIVES(
              origin="metrics/a.yaml:1", name="code", hint=DesiredText.GIVE_ARGS())))]),
        ({PATH: trait(plan=measured(args={"code": "5..", "x": "1"})), "metrics/a.yaml": template("{{ code }}")},
         [AT(6, ("spec.rolloutPlan.canaryMetric[0].args.x: " + DesiredText.NO_VARIABLE_QUERY(
             origin="metrics/a.yaml:1", hint="remove it")))]),
        # Metrics of staged runs.
        ({"strategies/s.yaml": strategy({"templateRef": {"name": "errors", "namespace": "web"}}),
          "metrics/a.yaml": template("{{ run }}{{stage}}{{placement}}{{snapshot}}{{clusters}}{{interval}}")}, []),
        ({"strategies/s.yaml": strategy({"templateRef": {"name": "errors"}}, "Cluster", namespace="web"),
          "metrics/a.yaml": template("{{ cluster }}")}, []),
        ({"strategies/s.yaml": strategy({"templateRef": {"name": "errors"}}, namespace="web"),
          "metrics/a.yaml": template("{{ cluster }}")},
         [(f'strategies/s.yaml:1: StagedUpdateStrategy/web/s: {STAGE}.templateRef.name: ' +
             DesiredText.QUERY_NOTHING_GIVES(origin="metrics/a.yaml:1", name="cluster",
             hint=near("clusters")))]),
        ({"strategies/s.yaml": strategy({"templateRef": {"name": "errors"}})},
         [(f'strategies/s.yaml:1: ClusterStagedUpdateStrategy/s: {STAGE}.templateRef.namespace: ' +
             DesiredText.REQUIRED_CLUSTER_SCOPED_KIND(metric_template="MetricTemplate"))]),
        # Workloads that nothing brings.
        ({PATH: trait(targetRef={**DEPLOYMENT, "name": "apii"})},
         [AT(5, f"spec.targetRef.name: {NO_WORKLOAD}{near('api')} (warning)")]),
        ({PATH: trait(targetRef={**DEPLOYMENT, "name": "apii"}, clusters={})}, []),
        ({PATH: trait(targetRef={**DEPLOYMENT, "name": "wrapped"}), "resources/e.yaml": envelope("wrapped")}, []),
        # Two rollouts of one name.
        ({PATH: trait(), "rollouts/b.yaml": app("api")},
         [("rollouts/b.yaml:3: AppRollout/web/api: metadata.name: " + DesiredText.NAME_TOO_WORKLOAD_ROLLOUT(
             other="RolloutTrait/web/api", origin=f'{PATH}:1'))]),
        # Two rollouts of one workload.
        ({PATH: trait(), "rollouts/b.yaml": trait("b")},
         [B(5, f"spec.targetRef: {moved('RolloutTrait/web/api')}")]),
        ({PATH: trait(), "rollouts/b.yaml": trait("b", targetRef={**DEPLOYMENT, "name": "b"},
                                                  sourceRef=[{**DEPLOYMENT, "name": "api"}])},
         [B(7, f"spec.sourceRef[0]: {moved('RolloutTrait/web/api')}")]),
        ({PATH: trait(clusters=EU), "rollouts/b.yaml": trait("b", clusters=US)}, []),
        ({PATH: trait(clusters=US), "rollouts/b.yaml": trait("b")},
         [B(5, f"spec.targetRef: {moved('RolloutTrait/web/api')}")]),
        ({PATH: trait(), "rollouts/b.yaml": trait("b", targetRef={**DEPLOYMENT, "name": "api", "namespace": "shop"})},
         [B(5, "spec.targetRef.namespace: " + DesiredText.ANOTHER_NAMESPACE_THAN_ROLLOUT(namespace="shop"))]),
        ({PATH: app(), "rollouts/b.yaml": app("b", componentList=["x"])},
         [f"rollouts/b.yaml:5: AppRollout/web/b: spec.placementRef: {moved('AppRollout/web/app')}"]),
        # What else moves pods.
        ({PATH: trait(), "resources/h.yaml": scaler()}, []),
        *(({PATH: trait(plan=SIZED), "resources/h.yaml": scaler(version=version)},
           [AT(5, f"spec.targetRef: {scaled_by('HorizontalPodAutoscaler')}")])
          for version in ("v1", "v2")),
        ({PATH: trait(plan=SIZED, sourceRef=[{**DEPLOYMENT, "name": "old"}]), "resources/h.yaml": scaler("old")},
         [AT(7, f"spec.sourceRef[0]: {scaled_by('HorizontalPodAutoscaler')}")]),
        ({PATH: trait(plan=SIZED), "resources/h.yaml": scaled_object(name="api")},
         [f"resources/h.yaml:1: ScaledObject/web/h: {NO_DEFINITION}",
          AT(5, f"spec.targetRef: {scaled_by('ScaledObject')}")]),
        # What cannot go back.
        *(({PATH: trait(targetRef={**DEPLOYMENT, "kind": "DaemonSet", "name": "api"}, clusters={}, plan=plan)},
           [AT(6, f"spec.rolloutPlan.{field}: {DesiredText.CANNOT_GO_BACK_DAEMON_SET()}")])
          for field, plan in (
              ("revertOnDelete", {"revertOnDelete": True}),
              ("rolloutWebhooks[0].onFailure", {"rolloutWebhooks": [GOES_BACK]}),
              ("rolloutBatches[0].batchRolloutWebhooks[0].onFailure",
               {"rolloutBatches": [{"replicas": 1, "batchRolloutWebhooks": [GOES_BACK]}]}))),
        # Kinds of workloads.
        ({PATH: trait(targetRef={**DEPLOYMENT, "kind": "Deploymnet", "name": "api"})},
         [AT(5, f"spec.targetRef.kind: {NOT_MOVED}")]),
        ({PATH: trait(targetRef={"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "api"}, clusters={})},
         [AT(5, f"spec.targetRef.kind: {NOT_MOVED}")]),
        ({PATH: trait(targetRef={"apiVersion": "games.example.com/v1", "kind": "GameServerSet", "name": "api"},
                      clusters={})},
         [AT(5, "spec.targetRef.kind: " + DesiredText.NO_KIND_WITHOUT_HANDLER(
             kinds="CloneSet, DaemonSet, Deployment, StatefulSet", kind="GameServerSet.games.example.com")
             + " (warning)")]),
        # What may not be placed may not be moved either.
        ({PATH: trait(targetRef={**DEPLOYMENT, "name": "dns", "namespace": "kube-system"}, clusters={})},
         [AT(5, f"spec.targetRef.namespace: {RESERVED}")]),
        ({PATH: trait(targetRef={**DEPLOYMENT, "name": "dns", "namespace": "kube-system"}, clusters={}),
          **fleet(allow=[{"namespaces": ["kube-system"]}], crossNamespace=[{"from": "web", "to": ["kube-system"]}])},
         []),
        ({PATH: trait(targetRef={**DEPLOYMENT, "name": "safe", "namespace": "vault"}, clusters={}),
          **fleet(deny=[{"namespaces": ["vau*"]}])},
         [AT(5, ("spec.targetRef.namespace: " + ApiText.DENIED_SPEC_POLICY_DENY_FLEETCONFIG(index="0")))]),
        # Placements.
        ({PATH: app(placementRef={"name": "wbe"})},
         [f"{PATH}:5: AppRollout/web/app: {NO_PLACEMENT}{near('web')} (warning)"]),
        ({PATH: app(placementRef={"name": "web", "kind": "ResourcePlacement"})},
         [(f'{PATH}:5: AppRollout/web/app: {NO_PLACEMENT}' + DesiredText.CORRECT_ADD() + " (warning)")]),
    ],
)  # fmt: skip
def test_what_is_wrong_beside_the_rest_of_a_commit(files: dict[str, str], expected: list[str]) -> None:
    assert faults_of({**AROUND, **files}) == expected


def test_a_workload_with_an_error_is_not_missing() -> None:
    files = {**AROUND, PATH: trait(targetRef={**DEPLOYMENT, "name": "moved"})}
    assert faults_of(files) == [AT(5, f"spec.targetRef.name: {NO_WORKLOAD}{OR_CLUSTERS} (warning)")]
    moved = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: moved, namespace: web}, spec: 1}\n"
    assert not [fault for fault in faults_of({**files, "resources/more.yaml": moved}) if "targetRef" in fault]


def rollouts(files: Mapping[str, str], before: Mapping[str, str] | None, accepted: FleetState | None = None) -> Any:
    """The rollouts of a commit by kind and name, each with the batches of its plan."""
    desired = read({**AROUND, **files}, before=None if before is None else {**AROUND, **before}, accepted=accepted)
    return {f"{one.kind}/{one.key}": one.rollout_plan.num_batches for one in desired.rollouts.values()}


THREE = trait(plan={"numBatches": 3})
GOOD = {"RolloutTrait/web/api": 3}


@pytest.mark.parametrize(
    "files",
    [
        {PATH: trait(plan={"numBatches": 0})},
        {PATH: trait(plan={"numBatchs": 4})},
        {PATH: trait(kind="RolloutTriat", plan={"numBatches": 4})},
        {PATH: trait(plan={"numBatches": 4}).replace("standard.oam.dev", "standrad.oam.dev")},
        {PATH: trait(plan={"numBatches": 4}).replace("v1alpha1", "v1")},
        {PATH: trait(plan={"numBatches": 4}).replace("apiVersion", "apiVerson")},
        {PATH: trait(plan={"numBatches": 4}).replace("kind: RolloutTrait\n", "")},
        {PATH: trait(plan={"numBatches": 4}).replace("namespace: web", "namespce: web")},
        {PATH: trait(plan={"numBatches": 4}).replace("name: api, ", "")},
        {PATH: "spec: [\n"},
        {PATH: trait(plan={"numBatches": 4, **measured()})},
        {PATH: trait(plan={"numBatches": 4, **SIZED}), "resources/h.yaml": scaler()},
        {"rollouts/api-new.yaml": trait(plan={"numBatches": 0})},
        {PATH: trait(plan={"numBatches": 3}), "rollouts/b.yaml": trait("b", plan={"numBatches": 4})},
        {"rollouts/a.yaml": trait("api", kind="Rollout", plan={"numBatches": 4}), PATH: THREE},
    ],
    ids=[
        "value", "field", "kind", "group", "version", "apiVersion", "no kind", "namespace", "no name", "no YAML",
        "no template", "scaler", "renamed with an error", "a second one", "a second kind",
    ],
)  # fmt: skip
def test_an_error_keeps_the_last_good_rollout(files: dict[str, str]) -> None:
    before = {PATH: THREE}
    assert rollouts(before, None) == GOOD
    assert rollouts(files, before) == GOOD
    assert any("(warning)" not in fault for fault in faults_of({**AROUND, **files}, before={**AROUND, **before}))


def test_a_rollout_moves_with_its_file_and_goes_with_it() -> None:
    assert rollouts({"rollouts/web/api.yaml": THREE}, {PATH: THREE}) == GOOD
    for files in (
        {},
        {f"{PATH}.txt": THREE},
        {PATH: ""},
        {PATH: "".join(f"# {line}\n" for line in THREE.splitlines())},
        {"resources/api.yaml": THREE},
        {"rollouts/api-new.yaml": "metadata: {name: api\n"},
    ):
        assert rollouts(files, {PATH: THREE}) == {}
    assert rollouts({PATH: trait("other", plan={"numBatches": 3})}, {PATH: THREE}) == {"RolloutTrait/web/other": 3}


SOURCED_BY = trait(
    sourceRef=[{**DEPLOYMENT, "name": "old", "namespace": "web"}],
    clusters={"matchLabels": {"zone": "eu"}},
    plan={
        "rolloutStrategy": "DecreaseFirst",
        "targetSize": 5,
        "batchPartition": 1,
        "rolloutBatches": [{"replicas": 1, "maxUnavailable": "05%"}, {"podList": ["a-0"]}, {"replicas": "100%"}],
        "rolloutWebhooks": [
            {
                "type": "initilize-rollout",
                "name": "a",
                "url": "http://a.example",
                "timeout": "1500ms",
                "metadata": {},
                "expectedStatus": [204],
                "retries": 0,
            }
        ],
    },
)


def record(text: str, *states: RollingState, templates: tuple[str, ...] = ()) -> FleetState:
    """The state after a rollout was accepted that is in these states on its clusters."""
    (made,) = read({**AROUND, PATH: text}).rollouts.values()
    statuses = tuple(ClusterRolloutStatus(cluster=f"c{n}", rolling_state=state) for n, state in enumerate(states))
    found = record_of(made, None, {}, NOW)
    return FleetState(rollouts={found.key: replace(found, clusters=statuses)})


def test_without_the_commit_of_before_the_accepted_rollout_stays() -> None:
    accepted = record(THREE, RollingState.ROLLING_IN_BATCHES)
    assert rollouts({PATH: trait(plan={"numBatches": 0})}, None, accepted) == GOOD
    desired = read({**AROUND, PATH: trait(plan={"numBatches": 0})}, accepted=accepted)
    (kept,) = desired.rollouts.values()
    assert kept.body["spec"]["rolloutPlan"] == {"numBatches": 3}
    other = record(THREE.replace("RolloutTrait", "Rollout"))
    assert rollouts({PATH: trait(kind="Rollout", plan={"numBatches": 0})}, None, other) == {"Rollout/web/api": 3}
    app_state = record(app(sourceRevision="1"), RollingState.ROLLING_IN_BATCHES)
    (kept,) = read({**AROUND, PATH: app(targetRevision="")}, accepted=app_state).rollouts.values()
    assert isinstance(kept, AppRollout) and (kept.target_revision, kept.source_revision) == ("2", "1")


def test_of_two_rollouts_of_a_workload_the_one_that_nobody_changed_stays() -> None:
    before = {"rollouts/a.yaml": trait("a", targetRef={**DEPLOYMENT, "name": "a"}), "rollouts/b.yaml": trait("b")}
    files = {**before, "rollouts/a.yaml": trait("a", plan={"numBatches": 4})}
    assert [fault.partition(":")[0] for fault in faults_of({**AROUND, **files}, before={**AROUND, **before})] == [
        "rollouts/a.yaml"
    ]
    desired = read({**AROUND, **files}, before={**AROUND, **before})
    first = desired.rollouts[NamespacedName("web", "a")]
    assert isinstance(first, RolloutTrait) and first.target.name == "a"


@pytest.mark.parametrize("text", [SOURCED_BY, app(sourceRevision="1", clusters={}, revertOnDelete=True)])
def test_a_record_that_was_stored_makes_no_edit_of_an_unchanged_file(text: str) -> None:
    (found,) = record(text, RollingState.ROLLING_IN_BATCHES).rollouts.values()
    stored = read_state(RolloutRecord, json.loads(json.dumps(write(found))))
    (made,) = read({**AROUND, PATH: text}).rollouts.values()
    assert stored == found
    assert rollout_update_breaks(stored, made) == []
    assert rollout_of(stored).rollout_plan == found.rollout_plan


FIXED = DesiredText.CANNOT_CHANGE_WHILE_ROLLOUT_RUNS()


def batch(replicas: int, **more: Any) -> Json:
    return {"replicas": replicas, **more}


LISTED = {"rolloutBatches": [batch(1), batch(2), batch(3)], "lastBatchToRollout": 1}


def fixed_batch(number: int, partition: int = 1) -> str:
    return f"rolloutBatches[{number}]: {DesiredText.NOT_AFTER_BATCH_LASTBATCHTOROLLOUT(partition=partition)}"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"numBatches": 3}, {"numBatches": 4}, [f"numBatches: {FIXED}"]),
        ({}, {"rolloutBatches": [batch(1)]}, [f"numBatches: {FIXED}"]),
        ({"targetSize": 3}, {}, [f"targetSize: {FIXED}"]),
        ({}, {"rolloutWebhooks": [{"type": "finalize-rollout", "name": "x", "url": "http://x.example"}]},
         [f"rolloutWebhooks: {FIXED}"]),
        # Freely.
        ({"paused": False}, {"paused": True, "revertOnDelete": True}, []),
        ({}, measured(), []),
        (LISTED, {**LISTED, "rolloutBatches": [batch(1, **measured()), batch(2), batch(3)]}, []),
        # The partition grows.
        ({"numBatches": 3, "lastBatchToRollout": 0}, {"numBatches": 3}, []),
        ({"numBatches": 3, "lastBatchToRollout": 1}, {"numBatches": 3, "lastBatchToRollout": 0},
         [("lastBatchToRollout: " + DesiredText.ONLY_RAISED_WHILE_ROLLOUT_RUNS(partition="1"))]),
        ({"numBatches": 3}, {"numBatches": 3, "lastBatchToRollout": 1},
         [("lastBatchToRollout: " + DesiredText.ONLY_RAISED_WHILE_ROLLOUT_RUNS(partition="2"))]),
        # Batches change after it.
        (LISTED, {**LISTED, "rolloutBatches": [batch(1), batch(2), batch(1), batch(2)]}, []),
        (LISTED, {**LISTED, "rolloutBatches": [batch(1), batch(1), batch(4)]}, [fixed_batch(1)]),
        (LISTED, {**LISTED, "rolloutBatches": [batch(2), batch(1), batch(3)]}, [fixed_batch(0), fixed_batch(1)]),
        (LISTED, {"rolloutBatches": [batch(1), batch(2), batch(4)], "lastBatchToRollout": 2}, []),
        (LISTED, {"numBatches": 3, "lastBatchToRollout": 1}, [f"numBatches: {FIXED}"]),
    ],
)  # fmt: skip
def test_what_may_change_while_a_rollout_runs(old: Json, new: Json, expected: list[str]) -> None:
    before, after = {PATH: trait(plan=old), "m.yaml": template()}, {PATH: trait(plan=new), "m.yaml": template()}
    running = record(trait(plan={**old, "canaryMetric": []}), RollingState.SUCCEEDED, RollingState.ROLLING_IN_BATCHES)
    found = faults_of({**AROUND, **after}, before={**AROUND, **before}, accepted=running)
    assert found == [AT(6, f"spec.rolloutPlan.{text}") for text in expected]
    kept = read({**AROUND, **after}, before={**AROUND, **before}, accepted=running).rollouts
    wanted = read({**AROUND, **(before if expected else after)}).rollouts
    assert [one.rollout_plan for one in kept.values()] == [one.rollout_plan for one in wanted.values()]
    # The next commits say it again, and one without the error is taken.
    if expected:
        assert found == faults_of({**AROUND, **after, "x.yaml": "{}"}, before={**AROUND, **after}, accepted=running)
    # One that does not run may be changed in any way.
    for state in (RollingState.VERIFYING_SPEC, RollingState.SUCCEEDED, RollingState.FAILED):
        resting = record(trait(plan={**old, "canaryMetric": []}), state)
        assert faults_of({**AROUND, **after}, before={**AROUND, **before}, accepted=resting) == []


OTHER = {**DEPLOYMENT, "name": "other"}
SOURCED = trait(sourceRef=[OTHER], plan={"numBatches": 3})


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (SOURCED, trait(plan={"numBatches": 3}), [f"spec.sourceRef: {FIXED}"]),
        (SOURCED, trait(sourceRef=[{**OTHER, "namespace": "web"}], plan={"numBatches": 3}), []),
        (SOURCED, trait(sourceRef=[OTHER], plan={"numBatches": 3}, order="sequential"), [f"spec.order: {FIXED}"]),
        # Another target is another rollout.
        (SOURCED, trait(targetRef=OTHER, plan={"numBatches": 1}, clusters=EU), []),
        (app(sourceRevision="1"), app(sourceRevision="1", componentList=["x"]), [f"spec.componentList: {FIXED}"]),
        (app(sourceRevision="1"), app(targetRevision="3", sourceRevision="2", rolloutPlan={"numBatches": 4}), []),
        # So is one of another kind, under the name of one that is gone.
        (SOURCED, app("api"), []),
    ],
)  # fmt: skip
def test_what_else_may_change_while_a_rollout_runs(old: str, new: str, expected: list[str]) -> None:
    running = record(old, RollingState.FINALISING)
    found = faults_of({**AROUND, PATH: new}, before={**AROUND, PATH: old}, accepted=running)
    errors = [fault.split(": ", 2)[2] for fault in found if "(warning)" not in fault]
    assert errors == expected
