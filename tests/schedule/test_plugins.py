"""The profile, and plug-ins of somebody else's in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.fleet import ListedPlugin
from gitfleet.api.objects import Origin
from gitfleet.api.placements import PlacementPolicy
from gitfleet.formats.texts import FormatsText
from gitfleet.loop.plugin_guard import guarded
from gitfleet.ports.scheduling import (
    ClusterSet,
    Cycle,
    Fact,
    FleetRefusal,
    Refusal,
    SchedulerPlugin,
    Score,
    Unschedulable,
)
from gitfleet.schedule import DEFAULT_PROFILE, Profile, explain, index_fleet, profile_from, schedule
from gitfleet.schedule.texts import ScheduleText
from tests.schedule.fleets import NOW, binding, cluster, pick_n, request, spread, states

FLEET = index_fleet([cluster(name, {"zone": name[0]}) for name in ("a1", "a2", "b1", "b2")], NOW)


@dataclass
class NotThese(SchedulerPlugin):
    """A filter that counts how often it is called."""

    names: tuple[str, ...] = ()
    name: str = "NotThese"
    depends_on_bindings: bool = True
    asked: list[str] = field(default_factory=list)

    def filter(self, cycle: Cycle, cluster: MemberCluster) -> Refusal | None:
        self.asked.append(cluster.name)
        return Refusal("it is one of these") if cluster.name in self.names else None


@dataclass(frozen=True)
class Rather(SchedulerPlugin):
    """A score for one cluster."""

    name = "Rather"
    favourite: str

    def score(self, cycle: Cycle, cluster: MemberCluster) -> Score:
        return Score(affinity=10 * (cluster.name == self.favourite))


@dataclass(frozen=True)
class Broken(SchedulerPlugin):
    """Fails at a stage."""

    name = "Broken"
    error: Exception

    def filter(self, cycle: Cycle, cluster: MemberCluster) -> Refusal | None:
        raise self.error


def profile_with(plugin: Any, **more: Any) -> Profile:
    """The default profile and one plug-in of somebody else's."""
    profile, faults = profile_from([ListedPlugin(name=plugin.name, **more)], {plugin.name: lambda args: plugin})
    assert faults == ()
    return profile


def test_no_list_is_the_default_profile() -> None:
    assert profile_from([], {}) == (DEFAULT_PROFILE, ())


def test_a_disabled_plugin_has_no_say() -> None:
    from gitfleet.api.clusters import Taint

    tainted = index_fleet([cluster("a", taints=(Taint("k"),))], NOW)
    profile, _ = profile_from([ListedPlugin(name="TaintToleration", enabled=False)], {})
    assert schedule(request(PlacementPolicy()), tainted).bindings == ()
    assert states(schedule(request(PlacementPolicy()), tainted, profile)) == {"a": "Scheduled"}
    nowhere, faults = profile_from([ListedPlugin(name="Nowhere", enabled=False)], {})
    assert (faults, len(nowhere.entries)) == ((), 6)


class Punctual(Rather):
    """Refuses whoever it is asked about at another time."""

    name = "Punctual"

    def filter(self, cycle: Cycle, cluster: MemberCluster) -> Refusal | None:
        return None if cycle.now == NOW else Refusal("too late")


def _refusing(args: Mapping[str, Any]) -> NotThese:
    raise ValueError("it needs names")


@pytest.mark.parametrize(
    ("listed", "message"),
    [
        (ListedPlugin(name="Nowhere"), ScheduleText.NO_SCHEDULER_PLUG(listed="Nowhere", filter="installed are ")),
        (
            ListedPlugin(name="Refusing"),
            ("the scheduler plug-in Refusing " + ScheduleText.REFUSES_ARGS() + ": it needs names"),
        ),
        (
            ListedPlugin(name="ClusterAffinity", args={"y": 1, "x": 1}),
            ("ClusterAffinity " + ScheduleText.REFUSES_ARGS() + (": " + ScheduleText.TAKES_NONE_GOT(args="x, y"))),
        ),
        (
            ListedPlugin(name="Nothing"),
            f"the scheduler plug-in Nothing {ScheduleText.CANNOT_USED()}: "
            + ScheduleText.FACTORY_MADE_NOT_DERIVE_FROM(name="object"),
        ),
    ],
)
def test_a_plugin_that_cannot_be_used_is_a_fault_and_nothing_is_decided(listed: ListedPlugin, message: str) -> None:
    origin = Origin("gitfleet.yaml", 3)
    available = {"Refusing": _refusing, "Nothing": lambda args: object()}
    profile, (fault,) = profile_from([listed], available, origin=origin)  # type: ignore[arg-type]  # one makes no plug-in
    assert (fault.path, fault.line, fault.field) == ("gitfleet.yaml", 3, "spec.scheduler.plugins[0]")
    assert message in fault.message
    question = request(PlacementPolicy(), binding("gone"))
    answer = schedule(question, FLEET, profile)
    assert answer.bindings is question.bindings
    assert answer.error is not None and fault.message in answer.error
    assert all(verdict.reason == answer.error for verdict in explain(question, FLEET, profile))


class Misspelt(SchedulerPlugin):
    name = "Unusable"

    def score(self, cycle: Cycle, cluster: MemberCluster) -> Score:
        return Score()

    def pre_filer(self, cycle: Cycle) -> bool:
        return False


class Nameless(SchedulerPlugin):
    def post_batch(self, cycle: Cycle, size: int) -> int:
        return size


class Stageless(SchedulerPlugin):
    name = "Unusable"

    def remedy(self, cycle: Cycle, cluster: MemberCluster) -> str:
        return "pray"


class Unexplained(SchedulerPlugin):
    name = "Unusable"

    def filter_fleet(self, cycle: Cycle, candidates: ClusterSet) -> FleetRefusal:
        return FleetRefusal(candidates)


class Unscored(SchedulerPlugin):
    name = "Unusable"

    def score_fleet(self, cycle: Cycle, candidates: ClusterSet) -> Mapping[Score, ClusterSet]:
        return {Score(): candidates}


MEANT = FormatsText.YOU_MEAN(near="pre_filter")


@pytest.mark.parametrize(
    ("plugin", "message"),
    [
        (
            Misspelt,
            f"Misspelt has no hook pre_filer: {MEANT} Helpers start with an underscore",
        ),
        (Nameless, ScheduleText.NO_NAME(name="Nameless")),
        (Stageless, ScheduleText.IMPLEMENTS_NONE_POST_BATCH(name="Stageless")),
        (Unexplained, ScheduleText.WITHOUT_EXPLAINS_RESULTS(name="Unexplained", whole="filter_fleet", single="filter")),
        (Unscored, ScheduleText.WITHOUT_EXPLAINS_RESULTS(name="Unscored", whole="score_fleet", single="score")),
    ],
)
@pytest.mark.parametrize("guard", [False, True], ids=["plain", "guarded"])
def test_what_is_wrong_with_a_plugin_is_said_when_it_is_loaded(
    plugin: type[SchedulerPlugin], message: str, guard: bool
) -> None:
    def factory(args: Mapping[str, Any]) -> SchedulerPlugin:
        return plugin()

    available = {"Unusable": guarded(factory) if guard else factory}
    profile, (fault,) = profile_from([ListedPlugin(name="Unusable")], available)
    assert fault.message == ("the scheduler plug-in Unusable " + ScheduleText.CANNOT_USED() + f": {message}")
    assert schedule(request(PlacementPolicy()), FLEET, profile).bindings == ()


def test_helpers_and_what_other_classes_bring_are_no_hooks() -> None:
    class Mixin:
        def describe(self) -> str:
            return ""

    class Fine(Rather, Mixin):
        @classmethod
        def from_args(cls, args: Mapping[str, Any]) -> Fine:
            return cls(favourite=str(args))

        def _helper(self) -> None: ...

    assert profile_with(Fine("a1")).fault is None


@dataclass(frozen=True)
class OnlyZone(SchedulerPlugin):
    """Judges the whole fleet at once."""

    name = "OnlyZone"
    zone: str

    def filter(self, cycle: Cycle, cluster: MemberCluster) -> Refusal | None:
        return None if cluster.labels.get("zone") == self.zone else Refusal("another zone")

    def filter_fleet(self, cycle: Cycle, candidates: ClusterSet) -> FleetRefusal:
        assert set(candidates | cycle.clusters) == set(cycle.clusters)
        return FleetRefusal(candidates - cycle.clusters_with(Fact("label", "zone"), self.zone))

    def score(self, cycle: Cycle, cluster: MemberCluster) -> Score:
        return Score(affinity=cluster.name == "b1")

    def score_fleet(self, cycle: Cycle, candidates: ClusterSet) -> Mapping[Score, ClusterSet]:
        best = candidates & ClusterSet.of(candidates.names, ["b1"])
        return {Score(affinity=1): best, Score(): candidates - best}


def test_a_plugin_that_judges_the_whole_fleet_gets_and_gives_sets_of_names() -> None:
    answer = schedule(request(pick_n(1)), FLEET, profile_with(OnlyZone("b")))
    assert states(answer) == {"b1": "Scheduled"}
    assert states(schedule(request(PlacementPolicy()), FLEET, profile_with(OnlyZone("a")))) == {
        "a1": "Scheduled",
        "a2": "Scheduled",
    }


@dataclass(frozen=True)
class Silently(SchedulerPlugin):
    """Refuses a1, a2 and b1, some of them silently, which may name a cluster that it does not refuse."""

    name = "Silently"
    depends_on_bindings: bool = True
    silent: tuple[str, ...] = ()

    def filter(self, cycle: Cycle, cluster: MemberCluster) -> Refusal | None:
        return None if cluster.name == "b2" else Refusal("not these", silent=cluster.name in self.silent)


class SilentlyAtOnce(Silently):
    def filter_fleet(self, cycle: Cycle, candidates: ClusterSet) -> FleetRefusal:
        refused, silent = (ClusterSet.of(candidates.names, names) for names in (("a1", "a2", "b1"), self.silent))
        return FleetRefusal(candidates & refused, silent if self.silent else None)


@pytest.mark.parametrize("silent", [(), ("a2",), ("a1", "b1"), ("a1", "a2", "b1"), ("a2", "b2")])
@pytest.mark.parametrize("plugin", [Silently, SilentlyAtOnce])
@pytest.mark.parametrize("depends", [True, False])
def test_a_silent_refusal_is_no_decision(plugin: type[Silently], depends: bool, silent: tuple[str, ...]) -> None:
    policy = pick_n(3, topology_spread_constraints=(spread("zone", hard=False),))
    answer = schedule(request(policy), FLEET, profile_with(plugin(depends, silent)))
    assert states(answer) == {"b2": "Scheduled"}
    told = [(one.cluster, one.refused_by, one.reason) for one in answer.decisions[1:]]
    assert told == [
        (name, "Silently", ScheduleText.CLUSTER_UNSCHEDULABLE(why="not these"))
        for name in ("a1", "a2", "b1")
        if name not in silent
    ]


@pytest.mark.parametrize(("depends", "questions"), [(True, 4 + 3 + 2), (False, 4)])
def test_how_often_a_filter_is_asked_while_clusters_are_picked_one_by_one(depends: bool, questions: int) -> None:
    plugin = NotThese(depends_on_bindings=depends)
    policy = pick_n(3, topology_spread_constraints=(spread("zone", hard=False),))
    answer = schedule(request(policy), FLEET, profile_with(plugin))
    assert (answer.cycles, len(answer.bindings), len(plugin.asked)) == (3, 3, questions)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (KeyError("x"), ScheduleText.PLUG_FAILED(who="Broken", name="KeyError", error="'x'")),
        (Unschedulable("no price list"), "Broken: no price list"),
    ],
)
def test_a_plugin_that_raises_stops_its_placement_alone(error: Exception, message: str) -> None:
    question = request(PlacementPolicy(), binding("a1"))
    answer = schedule(question, FLEET, profile_with(Broken(error)))
    assert (answer.error, answer.fulfilled) == (message, None)
    assert answer.bindings is question.bindings
    assert {verdict.cluster: verdict.selected for verdict in explain(question, FLEET, profile_with(Broken(error)))} == {
        "a1": True,
        "a2": False,
        "b1": False,
        "b2": False,
    }


def test_what_concerns_the_whole_process_is_no_answer_of_a_plugin() -> None:
    profile = profile_with(Broken(MemoryError()))
    with pytest.raises(MemoryError):
        schedule(request(PlacementPolicy()), FLEET, profile)
