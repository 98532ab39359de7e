"""Where objects may be placed: namespaces that go with their kinds, and the rules of the fleet's policy (contracts.md
§1, decisions D37 and D39)."""

from __future__ import annotations

from collections.abc import Iterator

from gitfleet.api import Break
from gitfleet.api.envelopes import EnvelopeError, is_annotated, is_envelope, objects_in
from gitfleet.api.folders import FOLDER
from gitfleet.api.objects import GroupKind, Manifest, ObjectKey
from gitfleet.api.placements import SelectionScope
from gitfleet.api.placing_policy import USUAL_POLICY, PlacingPolicy
from gitfleet.api.steps import STEP_TIMEOUT, never_run, step_seconds
from gitfleet.api.workload_rollouts import RolloutTrait
from gitfleet.desired.checks.commit import Commit, Refusal, noted
from gitfleet.desired.reading.identity import known_scope, scope_breaks
from gitfleet.desired.reading.payload import enveloped_breaks
from gitfleet.desired.texts import DesiredText


def misplaced_payload(commit: Commit) -> Iterator[Refusal]:
    """Refuse payload whose namespace does not go with its kind, in envelopes too."""
    for item, manifest in commit.of(Manifest):
        key = manifest.key
        yield from noted(item, scope_breaks(commit.scopes.get(key.group_kind), key.kind, key.namespace))
        yield from noted(item, enveloped_breaks(manifest, commit.scopes))


def misplaced_selectors(commit: Commit) -> Iterator[Refusal]:
    """Refuse selectors of kinds that are not of their placement's scope."""
    within = SelectionScope.NAMESPACE_WITH_RESOURCE_SELECTORS
    mixed = {placement.key for _, placement, _, selector in commit.selectors if selector.selection_scope is within}
    for item, placement, at, selector in commit.selectors:
        namespaced = known_scope(GroupKind(selector.group, selector.kind), commit.scopes)
        if placement.key.namespace and namespaced is False:
            yield item, ((*at, "kind"), DesiredText.CLUSTER_SCOPED_KIND(selector=selector.kind))
        elif namespaced and not (placement.key.namespace or placement.key in mixed):
            yield item, ((*at, "kind"), DesiredText.NAMESPACED_KIND_SELECT_NAMESPACE(selector=selector.kind))


def timeout_refusals(commit: Commit) -> Iterator[Refusal]:
    """Refuse steps whose time limit is no duration."""
    for item, manifest in commit.of(Manifest):
        try:
            step_seconds(manifest.body)
        except ValueError as error:
            yield item, (("metadata", "annotations", STEP_TIMEOUT), str(error))


def hook_warnings(commit: Commit) -> Iterator[Refusal]:
    """Warn of hooks that gitfleet does not run, whose objects are not placed."""
    for item, manifest in commit.of(Manifest):
        if (hook := never_run(manifest)) is not None:
            sentence = DesiredText.HOOK_NOT_RUN(hooks=", ".join(hook.names), kind=manifest.key.kind)
            yield item, (("metadata", "annotations"), sentence)


def denied_payload(commit: Commit) -> Iterator[Refusal]:
    """Refuse objects that nothing may place, in envelopes too, each with the rule that says so."""
    for item, manifest in commit.of(Manifest):
        yield from noted(item, _denials(manifest, commit.policy))


def denied_selectors(commit: Commit) -> Iterator[Refusal]:
    """Refuse selectors whose placement may have nothing of what they select. Which namespaces a selector without a name
    means shows only when it selects."""
    for item, placement, at, selector in commit.selectors if commit.policy.deny else ():
        home, kind = placement.key.namespace, GroupKind(selector.group, selector.kind)
        is_many = kind == FOLDER or (selector.kind == "Namespace" and not selector.name)
        if known_scope(kind, commit.scopes) is bool(home) and not is_many:
            key = ObjectKey(selector.group, selector.version, selector.kind, home, selector.name or "")
            if (note := commit.policy.denial(key, str(placement.key))) is not None:
                yield item, ((*at, "kind"), note[1])


def denied_workloads(commit: Commit) -> Iterator[Refusal]:
    """Refuse rollouts of workloads that nothing may place, and of workloads that lie in another namespace than the
    rollout."""
    for item, rollout in commit.of(RolloutTrait):
        for workload, field in rollout.workloads:
            if (note := commit.policy.denial(workload)) is not None:
                yield item, ((*field, note[0][-1]), note[1])
            elif not commit.policy.reaches(rollout.key.namespace, workload.namespace):
                sentence = DesiredText.ANOTHER_NAMESPACE_THAN_ROLLOUT(namespace=workload.namespace)
                yield item, ((*field, "namespace"), sentence)


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
                if annotated:  # no line of the file can be named within a text
                    yield ("data", entry), f"{key} {note[1]}"
                else:
                    yield ("data", entry, *note[0]), note[1]
    except EnvelopeError:
        return  # an error of its own
