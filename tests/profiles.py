"""Hypothesis' profiles, and how many examples a property is tried with under each."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings

SHARES = {"quick": 10, "mutants": 5}
"""The quick profiles try one example in so many."""
DEEPER = 20
"""The soak profile tries so many times as many examples."""
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "ci")

# How long an example takes says more about the machine than about the code: no profile measures it.
_UNTIMED = [HealthCheck.too_slow]
settings.register_profile(
    "ci", deadline=None, suppress_health_check=_UNTIMED, derandomize=True, print_blob=True, max_examples=50
)
settings.register_profile("quick", parent=settings.get_profile("ci"), max_examples=100 // SHARES["quick"])
# A change of the code is noticed by the first example that fails: which one is the smallest does not matter.
settings.register_profile(
    "mutants",
    parent=settings.get_profile("ci"),
    max_examples=100 // SHARES["mutants"],
    phases=[Phase.explicit, Phase.generate],
)
# The only profile whose examples differ from run to run: `make soak` prints the seed.
settings.register_profile("soak", deadline=None, suppress_health_check=_UNTIMED, max_examples=100 * DEEPER)
settings.load_profile(PROFILE)


def examples(usual: int) -> int:
    """The number of examples of a property that has its own: `usual`, a share of it under a quick profile, or more
    under the soak profile."""
    if PROFILE == "soak":
        return usual * DEEPER
    return max(3, usual // SHARES[PROFILE]) if PROFILE in SHARES else usual
