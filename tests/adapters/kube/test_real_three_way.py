"""ClientSideApply on a real kube-apiserver with a second field manager: what goes, what stays, and who owns it."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from kubernetes.client import AppsV1Api

from gitfleet.adapters.kube import KubeClient
from gitfleet.api.fleet import IgnoreDifferences
from gitfleet.api.objects import Manifest
from gitfleet.apply import Ignored
from gitfleet.apply.removed_fields import LAST_APPLIED
from gitfleet.apply.texts import ApplyText
from gitfleet.formats.managed_fields import managed_entries
from tests import builders as make
from tests.adapters.kube.test_real_cluster import Reconciles, manifest
from tests.realparts.control_plane import ApiServer

SIDECAR = {"name": "proxy", "image": "proxy:1"}


def deployment(namespace: str, *, more: bool, replicas: int | None = None) -> dict[str, Any]:
    """With `more`: a second container, an environment variable, a label, a probe and a strategy with a map."""
    body: dict[str, Any] = copy.deepcopy(make.deployment(namespace, "web", replicas=replicas))
    spec = body["spec"]["template"]["spec"]
    spec["containers"][0]["env"] = [{"name": "KEPT", "value": "1"}]
    if more:
        body["metadata"]["labels"] = {"team": "a"}
        body["spec"]["strategy"] = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}
        spec["containers"][0]["env"].append({"name": "GONE", "value": "1"})
        spec["containers"][0]["livenessProbe"] = {"httpGet": {"path": "/", "port": 80}}
        spec["containers"].append(SIDECAR)
    else:
        body["spec"]["strategy"] = {"type": "Recreate"}
    return body


def seen(cluster: KubeClient, wanted: Manifest) -> dict[str, Any]:
    """The live object in short."""
    live = cluster.observe([wanted.key], probe=False).live[wanted.key]
    assert live is not None
    body = live.body
    containers = body["spec"]["template"]["spec"]["containers"]
    return {
        "generation": live.generation,
        "managers": sorted(
            f"{e['manager']} {e['operation']}" for e in managed_entries(body) if e.get("subresource") != "status"
        ),
        "labels": body["metadata"].get("labels", {}),
        "annotated": LAST_APPLIED in body["metadata"].get("annotations", {}),
        "replicas": body["spec"]["replicas"],
        "strategy": body["spec"]["strategy"],
        "env": {c["name"]: [e["name"] for e in c.get("env", ())] for c in containers},
        "probe": containers[0].get("livenessProbe", {}).get("httpGet", {}).get("path"),
    }


FULL = {
    "labels": {"team": "a"},
    "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": "25%"}},
    "env": {"web": ["KEPT", "GONE"], "proxy": []},
    "probe": "/",
}
LESS = {
    "annotated": False, "labels": {}, "strategy": {"type": "Recreate"}, "env": {"web": ["KEPT"]}, "probe": None,
}  # fmt: skip


def test_what_a_second_manager_applied_too_goes_in_one_change_of_the_object(
    server: ApiServer, cluster: KubeClient
) -> None:
    namespace = server.make_namespace()
    before, after = (manifest(deployment(namespace, more=more)) for more in (True, False))
    reconciles = Reconciles(cluster)
    reconciles.reconcile(before)
    theirs: Any = deployment(namespace, more=True)
    theirs["metadata"]["labels"]["theirs"] = "1"
    theirs["spec"]["minReadySeconds"] = 7
    with server.client() as client:
        client.set_default_header("Content-Type", "application/apply-patch+yaml")
        AppsV1Api(client).patch_namespaced_deployment(
            "web", namespace, theirs, field_manager="another", force=True, _content_type="application/apply-patch+yaml"
        )
    assert seen(cluster, before) == {
        "generation": 2, "managers": ["another Apply", "gitfleet Apply"], "annotated": False, "replicas": 1,
        **FULL, "labels": {"team": "a", "theirs": "1"},
    }  # fmt: skip
    reconciles.reconcile(after)
    assert reconciles.reported() == [("Applied", True)]
    found = seen(cluster, after)
    assert found == {
        **LESS, "generation": 3, "managers": ["another Apply", "gitfleet Apply"], "replicas": 1,
        "labels": {"theirs": "1"},
    }  # fmt: skip
    reconciles.reconcile(after)
    assert reconciles.reported() == []


MORE = pytest.mark.soak("real")
TOOLS = ("kubectl-client-side-apply", pytest.param("before-first-apply", marks=MORE), pytest.param("helm", marks=MORE))


@pytest.mark.parametrize("tool", TOOLS)
def test_what_kubectl_or_helm_had_goes_when_their_object_is_taken_over_and_what_an_autoscaler_set_stays(
    server: ApiServer, cluster: KubeClient, tool: str
) -> None:
    namespace = server.make_namespace()
    theirs: Any = deployment(namespace, more=True, replicas=2)
    if tool != "helm":
        theirs["metadata"]["annotations"] = {LAST_APPLIED: json.dumps(theirs)}
    with server.client() as client:
        apps = AppsV1Api(client)
        apps.create_namespaced_deployment(namespace, theirs, field_manager=tool)
        if tool == "before-first-apply":
            apps.patch_namespaced_deployment("web", namespace, {"metadata": {"managedFields": [{}]}})
        apps.patch_namespaced_deployment_scale(
            "web", namespace, {"spec": {"replicas": 5}}, field_manager="kube-controller-manager"
        )
    wanted = manifest(deployment(namespace, more=False))
    before = seen(cluster, wanted)
    owners = [] if tool == "before-first-apply" else sorted([f"{tool} Update", "kube-controller-manager Update"])
    assert before == {
        **FULL, "generation": 2, "annotated": tool != "helm", "replicas": 5,
        "managers": owners,
    }  # fmt: skip
    reconciles = Reconciles(cluster)
    (update,) = reconciles.reconcile(wanted)
    assert ApplyText.TAKEN_OVER(found="there before") in update.reason and reconciles.reported() == [("Applied", True)]
    found = seen(cluster, wanted)
    assert {name: found[name] for name in (*LESS, "replicas", "generation")} == {**LESS, "replicas": 5, "generation": 3}
    assert "gitfleet Apply" in found["managers"]
    reconciles.reconcile(wanted)
    assert reconciles.reported() == []


@pytest.mark.parametrize("rule", [
    IgnoreDifferences(kind="Deployment", json_pointers=("/spec/replicas",)),
    IgnoreDifferences(managers=("autoscaler",)),
], ids=["pointer", "manager"])  # fmt: skip
@pytest.mark.parametrize("type_", ["ClientSideApply", pytest.param("ServerSideApply", marks=MORE)])
def test_what_is_to_be_left_alone_is_not_written_over(
    server: ApiServer, cluster: KubeClient, rule: IgnoreDifferences, type_: str
) -> None:
    namespace = server.make_namespace()
    reconciles = Reconciles(cluster)
    reconciles.ignored = Ignored((rule,))
    one, other, none = (
        manifest(make.deployment(namespace, "web", image, replicas))
        for image, replicas in (("web:1", 2), ("web:2", 3), ("web:3", None))
    )
    reconciles.reconcile(one, type=type_)
    assert seen(cluster, one)["replicas"] == 2
    with server.client() as client:
        AppsV1Api(client).patch_namespaced_deployment_scale(
            "web", namespace, {"spec": {"replicas": 5}}, field_manager="autoscaler"
        )
    for release in (one, other, none):
        reconciles.reconcile(release, type=type_)
        assert all(ok for _, ok in reconciles.reported()), reconciles.outcomes
        live = cluster.observe([one.key], probe=False).live[one.key]
        assert live is not None and live.body["spec"]["replicas"] == 5
        (image,) = (c["image"] for c in live.body["spec"]["template"]["spec"]["containers"])
        assert image == release.body["spec"]["template"]["spec"]["containers"][0]["image"]
        entries = managed_entries(live.body)
        assert [e["manager"] for e in entries if "f:replicas" in e["fieldsV1"].get("f:spec", ())] == ["autoscaler"]
        reconciles.reconcile(release, type=type_)
        assert reconciles.reported() == []
