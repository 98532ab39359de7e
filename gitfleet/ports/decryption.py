"""Decrypting files that SOPS encrypted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class Decryptor(Protocol):
    """Decrypts whole files in memory: no plaintext is written anywhere."""

    def values(self, content: bytes) -> Mapping[int, Mapping[str, str]]:
        """What each encrypted text stands for, where that is a text, of every document by its index in the file.
        BadInput why a file cannot be decrypted, or was changed after it was encrypted, without any value; MissingPart
        where this process lacks something."""
