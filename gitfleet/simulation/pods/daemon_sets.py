"""The DaemonSet controller: one pod a node, replaced within `maxUnavailable` or `maxSurge`, or when it is deleted.

Mirrors kubernetes v1.36 pkg/controller/daemon/update.go. Nodes are taken in order; a real controller takes them as a
map has them.
"""

from __future__ import annotations

from gitfleet.simulation.pods.model import Pod, Spec, Status, section, share
from gitfleet.simulation.pods.stateful_sets import ON_DELETE
from gitfleet.simulation.pods.work import Controller, Work


class DaemonSetController(Controller):
    """At work on one DaemonSet."""

    def __init__(self, work: Work, spec: Spec) -> None:
        super().__init__(work, spec)
        self.update = work.latest(spec.get("template"))
        self.nodes = work.moment.nodes
        self.on_delete = section(spec, "updateStrategy").get("type") == ON_DELETE
        rolling = section(spec, "updateStrategy", "rollingUpdate")
        self.surge = share(rolling.get("maxSurge"), 0, self.nodes, up=True)
        unavailable = share(rolling.get("maxUnavailable"), 1, self.nodes, up=True)
        self.unavailable = unavailable if self.surge or unavailable else 1

    def roll(self) -> None:
        """See Controller."""
        work = self.work
        work.drop([pod for pod in work.pods if pod.place >= self.nodes])
        present = {pod.place for pod in work.pods}
        for node in range(self.nodes):
            if node not in present:
                work.make(self.update, node)
        if len(work.groups) > 1:
            self._prune()
        if not self.on_delete and len(work.groups) > 1:
            if self.surge:
                self._surge()
            else:
                self._replace()

    @property
    def may_halt(self) -> bool:
        """See Controller."""
        return self.on_delete or self.min_ready > 0

    @property
    def is_complete(self) -> bool:
        """Every node has one pod, of the newest template and available."""
        return self.work.available(self.update.pods, self.min_ready) == self.work.size == self.nodes

    def status(self) -> Status:
        """The counts of apps/v1: of each node the oldest pod."""
        oldest = [pods[0] for pods in self._by_node().values()]
        available = self.work.available(oldest, self.min_ready)
        shown: Status = {
            "desiredNumberScheduled": self.nodes,
            "currentNumberScheduled": len(oldest),
            "numberMisscheduled": 0,
            "numberReady": self.work.available(oldest),
        }
        counts = {
            "updatedNumberScheduled": sum(pod.revision == self.update.number for pod in oldest),
            "numberAvailable": available,
            "numberUnavailable": self.nodes - available,
        }
        return shown | {name: count for name, count in counts.items() if count}

    def _by_node(self) -> dict[int, list[Pod]]:
        by_node: dict[int, list[Pod]] = {}
        for pod in sorted(self.work.pods):
            by_node.setdefault(pod.place, []).append(pod)
        return by_node

    def _replace(self) -> None:
        """Old pods go where they are not available, and of the others so many that `maxUnavailable` are missing at
        once."""
        work = self.work
        old = [pod for pod in work.pods if pod.revision != self.update.number]
        missing = work.size - work.available(work.pods, self.min_ready)
        deleted = list[Pod]()
        for pod in sorted(old, key=lambda pod: (self._is_fine(pod), pod.place)):
            was_missing = not self._is_fine(pod)
            if not was_missing and missing >= self.unavailable:
                break
            deleted.append(pod)
            missing += (not self._is_fine(work.make(self.update, pod.place))) - was_missing
        work.drop(deleted)

    def _prune(self) -> None:
        """`podsShouldBeOnNode`: of several pods on a node the oldest stays, and with a surge one of the newest template
        beside it for as long as it is not available and the other one is ready."""
        deleted = list[Pod]()
        for pods in self._by_node().values():
            old = [pod for pod in pods if pod.revision != self.update.number]
            new = [pod for pod in pods if pod.revision == self.update.number]
            if not self.surge:
                deleted += pods[1:]
                continue
            deleted += old[1:] + new[1:]
            waits = old and new and self.work.is_available(old[0]) and not self._is_fine(new[0])
            if old and new and not waits:
                deleted.append(old[0])
        self.work.drop(deleted)

    def _surge(self) -> None:
        """New pods are made beside old ones, which go once the new ones are available."""
        work, nodes, deleted = self.work, self._by_node(), list[Pod]()
        extra = sum(len(pods) > 1 for pods in nodes.values())
        for node, pods in sorted(nodes.items()):
            if len(pods) > 1 or pods[0].revision == self.update.number:
                continue
            if self._is_fine(pods[0]) and extra >= self.surge:
                continue
            if self._is_fine(work.make(self.update, node)):
                deleted += pods
            else:
                extra += 1
        work.drop(deleted)

    def _is_fine(self, pod: Pod) -> bool:
        return self.work.is_available(pod, self.min_ready)
