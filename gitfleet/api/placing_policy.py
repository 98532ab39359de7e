"""What may be placed where (decision D37), and which namespaces an object may act on (decision D39): `spec.policy` of
FleetConfig, and what is reserved whatever it says."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Annotated, Final

from gitfleet.api.annotations import At, Break, OneOf
from gitfleet.api.objects import GroupKind, ObjectKey
from gitfleet.api.texts import ApiText
from gitfleet.api.values import NamespaceName, NonEmpty, is_reserved_namespace, matching
from gitfleet.formats.kinds import is_envelope_kind

NamePattern = Annotated[str, matching("[-a-z0-9./*]+", ApiText.MUST_NAME_ANY_TEXT())]
"""A name, in which `*` stands for any text."""
_NAMESPACE: Final = GroupKind("", "Namespace")
_OF_EVERY_SERVER: Final = frozenset(
    {
        (GroupKind("", "ConfigMap"), "kube-root-ca.crt"),
        (GroupKind("", "Endpoints"), "kubernetes"),
        (GroupKind("", "Service"), "kubernetes"),
        (GroupKind("", "ServiceAccount"), "default"),
        (GroupKind("discovery.k8s.io", "EndpointSlice"), "kubernetes"),
    }
)
"""What an API server and its controllers make in namespace `default` by themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KindPattern:
    """A kind of objects; `*` means any.

    group: its API group, "" for the core group
    kind: its name
    """

    group: str = ""
    kind: NonEmpty

    def matches(self, kind: GroupKind) -> bool:
        """Whether a kind is meant."""
        return self.group in ("*", kind.group) and self.kind in ("*", kind.kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacingRule:
    """Objects that satisfy all that is given.

    kinds: their kinds
    namespaces: their namespaces (a Namespace by its own name), `*` for any text
    placements: the placements that select them: NAME, or NAMESPACE/NAME of a ResourcePlacement
    scope: Cluster or Namespaced
    """

    kinds: tuple[KindPattern, ...] = ()
    namespaces: tuple[NamePattern, ...] = ()
    placements: tuple[NamePattern, ...] = ()
    scope: Annotated[str, OneOf("Cluster", "Namespaced")] | None = None

    def matches(self, key: ObjectKey) -> bool:
        """Whether an object is meant, whatever placement selects it."""
        home = key.name if key.group_kind == _NAMESPACE else key.namespace
        return (
            (not self.kinds or any(pattern.matches(key.group_kind) for pattern in self.kinds))
            and (not self.namespaces or _any_name(self.namespaces, home))
            and (self.scope is None or (self.scope == "Cluster") is not bool(key.namespace))
        )

    def concerns(self, placement: str) -> bool:
        """Whether a placement is meant."""
        return not self.placements or _any_name(self.placements, placement)

    def opens(self, namespace: str) -> bool:
        """Whether a reserved namespace is named, by more than a `*`."""
        return _any_name((p for p in self.namespaces if is_reserved_namespace(p.partition("*")[0])), namespace)


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossNamespaceRule:
    """Workloads of other namespaces that the workload rollouts of one namespace may move.

    from: the namespace of the rollouts
    to: the namespaces of the workloads
    """

    home: Annotated[NamespaceName, At("from")]
    to: tuple[NamespaceName, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacingPolicy:
    """What may be placed where: everything, but what a rule of deny matches and none of allow.

    allow: what may be placed all the same; a reserved namespace (kube-*, fleet-*) has to be named here
    deny: what may not be placed
    crossNamespace: the namespaces on which workload rollouts may act beside their own
    """

    allow: tuple[PlacingRule, ...] = ()
    deny: tuple[PlacingRule, ...] = ()
    cross_namespace: tuple[CrossNamespaceRule, ...] = ()

    def reaches(self, home: str, namespace: str) -> bool:
        """Whether a workload rollout in namespace `home` may act on a namespace."""
        return home == namespace or any(rule.home == home and namespace in rule.to for rule in self.cross_namespace)

    def denial(self, key: ObjectKey, placement: str | None = None) -> Break | None:
        """Why a placement, or (None) any at all, may not have an object, with the field that is judged; None when it
        may. Envelopes are never placed themselves: what lies in them is judged."""
        if key.namespace == "default" and (key.group_kind, key.name) in _OF_EVERY_SERVER:
            return ("metadata", "name"), ApiText.OBJECT_EACH_API_SERVER_MAKES()
        allowed = [r for r in self.allow if r.matches(key) and (placement is None or r.concerns(placement))]
        reserved = key.namespace != "default" and is_reserved_namespace(key.namespace)
        if reserved and not any(rule.opens(key.namespace) for rule in allowed):
            return ("metadata", "namespace"), _RESERVED
        home = (placement or "").rpartition("/")[0]
        if home and key.namespace != home and not any(rule.placements for rule in allowed):
            field = ("metadata", "namespace") if key.namespace else ("kind",)
            return field, ApiText.NOT_IN_NAMESPACE_PLACEMENT(placement=placement, home=home)
        if allowed or is_envelope_kind(key.group, key.kind):
            return None
        for index, rule in enumerate(self.deny):
            if rule.matches(key) and (not rule.placements if placement is None else rule.concerns(placement)):
                sentence = ApiText.DENIED_SPEC_POLICY_DENY_FLEETCONFIG(index=index)
                if not rule.namespaces:
                    return ("kind",), sentence
                return ("metadata", "namespace" if key.namespace else "name"), sentence
        return None


USUAL_POLICY: Final = PlacingPolicy()
"""What may be placed where no FleetConfig says more."""
_RESERVED: Final = ApiText.RESERVED_PLACE_ELSEWHERE()


def _any_name(patterns: Iterable[str], name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
