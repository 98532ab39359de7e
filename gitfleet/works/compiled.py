"""Override snapshots made ready for many objects and clusters; compiled once, whatever the number of clusters."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import jsonpointer

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.labels import InvalidSelector
from gitfleet.api.objects import JsonObject, ObjectKey, key_of
from gitfleet.api.overrides import OverrideKey, OverrideRule
from gitfleet.api.placing_policy import USUAL_POLICY, PlacingPolicy
from gitfleet.api.snapshots import OverrideSnapshot
from gitfleet.works.matching import Target, application_order, rule_matches, targets_at, targets_of
from gitfleet.works.patches import CompiledPatch, PatchError
from gitfleet.works.texts import WorksText


class OverrideFailed(ValueError):
    """An override cannot be applied; KubeFleet's sentence, without any value."""


@dataclass(frozen=True, slots=True)
class CompiledRule:
    """A rule with its 1-based number in the override."""

    number: int
    rule: OverrideRule
    patches: tuple[CompiledPatch, ...]

    @property
    def deletes(self) -> bool:
        """Whether the rule leaves the object out."""
        return self.rule.override_type == "Delete"


@dataclass(frozen=True, slots=True)
class CompiledOverride:
    """One override snapshot, or those of its rules that are for one cluster."""

    snapshot: OverrideSnapshot
    targets: frozenset[Target]
    rules: tuple[CompiledRule, ...]

    def apply(self, key: ObjectKey, body: JsonObject, cluster: MemberCluster) -> JsonObject | None:
        """The object after the rules in order, None when one deletes it; OverrideFailed."""
        for rule in self.rules:
            if rule.deletes:
                return None
            try:
                for patch in rule.patches:
                    body = patch.apply(body, cluster)
            except PatchError as error:
                raise OverrideFailed(f"{self._on(key)}: rule {rule.number}: {error}") from None
            if _identity(body) != key:
                raise OverrideFailed(WorksText.RULE_WOULD_CHANGE_APIVERSION(on=self._on(key), number=rule.number))
        return body

    def _on(self, key: ObjectKey) -> str:
        override = self.snapshot.override.key
        place = f' in namespace "{key.namespace}"' if key.namespace else ""
        return WorksText.SNAPSHOT_FAILED_APPLY(
            override=override.kind, snapshot=self.snapshot.name, key=key.kind, key_2=key.name, place=place
        )


class OverridesOfCluster:
    """The overrides of one binding by what they select, in the order in which they are applied."""

    __slots__ = ("_by_target", "_cluster")

    def __init__(self, overrides: Iterable[CompiledOverride], cluster: MemberCluster) -> None:
        self._cluster = cluster
        self._by_target: dict[Target, list[tuple[int, CompiledOverride]]] = {}
        for place, compiled in enumerate(sorted(overrides, key=lambda o: application_order(o.snapshot))):
            override = _for_cluster(compiled, cluster)
            for target in override.targets if override.rules else ():
                self._by_target.setdefault(target, []).append((place, override))

    def apply(self, key: ObjectKey, body: JsonObject) -> JsonObject | OverrideKey:
        """The object as this cluster gets it, the very same when no override concerns it; or the override that deletes
        it."""
        if not self._by_target:
            return body
        # One override may select both the object and its Namespace; it is applied once.
        found = {place: override for target in targets_at(key) for place, override in self._by_target.get(target, ())}
        for place in sorted(found):
            changed = found[place].apply(key, body, self._cluster)
            if changed is None:
                return found[place].snapshot.override.key
            body = changed
        return body


class CompiledOverrides:
    """Override snapshots by reference, each compiled when it is first asked for: made once for a whole fleet.

    `policy` says what an override may add to an envelope (decision D37).
    """

    __slots__ = ("_compiled", "_snapshots", "policy")

    def __init__(self, snapshots: Iterable[OverrideSnapshot] = (), policy: PlacingPolicy = USUAL_POLICY) -> None:
        self.policy = policy
        self._snapshots = {snapshot.reference: snapshot for snapshot in snapshots}
        self._compiled: dict[str, CompiledOverride] = {}

    def hash_of(self, reference: str) -> str | None:
        """The hash of the snapshot's spec; None when there is no such snapshot."""
        snapshot = self._snapshots.get(reference)
        return None if snapshot is None else snapshot.hash

    def get(self, reference: str) -> CompiledOverride:
        """The override; OverrideFailed when it is not there or cannot be compiled."""
        if reference not in self._snapshots:
            raise OverrideFailed(WorksText.OVERRIDE_SNAPSHOT_NOT(reference=reference))
        if reference not in self._compiled:
            self._compiled[reference] = _compiled(self._snapshots[reference])
        return self._compiled[reference]


def _compiled(snapshot: OverrideSnapshot) -> CompiledOverride:
    rules: list[CompiledRule] = []
    for number, rule in enumerate(snapshot.override.rules, 1):
        try:
            rules.append(CompiledRule(number, rule, tuple(CompiledPatch(patch) for patch in rule.patches)))
        except (jsonpointer.JsonPointerException, ValueError):
            kind = snapshot.override.key.kind
            raise OverrideFailed(
                WorksText.SNAPSHOT_RULE_NO_RFC_PATCH(kind=kind, snapshot=snapshot.name, number=number)
            ) from None
    return CompiledOverride(snapshot, frozenset(targets_of(snapshot.override)), tuple(rules))


def _for_cluster(override: CompiledOverride, cluster: MemberCluster) -> CompiledOverride:
    labels = cluster.scheduling_labels
    try:
        rules = tuple(rule for rule in override.rules if rule_matches(rule.rule, labels))
    except InvalidSelector as error:
        kind, name = override.snapshot.override.key.kind, override.snapshot.name
        raise OverrideFailed(
            WorksText.SNAPSHOT_CLUSTER_SELECTOR_CANNOT_USED(kind=kind, name=name, error=error)
        ) from None
    return CompiledOverride(override.snapshot, override.targets, rules)


def _identity(body: JsonObject) -> ObjectKey | None:
    return key_of(body) if isinstance(body.get("metadata"), dict) else None
