"""One cluster's API server in memory: objects with owners, versions and generations, and controllers that take time.

It responds as a real one does wherever gitfleet would see a difference: server-side apply with managedFields and
conflicts, preconditions, finalizers, and deletion of a namespace or a CRD with all that is in it. `requests` is its
HTTP side. Time passes only by `pass_time`. One thread at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from heapq import heappop, heappush
from typing import Any, Final
from uuid import NAMESPACE_URL, uuid5

from gitfleet.api.definitions import CRD, is_established
from gitfleet.api.objects import GroupKind, Identity, JsonObject, ObjectKey, key_of
from gitfleet.api.scenarios import ClusterRule
from gitfleet.errors import BadInput
from gitfleet.formats.managed_fields import FIELD_MANAGER
from gitfleet.model.observations import LiveObject
from gitfleet.simulation import controllers, kinds, statuses
from gitfleet.simulation.bodies import (
    Stored,
    check_fields,
    check_schema,
    next_metadata,
    owned_content,
    patched,
    spec_of,
    stored_form,
    with_template_generation,
    wrongly_typed,
)
from gitfleet.simulation.fields import content_of
from gitfleet.simulation.ownership import APPLY, UPDATE, Author, applied, edited, owners_of
from gitfleet.simulation.refusals import (
    Refused,
    bad_request,
    check_preconditions,
    conflict,
    forbidden,
    invalid,
    no_such_kind,
    not_found,
)
from gitfleet.simulation.rules import check_rules, rule_for

KUBECTL_EDIT: Final = "kubectl-edit"
"""The manager of changes by hand."""
_BUILT_IN_PLACES: Final = {(at.group, kind.plural): at for at, kind in kinds.BUILT_IN.items()}
BIRTH_NAMESPACES: Final = ("default", "kube-node-lease", "kube-public", "kube-system")


class MemoryServer:
    """The objects of one cluster. Bodies that it hands out are never changed later: every write makes new ones."""

    def __init__(self, cluster: str) -> None:
        """No object at all, not even a namespace: see `make_namespaces`."""
        self.cluster = cluster
        self.rules: Sequence[ClusterRule] = ()
        """The rules for this cluster; they count from the next write on."""
        self.nodes = 1
        self.kubernetes_version = ""
        self.changed = False
        """Whether anything was written since somebody set this to False."""
        self.on_settled: Callable[[ObjectKey, datetime], None] | None = None
        """Called when an object becomes available, with the moment at which it did."""
        self.version = 0
        self.objects: dict[Identity, Stored] = {}
        self._custom: dict[GroupKind, kinds.Kind] = {}
        self._places: dict[tuple[str, str], GroupKind] = dict(_BUILT_IN_PLACES)
        self._collections: dict[tuple[str, str, str], dict[str, Stored]] = {}
        self._due: list[tuple[datetime, Identity]] = []
        self._leaving: set[Identity] = set()  # namespaces and CRDs that wait for the last of their objects to go

    def make_namespaces(self, now: datetime) -> None:
        """Make the namespaces that every cluster starts with."""
        for name in BIRTH_NAMESPACES:
            metadata = {"name": name, "labels": {"kubernetes.io/metadata.name": name}}
            body = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
            self.apply(body, now=now, manager="apiserver")

    def get(self, key: ObjectKey) -> LiveObject | None:
        """The object under a version that is served; None when it is not there."""
        stored = self.objects.get(key.identity)
        if stored is None or stored.live.key == key:
            return stored.live if stored else None
        return LiveObject(key, {**stored.live.body, "apiVersion": key.api_version})

    def collection(self, key: ObjectKey) -> list[JsonObject]:
        """All objects of the key's kind in its namespace (in every one when it has none), in order."""
        return [
            stored.live.body
            if stored.live.key.version == key.version
            else {**stored.live.body, "apiVersion": key.api_version}
            for stored in self.stored(key.group_kind, key.namespace)
        ]

    def stored(self, group_kind: GroupKind, namespace: str) -> list[Stored]:
        """What is stored of a kind in a namespace (in every one where it is ""), in order."""
        kind = self.kind_of(group_kind)
        if namespace or kind is None or not kind.namespaced:
            places = [(*group_kind, namespace)]
        else:
            places = sorted(at for at in self._collections if at[:2] == group_kind)
        collections = [self._collections.get(at, {}) for at in places]
        return [collection[name] for collection in collections for name in sorted(collection)]

    def kind_of(self, group_kind: GroupKind) -> kinds.Kind | None:
        """The kind as served now; None when it is neither built in nor defined by an established CRD."""
        return kinds.BUILT_IN.get(group_kind) or self._custom.get(group_kind)

    def kind_at(self, group: str, plural: str) -> GroupKind | None:
        """The kind that is served under a plural now; None when there is none."""
        return self._places.get((group, plural))

    def served(self, group: str) -> list[tuple[str, kinds.Kind]]:
        """The kinds of a group that are served now, by name."""
        served = {**kinds.BUILT_IN, **self._custom}
        return [(at.kind, kind) for at, kind in served.items() if at.group == group]

    def groups(self) -> list[str]:
        """The groups with a name of which kinds are served now."""
        return sorted({at.group for at in (*kinds.BUILT_IN, *self._custom) if at.group})

    def unsettled(self) -> list[ObjectKey]:
        """The objects whose controllers are not done, in order: what is not available now, whoever reads it, and is not
        kept so by a pause or a partition."""
        return sorted(stored.live.key for stored in self.objects.values() if not stored.done)

    def next_change(self) -> datetime | None:
        """When the next object changes by itself; None when nothing is on its way."""
        while self._due and self._is_stale(self._due[0]):
            heappop(self._due)
        return self._due[0][0] if self._due else None

    def pass_time(self, now: datetime) -> None:
        """Let the controllers do what they have done by `now`, in the order of time."""
        while self._due and self._due[0][0] <= now:
            entry = heappop(self._due)
            if not self._is_stale(entry):
                self._go_on(self.objects[entry[1]], entry[0])

    def apply(self, body: JsonObject, *, now: datetime, manager: str = FIELD_MANAGER, force: bool = True) -> LiveObject:
        """Server-side apply: the object as it is afterwards. With a `uid` in its metadata it is laid over that object
        only, with a `resourceVersion` over that very version only. Refused as a server refuses."""
        check_schema(body)
        if wrong := wrongly_typed(body):
            raise bad_request(f"the object cannot be decoded: {wrong}")
        key = key_of(body)
        kind = self._admit(key)
        stored = self.objects.get(key.identity)
        check_rules(self.rules, self.cluster, key, body)
        live = owned_content(stored) if stored else {}
        managed = owners_of(stored.live.body) if stored else ()
        author = Author(manager=manager, operation=APPLY, api_version=key.api_version, now=now)
        content, owners = applied(live, managed, content_of(body), author, granular=not kind.custom, force=force)
        current = None if stored is None else stored.live.body["metadata"]
        check_preconditions(key, kind.plural, current, body["metadata"])
        if content is not live:
            content = stored_form(key, content, granular=not kind.custom)
        return self._write(key, kind, content, owners, now)

    def set_owners(self, key: ObjectKey, owners: Sequence[JsonObject], *, version: str) -> LiveObject:
        """A patch of managedFields alone, of that version of the object. Refused as a server refuses."""
        kind, stored = self._admit(key), self.objects.get(key.identity)
        if stored is None:
            raise not_found(*self._place_of(key))
        check_preconditions(key, kind.plural, stored.live.body["metadata"], {"resourceVersion": version})
        body = self._next(stored.live.body, managedFields=list(owners))
        self._show(stored, LiveObject(key, body))
        return stored.live

    def patch_by_hand(self, key: ObjectKey, patch: Sequence[JsonObject], *, now: datetime) -> LiveObject:
        """A JSON patch (RFC 6902) as somebody with kubectl would do it; BadInput when it cannot be done."""
        stored = self.objects.get(key.identity)
        if self.kind_of(key.group_kind) is None or stored is None:
            raise BadInput(f"{key} is not on {self.cluster}, so it cannot be changed by hand")
        new = patched(stored.live.body, patch, f"{key} on {self.cluster}")
        try:
            return self.update(key, new, now=now, manager=KUBECTL_EDIT)
        except Refused as refused:
            raise BadInput(f"the patch of {key} on {self.cluster} is refused: {refused.message}") from refused

    def update(self, key: ObjectKey, new: JsonObject, *, now: datetime, manager: str) -> LiveObject:
        """The object as `new` has it. A `uid` and a `resourceVersion` in its metadata are preconditions. Refused as a
        server refuses."""
        kind, stored = self._admit(key), self.objects.get(key.identity)
        if stored is None:
            raise not_found(*self._place_of(key))
        check_preconditions(key, kind.plural, stored.live.body["metadata"], new["metadata"])
        author = Author(manager=manager, operation=UPDATE, api_version=key.api_version, now=now)
        content = stored_form(key, content_of(new), granular=not kind.custom)
        owners = edited(owned_content(stored), content, owners_of(stored.live.body), author, granular=not kind.custom)
        live = self._write(key, kind, content, owners, now, status=new.get("status"))
        if live.body["metadata"].get("deletionTimestamp"):
            self._drop_if_free(key.identity)
        return live

    def delete(self, key: ObjectKey, *, now: datetime, uid: str | None = None) -> LiveObject | None:
        """Delete: None when it is gone, the object while finalizers or contents keep it. Refused as a server refuses.

        Nothing here has dependents of its own, so Foreground, Background and Orphan come to the same.
        """
        stored = self.objects.get(key.identity)
        if stored is None:
            raise not_found(*self._place_of(key))
        if uid is not None and stored.live.uid != uid:
            why = f"the UID in the precondition ({uid}) does not match the UID in record ({stored.live.uid})"
            raise conflict(
                key.group, key.kind, key.name, f"{why}. The object might have been deleted and then recreated"
            )
        if key.group_kind == kinds.NAMESPACE and key.name in BIRTH_NAMESPACES:
            raise forbidden(*self._place_of(key), "this namespace may not be deleted")
        rule = rule_for(self.rules, key, stored.live.body)
        if rule is not None and rule.delete_fails:
            raise forbidden(*self._place_of(key), f"the API server of {self.cluster} refuses it, as the scenario says")
        contents = self._contents_of(stored.live)
        if not contents and not stored.live.body["metadata"].get("finalizers"):
            self._drop(key.identity)
            return None
        self._mark_leaving(stored, now)
        for identity in contents:
            if identity in self.objects:
                self.delete(self.objects[identity].live.key, now=now)
        self._drop_if_free(key.identity)
        remaining = self.objects.get(key.identity)
        return remaining.live if remaining else None

    def restore(self, version: int, objects: Sequence[Stored]) -> None:
        """Take over what another server had."""
        self.version, self.objects, self._collections = version, {}, {}
        for stored in objects:
            self._keep(stored)
        for identity, stored in self.objects.items():
            self._expect(stored)
            if stored.live.body["metadata"].get("deletionTimestamp"):
                self._leaving.add(identity)
            self._define(stored.live)

    def _admit(self, key: ObjectKey) -> kinds.Kind:
        """The kind of an object that may be written, after the checks that every write goes through."""
        kind = self.kind_of(key.group_kind)
        if kind is None or key.version not in kind.versions:
            raise no_such_kind()
        if not key.name or bool(key.namespace) != kind.namespaced:
            raise bad_request("the object has no name, or a namespace too many or too few")
        if kind.namespaced:
            home = self.objects.get(("", "Namespace", "", key.namespace))
            if home is None:
                raise not_found("", "namespaces", key.namespace)
            if home.live.body["metadata"].get("deletionTimestamp") and key.identity not in self.objects:
                why = f"unable to create new content in namespace {key.namespace} because it is being terminated"
                raise forbidden(*self._place_of(key), why)
        return kind

    def _write(
        self,
        key: ObjectKey,
        kind: kinds.Kind,
        content: JsonObject,
        owners: Sequence[JsonObject],
        now: datetime,
        status: JsonObject | None = None,
    ) -> LiveObject:
        """Store a content with its owners; nothing happens when neither differs from what is stored."""
        stored = self.objects.get(key.identity)
        old: JsonObject = stored.live.body if stored else {}
        before = owned_content(stored) if stored else {}
        spec_changed = stored is None or (before is not content and spec_of(before) != spec_of(content))
        status = old.get("status") if status is None else status
        if stored is not None:
            same_status = status is old.get("status") or status == old.get("status")
            if (before is content or before == content) and same_status and list(owners) == list(owners_of(old)):
                return stored.live
            field = kinds.immutable_field(key.group_kind, old, content)
            if field is not None:
                raise invalid(key, field, "field is immutable")
        if spec_changed:
            check_fields(key, content)
        self.version += 1
        uid = str(uuid5(NAMESPACE_URL, f"{self.cluster}/{self.version}"))
        metadata = next_metadata(key, old.get("metadata") or {}, content, version=self.version, uid=uid, now=now)
        if kind.generations:
            metadata["generation"] = int((old.get("metadata") or {}).get("generation") or 0) + int(spec_changed)
        if owners:
            metadata["managedFields"] = list(owners)
        body: JsonObject = {"apiVersion": key.api_version, "kind": key.kind, "metadata": metadata, **spec_of(content)}
        if status is not None:
            body = {**body, "status": status}
        if stored is None:
            stored = Stored(LiveObject(key, body))
            self._keep(stored)
        if spec_changed:
            body = self._start(stored, kind, body, now)
        self._show(stored, LiveObject(key, with_template_generation(stored, body)))
        return stored.live

    def restart(self, stored: Stored, now: datetime) -> None:
        """Start the controllers of an object again, one of whose pods is gone."""
        body = self._start(stored, self._admit(stored.live.key), stored.live.body, now)
        self._show(stored, LiveObject(stored.live.key, self._next(body)))

    def _start(self, stored: Stored, kind: kinds.Kind, body: JsonObject, now: datetime) -> JsonObject:
        body = controllers.start(stored, kind, body, self._around(now))
        self._expect(stored)
        return body

    def _go_on(self, stored: Stored, at: datetime) -> None:
        body = controllers.go_on(stored, self._around(at))
        self._expect(stored)
        self._show(stored, LiveObject(stored.live.key, self._next(body)))
        if self.on_settled is not None and controllers.is_available(stored):
            self.on_settled(stored.live.key, at)

    def _expect(self, stored: Stored) -> None:
        if stored.due is not None:
            heappush(self._due, (stored.due, stored.live.key.identity))

    def _around(self, now: datetime) -> controllers.Surroundings:
        return controllers.Surroundings(self.rules, self.nodes, now)

    def _is_stale(self, entry: tuple[datetime, Identity]) -> bool:
        stored = self.objects.get(entry[1])
        return stored is None or stored.due != entry[0]

    def _next(self, body: JsonObject, **metadata: Any) -> JsonObject:
        """The body in the next resource version."""
        self.version += 1
        return {**body, "metadata": {**body["metadata"], **metadata, "resourceVersion": str(self.version)}}

    def _keep(self, stored: Stored) -> None:
        group, kind, namespace, name = stored.live.key.identity
        self.objects[stored.live.key.identity] = stored
        self._collections.setdefault((group, kind, namespace), {})[name] = stored

    def _place_of(self, key: ObjectKey) -> tuple[str, str, str]:
        kind = self.kind_of(key.group_kind)
        return key.group, kind.plural if kind else "", key.name

    def _show(self, stored: Stored, live: LiveObject) -> None:
        stored.live, stored.content = live, None
        self.changed = True
        self._define(live)

    def _define(self, live: LiveObject) -> None:
        if live.key.group_kind == CRD and is_established(live.body):
            group_kind, kind = kinds.custom_kind(live.body)
            self._custom[group_kind] = kind
            self._places[(group_kind.group, kind.plural)] = group_kind

    def _contents_of(self, live: LiveObject) -> list[Identity]:
        """What goes when a namespace or a CRD goes."""
        if live.key.group_kind == kinds.NAMESPACE:
            return [identity for identity in self.objects if identity[2] == live.key.name]
        if live.key.group_kind == CRD:
            defined = kinds.custom_kind(live.body)[0]
            return [identity for identity in self.objects if identity[:2] == (defined.group, defined.kind)]
        return []

    def _mark_leaving(self, stored: Stored, now: datetime) -> None:
        if "deletionTimestamp" in stored.live.body["metadata"]:
            return
        times = {"deletionTimestamp": statuses.time_text(now), "deletionGracePeriodSeconds": 0}
        body = self._next(stored.live.body, **times)
        if stored.live.key.group_kind == kinds.NAMESPACE:
            body = {**body, "status": {"phase": "Terminating"}}
        self._leaving.add(stored.live.key.identity)
        self._show(stored, LiveObject(stored.live.key, body))

    def _drop_if_free(self, identity: Identity) -> None:
        """Drop an object that is being deleted, if it is still there and empty, without finalizers."""
        stored = self.objects.get(identity)
        if (
            stored is not None
            and not stored.live.body["metadata"].get("finalizers")
            and not self._contents_of(stored.live)
        ):
            self._drop(identity)

    def _drop(self, identity: Identity) -> None:
        """An object is gone; so is a namespace or a CRD that waited for it alone."""
        stored = self.objects.pop(identity)
        del self._collections[identity[:3]][identity[3]]
        self._leaving.discard(identity)
        self.changed = True
        self.version += 1
        if stored.live.key.group_kind == CRD:
            group_kind, kind = kinds.custom_kind(stored.live.body)
            if self._custom.pop(group_kind, None):
                self._places.pop((group_kind.group, kind.plural), None)
        for waiting in sorted(self._leaving):
            if GroupKind(*waiting[:2]) in (kinds.NAMESPACE, CRD):
                self._drop_if_free(waiting)
