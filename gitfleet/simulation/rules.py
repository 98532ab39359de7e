"""How simulated clusters treat objects: the cluster rules of a scenario, first match wins (contracts.md §5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from gitfleet.api.objects import JsonObject, ObjectKey
from gitfleet.api.scenarios import DEFAULT_DELAY as DEFAULT_DELAY
from gitfleet.api.scenarios import Delay as Delay


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectPattern:
    """Which objects a rule means: every given part must hold; `image` is a glob that any container may match."""

    group: str | None = None
    kind: str | None = None
    namespace: str | None = None
    name: str | None = None
    image: str | None = None

    def matches(self, key: ObjectKey, body: JsonObject) -> bool:
        """Whether the object is meant."""
        wanted = (self.group, self.kind, self.namespace, self.name)
        if any(want is not None and want != has for want, has in zip(wanted, key.identity, strict=True)):
            return False
        glob = self.image
        return glob is None or any(fnmatchcase(image, glob) for image in images_of(body))


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterRule:
    """Objects on clusters: how long they take to be available, and whether the API server refuses them.

    `names` and `match_labels` None mean every cluster; where both are given, both must hold.
    """

    names: tuple[str, ...] | None = None
    match_labels: Mapping[str, str] | None = None
    object: ObjectPattern = ObjectPattern()
    available: Delay = DEFAULT_DELAY
    apply_fails: bool = False
    delete_fails: bool = False

    def matches_cluster(self, name: str, labels: Mapping[str, str]) -> bool:
        """Whether the rule applies to the cluster."""
        if self.names is not None and name not in self.names:
            return False
        return self.match_labels is None or all(labels.get(key) == value for key, value in self.match_labels.items())


def rule_for(rules: Sequence[ClusterRule], key: ObjectKey, body: JsonObject) -> ClusterRule | None:
    """The first of one cluster's rules that means the object."""
    for rule in rules:
        if rule.object.matches(key, body):
            return rule
    return None


def images_of(body: JsonObject) -> Iterator[str]:
    """The images of all containers of a Pod or of a workload's pod template."""
    spec = _mapping(body.get("spec"))
    job = _mapping(_mapping(spec.get("jobTemplate")).get("spec"))  # a CronJob's pods stand one level deeper
    for holder in (spec, job):
        pod = _mapping(_mapping(holder.get("template")).get("spec")) or holder
        for part in ("initContainers", "containers"):
            containers = pod.get(part)
            for container in containers if isinstance(containers, list) else ():
                image = _mapping(container).get("image")
                if isinstance(image, str):
                    yield image


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
