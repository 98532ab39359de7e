"""Freezes as `get freezes` lists them: their state at a moment, until when, and what they are about."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gitfleet.api import read
from gitfleet.api.fleet import FleetConfig
from gitfleet.api.freeze_files import Freeze, FreezeOverride, FreezeRules
from gitfleet.views.freezes import views_of
from tests import builders

NIGHT = {"name": "night", "schedule": "0 22 * * *", "duration": "8h", "timeZone": "Europe/Berlin"}
GOLD = {
    "matchLabels": {"tier": "gold"},
    "matchExpressions": [{"key": "region", "operator": "In", "values": ["eu", "us"]}],
}
FRIDAY = builders.freeze("friday", "2026-11-28T00:00:00Z", **{"from": "2026-11-27T00:00:00Z"}, scope={"clusters": GOLD})
FIX = builders.freeze_override("fix", "2026-11-27T12:00:00Z", windows=["night"], scope={"placements": ["web"]})


def rules() -> FreezeRules:
    config, _ = read(FleetConfig, builders.fleet_config(freezeWindows=[NIGHT]))
    freeze, _ = read(Freeze, FRIDAY)
    override, _ = read(FreezeOverride, FIX)
    assert config is not None
    assert freeze is not None
    assert override is not None
    return FreezeRules(windows=config.freeze_windows, freezes=(freeze,), overrides=(override,))


@pytest.mark.parametrize(
    ("now", "states"),
    [
        (
            "2026-11-26T20:00",
            [
                ("Waiting", "2026-11-26 22:00 Europe/Berlin"),
                ("Waiting", "2026-11-27 00:00:00 UTC"),
                ("Lifting", "2026-11-27 12:00:00 UTC"),
            ],
        ),
        (
            "2026-11-27T02:00",
            [
                ("Frozen", "2026-11-27 06:00 Europe/Berlin"),
                ("Frozen", "2026-11-28 00:00:00 UTC"),
                ("Lifting", "2026-11-27 12:00:00 UTC"),
            ],
        ),
        (
            "2026-11-28T00:00",
            [("Frozen", "2026-11-28 06:00 Europe/Berlin"), ("Expired", "<none>"), ("Expired", "<none>")],
        ),
    ],
)
def test_the_state_now_and_when_it_ends(now: str, states: list[tuple[str, str]]) -> None:
    moment = datetime.fromisoformat(now).replace(tzinfo=UTC)
    assert [(view.state(moment), view.next(moment)) for view in views_of(rules())] == states


def test_what_each_is_about() -> None:
    assert [(v.name, v.kind, v.scope, v.owner, v.reason, v.when) for v in views_of(rules())] == [
        ("night", "FreezeWindow", "everything", "<none>", "<none>", "0 22 * * * for 8:00:00 Europe/Berlin"),
        (
            "friday", "Freeze", "clusters=tier=gold,region In eu|us", "ops", "no changes",
            "from 2026-11-27 00:00:00 UTC until 2026-11-28 00:00:00 UTC",
        ),
        ("fix", "FreezeOverride", "night placements=web", "ops", "urgent", "until 2026-11-27 12:00:00 UTC"),
    ]  # fmt: skip


def test_the_whole_objects() -> None:
    window, friday, fix = (view.body() for view in views_of(rules()))
    assert window["spec"]["schedule"] == NIGHT["schedule"]
    assert friday == FRIDAY
    assert fix == FIX
