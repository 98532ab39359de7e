"""Bounds on what an untrusted repository may make gitfleet read; sizes in bytes."""

from __future__ import annotations

from typing import Final

MAX_FILES: Final = 200_000
"""Most files of one commit of the config repo."""
MAX_FILE_BYTES: Final = 4 * 1024 * 1024
"""Largest file of the config repo."""
MAX_STATE_BYTES: Final = 16 * MAX_FILE_BYTES
"""Largest file of the state branch, and what kustomize may print for one folder."""
