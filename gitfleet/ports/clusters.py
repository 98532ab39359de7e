"""What gitfleet needs from member clusters: observing, and carrying out operations. One client is one cluster."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol, runtime_checkable

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.objects import Manifest, ObjectKey
from gitfleet.model.observations import ClusterObservation, DryRun, LiveObject
from gitfleet.model.operations import Create, Delete, Outcome, RolloutOutcome, RolloutWrite, Update


class ClusterReader(Protocol):
    """Observes one member cluster. Used by one thread at a time."""

    def observe(self, keys: Collection[ObjectKey], *, probe: bool = True) -> ClusterObservation:
        """Health, namespaces and properties (with `probe`), and the live objects of the keys; NotFound maps to None.

        A custom kind whose CRD is not installed counts as NotFound. Never raises for what a cluster does: an
        unreachable
        one gives `reachable=False` with its reason, a key that could not be read is in `unreadable`.
        """

    def dry_run(self, questions: Sequence[tuple[Manifest, LiveObject]]) -> Sequence[DryRun]:
        """What the server would make of each manifest alone over the live object; nothing is written.

        One answer for each, in the same order. Never raises for what a cluster does.
        """

    def pods(self, workloads: Sequence[LiveObject]) -> Mapping[ObjectKey, tuple[LiveObject, ...]]:
        """The pods of each workload, by its key: those that its selector takes and of which it is the controller, with
        what a rollout needs of them; of a Deployment likewise its ReplicaSets, which control its pods and count them. A
        workload of which they could not be read is left out.

        Never raises for what a cluster does.
        """


@runtime_checkable
class HealthReader(Protocol):
    """A ClusterReader that can look after a cluster of which all else is known."""

    def check(self, previous: ClusterObservation) -> ClusterObservation:
        """The observation with the health of now, and the properties of now where they may have changed: at most one
        request where nothing happened. Never raises, as `observe`."""


class ClusterWriter(Protocol):
    """Changes one member cluster. Used by one thread at a time."""

    def perform(self, operations: Sequence[Create | Update | Delete]) -> Sequence[Outcome]:
        """Carry out operations of one cluster, one outcome for each, in the same order.

        Waves are done in ascending order (deletes after applies, in their own descending order), the operations of a
        wave
        in parallel; a failure does not stop later ones, except those whose `needs` are not there (NeedsNamespace,
        NeedsCRD).
        Each is idempotent. Never raises for what a cluster does.
        """

    def perform_steps(self, steps: Sequence[RolloutWrite]) -> Sequence[RolloutOutcome]:
        """Carry out steps of workload rollouts on one cluster, one outcome for each, in the same order.

        Rollouts are done side by side, the steps of one in their order: after one that failed the others are NotAsked.
        A patch is for one version of one object: where that is no more, it is a Conflict, and is decided again. A pod
        that is not there any more counts as deleted. Never raises for what a cluster does.
        """


class ClusterClient(ClusterReader, ClusterWriter, Protocol):
    """Both rights on one cluster."""

    def close(self) -> None:
        """Let connections go."""


class ClusterDirectory(Protocol):
    """Finds the client of a cluster by its MemberCluster file."""

    def reader(self, cluster: MemberCluster) -> ClusterReader:
        """For observing; MissingPart when the connection names something that the process was not given."""

    def client(self, cluster: MemberCluster) -> ClusterClient:
        """For changing; MissingPart as above."""
