"""Warnings and failures that are logged once, however often they come again."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from gitfleet.model.failures import Failure

log = logging.getLogger(__name__)
_MOST: Final = 1000
"""So many different sentences are remembered; then it begins again."""


@dataclass(slots=True)
class WarnOnce:
    """Logs each sentence once, as a warning."""

    _logged: set[str] = field(default_factory=set)

    def warn(self, sentence: str) -> None:
        """Log it unless that was done before."""
        if sentence in self._logged:
            return
        if len(self._logged) >= _MOST:
            self._logged.clear()
        self._logged.add(sentence)
        log.warning("%s", sentence)

    def forget(self) -> None:
        """Log everything again: the cause is gone."""
        self._logged.clear()


@dataclass(slots=True)
class ReportOnce:
    """Logs and saves each failure once, for as long as it lasts."""

    save: Callable[[Failure], None] = lambda _: None
    _ids: set[str] = field(default_factory=set)

    def report(self, failures: Iterable[Failure]) -> None:
        """Log and save those that were not reported before."""
        for failure in failures:
            if failure.id not in self._ids:
                self._ids.add(failure.id)
                log.error("%s", failure.report)
                self.save(failure)
