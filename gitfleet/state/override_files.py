"""The numbered snapshots of an override, each in a file: ClusterResourceOverrideSnapshot and ResourceOverrideSnapshot
(kubefleet.md §1, §4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from gitfleet.api import read_state, write
from gitfleet.api.annotations import At
from gitfleet.api.objects import JsonObject
from gitfleet.api.overrides import OverrideKey, override_type
from gitfleet.api.snapshots import OverrideSnapshot
from gitfleet.api.values import BytesText, IndexText
from gitfleet.formats.yaml_writer import write_documents
from gitfleet.state import paths
from gitfleet.state.changed_files import ChangedFiles
from gitfleet.state.file_kinds import Parts
from gitfleet.state.shapes.fields import LATEST_LABEL, OURS, present

_OVERRIDE: Final = "kubernetes-fleet.io/parent-resource-override"
_INDEX: Final = "kubernetes-fleet.io/override-index"
_Snapshots = tuple[OverrideSnapshot, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    """An override's spec as it was, numbered; its own labels and its commit stand in `status.gitfleet`."""

    namespace: Annotated[str, At("metadata", "namespace")] = ""
    name: Annotated[str, At("metadata", "labels", _OVERRIDE)]
    index: Annotated[IndexText, At("metadata", "labels", _INDEX)]
    hash: Annotated[BytesText, At("spec", "overrideHash")]
    spec: Annotated[JsonObject, At("spec", "overrideSpec")]
    ours: Annotated[JsonObject, At("status", OURS)] = field(default_factory=dict)


def override_object(snapshot: OverrideSnapshot, *, latest: bool) -> JsonObject:
    """The object as `kubectl get -o yaml` would show it."""
    key, body = snapshot.override.key, write(snapshot.override)
    ours = present(labels=dict(snapshot.override.labels), commit=snapshot.commit)
    file = _File(
        namespace=key.namespace, name=key.name, index=snapshot.index, hash=snapshot.hash, spec=body["spec"], ours=ours
    )
    written = write(file)
    written["metadata"]["name"] = snapshot.name
    written["metadata"]["labels"][LATEST_LABEL] = str(latest).lower()
    return {"apiVersion": body["apiVersion"], "kind": f"{key.kind}Snapshot", **written}


def read_override(source: Mapping[str, Any]) -> OverrideSnapshot:
    """The snapshot back. `origin` is not kept: the desired commit has it."""
    file = read_state(_File, source)
    metadata = {"namespace": file.namespace, "name": file.name, "labels": file.ours.get("labels") or {}}
    body = {"metadata": metadata, "spec": file.spec}
    override = read_state(override_type(file.namespace), body)
    commit = file.ours.get("commit")
    return OverrideSnapshot(override=override, index=file.index, hash=file.hash, commit=str(commit or ""))


def gather_overrides(parts: Parts) -> Mapping[OverrideKey, _Snapshots]:
    """The snapshots of each override, oldest first."""
    files = parts.grouped(OverrideSnapshot, lambda snapshot: snapshot.override.key)
    return {key: tuple(sorted((s for _, s in files[key]), key=lambda s: s.index)) for key in sorted(files)}


def write_overrides(files: ChangedFiles, key: OverrideKey, olds: _Snapshots | None, news: _Snapshots | None) -> None:
    """Note the files that lead from some snapshots of an override to others."""
    before, after = (
        {
            paths.override_path(key, snapshot.index): override_object(snapshot, latest=snapshot is snapshots[-1])
            for snapshot in snapshots
        }
        for snapshots in (olds or (), news or ())
    )
    files.put_changed(before, after, lambda body: write_documents([body]))
