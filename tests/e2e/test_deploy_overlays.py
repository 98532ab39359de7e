"""Overlays on the manifests of examples/deploy as docs/deploy.md, docs/notifications.md and docs/metrics.md show them:
they are built by kustomize, and on a real API server with RBAC their accounts may do what they are for and no more."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.architecture.sources import ROOT
from tests.e2e.test_deploy_examples import DEPLOY, Account, account, built, pod_of, take_back
from tests.realparts.api_server import ApiServer

NARROW_AGENT = "resources: [../agent-only, ../member-narrow]\ncomponents: [../ssh]\n"
_BLOCK = re.compile(r"^```\w*\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
Manifests = list[dict[str, Any]]


@pytest.fixture
def admin(rbac_cluster: ApiServer) -> Account:
    return Account(rbac_cluster, rbac_cluster.token)


def overlay(folder: Path, text: str, *, kustomize: Path) -> Manifests:
    """What kustomize makes of an overlay beside copies of all folders."""
    shutil.copytree(DEPLOY, folder / "deploy")
    mine = folder / "deploy" / "mine"
    mine.mkdir()
    (mine / "kustomization.yaml").write_text(text)
    return built(kustomize, mine)


def shown(page: str, word: str) -> list[str]:
    """The blocks of a page that have a word."""
    text = (ROOT / "docs" / page).read_text()
    return [match["text"] for match in _BLOCK.finditer(text) if word in match["text"]]


def of_kind(manifests: Manifests, kind: str) -> dict[str, Any]:
    (one,) = [manifest for manifest in manifests if manifest["kind"] == kind]
    return one


def test_no_transformer_moves_the_roles_of_another_folder() -> None:
    """`namespace` rewrites whatever stands below it: it may be over a folder's own files alone."""
    moving = []
    for path in DEPLOY.glob("*/kustomization.yaml"):
        told = yaml.safe_load(path.read_text())
        if "namespace" in told and any(".." in resource for resource in told.get("resources", ())):
            moving.append(path.parent.name)
    assert not moving


def test_each_documented_overlay_is_built(kustomize: Path, tmp_path: Path) -> None:
    overlays = shown("deploy.md", "resources: [")
    assert len(overlays) == 2
    for number, text in enumerate(overlays):
        manifests = overlay(tmp_path / str(number), text, kustomize=kustomize)
        told = of_kind(manifests, "ConfigMap")["data"]
        assert told["REPO"] == "https://git.example.com/you/fleet.git", "the address is that of the overlay"
        image = of_kind(manifests, "Deployment")["spec"]["template"]["spec"]["containers"][0]["image"]
        assert image == "registry.internal/gitfleet:0.1.0"


@pytest.mark.parametrize(("page", "ports"), [("notifications.md", {587, 465}), ("metrics.md", {4318})])
def test_the_documented_ways_out_are_ways_out(
    kustomize: Path, admin: Account, tmp_path: Path, page: str, ports: set[int]
) -> None:
    (patch,) = shown(page, "kind: NetworkPolicy")
    manifests = overlay(tmp_path, f"resources: [../hub]\n{patch}", kustomize=kustomize)
    policy = of_kind(manifests, "NetworkPolicy")

    opened = {port["port"] for rule in policy["spec"]["egress"] for port in rule.get("ports", ())}
    assert opened == {53, 22, 443, 6443} | ports
    admin.must_apply(of_kind(manifests, "Namespace"))
    assert admin.apply(policy, dry=True)[0] in (200, 201)


@pytest.fixture
def narrow(kustomize: Path, admin: Account, tmp_path: Path) -> Iterator[Manifests]:
    """An agent with the rights of `member-narrow`, on a cluster where an administrator made `shop`."""
    manifests = overlay(tmp_path, NARROW_AGENT, kustomize=kustomize)
    admin.must_apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}})
    for manifest in manifests:
        admin.must_apply(manifest)
    yield manifests
    take_back(admin, manifests)


def test_an_agent_for_one_namespace_has_its_rights_there_and_not_where_it_lives(
    admin: Account, narrow: Manifests
) -> None:
    assert {of_kind(narrow, kind)["metadata"]["namespace"] for kind in ("Role", "RoleBinding")} == {"shop"}
    assert pod_of(of_kind(narrow, "Deployment"))["metadata"]["namespace"] == "gitfleet"

    own = account(admin)
    configmap = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "written-by-it"}}
    written = {
        place: own.apply({**configmap, "metadata": {"name": "written-by-it", "namespace": place}})[0]
        for place in ("shop", "gitfleet")
    }
    assert written == {"shop": 201, "gitfleet": 403}
    seen = {name: own.ask("GET", f"/api/v1/namespaces/{name}")[0] for name in ("shop", "kube-system", "default")}
    assert seen == {"shop": 200, "kube-system": 200, "default": 403}
    assert own.ask("DELETE", "/api/v1/namespaces/shop/configmaps/written-by-it")[0] == 200


def event(place: str) -> Mapping[str, Any]:
    """An Event as gitfleet writes it."""
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": "one", "namespace": place},
        "eventTime": "2026-01-01T00:00:00.000000Z",
        "reportingController": "gitfleet.dev/run",
        "reportingInstance": "gitfleet-0",
        "action": "Reconcile",
        "reason": "Error",
        "type": "Warning",
        "note": "said",
        "regarding": {"apiVersion": "v1", "kind": "Pod", "namespace": place, "name": "gitfleet-0"},
    }


@pytest.mark.parametrize("components", ["[../events]", "[../leader-election, ../events, ../webhook, ../ssh]"])
def test_with_the_component_the_hub_may_write_events_and_nothing_else(
    kustomize: Path, admin: Account, tmp_path: Path, components: str
) -> None:
    manifests = overlay(tmp_path, f"resources: [../hub]\ncomponents: {components}\n", kustomize=kustomize)
    for manifest in manifests:
        admin.must_apply(manifest)
    pod = pod_of(of_kind(manifests, "Deployment"))
    status, text = admin.apply(pod, dry=True)
    assert status == 201, text
    assert pod["spec"]["automountServiceAccountToken"]
    assert {"POD_NAME", "POD_UID", "REPO"} <= {one["name"] for one in pod["spec"]["containers"][0]["env"]}

    own, events = account(admin), "/apis/events.k8s.io/v1/namespaces/{}/events"
    answers = [own.ask("POST", events.format(place), event(place))[0] for place in ("gitfleet", "default")]
    taken = admin.ask("DELETE", events.format("gitfleet") + "/one")[0]
    others = [own.ask("GET", f"/api/v1/namespaces/gitfleet/{kind}")[0] for kind in ("secrets", "pods", "configmaps")]
    take_back(admin, manifests)
    assert answers == [201, 403] and taken == 200
    assert others == [403, 403, 403]


@pytest.mark.parametrize(("components", "allowed"), [("[]", 403), ("[../rollouts]", 404)])
def test_with_the_component_rollouts_may_patch_workloads_and_delete_pods_and_nothing_else(
    kustomize: Path, admin: Account, tmp_path: Path, components: str, allowed: int
) -> None:
    manifests = overlay(tmp_path, f"resources: [../member]\ncomponents: {components}\n", kustomize=kustomize)
    for manifest in manifests:
        admin.must_apply(manifest)
    own, options = account(admin), {"apiVersion": "v1", "kind": "DeleteOptions"}
    answers = {
        "pod": own.ask("DELETE", "/api/v1/namespaces/default/pods/none", options)[0],
        "set": own.ask("GET", "/apis/apps/v1/namespaces/default/statefulsets/none")[0],
    }
    kept = [
        own.ask("DELETE", f"/apis/apps/v1/namespaces/default/{kind}/none", options)[0]
        for kind in ("statefulsets", "daemonsets")
    ]
    take_back(admin, manifests)
    assert answers == {"pod": allowed, "set": allowed}
    assert kept == [403, 403]
