"""Digits without end in any field of what people write about runs, evictions, freezes and approvals: an error of that
file or nothing at all, and everything beside it goes on."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.api.placements import PlacementKey
from tests import builders
from tests.api.test_every_kind import places_of, with_value
from tests.desired.commits import faults_of
from tests.scenarios.staged_world import members, one_stage, run, staged
from tests.scenarios.world import World

NINES = "9" * 5000
VALUES = [NINES, NINES + "h", NINES + "%", 2**64 - 1]
DIGEST = "ab" * 32


def stages() -> list[dict[str, Any]]:
    """One stage with every field that is a number or a time."""
    before, after = [{"type": "Approval"}], [{"type": "TimedWait", "waitTime": "1m"}]
    fields = {"maxConcurrency": 1, "maxFailures": "10%", "minSoak": "1m", "startRate": 5, "stuckAfter": "5m"}
    more = {"sortingLabelKey": "rank", "beforeStageTasks": before, "afterStageTasks": after, "onFailure": "Wait"}
    return [{"name": "one", "labelSelector": {"matchLabels": {"a": "b"}}, "unreachable": "Wait", **fields, **more}]


def of(kind: str, spec: Any, group: str = "placement.kubernetes-fleet.io/v1beta1") -> dict[str, Any]:
    """A document of ours."""
    return builders.an_object(group, kind, "numbers", spec=spec)


OURS = "gitfleet.dev/v1alpha1"
WHO = {"reason": "month's end", "owner": "ops"}
WINDOW = {"name": "nights", "schedule": "0 18 * * 5", "duration": "10h", "timeZone": "UTC"}
SCOPE = {"placements": ["shop"], "stages": ["one"], "clusters": {"matchLabels": {"a": "b"}}}
POLICY = {"required": 1, "allowedSigners": {"ssh": "keys"}, "separateDuties": False, "expiresAfter": "24h"}
DOCUMENTS = {
    document["kind"]: document
    for document in [
        of("ClusterStagedUpdateStrategy", {"stages": stages(), "membership": "Abort"}),
        builders.staged_run("numbers", placement="web", strategy="all", index="0"),
        builders.approval("numbers", "all"),
        builders.eviction("numbers", "web", "c1"),
        builders.placement_budget("numbers", maxUnavailable="10%"),
        of("Freeze", {"scope": SCOPE, "from": "2026-01-01T00:00:00Z", "until": "2026-01-02T00:00:00Z", **WHO}, OURS),
        of("FreezeOverride", {"windows": ["nights"], "freezes": ["x"], "expires": "2026-01-02T00:00:00Z", **WHO}, OURS),
        of("Quarantine", {"placement": "web", "digest": DIGEST, "lifted": True, "reason": "slow"}, OURS),
        of(
            "FleetConfig",
            {
                "approvals": POLICY,
                "freezeWindows": [{**WINDOW, "scope": SCOPE}],
                "removals": {"maxPercent": 50, "minClusters": 5, "minObjects": 20},
            },
            OURS,
        ),
    ]
}


def spellings(document: dict[str, Any]) -> list[str]:
    """The document with each of its scalars, one after the other, as digits without end, quoted and not."""
    found = []
    for place in places_of(document):
        value: Any = document
        for step in place:
            value = value[step]
        if isinstance(value, dict | list) or place in (("apiVersion",), ("kind",)):
            continue
        for digits in VALUES:
            found.append(builders.to_yaml(with_value(document, place, digits)))
        found.append(found[-1].replace(str(2**64 - 1), NINES))
    return found


@pytest.mark.parametrize("kind", sorted(DOCUMENTS))
def test_digits_without_end_stop_nothing_else(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    document = DOCUMENTS[kind]
    world = staged(World(), *members("c1", a="b"))
    shop = builders.placement("shop")
    world.roll_out(one_stage(), run(), builders.namespace("shop"), builders.config_map("shop", "at"), shop)
    path, texts = builders.path_of(document), spellings(document)
    rounds = [{path: text} for text in texts]
    if kind != "FleetConfig":  # of which there can be one only
        one = {path.replace("numbers", f"n{n}"): text.replace("numbers", f"n{n}") for n, text in enumerate(texts)}
        rounds = [one]
    for at, files in enumerate(rounds, start=1):
        world.write({**files, **builders.repo_files_for(builders.config_map("shop", "at", {"at": str(at)}))})
        for _ in range(2):
            world.driver.reconcile()
            world.restart()
        latest = world.state().placements[PlacementKey("", "shop")].latest_resources
        assert latest is not None and latest.index == at
    assert "unexpected" not in caplog.text


@pytest.mark.parametrize("number", [NINES, "9" * 4400, "9" * 19, "1_0", "+1"])
def test_a_snapshot_number_without_end_is_an_error_of_its_line(number: str) -> None:
    for text in (f'"{number}"', f"!!str {number}"):
        document = builders.to_yaml(builders.staged_run("go", placement="web", strategy="all", index="INDEX"))
        (fault,) = faults_of({"runs/go.yaml": document.replace("INDEX", text)})
        assert fault.startswith("runs/go.yaml:8: ClusterStagedUpdateRun/go: spec.resourceSnapshotIndex: ")
