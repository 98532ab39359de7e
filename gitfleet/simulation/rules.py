"""How simulated clusters treat objects: the cluster rules of a scenario, first match wins (contracts.md §5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from gitfleet.api.objects import JsonObject, ObjectKey
from gitfleet.api.scenarios import ClusterRule, ObjectPattern
from gitfleet.simulation.refusals import Refused


def matches(pattern: ObjectPattern, key: ObjectKey, body: JsonObject) -> bool:
    """Whether a pattern means the object."""
    expected = (pattern.group, pattern.kind, pattern.namespace, pattern.name)
    if any(want is not None and want != has for want, has in zip(expected, key.identity, strict=True)):
        return False
    glob = pattern.image
    return glob is None or any(fnmatchcase(image, glob) for image in images_of(body))


def rule_for(rules: Sequence[ClusterRule], key: ObjectKey, body: JsonObject) -> ClusterRule | None:
    """The first of one cluster's rules that means the object."""
    for rule in rules:
        if matches(rule.object, key, body):
            return rule
    return None


def check_rules(rules: Sequence[ClusterRule], cluster: str, key: ObjectKey, body: JsonObject) -> None:
    """Refused where a rule of one cluster lets writes of the object fail."""
    rule = rule_for(rules, key, body)
    if rule is not None and rule.apply == "fail":
        raise Refused(422, "Invalid", f"the API server of {cluster} refuses it, as the scenario says")


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
