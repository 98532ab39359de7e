"""Hypothesis' profiles, and how many examples a property is tried with under each."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings

SHARES = {"quick": 10, "mutants": 5}
"""The quick profiles try one example in so many."""
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "dev")

# How long an example takes says more about the machine than about the code: no profile measures it.
_UNTIMED = [HealthCheck.too_slow]
settings.register_profile("dev", deadline=None, suppress_health_check=_UNTIMED)
settings.register_profile("ci", deadline=None, suppress_health_check=_UNTIMED, derandomize=True, print_blob=True)
settings.register_profile("quick", parent=settings.get_profile("ci"), max_examples=100 // SHARES["quick"])
# A change of the code is noticed by the first example that fails: which one is the smallest does not matter.
settings.register_profile(
    "mutants",
    parent=settings.get_profile("ci"),
    max_examples=100 // SHARES["mutants"],
    phases=[Phase.explicit, Phase.generate],
)
settings.load_profile(PROFILE)


def examples(usual: int) -> int:
    """The number of examples of a property that has its own: `usual`, or a share of it under a quick profile."""
    return max(3, usual // SHARES[PROFILE]) if PROFILE in SHARES else usual
