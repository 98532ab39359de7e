"""The kubelet's part for tests without nodes: pods that say they run."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import Any

from kubernetes import watch
from kubernetes.client import ApiClient, ApiException, CoreV1Api
from urllib3.exceptions import HTTPError

from .api_server import ApiServer

_LOOK_SECONDS = 1
"""How long one look lasts: asking ten times a second instead costs a quarter of a core for four servers."""
_CONDITIONS = ("PodScheduled", "Initialized", "ContainersReady", "Ready")


class PodReadier:
    """A background thread that turns every pending pod Running and Ready.

    A pod with an image that matches the glob ``bad_image`` is left alone, so that it never
    becomes ready; changing ``bad_image`` counts from the next look on. Pods that it made
    ready stay so. The server may go away and come back meanwhile.
    """

    def __init__(self, server: ApiServer, namespace: str | None = None, *, bad_image: str | None = None) -> None:
        """Care for the pods of ``namespace``, or of all namespaces when it is None."""
        self.bad_image = bad_image
        self._server = server
        self._namespace = namespace
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> PodReadier:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start looking, unless it does already."""
        if self._thread is None:
            self._stopping.clear()
            self._thread = threading.Thread(target=self._run, name="pod-readier", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Stop looking; return when the last look is over."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _run(self) -> None:
        with self._server.client() as client:
            while not self._stopping.is_set():
                try:
                    self._observe(client)
                except (ApiException, HTTPError, OSError):
                    self._stopping.wait(_LOOK_SECONDS / 10)  # The server is away, or the pod is gone: look again.

    def _observe(self, client: ApiClient) -> None:
        """One look: the pods that wait, and those that come meanwhile."""
        core = CoreV1Api(client)
        words: dict[str, Any] = {"field_selector": "status.phase=Pending", "timeout_seconds": _LOOK_SECONDS}
        ask: Any = core.list_pod_for_all_namespaces
        if self._namespace is not None:
            ask, words["namespace"] = core.list_namespaced_pod, self._namespace
        for event in watch.Watch().stream(ask, **words, _request_timeout=5):
            pod: Any = event["object"]
            images = {container.name: container.image for container in pod.spec.containers}
            is_gone = event["type"] == "DELETED" or pod.metadata.deletion_timestamp is not None
            if not is_gone and not self._is_bad(images.values()):
                core.patch_namespaced_pod_status(
                    pod.metadata.name, pod.metadata.namespace, {"status": _ready_status(images)}, _request_timeout=5
                )

    def _is_bad(self, images: Iterable[str]) -> bool:
        glob = self.bad_image
        return glob is not None and any(fnmatchcase(image, glob) for image in images)


@contextmanager
def make_pods_ready(
    server: ApiServer, namespace: str | None = None, *, bad_image: str | None = None
) -> Iterator[PodReadier]:
    """Let pods become ready while the block runs; see ``PodReadier``."""
    with PodReadier(server, namespace, bad_image=bad_image) as readier:
        yield readier


def _ready_status(images: dict[str, str]) -> dict[str, Any]:
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "phase": "Running",
        "startTime": now,
        "conditions": [{"type": kind, "status": "True", "lastTransitionTime": now} for kind in _CONDITIONS],
        "containerStatuses": [
            {
                "name": name,
                "image": image,
                "imageID": image,
                "ready": True,
                "started": True,
                "restartCount": 0,
                "state": {"running": {"startedAt": now}},
            }
            for name, image in images.items()
        ],
    }
