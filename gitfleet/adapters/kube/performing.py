"""Carrying out operations on one cluster: by waves, in parallel inside a wave, each with its preconditions."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from gitfleet.adapters.kube.discovery import Absence, Discovery, DiscoveryRefused, Resource, segment
from gitfleet.adapters.kube.dry_runs import OF_THE_SERVER
from gitfleet.adapters.kube.observing import Observer, run_parallel
from gitfleet.adapters.kube.refusals import Refusal, doubtful_404, other_object, refusal_of
from gitfleet.adapters.kube.texts import KubeText
from gitfleet.adapters.kube.wire import APPLY_PATCH, MERGE_PATCH, PRUNE, Wire
from gitfleet.api.definitions import definition_of, is_established
from gitfleet.api.objects import JsonObject, ObjectKey
from gitfleet.errors import BadInput, GitfleetError, GiveUp
from gitfleet.formats.field_trees import in_version, taken_over
from gitfleet.formats.managed_fields import FIELD_MANAGER, is_own_apply, managed_entries
from gitfleet.formats.secret_objects import as_stored, secrets_in
from gitfleet.model.failures import Failure, Subject, attempt
from gitfleet.model.observations import LiveObject
from gitfleet.model.operations import Create, Delete, Outcome, OutcomeCode, RolloutWrite, Update, Write

log = logging.getLogger(__name__)
DEFINITION_PAUSE_SECONDS: Final = 0.1
_Op = TypeVar("_Op", bound=Write | RolloutWrite)
_Result = TypeVar("_Result")
_MOST_TRIES: Final = 3
_NO_VERSION: Final = "1"
"""The resourceVersion that no object ever has: an apply that names it makes an object, or is a conflict with whatever
is there (seen with kube-apiserver 1.36; resource versions are revisions of etcd, whose first is an empty store)."""


def contained(
    operation: _Op, perform: Callable[[_Op], _Result], failed: Callable[[_Op, OutcomeCode, str], _Result]
) -> _Result:
    """What `perform` makes of an operation; what it raises becomes what `failed` makes of it."""

    def checked(operation: _Op) -> _Result:
        try:
            segment(operation.key.name)  # without a name the path would be the whole collection's
            return perform(operation)
        except BadInput as error:
            return failed(operation, OutcomeCode.INVALID, str(error))
        except GitfleetError as error:
            code = OutcomeCode.SERVER_ERROR if isinstance(error, DiscoveryRefused) else OutcomeCode.UNREACHABLE
            return failed(operation, code, str(error))

    result = attempt(Subject.of_object(operation.key, operation.cluster), checked, operation)
    if not isinstance(result, Failure):
        return result
    log.error("%s", result.report)
    return failed(operation, OutcomeCode.INTERNAL_ERROR, result.sentence)


class Performer:
    """Changes one cluster. One instance serves one `perform`: it keeps what it saw to be there."""

    def __init__(
        self,
        wire: Wire,
        discovery: Discovery,
        observer: Observer,
        *,
        parallel: int,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._wire = wire
        self._discovery = discovery
        self._observer = observer
        self._parallel = parallel
        self._pause = pause
        self._outcomes: dict[int, Outcome] = {}
        self._by_key: dict[ObjectKey, int] = {}
        self._needs: dict[ObjectKey, str | None] = {}
        self._locks: dict[ObjectKey, threading.Lock] = {}
        self._lock = threading.Lock()

    def perform(self, operations: Sequence[Write]) -> tuple[Outcome, ...]:
        """One outcome for each operation, in the order given. Never raises for what a cluster does."""
        self._by_key = {o.key: number for number, o in enumerate(operations) if not isinstance(o, Delete)}
        numbered = list(enumerate(operations))
        for wave in _in_waves(numbered):
            for (number, _), outcome in zip(wave, run_parallel(self._one, wave, self._parallel), strict=True):
                self._outcomes[number] = outcome
        return tuple(self._outcomes[number] for number, _ in numbered)

    def _one(self, numbered: tuple[int, Write]) -> Outcome:
        return contained(numbered[1], self._perform, _failed)

    def _perform(self, operation: Write) -> Outcome:
        return self._delete(operation) if isinstance(operation, Delete) else self._apply(operation)

    def _apply(self, operation: Create | Update) -> Outcome:
        for need in operation.needs:
            missing = self._missing(need)
            if missing is not None:
                code = OutcomeCode.NEEDS_NAMESPACE if need.kind == "Namespace" else OutcomeCode.NEEDS_CRD
                return _failed(operation, code, KubeText.NEEDS(missing=missing))
        resource = self._discovery.find(operation.key, refresh=True)
        if isinstance(resource, Absence):
            why = KubeText.CLUSTER_NO_KIND(key=operation.key.kind, api_version=operation.key.api_version)
            return _failed(operation, OutcomeCode.NEEDS_CRD, why)
        if isinstance(operation, Update) and operation.removes:
            ready = self._with_owners(operation, resource, lambda live: taken_over(live, operation.removes))
            return ready if isinstance(ready, Outcome) else replace(self._write(ready, resource), operation=operation)
        outcome = self._write(operation, resource)
        if not isinstance(operation, Create) or (outcome.code, outcome.retry) != (OutcomeCode.CONFLICT, True):
            return outcome
        live, why = self._observer.get(resource, operation.key)
        if live is not None and any(map(is_own_apply, managed_entries(live.body))):
            # The answer to an attempt of ours was lost, or another process of gitfleet was first.
            outcome = self._write(_as_update(operation, live), resource)
            return replace(outcome, operation=operation)
        return replace(outcome, message=why or KubeText.MADE_SOMEBODY_ELSE_BETWEEN())

    def _with_owners(
        self, operation: Update, resource: Resource, owners: Callable[[JsonObject], list[JsonObject] | None]
    ) -> Outcome | Update:
        """Write the managedFields that `owners` makes of a live object, unless it makes none; what is in the object
        stays as it is.

        An object that changed in between is read again, unless the update is for that version alone. Then the update
        is for the version that came of it."""
        live, locked = operation.live, operation.resource_version is not None
        path, query = resource.path(operation.key.namespace, operation.key.name), {"fieldManager": FIELD_MANAGER}
        for tries_left in reversed(range(_MOST_TRIES)):
            entries = owners(live.body)
            if entries is None:
                break
            patch = {"metadata": {"resourceVersion": live.resource_version, "managedFields": entries}}
            response = self._wire.send("PATCH", path, query, body=patch, headers={"Content-Type": MERGE_PATCH})
            if response.ok:
                version = LiveObject(operation.key, response.json()).resource_version
                return replace(operation, resource_version=version) if locked else operation
            refusal = refusal_of(response, _secrets_of(operation))
            if response.status != 409 or locked or not tries_left:
                return _refused(operation, refusal)
            current, why = self._observer.get(resource, operation.key)
            if current is None or current.uid != live.uid:
                why = why or KubeText.DELETED_REPLACED_BETWEEN()
                return _failed(operation, OutcomeCode.CONFLICT, why)
            live = current
        return operation

    def _write(self, operation: Create | Update, resource: Resource) -> Outcome:
        query = {
            "fieldManager": FIELD_MANAGER,
            "force": "true" if operation.force else "false",
            "fieldValidation": "Strict",
        }
        path = resource.path(operation.key.namespace, operation.key.name)
        headers = {"Content-Type": APPLY_PATCH}
        response = self._wire.send("PATCH", path, query, body=_body_of(operation), headers=headers)
        if response.status == 500 and PRUNE in response.text() and isinstance(operation, Update):
            # What gitfleet applied before counts as applied in the new version, as Flux has it.
            moved = self._with_owners(operation, resource, lambda live: in_version(live, operation.key.api_version))
            if isinstance(moved, Outcome):
                return moved
            response = self._wire.send("PATCH", path, query, body=_body_of(moved), headers=headers)
        if response.ok:
            body = response.json()
            if mismatch := other_object(body, operation.key, namespaced=resource.namespaced):
                return _failed(operation, OutcomeCode.SERVER_ERROR, mismatch)
            live = LiveObject(operation.key, body)
            return Outcome(operation=operation, ok=True, code=OutcomeCode.APPLIED, live=live)
        return _refused(operation, refusal_of(response, _secrets_of(operation)))

    def _delete(self, operation: Delete) -> Outcome:
        # The one place where objects are deleted: whoever came here past the removal gate has no permit.
        if not operation.permit.covers(operation.cluster, operation.key):
            raise GiveUp(KubeText.DELETION_WITHOUT_PERMIT(operation=operation.key))
        not_found = Outcome(operation=operation, ok=True, code=OutcomeCode.NOT_FOUND, message=KubeText.IS_GONE())
        resource = self._discovery.find(operation.key, refresh=True)
        if resource is Absence.OTHER_VERSION:
            why = KubeText.CLUSTER_OTHER_VERSIONS(key=operation.key.kind, api_version=operation.key.api_version)
            return _failed(operation, OutcomeCode.OTHER_VERSION, why)
        if not isinstance(resource, Resource):
            return not_found
        options = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "propagationPolicy": operation.propagation.value,
            "preconditions": {"uid": operation.uid},
        }
        path = resource.path(operation.key.namespace, operation.key.name)
        response = self._wire.send("DELETE", path, body=options)
        if response.status == 404:
            if doubt := doubtful_404(response, operation.key, resource.plural):
                return _failed(operation, OutcomeCode.SERVER_ERROR, doubt)
            return not_found
        if not response.ok:
            return _refused(operation, refusal_of(response))
        body = response.json()
        if body.get("kind") == "Status":
            return self._confirmed(operation, resource)
        if mismatch := other_object(body, operation.key, namespaced=resource.namespaced):
            return _failed(operation, OutcomeCode.SERVER_ERROR, mismatch)
        # The object itself comes back while finalizers keep it: it is gone only when an observation does not find it.
        return Outcome(operation=operation, ok=True, code=OutcomeCode.DELETING, live=LiveObject(operation.key, body))

    def _confirmed(self, operation: Delete, resource: Resource) -> Outcome:
        """What came of a deletion that was answered with success: only NotFound, or another object, confirms it."""
        live, why = self._observer.get(resource, operation.key)
        if not why and (live is None or live.uid != operation.uid):
            return Outcome(operation=operation, ok=True, code=OutcomeCode.DELETED)
        if live is not None and live.body["metadata"].get("deletionTimestamp"):
            return Outcome(operation=operation, ok=True, code=OutcomeCode.DELETING, live=live)
        why = why or KubeText.SERVER_ANSWERED_DELETED()
        return _failed(operation, OutcomeCode.SERVER_ERROR, why)

    def _missing(self, need: ObjectKey) -> str | None:
        """Why a needed object is not there; None when it is. Each is asked for once."""
        with self._lock:
            gate = self._locks.setdefault(need, threading.Lock())
        with gate:
            if need not in self._needs:
                self._needs[need] = self._observe_for(need)
            return self._needs[need]

    def _observe_for(self, need: ObjectKey) -> str | None:
        number = self._by_key.get(need)
        planned = self._outcomes.get(number) if number is not None else None
        if planned is not None and not planned.ok:
            return KubeText.COULD_NOT_APPLIED(need=need)
        if need.kind == "Namespace":
            return None if planned is not None and planned.ok else self._namespace_missing(need)
        return self._definition_missing(need)

    def _namespace_missing(self, need: ObjectKey) -> str | None:
        live, why = self._observer.get(Resource("/api/v1", "namespaces", False), need)
        if why:
            # Who may not read namespaces may still write into them.
            return None
        if live is None:
            return KubeText.WHICH_IS_NOT_THERE(need=need)
        return KubeText.BEING_DELETED(need=need) if live.body["metadata"].get("deletionTimestamp") else None

    def _definition_missing(self, need: ObjectKey) -> str | None:
        resource = Resource(f"/apis/{need.group}/{need.version}", "customresourcedefinitions", False)
        for tries_left in reversed(range(self._wire.timeouts.definition_tries)):
            live, why = self._observer.get(resource, need)
            if why:
                return None
            if live is None:
                return KubeText.WHICH_IS_NOT_THERE(need=need)
            if self._serves(live):
                return None
            if tries_left:
                self._pause(DEFINITION_PAUSE_SECONDS)
        return KubeText.NOT_ESTABLISHED_YET(need=need)

    def _serves(self, definition: LiveObject) -> bool:
        """Whether the definition is Established and discovery shows its kind."""
        defined = definition_of(definition.body)
        if defined is None or not is_established(definition.body):
            return False
        keys = (ObjectKey(defined.kind.group, version, defined.kind.kind, "", "") for version in defined.served)
        places = (self._discovery.find(key, refresh=True) for key in keys)
        return all(isinstance(place, Resource) for place in places)


def _in_waves(numbered: Iterable[tuple[int, Write]]) -> list[list[tuple[int, Write]]]:
    """Applies by ascending wave, then deletions by descending wave."""
    waves: dict[tuple[int, int], list[tuple[int, Write]]] = {}
    for number, operation in numbered:
        rank = (1, -operation.wave) if isinstance(operation, Delete) else (0, operation.wave)
        waves.setdefault(rank, []).append((number, operation))
    return [waves[rank] for rank in sorted(waves)]


def _secrets_of(operation: Create | Update) -> tuple[str, ...]:
    """What no sentence about the operation may repeat: the values that are wanted, and those that are there."""
    live_secrets = secrets_in(operation.live.body) if isinstance(operation, Update) else ()
    return (*secrets_in(as_stored(operation.manifest.body)), *live_secrets)


def _failed(operation: Write, code: OutcomeCode, why: str, *, retry: bool | None = None) -> Outcome:
    retry = code is not OutcomeCode.INVALID if retry is None else retry
    return Outcome(operation=operation, ok=False, code=code, message=why, retry=retry)


def _refused(operation: Write, refusal: Refusal) -> Outcome:
    return _failed(operation, refusal.code, refusal.message, retry=refusal.retry)


def _as_update(operation: Create, live: LiveObject) -> Update:
    return Update(
        cluster=operation.cluster,
        placement=operation.placement,
        manifest=operation.manifest,
        reason=operation.reason,
        wave=operation.wave,
        force=operation.force,
        live=live,
    )


def _body_of(operation: Create | Update) -> JsonObject:
    """The manifest with its preconditions: an update names the uid it was decided on, and never makes a new object; a
    create never touches one that is there.

    Of a Secret `data` alone is applied: a server keeps no owner of what `stringData` wrote, and would never prune it.
    """
    body = as_stored(operation.manifest.body)
    metadata = {k: v for k, v in (body.get("metadata") or {}).items() if k not in OF_THE_SERVER}
    if isinstance(operation, Update):
        if operation.live.uid:
            metadata["uid"] = operation.live.uid
        if operation.resource_version:
            metadata["resourceVersion"] = operation.resource_version
    else:
        metadata["resourceVersion"] = _NO_VERSION
    return {**body, "metadata": metadata}
