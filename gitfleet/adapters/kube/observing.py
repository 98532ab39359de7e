"""One observation of one cluster: its health, its namespaces, and the live objects of some keys."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from gitfleet.adapters.kube.answers import doubtful_404, other_object
from gitfleet.adapters.kube.discovery import Absence, Discovery, DiscoveryRefused, Resource, segment
from gitfleet.adapters.kube.refusals import refusal_of
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
class Found:
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
        found: dict[str, str] = {}
        identity = ""
        for response in self._wire.pages("/api/v1/namespaces", accept=NAMES_ONLY, most=_MOST_PAGES):
            if not response.ok:
                return None, identity
            for item in response.json()["items"] or ():
                name = str(item["metadata"]["name"])
                found[name] = ""
                if name == IDENTITY.name:
                    identity = str(item["metadata"].get("uid") or "")
        return found, identity

    def identity(self) -> str | None:
        """The server's identity by a read of its own: "" where that is refused, None where it may be known later."""
        live, why = self.get(_NAMESPACES, IDENTITY)
        if live is not None:
            return live.uid
        return "" if why else None

    def objects(self, keys: Collection[ObjectKey]) -> Found:
        """The live objects of the keys. ClusterUnreachable when the server does not answer."""
        found = Found()
        tasks: list[tuple[Resource, list[ObjectKey]]] = []
        discovered: set[tuple[str, str]] = set()
        for kind, wanted in _by_kind(_readable(keys, found)).items():
            place = self._place(wanted[0], (kind[0], kind[1]), discovered, found, wanted)
            if place is None:
                continue
            for group in _by_namespace(wanted, place):
                tasks += [(place, group)] if len(group) >= LIST_FROM else [(place, [key]) for key in group]
        for part in run_parallel(self._read, tasks, self._parallel):
            found.live.update(part.live)
            found.unreadable.update(part.unreadable)
        doubted = {place: key for place, group in tasks for key in group if key in found.unreadable}
        gone = {place for place, key in doubted.items() if self._went(key)}
        for key in [key for place, group in tasks if place in gone for key in group]:
            found.unreadable.pop(key, None)
            found.live[key] = None
        return found

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
            return None, refusal_of(response, str(key)).message
        body = response.json()
        if other := other_object(body, key, namespaced=resource.namespaced):
            return None, other
        return LiveObject(key, body), ""

    def _place(
        self,
        key: ObjectKey,
        group_version: tuple[str, str],
        discovered: set[tuple[str, str]],
        found: Found,
        wanted: Iterable[ObjectKey],
    ) -> Resource | None:
        try:
            place = self._discovery.find(key, refresh=group_version not in discovered)
        except DiscoveryRefused as error:
            found.unreadable.update(dict.fromkeys(wanted, str(error)))
            return None
        discovered.add(group_version)
        if isinstance(place, Resource):
            return place
        if place is Absence.OTHER_VERSION:
            # The object may well be there: NotFound would remove it from the inventory.
            why = KubeText.CLUSTER_OTHER_VERSIONS(key=key.kind, api_version=key.api_version)
            found.unreadable.update(dict.fromkeys(wanted, why))
        else:
            found.live.update(dict.fromkeys(wanted, None))
        return None

    def _read(self, task: tuple[Resource, list[ObjectKey]]) -> Found:
        resource, wanted = task
        if len(wanted) >= LIST_FROM:
            return self._list(resource, wanted)
        found = Found()
        for key in wanted:
            live, why = self.get(resource, key)
            if why:
                found.unreadable[key] = why
            else:
                found.live[key] = live
        return found

    def _list(self, resource: Resource, wanted: list[ObjectKey]) -> Found:
        found = Found()
        missing = {key.name: key for key in wanted}
        first = wanted[0]
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
                if other := other_object(body, key, namespaced=resource.namespaced):
                    found.unreadable[key] = other
                else:
                    found.live[key] = LiveObject(key, body)
            complete = next_page_of(page) is None
            if not missing:
                return found
        if complete:
            found.live.update(dict.fromkeys(missing.values(), None))
            return found
        # Forbidden, too large, expired or too long: read one by one to find which.
        for key in missing.values():
            part = self._read((resource, [key]))
            found.live.update(part.live)
            found.unreadable.update(part.unreadable)
        return found


def run_parallel(work: Callable[[_Task], _Item], tasks: Collection[_Task], parallel: int) -> list[_Item]:
    """Do the tasks in a few threads that end with this call; the first error is raised."""
    if len(tasks) <= 1 or parallel <= 1:
        return [work(task) for task in tasks]
    with ThreadPoolExecutor(min(parallel, len(tasks)), thread_name_prefix="kube") as pool:
        return list(pool.map(work, tasks))


def _readable(keys: Iterable[ObjectKey], found: Found) -> Iterator[ObjectKey]:
    """The keys that can be asked for; the others are unreadable."""
    for key in keys:
        try:
            for part in filter(None, (key.group, key.version, key.namespace)):
                segment(part)
            segment(key.name)
        except BadInput as error:
            found.unreadable[key] = str(error)
        else:
            yield key


def _by_kind(keys: Iterable[ObjectKey]) -> Mapping[tuple[str, str, str], list[ObjectKey]]:
    kinds: dict[tuple[str, str, str], list[ObjectKey]] = {}
    for key in sorted(set(keys)):
        kinds.setdefault((key.group, key.version, key.kind), []).append(key)
    return kinds


def _by_namespace(keys: Iterable[ObjectKey], resource: Resource) -> Iterable[list[ObjectKey]]:
    spaces: dict[str, list[ObjectKey]] = {}
    for key in keys:
        spaces.setdefault(key.namespace if resource.namespaced else "", []).append(key)
    return spaces.values()
