"""Workload handlers of third parties: which of those that are installed can be used."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from gitfleet.api.objects import GroupKind
from gitfleet.fleet.texts import FleetText
from gitfleet.formats.hooks import misspelt_hook
from gitfleet.model.failures import Failure, Subject, attempt
from gitfleet.workload.handlers import BUILT_IN, Handlers, WorkloadHandler

log = logging.getLogger(__name__)


def usable_handlers(installed: Mapping[str, Any]) -> Handlers:
    """The built-in handlers, and those that factories make, by entry-point name KIND.GROUP. One that cannot be used, or
    that is for a kind which gitfleet knows itself, is left out and logged."""
    handlers: dict[GroupKind, WorkloadHandler] = {}
    for name, make in installed.items():
        kind, _, group = name.partition(".")
        of_kind = GroupKind(group, kind)
        if type(BUILT_IN.get(of_kind)) is make:
            continue
        made: Any = attempt(Subject("workload handler", name), make)
        why = FleetText.GITFLEET_ONE_ITSELF(of_kind=of_kind) if of_kind in BUILT_IN else _unusable(made)
        if why is None:
            handlers[of_kind] = made
        else:
            log.warning(FleetText.WORKLOAD_HANDLER_CANNOT_USED(), name, why)
    return {**handlers, **BUILT_IN}


def _unusable(made: object) -> str | None:
    """Why what a factory made is no handler, None where it is one."""
    if isinstance(made, Failure):
        return made.error
    if not isinstance(made, WorkloadHandler):
        return FleetText.FACTORY_MADE_NOT_DERIVE_FROM(name=type(made).__name__)
    return misspelt_hook(made, WorkloadHandler)
