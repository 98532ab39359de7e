"""What a server refuses of an object's fields. Only what is named here is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gitfleet.api.objects import GroupKind, JsonObject, ObjectKey
from gitfleet.api.values import name_rule
from gitfleet.simulation.pods.model import KINDS, MOST_PODS, number, section, spec_of
from gitfleet.simulation.refusals import duplicate, invalid

_SERVICE: Final = GroupKind("", "Service")


def check_fields(key: ObjectKey, content: JsonObject) -> None:
    """Refused where a field may not be so."""
    rule = name_rule(key.group, key.kind)
    if rule is not None and not rule.allows(key.name):
        raise invalid(key, "metadata.name", f'"{key.name}": it is no name of this kind')
    if key.group_kind in KINDS and number(spec_of(content).get("replicas"), 0) > MOST_PODS:
        raise invalid(key, "spec.replicas", f"a simulated cluster has at most {MOST_PODS} pods of a workload")
    if (twice := duplicate_port(key.group_kind, content)) is not None:
        raise duplicate(key, *twice)


def duplicate_port(group_kind: GroupKind, content: JsonObject) -> tuple[str, str] | None:
    """The dotted path of a port's name that another port of the list has, and the name; None where there is none."""
    spec = spec_of(content)
    lists = [("spec.ports", spec.get("ports"))] if group_kind == _SERVICE else []
    containers = section(spec, "template", "spec").get("containers")
    for at, container in enumerate(containers if isinstance(containers, list) else ()):
        ports = container.get("ports") if isinstance(container, Mapping) else None
        lists.append((f"spec.template.spec.containers[{at}].ports", ports))
    for path, ports in lists:
        names = [port.get("name") for port in ports or () if isinstance(port, Mapping)]
        for at, name in enumerate(names):
            if name and name in names[:at]:
                return f"{path}[{at}].name", str(name)
    return None
