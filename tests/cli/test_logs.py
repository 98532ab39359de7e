"""What a continuous run logs: one line each, with time, level and fields, and without credentials."""

from __future__ import annotations

import json
import logging

import pytest

from gitfleet.cli.logs import LoggedEvents, LogLines, logging_as
from gitfleet.model.events import Event, EventType
from gitfleet.status.texts import StatusText

COMMIT = Event(type=EventType.COMMIT_READ, fields={"commit": "c" * 40})
UPDATED = Event(type=EventType.UPDATED, placement="web", cluster="eu-1", fields={"snapshot": "3"})


def logged(capsys: pytest.CaptureFixture[str], form: str, *secrets: str) -> list[str]:
    log = logging.getLogger("gitfleet.loop.runner")
    with logging_as(form, secrets) as lines:
        events = LoggedEvents(lines)
        for event in (COMMIT, UPDATED):
            events.on_event(event)
        log.warning("https://me:hunter22@git.example.com/x.git: no answer\nGET /x 200 forged; %s", "s3cr3t-value")
        try:
            raise ValueError("words of a Secret")
        except ValueError:
            log.exception("a defect")
        log.debug("not shown")
    log.warning("after the end")
    return capsys.readouterr().err.splitlines()


def test_text_has_time_level_and_fields(capsys: pytest.CaptureFixture[str]) -> None:
    lines = logged(capsys, "text", "s3cr3t-value")
    assert [line[27:] for line in lines] == [
        f" INFO    commit {'c' * 12} read commit={'c' * 40} event=commitRead",
        (
            " INFO    web: "
            + StatusText.UPDATED_SNAPSHOT(
                cluster="eu-1", snapshot=f"3 commit={'c' * 40} event=updated placement=web cluster=eu-1"
            )
        ),
        f" WARNING https://***@git.example.com/x.git: no answer GET /x 200 forged; *** commit={'c' * 40}",
        f" ERROR   a defect: ValueError commit={'c' * 40}",
    ]
    assert all(line[:4].isdigit() and line[26] == "Z" for line in lines)


def test_json_is_an_object_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    commit, updated, warning, defect = map(json.loads, logged(capsys, "json", "s3cr3t-value"))
    assert commit["level"] == "info" and commit["event"] == "commitRead"
    assert {**updated, "time": ""} == {
        "time": "",
        "level": "info",
        "logger": "gitfleet.cli.logs",
        "message": ("web: " + StatusText.UPDATED_SNAPSHOT(cluster="eu-1", snapshot="3")),
        "commit": "c" * 40,
        "event": "updated",
        "placement": "web",
        "cluster": "eu-1",
    }
    assert warning["message"] == "https://***@git.example.com/x.git: no answer GET /x 200 forged; ***"
    assert defect["message"] == "a defect: ValueError"


def test_plain_is_the_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    lines = logged(capsys, "plain", "s3cr3t-value")
    assert lines[0] == f"commit {'c' * 12} read"
    assert "hunter22" not in "\n".join(lines) and "words of" not in "\n".join(lines)


def test_trouble_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    fields = {"reason": "no", "message": "no"}
    events = LoggedEvents(LogLines("text", ()))
    events.on_event(Event(type=EventType.FAILED, placement="web", cluster="eu-1", fields=fields))
    assert [record.levelname for record in caplog.records] == ["WARNING"]
