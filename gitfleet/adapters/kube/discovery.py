"""Where a kind lives on one API server: its path and whether it is namespaced. Asked once, and again when unknown."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any
from urllib.parse import quote

from gitfleet.adapters.kube.refusals import refusal_of
from gitfleet.adapters.kube.texts import KubeText
from gitfleet.adapters.kube.wire import Wire
from gitfleet.api.objects import ObjectKey
from gitfleet.errors import BadInput, RetryLater
from gitfleet.ports.transport import Response


class DiscoveryRefused(RetryLater):
    """The server refused to list the kinds that it has."""


class Absence(Enum):
    """Why a kind is not there: the server has no such kind at all, or has it under other versions only."""

    NO_KIND = "no kind"
    OTHER_VERSION = "other version"


@dataclass(frozen=True, slots=True)
class Resource:
    """A kind's place: `prefix` is /api/v1 or /apis/group/version."""

    prefix: str
    plural: str
    namespaced: bool

    def path(self, namespace: str, name: str = "") -> str:
        """The path of an object, or of the whole collection when `name` is empty."""
        inside = f"/namespaces/{segment(namespace)}" if self.namespaced and namespace else ""
        return f"{self.prefix}{inside}/{self.plural}" + (f"/{segment(name)}" if name else "")


def segment(name: str) -> str:
    """A name as one part of a path. BadInput for names that Kubernetes does not have either, because they would lead
    somewhere else (apimachinery IsValidPathSegmentName)."""
    if name in ("", ".", "..") or "/" in name or "%" in name:
        raise BadInput(KubeText.NO_NAME_OBJECT(name=name))
    return quote(name, safe=":")


class Discovery:
    """The kinds of one API server, by group and version; may be used by several threads."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._lock = threading.Lock()
        self._known: dict[str, Mapping[str, Resource]] = {}

    def find(self, key: ObjectKey, *, refresh: bool = False) -> Resource | Absence:
        """Where a key's kind lives. With `refresh` a kind that was not there is asked for again (its definition may
        have come meanwhile). ClusterUnreachable or DiscoveryRefused when the server does not list them."""
        version = segment(key.version)
        prefix = f"/apis/{segment(key.group)}/{version}" if key.group else f"/api/{version}"
        with self._lock:
            kinds = self._known.get(prefix)
            if kinds is None or (refresh and key.kind not in kinds):
                kinds = self._known[prefix] = self._request(prefix)
            resource = kinds.get(key.kind)
            if resource is not None:
                return resource
            return Absence.OTHER_VERSION if key.group and self._in_other_version(key, prefix) else Absence.NO_KIND

    def forget(self, resource: Resource) -> None:
        """Ask again for the kinds of its group and version: the server may have lost this one."""
        with self._lock:
            if resource in self._known.get(resource.prefix, {}).values():
                del self._known[resource.prefix]

    def _in_other_version(self, key: ObjectKey, prefix: str) -> bool:
        """Only the list of all groups tells that one is not there: any server has no answer for its path."""
        groups = self._entries(self._wire.send("GET", "/apis"), "groups", KubeText.GROUPS_API())
        versions = [version for group in groups if group.get("name") == key.group for version in group["versions"]]
        for version in versions:
            other_prefix = f"/apis/{version.get('groupVersion')}"
            if other_prefix == prefix:
                if not self._known[prefix]:
                    raise DiscoveryRefused(KubeText.KINDS_SERVER_NAMES_VERSION_NOT(prefix=prefix))
                continue
            if other_prefix not in self._known:
                self._known[other_prefix] = self._request(other_prefix)
            if key.kind in self._known[other_prefix]:
                return True
        return False

    def _request(self, prefix: str) -> Mapping[str, Resource]:
        response = self._wire.send("GET", prefix)
        if response.status == 404 and prefix.startswith("/apis/"):
            return {}
        resources = self._entries(response, "resources", KubeText.KINDS(prefix=prefix))
        return {
            str(entry["kind"]): Resource(prefix, str(entry["name"]), bool(entry.get("namespaced")))
            for entry in reversed(resources)
            if "/" not in str(entry.get("name"))
        }

    @staticmethod
    def _entries(response: Response, field: str, subject: str) -> Sequence[Mapping[str, Any]]:
        if not response.ok:
            raise DiscoveryRefused(f"{subject}: {refusal_of(response).message}")
        if field not in response.json():
            raise DiscoveryRefused(KubeText.SERVER_RESPONSE_NO(what=subject, field=field))
        entries: Sequence[Mapping[str, Any]] = response.json()[field] or ()
        return entries
