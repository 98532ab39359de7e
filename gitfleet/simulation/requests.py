"""HTTP on a simulated API server: requests become calls of a `MemoryServer`, and what it says becomes responses.

What is understood is what gitfleet sends: health and version, discovery, reading, listing page by page, server-side
apply, merge patches, a dry run of an update and deleting. The pods of workloads are read, listed and deleted like
objects, and ReplicaSets are read and listed. A query that would change the response and is not understood is refused
with 400.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from urllib.parse import unquote

from gitfleet.api.objects import JsonObject, JsonValue, ObjectKey
from gitfleet.model.observations import LiveObject
from gitfleet.model.operations import PropagationPolicy
from gitfleet.ports.transport import Request, Response
from gitfleet.simulation import kinds
from gitfleet.simulation.bodies import next_metadata, spec_of, stored_form, wrongly_typed
from gitfleet.simulation.fields import content_of
from gitfleet.simulation.refusals import Refused, bad_request, conflict, invalid, no_such_kind, not_found
from gitfleet.simulation.rules import check_rules
from gitfleet.simulation.server import MemoryServer
from gitfleet.simulation.virtual_pods import POD, REPLICA_SET, delete_pod, patch_replica_set, virtual_at, virtual_in

APPLY: Final = "application/apply-patch+yaml"
MERGE: Final = "application/merge-patch+json"
_QUERIES: Final = {
    "GET": frozenset({"limit", "continue", "labelSelector"}),
    "PATCH": frozenset({"fieldManager", "force", "fieldValidation"}),
    "PUT": frozenset({"fieldManager", "dryRun"}),
    "DELETE": frozenset[str](),
}
_OWNERS: Final = {"resourceVersion", "managedFields"}
_PROPAGATIONS: Final = (None, *PropagationPolicy)
_TERM: Final = re.compile(
    r"(?P<absent>!)?(?P<key>[\w./-]+)\s*(?:(?P<is>==?|!=)\s*(?P<value>[\w.-]*)|\s(?P<in>in|notin)\s*\((?P<values>[^()]*)\))?"
)
_COMMA: Final = re.compile(r",(?![^()]*\))")


@dataclass(frozen=True, slots=True)
class Target:
    """The object that a path names, or the collection when the name is empty."""

    kind: kinds.Kind
    key: ObjectKey


def respond(server: MemoryServer, request: Request, now: datetime) -> Response:
    """The response to one request, whatever it is."""
    try:
        unknown = set(request.query) - _QUERIES.get(request.method, frozenset())
        if unknown:
            raise bad_request(f"not simulated: {', '.join(sorted(unknown))}")
        if request.method == "GET":
            reported = _discovery_response(server, request.path)
            if reported is not None:
                return reported
        target = target_of(server, request.path)
        if target is None:
            parts = request.path.split("/")
            return _nothing_at(server, parts[2] if parts[1] == "apis" else "" if parts[1] == "api" else None)
        return _object_response(server, target, request, now)
    except Refused as refused:
        return Response(refused.status, refused.body)


def _object_response(server: MemoryServer, target: Target, request: Request, now: datetime) -> Response:
    match request.method, bool(target.key.name):
        case "GET", True:
            return Response(200, _read(server, target, now))
        case "GET", False:
            return Response(200, _listed(server, target, request, now))
        case "PATCH", True:
            return _apply(server, target, request, now)
        case "PUT", True:
            if request.query.get("dryRun") != "All":
                raise bad_request("no other update than a dry run is simulated")
            return Response(200, replaced(server, target.key, target.kind, request.body or {}, now))
        case "DELETE", True:
            return Response(200, _delete(server, target, request, now))
        case _:
            raise Refused(405, "MethodNotAllowed", "the server does not allow this method here")


def target_of(server: MemoryServer, path: str) -> Target | None:
    """What a path names; None when the server has nothing there."""
    match [unquote(part) if "%" in part else part for part in path.split("/")]:
        case ["", "api", version, *rest]:
            group = ""
        case ["", "apis", group, version, *rest]:
            pass
        case _:
            return None
    match rest:
        case ["namespaces", namespace, plural, *names] if len(names) < 2:
            pass
        case [plural, *names] if len(names) < 2:
            namespace = ""
        case _:
            return None
    group_kind = server.kind_at(group, plural)
    kind = server.kind_of(group_kind) if group_kind else None
    if group_kind is None or kind is None or version not in kind.versions:
        return None
    name = names[0] if names else ""
    if (namespace and not kind.namespaced) or (name and kind.namespaced and not namespace):
        return None
    return Target(kind, ObjectKey(group, version, group_kind.kind, namespace, name))


def _discovery_response(server: MemoryServer, path: str) -> Response | None:
    """What the server says of itself; None when the path leads to objects."""
    match path.split("/"):
        case ["", "readyz" | "livez" | "healthz"]:
            return Response(200, b"ok")
        case ["", "version"]:
            return Response(200, {"gitVersion": server.kubernetes_version})
        case ["", "api", version]:
            return _resources(server, "", version)
        case ["", "apis"]:
            groups = [_group(server, name) for name in server.groups()]
            return Response(200, {"apiVersion": "v1", "kind": "APIGroupList", "groups": groups})
        case ["", "apis", group, version]:
            return _resources(server, group, version)
        case _:
            return None


def _group(server: MemoryServer, name: str) -> JsonObject:
    versions = sorted({version for _, kind in server.served(name) for version in kind.versions}, reverse=True)
    return {
        "name": name,
        "versions": [{"groupVersion": f"{name}/{version}", "version": version} for version in versions],
    }


def _nothing_at(server: MemoryServer, group: str | None) -> Response:
    """A path under no group that is served is no path at all, whatever follows."""
    served = group is not None and server.served(group)
    return Response(404, no_such_kind().body if served else b"404 page not found\n")


def _resources(server: MemoryServer, group: str, version: str) -> Response:
    resources: list[JsonObject] = []
    for name, kind in server.served(group):
        if version in kind.versions:
            entry = {"name": kind.plural, "kind": name, "namespaced": kind.namespaced}
            resources += [entry, {**entry, "name": f"{kind.plural}/status"}] if kind.reports else [entry]
    api_version = f"{group}/{version}" if group else version
    body = {"apiVersion": "v1", "kind": "APIResourceList", "groupVersion": api_version, "resources": resources}
    return Response(200, body) if resources else _nothing_at(server, group)


def _read(server: MemoryServer, target: Target, now: datetime) -> JsonObject:
    key = target.key
    live = server.get(key)
    if live is not None:
        return live.body
    virtual = virtual_at(server, key, now)
    if virtual is None:
        raise not_found(key.group, target.kind.plural, key.name)
    return virtual


def _listed(server: MemoryServer, target: Target, request: Request, now: datetime) -> JsonObject:
    """One page of a collection. Its token counts as long as nothing was written: then it has expired (410)."""
    key, query = target.key, request.query
    bodies = server.collection(key)
    bodies += virtual_in(server, key.group_kind, key.namespace, now)
    if "labelSelector" in query:
        bodies = [body for body in bodies if is_labelled(body, query["labelSelector"])]
    version, _, offset = query.get("continue", f"{server.version}:0").partition(":")
    if not (version.isdecimal() and offset.isdecimal()):
        raise bad_request("continue key is not valid")
    if version != str(server.version):
        raise Refused(410, "Expired", "The provided continue parameter is too old to display a consistent list result")
    begin = int(offset)
    end = begin + int(query.get("limit") or 0) if int(query.get("limit") or 0) else len(bodies)
    metadata = {"resourceVersion": str(server.version)}
    if end < len(bodies):
        metadata["continue"] = f"{server.version}:{end}"
    page = bodies[begin:end]
    if "as=PartialObjectMetadataList" in request.headers.get("Accept", ""):
        names = [{"metadata": body["metadata"]} for body in page]
        kind, api_version = "PartialObjectMetadataList", "meta.k8s.io/v1"
        return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "items": names}
    return {"apiVersion": key.api_version, "kind": f"{key.kind}List", "metadata": metadata, "items": page}


def _apply(server: MemoryServer, target: Target, request: Request, now: datetime) -> Response:
    key, body, query = target.key, request.body or {}, request.query
    written = body.get("metadata")
    metadata = written if isinstance(written, Mapping) else {}
    manager = query.get("fieldManager")
    if request.headers.get("Content-Type") == MERGE and body.keys() == {"metadata"} and metadata.keys() == _OWNERS:
        live = server.set_owners(key, metadata["managedFields"], version=metadata["resourceVersion"])
        return Response(200, live.body)
    is_virtual = key.group_kind == REPLICA_SET and key.identity not in server.objects
    if request.headers.get("Content-Type") == MERGE and is_virtual:
        return Response(200, patch_replica_set(server, key, body, now=now))
    if request.headers.get("Content-Type") == MERGE:
        return Response(200, _patched(server, target, body, now=now, manager=manager or "unknown").body)
    if request.headers.get("Content-Type") != APPLY:
        raise bad_request("no other patch than server-side apply and a merge patch is simulated")
    if not manager:
        raise Refused(
            422, "Invalid", "PatchOptions is invalid: fieldManager: Required value: is required for apply patch"
        )
    if (body.get("apiVersion"), body.get("kind"), metadata.get("name")) != (key.api_version, key.kind, key.name):
        raise bad_request("the object does not match the one that the URL names")
    if key.namespace and metadata.get("namespace", key.namespace) != key.namespace:
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
    if metadata.get("namespace", "") != key.namespace:
        # Left out, or written into a cluster-scoped object: the path decides.
        body = {**body, "metadata": {**metadata, "namespace": key.namespace}}
    new = key.identity not in server.objects
    live = server.apply(body, now=now, manager=manager, force=query.get("force") == "true")
    return Response(201 if new else 200, live.body)


def _delete(server: MemoryServer, target: Target, request: Request, now: datetime) -> JsonObject:
    key, options = target.key, request.body or {}
    if options.get("propagationPolicy") not in _PROPAGATIONS:
        raise bad_request("propagationPolicy is none of Foreground, Background and Orphan")
    uid = (options.get("preconditions") or {}).get("uid") or None
    if key.group_kind == POD and key.identity not in server.objects:
        delete_pod(server, key, now=now, uid=uid)
        live = None
    else:
        live = server.delete(key, now=now, uid=uid)
    if live is not None:
        return live.body
    details = {"name": key.name, "group": key.group, "kind": target.kind.plural}
    return {"apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Success", "details": details}


def replaced(server: MemoryServer, key: ObjectKey, kind: kinds.Kind, body: JsonObject, now: datetime) -> JsonObject:
    """A dry run: the object that the body would be in its place. Refused as a server refuses."""
    live = _live(server, key, kind)
    _check_typed(body)
    metadata = body.get("metadata") or {}
    if (metadata.get("uid"), metadata.get("resourceVersion")) != (live.uid, live.resource_version):
        raise conflict(key.group, kind.plural, key.name, "the object has been modified")
    check_rules(server.rules, server.cluster, key, body)
    content = stored_form(key, content_of(body), granular=not kind.custom)
    if (field := kinds.immutable_field(key.group_kind, live.body, content)) is not None:
        raise invalid(key, field, "field is immutable")
    old = live.body["metadata"]
    after = next_metadata(key, old, content, version=int(live.resource_version), uid=live.uid, now=now)
    return {"apiVersion": key.api_version, "kind": key.kind, "metadata": after, **spec_of(content)}


def _patched(server: MemoryServer, target: Target, patch: JsonObject, *, now: datetime, manager: str) -> LiveObject:
    body = merged(_live(server, target.key, target.kind).body, patch)
    _check_typed(body)
    check_rules(server.rules, server.cluster, target.key, body)
    return server.update(target.key, body, now=now, manager=manager)


def _live(server: MemoryServer, key: ObjectKey, kind: kinds.Kind) -> LiveObject:
    live = server.get(key)
    if live is None:
        raise not_found(key.group, kind.plural, key.name)
    return live


def _check_typed(body: JsonObject) -> None:
    if wrong := wrongly_typed(body):
        raise bad_request(f"the object cannot be decoded: {wrong}")


def merged(value: JsonValue, patch: JsonValue) -> JsonValue:
    """A value after a JSON merge patch (RFC 7396): maps by field, where null removes a field; all else is replaced."""
    if not isinstance(patch, Mapping):
        return patch
    fields = dict(value) if isinstance(value, Mapping) else {}
    for name, part in patch.items():
        if part is None:
            fields.pop(name, None)
        else:
            fields[name] = merged(fields.get(name), part)
    return fields


def is_labelled(body: JsonObject, selector: str) -> bool:
    """Whether an object's labels match a selector, such as `a=b,c in (d,e),f notin (g),h,!i`. Refused where it cannot
    be read."""
    labels = (body.get("metadata") or {}).get("labels") or {}
    return all(_applies(labels, term.strip()) for term in _COMMA.split(selector))


def _applies(labels: JsonObject, text: str) -> bool:
    term = _TERM.fullmatch(text)
    if term is None:
        raise bad_request(f"unable to parse requirement: {text}")
    has = labels.get(term["key"])
    if term["in"]:
        is_one = has is not None and has in [value.strip() for value in term["values"].split(",")]
        return is_one is (term["in"] == "in")
    if term["is"]:
        return (has == term["value"]) is (term["is"] != "!=")
    return (has is None) is bool(term["absent"])
