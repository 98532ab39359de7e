"""What one API server would make of a manifest alone: a dry run of replacing the live object by it.

Replaced, not applied: an apply keeps what others wrote, and so would not tell it from defaults. What the server has
assigned it keeps as it does for any update (a Service's cluster IP).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from gitfleet.adapters.kube.discovery import Absence, Discovery, Resource
from gitfleet.adapters.kube.observing import Observer, run_parallel
from gitfleet.adapters.kube.refusals import other_object, refusal_of
from gitfleet.adapters.kube.texts import KubeText
from gitfleet.adapters.kube.wire import Wire
from gitfleet.api.definitions import CRD
from gitfleet.api.objects import JsonObject, Manifest, ObjectKey
from gitfleet.formats.kinds import BUILT_IN_KINDS
from gitfleet.formats.managed_fields import FIELD_MANAGER
from gitfleet.formats.secret_objects import as_stored, secrets_in
from gitfleet.formats.sentences import shortened
from gitfleet.model.failures import Failure, Subject, attempt
from gitfleet.model.observations import DryRun, LiveObject
from gitfleet.ports.clock import Clock

OF_THE_SERVER: Final = ("managedFields", "uid", "resourceVersion", "generation", "creationTimestamp", "selfLink")
_BEGUN_WITHIN: Final = 5.0
"""Seconds. With the time that one request may take, that is less than a cluster is waited for."""
_LONGEST_WHY: Final = 300
"""A server that refuses an immutable field repeats all of it."""


class DryRunner:
    """Asks one API server; nothing is ever written."""

    def __init__(self, wire: Wire, discovery: Discovery, observer: Observer, *, parallel: int, clock: Clock) -> None:
        self._wire = wire
        self._discovery = discovery
        self._observer = observer
        self._parallel = parallel
        self._clock = clock

    def ask(self, questions: Sequence[tuple[Manifest, LiveObject]]) -> Sequence[DryRun]:
        """See ClusterReader.dry_run. What was not begun with in a few seconds is answered by that: whatever waits for
        an admission webhook here, the cluster is to be free for the next pass."""
        dry_run = partial(self._one, until=self._clock.monotonic() + _BEGUN_WITHIN)
        return run_parallel(dry_run, questions, self._parallel)

    def _one(self, question: tuple[Manifest, LiveObject], until: float) -> DryRun:
        manifest, live = question
        if self._clock.monotonic() > until:
            why = KubeText.TOOK_MORE_DRY_RUNS_BEFORE(
                wire=self._wire.name, begun_within=_BEGUN_WITHIN, manifest=manifest.key
            )
            return DryRun(live.body, None, why)
        outcome = attempt(Subject.of_object(manifest.key, self._wire.name), self._asked, manifest, live)
        if not isinstance(outcome, Failure):
            return outcome
        return DryRun(live.body, None, outcome.for_people)

    def _asked(self, manifest: Manifest, live: LiveObject) -> DryRun:
        key, resource = manifest.key, self._discovery.find(manifest.key)
        if isinstance(resource, Absence):
            return DryRun(live.body, None, KubeText.CLUSTER_NO_KIND(key=key.kind, api_version=key.api_version))
        if (key.group, key.kind) not in BUILT_IN_KINDS and not self._is_defined(key, resource):
            # Every kube-apiserver has dry runs; another one may ignore what it does not know, and write.
            why = KubeText.SERVED_API_SERVER_EXTENSION(key=key)
            return DryRun(live.body, None, why)
        query = {"dryRun": "All", "fieldManager": FIELD_MANAGER}
        path = resource.path(key.namespace, key.name)
        response = self._wire.send("PUT", path, query, body=_replacing(manifest, live))
        if not response.ok:
            secrets = (*secrets_in(as_stored(manifest.body)), *secrets_in(live.body))
            why = KubeText.DRY_RUN_REFUSED(message=refusal_of(response, secrets).message)
            return DryRun(live.body, None, shortened(why, _LONGEST_WHY))
        body = response.json()
        if mismatch := other_object(body, key, namespaced=resource.namespaced):
            return DryRun(live.body, None, mismatch)
        return DryRun(live.body, body)

    def _is_defined(self, key: ObjectKey, resource: Resource) -> bool:
        """Whether a CustomResourceDefinition serves the kind."""
        definition = ObjectKey(CRD.group, "v1", CRD.kind, "", f"{resource.plural}.{key.group}")
        place = Resource(f"/apis/{CRD.group}/v1", "customresourcedefinitions", namespaced=False)
        return self._observer.get(place, definition)[0] is not None


def _replacing(manifest: Manifest, live: LiveObject) -> JsonObject:
    """The manifest in place of the object that was seen, and of no other one or later version of it."""
    body = as_stored(manifest.body)
    metadata = {name: value for name, value in (body.get("metadata") or {}).items() if name not in OF_THE_SERVER}
    return {**body, "metadata": {**metadata, "uid": live.uid, "resourceVersion": live.resource_version}}
