"""Failures in the log, and their saved reports."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from gitfleet.model.failures import Failure

log = logging.getLogger(__name__)


@dataclass(slots=True)
class ReportedFailures:
    """Logs and saves what failed, once for as long as it lasts."""

    save: Callable[[Failure], None]
    _known: set[str] = field(default_factory=set)

    def report(self, failures: Iterable[Failure]) -> None:
        """Log and save those that were not reported before."""
        for failure in failures:
            if failure.id not in self._known:
                self._known.add(failure.id)
                log.error("%s", failure.report)
                self.save(failure)
