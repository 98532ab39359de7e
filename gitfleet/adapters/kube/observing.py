"""One observation of one cluster: its health, its namespaces, and the live objects of some keys."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Final, TypeVar

from gitfleet.adapters.kube.discovery import Absence, Discovery, DiscoveryRefused, Resource, segment
from gitfleet.adapters.kube.refusals import doubtful_404, other_object, refusal_of
from gitfleet.adapters.kube.texts import KubeText
from gitfleet.adapters.kube.wire import JSON, Wire, next_page_of
from gitfleet.api.objects import ObjectKey
from gitfleet.errors import BadInput, ClusterUnreachable
from gitfleet.formats.masking import masked
from gitfleet.model.observations import LiveObject

LIST_FROM: Final = 8
"""From so many keys of one kind and namespace on, the whole collection is listed instead."""
IDENTITY: Final = ObjectKey("", "v1", "Namespace", "", "kube-system")
"""The object whose UID no other API server has."""
_NAMESPACES: Final = Resource("/api/v1", "namespaces", False)
_MOST_PAGES: Final = 8
NAMES_ONLY: Final = f"application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,{JSON}"
_Item = TypeVar("_Item")
_Task = TypeVar("_Task")


@dataclass(slots=True)
class ObservedObjects:
    """What an observation brought: objects (None: NotFound), and keys that could not be read."""

    live: dict[ObjectKey, LiveObject | None] = field(default_factory=dict)
    unreadable: dict[ObjectKey, str] = field(default_factory=dict)


class Observer:
    """Reads from one API server."""

    def __init__(self, wire: Wire, discovery: Discovery, *, parallel: int) -> None:
        self._wire = wire
        self._discovery = discovery
        self._parallel = parallel

    def probe(self) -> tuple[bool, str]:
        """(whether the server says that it is ready, why not). ClusterUnreachable when it does not answer at all, or
        refuses the credentials."""
        response = self._wire.send("GET", "/readyz", headers={"Accept": "*/*"})
        if response.status in (403, 404):
            # Not everybody may ask for its health; everybody who may log in may ask for its version.
            response = self._wire.send("GET", "/version")
        if response.status == 401:
            raise ClusterUnreachable(KubeText.API_SERVER_REFUSED_CREDENTIALS(wire=self._wire.name))
        if response.status in (404, 413):  # every API server has a version, and none answers with so much (413 is ours)
            why = masked(response.text())
            raise ClusterUnreachable(KubeText.ANSWERS_API_SERVER_NONE(wire=self._wire.name, why=why))
        return response.ok, "" if response.ok else masked(KubeText.API_SERVER_SAYS_NOT_READY(text=response.text()))

    def namespaces(self) -> tuple[dict[str, str] | None, str]:
        """The names of all namespaces, None when they may not be listed, and the server's identity (the UID of
        kube-system), "" where it is not among them."""
        namespaces: dict[str, str] = {}
        identity = ""
        for response in self._wire.pages("/api/v1/namespaces", accept=NAMES_ONLY, most=_MOST_PAGES):
            if not response.ok:
                return None, identity
            for item in response.json()["items"] or ():
                name = str(item["metadata"]["name"])
                namespaces[name] = ""
                if name == IDENTITY.name:
                    identity = str(item["metadata"].get("uid") or "")
        return namespaces, identity

    def identity(self) -> str | None:
        """The server's identity by a read of its own: "" where that is refused, None where it may be known later."""
        live, why = self.get(_NAMESPACES, IDENTITY)
        if live is not None:
            return live.uid
        return "" if why else None

    def objects(self, keys: Collection[ObjectKey]) -> ObservedObjects:
        """The live objects of the keys. ClusterUnreachable when the server does not answer."""
        observed = ObservedObjects()
        tasks: list[tuple[Resource, list[ObjectKey]]] = []
        refreshed: set[str] = set()
        for _, group in groupby(sorted(set(_readable(keys, observed))), lambda key: (key.api_version, key.kind)):
            kind_keys = list(group)
            api_version = kind_keys[0].api_version
            place = self._place(kind_keys, observed, refresh=api_version not in refreshed)
            refreshed.add(api_version)
            if place is None:
                continue
            for listed in _by_namespace(kind_keys) if place.namespaced else [kind_keys]:
                tasks += [(place, listed)] if len(listed) >= LIST_FROM else [(place, [key]) for key in listed]
        for result in run_parallel(self._read, tasks, self._parallel):
            observed.live.update(result.live)
            observed.unreadable.update(result.unreadable)
        doubted = {place: key for place, group in tasks for key in group if key in observed.unreadable}
        lost = {place for place, key in doubted.items() if self._went(key)}
        for key in [key for place, group in tasks if place in lost for key in group]:
            observed.unreadable.pop(key, None)
            observed.live[key] = None
        return observed

    def _went(self, key: ObjectKey) -> bool:
        """Whether the server has lost the kind since it was discovered; asks only where a 404 left that open."""
        try:
            return self._discovery.find(key) is Absence.NO_KIND
        except DiscoveryRefused:
            return False

    def get(self, resource: Resource, key: ObjectKey) -> tuple[LiveObject | None, str]:
        """One object: (None, "") is NotFound, a sentence means that it could not be read."""
        response = self._wire.send("GET", resource.path(key.namespace, key.name))
        if response.status == 404:
            why = doubtful_404(response, key, resource.plural)
            if why:
                self._discovery.forget(resource)
            return None, why
        if not response.ok:
            return None, refusal_of(response).message
        body = response.json()
        if mismatch := other_object(body, key, namespaced=resource.namespaced):
            return None, mismatch
        return LiveObject(key, body), ""

    def _place(self, keys: list[ObjectKey], observed: ObservedObjects, *, refresh: bool) -> Resource | None:
        """Where the kind of some keys lives; where it is not there, or not known, that is noted of the keys."""
        key = keys[0]
        try:
            place = self._discovery.find(key, refresh=refresh)
        except DiscoveryRefused as error:
            observed.unreadable.update(dict.fromkeys(keys, str(error)))
            return None
        if isinstance(place, Resource):
            return place
        if place is Absence.OTHER_VERSION:
            # The object may well be there: NotFound would remove it from the inventory.
            why = KubeText.CLUSTER_OTHER_VERSIONS(key=key.kind, api_version=key.api_version)
            observed.unreadable.update(dict.fromkeys(keys, why))
        else:
            observed.live.update(dict.fromkeys(keys, None))
        return None

    def _read(self, task: tuple[Resource, list[ObjectKey]]) -> ObservedObjects:
        resource, keys = task
        if len(keys) >= LIST_FROM:
            return self._list(resource, keys)
        return self._each(resource, keys, ObservedObjects())

    def _each(self, resource: Resource, keys: Iterable[ObjectKey], observed: ObservedObjects) -> ObservedObjects:
        for key in keys:
            live, why = self.get(resource, key)
            if why:
                observed.unreadable[key] = why
            else:
                observed.live[key] = live
        return observed

    def _list(self, resource: Resource, keys: list[ObjectKey]) -> ObservedObjects:
        observed = ObservedObjects()
        missing = {key.name: key for key in keys}
        first = keys[0]
        complete = False
        for response in self._wire.pages(resource.path(first.namespace), most=_MOST_PAGES):
            if not response.ok or "items" not in response.json():
                break
            page = response.json()
            for item in page["items"] or ():
                key = missing.pop(str(item["metadata"]["name"]), None)
                if key is None:
                    continue
                # Items of a list do not repeat what the list itself says.
                body: dict[str, Any] = {"apiVersion": key.api_version, "kind": key.kind, **item}
                if mismatch := other_object(body, key, namespaced=resource.namespaced):
                    observed.unreadable[key] = mismatch
                else:
                    observed.live[key] = LiveObject(key, body)
            complete = next_page_of(page) is None
            if not missing:
                return observed
        if complete:
            observed.live.update(dict.fromkeys(missing.values(), None))
            return observed
        # Forbidden, too large, expired or too long: read one by one to find which.
        return self._each(resource, missing.values(), observed)


def run_parallel(work: Callable[[_Task], _Item], tasks: Collection[_Task], parallel: int) -> list[_Item]:
    """Do the tasks in a few threads that end with this call; the first error is raised."""
    if len(tasks) <= 1 or parallel <= 1:
        return [work(task) for task in tasks]
    with ThreadPoolExecutor(min(parallel, len(tasks)), thread_name_prefix="kube") as pool:
        return list(pool.map(work, tasks))


def _readable(keys: Iterable[ObjectKey], observed: ObservedObjects) -> Iterator[ObjectKey]:
    """The keys that can be asked for; the others are unreadable."""
    for key in keys:
        try:
            for part in filter(None, (key.group, key.version, key.namespace)):
                segment(part)
            segment(key.name)
        except BadInput as error:
            observed.unreadable[key] = str(error)
        else:
            yield key


def _by_namespace(keys: list[ObjectKey]) -> Iterator[list[ObjectKey]]:
    return (list(group) for _, group in groupby(keys, lambda key: key.namespace))
