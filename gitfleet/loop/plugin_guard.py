"""Somebody else's scheduler plug-in may hang: it is called on a thread of its own, and is waited for only so long.

The scheduler is pure and cannot interrupt what it calls. A plug-in that does not return is refused from then on, with a
sentence on the placements whose profile names it; its thread is a daemon, so it never holds the process's end up.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any, Final

from gitfleet.formats.canonical_json import canonical_json
from gitfleet.model.objects import JsonObject
from gitfleet.schedule import Plugin, PluginFactory

PATIENCE_SECONDS: Final = 5.0
"""Longest time for one call; a whole fleet takes one call for each cluster at most."""


class PluginStalled(RuntimeError):
    """The plug-in did not return in time, now or on an earlier call."""


def guarded(factory: PluginFactory, *, patience: float = PATIENCE_SECONDS) -> PluginFactory:
    """A factory whose plug-ins are called with a time limit (seconds); what they return and raise is passed on.

    The same args give the same plug-in again: a profile is put together on every reconcile, and a plug-in that hung
    once
    must not get another thread to hang on.
    """
    made: dict[bytes, Plugin] = {}

    def make(args: JsonObject) -> Plugin:
        key = canonical_json(args)
        if key not in made:
            worker = _Worker(patience)
            plugin: Plugin = worker.call("the factory", lambda: factory(args))
            made[key] = _Guarded(plugin, worker)
        return made[key]

    return make


class _Guarded:
    """Has exactly the stages that the plug-in has."""

    def __init__(self, plugin: Plugin, worker: _Worker) -> None:
        self.name: str = worker.call("name", lambda: plugin.name)
        self._plugin = plugin
        self._worker = worker

    def __getattr__(self, attribute: str) -> Any:
        found = getattr(self._plugin, attribute)
        if not callable(found):
            return found

        def call(*args: Any, **named: Any) -> Any:
            return self._worker.call(attribute, lambda: found(*args, **named))

        # Kept, so that the next look finds it without coming here: a stage is called once for each cluster.
        self.__dict__[attribute] = call
        return call


class _Worker:
    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._questions: SimpleQueue[tuple[Callable[[], Any], SimpleQueue[tuple[bool, Any]]]] = SimpleQueue()
        self._stalled = ""
        threading.Thread(target=self._work, name="scheduler-plugin", daemon=True).start()

    def call(self, what: str, question: Callable[[], Any]) -> Any:
        if self._stalled:
            raise PluginStalled(f"{self._stalled} did not return within {self._patience:g} s earlier")
        answer: SimpleQueue[tuple[bool, Any]] = SimpleQueue()
        self._questions.put((question, answer))
        try:
            well, value = answer.get(timeout=self._patience)
        except Empty as error:
            self._stalled = what
            raise PluginStalled(f"{what} did not return within {self._patience:g} s") from error
        if not well:
            raise value
        return value

    def _work(self) -> None:
        while True:
            question, answer = self._questions.get()
            try:
                answer.put((True, question()))
            except BaseException as error:  # handed to the caller, who raises it
                answer.put((False, error))
