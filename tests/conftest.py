"""Shared by all tests: real parts on demand (git over HTTP, kube-apiservers), Hypothesis profiles, a time limit."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, Phase, settings

pytest_plugins = ["tests.realparts.fixtures", "tests.properties.options"]

REAL_SECONDS = 3600
"""The limit of a test that needs real parts: the first one of them may have to build the control plane."""

# How long an example takes says more about the machine than about the code: no profile measures it.
_UNTIMED = [HealthCheck.too_slow]
settings.register_profile("dev", deadline=None, suppress_health_check=_UNTIMED)
settings.register_profile("ci", deadline=None, suppress_health_check=_UNTIMED, derandomize=True, print_blob=True)
settings.register_profile("quick", parent=settings.get_profile("ci"), max_examples=20)
# A change of the code is noticed by the first example that fails: which one is the smallest does not matter.
settings.register_profile("mutants", parent=settings.get_profile("quick"), phases=[Phase.explicit, Phase.generate])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give tests that need real parts the longer limit."""
    for item in items:
        real = item.get_closest_marker("real") or "control_planes" in getattr(item, "fixturenames", ())
        if real and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(REAL_SECONDS))
