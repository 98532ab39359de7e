"""An object of a namespace acts on its own namespace only (decision D39), whatever its fields name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from gitfleet.api.kinds import Kind, watched_kinds
from gitfleet.api.texts import ApiText
from gitfleet.desired.texts import DesiredText
from tests.builders import deployment, namespace, placement, repo_files_for, stateful_set
from tests.desired.commits import faults_of, read

NAMESPACED = [kind for kind in watched_kinds() if kind.namespaced]
JUDGED, ONLY_READ = "WorkloadReference", "TemplateReference"
"""The parts of files that name a namespace: a workload there is moved, a query there is read."""
NAMED = {
    **{key: {JUDGED, ONLY_READ} for key in ("RolloutTrait", "Rollout")},
    **{key: {ONLY_READ} for key in ("AppRollout", "ApplicationDeployment", "StagedUpdateStrategy")},
}
A, B = (deployment(name, "web", "web:1", replicas=6) for name in ("team-a", "team-b"))
AROUND = [namespace("team-a"), namespace("team-b"), placement("b", "team-b"), placement("a", "team-a"), A, B]
CONFIG = {"apiVersion": "gitfleet.dev/v1alpha1", "kind": "FleetConfig", "metadata": {"name": "fleet"}}


def named(schema: Any) -> Iterator[str]:
    """The titles of the parts of a schema that name a namespace."""
    parts = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    if isinstance(schema, dict) and "title" in schema and "namespace" in schema.get("properties", {}):
        yield schema["title"]
    for part in parts:
        yield from named(part)


@pytest.mark.parametrize("kind", NAMESPACED, ids=lambda kind: kind.name)
def test_every_part_of_a_file_that_names_a_namespace_is_judged_or_only_read(kind: Kind) -> None:
    assert set(named(kind.schema())) == NAMED.get(kind.name, set())


def reference(body: dict[str, Any]) -> dict[str, Any]:
    metadata = body["metadata"]
    return {"apiVersion": "apps/v1", "kind": body["kind"], **{n: metadata[n] for n in ("namespace", "name")}}


def trait(name: str, target: dict[str, Any], *sources: dict[str, Any], **plan: Any) -> dict[str, Any]:
    """A RolloutTrait of team-a, or of the namespace before the name."""
    home, _, own = name.rpartition("/")
    spec = {"targetRef": reference(target), "sourceRef": [reference(one) for one in sources], "rolloutPlan": plan}
    head = {"apiVersion": "standard.oam.dev/v1alpha1", "kind": "RolloutTrait"}
    return {**head, "metadata": {"name": own, "namespace": home or "team-a"}, "spec": spec}


def committed(*bodies: dict[str, Any], policy: dict[str, Any] | None = None) -> dict[str, str]:
    """The files of a commit."""
    return repo_files_for(*AROUND, *bodies, {**CONFIG, "spec": {"policy": policy or {}}})


OUT = DesiredText.ANOTHER_NAMESPACE_THAN_ROLLOUT(namespace="team-b")
ALLOWED = {"crossNamespace": [{"from": "team-a", "to": ["team-c", "team-b"]}]}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (trait("x", B, targetSize=0), "spec.targetRef.namespace"),
        (trait("x", A, B), "spec.sourceRef[0].namespace"),
        (trait("x", stateful_set("team-b", "db", "db:1"), numBatches=2), "spec.targetRef.namespace"),
    ],
)
def test_a_rollout_of_a_workload_of_another_namespace_is_refused_unless_the_fleet_allows_it(
    body: dict[str, Any], field: str
) -> None:
    assert [one for one in faults_of(committed(body)) if field in one and OUT in one]
    assert not read(committed(body)).rollouts
    assert not [one for one in faults_of(committed(body, policy=ALLOWED)) if OUT in one]
    for others in ([{"from": "team-c", "to": ["team-b"]}], [{"from": "team-a", "to": ["team-c"]}]):
        assert not read(committed(body, policy={"crossNamespace": others})).rollouts


@pytest.mark.parametrize(
    "grant",
    [{"from": "team-*", "to": ["team-b"]}, {"from": "team-a", "to": ["*"]}, {"from": "team-a"}, {"to": ["team-b"]}],
)
def test_namespaces_are_allowed_by_name_alone(grant: dict[str, Any]) -> None:
    files = committed(trait("x", B), policy={"crossNamespace": [grant]})
    assert not read(files).rollouts


def without_namespace(body: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A rollout in no namespace, whose workloads name theirs or not."""
    return {**body, "metadata": {"name": "x", **fields.pop("metadata", {})}, **fields}


@pytest.mark.parametrize(
    "body",
    [
        without_namespace(trait("x", B)),
        without_namespace(trait("x", B), metadata={"namespace": 5}),
        without_namespace(
            trait("x", B),
            spec={"targetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}, "rolloutPlan": {}},
        ),
    ],
)
@pytest.mark.parametrize("policy", [{}, ALLOWED])
def test_a_rollout_without_a_namespace_is_an_error(body: dict[str, Any], policy: dict[str, Any]) -> None:
    assert [one for one in faults_of(committed(body, policy=policy)) if "metadata.namespace" in one or "kind" in one]
    assert not read(committed(body, policy=policy)).rollouts


def test_app_rollouts_of_one_placement_in_two_namespaces_do_not_exclude_each_other() -> None:
    spec = {"placementRef": {"name": "b"}, "targetRevision": "1", "rolloutPlan": {}}
    head = {"apiVersion": "core.oam.dev/v1beta1", "kind": "AppRollout", "spec": spec}
    both = [{**head, "metadata": {"name": "x", "namespace": name}} for name in ("team-a", "team-b")]
    assert len(read(committed(*both)).rollouts) == 2
    again = {**head, "metadata": {"name": "y", "namespace": "team-b"}}
    assert len(read(committed(*both, again)).rollouts) == 2


def test_an_override_changes_objects_of_its_own_namespace() -> None:
    """A ResourceOverride selects by name within its namespace, and no patch takes an object to another one."""
    spec = {
        "resourceSelectors": [{"group": "apps", "version": "v1", "kind": "Deployment", "name": "web"}],
        "policy": {
            "overrideRules": [
                {
                    "clusterSelector": {},
                    "jsonPatchOverrides": [{"op": "replace", "path": "/metadata/namespace", "value": "team-b"}],
                }
            ]
        },
    }
    head = {"apiVersion": "placement.kubernetes-fleet.io/v1", "kind": "ResourceOverride"}
    body = {**head, "metadata": {"name": "x", "namespace": "team-a"}, "spec": spec}
    said = ApiText.NO_PATH_OF_PATCH()
    assert [one for one in faults_of(committed(body)) if said in one]
