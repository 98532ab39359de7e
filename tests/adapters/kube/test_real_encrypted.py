"""Encrypted Secrets on a real kube-apiserver: whether a value is still gitfleet's follows from managedFields alone."""

from __future__ import annotations

import base64
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from kubernetes.client import CoreV1Api

from gitfleet.adapters.kube import KubeClient
from gitfleet.adapters.sops import AgeDecryptor
from gitfleet.api.objects import Manifest, ObjectKey, Origin, key_of
from gitfleet.formats.canonical_json import digest_of
from gitfleet.formats.yaml_reader import parse_documents
from gitfleet.model.observations import ClusterObservation, DryRun, LiveObject
from gitfleet.model.operations import Create, Outcome, RolloutOutcome, RolloutWrite
from gitfleet.payload.encrypted_secrets import EncryptedSecrets
from tests import builders
from tests.adapters.kube.test_real_cluster import Reconciles, directory, kinds, member
from tests.realparts.control_plane import ApiServer
from tests.sops_files import AgeKey, encrypted

KEY = AgeKey()


class Decrypting:
    """A KubeClient whose writes are decrypted on the way, as the driver's are."""

    def __init__(self, client: KubeClient, keys: Path) -> None:
        self.cluster = client.cluster
        self._client = client
        self._files: dict[str, bytes] = {}
        self._secrets = EncryptedSecrets(lambda blobs: {b: self._files[b] for b in blobs}, AgeDecryptor(keys))

    def observe(self, keys: Collection[ObjectKey], *, probe: bool = True) -> ClusterObservation:
        """KubeClient.observe."""
        return self._client.observe(keys, probe=probe)

    def pods(self, workloads: Sequence[LiveObject]) -> Mapping[ObjectKey, tuple[LiveObject, ...]]:
        return self._client.pods(workloads)

    def perform_steps(self, steps: Sequence[RolloutWrite]) -> Sequence[RolloutOutcome]:
        return self._client.perform_steps(steps)

    def dry_run(self, questions: Sequence[tuple[Manifest, LiveObject]]) -> Sequence[DryRun]:
        """KubeClient.dry_run."""
        return self._client.dry_run(questions)

    def close(self) -> None:
        """KubeClient.close."""
        self._client.close()

    def manifest(self, body: dict[str, Any]) -> Manifest:
        """The manifest of a file with this object encrypted."""
        text = encrypted(body, to=KEY).encode()
        blob = f"blob{len(self._files)}"
        self._files[blob] = text
        written: Any = parse_documents(text, max_bytes=len(text)).documents[0].value
        return Manifest(key_of(written), written, digest_of(written), Origin("f.yaml", 1, blob, 0))

    def perform(self, operations: Sequence[Any]) -> tuple[Outcome, ...]:
        """KubeClient.perform."""

        def perform(writes: Any) -> tuple[Outcome, ...]:
            return tuple(self._client.perform(writes[self.cluster]))

        return self._secrets.perform(perform, {self.cluster: operations}) if operations else ()


@pytest.fixture
def cluster(server: ApiServer, tmp_path: Path) -> Iterator[Decrypting]:
    found = directory(server, tmp_path)
    yield Decrypting(found.client(member(server)), KEY.file(tmp_path))
    found.close()


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize(
    "strategy",
    [
        {},
        *(
            pytest.param(row, marks=pytest.mark.soak("real"))
            for row in [{"type": "ServerSideApply", "force_conflicts": True}, {"comparison_option": "FullComparison"}]
        ),
    ],
)
@pytest.mark.parametrize("field", ["data", "stringData"])
def test_drift_of_an_encrypted_value_is_seen_and_corrected(
    server: ApiServer, cluster: Decrypting, field: str, strategy: dict[str, Any]
) -> None:
    namespace = server.make_namespace()
    texts = {"password": "first", "user": "admin"}
    body = builders.an_object("v1", "Secret", "db", namespace=namespace)
    body[field] = texts if field == "stringData" else {name: b64(text) for name, text in texts.items()}
    wanted = cluster.manifest(body)
    reconciles = Reconciles(cluster)
    assert kinds(reconciles.reconcile(wanted, **strategy)) == [("Create", "Secret")]
    assert kinds(reconciles.reconcile(wanted, **strategy)) == [("Keep", "Secret")]
    with server.client() as client:
        api = CoreV1Api(client)
        live: Any = api.read_namespaced_secret("db", namespace)
        assert live.data == {name: b64(text) for name, text in texts.items()}
        api.patch_namespaced_secret("db", namespace, {"metadata": {"labels": {"a": "b"}}, "data": {"more": b64("x")}})
        assert kinds(reconciles.reconcile(wanted, **strategy)) == [("Keep", "Secret")], "what others add is no drift"
        api.patch_namespaced_secret("db", namespace, {"data": {"password": b64("by hand")}})
        assert kinds(reconciles.reconcile(wanted, **strategy)) == [("Update", "Secret")]
        assert reconciles.reported() == [("Applied", True)]
        live = api.read_namespaced_secret("db", namespace)
        assert live.data == {"password": b64("first"), "user": b64("admin"), "more": b64("x")}
        api.patch_namespaced_secret("db", namespace, {"data": {"user": None}})
        assert kinds(reconciles.reconcile(wanted, **strategy)) == [("Update", "Secret")]
    assert kinds(reconciles.reconcile(wanted, **strategy)) == [("Keep", "Secret")]


def test_a_server_that_refuses_an_encrypted_secret_quotes_none_of_it(server: ApiServer, cluster: Decrypting) -> None:
    body = builders.secret(server.make_namespace(), "db", {".dockerconfigjson": "c4nary-is-no-json"})
    reconciles = Reconciles(cluster)
    reconciles.reconcile(cluster.manifest({**body, "type": "kubernetes.io/dockerconfigjson"}))
    (outcome,) = reconciles.outcomes
    assert not outcome.ok
    assert "c4nary" not in outcome.message
    assert isinstance(outcome.operation, Create)
    assert outcome.operation.manifest.body["stringData"][".dockerconfigjson"].startswith("ENC[")
