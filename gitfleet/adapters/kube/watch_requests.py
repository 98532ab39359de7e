"""How a watch of a whole collection begins: the version that it has now, and what happens after that.

Source: Kubernetes documentation, "Kubernetes API Concepts" (efficient detection of changes, watch bookmarks,
receiving resources as metadata only, 410 Gone).
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final

from gitfleet.adapters.kube.discovery import Absence, Discovery
from gitfleet.adapters.kube.observing import NAMES_ONLY
from gitfleet.adapters.kube.refusals import refusal_of
from gitfleet.adapters.kube.texts import KubeText
from gitfleet.adapters.kube.wire import JSON, Wire
from gitfleet.api.objects import ObjectKey
from gitfleet.errors import RetryLater
from gitfleet.ports.transport import OpenStream, Response

Kind = tuple[str, str, str]
"""Group, version and kind."""
NAMESPACES: Final[Kind] = ("", "v1", "Namespace")
_EVENTS: Final = f"application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,{JSON}"
_SHORTEST, _LONGEST = 80 * 60, 120 * 60
"""Seconds after which the server ends a watch: spread, so that those of a restarted process do not end together."""


class NotWatchable(RetryLater):
    """The server refused the watch, or has no such kind."""


@dataclass(frozen=True, slots=True)
class BegunWatch:
    """An open watch, from a version of the collection on; `listed` says that nothing is known of what was before."""

    stream: OpenStream
    version: str
    listed: bool


def begin_watch(wire: Wire, discovery: Discovery, kind: Kind, version: str) -> BegunWatch:
    """Watch all objects of a kind, with their metadata alone, from a version on; from now on where it is empty or the
    server knows of it no longer. NotWatchable, DiscoveryRefused or ClusterUnreachable where there is none."""
    group, number, name = kind
    place = discovery.find(ObjectKey(group, number, name, "", ""), refresh=True)
    if isinstance(place, Absence):
        raise NotWatchable(KubeText.NO(wire=wire.name, name=name, number=number))
    path = place.path("")
    listed = not version
    opened = None if listed else _watch(wire, path, version)
    if listed or (isinstance(opened, Response) and opened.status == 410):
        response = wire.send("GET", path, {"limit": "1"}, headers={"Accept": NAMES_ONLY})
        version, listed = _version_of(response, path), True
        opened = _watch(wire, path, version) if version else response
    if not isinstance(opened, OpenStream):
        if opened is not None and opened.status == 404:
            discovery.forget(place)
        raise NotWatchable(f"{path}: {refusal_of(opened).message}" if opened is not None else path)
    return BegunWatch(opened, version, listed)


def _watch(wire: Wire, path: str, version: str) -> Response | OpenStream:
    query = {
        "watch": "1",
        "allowWatchBookmarks": "true",
        "resourceVersion": version,
        "timeoutSeconds": str(random.randint(_SHORTEST, _LONGEST)),
    }
    return wire.stream(path, query, accept=_EVENTS)


def _version_of(response: Response, path: str) -> str:
    """The collection's version, "" for a refusal."""
    if not response.ok:
        return ""
    version = (response.json().get("metadata") or {}).get("resourceVersion")
    if not isinstance(version, str) or not version or len(version) > 256:
        raise NotWatchable(KubeText.SERVER_GAVE_NO_VERSION_LIST(path=path))
    return version
