"""Puts the names of `Step` on the effects of a driver."""

from __future__ import annotations

from dataclasses import replace

from gitfleet.loop.steps import Step, SteppedCache, SteppedWriter
from gitfleet.loop.workspace import Workspace


def name_effects(opened: Workspace, cache: SteppedCache) -> Workspace:
    """The workspace, around each effect of which the checkpoint of its driver is called, whichever that is then."""
    driver = opened.driver

    def reach(step: Step) -> None:
        opened.driver.checkpoint(step)

    cache.reach = reach
    driver.fanout = replace(driver.fanout, reach=reach)
    driver.states.writer = SteppedWriter(driver.states.writer, Step.STATE_PUSH, Step.STATE_PUSHED, reach)
    if (asks := driver.requests) is not None:
        asks.writer = SteppedWriter(asks.writer, Step.REQUEST_PUSH, Step.REQUEST_PUSHED, reach)
    if (pull := driver.pull) is not None:
        pull.writer = SteppedWriter(pull.writer, Step.DELIVERY_PUSH, Step.DELIVERY_PUSHED, reach)
    if (rendered := driver.rendered) is not None:
        rendered.writer = SteppedWriter(rendered.writer, Step.RENDERED_PUSH, Step.RENDERED_PUSHED, reach)
    return opened
