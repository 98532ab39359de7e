"""What may be placed where (decision D37): what the fleet's policy denies is an error, and what runs already stays."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gitfleet.api.texts import ApiText
from gitfleet.desired.texts import DesiredText
from gitfleet.model.state import FleetState
from gitfleet.snapshots.index import index_payload
from tests.desired.commits import faults_of, read
from tests.snapshots.builders import record_of, take

CONFIG = "apiVersion: gitfleet.dev/v1alpha1\nkind: FleetConfig\nmetadata: {name: fleet}\nspec:\n  policy: "
FLEET = "placement.kubernetes-fleet.io/v1beta1"
ANNOTATION = {"annotations": {"kubernetes-fleet.io/envelope-configmap": "true"}}
SHOP = {"resources/shop.yaml": "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}"}
ROLE = "rbac.authorization.k8s.io/v1"


def fleet(**policy: Any) -> dict[str, str]:
    return {"gitfleet.yaml": CONFIG + json.dumps(policy)}


def body(kind: str, namespace: str = "", api_version: str = "v1", name: str = "a", **parts: Any) -> dict[str, Any]:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {}), **parts.pop("metadata", {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **parts}


def lines(document: dict[str, Any]) -> str:
    return "".join(f"{name}: {json.dumps(value)}\n" for name, value in document.items())


def annotated(namespace: str, *inner: dict[str, Any]) -> dict[str, Any]:
    return body("ConfigMap", namespace, metadata=ANNOTATION, data={"x.yaml": "\n---\n".join(map(json.dumps, inner))})


def enveloped(kind: str, namespace: str, inner: dict[str, Any]) -> dict[str, Any]:
    return body(kind, namespace, FLEET, data={"x": inner})


RESERVED = ApiText.RESERVED_PLACE_ELSEWHERE()
OWN = ApiText.OBJECT_EACH_API_SERVER_MAKES()
RBAC = {"kinds": [{"group": "rbac.authorization.k8s.io", "kind": "*"}]}
DENIED = {"deny": [{"kinds": [{"kind": "Secret"}]}, RBAC]}
SECRET, BINDING = body("Secret", "shop"), body("ClusterRoleBinding", "", ROLE)
EVERYTHING: dict[str, Any] = {}


def by(index: int) -> str:
    return ApiText.DENIED_SPEC_POLICY_DENY_FLEETCONFIG(index=index)


def namespaces(*names: str, **more: Any) -> dict[str, Any]:
    return {"namespaces": list(names), **more}


@pytest.mark.parametrize(
    ("policy", "document", "expected"),
    [
        ({}, body("ConfigMap", "kube-system"), f"3: metadata.namespace: {RESERVED}"),
        ({}, body("ConfigMap", "fleet-system"), f"3: metadata.namespace: {RESERVED}"),
        ({}, annotated("kube-system", body("Secret", "kube-system")), f"3: metadata.namespace: {RESERVED}"),
        ({}, body("Service", "default", name="kubernetes"), f"3: metadata.name: {OWN}"),
        ({}, enveloped("ResourceEnvelope", "default", body("Service", "default", name="kubernetes")),
         f"4: data.x.metadata.name: {OWN}"),
        ({"allow": [EVERYTHING, namespaces("default")]}, body("Service", "default", name="kubernetes"),
         f"3: metadata.name: {OWN}"),
        ({}, BINDING, ""),
        ({"allow": [namespaces("kube-system")]}, body("ConfigMap", "kube-system"), ""),
        ({"allow": [namespaces("kube-*", kinds=[{"kind": "ConfigMap"}])]}, body("ConfigMap", "kube-public"), ""),
        ({"allow": [namespaces("kube-system", placements=["base"])]}, body("ConfigMap", "kube-system"), ""),
        ({"allow": [EVERYTHING, namespaces("*")]}, body("ConfigMap", "kube-system"),
         f"3: metadata.namespace: {RESERVED}"),
        ({"deny": [EVERYTHING], "allow": [namespaces("team-*")]}, body("ConfigMap", "shop"), f"2: kind: {by(0)}"),
        ({"deny": [EVERYTHING], "allow": [namespaces("sh*")]}, body("ConfigMap", "shop"), ""),
        ({"deny": [namespaces("old"), namespaces("s*p")]}, body("ConfigMap", "shop"),
         f"3: metadata.namespace: {by(1)}"),
        ({"deny": [namespaces("old")]}, body("Namespace", name="old"), f"3: metadata.name: {by(0)}"),
        ({"deny": [namespaces("shop", placements=["web"])]}, body("ConfigMap", "shop"), ""),
        ({"deny": [{"scope": "Cluster"}], "allow": [{**RBAC, "placements": ["base"]}]}, BINDING, ""),
        (DENIED, SECRET, f"2: kind: {by(0)}"),
        (DENIED, BINDING, f"2: kind: {by(1)}"),
        (DENIED, annotated("shop", body("ConfigMap", "shop"), BINDING),
         f'4: data["x.yaml"]: ClusterRoleBinding/a {by(1)}'),
        (DENIED, enveloped("ResourceEnvelope", "shop", SECRET), f"4: data.x.kind: {by(0)}"),
        (DENIED, enveloped("ClusterResourceEnvelope", "", BINDING), f"4: data.x.kind: {by(1)}"),
        ({"deny": [EVERYTHING], "allow": [{"kinds": [{"kind": "Namespace"}]}]},
         enveloped("ResourceEnvelope", "shop", SECRET), f"4: data.x.kind: {by(0)}"),
    ],
)  # fmt: skip
def test_what_the_policy_denies_is_an_error_and_not_placed(
    policy: dict[str, Any], document: dict[str, Any], expected: str
) -> None:
    desired = read({**SHOP, **fleet(**policy), "resources/a.yaml": lines(document)})
    found = [f"{f.line}: {f.field}: {f.message}" for f in desired.faults if f.path == "resources/a.yaml"]
    assert found == ([expected] if expected else [])
    assert ("resources/a.yaml" in {m.origin.path for m in desired.payload}) is (not expected)


PLACEMENT = f"""
apiVersion: {FLEET}
kind: ClusterResourcePlacement
metadata: {{name: web}}
spec:
  policy: {{placementType: PickAll}}
  resourceSelectors:
  - {{group: "", version: v1, kind: Namespace, name: shop}}
  - {{group: rbac.authorization.k8s.io, version: v1, kind: ClusterRole}}
"""
BY_PLACEMENT = {
    "deny": [{"scope": "Cluster"}],
    "allow": [
        {"kinds": [{"kind": "Namespace"}, {"group": "scheduling.k8s.io", "kind": "PriorityClass"}]},
        {"placements": ["platform-*"]},
    ],
}


def test_cluster_scoped_kinds_belong_to_the_placements_that_are_named() -> None:
    files = {**SHOP, **fleet(**BY_PLACEMENT), "placements/web.yaml": PLACEMENT}
    (found,) = faults_of(files)
    assert found == (f"placements/web.yaml:8: ClusterResourcePlacement/web: spec.resourceSelectors[1].kind: {by(0)}")
    named = PLACEMENT.replace("name: web", "name: platform-rbac")
    assert faults_of({**files, "placements/web.yaml": named}) == []


def test_a_resource_placement_is_named_with_its_namespace() -> None:
    """Whoever may write into one namespace takes no other placement's name."""
    text = PLACEMENT.replace("Cluster", "").replace("name: web", "name: platform-a, namespace: shop")
    selector = """{group: "", version: v1, kind: ConfigMap}"""
    text = f"{text.partition('  resourceSelectors')[0]}  resourceSelectors: [{selector}]\n"
    policy = {"deny": [{"kinds": [{"kind": "ConfigMap"}]}], "allow": [{"placements": ["platform-*"]}]}
    found = faults_of({**SHOP, **fleet(**policy), "placements/web.yaml": text})
    assert found == [
        f"placements/web.yaml:6: ResourcePlacement/shop/platform-a: spec.resourceSelectors[0].kind: {by(0)}"
    ]
    policy["allow"] = [{"placements": ["shop/platform-*"]}]
    assert faults_of({**SHOP, **fleet(**policy), "placements/web.yaml": text}) == []


@pytest.mark.parametrize("edited", [False, True])
def test_what_runs_stays_as_it_was_when_the_policy_comes_to_deny_it(edited: bool) -> None:
    old = {**SHOP, "resources/a.yaml": lines(SECRET), "placements/web.yaml": PLACEMENT}
    before = read(old)
    (subject,) = before.placements.values()
    taken = take(subject, index_payload(before.payload, before.namespaced))
    record = record_of(subject, taken)
    new = {**old, **fleet(**DENIED)}
    if edited:
        new["resources/a.yaml"] = lines({**SECRET, "type": "Opaque"})
    after = read(new, before=old, accepted=FleetState(placements={subject.key: record}))
    assert [fault.path for fault in after.faults] == ["placements/web.yaml", "resources/a.yaml"]
    assert after.placements == before.placements
    again = take(subject, index_payload(after.payload, after.namespaced, policy=after.config.policy), record)
    assert (again.resource_snapshots, again.user_error) == (taken.resource_snapshots, None)


def test_a_rule_about_a_kind_that_nobody_knows_is_warned_of() -> None:
    found = faults_of(fleet(deny=[{"kinds": [{"kind": "Secrets"}, {"group": "example.com", "kind": "Tree"}]}]))
    where = "gitfleet.yaml:5: FleetConfig/fleet: spec.policy.deny[0].kinds[0].kind"
    assert found == [(f"{where}: " + DesiredText.KIND_YOU_MEAN(kind="Secret", api_version="v1") + " (warning)")]


def test_a_health_check_of_a_kind_that_nobody_knows_is_warned_of() -> None:
    checks = "[{group: apps, kind: Deploymnt, available: 'true'}, {group: example.com, kind: Tree, available: 'true'}]"
    found = faults_of({"gitfleet.yaml": CONFIG.replace("policy: ", f"healthChecks: {checks}\n")})
    where = "gitfleet.yaml:5: FleetConfig/fleet: spec.healthChecks[0].kind"
    assert found == [
        (f"{where}: " + DesiredText.KIND_YOU_MEAN(kind="Deployment", api_version="apps/v1") + " (warning)")
    ]


@pytest.mark.parametrize(
    "policy",
    [
        {"deny": [{"kind": "Secret"}]},
        {"deny": [{"namespaces": ["Kube_System"]}]},
    ],
)
def test_a_policy_is_read_strictly(policy: dict[str, Any]) -> None:
    assert [fault.split(":")[0] for fault in faults_of(fleet(**policy))] == ["gitfleet.yaml"]
