"""Override snapshots made ready for many objects and clusters; compiled once, whatever the number of clusters."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import jsonpointer

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.objects import JsonObject, ObjectKey, key_of
from gitfleet.api.overrides import JsonPatch, OverrideKey, OverrideRule
from gitfleet.api.placing_policy import USUAL_POLICY, PlacingPolicy
from gitfleet.api.snapshots import OverrideSnapshot
from gitfleet.formats.canonical_json import NotJson, canonical_json, parse_json
from gitfleet.works.matching import Target, application_order, rule_matches, targets_at, targets_of
from gitfleet.works.texts import WorksText
from gitfleet.works.variables import VariableError, replaced

_VARIABLE: Final = b"${MEMBER-CLUSTER-"


class PatchError(ValueError):
    """A patch does not apply; the sentence names its path and repeats neither its value nor the object's."""


class CompiledPatch:
    """A patch operation, read once: its path split, its value as text where a variable stands in it."""

    __slots__ = ("_operation", "_template", "_value", "path", "tokens")

    def __init__(self, patch: JsonPatch) -> None:
        self.path = patch.path
        self.tokens: tuple[str, ...] = tuple(jsonpointer.JsonPointer(patch.path).parts)
        self._operation = patch.op
        self._value: Any = patch.operand
        text = canonical_json(patch.operand) if patch.op != "remove" else b""
        self._template = text.decode() if _VARIABLE in text else None

    def apply(self, body: JsonObject, cluster: MemberCluster) -> JsonObject:
        """The object after the operation: new along the path, shared everywhere else. PatchError when it does not
        apply: nothing is at the path of a replace or remove, or the parent is not there."""
        value = self._value if self._template is None else self._filled_in(self._template, cluster)
        root = dict(body)
        container: Any = root
        for depth, token in enumerate(self.tokens[:-1]):
            slot = self._slot(container, token, depth)
            inner = container[slot]
            if not isinstance(inner, dict | list):
                raise self._missing(depth + 1)
            container[slot] = inner.copy()
            container = container[slot]
        last = self.tokens[-1]
        if self._operation == "add":
            self._add(container, last, value)
        elif self._operation == "remove":
            del container[self._slot(container, last, len(self.tokens) - 1)]
        else:
            container[self._slot(container, last, len(self.tokens) - 1)] = value
        return root

    def _add(self, container: Any, last: str, value: Any) -> None:
        if isinstance(container, dict):
            container[last] = value
            return
        index = len(container) if last == "-" else _index(last, len(container) + 1)
        if index is None:
            raise PatchError(WorksText.ADD_NOT_APPLY(name=self.path))
        container.insert(index, value)

    def _filled_in(self, template: str, cluster: MemberCluster) -> Any:
        """The value with its variables replaced in its JSON text."""
        try:
            return parse_json(replaced(template, cluster, self.path))
        except VariableError as error:
            raise PatchError(str(error)) from None
        except NotJson:
            raise PatchError(WorksText.VALUE_NO_JSON_ONCE_VARIABLES(name=self.path)) from None

    def _slot(self, container: Any, token: str, depth: int) -> Any:
        """The key or index of a token in its container; PatchError when nothing is there."""
        if isinstance(container, dict) and token in container:
            return token
        index = _index(token, len(container)) if isinstance(container, list) else None
        if index is None:
            raise self._missing(depth + 1)
        return index

    def _missing(self, depth: int) -> PatchError:
        place = "".join(f"/{jsonpointer.escape(token)}" for token in self.tokens[:depth])
        if place == self.path:
            return PatchError(WorksText.NOTHING_IS_THERE(operation=self._operation, name=self.path))
        return PatchError(WorksText.NOT_CANNOT_HOLD(operation=self._operation, name=self.path, place=place))


def _index(token: str, length: int) -> int | None:
    """The index below `length` that a token is, by RFC 6901."""
    # The length first: Python reads no number of thousands of digits.
    if len(token) > len(str(length)) or not (token.isascii() and token.isdigit()):
        return None
    return int(token) if str(int(token)) == token and int(token) < length else None


@dataclass(frozen=True, slots=True, order=True)
class FailedPatch:
    """A patch that does not apply to an object, by its 1-based rule and its index in the rule."""

    override: OverrideKey
    rule: int
    patch: int
    object: ObjectKey
    problem: str


class OverrideFailed(ValueError):
    """An override cannot be applied; KubeFleet's sentence, without any value. `patch` is the patch that fails, if it is
    one."""

    def __init__(self, sentence: str, patch: FailedPatch | None = None) -> None:
        super().__init__(sentence)
        self.patch = patch


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
            for index, patch in enumerate(rule.patches):
                try:
                    body = patch.apply(body, cluster)
                except PatchError as error:
                    failed = FailedPatch(self.snapshot.override.key, rule.number, index, key, str(error))
                    raise OverrideFailed(f"{self._on(key)}: rule {rule.number}: {error}", failed) from None
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
        concerned = {
            place: override for target in targets_at(key) for place, override in self._by_target.get(target, ())
        }
        for place in sorted(concerned):
            changed = concerned[place].apply(key, body, self._cluster)
            if changed is None:
                return concerned[place].snapshot.override.key
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
    rules = tuple(rule for rule in override.rules if rule_matches(rule.rule, labels))
    return CompiledOverride(override.snapshot, override.targets, rules)


def _identity(body: JsonObject) -> ObjectKey | None:
    return key_of(body) if isinstance(body.get("metadata"), dict) else None
