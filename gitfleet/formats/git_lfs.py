"""Pointers: what git stores in place of the files that Git LFS keeps elsewhere."""

from __future__ import annotations

from typing import Final

POINTER_START: Final = "version https://git-lfs.github.com/spec/"
"""How a pointer begins."""


def is_lfs_pointer(content: bytes) -> bool:
    """Whether the bytes of a file are a pointer."""
    return content.startswith(POINTER_START.encode())
