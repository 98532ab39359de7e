"""What a server refuses of the fields by which workloads roll out: combinations that no controller could follow.

Source: kubernetes v1.36 pkg/apis/apps/validation/validation.go. Only what is named here is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gitfleet.api.objects import GroupKind, JsonObject, ObjectKey
from gitfleet.api.values import name_rule
from gitfleet.simulation.pods.model import (
    DAEMON_SET,
    DEPLOYMENT,
    KINDS,
    MOST_PODS,
    STATEFUL_SET,
    Spec,
    section,
    spec_of,
)
from gitfleet.simulation.refusals import duplicate, invalid

_SERVICE: Final = GroupKind("", "Service")
_PART: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_ENDS: Final = "and must start and end with an alphanumeric character"
_SUBDOMAIN: Final = (
    f"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', {_ENDS} (e.g. "
    rf"'example.com', regex used for validation is '{_PART}(\.{_PART})*')"
)
_DNS_LABEL: Final = (
    f"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', {_ENDS} (e.g. 'my-name',  "
    f"or '123-abc', regex used for validation is '{_PART}')"
)
_NEVER_LESS: Final = ("replicas", "minReadySeconds", "progressDeadlineSeconds", "revisionHistoryLimit")


def invalid_field(group_kind: GroupKind, content: JsonObject) -> tuple[str, str] | None:
    """The dotted path of a field that may not be so, and why; None when all is well."""
    spec = spec_of(content)
    if group_kind in KINDS and _whole(spec.get("replicas")) > MOST_PODS:
        return "spec.replicas", f"a simulated cluster has at most {MOST_PODS} pods of a workload"
    if group_kind not in (DEPLOYMENT, STATEFUL_SET, DAEMON_SET):
        return None
    for name in _NEVER_LESS:
        if _whole(spec.get(name)) < 0:
            return f"spec.{name}", "must be greater than or equal to 0"
    if group_kind == DEPLOYMENT:
        return _deployment(spec)
    return _daemon_set(spec) if group_kind == DAEMON_SET else _stateful_set(spec)


def _check_name(key: ObjectKey) -> None:
    rule = name_rule(key.group, key.kind)
    if rule is None or rule.allows(key.name):
        return
    if len(key.name) > rule.longest:
        raise invalid(key, "metadata.name", f'"{key.name}": must be no more than {rule.longest} characters')
    raise invalid(key, "metadata.name", f'"{key.name}": {_SUBDOMAIN if rule.dots else _DNS_LABEL}')


def check_fields(key: ObjectKey, content: JsonObject) -> None:
    """Refused where a field may not be so."""
    _check_name(key)
    if (wrong := invalid_field(key.group_kind, content)) is not None:
        raise invalid(key, *wrong)
    if (twice := duplicate_port(key.group_kind, content)) is not None:
        raise duplicate(key, *twice)


def duplicate_port(group_kind: GroupKind, content: JsonObject) -> tuple[str, str] | None:
    """The dotted path of a port's name that another port of the list has, and the name; None where there is none."""
    spec = spec_of(content)
    lists = [("spec.ports", spec.get("ports"))] if group_kind == _SERVICE else []
    containers = section(spec, "template", "spec").get("containers")
    for number, container in enumerate(containers if isinstance(containers, list) else ()):
        ports = container.get("ports") if isinstance(container, Mapping) else None
        lists.append((f"spec.template.spec.containers[{number}].ports", ports))
    for path, ports in lists:
        names = [port.get("name") for port in ports or () if isinstance(port, Mapping)]
        for number, name in enumerate(names):
            if name and name in names[:number]:
                return f"{path}[{number}].name", str(name)
    return None


def _deployment(spec: Spec) -> tuple[str, str] | None:
    strategy = section(spec, "strategy")
    at, rolling = "spec.strategy.rollingUpdate", section(strategy, "rollingUpdate")
    if strategy.get("type") == "Recreate" and rolling:
        return at, "may not be specified when strategy `type` is 'Recreate'"
    if strategy.get("type") == "RollingUpdate" and not _amount(rolling, "maxSurge") | _amount(
        rolling, "maxUnavailable"
    ):
        return f"{at}.maxUnavailable", "may not be 0 when `maxSurge` is 0"
    deadline = spec.get("progressDeadlineSeconds")
    if deadline is not None and _whole(deadline) <= _whole(spec.get("minReadySeconds")):
        return "spec.progressDeadlineSeconds", "must be greater than minReadySeconds"
    return None


def _daemon_set(spec: Spec) -> tuple[str, str] | None:
    strategy = section(spec, "updateStrategy")
    at, rolling = "spec.updateStrategy.rollingUpdate", section(strategy, "rollingUpdate")
    if strategy.get("type") != "RollingUpdate":
        return None
    surges, misses = _amount(rolling, "maxSurge"), _amount(rolling, "maxUnavailable")
    if surges and misses:
        return f"{at}.maxSurge", "may not be set when maxUnavailable is non-zero"
    return None if surges or misses else (f"{at}.maxUnavailable", "cannot be 0 when maxSurge is 0")


def _stateful_set(spec: Spec) -> tuple[str, str] | None:
    partition = section(spec, "updateStrategy", "rollingUpdate").get("partition")
    at = "spec.updateStrategy.rollingUpdate.partition"
    return (at, "must be greater than or equal to 0") if _whole(partition) < 0 else None


def _amount(rolling: Spec, name: str) -> int:
    value = rolling.get(name)
    if isinstance(value, str):
        digits = value.removesuffix("%")
        return int(digits) if digits.isdecimal() and len(digits) < 10 else 0
    return _whole(value)


def _whole(value: Any) -> int:
    return value if isinstance(value, int) else 0
