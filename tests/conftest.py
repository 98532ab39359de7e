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
WAITING = {"cli", "forges", "realparts_checks"}
"""The folders whose tests wait for processes and servers most of their time."""
SEEN: Counter[str] = Counter()
"""How many tests of the large tables were collected: of a part, and of a test marked `table`."""
SAMPLED = {
    "races": "races",
    "mutations": "poisoned",
    "crashes": "crashes unchanged_and_disturbed unsound_commits",
    "removals": "gates mistakes moves_under_way paced_removals",
}
"""Files of large tables in `tests/scenarios`, by part of the soak tier: `make test` plays one case in five, `make soak`
all. `@pytest.mark.table(PART)` says the same of one test."""
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
    part = TABLES.get(item.path.name) if item.path.parent.name == "scenarios" else None
    table = part or ""
    if marked := item.get_closest_marker("table"):
        (part,), table = marked.args, item.nodeid.partition("[")[0]
    if part:
        item.add_marker(pytest.mark.soak(part) if SEEN[table] % EVERY else pytest.mark.deeper(part))
        SEEN[table] += 1


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Choose the tests of the tier; what takes long begins first, so that no worker is left with it at the end."""
    asked = config.getoption("soak")
    wanted = {*PARTS} if asked == "all" else {asked or "test"}
    config.hook.pytest_deselected(items=[item for item in items if not tiers_of(item) & wanted])
    items[:] = sorted((item for item in items if tiers_of(item) & wanted), key=_turn)


def _turn(item: pytest.Item) -> int:
    """What needs servers, then what waits, then what computes."""
    if item.get_closest_marker("real"):
        return 0
    return 1 if WAITING & {*item.path.parts} else 2


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
