"""Shared by all tests: real parts on demand (git over HTTP, kube-apiservers), Hypothesis profiles, a time limit."""

from __future__ import annotations

import gc

import pytest

pytest_plugins = ["tests.costs", "tests.profiles", "tests.realparts.fixtures", "tests.properties.options"]

_BUILT = {"control_planes", "helm", "prometheus", "sops"}
REAL_SECONDS = 3600
"""The limit of a test that needs real parts: the first one of them may have to build the control plane."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give tests that need real parts the longer limit."""
    for item in items:
        real = item.get_closest_marker("real") or _BUILT & {*getattr(item, "fixturenames", ())}
        if real and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(REAL_SECONDS))


def pytest_collection_finish() -> None:
    """Leave the collected tests out of every later search for garbage, and search less often: a fifth of what the
    quick tests cost."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
