"""The files that are gitfleet's own: the fleet's head line and the faults."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Final

from gitfleet.api import write
from gitfleet.api.annotations import At, Inline
from gitfleet.api.faults import Fault, LastGood
from gitfleet.api.fleet import ListedPlugin, RemovalSettings
from gitfleet.api.freeze_files import FreezeRules
from gitfleet.api.layout import document
from gitfleet.api.objects import JsonObject
from gitfleet.api.values import Time

API_VERSION: Final = "gitfleet.dev/v1alpha1"


@document("status", identify=lambda _: (API_VERSION, "FleetState"))
@dataclass(frozen=True, slots=True, kw_only=True)
class FleetHead:
    """fleet.yaml: what the branch belongs to, when it was last written, the scheduler's plug-ins that decided, the
    settings of removals for the next commit, the freezes, and the commit of which the state was `restored` ("": of
    none)."""

    observed_commit: str | None = None
    gitfleet_version: str = ""
    last_changed: Time | None = None
    scheduler_plugins: tuple[ListedPlugin, ...] = ()
    removal_settings: Annotated[RemovalSettings, At("status", "removals")] = RemovalSettings()
    freezes: FreezeRules = FreezeRules()
    restored: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LastGoodVersion:
    """An older version that is used instead of the faulty file at `path`."""

    path: str
    good: Annotated[LastGood, Inline()]


@document(identify=lambda _: (API_VERSION, "FaultList"))
@dataclass(frozen=True, slots=True, kw_only=True)
class FaultList:
    """faults.yaml: every fault with its place, and which documents of older versions are used instead of what is
    faulty."""

    faults: Annotated[tuple[Fault, ...], At("items")] = ()
    versions: Annotated[tuple[LastGoodVersion, ...], At("lastGood")] = ()

    @property
    def last_good(self) -> dict[str, tuple[LastGood, ...]]:
        """The older versions by path."""
        last_good: dict[str, tuple[LastGood, ...]] = {}
        for version in self.versions:
            last_good[version.path] = (*last_good.get(version.path, ()), version.good)
        return last_good


def faults_object(faults: Iterable[Fault], last_good: Mapping[str, tuple[LastGood, ...]]) -> JsonObject:
    """The content of faults.yaml."""
    versions = tuple(
        LastGoodVersion(path=path, good=good) for path, goods in sorted(last_good.items()) for good in goods
    )
    return write(FaultList(faults=tuple(faults), versions=versions))
