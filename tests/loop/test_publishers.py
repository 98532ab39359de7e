"""A new output is a class and a line where processes are put together: no line of the driver knows it."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, cast

import pytest

from gitfleet.api.faults import Fault, Severity
from gitfleet.branches.steps import Step
from gitfleet.errors import Stopped
from gitfleet.loop.driver import Driver, Publishers
from gitfleet.model.events import Event, EventType
from gitfleet.ports.publishers import Publisher, Report
from gitfleet.ports.repos import BranchChange, RepoWriter
from gitfleet.settings import Settings
from gitfleet.wiring.hub import open_workspace
from gitfleet.wiring.serving import _fence
from tests import builders
from tests.e2e.repos import ConfigRepo
from tests.fleet.reports import report_of
from tests.scenarios.world import STATE, World


@dataclass
class Toy(Publisher):
    """Writes down each report, fails as often as it is told, and pushes where it has a writer."""

    failing: int = 0
    writer: RepoWriter | None = None
    reports: list[Report] = field(default_factory=list)
    refused: dict[str, Fault] | None = None
    due: bool = False
    name: ClassVar[str] = "toy"
    kind: ClassVar[str] = "Toy/"
    steps: ClassVar[tuple[Step, Step]] = (Step.RENDERED_PUSH, Step.RENDERED_PUSHED)

    def publish(self, report: Report) -> tuple[Event, ...]:
        self.reports.append(report)
        self.due, self.refused = bool(self.failing), {}
        if self.failing:
            self.failing -= 1
            self.refused = {"toy": Fault("toy.yaml", 1, "Toy/toy", "", "is broken", Severity.WARNING)}
            raise ValueError("toy is broken")
        if self.writer is not None:
            subject, written = "Toy", {"toy": report.state_head.encode() if report.state_head else b""}
            self.writer.commit(BranchChange(branch="toy", expected=None, subject=subject, write=written, when=NOW))
        return (Event(type=EventType.COMMIT, fields={"branch": "toy", "subject": "Toy"}),)


NOW = World().clock.now()


def test_a_toy_is_put_in_by_one_line_and_fenced_like_all_others(tmp_path: Path) -> None:
    hub = ConfigRepo.bare(tmp_path / "repo").hub
    with open_workspace(Settings(repo=str(hub), cache_dir=tmp_path / "cache")) as workspace:
        toy = Toy(writer=workspace.repository.states.writer)
        workspace.driver.publishers.members.append(toy)
        _fence(workspace, cast(Any, SimpleNamespace(leads=lambda: False)))
        with pytest.raises(Stopped):
            toy.publish(report_of())


def test_a_toy_gets_each_report_and_what_fails_there_delays_nothing() -> None:
    world, saved = World(), list[str]()
    toy, after = Toy(failing=2), Toy()

    def start(driver: Driver) -> None:
        driver.publishers.members += [toy, after]
        driver.failures.save = lambda failure: saved.append(str(failure.subject))

    world.start_with = start
    world.restart()
    world.commit(builders.member_cluster("eu-1"), builders.namespace("web"), builders.placement("web"))
    results = [world.driver.reconcile() for _ in range(2)]
    assert [fault.path for fault in results[1].state.faults] == ["toy.yaml"]
    assert world.live("eu-1", "Namespace", "web") is not None
    assert saved == ["publisher toy"]
    world.settle()
    assert [world.driver.reconcile().settled for _ in range(3)][-1]
    assert not world.state().faults
    assert len(after.reports) == len(toy.reports), "what comes after it is told as well"
    last = toy.reports[-1]
    assert (last.desired.commit, last.state_head) == tuple(world.repo.fetch()[name] for name in ("main", STATE))
    told = [event.type for report in after.reports for event in report.events]
    assert EventType.COMMIT in told


def test_events_between_two_reports_are_bounded() -> None:
    publishers = Publishers([toy := Toy()])
    publishers.events.extend([Event(type=EventType.FAULTS_CLEARED, fields={})] * 20_001)
    publishers.publish(report_of())
    publishers.publish(report_of())
    assert [len(report.events) for report in toy.reports] == [20_000, 0]


def test_the_driver_has_few_fields() -> None:
    assert len(fields(Driver)) <= 12
