"""What one cluster refuses, through the whole program: the object and the cause are named, all others are applied, and
it heals when the cause is gone."""

from __future__ import annotations

import base64
import json
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from kubernetes.client import AdmissionregistrationV1Api, CoreV1Api

from tests.e2e.manifests import PLACEMENT, config_map, member, namespace_file, text
from tests.e2e.members import Member, Members
from tests.e2e.programs import Program
from tests.e2e.repos import ConfigRepo
from tests.realparts.certificates import write_server_certificate
from tests.realparts.control_plane import ControlPlanes

pytestmark = pytest.mark.real
NAMES = ("harmed", "sound")
CONTROLLERS = ("namespace-controller", "garbage-collector-controller")
Files = dict[str, str | None]
Cure = Callable[[], object]


@contextmanager
def two_members(control_planes: ControlPlanes) -> Iterator[Members]:
    """Two clusters that finish deletions."""
    servers = control_planes.start_many(NAMES)
    for server in servers:
        server.start_controller_manager(CONTROLLERS)
    found = Members(servers)
    yield found
    for one in found.all:
        one.close()


@pytest.fixture(scope="module")
def members(control_planes: ControlPlanes) -> Iterator[Members]:
    with two_members(control_planes) as found:
        yield found


def placement(name: str, *namespaces: str) -> str:
    """Some namespaces on both clusters at once."""
    selectors = [{"group": "", "version": "v1", "kind": "Namespace", "name": one} for one in namespaces]
    rolling = {"maxUnavailable": 2, "unavailablePeriodSeconds": 1}
    spec = {"resourceSelectors": selectors, "strategy": {"type": "RollingUpdate", "rollingUpdate": rolling}}
    return text({"apiVersion": PLACEMENT, "kind": "ClusterResourcePlacement", "metadata": {"name": name}, "spec": spec})


def service(namespace: str, port: int) -> str:
    metadata = {"name": "front", "namespace": namespace}
    spec = {"selector": {"app": "web"}, "ports": [{"port": port}]}
    return text({"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec})


def binding(namespace: str, role: str) -> str:
    group = "rbac.authorization.k8s.io"
    metadata = {"name": "readers", "namespace": namespace}
    subject = {"apiGroup": group, "kind": "User", "name": "jo"}
    ref = {"apiGroup": group, "kind": "ClusterRole", "name": role}
    body = {"apiVersion": f"{group}/v1", "kind": "RoleBinding", "metadata": metadata}
    return text({**body, "roleRef": ref, "subjects": [subject]})


@dataclass(frozen=True)
class Case:
    """What stands first and is committed then for the namespace that is harmed, what somebody does to the first cluster
    (it gives what ends it), and what is said of which object: (kind, name) to (reason, a part of the message).
    `cured` are the files that end it, where no deed does."""

    first: Callable[[str], Files]
    then: Callable[[str], Files]
    says: Mapping[tuple[str, str], tuple[str, str]]
    clusters: tuple[str, ...] = ("harmed",)
    harm: Callable[[Member, str, Path], Cure] = lambda member, namespace, folder: lambda: None
    cured: Callable[[str], Files] = lambda namespace: {}


def files(**made: Callable[[str], str]) -> Callable[[str], Files]:
    return lambda namespace: {f"resources/{namespace}/{name}.yaml": make(namespace) for name, make in made.items()}


GUARDED = files(guarded=lambda namespace: config_map(namespace, "guarded", a="2"))


class Denying(BaseHTTPRequestHandler):
    """An admission webhook that denies what is called `guarded`."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        request = asked["request"]
        answer: dict[str, Any] = {"uid": request["uid"], "allowed": request["name"] != "guarded"}
        if not answer["allowed"]:
            answer["status"] = {"code": 403, "message": "ask the platform team"}
        body = json.dumps({"apiVersion": asked["apiVersion"], "kind": "AdmissionReview", "response": answer}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing goes to stderr."""


def guard(found: Member, namespace: str, folder: Path, *, answers: bool = True) -> Cure:
    """The cluster asks a webhook about ConfigMaps in a namespace; one that does not answer is asked only about one."""
    certificate, key = write_server_certificate(folder, "guard")
    server = HTTPServer(("127.0.0.1", 0), Denying)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    port = server.server_port
    if answers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    else:
        server.server_close()
    bundle = base64.b64encode(certificate.read_bytes()).decode()
    webhook = {
        "name": "guard.example.com", "admissionReviewVersions": ["v1"], "sideEffects": "None", "timeoutSeconds": 2,
        "clientConfig": {"url": f"https://127.0.0.1:{port}/", "caBundle": bundle},
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["*"]}],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "matchConditions": [] if answers else [{"name": "one", "expression": "request.name == 'guarded'"}],
    }  # fmt: skip
    with found.server.client() as client:
        api = AdmissionregistrationV1Api(client)
        api.create_validating_webhook_configuration({"metadata": {"name": namespace}, "webhooks": [webhook]})

    def cure() -> None:
        with found.server.client() as client:
            AdmissionregistrationV1Api(client).delete_validating_webhook_configuration(namespace)
        if answers:
            server.shutdown()
            server.server_close()

    return cure


def silent_guard(found: Member, namespace: str, folder: Path) -> Cure:
    return guard(found, namespace, folder, answers=False)


def stick(found: Member, namespace: str, folder: Path) -> Cure:
    """Somebody deletes the namespace, and a finalizer in it keeps it."""

    def finalizers(names: list[str] | None) -> None:
        with found.server.client() as client:
            CoreV1Api(client).patch_namespaced_config_map(
                "stuck", namespace, {"metadata": {"finalizers": names}}, _content_type="application/merge-patch+json"
            )

    with found.server.client() as client:
        core: Any = CoreV1Api(client)
        core.create_namespaced_config_map(namespace, {"metadata": {"name": "stuck"}})
        finalizers(["example.com/wait"])
        core.delete_namespace(namespace)
    return lambda: finalizers(None)


CASES = {
    "an object that the server refuses": Case(
        first=files(),
        then=files(front=lambda namespace: service(namespace, 70000)),
        says={("Service", "front"): ("Invalid", "must be between 1 and 65535")},
        clusters=NAMES,
        cured=files(front=lambda namespace: service(namespace, 80)),
    ),
    "a field that cannot change": Case(
        first=files(readers=lambda namespace: binding(namespace, "view")),
        then=files(readers=lambda namespace: binding(namespace, "edit")),
        says={("RoleBinding", "readers"): ("Invalid", "cannot change roleRef")},
        clusters=NAMES,
        cured=files(readers=lambda namespace: binding(namespace, "view")),
    ),
    "a webhook that rejects": Case(
        first=files(guarded=lambda namespace: config_map(namespace, "guarded", a="1")),
        then=GUARDED,
        says={("ConfigMap", "guarded"): ("Forbidden", '"guard.example.com" denied the request: ask the platform team')},
        harm=guard,
    ),
    "a webhook that does not answer": Case(
        first=files(guarded=lambda namespace: config_map(namespace, "guarded", a="1")),
        then=GUARDED,
        says={("ConfigMap", "guarded"): ("ServerError", 'failed calling webhook "guard.example.com"')},
        harm=silent_guard,
    ),
    "a namespace stuck terminating": Case(
        first=files(guarded=lambda namespace: config_map(namespace, "guarded", a="1")),
        then=GUARDED,
        says={
            ("Namespace", "NS"): ("Terminating", "is being deleted and is made again once it is gone"),
            ("ConfigMap", "guarded"): ("NeedsNamespace", "which is being deleted"),
        },
        harm=stick,
    ),
}


def shown(program: Program, name: str) -> Any:
    """The status of a placement as `get -o json` has it."""
    return json.loads(program.command("get", "crp", name, "-o", "json", "-C", program.repo).output)["status"]


def condition(status: Any) -> tuple[str, ...]:
    """A placement's last condition."""
    last = status["conditions"][-1]
    return last["type"].removeprefix("ClusterResourcePlacement"), last["status"], last["reason"]


def failed(status: Any, cluster: str) -> dict[tuple[str, str], tuple[str, str]]:
    """The objects that are not applied on a cluster, by kind and name: reason and message."""
    (there,) = (one for one in status["placementStatuses"] if one["clusterName"] == cluster)
    return {
        (one["kind"], one["name"]): (one["condition"]["reason"], one["condition"]["message"])
        for one in there.get("failedPlacements", ())
    }


@pytest.mark.soak("real")
def test_what_a_cluster_refuses(config: ConfigRepo, program: Program, members: Members, tmp_path: Path) -> None:
    first = members.by_name["harmed"]
    placements = {f"web-{number}": case for number, case in enumerate(CASES.values())}
    harmed = {name: members.namespace(name) for name in placements}
    sound = {name: members.namespace(f"sound-{name}") for name in (*placements, "other")}
    fixed: Files = {f"clusters/{cluster}.yaml": member(cluster) for cluster in NAMES}
    for name, namespace in sound.items():
        spaces = [namespace, *([harmed[name]] if name in harmed else [])]
        fixed[f"placements/{name}.yaml"] = placement(name, *spaces)
        fixed |= {f"resources/{one}/namespace.yaml": namespace_file(one) for one in spaces}

    def settings(value: str) -> Files:
        return {f"resources/{ns}/settings.yaml": config_map(ns, a=value) for ns in sound.values()}

    def every(make: Callable[[Case, str], Files]) -> Files:
        return {path: body for name, case in placements.items() for path, body in make(case, harmed[name]).items()}

    config.commit(fixed | settings("1") | every(lambda case, namespace: case.first(namespace)))
    program.settle(120)
    cures = [case.harm(first, harmed[name], tmp_path) for name, case in placements.items()]
    config.commit(settings("2") | every(lambda case, namespace: case.then(namespace)), "What is refused")
    ended = program.run("--until-settled", "--timeout", "8", expect=None)
    assert "Traceback" not in ended.talk

    # All others have theirs: in the same placement, in other ones, on another cluster.
    for one in members.all:
        assert [one.config_map(ns) for ns in sound.values()] == [{"a": "2"}] * len(sound), one.name
    assert condition(shown(program, "other")) == ("Available", "True", "ResourceAvailable")
    header, *rows = map(str.split, program.command("get", "crp", "-C", program.repo).output.splitlines())
    column = header.index("CLUSTERS") - len(header)  # from the right: cells before it may be empty
    assert [row[column] for row in rows] == ["2/2", "0/2", "0/2", "1/2", "1/2", "1/2"]
    for name, case in placements.items():
        status = shown(program, name)
        wanted = {
            (kind, harmed[name] if called == "NS" else called): said for (kind, called), said in case.says.items()
        }
        for cluster in NAMES:
            found = failed(status, cluster)
            expected = wanted if cluster in case.clusters else {}
            assert {key: code for key, (code, _) in found.items()} == {key: code for key, (code, _) in expected.items()}
            assert all(why in found[key][1] for key, (_, why) in expected.items()), found
        assert condition(status) == ("Applied", "False", "ApplyFailed")
        # The sentence that a person reads in `run` and `explain`.
        why = next(iter(wanted.values()))[1]
        explained = program.command("explain", name, "-C", program.repo).output
        assert any(line.startswith("harmed ") and why in line for line in explained.splitlines()), explained
        assert any(f"{name}: " in line and why in line for line in ended.talk.splitlines()), ended.talk

    for cure in cures:
        cure()
    config.commit({"README.md": "", **every(lambda case, namespace: case.cured(namespace))}, "Cured")
    program.settle(120)
    for name, case in placements.items():
        assert condition(shown(program, name)) == ("Available", "True", "ResourceAvailable"), name
        if case.then is GUARDED:
            assert [one.config_map(harmed[name], "guarded") for one in members.all] == [{"a": "2"}] * 2
