"""The pods of a workload in the file of a saved cluster."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from gitfleet.api.objects import JsonObject
from gitfleet.api.scenarios import Delay
from gitfleet.simulation.pods.model import Pod, Revision, Workload


def saved(workload: Workload) -> JsonObject:
    """A workload as JSON; templates stand there in full, since the object has the newest one alone."""
    return {
        "since": workload.since.isoformat(),
        "current": workload.current,
        "made": workload.made,
        "revisions": [
            {
                "number": one.number,
                "template": one.template,
                "delay": one.delay.total_seconds() if isinstance(one.delay, timedelta) else None,
                "wanted": one.wanted,
                "most": one.most,
                "minReady": one.min_ready,
                "pods": [
                    [pod.serial, pod.place, pod.created.isoformat(), pod.ready.isoformat() if pod.ready else None]
                    for pod in one.pods
                ],
            }
            for one in workload.revisions
        ],
    }


def loaded(value: Mapping[str, Any]) -> Workload:
    """The workload again. ValueError, KeyError or TypeError for anything else."""
    return Workload(
        since=datetime.fromisoformat(value["since"]),
        current=int(value["current"]),
        made=int(value["made"]),
        revisions=tuple(map(_revision, value["revisions"])),
    )


def _revision(value: Mapping[str, Any]) -> Revision:
    delay: Delay = "never" if value["delay"] is None else timedelta(seconds=value["delay"])
    number, wanted, most, ready = (int(value[name]) for name in ("number", "wanted", "most", "minReady"))
    pods = tuple(_pod(number, *parts) for parts in value["pods"])
    return Revision(number, value["template"], delay, wanted, most, ready, pods)


def _pod(revision: int, serial: int, place: int, created: str, ready: str | None) -> Pod:
    at = datetime.fromisoformat(ready) if ready else None
    return Pod(serial, place, revision, datetime.fromisoformat(created), at)
