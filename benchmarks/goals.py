"""Goals of benchmarks: each is printed beside what was measured, and a program that misses one ends with status 1."""

from __future__ import annotations

import math
from dataclasses import dataclass, field


@dataclass
class Goals:
    """The goals of one run, and those that were missed."""

    missed: list[str] = field(default_factory=list)

    def at_most(self, name: str, value: float, limit: float) -> None:
        """A value that must not be larger."""
        self._print(name, value, f"at most {limit:g}", value <= limit)

    def at_least(self, name: str, value: float, limit: float) -> None:
        """A value that must not be smaller."""
        self._print(name, value, f"at least {limit:g}", value >= limit)

    def end(self) -> None:
        """SystemExit where a goal was missed."""
        if self.missed:
            raise SystemExit(f"goals missed: {'; '.join(self.missed)}")

    def _print(self, name: str, value: float, limit: str, met: bool) -> None:
        print(f"goal {'met' if met else 'MISSED'}: {name} {value:.2f}, {limit}", flush=True)
        if not met:
            self.missed.append(f"{name} {value:.2f}, {limit}")


def exponent(before: float, after: float, grown: float) -> float:
    """The power of `grown` by which a cost grew: 1 is linear."""
    return math.log(after / before) / math.log(grown)
