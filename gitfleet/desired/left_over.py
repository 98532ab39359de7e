"""What a workload rollout writes meanwhile and that came into a manifest, as by an export half way."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from gitfleet.api.objects import Manifest
from gitfleet.api.workload_rollouts import WORKLOAD_KINDS
from gitfleet.desired.crosschecks import Refusals
from gitfleet.desired.readings import ReadObject
from gitfleet.desired.texts import DesiredText
from gitfleet.model.held_fields import NEVER_AVAILABLE

_FIELDS: Final = ("minReadySeconds", "progressDeadlineSeconds")


def left_over_warnings(items: Iterable[ReadObject]) -> Refusals:
    """The values of a Deployment by which its pods are never available: nobody writes them by hand."""
    found: Refusals = []
    for item in items:
        if not isinstance(item.value, Manifest) or item.value.key.group_kind not in WORKLOAD_KINDS:
            continue
        spec = item.value.body.get("spec") or {}
        for name in _FIELDS:
            if isinstance(value := spec.get(name), int) and value >= NEVER_AVAILABLE:
                sentence = DesiredText.WORKLOAD_ROLLOUT_WRITES_WHILE_MOVES()
                found.append((item, (("spec", name), DesiredText.REMOVE_WRITE_VALUE_YOUR_OWN(sentence=sentence))))
    return found
