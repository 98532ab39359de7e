"""Notifiers of other packages, by entry point, and files that are replaced while a run goes on."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from gitfleet.adapters.clock import SystemClock
from gitfleet.api.fleet import FleetConfig
from gitfleet.api.notifications import Notification
from gitfleet.errors import MissingPart
from gitfleet.loop.driver import Publishers
from gitfleet.loop.pulse import Phases, Pulse
from gitfleet.loop.workspace import Workspace
from gitfleet.model.events import Event, EventType
from gitfleet.settings import Settings
from gitfleet.status.texts import StatusText
from gitfleet.wiring.publishers import notified
from gitfleet.wiring.serving import traced
from tests.fleet.reports import report_of

MODULE = """
said = []


class Pager:
    def __init__(self, access):
        self.number = access.content.decode().strip()

    def send(self, message):
        said.append((self.number, message.lines))
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed package with a notifier."""
    found = tmp_path / "site"
    (found / "pagers-1.dist-info").mkdir(parents=True)
    (found / "pagers.py").write_text(MODULE)
    (found / "pagers-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: pagers\nVersion: 1\n")
    (found / "pagers-1.dist-info" / "entry_points.txt").write_text(
        "[gitfleet.notifiers]\nexample.pager = pagers:Pager\n"
    )
    monkeypatch.syspath_prepend(str(found))
    return found


def workspace_with(*destinations: Notification) -> Workspace:
    """What of a workspace is asked here."""
    driver = SimpleNamespace(publishers=Publishers())
    repository = SimpleNamespace(config=FleetConfig(notifications=destinations))
    return cast(Workspace, SimpleNamespace(driver=driver, repository=repository, pulse=Pulse(), clock=SystemClock()))


def test_a_plug_in_gets_messages_and_its_file_as_it_is_now(site: Path, tmp_path: Path) -> None:
    file, workspace = tmp_path / "ops", workspace_with(Notification(name="ops", type="example.pager"))
    file.write_text("1")
    settings = Settings(repo="fleet", cache_dir=tmp_path)
    with notified(workspace, settings, {"ops": file}, ("hunter22",), events=True) as notifications:
        for number, words in enumerate(("with hunter22", "later"), start=1):
            file.write_text(str(number))
            fields = {"reason": "no", "message": words}
            event = Event(type=EventType.FAILED, placement="web", cluster="c1", fields=fields)
            notifications.publish(report_of(events=(event,)))
            notifications.finish(60.0)
    said: Any = sys.modules["pagers"].said
    failed = [f"web: {StatusText.FAILED(cluster='c1', reason='no', message=words)}" for words in ("with ***", "later")]
    assert said == [("1", (failed[0],)), ("2", (failed[1],))]


def test_a_plug_in_that_is_not_installed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file, workspace = tmp_path / "ops", workspace_with(Notification(name="ops", type="example.missing"))
    file.write_text("1")
    settings = Settings(repo="fleet", cache_dir=tmp_path)
    with notified(workspace, settings, {"ops": file}, (), events=False) as notifications:
        notifications.publish(report_of())
        with pytest.raises(MissingPart):
            notifications.connect("ops", "example.missing")
    said = "notification ops: no notifier example.missing is installed; there are email, slack, webhook"
    assert caplog.messages == [said]


def test_traces_without_the_extra(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setitem(sys.modules, "gitfleet.adapters.tracing", None)
    with caplog.at_level(logging.WARNING), traced(workspace_with(), Phases(clock=SystemClock())):
        pass
    (said,) = caplog.messages
    assert said.startswith("OTEL_EXPORTER_OTLP_ENDPOINT asks for traces, and OpenTelemetry is not installed; ")
    assert said.endswith('pip install "gitfleet-hub[otel]"')
