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
        if not self.on_delete and len(work.groups) > 1:
            if self.surge:
                self._surge()
            else:
                self._replace()

    @property
    def is_held(self) -> bool:
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
        found: dict[int, list[Pod]] = {}
        for pod in sorted(self.work.pods):
            found.setdefault(pod.place, []).append(pod)
        return found

    def _replace(self) -> None:
        """Old pods go where they are not available, and of the others so many that `maxUnavailable` are missing at
        once."""
        work = self.work
        old = [pod for pod in work.pods if pod.revision != self.update.number]
        missing = work.size - work.available(work.pods, self.min_ready)
        gone = list[Pod]()
        for pod in sorted(old, key=lambda pod: (work.is_available(pod, self.min_ready), pod.place)):
            was_missing = not work.is_available(pod, self.min_ready)
            if not was_missing and missing >= self.unavailable:
                break
            gone.append(pod)
            is_missing = not work.is_available(work.make(self.update, pod.place), self.min_ready)
            missing += is_missing - was_missing
        work.drop(gone)

    def _surge(self) -> None:
        """New pods are made beside old ones, which go once the new ones are available."""
        work, nodes, gone = self.work, self._by_node(), list[Pod]()
        extra = sum(len(pods) > 1 and not work.is_available(pods[-1], self.min_ready) for pods in nodes.values())
        for node, pods in sorted(nodes.items()):
            old = [pod for pod in pods if pod.revision != self.update.number]
            new = next((pod for pod in pods if pod.revision == self.update.number), None)
            if not old:
                continue
            if new is None:
                if work.is_available(old[0], self.min_ready) and extra >= self.surge:
                    continue
                new = work.make(self.update, node)
                extra += not work.is_available(new, self.min_ready)
            if work.is_available(new, self.min_ready):
                gone += old
        work.drop(gone)
