"""Building kustomize folders: files in, one YAML stream out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class KustomizeBuilder(Protocol):
    """Builds one folder. Nothing outside the given files is read, nothing is fetched, no plug-in runs."""

    def build(self, folder: str, files: Mapping[str, bytes]) -> bytes:
        """The YAML stream of `folder`; `files` are all that it may read, by path. BadInput says what kustomize said,
        in the same words for the same files; MissingPart that there is no kustomize, RetryLater that it was ended."""
