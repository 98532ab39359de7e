"""Composition root of plug-ins: what the installed packages bring, by their entry points."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from gitfleet import schedule
from gitfleet.adapters.kube import CoreProvider
from gitfleet.loop.plugin_guard import guarded
from gitfleet.ports.properties import PropertyProviderFactory
from gitfleet.wiring.texts import WiringText

if TYPE_CHECKING:
    from gitfleet.workload.handlers import Handlers

log = logging.getLogger(__name__)


def scheduler_plugins() -> Mapping[str, schedule.PluginFactory]:
    """The scheduler plug-ins that are installed, by entry-point name; one that cannot be loaded is left out and
    logged. Those of third parties have a time limit."""
    factories: dict[str, schedule.PluginFactory] = loaded_from("gitfleet.scheduler_plugins")
    built_in = schedule.BUILT_IN
    return {name: make if make is built_in.get(name) else guarded(make) for name, make in factories.items()}


def workload_handlers() -> Handlers:
    """The workload handlers that are installed, by kind; one that cannot be used is left out and logged."""
    from gitfleet.fleet.workload_handlers import usable_handlers

    return usable_handlers(loaded_from("gitfleet.workload_handlers"))


def property_providers() -> Mapping[str, PropertyProviderFactory]:
    """The property providers that are installed, by entry-point name; one that cannot be loaded is left out and
    logged. The built-in one is there even where gitfleet runs without having been installed."""
    return {"core": CoreProvider, **loaded_from("gitfleet.property_providers")}


def loaded_from(group: str) -> dict[str, Any]:
    """What packages register in a group of entry points; one that cannot be loaded is left out and logged."""
    plugins: dict[str, Any] = {}
    for entry in entry_points(group=group):
        try:
            plugins[entry.name] = entry.load()
        except Exception as error:  # noqa: BLE001 - somebody else's package: a config that names it gets a fault
            log.warning(WiringText.PLUG_IN_CANNOT_LOADED(), entry.name, entry.value, error)
    return plugins
