"""FullComparison on a real kube-apiserver: what the server filled in is no drift, what somebody else wrote is; of what
others made, a dry run tells the two apart, and writes nothing."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from kubernetes.client import AppsV1Api, CoreV1Api
from kubernetes.dynamic import DynamicClient

from gitfleet.adapters.kube import KubeClient
from gitfleet.adapters.kube.texts import KubeText
from gitfleet.api.objects import Manifest
from gitfleet.apply import Comparisons, Pair, Question
from gitfleet.formats.canonical_json import canonical_json
from gitfleet.model.observations import DryRun, LiveObjects
from gitfleet.model.operations import Keep, Operation, Refuse
from tests.adapters.kube.test_real_cluster import Reconciles, manifest
from tests.realparts.control_plane import ApiServer

FORTY_KINDS = Path(__file__).parents[2] / "e2e" / "forty_kinds.yaml"
FULL: dict[str, Any] = {"comparison_option": "FullComparison"}
STRICT = FULL | {"when_to_apply": "IfNotDrifted"}
Found = dict[str, list[tuple[str, str | None, str | None, str]]]


def forty_kinds(namespace: str) -> list[Manifest]:
    documents = yaml.safe_load_all(FORTY_KINDS.read_text(encoding="utf-8").replace("NS", namespace))
    return [manifest(body) for body in documents]


class Asks(Reconciles):
    """Reconciles, with dry runs for what the comparisons leave open."""

    dry_runs: dict[Pair, DryRun]
    asked: list[str]

    def reconcile(self, *manifests: Manifest, removing: str | None = None, **strategy: Any) -> tuple[Operation, ...]:
        self.dry_runs, self.asked = {}, []
        super().reconcile(*manifests, removing=removing, **strategy)
        questions: dict[Pair, Question] = self.compared.questions
        self.asked = [str(wanted.key) for wanted, _ in questions.values()]
        self.dry_runs = dict(zip(questions, self.cluster.dry_run(list(questions.values())), strict=True))
        return super().reconcile(*manifests, removing=removing, **strategy)

    def comparisons(self) -> Comparisons:
        return Comparisons(self.ignored, self.dry_runs)

    def found(self, *wanted: Manifest, **strategy: Any) -> Found:
        """What differs, by object, and who wrote it; nothing may be written any more."""
        plan = self.reconcile(*wanted, **strategy)
        assert {type(operation) for operation in plan} <= {Keep, Refuse}, [o.reason for o in plan]
        return {
            str(o.key): [(*row, {w.path: w.manager for w in o.writers}.get(row[0], "")) for row in o.details]
            for o in plan
            if isinstance(o, Keep | Refuse) and o.details
        }


def contents(cluster: KubeClient, wanted: list[Manifest]) -> bytes:
    """All that the server has of the objects, to the last version."""
    live: LiveObjects = cluster.observe([one.key for one in wanted], probe=False).live
    return canonical_json([one.body for one in live.values() if one is not None])


def test_what_a_second_manager_writes_has_drifted_with_path_values_and_its_name(
    cluster: KubeClient, server: ApiServer
) -> None:
    wanted, asks = forty_kinds("second"), Asks(cluster)
    for _ in range(3):
        asks.reconcile(*wanted, **STRICT)
    with server.client() as client:
        pod = {"spec": {"template": {"spec": {"terminationGracePeriodSeconds": 5, "dnsPolicy": "ClusterFirst"}}}}
        AppsV1Api(client).patch_namespaced_deployment("web", "second", pod, field_manager="a-person")
        CoreV1Api(client).patch_namespaced_config_map(
            "settings", "second", {"data": {"more": "1"}}, field_manager="a-person"
        )
        CoreV1Api(client).patch_namespaced_secret(
            "login", "second", {"stringData": {"extra": "hunter3"}}, field_manager="a-person"
        )
    before = contents(cluster, wanted)
    found = asks.found(*wanted, **STRICT)
    assert found == {
        "Deployment/second/web": [("/spec/template/spec/terminationGracePeriodSeconds", "5", None, "a-person")],
        "ConfigMap/second/settings": [("/data/more", "1", None, "a-person")],
        "Secret/second/login": [("/data/extra", "(redacted)", None, "a-person")],
    }
    assert "hunter3" not in str(found) and contents(cluster, wanted) == before


def test_what_others_made_is_taken_over_only_without_a_difference(cluster: KubeClient, server: ApiServer) -> None:
    """A client that creates an object owns its defaults, too: only a dry run tells."""
    chosen = {"Namespace", "ConfigMap", "Secret", "Service", "Deployment", "DaemonSet", "CronJob", "Job", "Ingress"}
    wanted = [one for one in forty_kinds("made") if one.key.kind in chosen]
    with server.client() as client:
        make: Callable[..., Any] = DynamicClient
        dynamic = make(client)
        for one in wanted:
            kind = dynamic.resources.get(api_version=one.key.api_version, kind=one.key.kind)
            kind.create(body=copy.deepcopy(dict(one.body)), namespace=one.key.namespace or None)
    take = FULL | {"when_to_take_over": "IfNoDiff"}
    asks = Asks(cluster)
    report = asks.found(*wanted, **FULL | {"type": "ReportDiff"})
    # A Job cannot be replaced by a manifest without what was generated for it: it counts as before, and that is said.
    assert list(report) == ["Job/made/migrate"]
    assert {"Deployment/made/web", "Service/made/web", "Job/made/migrate"} <= set(asks.asked)
    plan = asks.reconcile(*wanted, **take)
    (job,) = [operation for operation in plan if isinstance(operation, Refuse)]
    assert KubeText.DRY_RUN_REFUSED(message="") in job.reason
    assert len(job.reason) < 1000
