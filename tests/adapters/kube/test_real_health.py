"""Failures as real controllers report them on a real kube-apiserver, and a health check of a real custom resource."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes.client import CoreV1Api, CustomObjectsApi

from gitfleet.api.fleet import FleetConfig, HealthCheck
from gitfleet.api.objects import Manifest
from gitfleet.formats.cel import read_expression
from gitfleet.formats.texts import FormatsText
from gitfleet.model.observations import Availability, Verdict
from gitfleet.observe import availability_of
from gitfleet.observe.texts import ObserveText
from tests.adapters.kube.test_real_cluster import Reconciles, deployment, directory, manifest, member
from tests.realparts.control_plane import ApiServer, ControlPlanes

CONTROLLERS = ("deployment-controller", "replicaset-controller", "job-controller", "resourcequota-controller")
NAME = "ailing"
POD = {"containers": [{"name": "web", "image": "web:1"}], "restartPolicy": "Never"}
CHECK = HealthCheck(group="test.example.com", kind="Tree", available=read_expression("status.leaves >= spec.leaves"))
CHECKS = FleetConfig(health_checks=(CHECK,)).checks


def in_namespace(api_version: str, kind: str, **parts: Any) -> Manifest:
    return manifest({"apiVersion": api_version, "kind": kind, "metadata": {"name": "web", "namespace": NAME}, **parts})


def definition() -> Manifest:
    leaves = {"type": "object", "properties": {"leaves": {"type": "integer"}}}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": leaves, "status": leaves}}},
    }
    spec = {
        "group": "test.example.com",
        "names": {"kind": "Tree", "plural": "trees", "singular": "tree", "listKind": "TreeList"},
        "scope": "Namespaced",
        "versions": [version],
    }
    named = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    return manifest({**named, "metadata": {"name": "trees.test.example.com"}, "spec": spec})


def slow(namespace: str) -> Manifest:
    body = deployment(namespace).body
    return manifest({**body, "spec": {**body["spec"], "progressDeadlineSeconds": 1}})


NOT_YET = Availability.NOT_YET
QUOTA = re.compile(
    ObserveText.REPLICAS_UPDATED(updated="0", wanted="2")
    + '; FailedCreate: pods "web-[^"]+" is forbidden: exceeded quota: '
)
JOB = in_namespace("batch/v1", "Job", spec={"activeDeadlineSeconds": 1, "template": {"spec": POD}})
CLAIM = in_namespace(
    "v1",
    "PersistentVolumeClaim",
    spec={"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
)
BARE = in_namespace("v1", "Pod", spec=POD)
TREE = in_namespace("test.example.com/v1", "Tree", spec={"leaves": 3})
NAMESPACE = manifest({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAME}})


def quota() -> Manifest:
    """No room for any pod but the one that is there already."""
    return in_namespace("v1", "ResourceQuota", spec={"hard": {"pods": "1"}})


@pytest.fixture
def server(control_planes: ControlPlanes) -> Iterator[ApiServer]:
    """A server of its own, on which no pod becomes ready."""
    found = control_planes.start(NAME)
    found.start_controller_manager(CONTROLLERS)
    yield found
    found.stop()


def test_what_real_controllers_report_is_named(server: ApiServer, tmp_path: Path) -> None:
    found = directory(server, tmp_path)
    reconciles = Reconciles(found.client(member(server)))
    reconciles.reconcile(NAMESPACE, BARE, quota(), definition())

    def verdict(wanted: Manifest) -> Verdict:
        live = reconciles.cluster.observe([wanted.key]).live[wanted.key]
        assert live is not None
        return availability_of(live.body, CHECKS)

    def awaited(wanted: Manifest, reason: str) -> Verdict:
        """The verdict, once its reason is there; what it is after two minutes otherwise."""
        for _ in range(600):
            if re.search(reason, verdict(wanted).reason):
                break
            time.sleep(0.2)
        return verdict(wanted)

    with server.client() as client:
        core = CoreV1Api(client)
        for _ in range(300):
            if core.read_namespaced_resource_quota("web", NAME).status.used == {"pods": "1"}:
                break
            time.sleep(0.2)
        web = slow(NAME)
        everything = (NAMESPACE, BARE, quota(), definition(), web, JOB, CLAIM, TREE)
        reconciles.reconcile(*everything)
        assert all(ok for _, ok in reconciles.reported()), [o.message for o in reconciles.outcomes]

        failed = awaited(web, "FailedCreate")
        assert (failed.availability, bool(QUOTA.match(failed.reason))) == (NOT_YET, True), failed
        assert awaited(JOB, "DeadlineExceeded") == Verdict(
            NOT_YET,
            (
                ObserveText.NO_POD_SUCCEEDED_READY()
                + "; DeadlineExceeded: Job was active longer than specified deadline"
            ),
        )
        core.delete_namespaced_resource_quota("web", NAME)
        # The pods come when the ReplicaSet tries again, which may be after its Deployment's deadline.
        deadline = ObserveText.REPLICAS_AVAILABLE(available="0", wanted="2") + "; ProgressDeadlineExceeded: ReplicaSet"
        late = awaited(web, deadline)
        assert late.reason.startswith(deadline), late

        assert verdict(CLAIM).availability is Availability.NOT_TRACKABLE
        core.patch_namespaced_persistent_volume_claim_status("web", NAME, {"status": {"phase": "Lost"}})
        assert verdict(CLAIM) == Verdict(NOT_YET, ObserveText.VOLUME_LOST())
        pulling = {"waiting": {"reason": "ImagePullBackOff", "message": 'Back-off pulling image "web:1"'}}
        container = {
            "name": "web",
            "image": "web:1",
            "imageID": "",
            "ready": False,
            "restartCount": 0,
            "state": pulling,
        }
        core.patch_namespaced_pod_status("web", NAME, {"status": {"containerStatuses": [container]}})
        assert verdict(BARE) == Verdict(NOT_YET, 'container web: ImagePullBackOff: Back-off pulling image "web:1"')

        assert verdict(TREE) == Verdict(
            NOT_YET,
            ObserveText.HEALTH_CHECK_CANNOT_EVALUATED(name="available", error=FormatsText.NO_FIELD(missing="status")),
        )
        trees = CustomObjectsApi(client)
        for leaves, expected in (
            (2, Verdict(NOT_YET, ObserveText.HEALTH_CHECK_SAYS_NOT_AVAILABLE(beside=""))),
            (3, Verdict(Availability.AVAILABLE)),
        ):
            where = ("test.example.com", "v1", NAME, "trees", "web")
            trees.patch_namespaced_custom_object_status(*where, {"status": {"leaves": leaves}})
            assert verdict(TREE) == expected
    found.close()
