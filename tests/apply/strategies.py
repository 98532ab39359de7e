"""Apply strategies in a placement file's own words."""

from __future__ import annotations

from typing import Any, Final

from gitfleet.api.strategies import ApplyStrategy, ApplyStrategyType, ComparisonOption, WhenToApply, WhenToTakeOver

_CHOICES: Final[dict[str, Any]] = {
    "type": ApplyStrategyType,
    "comparison_option": ComparisonOption,
    "when_to_apply": WhenToApply,
    "when_to_take_over": WhenToTakeOver,
}


def apply_strategy(**words: Any) -> ApplyStrategy:
    """`apply_strategy(type="ReportDiff")`."""
    return ApplyStrategy(**{name: _CHOICES.get(name, lambda value: value)(value) for name, value in words.items()})
