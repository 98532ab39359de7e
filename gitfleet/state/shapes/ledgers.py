"""The files that are gitfleet's own: the fleet's head line and the faults."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from gitfleet.api import InvalidContent, read_state, write
from gitfleet.api.annotations import At, Inline
from gitfleet.api.faults import Fault, LastGood
from gitfleet.api.fleet import ListedPlugin, RemovalSettings
from gitfleet.api.freeze_files import FreezeRules
from gitfleet.api.layout import document
from gitfleet.api.objects import JsonObject
from gitfleet.api.values import Time
from gitfleet.state.texts import StateText

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


def read_head(source: Mapping[str, Any]) -> FleetHead:
    """The fleet's head line back."""
    check_kind(FleetHead(), source)
    return read_state(FleetHead, source)


def check_kind(value: FleetHead | FaultList, source: Mapping[str, Any]) -> None:
    """InvalidContent for a mapping that says that it is something else."""
    expected = write(value)
    if any(source.get(name) != expected[name] for name in ("apiVersion", "kind")):
        raise InvalidContent(StateText.IT_MUST_BE(wanted=expected["kind"], api_version=API_VERSION))


def faults_object(faults: Iterable[Fault], last_good: Mapping[str, tuple[LastGood, ...]]) -> JsonObject:
    """The content of faults.yaml."""
    versions = tuple(
        LastGoodVersion(path=path, good=good) for path, goods in sorted(last_good.items()) for good in goods
    )
    return write(FaultList(faults=tuple(faults), versions=versions))


@dataclass(frozen=True, slots=True)
class FaultsFile:
    """The faults, and the last good versions by path."""

    faults: tuple[Fault, ...] = ()
    last_good: Mapping[str, tuple[LastGood, ...]] = field(default_factory=dict)


def read_faults(source: Mapping[str, Any]) -> FaultsFile:
    """The faults and the last good versions back."""
    check_kind(FaultList(), source)
    listed = read_state(FaultList, source)
    last_good: dict[str, tuple[LastGood, ...]] = {}
    for version in listed.versions:
        last_good[version.path] = (*last_good.get(version.path, ()), version.good)
    return FaultsFile(listed.faults, last_good)
