"""KubeClient against a real kube-apiserver: what it answers decides, not what we think it answers."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from kubernetes.client import CoreV1Api

from gitfleet.adapters.kube import CoreProvider, KubeClient, KubeDirectory, chosen_providers
from gitfleet.adapters.kube.texts import KubeText
from gitfleet.adapters.kube.wire import Timeouts
from gitfleet.api.clusters import Connection, MemberCluster
from gitfleet.api.objects import Manifest, ObjectKey, Origin, key_of
from gitfleet.api.placements import PlacementKey
from gitfleet.api.strategies import DeletePropagation
from gitfleet.api.values import NamespacedName
from gitfleet.apply import ApplyRequest, Comparisons, Ignored, plan_apply, record_intended, settle_inventory
from gitfleet.apply.fleet import applied_manifests
from gitfleet.formats.canonical_json import digest_of
from gitfleet.model.observations import Availability
from gitfleet.model.operations import Create, Delete, Keep, Operation, Outcome, Patch, Release, Update
from gitfleet.model.state import Inventory
from gitfleet.model.works import Work
from gitfleet.observe import availability_of
from gitfleet.ports.clusters import ClusterClient
from gitfleet.settings import ConnectionRules
from tests.apply.strategies import apply_strategy
from tests.gates import open_gate
from tests.realparts.control_plane import ApiServer

WEB = PlacementKey("", "web")
QUICK = Timeouts(connect_seconds=2, read_seconds=5, tries=2, first_pause_seconds=0.05)


def manifest(body: dict[str, Any]) -> Manifest:
    return Manifest(key_of(body), body, digest_of(body), Origin("f.yaml", 1))


def config_map(namespace: str, name: str = "cm", **data: str) -> Manifest:
    metadata = {"name": name, "namespace": namespace}
    return manifest({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})


def directory(server: ApiServer, folder: Path, **more: Any) -> KubeDirectory:
    path = server.write_kubeconfig(folder / f"{server.name}.kubeconfig")
    return KubeDirectory(ConnectionRules(kubeconfig=path), timeouts=QUICK, **more)


def member(server: ApiServer) -> MemberCluster:
    return MemberCluster(name=server.name, connection=Connection(context=server.name))


class NamedClient(ClusterClient, Protocol):
    """A client that says of which cluster it is."""

    @property
    def cluster(self) -> str: ...


class Reconciles:
    """Observes, plans, records, performs and settles, as a reconcile does."""

    def __init__(self, cluster: NamedClient) -> None:
        self.cluster = cluster
        self.inventory: Inventory = {}
        self.outcomes: tuple[Outcome, ...] = ()
        self.before: tuple[Work, ...] = ()
        self.ignored = Ignored()
        self.compared = Comparisons()

    def comparisons(self) -> Comparisons:
        return Comparisons(self.ignored)

    def reconcile(self, *manifests: Manifest, removing: str | None = None, **strategy: Any) -> tuple[Operation, ...]:
        work = Work(
            placement=WEB,
            cluster=self.cluster.cluster,
            generation=1,
            snapshot="s",
            manifests=manifests,
            apply_strategy=apply_strategy(**strategy),
        )
        result = self.cluster.observe({m.key for m in manifests} | set(self.inventory))
        assert result.reachable, result.error
        compared = self.compared = self.comparisons()
        plan = plan_apply(
            ApplyRequest(
                gate=open_gate(self.cluster.cluster),
                cluster=self.cluster.cluster,
                works=() if removing else (work,),
                removing={WEB: DeletePropagation(removing)} if removing else {},
                inventory=self.inventory,
                live=result.live,
                unreadable=result.unreadable,
                known_namespaces=result.namespaces,
                applied=applied_manifests(self.before, {}),
                compared=compared,
            )
        )
        self.before = (work,)
        recorded = record_intended(self.inventory, plan)
        self.outcomes = tuple(self.cluster.perform([o for o in plan if isinstance(o, Create | Update | Delete)]))
        self.inventory = settle_inventory(recorded, self.outcomes, plan, compared=compared)
        return plan

    def reported(self) -> list[tuple[str, bool]]:
        return [(o.code, o.ok) for o in self.outcomes]


def kinds(plan: tuple[Operation, ...]) -> list[tuple[str, str]]:
    return [(type(o).__name__, o.key.kind) for o in plan]


def deployment(namespace: str) -> Manifest:
    return manifest(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "web", "namespace": namespace},
            "spec": {
                "replicas": 2,
                "selector": {"matchLabels": {"app": "web"}},
                "template": {
                    "metadata": {"labels": {"app": "web"}},
                    "spec": {
                        "containers": [
                            {
                                "name": "web",
                                "image": "web:1",
                                "ports": [{"containerPort": 80}],
                                "env": [{"name": "A", "value": "1"}],
                                "resources": {"requests": {"cpu": "1000m", "memory": 134217728}},
                            }
                        ]
                    },
                },
            },
        }
    )


def many(namespace: str) -> tuple[Manifest, ...]:
    """One of many kinds, written as people write them: nothing a server fills in or rewrites may look like drift."""
    inside = {"namespace": namespace}
    return (
        manifest({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}),
        config_map(namespace, a="1"),
        manifest(
            {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {"name": "s", **inside},
                "stringData": {"password": "hunter2"},
            }
        ),
        manifest(
            {
                "apiVersion": "v1",
                "kind": "Service",
                "metadata": {"name": "web", **inside},
                "spec": {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": 8080}]},
            }
        ),
        deployment(namespace),
        manifest(
            {
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": "RoleBinding",
                "metadata": {"name": "b", **inside},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
                "subjects": [{"kind": "User", "name": "jo"}],
            }
        ),
        manifest(
            {
                "apiVersion": "networking.k8s.io/v1",
                "kind": "NetworkPolicy",
                "metadata": {"name": "n", **inside},
                "spec": {"podSelector": {}, "ingress": [{"ports": [{"port": 80}]}]},
            }
        ),
        manifest(
            {
                "apiVersion": "batch/v1",
                "kind": "CronJob",
                "metadata": {"name": "c", **inside},
                "spec": {
                    "schedule": "* * * * *",
                    "jobTemplate": {
                        "spec": {
                            "template": {
                                "spec": {
                                    "restartPolicy": "Never",
                                    "containers": [{"name": "c", "image": "c"}],
                                    "volumes": [{"name": "v", "emptyDir": {"sizeLimit": "0.5Gi"}}],
                                }
                            }
                        }
                    },
                },
            }
        ),
    )


def test_a_whole_work_is_applied_kept_and_pruned(server: ApiServer, cluster: KubeClient) -> None:
    reconciles = Reconciles(cluster)
    wanted = many("whole-work")
    plan = reconciles.reconcile(*wanted)
    assert {type(o) for o in plan} == {Create}
    assert reconciles.reported() == [("Applied", True)] * len(wanted)
    assert {type(o) for o in reconciles.reconcile(*wanted)} == {Keep}, "what a server fills in is no drift"
    assert [o.code for o in reconciles.reconcile(*wanted) if isinstance(o, Keep)] == ["InPlace"] * len(wanted)
    fewer = wanted[:4]
    assert {k for k in kinds(reconciles.reconcile(*fewer)) if k[0] == "Delete"} == {
        ("Delete", kind) for kind in ("Deployment", "RoleBinding", "NetworkPolicy", "CronJob")
    }
    assert {code for code, ok in reconciles.reported() if ok} <= {"Deleted", "Deleting", "NotFound"}


CRD: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.test.example.com"},
    "spec": {
        "group": "test.example.com",
        "names": {"kind": "Widget", "plural": "widgets", "singular": "widget", "listKind": "WidgetList"},
        "scope": "Namespaced",
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {
                                    "size": {"type": "integer", "default": 1},
                                    "parts": {
                                        "type": "array",
                                        "x-kubernetes-list-type": "map",
                                        "x-kubernetes-list-map-keys": ["id"],
                                        "items": {
                                            "type": "object",
                                            "required": ["id"],
                                            "properties": {
                                                "id": {"type": "string"},
                                                "color": {"type": "string", "default": "red"},
                                            },
                                        },
                                    },
                                },
                            }
                        },
                    }
                },
            }
        ],
    },
}


def test_a_definition_its_objects_and_their_namespace_in_one_work(server: ApiServer, cluster: KubeClient) -> None:
    reconciles = Reconciles(cluster)
    namespace = manifest({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "widgets"}})
    widget = manifest(
        {
            "apiVersion": "test.example.com/v1",
            "kind": "Widget",
            "metadata": {"name": "w", "namespace": "widgets"},
            "spec": {"parts": [{"id": "a"}]},
        }
    )
    wanted = (widget, manifest(CRD), namespace)
    reconciles.reconcile(*wanted)
    assert reconciles.reported() == [("Applied", True)] * 3, [o.message for o in reconciles.outcomes]
    assert {type(o) for o in reconciles.reconcile(*wanted)} == {Keep}
    live = cluster.observe([widget.key]).live[widget.key]
    assert live is not None and live.body["spec"] == {"size": 1, "parts": [{"id": "a", "color": "red"}]}
    assert availability_of(live.body).availability is Availability.NOT_TRACKABLE
    wrong = manifest({**widget.body, "spec": {"sise": 3}})
    reconciles.reconcile(wrong, *wanted[1:])
    failed = [o for o in reconciles.outcomes if not o.ok]
    assert [(o.code, o.retry) for o in failed] == [("Invalid", False)]
    assert "sise" in failed[0].message


def test_refusals_are_answers(server: ApiServer, cluster: KubeClient) -> None:
    namespace = server.make_namespace()
    typo = manifest({**deployment(namespace).body, "spec": {**deployment(namespace).body["spec"], "replicsa": 1}})
    unknown = manifest({"apiVersion": "no.such.group/v1", "kind": "Foo", "metadata": {"name": "f"}})
    nowhere = config_map("no-such-namespace")
    outside = config_map(namespace, name="../secrets/x")
    nobody = config_map(namespace, name="")
    invalid = config_map(namespace, name="UPPER")
    operations = [
        Create(cluster="east", placement=WEB, manifest=m, wave=1, reason="x")
        for m in (typo, unknown, nowhere, outside, nobody, invalid)
    ]
    outcomes = cluster.perform(operations)
    assert [(o.code, o.retry) for o in outcomes] == [
        ("Invalid", False),
        ("NeedsCRD", True),
        ("NeedsNamespace", True),
        ("Invalid", False),
        ("Invalid", False),
        ("Invalid", False),
    ]
    assert "replicsa" in outcomes[0].message
    missing = replace(operations[2], needs=(ObjectKey("", "v1", "Namespace", "", "no-such-namespace"),))
    (outcome,) = cluster.perform([missing])
    assert (
        outcome.code == "NeedsNamespace"
        and KubeText.WHICH_IS_NOT_THERE(need="Namespace/no-such-namespace") in outcome.message
    )


def test_no_secret_value_comes_back_in_a_sentence(server: ApiServer, cluster: KubeClient) -> None:
    namespace = server.make_namespace()
    body = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": namespace}}
    wrong = manifest({**body, "data": {"password": "not base64: hunter2!"}})
    (outcome,) = cluster.perform([Create(cluster="east", placement=WEB, manifest=wrong, wave=1, reason="x")])
    assert not outcome.ok and "hunter2" not in outcome.message
    wrong = manifest({**body, "stringData": {"hunter2key!": "hunter2"}, "type": "kubernetes.io/tls"})
    (outcome,) = cluster.perform([Create(cluster="east", placement=WEB, manifest=wrong, wave=1, reason="x")])
    assert not outcome.ok and not outcome.retry


def test_looks_list_when_many_and_page_when_long(server: ApiServer, cluster: KubeClient) -> None:
    namespace = server.make_namespace()
    wanted = [config_map(namespace, name=f"cm-{n:03}", n=str(n)) for n in range(40)]
    cluster.perform([Create(cluster="east", placement=WEB, manifest=m, wave=1, reason="x") for m in wanted])
    absent = config_map(namespace, name="absent")
    result = cluster.observe([absent.key, *(m.key for m in wanted)])
    assert result.healthy and namespace in (result.namespaces or {})
    assert result.live[absent.key] is None and len(result.live) == 41
    one = result.live[wanted[3].key]
    assert one is not None and (one.body["kind"], one.body["data"]) == ("ConfigMap", {"n": "3"})
    few = cluster.observe([wanted[3].key, absent.key], probe=False)
    assert few.live == {wanted[3].key: one, absent.key: None}


def test_unserved_versions_are_not_mistaken_for_absent_objects(cluster: KubeClient) -> None:
    old = ObjectKey("policy", "v1beta1", "PodDisruptionBudget", "default", "x")
    never = ObjectKey("policy", "v1", "PodSecurityPolicy", "", "x")
    result = cluster.observe([old, never])
    assert result.live == {never: None}
    assert "other versions" in result.unreadable[old]


def test_permissions(rbac_cluster: ApiServer, tmp_path: Path) -> None:
    server = rbac_cluster
    path = server.write_kubeconfig(tmp_path / "jo", user="jo")
    found = KubeDirectory(ConnectionRules(kubeconfig=path), timeouts=QUICK)
    client = found.client(member(server))
    wanted = config_map("default")
    result = client.observe([wanted.key, *(replace(wanted.key, name=f"n{n}") for n in range(10))])
    assert result.reachable and result.healthy and result.namespaces is None
    assert len(result.unreadable) == 11 and not result.live
    assert "cannot get resource" in result.unreadable[wanted.key]
    (outcome,) = client.perform([Create(cluster=server.name, placement=WEB, manifest=wanted, wave=1, reason="x")])
    assert (outcome.code, outcome.retry) == ("Forbidden", False)
    web = ObjectKey("apps", "v1", "Deployment", "default", "web")
    rollout = NamespacedName("default", "web")
    patch = Patch(
        cluster=server.name, rollout=rollout, reason="x", key=web, uid="u", resource_version="1", patch={"spec": {}}
    )
    (step,) = client.perform_steps([patch])
    assert (step.ok, step.code) == (False, "Forbidden")
    assert 'User "jo" cannot patch resource "deployments"' in step.message
    found.close()


def test_wrong_credentials_and_what_replaces_them(server: ApiServer, tmp_path: Path) -> None:
    path = server.write_kubeconfig(tmp_path / "kubeconfig")
    right = path.read_text()
    path.write_text(right.replace(server.token, "wrong"))
    found = KubeDirectory(ConnectionRules(kubeconfig=path), timeouts=QUICK)
    result = found.client(member(server)).observe([])
    assert (result.reachable, result.error) == (False, KubeText.API_SERVER_REFUSED_CREDENTIALS(wire="east"))
    path.write_text(right)
    assert found.client(member(server)).observe([]).reachable
    assert found.client(member(server)) is found.reader(member(server))
    other = control_plane_of_another(server, path)
    result = KubeDirectory(ConnectionRules(kubeconfig=other), timeouts=QUICK).client(member(server)).observe([])
    assert not result.reachable and "TLS certificate" in result.error
    found.close()


def control_plane_of_another(server: ApiServer, path: Path) -> Path:
    """A kubeconfig without the server's authority."""
    body = json.loads(path.read_text())
    del body["clusters"][0]["cluster"]["certificate-authority-data"]
    other = path.with_name("untrusting")
    other.write_text(json.dumps(body))
    return other


def test_a_server_that_dies_freezes_and_comes_back(mortal: ApiServer, tmp_path: Path) -> None:
    server = mortal
    found = directory(server, tmp_path)
    client = found.client(member(server))
    wanted = config_map("default", a="1")
    create = Create(cluster="mortal", placement=WEB, manifest=wanted, wave=1, reason="x")
    assert client.perform([create])[0].ok
    server.kill()
    result = client.observe([wanted.key])
    assert (result.reachable, result.error) == (
        False,
        KubeText.API_SERVER_NOT_ANSWER(name="mortal", error="connection refused"),
    )
    (outcome,) = client.perform([create])
    assert (outcome.code, outcome.ok, outcome.retry) == ("Unreachable", False, True)
    server.restart()
    result = client.observe([wanted.key])
    assert result.reachable and result.live[wanted.key] is not None
    server.freeze()
    result = client.observe([wanted.key])
    assert not result.reachable and "no response within 5 s" in result.error
    server.thaw()
    assert client.observe([wanted.key]).reachable
    found.close()


def test_measuring(server: ApiServer, tmp_path: Path) -> None:
    node: Any = {
        "metadata": {"name": "n1"},
        "status": {"capacity": {"cpu": "4", "memory": "8Gi"}, "allocatable": {"cpu": "3500m", "memory": "7Gi"}},
    }
    namespace = server.make_namespace()
    pod: Any = {
        "metadata": {"name": "p"},
        "spec": {
            "nodeName": "n1",
            "containers": [{"name": "c", "image": "c", "resources": {"requests": {"cpu": "500m", "memory": "1Gi"}}}],
        },
    }
    with server.client() as client:
        core = CoreV1Api(client)
        core.create_node(node)
        core.create_namespaced_pod(namespace, pod)
        try:
            found = directory(server, tmp_path, providers=lambda: chosen_providers((), {"core": CoreProvider}))
            result = found.client(member(server)).observe([])
            properties = {n: v.value for n, v in result.properties.items()}
            assert properties.pop("k8s.io/k8s-version").startswith("v1.")
            assert properties == {"kubernetes-fleet.io/node-count": "1", "k8s.io/cluster-entrypoint": server.url}
            usage = result.resource_usage
            assert usage is not None
            assert (usage.capacity, usage.allocatable, usage.available) == (
                {"cpu": "4", "memory": "8Gi"},
                {"cpu": "3500m", "memory": "7Gi"},
                {"cpu": "3", "memory": "6Gi"},
            )
            found.close()
        finally:
            core.delete_node("n1")


def test_a_placement_that_leaves_takes_all_of_its_objects_and_its_namespace_along(
    workload_cluster: ApiServer, tmp_path: Path
) -> None:
    found = directory(workload_cluster, tmp_path)
    reconciles = Reconciles(found.client(member(workload_cluster)))
    reconciles.reconcile(*many("leaving"))
    assert len(reconciles.inventory) == 8
    for _ in range(100):
        plan = reconciles.reconcile(removing="Delete")
        assert all(isinstance(o, Delete | Release | Keep) for o in plan)
        if not reconciles.inventory:
            break
        time.sleep(0.2)
    assert reconciles.inventory == {}, "an entry leaves when the server says NotFound, and then at once"
    assert "leaving" not in (reconciles.cluster.observe([]).namespaces or {})
    found.close()
