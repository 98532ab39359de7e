"""The names of plain JSON values: what every text here is read to and written from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

JsonValue: TypeAlias = Any
"""What JSON can say: None, bool, int, float, str, list, dict with str keys. Never mutated once inside gitfleet."""
JsonObject: TypeAlias = Mapping[str, Any]
"""A JSON object: str keys; see JsonValue."""
