"""How long to wait before the same is tried again: longer and longer, and from the beginning when it ends otherwise.

Source: kubefleet.md §6 (Backoff), KubeFleet pkg/controllers/workapplier/backoff.go; vectors/backoff.yaml.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Pauses in seconds: `fixed_attempts` of the `fixed` one; then `first`, which grows by the factor `slow` while it
    is at most `slow_until`, and by the factor `fast` up to `most`. With `skips_to_fast` it grows fast at once."""

    fixed_attempts: int = 1
    fixed: float = 5.0
    first: float = 2.0
    slow: float = 1.2
    slow_until: float = 15.0
    fast: float = 1.5
    most: float = 900.0
    skips_to_fast: bool = False

    @classmethod
    def growing(cls, first: float, factor: float, most: float) -> Curve:
        """Pauses that grow by one factor from the first on."""
        return cls(fixed_attempts=0, first=first, fast=factor, most=most, skips_to_fast=True)

    def after(self, attempts: int) -> float:
        """The pause after so many attempts (at least one) that ended alike."""
        if attempts <= self.fixed_attempts:
            return self.fixed
        pause, is_slow = self.first, not self.skips_to_fast
        for _ in range(attempts - self.fixed_attempts - 1):
            is_slow = is_slow and pause * self.slow <= self.slow_until
            pause *= self.slow if is_slow else self.fast
            if pause >= self.most:
                break
        return min(pause, self.most)


KUBEFLEET: Final = Curve()
"""The pauses of KubeFleet's member agent."""


@dataclass(slots=True)
class Backoff:
    """Counts the attempts that ended alike."""

    curve: Curve = KUBEFLEET
    attempts: int = 0
    """How many in a row have ended as the last one did."""
    _last: object = field(default=None)

    def after(self, end: object) -> float:
        """The pause after an attempt that ended so."""
        self.attempts = self.attempts + 1 if self.attempts and end == self._last else 1
        self._last = end
        return self.curve.after(self.attempts)

    def forget(self) -> None:
        """Start again from the first pause."""
        self.attempts = 0
