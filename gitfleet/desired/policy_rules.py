"""What the fleet's policy denies in a commit (decision D37): payload by itself, and what placements select."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from gitfleet.api import Break
from gitfleet.api.envelopes import EnvelopeError, is_annotated, is_envelope, objects_in
from gitfleet.api.fleet import FleetConfig, HealthCheck
from gitfleet.api.objects import GroupKind, Manifest, ObjectKey
from gitfleet.api.placements import Placement
from gitfleet.api.placing_policy import USUAL_POLICY, KindPattern, PlacingPolicy
from gitfleet.api.workload_rollouts import RolloutTrait
from gitfleet.desired.crosschecks import Refusals
from gitfleet.desired.identity import known_scope
from gitfleet.desired.known_kinds import KnownKinds
from gitfleet.desired.readings import ReadObject
from gitfleet.desired.texts import DesiredText


def denied_payload(objects: Iterable[ReadObject], policy: PlacingPolicy) -> Refusals:
    """Objects that nothing may place, in envelopes too, each with the rule that says so."""
    denied: Refusals = []
    for item in objects:
        if isinstance(item.value, Manifest):
            denied += [(item, note) for note in _denials(item.value, policy)]
    return denied


def _denials(manifest: Manifest, policy: PlacingPolicy) -> Iterator[Break]:
    if (note := policy.denial(manifest.key)) is not None:
        yield note
        return
    if policy == USUAL_POLICY and manifest.key.namespace != "default":
        return  # an envelope holds what lies in its own namespace, and what the usual rules deny is in no other one
    if not is_envelope(manifest):
        return
    annotated = is_annotated(manifest.key.group_kind, manifest.body)
    try:
        for entry, key in objects_in(manifest, {}):
            if (note := policy.denial(key)) is not None:
                # No line of the file can be named within a text.
                yield (("data", entry), f"{key} {note[1]}") if annotated else (("data", entry, *note[0]), note[1])
    except EnvelopeError:
        return  # an error of its own


def denied_selectors(
    objects: Iterable[ReadObject], policy: PlacingPolicy, scopes: Mapping[GroupKind, bool]
) -> Refusals:
    """Selectors whose placement may have nothing of what they select."""
    denied: Refusals = []
    for item in objects if policy.deny else ():
        if not isinstance(item.value, Placement):
            continue
        home = item.value.key.namespace
        for index, selector in enumerate(item.value.selectors):
            namespaced = known_scope(GroupKind(selector.group, selector.kind), scopes)
            named = selector.kind != "Namespace" or selector.name
            if namespaced is not bool(home) or not named:
                continue  # which namespaces it means shows only when it selects
            key = ObjectKey(selector.group, selector.version, selector.kind, home, selector.name or "")
            if (note := policy.denial(key, str(item.value.key))) is not None:
                denied.append((item, (("spec", "resourceSelectors", index, "kind"), note[1])))
    return denied


def denied_workloads(objects: Iterable[ReadObject], policy: PlacingPolicy) -> Refusals:
    """Rollouts of workloads that nothing may place, which may not be moved either, and of workloads that lie in another
    namespace than the rollout (decision D39)."""
    denied: Refusals = []
    for item in objects:
        if isinstance(item.value, RolloutTrait):
            for workload, field in item.value.workloads:
                if (note := policy.denial(workload)) is not None:
                    denied.append((item, ((*field, note[0][-1]), note[1])))
                elif not policy.reaches(item.value.key.namespace, workload.namespace):
                    sentence = DesiredText.ANOTHER_NAMESPACE_THAN_ROLLOUT(namespace=workload.namespace)
                    denied.append((item, ((*field, "namespace"), sentence)))
    return denied


def policy_warnings(objects: Iterable[ReadObject], known: KnownKinds) -> Refusals:
    """Rules and health checks of kinds that are probably misspelt, and so have no effect."""
    warned: Refusals = []
    for item in objects:
        if not isinstance(item.value, FleetConfig):
            continue
        for place, named in _kinds_of(item.value):
            unknown = None if "*" in (named.group, named.kind) else known.unknown(named.group, named.kind)
            if unknown is not None:
                warned.append((item, (("spec", *place, unknown.field), unknown.sentence)))
    return warned


def _kinds_of(config: FleetConfig) -> Iterator[tuple[tuple[str | int, ...], KindPattern | HealthCheck]]:
    for name, rules in (("allow", config.policy.allow), ("deny", config.policy.deny)):
        for number, rule in enumerate(rules):
            for index, pattern in enumerate(rule.kinds):
                yield ("policy", name, number, "kinds", index), pattern
    for index, check in enumerate(config.health_checks):
        yield ("healthChecks", index), check
