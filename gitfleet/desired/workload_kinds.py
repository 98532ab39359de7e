"""Which kinds of workloads a rollout can move, as far as a commit tells: handlers of third parties are installed in the
process that runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gitfleet.api import Break
from gitfleet.api.workload_rollouts import WORKLOAD_KINDS, RolloutTrait
from gitfleet.desired.known_kinds import is_kubernetes_group
from gitfleet.desired.texts import DesiredText
from gitfleet.formats.kinds import BUILT_IN_KINDS

_FIELD: Final = ("spec", "targetRef")
_KINDS: Final = ", ".join(sorted(kind.kind for kind in WORKLOAD_KINDS))


def unmovable(rollout: RolloutTrait) -> Iterator[Break]:
    """A target of one of Kubernetes' own kinds that is no workload, or under a group that it has no more. Sources are
    of the target's kind."""
    group, kind = rollout.target.group_kind
    if (group, kind) not in BUILT_IN_KINDS or rollout.target.group_kind in WORKLOAD_KINDS:
        return
    if any(is_kubernetes_group(one.group) and one.kind == kind for one in WORKLOAD_KINDS):
        yield (*_FIELD, "apiVersion"), DesiredText.NO_CLUSTERS_STILL_SERVE(kind=kind)
    else:
        yield (*_FIELD, "kind"), DesiredText.NO_KIND_ROLLOUT_MOVE(kinds=_KINDS)


def unhandled(rollout: RolloutTrait) -> Iterator[Break]:
    """A target of another kind, of which this process may have a handler or not."""
    kind = rollout.target.group_kind
    if kind not in WORKLOAD_KINDS and (kind.group, kind.kind) not in BUILT_IN_KINDS:
        sentence = DesiredText.NO_KIND_ROLLOUT_MOVE_ITSELF(kinds=_KINDS)
        yield (*_FIELD, "kind"), DesiredText.WHERE_GITFLEET_RUNS(sentence=sentence, kind=kind)
