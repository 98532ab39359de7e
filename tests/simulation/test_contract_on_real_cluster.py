"""The cluster contract on the real adapter and a real API server: the fake and the real part keep the same promises."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

import pytest
from kubernetes.client import ApiClient

from gitfleet.adapters.kube import KubeDirectory
from gitfleet.adapters.kube.wire import Timeouts
from gitfleet.api.clusters import Connection, MemberCluster
from gitfleet.api.objects import JsonObject, ObjectKey, key_of
from gitfleet.settings import ConnectionRules
from tests.realparts.api_server import ApiServer
from tests.simulation.cluster_contract import ClusterBench, ClusterContract
from tests.simulation.held_contract import HeldContract
from tests.simulation.steps_contract import StepsContract

_PREFIXES = {"ConfigMap": "/api/v1", "Deployment": "/apis/apps/v1"}


def _patch(api: ApiClient, key: ObjectKey, body: Any, form: str, *query: tuple[str, str]) -> None:
    path = f"{_PREFIXES[key.kind]}/namespaces/{key.namespace}/{key.kind.lower()}s/{key.name}"
    request = api.param_serialize(
        "PATCH",
        path,
        query_params=list(query),
        header_params={"Content-Type": f"application/{form}", "Accept": "application/json"},
        body=body,
        auth_settings=["BearerToken"],
    )
    response = api.call_api(*request)
    text = cast(Any, response).read()
    assert response.status in (200, 201), text


def _edit(api: ApiClient, key: ObjectKey, patch: Sequence[JsonObject]) -> None:
    steps = [dict(step) for step in patch]
    _patch(api, key, steps, "json-patch+json", ("fieldManager", "kubectl-edit"))


def _apply(api: ApiClient, body: JsonObject, manager: str) -> None:
    _patch(api, key_of(body), dict(body), "apply-patch+yaml", ("fieldManager", manager), ("force", "true"))


class OnRealCluster:
    """The bench of a real API server."""

    @pytest.fixture
    def bench(self, one_cluster: ApiServer, tmp_path: Path) -> Iterator[ClusterBench]:
        server = one_cluster
        kubeconfig = server.write_kubeconfig(tmp_path / "kubeconfig")
        timeouts = Timeouts(connect_seconds=2, read_seconds=5, tries=2, first_pause_seconds=0.05)
        directory = KubeDirectory(ConnectionRules(kubeconfig=kubeconfig), timeouts=timeouts)
        numbers, run = count(), uuid4().hex[:8]
        with server.client() as api:
            yield ClusterBench(
                cluster=server.name,
                client=directory.client(MemberCluster(name=server.name, connection=Connection(context=server.name))),
                fresh=lambda: f"ns-{run}-{next(numbers)}",
                by_hand=lambda key, patch: _edit(api, key, patch),
                by_another=lambda body, manager: _apply(api, body, manager),
                wait=lambda: time.sleep(0.1),
            )
        directory.close()


@pytest.mark.soak("real")
class TestContractOnRealCluster(OnRealCluster, ClusterContract, StepsContract, HeldContract):
    """The same tests as for the simulated cluster."""


class TestSampleOnRealCluster(OnRealCluster):
    """A few of them in every run."""

    test_waves_order_the_work = ClusterContract.test_waves_order_the_work_and_outcomes_keep_the_order_given
    test_an_update_never_makes_or_takes_another_object = (
        ClusterContract.test_an_update_never_makes_or_takes_another_object
    )
    test_delete_keeps_to_the_uid = ClusterContract.test_delete_keeps_to_the_uid
    test_drift_is_undone_by_force_only = ClusterContract.test_drift_is_undone_by_force_only
    test_a_step_deletes_that_very_pod_and_nothing_else = (
        StepsContract.test_a_step_deletes_that_very_pod_and_nothing_else
    )
    test_what_somebody_else_changed_is_drift_all_the_same = (
        HeldContract.test_what_somebody_else_changed_is_drift_all_the_same
    )
