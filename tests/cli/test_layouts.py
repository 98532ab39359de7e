"""Each layout of a repo of Argo CD or Flux, brought in as docs/bring-your-app.md says, on simulated clusters."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests import builders
from tests.builders import to_yaml
from tests.cli.conftest import Shell, make_repo
from tests.layouts import CLUSTERS, PLACEMENTS, brought_in

SIMULATED = {
    f"clusters/{name}.yaml": to_yaml(builders.member_cluster(name, labels={"env": env}))
    for name, env in CLUSTERS.items()
}


_HELLO: Final = ["Deployment/built/built-hello: 1 of hello:3", "Deployment/hello/hello: 1 of hello:3"]
_NAMESPACES: Final = ["Namespace/built", "Namespace/hello", "Namespace/helm-hello"]
_SERVICES: Final = ["Service/built/built-hello", "Service/hello/hello", "Service/helm-hello/helm-hello"]
_PODINFO: Final = ["Deployment/podinfo/beacon: 1 of beacon:2.1.0"]
_BEACON: Final = ["Namespace/beacon", "Namespace/podinfo", "Service/beacon/beacon", "Service/podinfo/beacon"]
_STACK: Final = [
    "AlertRule/observability/node-down",
    "ClusterRole/watch-operator",
    "ClusterRoleBinding/watch-operator",
    "ConfigMap/observability/dashboards",
    "CustomResourceDefinition/alertrules.watch.example.com",
    "CustomResourceDefinition/watchers.watch.example.com",
    "Deployment/observability/watch-operator: 1 of watch-operator:0.9.0",
    "Namespace/observability",
    "NetworkPolicy/observability/watch-operator",
    "Role/kube-system/watch-operator",
    "RoleBinding/kube-system/watch-operator",
    "Secret/observability/receivers",
    "Service/observability/watch-operator",
    "ServiceAccount/observability/watch-operator",
    "Watcher/observability/main",
]
EXPECTED: Final[dict[str, tuple[list[str], list[str]]]] = {
    "example-apps": (
        [*_HELLO, "Deployment/helm-hello/helm-hello: 1 of hello:3", *_NAMESPACES, *_SERVICES],
        [*_HELLO, "Deployment/helm-hello/helm-hello: 2 of hello:3", *_NAMESPACES, *_SERVICES],
    ),
    "podinfo": (
        ["Deployment/beacon/beacon: 1 of beacon:2.1.0", *_PODINFO, *_BEACON],
        [
            "Deployment/beacon/beacon: None of beacon:2.1.0", *_PODINFO,
            "HorizontalPodAutoscaler/beacon/beacon", *_BEACON,
        ],
    ),
    "monitoring-stack": (_STACK, _STACK),
    "overlays": (
        [
            "ConfigMap/orders/orders-48ffbg8d2c", "Deployment/orders/orders: 1 of orders:1.5.0-rc.1",
            "Namespace/orders", "Service/orders/orders",
        ],
        [
            "ConfigMap/orders/orders-6dd57m5bkm", "Deployment/orders/orders: 3 of orders:1.4.0",
            "Namespace/orders", "PodDisruptionBudget/orders/orders", "Service/orders/orders",
        ],
    ),
}  # fmt: skip
"""What the clusters of staging and of production are to have, see `rendered`."""


def rendered(folder: Path) -> list[str]:
    """What a cluster is to have: kind, namespace and name, of a Deployment also the replicas and images."""
    documents = (body for path in folder.rglob("*.yaml") for body in yaml.safe_load_all(path.read_text()))
    return sorted(map(_line, documents))


def _line(body: dict[str, Any]) -> str:
    key = "/".join(filter(None, (body["kind"], body["metadata"].get("namespace"), body["metadata"]["name"])))
    if body["kind"] != "Deployment":
        return key
    images = (container["image"] for container in body["spec"]["template"]["spec"]["containers"])
    return f"{key}: {body['spec'].get('replicas')} of {', '.join(images)}"


@pytest.mark.parametrize("layout", PLACEMENTS)
@pytest.mark.usefixtures("hurried")
def test_a_layout_is_placed_by_environment(
    layout: str, gitfleet: Shell, tmp_path: Path, kustomize: Path, helm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{kustomize.parent}:{helm.parent}", prepend=os.pathsep)
    repo = make_repo(tmp_path / "fleet", {**SIMULATED, **brought_in(layout)})
    checked = gitfleet("validate", repo)
    assert (checked.code, checked.out) == (0, ""), checked

    ended = gitfleet("run", "--until-settled", repo)
    assert ended.code == 0, ended.err
    bindings = json.loads(gitfleet("get", "bindings", "-o", "json", "-C", repo).out)["items"]
    available = {
        (binding["metadata"]["labels"]["kubernetes-fleet.io/parent-CRP"], binding["spec"]["targetCluster"])
        for binding in bindings
        if any(c["type"] == "Available" and c["status"] == "True" for c in binding["status"]["conditions"])
    }
    assert available == {(name, cluster) for name in PLACEMENTS[layout] for cluster in CLUSTERS}

    assert gitfleet("render", repo, "--out", tmp_path / "out").code == 0
    objects = {cluster: rendered(tmp_path / "out" / cluster) for cluster in CLUSTERS}
    staging, production = EXPECTED[layout]
    assert objects == {"staging-1": staging, "prod-1": production, "prod-2": production}
