"""Shared by all tests: tiers, groups for workers, real parts on demand, Hypothesis profiles."""

from __future__ import annotations

import gc
from collections.abc import Set

import pytest

pytest_plugins = ["tests.costs", "tests.profiles", "tests.realparts.fixtures", "tests.properties.options"]

BUILT = {"control_planes", "git_http", "helm", "kustomize", "prometheus", "sops"}
"""Fixtures that need a real part: a test that asks for one is `real`."""
SHARED = {"members": "members", "control_planes": "clusters"}
"""Fixtures whose servers take seconds to start, and the group of their tests: one worker starts them for the group."""
LONGEST_ID = 100
PARTS = ("crashes", "histories", "mutations", "pages", "properties", "races", "real", "scale", "walks")
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
    group = next((group for fixture, group in SHARED.items() if fixture in fixtures), item.nodeid.split("::")[0])
    if item.get_closest_marker("xdist_group") is None:
        item.add_marker(pytest.mark.xdist_group(group))


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


def pytest_collection_finish() -> None:
    """Leave the collected tests out of every later search for garbage, and search less often: a fifth of what the
    quick tests cost."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
