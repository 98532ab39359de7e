"""The manifests of examples/deploy on a real API server with RBAC and Pod Security `restricted`: they are accepted as
they are, and with the rights that they give the hub does its work on a member and nothing else."""

from __future__ import annotations

import json
import ssl
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.architecture.sources import ROOT
from tests.cli.conftest import Shell, make_repo
from tests.cli.conftest import gitfleet as gitfleet  # the fixture
from tests.realparts.api_server import ApiServer

DEPLOY = ROOT / "examples" / "deploy"
OVERLAYS = {
    "hub": "resources: [../hub]\ncomponents: [../webhook, ../ssh, ../leader-election]\n",
    "agent": "resources: [../agent]\ncomponents: [../ssh]\n",
}
PLURALS = {
    "ClusterRole": "clusterroles", "ClusterRoleBinding": "clusterrolebindings", "ConfigMap": "configmaps",
    "Deployment": "deployments", "Lease": "leases", "Namespace": "namespaces", "NetworkPolicy": "networkpolicies",
    "Pod": "pods", "PodDisruptionBudget": "poddisruptionbudgets",
    "Role": "roles", "RoleBinding": "rolebindings", "Service": "services", "ServiceAccount": "serviceaccounts",
}  # fmt: skip
FLEET = {
    "placements/shop.yaml": """\
apiVersion: placement.kubernetes-fleet.io/v1
kind: ClusterResourcePlacement
metadata: {name: shop}
spec:
  resourceSelectors: [{group: "", version: v1, kind: Namespace, name: shop}]
  policy: {placementType: PickFixed, clusterNames: [east]}
""",
    "clusters/east.yaml": """\
apiVersion: cluster.kubernetes-fleet.io/v1
kind: MemberCluster
metadata: {name: east}
spec: {connection: {kubeconfig: {file: east}}}
""",
    "resources/shop.yaml": """\
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: prices, namespace: shop}
data: {list: "1"}
---
apiVersion: v1
kind: Service
metadata: {name: shop, namespace: shop}
spec: {ports: [{port: 80}]}
""",
}


def built(kustomize: Path, folder: Path) -> list[dict[str, Any]]:
    """What kustomize makes of a folder."""
    done = subprocess.run([kustomize, "build", folder], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [document for document in yaml.safe_load_all(done.stdout) if document]


@dataclass(frozen=True)
class Account:
    """Somebody who asks an API server, by a token."""

    server: ApiServer
    token: str

    def ask(self, method: str, path: str, body: object = None) -> tuple[int, str]:
        """The status and the text of a response."""
        request = urllib.request.Request(
            self.server.url + path, method=method, data=json.dumps(body).encode() if body else None
        )
        request.add_header("Authorization", f"Bearer {self.token}")
        request.add_header("Content-Type", "application/json" if method != "PATCH" else "application/apply-patch+yaml")
        trust = ssl.create_default_context(cadata=self.server.ca_pem)
        try:
            with urllib.request.urlopen(request, context=trust, timeout=30) as response:
                return response.status, response.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def apply(self, manifest: Mapping[str, Any], *, dry: bool = False) -> tuple[int, str]:
        """Server-side apply of an object, where fields that are not known are refused."""
        query = "?fieldManager=test&force=true&fieldValidation=Strict" + ("&dryRun=All" if dry else "")
        return self.ask("PATCH", path_of(manifest) + query, manifest)

    def must_apply(self, manifest: Mapping[str, Any]) -> None:
        """Apply an object; AssertionError where that is refused."""
        status, text = self.apply(manifest)
        assert status in (200, 201), text


def path_of(manifest: Mapping[str, Any]) -> str:
    """Where an object lies on an API server."""
    version, metadata = manifest["apiVersion"], manifest["metadata"]
    group = f"/apis/{version}" if "/" in version else f"/api/{version}"
    place = f"/namespaces/{metadata['namespace']}" if "namespace" in metadata else ""
    return f"{group}{place}/{PLURALS[manifest['kind']]}/{metadata['name']}"


def pod_of(deployment: Mapping[str, Any]) -> dict[str, Any]:
    """The pod that a Deployment's controller would make."""
    template = deployment["spec"]["template"]
    metadata = {**template["metadata"], "name": "one", "namespace": deployment["metadata"]["namespace"]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}


@pytest.fixture
def admin(rbac_cluster: ApiServer) -> Account:
    return Account(rbac_cluster, rbac_cluster.token)


def overlay(folder: Path, of: str) -> Path:
    """An overlay on the hub or the agent with its components, beside copies of all."""
    subprocess.run(["cp", "-r", DEPLOY, folder / "deploy"], check=True)
    (folder / "deploy" / "mine").mkdir()
    (folder / "deploy/mine/kustomization.yaml").write_text(OVERLAYS[of])
    return folder / "deploy" / "mine"


def take_back(admin: Account, manifests: Sequence[Mapping[str, Any]]) -> None:
    """Remove the rights that manifests gave."""
    for manifest in manifests:
        if manifest["kind"].endswith("Binding"):
            assert admin.ask("DELETE", path_of(manifest))[0] == 200


@pytest.mark.parametrize("which", ["hub", "agent"])
def test_a_restricted_namespace_accepts_the_pods(kustomize: Path, admin: Account, tmp_path: Path, which: str) -> None:
    manifests = built(kustomize, overlay(tmp_path, which))
    for manifest in manifests:
        admin.must_apply(manifest)
    (pod,) = [pod_of(one) for one in manifests if one["kind"] == "Deployment"]
    status, text = admin.apply(pod, dry=True)
    take_back(admin, manifests)

    assert status == 201, text
    (container,) = pod["spec"]["containers"]
    assert ("--webhook=github=/etc/gitfleet/webhooks/github" in container["args"]) == (which == "hub")
    assert [one["name"] for one in container["env"] if "GIT" in one["name"] or "SSH" in one["name"]] == [
        "GITFLEET_SSH_KEY_FILE",
        "GITFLEET_KNOWN_HOSTS_FILE",
    ]
    container["securityContext"]["allowPrivilegeEscalation"] = True
    status, text = admin.apply(pod, dry=True)
    assert status == 403 and "violates PodSecurity" in text, "it is enforced"


def test_a_restricted_namespace_accepts_a_scheduler_and_workers(
    kustomize: Path, admin: Account, tmp_path: Path
) -> None:
    mine = overlay(tmp_path, "hub")
    (mine / "kustomization.yaml").write_text("resources: [../hub]\ncomponents: [../leader-election, ../dask]\n")
    manifests = built(kustomize, mine)
    for manifest in manifests:
        admin.must_apply(manifest)
    pods = [pod_of(one) for one in manifests if one["kind"] == "Deployment"]
    answers = [admin.apply(pod, dry=True) for pod in pods]
    take_back(admin, manifests)
    assert [status for status, _ in answers] == [201] * 3, answers
    assert "--executor=dask=tls://gitfleet-dask:8786" in str(pods)


@pytest.mark.parametrize("which", ["hub", "agent"])
def test_the_pod_and_the_image_agree(kustomize: Path, which: str) -> None:
    """Whatever the image writes has a volume; each argument is one of the command; probes ask for what it answers."""
    from gitfleet.cli.main import app
    from tests.image.dockerfile import config_of, stages_of

    (pod,) = [pod_of(one) for one in built(kustomize, DEPLOY / which) if one["kind"] == "Deployment"]
    (container,) = pod["spec"]["containers"]
    config = config_of(stages_of(ROOT / "Dockerfile")[-1], {})
    mounted = {mount["mountPath"] for mount in container["volumeMounts"] if not mount.get("readOnly")}
    context = pod["spec"]["securityContext"]

    assert mounted == {config.environment["GITFLEET_CACHE_DIR"], config.environment["TMPDIR"]}
    assert config.user == f"{context['runAsUser']}:{context['runAsGroup']}"
    assert pod["spec"]["automountServiceAccountToken"] is (which == "agent")
    asked = [container[f"{name}Probe"]["httpGet"]["path"] for name in ("liveness", "readiness")]
    assert asked == ["/healthz", "/readyz"]
    command = app.get_command(app.make_context("gitfleet", [], resilient_parsing=True), container["args"][0])
    assert command is not None
    known = {option for parameter in command.params for option in parameter.opts}
    assert {word.partition("=")[0] for word in container["args"] if word.startswith("--")} <= known


def account(admin: Account) -> Account:
    """The service account of the pod, by a token that the server gave out for it."""
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}}
    status, text = admin.ask("POST", "/api/v1/namespaces/gitfleet/serviceaccounts/gitfleet/token", body)
    assert status == 201, text
    return Account(admin.server, json.loads(text)["status"]["token"])


def test_two_replicas_may_use_one_lease_and_nothing_else(kustomize: Path, admin: Account, tmp_path: Path) -> None:
    manifests = built(kustomize, overlay(tmp_path, "hub"))
    for manifest in manifests:
        admin.must_apply(manifest)
    own = account(admin)
    deployments = [one for one in manifests if one["kind"] == "Deployment"]
    (container,) = pod_of(deployments[0])["spec"]["containers"]
    assert "--leader-election=gitfleet/gitfleet-leader" in container["args"]
    leases = "/apis/coordination.k8s.io/v1/namespaces/{}/leases"
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "gitfleet-leader"}}

    assert own.ask("POST", leases.format("gitfleet"), lease)[0] == 201
    status, text = own.ask("GET", leases.format("gitfleet") + "/gitfleet-leader")
    assert status == 200
    held = {**json.loads(text), "spec": {"holderIdentity": "one"}}
    assert own.ask("PUT", leases.format("gitfleet") + "/gitfleet-leader", held)[0] == 200
    assert own.ask("DELETE", leases.format("gitfleet") + "/gitfleet-leader")[0] == 403
    assert own.ask("POST", leases.format("kube-system"), lease)[0] == 403
    for path in ("secrets", "configmaps", "pods"):
        assert own.ask("GET", f"/api/v1/namespaces/gitfleet/{path}")[0] == 403, path
    take_back(admin, manifests)


UNPLACED = {"kind": "ServiceAccount", "apiVersion": "v1", "metadata": {"name": "x", "namespace": "shop"}}


@pytest.fixture(params=["member", "member-narrow"])
def variant(request: pytest.FixtureRequest, kustomize: Path, admin: Account) -> Iterator[str]:
    """A member with the namespace `shop`, and the rights of one variant while this lasts."""
    manifests = built(kustomize, DEPLOY / request.param)
    for name in ("shop", "elsewhere"):
        admin.must_apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    for manifest in manifests:
        admin.must_apply(manifest)
    yield request.param
    placed = [
        {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": "shop"}}
        for kind, name in (("ConfigMap", "prices"), ("Service", "shop"))
    ]
    for manifest in placed:
        admin.ask("DELETE", path_of(manifest))
    take_back(admin, manifests)


def own_kubeconfig(admin: Account, path: Path) -> Account:
    """The service account, and a kubeconfig for it."""
    own, config = account(admin), admin.server.kubeconfig
    config["users"][0]["user"] = {"token": own.token}
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(config))
    return own


def test_with_its_rights_it_does_its_work_and_nothing_else(
    gitfleet: Shell, admin: Account, tmp_path: Path, variant: str
) -> None:
    own = own_kubeconfig(admin, tmp_path / "kubeconfigs" / "east")
    repo = make_repo(tmp_path / "fleet", FLEET)

    done = gitfleet("run", "--until-settled", repo, "--kubeconfig-dir", tmp_path / "kubeconfigs")
    assert done.code == 0, done
    for path in ("configmaps/prices", "services/shop"):
        assert admin.ask("GET", f"/api/v1/namespaces/shop/{path}")[0] == 200, path
    for place in ("", "/namespaces/kube-system", "/namespaces/shop", "/namespaces/gitfleet"):
        assert own.ask("GET", f"/api/v1{place}/secrets")[0] == 403, place
    assert own.ask("GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles")[0] == 403
    assert own.apply(UNPLACED)[0] == 403, "a kind that is not among those that are placed"
    elsewhere = own.ask("GET", "/api/v1/namespaces/elsewhere/configmaps")[0]
    assert elsewhere == (200 if variant == "member" else 403)


@pytest.mark.parametrize("variant", ["member", "member-narrow"], indirect=True)
def test_with_the_same_rights_the_agent_does_its_work(
    gitfleet: Shell, admin: Account, tmp_path: Path, variant: str
) -> None:
    """The hub sees no cluster; the agent of this one needs what `member` gives, and with less says what it lacks."""
    own_kubeconfig(admin, tmp_path / "kubeconfig")
    pulled = FLEET["clusters/east.yaml"].replace("{kubeconfig: {file: east}}", "{pull: true}")
    repo = make_repo(tmp_path / "fleet", {**FLEET, "clusters/east.yaml": pulled})
    words = ["--cluster", "east", "--kubeconfig", str(tmp_path / "kubeconfig"), "--context", admin.server.name]
    passes = 0
    while admin.ask("GET", "/api/v1/namespaces/shop/configmaps/prices")[0] != 200:
        assert passes < 8, "it never came to that"
        for done in (gitfleet("run", "--once", repo), gitfleet("agent", repo, *words, "--once")):
            assert done.code == 0, done
        passes += 1
    assert passes > 1, "it is observed before anything is written"
