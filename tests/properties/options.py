"""How many random histories of a fleet, and how many random damages of a config repo, are played: some in `make test`,
many in `make soak`, or as many as an option says."""

from __future__ import annotations

import pytest

USUAL = {"histories": (20, 5000), "mutations": (60, 3000), "walk-depth": (0, 1), "races": (5, 100)}
"""Of each option what `make test` takes, and what `make soak` does."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options; the seeds are 0 to N - 1, so that every run of the same N is the same."""
    parser.addoption("--histories", type=int, metavar="N", help="random fleet histories to play")
    parser.addoption("--mutations", type=int, metavar="N", help="random damages of a config repo to play")
    parser.addoption("--first-mutation", type=int, default=0, metavar="SEED", help="the first seed of them")
    parser.addoption("--first-history", type=int, default=0, metavar="SEED", help="the first seed of them")
    parser.addoption("--walk-depth", type=int, metavar="N", help="disturbances in the walk of a staged run")
    parser.addoption("--races", type=int, metavar="N", help="races of two hubs on one remote")


def number_of(option: str, config: pytest.Config) -> int:
    """What an option says, or what is usual in this tier."""
    asked: int | None = config.getoption(f"--{option}")
    return USUAL[option][bool(config.getoption("--soak"))] if asked is None else asked
