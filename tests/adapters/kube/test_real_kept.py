"""What is never deleted, on a real kube-apiserver: by gitfleet's manifest or by the hand of another field manager."""

from __future__ import annotations

from typing import Any

from kubernetes.client import CoreV1Api

from gitfleet.adapters.kube import KubeClient
from gitfleet.apply.texts import ApplyText
from gitfleet.model.operations import Delete, Release
from tests import builders as make
from tests.adapters.kube.test_real_cluster import Reconciles, manifest
from tests.realparts.control_plane import ApiServer

KEEP = {"helm.sh/resource-policy": "keep"}


def test_what_is_protected_stays_with_its_namespace_as_it_is(server: ApiServer, cluster: KubeClient) -> None:
    names = {"placed": KEEP, "marked": None, "gone": None}
    maps = [manifest(make.config_map("kept", name, {"a": "1"}, annotations=by)) for name, by in names.items()]
    reconciles = Reconciles(cluster)
    reconciles.reconcile(manifest(make.namespace("kept")), *maps)
    with server.client() as client:
        core: Any = CoreV1Api(client)
        mark: dict[str, Any] = {"metadata": {"annotations": {"gitfleet.dev/prune": "false"}}}
        core.patch_namespaced_config_map("marked", "kept", mark, field_manager="kubectl-annotate")
        before = core.read_namespaced_config_map("placed", "kept").metadata
        plan = reconciles.reconcile(removing="Delete")
        assert {(type(o), o.key.name) for o in plan} == {
            (Release, "kept"), (Release, "placed"), (Release, "marked"), (Delete, "gone")
        }  # fmt: skip
        assert reconciles.inventory == {}
        assert {one.metadata.name for one in core.list_namespaced_config_map("kept").items} >= {"placed", "marked"}
        assert core.read_namespace("kept").status.phase == "Active"
        after = core.read_namespaced_config_map("placed", "kept").metadata
        assert (after.resource_version, after.managed_fields) == (before.resource_version, before.managed_fields)
        assert reconciles.reconcile(*maps[:2])[0].reason == ApplyText.TAKEN_OVER(found=ApplyText.WAS_THERE_BEFORE())
        assert core.read_namespaced_config_map("placed", "kept").metadata.uid == before.uid
