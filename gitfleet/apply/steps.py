"""Jobs that run as steps: before the other objects of their folder, with them, or once all of these are available.

A step runs once for each content. The content is a digest of everything that the placement gives the cluster of the
folder, steps included. The inventory entry of the Job records it, and so does an annotation of the Job.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import Enum, auto
from itertools import chain, filterfalse
from typing import Final

from gitfleet.api.definitions import CRD
from gitfleet.api.folders import is_made
from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.objects import Identity, Manifest, ObjectKey
from gitfleet.api.steps import STEP, Hook, Phase, hook_of, step_key, step_of, step_seconds
from gitfleet.apply.claims import NAMESPACE_KIND, Claims
from gitfleet.apply.deletions import deletion
from gitfleet.apply.ledgers import entry_of, is_applied_by_gitfleet
from gitfleet.apply.manifests import create, left_alone, update
from gitfleet.apply.places import put
from gitfleet.apply.texts import ApplyText
from gitfleet.formats.canonical_json import digest_of
from gitfleet.formats.json_values import cause_of, conditions_of, section
from gitfleet.formats.times import read_time
from gitfleet.model.failures import Failure, Subject, attempt
from gitfleet.model.observations import LiveObject
from gitfleet.model.operations import Create, Delete, Keep, KeepCode, Operation, Refuse, RefuseCode, Update
from gitfleet.model.works import Work

_APPLIED_FIRST: Final = (NAMESPACE_KIND, CRD)
"""Steps need them, and neither Argo CD nor Helm orders them after a hook."""
_OF_FOLDER: Final = 8
"""The digits of a content that stand for the folder: what ran for another folder is no record of this one."""


class _State(Enum):
    """How far a step is with its content: `UNKNOWN` while other objects could not be read, `IDLE` is one for failures
    while there is none."""

    UNKNOWN = auto()
    IDLE = auto()
    WAITS = auto()
    RUNS = auto()
    DONE = auto()
    FAILED = auto()


_OVER: Final[Mapping[_State, tuple[KeepCode | RefuseCode, ApplyText]]] = {
    _State.IDLE: (KeepCode.FINISHED, ApplyText.STEP_IDLE),
    _State.DONE: (KeepCode.FINISHED, ApplyText.STEP_RAN),
    _State.FAILED: (RefuseCode.STEP_FAILED, ApplyText.STEP_FAILED),
}
"""What an operation says of a Job that nothing is done about."""
_BY_CONDITION: Final = {("Complete", "True"): _State.DONE, ("Failed", "True"): _State.FAILED}


@dataclass(frozen=True, slots=True)
class Step:
    """A Job for one content of its folder. `run` names the phase and the content, and `applied` is the manifest with
    the annotation that says so. `why` is why it failed, `until` when it is late."""

    manifest: Manifest
    applied: Manifest
    hook: Hook
    phase: Phase
    run: str
    state: _State
    live: LiveObject | None
    why: str = ""
    until: datetime | None = None

    @property
    def is_done(self) -> bool:
        """Whether nothing waits for it."""
        return self.state in (_State.DONE, _State.IDLE)

    @property
    def turn(self) -> tuple[Phase, int]:
        """Its phase and weight: steps wait for all that have a lower one."""
        return self.phase, self.hook.weight


@dataclass(frozen=True, slots=True)
class _Folder:
    """The steps of a folder on a cluster, in their order, and its other objects."""

    steps: tuple[Step, ...] = ()
    objects: tuple[Manifest, ...] = ()


_NO_STEPS: Final = _Folder()


@dataclass(frozen=True, slots=True)
class WorkSteps:
    """The steps of a work by folder; those of no folder are for everything that the work has."""

    work: Work
    claims: Claims
    folders: Mapping[str, _Folder] = field(default_factory=dict)

    @classmethod
    def of(cls, work: Work, claims: Claims) -> WorkSteps:
        """Those of a work that writes, without the Jobs that another placement has on the cluster."""
        hooks = {
            manifest.key.identity: hook
            for manifest in work.manifests
            if (hook := step_of(manifest)) is not None and claims.holders.get(manifest.key.identity) == work.placement
        }
        names = {manifest.folder for manifest in work.manifests if manifest.key.identity in hooks}
        made = cls(work, claims)
        return replace(made, folders={name: made._folder(name, hooks) for name in sorted(names)})

    @property
    def first_open(self) -> ObjectKey | None:
        """The first step that anything waits for."""
        return next(filter(None, map(self._first_open, self.folders.values())), None)

    def find(self, manifest: Manifest) -> Step | None:
        """The step that an object is; None for any other object."""
        steps = self.folders.get(manifest.folder, _NO_STEPS).steps
        return next((step for step in steps if step.manifest.key == manifest.key), None)

    def in_turn(self, operation: Operation, manifest: Manifest) -> Operation:
        """The operation for an object when its turn has come; otherwise that it waits. Drift does not wait."""
        if self.work.apply_strategy.type.only_reports and step_of(manifest) is not None:
            why = ApplyText.STEP_NOT_RUN()
            return left_alone(manifest, self.work, self.claims.live(manifest.key), KeepCode.NO_DIFF_FOUND, why)
        if (step := self.find(manifest)) is not None:
            return self._step(operation, step, self.folders[manifest.folder])
        if not (self.folders and isinstance(operation, Create | Update)) or _is_before(manifest):
            return operation
        folders = (self.folders.get(name, _NO_STEPS) for name in (manifest.folder, ""))
        first = next(filter(None, map(self._first_open, folders)), None)
        if first is None or self.claims.was_applied(manifest):
            return operation
        return self._keep(manifest, KeepCode.STEP, ApplyText.WAITS_FOR_STEP(first=first))

    def _is_open(self, step: Step) -> bool:
        """Whether others wait for a step. Who foresees the end takes for granted that it succeeds, unless it failed."""
        return not step.is_done and (step.state is _State.FAILED or not self.claims.request.foresees)

    def _first_open(self, folder: _Folder) -> ObjectKey | None:
        """The first step that the other objects of a folder wait for."""
        return next((s.manifest.key for s in folder.steps if s.phase is Phase.BEFORE and self._is_open(s)), None)

    def _entry(self, manifest: Manifest) -> InventoryEntry:
        """What the inventory says of an object, nothing of one that it does not name."""
        return entry_of(self.claims.entries, manifest.key, self.work.placement)

    def _folder(self, name: str, hooks: Mapping[Identity, Hook]) -> _Folder:
        members = [m for m in self.work.manifests if m.folder == name or not name]
        objects = tuple(m for m in members if m.key.identity not in hooks)
        own = [m for m in members if m.key.identity in hooks and m.folder == name]
        content = digest_of(name)[:_OF_FOLDER] + digest_of(sorted((*m.key.identity, m.digest) for m in members))
        usual = [m for m in own if hooks[m.key.identity].upgrade is not Phase.ON_FAILURE]
        recorded = set(map(_content_of, map(self._recorded, usual)))
        recorded = {run if run[:_OF_FOLDER] == content[:_OF_FOLDER] else "" for run in recorded}
        compared = [m for m in objects if not is_made(m)] or own
        runs = recorded == {content} or bool(recorded - {content, ""}) or self._differs(compared)
        is_new = not any(self.claims.live(m.key) for m in objects if m.key.group_kind not in _APPLIED_FIRST)
        steps = [self._made(m, hooks[m.key.identity], content, runs=runs, is_new=is_new) for m in own]
        if recorded != {content} and (unknown := self._unknown(objects)) is not None:
            steps = [replace(step, state=_State.UNKNOWN, why=unknown) for step in steps]
        if not any(step.state is _State.FAILED for step in steps if step.phase is not Phase.ON_FAILURE):
            steps = [s if s.phase is not Phase.ON_FAILURE else replace(s, state=_State.IDLE, run="") for s in steps]
        return _Folder(tuple(sorted(steps, key=lambda step: (step.turn, step.manifest.key.order))), objects)

    def _recorded(self, manifest: Manifest) -> str:
        """What a step ran for last, "" for nothing: the cluster may have a newer Job than the state says."""
        entry, live = self._entry(manifest), self.claims.live(manifest.key)
        return _newer(entry, live) or entry.step or ""

    def _unknown(self, objects: Iterable[Manifest]) -> str | None:
        """Why it is not known of an object what the cluster has; None where all are known."""
        unknown = (self.claims.unknown(manifest.key) for manifest in objects)
        return next((why for _, why in filter(None, unknown)), None)

    def _differs(self, objects: Iterable[Manifest]) -> bool:
        """Whether any of these objects is missing, or is not as its manifest says; drift is no difference."""
        compared = self.claims.request.compared
        for manifest in filterfalse(self.claims.was_applied, objects):
            live = self.claims.live(manifest.key)
            if live is None:
                return True
            details = attempt(Subject.of_object(manifest.key), compared.differences, manifest, live, full=False)
            if details and not isinstance(details, Failure):  # a failure is noted with the object
                return True
        return False

    def _made(self, manifest: Manifest, hook: Hook, content: str, *, runs: bool, is_new: bool) -> Step:
        entry, live, recorded = self._entry(manifest), self.claims.live(manifest.key), self._recorded(manifest)
        due = hook.install if is_new else hook.upgrade
        run = f"{(Phase.BEFORE if due is None else due).name}-{content}".lower()
        run = recorded if _content_of(recorded) == content else run
        body = put(manifest.body, ("metadata", "annotations", STEP), run)
        applied = replace(manifest, body=body, digest=digest_of(body))
        step = Step(manifest, applied, hook, _phase_of(run), run, _State.WAITS, live)
        is_begun = entry.step == run
        was_applied = is_begun and entry.applied_digest == applied.digest
        if is_begun and entry.finished:
            return replace(step, state=_State.DONE)
        if live is not None and was_applied and live.uid == entry.uid:
            return self._judged(step, live)
        if _newer(entry, live) == run:  # the report was lost
            return replace(step, state=_State.RUNS)
        if was_applied and self.claims.was_observed(manifest.key):
            return replace(step, state=_State.FAILED, why=ApplyText.STEP_VANISHED())
        return step if is_begun or (runs and due is not None) else replace(step, state=_State.DONE)

    def _judged(self, step: Step, live: LiveObject) -> Step:
        """A step whose Job is on the cluster."""
        until = _late_at(step.manifest, live)
        state, finished, why = _end_of(live)
        now = self.claims.request.now if state is _State.RUNS else finished
        if until is not None and now is not None and now >= until:
            return replace(step, state=_State.FAILED, why=ApplyText.STEP_LATE())
        return replace(step, state=state, until=until, why=why)

    def _step(self, operation: Operation, step: Step, folder: _Folder) -> Operation:
        if step.state is _State.WAITS:
            return self._next(operation, step, folder)
        if step.state is _State.RUNS:
            return self._running(step)
        if step.state is _State.UNKNOWN:
            return self._keep(step.manifest, KeepCode.NOT_OBSERVED, step.why)
        code, text = _OVER[step.state]
        return self._over(step) or self._keep(step.manifest, code, text(why=step.why), step.run)

    def _keep(self, manifest: Manifest, code: KeepCode | RefuseCode, why: str, run: str = "") -> Keep | Refuse:
        return replace(left_alone(manifest, self.work, self.claims.live(manifest.key), code, why), step=run)

    def _running(self, step: Step) -> Operation:
        entry, live = self._entry(step.manifest), step.live
        if live is not None and (entry.uid, entry.applied_digest) != (live.uid, step.applied.digest):
            why = ApplyText.LAST_APPLY_NOT_CONFIRMED()
            return replace(update(step.applied, self.work, live, self.claims, why), removes={}, step=step.run)
        keep = self._keep(step.manifest, KeepCode.STEP_RUNS, ApplyText.STEP_RUNS(), step.run)
        return replace(keep, until=step.until) if isinstance(keep, Keep) else keep

    def _next(self, operation: Operation, step: Step, folder: _Folder) -> Operation:
        """What comes before a step, or that it starts."""
        key, gate = step.manifest.key, self.claims.request.gate
        if (first := self._first_before(step, folder)) is not None:
            return self._keep(step.manifest, KeepCode.STEP, ApplyText.WAITS_FOR_STEP(first=first), step.run)
        if isinstance(operation, Keep | Refuse) and operation.code not in (KeepCode.IN_PLACE, KeepCode.FINISHED):
            return replace(operation, step=step.run)  # it cannot be read, may not be taken over, or is going
        if (permit := gate.permit_step(key.identity)) is None:
            why = ApplyText.STEP_HELD(why=gate.steps_held)
            return self._keep(step.manifest, KeepCode.REMOVAL_HELD, why, step.run)
        if step.live is not None and not self.claims.request.foresees:
            why = ApplyText.STEP_MAKES_ROOM()
            return replace(deletion(permit, self.work.placement, key, step.live.uid, why), step=step.run)
        why = ApplyText.STEP_STARTS(hook=", ".join(step.hook.names))
        return replace(create(step.applied, self.work, self.claims, why), step=step.run)

    def _first_before(self, step: Step, folder: _Folder) -> ObjectKey | None:
        """The first object that a step waits for."""
        if step.phase is Phase.ON_FAILURE:
            return None
        earlier = (other.manifest for other in folder.steps if other.turn < step.turn and self._is_open(other))
        objects = () if self.claims.request.foresees else folder.objects
        awaited = chain(earlier, (manifest for manifest in objects if self._comes_first(manifest, step)))
        return next((manifest.key for manifest in awaited), None)

    def _comes_first(self, manifest: Manifest, step: Step) -> bool:
        """Whether a step waits for an object: to be available, or only to be applied."""
        live = self.claims.live(manifest.key)
        is_applied = live is not None and self.claims.was_applied(manifest)
        if step.phase is Phase.AFTER and not is_made(manifest):
            return not (is_applied and live is not None and self.claims.request.order.available(live.body))
        return not is_applied and manifest.key.group_kind not in _APPLIED_FIRST and _is_before(manifest)

    def _over(self, step: Step) -> Delete | None:
        """The deletion of a Job that ran, by its policy and once that is recorded; None where it stays."""
        entry, live = self._entry(step.manifest), step.live
        if live is None or (entry.uid, entry.applied_digest) != (live.uid, step.applied.digest):
            return None
        deletes = {
            _State.DONE: step.hook.deletes_succeeded and entry.finished,
            _State.FAILED: step.hook.deletes_failed,
        }
        if not deletes.get(step.state):
            return None
        permit = self.claims.request.gate.permit_step(step.manifest.key.identity)
        if permit is None:
            return None
        why = ApplyText.STEP_POLICY_DELETES()
        made = deletion(permit, self.work.placement, step.manifest.key, live.uid, why)
        return replace(made, step=step.run, after_success=step.is_done)


def _is_before(manifest: Manifest) -> bool:
    """Whether an object is applied before any step."""
    hook = hook_of(manifest.body)
    return manifest.key.group_kind in _APPLIED_FIRST or (
        hook is not None and Phase.BEFORE in (hook.install, hook.upgrade)
    )


def _content_of(run: str) -> str:
    return run.rpartition("-")[2]


def _phase_of(run: str) -> Phase:
    return Phase.__members__.get(run.rpartition("-")[0].upper(), Phase.BEFORE)


def _newer(entry: InventoryEntry, live: LiveObject | None) -> str | None:
    """What a Job runs for that gitfleet made, where the inventory does not name it yet."""
    if live is None or live.uid == entry.uid or not is_applied_by_gitfleet(live):
        return None
    return step_key(live.body)


def _end_of(live: LiveObject) -> tuple[_State, datetime | None, str]:
    """Whether a Job is over and how, when, and why it failed."""
    for condition in conditions_of(live.body):
        state = _BY_CONDITION.get((str(condition.get("type")), str(condition.get("status"))))
        if state is not None:
            why = cause_of(condition, ApplyText.STEP_NO_REASON()) if state is _State.FAILED else ""
            return state, _time(condition.get("lastTransitionTime")), why
    return _State.RUNS, None, ""


def _late_at(manifest: Manifest, live: LiveObject) -> datetime | None:
    made = _time(section(live.body, "metadata").get("creationTimestamp"))
    try:
        seconds = step_seconds(manifest.body)
    except ValueError:
        seconds = step_seconds({})
    return made + timedelta(seconds=seconds) if made is not None else None


def _time(text: object) -> datetime | None:
    try:
        return read_time(text)
    except ValueError:
        return None
