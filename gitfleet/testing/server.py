"""One cluster's API server in memory: objects with owners, versions and generations, and controllers that take their time.

It answers as a real one does where gitfleet can tell the difference: server-side apply with managedFields and conflicts,
404 for a missing namespace or kind, 409 for preconditions, 422 for what the server refuses, finalizers, and deletion of a
namespace or a CRD with all that is in it. Time passes only by the `now` of each call.
"""

from __future__ import annotations

import copy
from base64 import b64encode
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from heapq import heappop, heappush
from typing import Any, Final, TypeAlias
from uuid import NAMESPACE_URL, uuid5

import jsonpatch
import jsonpointer

from gitfleet.errors import BadInput
from gitfleet.model.objects import GroupKind, JsonObject, ObjectKey, key_of
from gitfleet.model.observations import LiveObject
from gitfleet.testing import fields, kinds, statuses
from gitfleet.testing.rules import DEFAULT_DELAY, ClusterRule, Delay, rule_for

FIELD_MANAGER: Final = "gitfleet"
"""The manager under which gitfleet applies; it must never be renamed."""
HAND: Final = "kubectl-edit"
"""The manager of changes by hand."""

Identity: TypeAlias = tuple[str, str, str, str]


class Refused(Exception):
    """The server's refusal of one call: a reason in one word, one sentence, and whether trying again can help."""

    def __init__(self, code: str, message: str, *, retry: bool = True) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.retry = retry


@dataclass(slots=True)
class Stored:
    """One object: as shown, and how far its controllers are. `due` is when they are done, None when never or already."""

    live: LiveObject
    done: bool = True
    first: bool = True
    due: datetime | None = None


class MemoryServer:
    """The objects of one cluster. Bodies that it hands out are never changed later: every write makes new ones."""

    def __init__(self, cluster: str) -> None:
        """An empty cluster with the namespaces that every cluster has; `rules` and `nodes` may be set at any time."""
        self.cluster = cluster
        self.rules: Sequence[ClusterRule] = ()
        self.nodes = 1
        self.changed = False
        """Whether anything was written since somebody set this to False."""
        self.on_settled: Callable[[ObjectKey, datetime], None] | None = None
        self._objects: dict[Identity, Stored] = {}
        self._kinds: dict[GroupKind, kinds.Kind] = {}
        self._version = 0
        self._due: list[tuple[datetime, int, Identity]] = []
        self._namespaces: dict[str, str] | None = None

    # Reading

    def get(self, key: ObjectKey) -> LiveObject | None:
        """The object under the version asked for, None when it is not there; Refused for a version that is not served."""
        stored = self._objects.get(key.identity)
        kind = self.kind_of(key.group_kind)
        if kind is not None and key.version not in kind.versions:
            raise Refused("NotFound", f'no matches for kind "{key.kind}" in version "{key.api_version}"')
        if kind is None or stored is None:
            return None
        if stored.live.key == key:
            return stored.live
        return LiveObject(key, {**stored.live.body, "apiVersion": key.api_version})

    def kind_of(self, group_kind: GroupKind) -> kinds.Kind | None:
        """The kind as served now; None when it is neither built in nor defined by an established CRD."""
        return kinds.BUILT_IN.get(group_kind) or self._kinds.get(group_kind)

    def namespaces(self) -> dict[str, str]:
        """All namespaces, name to the Work that brought it ("": unknown to the cluster itself)."""
        if self._namespaces is None:
            names = sorted(key[3] for key in self._objects if key[:2] == ("", "Namespace"))
            self._namespaces = dict.fromkeys(names, "")
        return self._namespaces

    def unsettled(self) -> Iterator[ObjectKey]:
        """The objects whose controllers are not done: what is not available now."""
        return (stored.live.key for stored in self._objects.values() if not stored.done)

    def objects(self) -> Iterator[Stored]:
        """Everything that is stored."""
        return iter(self._objects.values())

    def next_change(self) -> datetime | None:
        """When the next object becomes available by itself; None when nothing is on its way."""
        return self._due[0][0] if self._due else None

    def pass_time(self, now: datetime) -> None:
        """Let the controllers do what they have done by `now`."""
        while self._due and self._due[0][0] <= now:
            due, _, identity = heappop(self._due)
            stored = self._objects.get(identity)
            if stored is not None and stored.due == due:
                self._settle(stored, due)

    # Writing

    def apply(
        self,
        body: JsonObject,
        *,
        now: datetime,
        manager: str = FIELD_MANAGER,
        force: bool = True,
        resource_version: str | None = None,
    ) -> LiveObject:
        """Server-side apply: the object as it is afterwards. Refused with NotFound, Conflict, Invalid or Forbidden."""
        key = key_of(body)
        kind = self._admit(key)
        stored = self._objects.get(key.identity)
        if resource_version is not None and (stored is None or stored.live.resource_version != resource_version):
            raise Refused("Conflict", f"the object of {key} has been modified; look at the newest version and try again")
        rule = rule_for(self.rules, key, body)
        if rule is not None and rule.apply_fails:
            raise Refused("Invalid", f"the API server of {self.cluster} refuses {key}", retry=False)
        content = fields.content_of(body)
        ours = fields.fields_of(content, granular=not kind.custom)
        if stored is None:
            managed = (_entry(manager, "Apply", key.api_version, ours, now),)
            return self._write(key, kind, None, _stored_form(key, content), managed, now)
        merged, managed = _applied(stored.live.body, content, ours, key, kind, manager, force=force, now=now)
        return self._write(key, kind, stored, _stored_form(key, merged), managed, now)

    def patch_by_hand(self, key: ObjectKey, patch: Sequence[JsonObject], *, now: datetime) -> LiveObject:
        """A JSON patch (RFC 6902) as somebody with kubectl would do it. BadInput when it cannot be done."""
        kind = self.kind_of(key.group_kind)
        stored = self._objects.get(key.identity)
        if kind is None or stored is None:
            raise BadInput(f"{key} is not on {self.cluster}, so it cannot be changed by hand")
        old = stored.live.body
        try:
            new = jsonpatch.JsonPatch([dict(step) for step in patch]).apply(copy.deepcopy(dict(old)))
        except (jsonpatch.JsonPatchException, jsonpointer.JsonPointerException) as error:
            raise BadInput(f"the patch does not fit {key} on {self.cluster}: {error}") from error
        managed = _edited(old, new, key, kind, now)
        content = fields.content_of(new)
        live = self._write(key, kind, stored, content, managed, now, status=new.get("status"))
        if live.body["metadata"].get("deletionTimestamp") and not live.body["metadata"].get("finalizers"):
            self._drop(key.identity)
        return live

    def delete(self, key: ObjectKey, *, now: datetime, uid: str | None = None) -> LiveObject | None:
        """Delete: None when it is gone, the object when finalizers hold it. Refused with NotFound or Conflict (other UID).

        Nothing here has dependents of its own, so Foreground, Background and Orphan come to the same.
        """
        stored = self._objects.get(key.identity)
        if stored is None:
            raise Refused("NotFound", f"{key} is not on {self.cluster}")
        if uid is not None and stored.live.uid != uid:
            raise Refused("Conflict", f"{key} on {self.cluster} is another object by now: its UID has changed")
        if key.group_kind == kinds.NAMESPACE:
            if key.name in ("default", "kube-system", "kube-public"):
                raise Refused("Forbidden", f"{key} is a namespace that no cluster can be without", retry=False)
            self._delete_all([k for k in self._objects if k[2] == key.name], now)
            held = any(k[2] == key.name for k in self._objects)
        elif key.group_kind == kinds.CRD:
            defined = kinds.custom_kind(stored.live.body)[0]
            self._delete_all([k for k in self._objects if k[:2] == (defined.group, defined.kind)], now)
            held = any(k[:2] == (defined.group, defined.kind) for k in self._objects)
        else:
            held = False
        if not held and not stored.live.body["metadata"].get("finalizers"):
            self._drop(key.identity)
            return None
        return self._mark_deleted(stored, now)

    # Inside

    def _admit(self, key: ObjectKey) -> kinds.Kind:
        """The kind of an object that may be written, after the checks that every write goes through."""
        kind = self.kind_of(key.group_kind)
        if kind is None or key.version not in kind.versions:
            raise Refused("NotFound", f'no matches for kind "{key.kind}" in version "{key.api_version}"')
        if not key.name:
            raise Refused("Invalid", f"a {key.kind} has no name", retry=False)
        if bool(key.namespace) != kind.namespaced:
            wanted = "needs a namespace" if kind.namespaced else "is cluster-scoped and may have no namespace"
            raise Refused("Invalid", f"{key} {wanted}", retry=False)
        if kind.namespaced:
            home = self._objects.get(("", "Namespace", "", key.namespace))
            if home is None:
                raise Refused("NotFound", f'namespaces "{key.namespace}" not found')
            if home.live.body["metadata"].get("deletionTimestamp"):
                raise Refused("Forbidden", f"namespace {key.namespace} is being deleted; nothing can be created in it")
        return kind

    def _write(
        self,
        key: ObjectKey,
        kind: kinds.Kind,
        stored: Stored | None,
        content: JsonObject,
        managed: Sequence[JsonObject],
        now: datetime,
        status: JsonObject | None = None,
    ) -> LiveObject:
        """Store a content with its owners; nothing happens when neither differs from what is stored."""
        old = stored.live.body if stored else {}
        metadata = old.get("metadata") or {}
        before = fields.content_of(old)
        spec_changed = stored is None or _without_metadata(before) != _without_metadata(content)
        status_changed = status is not None and status != old.get("status")
        if not (spec_changed or status_changed) and before == content and managed == metadata.get("managedFields"):
            return stored.live if stored else LiveObject(key, old)
        if stored is not None:
            field = kinds.immutable_field(key.group_kind, old, content)
            if field is not None:
                raise Refused("Invalid", f"{key}: {field} cannot be changed", retry=False)
        body: JsonObject = {
            "apiVersion": key.api_version,
            "kind": key.kind,
            "metadata": self._metadata(key, kind, metadata, content, managed, spec_changed, now),
            **_without_metadata(content),
        }
        kept = status if status is not None else old.get("status")
        if kept is not None:
            body = {**body, "status": kept}
        if stored is None:
            stored = self._objects[key.identity] = Stored(LiveObject(key, body))
            if key.group_kind == kinds.NAMESPACE:
                self._namespaces = None
        if spec_changed:
            body = self._roll_out(stored, key, kind, body, now)
        self._show(stored, key, body)
        return stored.live

    def _metadata(
        self,
        key: ObjectKey,
        kind: kinds.Kind,
        old: JsonObject,
        content: JsonObject,
        managed: Sequence[JsonObject],
        spec_changed: bool,
        now: datetime,
    ) -> dict[str, Any]:
        self._version += 1
        out: dict[str, Any] = {"name": key.name}
        if key.namespace:
            out["namespace"] = key.namespace
        out["uid"] = old.get("uid") or str(uuid5(NAMESPACE_URL, f"{self.cluster}/{self._version}"))
        out["resourceVersion"] = str(self._version)
        if kind.generations:
            out["generation"] = int(old.get("generation") or 0) + (1 if spec_changed else 0)
        out["creationTimestamp"] = old.get("creationTimestamp") or statuses.time_text(now)
        for name in ("deletionTimestamp", "deletionGracePeriodSeconds"):
            if name in old:
                out[name] = old[name]
        out |= content.get("metadata") or {}
        if key.group_kind == kinds.NAMESPACE:
            out["labels"] = {**(out.get("labels") or {}), "kubernetes.io/metadata.name": key.name}
        out["managedFields"] = list(managed)
        return out

    def _roll_out(
        self, stored: Stored, key: ObjectKey, kind: kinds.Kind, body: JsonObject, now: datetime
    ) -> JsonObject:
        """Start the controllers anew on a changed spec."""
        rule = rule_for(self.rules, key, body)
        reports = not statuses.has_status(key.group_kind) and kind.custom and (kind.reports or rule is not None)
        if not reports and not statuses.has_status(key.group_kind):
            return body
        delay = rule.available if rule else _default_delay(key, body)
        stored.first = stored.first and (not stored.done or "status" not in body)
        stored.done = delay != "never" and not delay
        stored.due = None if delay == "never" or stored.done else now + delay
        if stored.due is not None:
            heappush(self._due, (stored.due, self._version, key.identity))
        progress = statuses.Progress(done=stored.done, first=stored.first, at=now, nodes=self.nodes)
        return statuses.reconciled(key.group_kind, body, progress, reports=reports)

    def _settle(self, stored: Stored, at: datetime) -> None:
        key, body = stored.live.key, stored.live.body
        stored.done, stored.first, stored.due = True, False, None
        progress = statuses.Progress(done=True, first=False, at=at, nodes=self.nodes)
        self._version += 1
        body = statuses.reconciled(key.group_kind, body, progress, reports=True)
        self._show(stored, key, {**body, "metadata": {**body["metadata"], "resourceVersion": str(self._version)}})
        if self.on_settled is not None:
            self.on_settled(key, at)

    def _show(self, stored: Stored, key: ObjectKey, body: JsonObject) -> None:
        stored.live = LiveObject(key, body)
        self.changed = True
        if key.group_kind == kinds.CRD:
            self._define(stored)

    def _define(self, stored: Stored) -> None:
        conditions = (stored.live.body.get("status") or {}).get("conditions") or ()
        if any(condition["type"] == "Established" and condition["status"] == "True" for condition in conditions):
            group_kind, kind = kinds.custom_kind(stored.live.body)
            self._kinds[group_kind] = kind

    def _delete_all(self, identities: Collection[Identity], now: datetime) -> None:
        for identity in identities:
            if identity in self._objects:
                self.delete(self._objects[identity].live.key, now=now)

    def _mark_deleted(self, stored: Stored, now: datetime) -> LiveObject:
        metadata = stored.live.body["metadata"]
        if "deletionTimestamp" not in metadata:
            self._version += 1
            marks = {"deletionTimestamp": statuses.time_text(now), "deletionGracePeriodSeconds": 0}
            body = {**stored.live.body, "metadata": {**metadata, **marks, "resourceVersion": str(self._version)}}
            if stored.live.key.group_kind == kinds.NAMESPACE:
                body["status"] = {"phase": "Terminating"}
            self._show(stored, stored.live.key, body)
        return stored.live

    def _drop(self, identity: Identity) -> None:
        stored = self._objects.pop(identity)
        self.changed = True
        self._version += 1
        if identity[:2] == ("", "Namespace"):
            self._namespaces = None
        if stored.live.key.group_kind == kinds.CRD:
            self._kinds.pop(kinds.custom_kind(stored.live.body)[0], None)
        self._finish_waiting(identity)

    def _finish_waiting(self, gone: Identity) -> None:
        """A namespace or CRD that was deleted goes when the last of what it held has gone."""
        for stored in [s for s in self._objects.values() if s.live.body["metadata"].get("deletionTimestamp")]:
            key = stored.live.key
            if key.group_kind in (kinds.NAMESPACE, kinds.CRD) and not stored.live.body["metadata"].get("finalizers"):
                if key.group_kind == kinds.NAMESPACE:
                    left = any(identity[2] == key.name for identity in self._objects)
                else:
                    defined = kinds.custom_kind(stored.live.body)[0]
                    left = any(identity[:2] == (defined.group, defined.kind) for identity in self._objects)
                if not left and key.identity in self._objects and key.identity != gone:
                    self._drop(key.identity)
