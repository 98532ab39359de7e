"""Reading workloads and pods without trusting the types of their fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from gitfleet.api.objects import JsonObject, JsonValue, ObjectKey, key_of
from gitfleet.model.observations import LiveObject
from gitfleet.model.rollout_fields import ABSENT, Fields, FieldValue, value_at
from gitfleet.workload.handlers.values import Workloads
from gitfleet.workload.texts import WorkloadText

REPLICAS: Final = "/spec/replicas"
PAUSED: Final = "/spec/paused"


def number(body: JsonObject, pointer: str, default: int = 0) -> int:
    """A whole number, the default where it is missing or none."""
    value = value_at(body, pointer)
    return value if isinstance(value, int) else default


def text(body: JsonObject, pointer: str) -> str:
    """A text, "" where it is missing or none."""
    value = value_at(body, pointer)
    return value if isinstance(value, str) else ""


def asked(live: LiveObject | None) -> int:
    """How many pods a workload asks for; a server's default is one."""
    return number(live.body, REPLICAS, 1) if live is not None else 0


def updated_there(workload: JsonObject) -> int:
    """How many pods have the newest content, by the status of a workload that counts them."""
    return number(workload, "/status/updatedReplicas")


def has_older_pods(workload: JsonObject) -> bool:
    """Whether not all of its pods have the newest content, by the status of a workload that counts them."""
    return number(workload, "/status/replicas") > updated_there(workload)


def pods_there(live: LiveObject | None) -> int:
    """How many pods it has, by its status; those that are ending do not count."""
    return number(live.body, "/status/replicas") if live is not None else 0


def ready_there(live: LiveObject | None) -> int:
    """How many of them are ready."""
    return number(live.body, "/status/readyReplicas") if live is not None else 0


def is_seen(live: LiveObject) -> bool:
    """Whether its controller has seen its newest spec."""
    return number(live.body, "/status/observedGeneration") >= live.generation


def is_paused(live: LiveObject) -> bool:
    """Whether its controller makes no pods of newer content."""
    return value_at(live.body, PAUSED) is True


def target_key(seen: Workloads) -> ObjectKey | None:
    """The target's key, also where it is still to be made."""
    if seen.target is not None:
        return seen.target.key
    return key_of(seen.wanted) if seen.wanted is not None else None


def name_of(seen: Workloads) -> str:
    """What the target is called in sentences."""
    return str(target_key(seen) or "the target")


def chooses_itself(seen: Workloads) -> str:
    """Why batches of the target can name no pods."""
    return WorkloadText.CONTROLLER_CHOOSES_PODS(name_of=name_of(seen))


def label(pod: LiveObject, name: str) -> str:
    """A label of a pod, "" where it has none."""
    return _named(pod, "/metadata/labels", name)


def annotation(live: LiveObject, name: str) -> str:
    """An annotation, "" where it has none."""
    return _named(live, "/metadata/annotations", name)


def _named(live: LiveObject, pointer: str, name: str) -> str:
    entries = value_at(live.body, pointer)
    return str(entries.get(name) or "") if isinstance(entries, Mapping) else ""


def is_ending(pod: LiveObject) -> bool:
    """Whether a pod has been told to end, or has ended."""
    over = text(pod.body, "/status/phase") in ("Failed", "Succeeded")
    return over or value_at(pod.body, "/metadata/deletionTimestamp") is not ABSENT


def is_ready(pod: LiveObject) -> bool:
    """Whether a pod is ready, and is to stay."""
    conditions = value_at(pod.body, "/status/conditions")
    listed: Iterable[object] = conditions if isinstance(conditions, list | tuple) else ()
    ready = any(isinstance(c, Mapping) and c.get("type") == "Ready" and c.get("status") == "True" for c in listed)
    return ready and not is_ending(pod)


def unseen(live: LiveObject) -> str:
    """That the controller of a workload has not seen its newest change yet, in half a sentence; "" where it has."""
    return "" if is_seen(live) else WorkloadText.CONTROLLER_NOT_SEEN_NEWEST_CHANGE(live=live.key)


def unstable(live: LiveObject) -> str:
    """Why a workload is not stable, in half a sentence; "" where it is. One that is paused need only be seen."""
    if why := unseen(live):
        return why
    if is_paused(live):
        return ""
    desired, present, ready = asked(live), pods_there(live), ready_there(live)
    if present != desired:
        return WorkloadText.PODS_ASKS(live=live.key, there=present, wanted=desired)
    return WorkloadText.PODS_READY(ready=ready, wanted=desired, live=live.key) if ready < desired else ""


def kept_fields(body: JsonObject, pointers: Iterable[str]) -> Fields:
    """Fields at the values that they have."""
    return {pointer: value_at(body, pointer) for pointer in pointers}


def of_manifest(seen: Workloads, pointer: str, default: FieldValue) -> FieldValue:
    """The value of a field in the manifest, the default where that has none."""
    value = value_at(seen.wanted or {}, pointer)
    return default if value is ABSENT else value


def given_back(seen: Workloads, pointer: str, default: FieldValue = ABSENT) -> FieldValue:
    """The value that a field has without a rollout: its manifest's, else the one of before, else the server's."""
    for value in (value_at(seen.wanted or {}, pointer), (seen.originals or {}).get(pointer, ABSENT)):
        if value is not ABSENT:
            return value
    return default


def stored_template(workload: JsonObject) -> JsonObject:
    """`spec.template` without what says nothing: `creationTimestamp: null`, which programs write, and empty metadata.
    What a server fills in stays: an identifier of the content is computed from the manifest where there is one."""
    template = value_at(workload, "/spec/template")
    if not isinstance(template, Mapping):
        return {}
    metadata = value_at(template, "/metadata")
    parts = {name: value for name, value in template.items() if name != "metadata"}
    given_metadata = {k: v for k, v in metadata.items() if v is not None} if isinstance(metadata, Mapping) else {}
    return {**parts, "metadata": given_metadata} if given_metadata else parts


def is_within(manifest: JsonValue, live: JsonValue) -> bool:
    """Whether a live value is as a manifest says, beside what the server filled in."""
    if isinstance(manifest, Mapping):
        return isinstance(live, Mapping) and all(
            name in live and is_within(value, live[name]) for name, value in manifest.items() if value is not None
        )
    if isinstance(manifest, list | tuple):
        return (
            isinstance(live, list | tuple)
            and len(manifest) == len(live)
            and all(is_within(item, live_item) for item, live_item in zip(manifest, live, strict=True))
        )
    return bool(manifest == live)
