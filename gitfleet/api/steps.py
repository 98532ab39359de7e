"""Hooks of Argo CD and Helm on objects of the payload: which Jobs are steps, and what is not placed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from gitfleet.api.objects import GroupKind, JsonObject, Manifest
from gitfleet.formats.durations import read_seconds
from gitfleet.formats.json_values import section

STEP: Final = "gitfleet.dev/step"
"""The annotation of a Job that names the content for which it runs."""
STEP_TIMEOUT: Final = "gitfleet.dev/step-timeout"
"""The annotation that says how long a Job may take."""
HELM_HOOK: Final = "helm.sh/hook"
_ARGO_HOOK: Final = "argocd.argoproj.io/hook"
_USUAL_SECONDS: Final = 600.0
_NEVER_PLACED: Final = (GroupKind("", "Pod"), GroupKind("argoproj.io", "Workflow"))


class Phase(IntEnum):
    """When a step runs: before the other objects, with them, once all of them are available, or after a failed step."""

    BEFORE = 0
    WITH = 1
    AFTER = 2
    ON_FAILURE = 3


_ARGO_PHASES: Final[Mapping[str, Phase]] = {
    "PreSync": Phase.BEFORE,
    "Sync": Phase.WITH,
    "PostSync": Phase.AFTER,
    "SyncFail": Phase.ON_FAILURE,
}
_INSTALLING: Final[Mapping[str, Phase]] = {"pre-install": Phase.BEFORE, "post-install": Phase.AFTER}
_UPGRADING: Final[Mapping[str, Phase]] = {"pre-upgrade": Phase.BEFORE, "post-upgrade": Phase.AFTER}


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """What the annotations of an object say: its `names`, the phase on a cluster that does not have the folder yet
    (`install`) and on any other (`upgrade`), None where it does not run there, and its place among the others. An
    object with several hooks runs in the first of its phases."""

    names: tuple[str, ...]
    install: Phase | None = None
    upgrade: Phase | None = None
    weight: int = 0
    deletes_succeeded: bool = False
    deletes_failed: bool = False

    @property
    def runs(self) -> bool:
        """Whether gitfleet knows any of its hooks."""
        return self.install is not None or self.upgrade is not None


def hook_of(body: JsonObject) -> Hook | None:
    """The hook of an object; None for an ordinary one. The annotations of Argo CD win over those of Helm."""
    annotations = section(body, "metadata", "annotations")
    if names := _words(annotations, _ARGO_HOOK):
        if "Skip" in names:
            return None
        phase = _first(names, _ARGO_PHASES)
        policies = _words(annotations, "argocd.argoproj.io/hook-delete-policy")
        return Hook(
            names=names,
            install=phase,
            upgrade=phase,
            weight=_number(annotations.get("argocd.argoproj.io/sync-wave")),
            deletes_succeeded="HookSucceeded" in policies,
            deletes_failed="HookFailed" in policies,
        )
    if names := _words(annotations, HELM_HOOK):
        policies = _words(annotations, "helm.sh/hook-delete-policy")
        return Hook(
            names=names,
            install=_first(names, _INSTALLING),
            upgrade=_first(names, _UPGRADING),
            weight=_number(annotations.get("helm.sh/hook-weight")),
            deletes_succeeded="hook-succeeded" in policies,
            deletes_failed="hook-failed" in policies,
        )
    return None


def step_of(manifest: Manifest) -> Hook | None:
    """The hook of a Job that runs as a step; None for any other object."""
    is_job = manifest.key.kind == "Job" and manifest.key.group == "batch"
    hook = hook_of(manifest.body) if is_job else None
    return hook if hook is not None and hook.runs else None


def stepped_folders(manifests: Iterable[Manifest]) -> frozenset[str]:
    """The folders of objects that have a step."""
    return frozenset(manifest.folder for manifest in manifests if step_of(manifest) is not None)


def never_run(manifest: Manifest) -> Hook | None:
    """The hook that keeps an object from being placed, as gitfleet does not run it; None for any other object."""
    hook = hook_of(manifest.body)
    is_run = hook is None or (hook.runs and manifest.key.group_kind not in _NEVER_PLACED)
    return None if is_run else hook


def step_seconds(body: JsonObject) -> float:
    """How long a step may take, by its annotation. ValueError with a sentence about its value."""
    written = section(body, "metadata", "annotations").get(STEP_TIMEOUT)
    return _USUAL_SECONDS if written is None else read_seconds(written)


def step_key(body: JsonObject) -> str | None:
    """The content for which a live Job runs; None for one that no step made."""
    written = section(body, "metadata", "annotations").get(STEP)
    return written if isinstance(written, str) else None


def _words(annotations: JsonObject, name: str) -> tuple[str, ...]:
    written = annotations.get(name)
    return tuple(filter(None, map(str.strip, written.split(",")))) if isinstance(written, str) else ()


def _first(names: tuple[str, ...], phases: Mapping[str, Phase]) -> Phase | None:
    return min((phases[name] for name in names if name in phases), default=None)


def _number(written: object) -> int:
    try:
        return int(str(written))
    except ValueError:
        return 0
