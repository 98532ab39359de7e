"""Shared by all tests: tiers, groups for workers, real parts on demand, Hypothesis profiles."""

from __future__ import annotations

import gc
import logging
from collections import Counter
from collections.abc import Set

import pytest

pytest_plugins = ["tests.costs", "tests.profiles", "tests.realparts.fixtures", "tests.properties.options"]

BUILT = {"control_planes", "git_http", "helm", "kustomize", "prometheus", "sops"}
"""Fixtures that need a real part: a test that asks for one is `real`."""
SHARED = {"members": "members", "control_planes": "clusters"}
"""Fixtures whose servers take seconds to start, and the group of their tests: one worker starts them for the group."""
LONGEST_ID = 100
SEEN: Counter[str] = Counter()
"""How many tests of the large tables of a part were collected."""
SAMPLED = {
    "races": "races",
    "mutations": "poisoned",
    "crashes": "crashes slips_after_kills unchanged_and_disturbed unsound_commits",
    "removals": "app_rollouts_with_slips clock_jumps edited_state faulty_renames folds_with_slips garbled_state gates "
    "gates_and_moves gates_that_end handed_over held_takes_back hold_places holds holds_envelopes "
    "holds_overrides holds_small holds_taken_over holds_that_shrink kept_payload kustomize_mistakes "
    "large_holds lost_bindings lost_holds lost_parts lost_runs lost_snapshots misspelt_moves mistakes "
    "moved_elsewhere moves_under_way out_of_sight paced_removals pinned_owners renamed_clusters "
    "renamed_placements renames_with_holds rollouts_with_slips slips slips_in_unfinished_rollouts "
    "slips_under_pins taken_back_under_way taken_back_with_errors taken_over unclear_commits "
    "unsound_state",
}
"""Large tables in `tests/scenarios`, by part of the soak tier: `make test` plays one case in five, `make soak` all."""
TABLES = {f"test_{name}.py": part for part, names in SAMPLED.items() for name in names.split()}
EVERY = 5
PARTS = ("crashes", "histories", "mutations", "pages", "properties", "races", "real", "removals", "scale", "walks")
"""The parts of the soak tier."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--soak PART` turns to the soak tier."""
    parser.addoption("--soak", choices=[*PARTS, "all"], help="run the tests of this part of the soak tier, no others")


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Do not name a test after a long text: one that is encrypted differs between workers."""
    return argname if isinstance(val, str | bytes) and len(val) > LONGEST_ID else None


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark what needs a real part, and group the tests that share servers, or else a file, on one worker."""
    fixtures = {*getattr(item, "fixturenames", ())}
    if fixtures & BUILT:
        item.add_marker("real")
    if "sops" in fixtures:  # it takes as long to build as all other programs
        item.add_marker(pytest.mark.soak("real"))
    group = next((group for fixture, group in SHARED.items() if fixture in fixtures), item.nodeid.split("::")[0])
    if item.get_closest_marker("xdist_group") is None:
        item.add_marker(pytest.mark.xdist_group(group))
    if (part := TABLES.get(item.path.name)) and item.path.parent.name == "scenarios":
        item.add_marker(pytest.mark.soak(part) if SEEN[part] % EVERY else pytest.mark.deeper(part))
        SEEN[part] += 1


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Choose the tests of the tier; what takes long begins first, so that no worker is left with it at the end."""
    asked = config.getoption("soak")
    wanted = {*PARTS} if asked == "all" else {asked or "test"}
    config.hook.pytest_deselected(items=[item for item in items if not tiers_of(item) & wanted])
    items[:] = sorted(
        (item for item in items if tiers_of(item) & wanted), key=lambda item: item.get_closest_marker("real") is None
    )


def tiers_of(item: pytest.Item) -> Set[str]:
    """The parts of the soak tier that run a test, and `test` for `make test`."""
    soak, deeper = item.get_closest_marker("soak"), item.get_closest_marker("deeper")
    found = {*(soak.args if soak else ["test"]), *(deeper.args if deeper else ())}
    if getattr(getattr(item, "function", None), "is_hypothesis_test", False):
        found.add("properties")
    if unknown := found - {*PARTS, "test"}:
        raise pytest.UsageError(f"{item.nodeid}: {', '.join(unknown)} is no part of the soak tier: {', '.join(PARTS)}")
    return found


def pytest_configure() -> None:
    """Silence what a client of an earlier test still says of its server: that is no line of the test that runs."""
    logging.getLogger("urllib3").setLevel(logging.ERROR)


def pytest_collection_finish() -> None:
    """Leave the collected tests out of every later search for garbage, and search less often: a fifth of what the
    quick tests cost."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
