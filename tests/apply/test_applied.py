"""The manifest that was applied last, by the digest that the inventory has of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api.objects import Manifest
from gitfleet.apply.fleet import applied_manifests
from tests.apply.model_cluster import config_map
from tests.apply.test_plan_apply import OTHER, WEB, live, owned, work
from tests.state import builders
from tests.works.builders import snapshot

NOW, BEFORE, OLDER, THEIRS = (config_map("cm", a=value) for value in "1234")
SECOND = config_map("second", a="2")
NOT_LOADED = replace(snapshot(placement=WEB), manifests=None)
RECORDS = {
    key: replace(builders.record(key.name), resource_snapshots=snapshots)
    for key, snapshots in (
        (WEB, (NOT_LOADED, snapshot(OLDER, placement=WEB), snapshot(NOW, SECOND, placement=WEB))),
        (OTHER, (snapshot(THEIRS, placement=OTHER),)),
    )
}


@pytest.mark.parametrize(
    ("entry", "found"),
    [
        ({"applied_digest": NOW.digest}, NOW),
        ({"applied_digest": BEFORE.digest}, BEFORE),
        ({"applied_digest": OLDER.digest}, OLDER),
        ({"applied_digest": THEIRS.digest}, None),
        ({"applied_digest": THEIRS.digest, "placement": OTHER}, THEIRS),
        ({"applied_digest": BEFORE.digest, "placement": OTHER}, BEFORE),
        ({"applied_digest": OLDER.digest, "placement": replace(OTHER, name="gone")}, None),
        ({"applied_digest": SECOND.digest}, None),
        ({"applied_digest": None}, None),
    ],
)
def test_the_manifest_is_in_the_works_before_or_in_a_snapshot_of_its_placement(
    entry: dict[str, Any], found: Manifest | None
) -> None:
    manifests = applied_manifests([work(SECOND), work(BEFORE)], RECORDS)
    asked = replace(owned(NOW, live(NOW)), **entry)
    assert manifests(asked) is manifests(asked) is found
    assert manifests(owned(SECOND, live(SECOND))) is SECOND
