"""What the pods of a namespace go through while workload rollouts move them, seen by the official client."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from kubernetes.client import ApiException, AppsV1Api, AutoscalingV2Api, CoreV1Api
from urllib3.exceptions import HTTPError

from tests.realparts.api_server import ApiServer

_EVERY_SECONDS = 0.1


class Sample(NamedTuple):
    """How many pods there are at a moment, how many of them are ready, the pods by image, and how many the ReplicaSets
    ask for. A Deployment's controller keeps its bound by those numbers (kubernetes rolling.go, NewRSNewReplicas): the
    controller of the newer ReplicaSet may make its pod before that of the older one has taken its pod away."""

    pods: int
    ready: int
    images: tuple[tuple[str, int], ...]
    asked: int = 0


@dataclass(slots=True)
class RolloutWatch:
    """Samples of one namespace, without repetitions in a row."""

    server: ApiServer
    namespace: str
    samples: list[Sample] = field(default_factory=list)

    def scale(self, kind: str, name: str) -> dict[str, Any]:
        """spec and status of a workload; nothing in either where it is not there."""
        with self.server.client() as client:
            read = getattr(AppsV1Api(client), f"read_namespaced_{kind}")
            try:
                live = read(name, self.namespace, _request_timeout=5)
            except ApiException as error:
                if error.status != 404:
                    raise
                return {"spec": {}, "status": {}}
            found: dict[str, Any] = client.sanitize_for_serialization(live)
            return found

    def bounds(self, name: str) -> tuple[int, int]:
        """The bounds of a HorizontalPodAutoscaler."""
        spec = self._autoscaler(name).spec
        return spec.min_replicas, spec.max_replicas

    def why_limited(self, name: str) -> str:
        """Why a HorizontalPodAutoscaler does not set the replicas that its metrics call for; "" where it does."""
        conditions = self._autoscaler(name).status.conditions or ()
        limits = (one for one in conditions if one.type == "ScalingLimited" and one.status == "True")
        return next((str(one.reason) for one in limits), "")

    def pods(self) -> list[Any]:
        """The pods that are to stay."""
        with self.server.client() as client:
            return self._pods(CoreV1Api(client))

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Take samples while the block runs."""
        over = threading.Event()
        thread = threading.Thread(target=self._sample, args=(over,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def _autoscaler(self, name: str) -> Any:
        with self.server.client() as client:
            api = AutoscalingV2Api(client)
            return api.read_namespaced_horizontal_pod_autoscaler(name, self.namespace, _request_timeout=5)

    def _pods(self, core: CoreV1Api) -> list[Any]:
        listed: list[Any] = core.list_namespaced_pod(self.namespace, _request_timeout=5).items
        return [pod for pod in listed if pod.metadata.deletion_timestamp is None]

    def _sample(self, over: threading.Event) -> None:
        with self.server.client() as client:
            core, apps = CoreV1Api(client), AppsV1Api(client)
            while not over.wait(_EVERY_SECONDS):
                try:
                    pods = self._pods(core)
                    sets = apps.list_namespaced_replica_set(self.namespace, _request_timeout=5).items
                except (ApiException, HTTPError, OSError):
                    continue  # The server is away: look again.
                images = [pod.spec.containers[0].image for pod in pods]
                by_image = tuple(sorted((image, images.count(image)) for image in set(images)))
                sample = Sample(len(pods), sum(map(_is_ready, pods)), by_image, sum(one.spec.replicas for one in sets))
                if not self.samples or self.samples[-1] != sample:
                    self.samples.append(sample)


def _is_ready(pod: Any) -> bool:
    return any(one.type == "Ready" and one.status == "True" for one in pod.status.conditions or ())
