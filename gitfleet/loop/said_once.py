"""Sentences for the log that are said once, however often they become true again."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Final

log = logging.getLogger(__name__)
_MOST: Final = 1000
"""So many different sentences are remembered; then it begins again."""


@dataclass(slots=True)
class SaidOnce:
    """Logs each sentence once, as a warning."""

    _known: set[str] = field(default_factory=set)

    def say(self, sentence: str) -> None:
        """Log it unless that was done before."""
        if sentence in self._known:
            return
        if len(self._known) >= _MOST:
            self._known.clear()
        self._known.add(sentence)
        log.warning("%s", sentence)

    def forget(self) -> None:
        """What was said before may be said again: the cause is gone."""
        self._known.clear()
