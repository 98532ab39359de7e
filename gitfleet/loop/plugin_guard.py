"""A third party's scheduler plug-in may hang: it is called on a thread of its own, with a time limit.

The scheduler is pure and cannot interrupt what it calls. A plug-in that does not return is refused from then on, with a
sentence on the placements whose profile names it; its thread is a daemon, so the process can end without it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from queue import SimpleQueue
from typing import Any, Final

from gitfleet.api.objects import JsonObject
from gitfleet.formats.canonical_json import canonical_json
from gitfleet.loop.texts import LoopText
from gitfleet.schedule import PluginFactory, SchedulerPlugin, stages_of, usable

TIMEOUT_SECONDS: Final = 5.0
"""Longest time for one call; a whole fleet takes one call for each cluster at most."""


class PluginStalled(RuntimeError):
    """The plug-in did not return in time, now or on an earlier call."""


def guarded(factory: PluginFactory, *, timeout: float = TIMEOUT_SECONDS) -> PluginFactory:
    """A factory whose plug-ins are called with a time limit (seconds); what they return and raise is passed on.

    The same args give the same plug-in again: a profile is made on every reconcile, and a plug-in that hung once must
    not block another thread. UnusablePlugin for one that cannot be used (`usable`).
    """
    made: dict[bytes, SchedulerPlugin] = {}

    def make(args: JsonObject) -> SchedulerPlugin:
        key = canonical_json(args)
        if key not in made:
            worker = _Worker(timeout)
            made[key] = _guard(worker.call("the factory", lambda: usable(factory(args))), worker)
        return made[key]

    return make


def _guard(plugin: SchedulerPlugin, worker: _Worker) -> SchedulerPlugin:
    """A plug-in with exactly the stages that this one has, each called on the worker."""

    def forward(stage: str) -> Callable[..., Any]:
        method = getattr(plugin, stage)
        return lambda _self, *args: worker.call(stage, lambda: method(*args))

    attributes: dict[str, Any] = {"name": plugin.name, "depends_on_bindings": plugin.depends_on_bindings}
    stages = {stage: forward(stage) for stage in stages_of(plugin)}
    guarded_class: type[SchedulerPlugin] = type("Guarded", (SchedulerPlugin,), attributes | stages)
    return guarded_class()


class _Worker:
    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._calls: SimpleQueue[tuple[Callable[[], Any], Future[Any]]] = SimpleQueue()
        self._stalled = ""
        threading.Thread(target=self._work, name="scheduler-plugin", daemon=True).start()

    def call(self, label: str, work: Callable[[], Any]) -> Any:
        if self._stalled:
            raise PluginStalled(LoopText.NOT_RETURN_WITHIN(what=self._stalled, timeout=self._timeout))
        future = Future[Any]()
        self._calls.put((work, future))
        wait([future], self._timeout)
        if not future.done():
            self._stalled = label
            raise PluginStalled(LoopText.NOT_RETURN_WITHIN(what=label, timeout=self._timeout))
        return future.result()

    def _work(self) -> None:
        while True:
            work, future = self._calls.get()
            try:
                future.set_result(work())
            except BaseException as error:  # noqa: BLE001 - handed to the caller, who raises it
                future.set_exception(error)
