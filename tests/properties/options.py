"""`--histories N` and `--mutations N`: how many random histories of a fleet, and how many random damages of a config
repo, the suite plays (more, at night)."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option; the seeds are 0 to N - 1, so that every run of the same N is the same."""
    parser.addoption("--histories", type=int, default=200, metavar="N", help="random fleet histories to play")
    parser.addoption("--mutations", type=int, default=180, metavar="N", help="random damages of a config repo to play")
    parser.addoption("--first-mutation", type=int, default=0, metavar="SEED", help="the first seed of them")
    parser.addoption("--first-history", type=int, default=0, metavar="SEED", help="the first seed of them")
    parser.addoption("--walk-depth", type=int, default=1, metavar="N", help="disturbances in the walk of a staged run")
