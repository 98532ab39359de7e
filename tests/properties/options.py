"""`--histories N`: how many random histories of a fleet the suite plays (more, at night)."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option; the seeds are 0 to N - 1, so that every run of the same N is the same."""
    parser.addoption("--histories", type=int, default=200, metavar="N", help="random fleet histories to play")
    parser.addoption("--first-history", type=int, default=0, metavar="SEED", help="the first seed of them")
