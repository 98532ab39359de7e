"""Reports of failures, saved where whoever corrects them finds them by the id that the conditions name."""

from __future__ import annotations

import logging
from pathlib import Path

from gitfleet.adapters.texts import AdaptersText
from gitfleet.model.failures import Failure

log = logging.getLogger(__name__)


def save_report(folder: Path, failure: Failure) -> None:
    """Write `<id>.txt`, readable by its owner alone. A folder that cannot be written costs the file, nothing else."""
    path = folder / f"{failure.id}.txt"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_text(failure.report + "\n", encoding="utf-8")
    except OSError as error:
        log.warning(AdaptersText.REPORT_CANNOT_SAVED(), path, error.strerror)
