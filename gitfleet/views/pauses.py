"""The commit that pauses a workload rollout, or lets it go on: its file with `paused` set, else as it was written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gitfleet.api.kinds import list_named
from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_rollouts import ROLLOUTS, WorkloadRollout
from gitfleet.errors import BadInput
from gitfleet.formats.limits import MAX_FILE_BYTES
from gitfleet.formats.near_names import did_you_mean
from gitfleet.formats.yaml_reader import parse_documents
from gitfleet.views.texts import ViewsText

_FIELD: Final = ("spec", "rolloutPlan", "paused")


def rollout_to_pause(kind: str, name: str, rollouts: Mapping[NamespacedName, WorkloadRollout]) -> WorkloadRollout:
    """The rollout that a KIND and a NAME (or NAMESPACE/NAME) stand for; BadInput for another kind, for a name that is
    not there, and for one of two namespaces."""
    if list_named(kind) != ROLLOUTS:
        raise BadInput(ViewsText.ONLY_WORKLOAD_ROLLOUTS_PAUSED(kind=kind), hint="give `rollout NAME`")
    matches = [rollout for key, rollout in sorted(rollouts.items()) if name in (key.name, str(key))]
    if not matches:
        names_there = [text for key in rollouts for text in (str(key), key.name)]
        hint = did_you_mean(name, names_there, ViewsText.GITFLEET_GET_ROLLOUTS_LISTS())
        raise BadInput(ViewsText.NO_WORKLOAD_ROLLOUT(name=name), hint=hint)
    if len(matches) > 1:
        names = ", ".join(str(rollout.key) for rollout in matches)
        raise BadInput(ViewsText.WORKLOAD_ROLLOUTS(count=len(matches), name=name), hint=ViewsText.NAME_ONE(names=names))
    return matches[0]


def with_pause(content: bytes, rollout: WorkloadRollout, paused: bool) -> bytes:
    """The file of a rollout with `paused` set; the same bytes where it says so already. BadInput where the rollout is
    not in it, or the file cannot be changed in this one field."""
    from gitfleet.formats.yaml_edits import with_flag  # its import takes a tenth of a second: no other command's

    for document in parse_documents(content, max_bytes=MAX_FILE_BYTES).documents:
        if _is(document.value, rollout):
            unchanged = _paused_of(document.value) is paused
            return content if unchanged else with_flag(content, document.index, _FIELD, paused)
    raise BadInput(ViewsText.WORKLOAD_ROLLOUT_NOT_FILE_ANY(rollout=rollout.key), hint="try again")


def _is(body: Any, rollout: WorkloadRollout) -> bool:
    if not isinstance(body, dict) or body.get("kind") != rollout.kind:
        return False
    metadata = body.get("metadata")
    named = metadata if isinstance(metadata, dict) else {}
    return (named.get("namespace"), named.get("name")) == (rollout.key.namespace, rollout.key.name)


def _paused_of(body: Any) -> bool:
    plan = body["spec"]["rolloutPlan"]
    return bool(plan.get("paused", False))
