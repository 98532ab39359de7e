"""The workload handlers that gitfleet has."""

from __future__ import annotations

from typing import Final

from gitfleet.workload.handlers import Handlers

BUILT_IN: Final[Handlers] = {}
