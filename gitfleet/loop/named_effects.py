"""Puts the names of `Step` on the effects of a driver."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from gitfleet.loop.driver import Driver
from gitfleet.loop.steps import Step, SteppedCache, SteppedWriter
from gitfleet.loop.workspace import Workspace
from gitfleet.ports.repos import RepoWriter


def name_effects(opened: Workspace, cache: SteppedCache) -> Workspace:
    """The workspace, around each effect of which the checkpoint of its driver is called, whichever that is then."""
    driver = opened.driver

    def reach(step: Step) -> None:
        opened.driver.checkpoint(step)

    cache.reach = reach
    driver.fanout = replace(driver.fanout, reach=reach)
    for branch, before, after in written_branches(driver):
        branch.writer = SteppedWriter(branch.writer, before, after, reach)
    return opened


def written_branches(driver: Driver) -> list[tuple[HasWriter, Step, Step]]:
    """Everything of a driver that pushes, with the steps around each push: whatever is to hold for every push is put
    on these."""
    found: list[tuple[HasWriter, Step, Step]] = [(driver.states, Step.STATE_PUSH, Step.STATE_PUSHED)]
    if driver.requests is not None:
        found.append((driver.requests, Step.REQUEST_PUSH, Step.REQUEST_PUSHED))
    if driver.pull is not None:
        found.append((driver.pull, Step.DELIVERY_PUSH, Step.DELIVERY_PUSHED))
    if driver.rendered is not None:
        found.append((driver.rendered, Step.RENDERED_PUSH, Step.RENDERED_PUSHED))
    return found


class HasWriter(Protocol):
    """What pushes a branch, or several of one kind."""

    writer: RepoWriter
