"""The profile: which plug-ins take part, in which order and with which weight.

KubeFleet's default profile is the base. A plug-in that FleetConfig lists is taken out of the base and put behind it, in
the order of the list, unless it is disabled there; so a list that names only a plug-in of one's own adds it to the
default.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from gitfleet.api.faults import Fault
from gitfleet.api.fleet import FleetConfig, ListedPlugin
from gitfleet.api.objects import Origin
from gitfleet.api.placements import PlacementKey, PlacementPolicy
from gitfleet.formats.canonical_json import digest_of
from gitfleet.formats.near_names import did_you_mean
from gitfleet.model.failures import Failure, Subject, attempt
from gitfleet.schedule.builtin import BUILT_IN, DEFAULT_PLUGINS
from gitfleet.schedule.fleet import Fact
from gitfleet.schedule.plugins import PluginFactory, SchedulerPlugin, UnusablePlugin, stages_of, usable
from gitfleet.schedule.texts import ScheduleText


@dataclass(frozen=True, slots=True)
class Entry:
    """One plug-in of a profile. `key` identifies its name, weight and args."""

    plugin: SchedulerPlugin
    weight: int = 1
    key: str = ""

    @property
    def name(self) -> str:
        """The plug-in's own name."""
        return self.plugin.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Ordered plug-ins by stage. With a `fault` nothing is decided: every result carries it, bindings stay as they
    are.
    """

    entries: tuple[Entry, ...] = ()
    post_batch: tuple[Entry, ...] = ()
    filters: tuple[Entry, ...] = ()
    steady_filters: tuple[Entry, ...] = ()
    """Those of `filters` that stand before the first that depends on bindings."""
    steady_scores: tuple[Entry, ...] = ()
    moving_scores: tuple[Entry, ...] = ()
    key: str = ""
    fault: str | None = None

    def depends_on(self, placement: PlacementKey, policy: PlacementPolicy) -> frozenset[Fact]:
        """All facts about clusters on which scheduling a placement depends."""
        return frozenset(fact for entry in self.entries for fact in entry.plugin.depends_on(placement, policy))


def make_profile(entries: Iterable[Entry]) -> Profile:
    """A profile of ready plug-ins."""
    ordered = tuple(entries)

    def having(stage: str) -> tuple[Entry, ...]:
        return tuple(entry for entry in ordered if stage in stages_of(entry.plugin))

    return Profile(
        entries=ordered,
        post_batch=having("post_batch"),
        filters=having("filter"),
        steady_filters=tuple(takewhile(lambda entry: not entry.plugin.depends_on_bindings, having("filter"))),
        steady_scores=tuple(entry for entry in having("score") if not entry.plugin.depends_on_bindings),
        moving_scores=tuple(entry for entry in having("score") if entry.plugin.depends_on_bindings),
        key=digest_of([[e.name, e.weight, e.key, bool(e.plugin.depends_on_bindings)] for e in ordered]),
    )


def profile_from(
    plugins: Sequence[ListedPlugin],
    available: Mapping[str, PluginFactory],
    *,
    origin: Origin | None = None,
) -> tuple[Profile, tuple[Fault, ...]]:
    """The profile that FleetConfig asks for, from the factories that are installed, by their entry-point names.

    One fault for each plug-in that is not installed, is listed twice, whose factory refuses its args, or that cannot be
    used (`plugins.usable`); `origin` is where the config stands. With faults the profile decides nothing, so that a
    missing filter never lets a placement through.
    """
    if not plugins:
        return DEFAULT_PROFILE, ()
    base = [Entry(plugin) for plugin in DEFAULT_PLUGINS if all(plugin.name != listed.name for listed in plugins)]
    added: list[Entry] = []
    faults: list[Fault] = []
    seen: set[str] = set()
    for i, listed in enumerate(plugins):
        twice = ScheduleText.SCHEDULER_PLUG_LISTED_TWICE(listed=listed.name)
        outcome = twice if listed.name in seen else _make(listed, available)
        seen.add(listed.name)
        if isinstance(outcome, str):
            place = (origin.path, origin.line) if origin else ("gitfleet.yaml", 1)
            faults.append(Fault(*place, "FleetConfig", f"spec.scheduler.plugins[{i}]", outcome))
        elif listed.enabled:
            added.append(outcome)
    if faults:
        return Profile(fault=ScheduleText.SCHEDULER_PROFILE_ERRORS(faults=faults[0].message)), tuple(faults)
    return make_profile([*base, *added]), ()


def profile_for(config: FleetConfig, available: Mapping[str, PluginFactory]) -> tuple[Profile, tuple[Fault, ...]]:
    """`profile_from` the fleet's own configuration."""
    return profile_from(config.scheduler_plugins, available, origin=config.origin)


def _make(listed: ListedPlugin, available: Mapping[str, PluginFactory]) -> Entry | str:
    """The entry, or what is wrong with it. A disabled plug-in need not be installed."""
    factory = available.get(listed.name, BUILT_IN.get(listed.name))
    if factory is None:
        if not listed.enabled:
            return Entry(SchedulerPlugin())
        installed = sorted({*available, *BUILT_IN})
        hints = (did_you_mean(listed.name, installed, ""), f"installed are {', '.join(installed)}")
        return ScheduleText.NO_SCHEDULER_PLUG(listed=listed.name, filter=" ".join(filter(None, hints)))
    plugin = attempt(Subject("SchedulerPlugin", listed.name), lambda: usable(factory(listed.args)))
    if isinstance(plugin, Failure):
        wrong = ScheduleText.CANNOT_USED() if isinstance(plugin.cause, UnusablePlugin) else ScheduleText.REFUSES_ARGS()
        return f"the scheduler plug-in {listed.name} {wrong}: {plugin.cause}"
    return Entry(plugin, listed.weight, digest_of({"plugin": listed.name, "args": dict(listed.args)}))


DEFAULT_PROFILE = make_profile(map(Entry, DEFAULT_PLUGINS))
"""KubeFleet's default profile."""
