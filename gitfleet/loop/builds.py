"""The folders of the payload that are built, by kustomize or by Helm; each output is kept for as long as it may be
asked for again."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Protocol, TypeAlias

from gitfleet import desired
from gitfleet.api.helm_releases import HELM_RELEASE_FILE
from gitfleet.errors import GitfleetError, RetryLater
from gitfleet.formats.limits import MAX_STATE_BYTES
from gitfleet.formats.yaml_reader import ParsedFile
from gitfleet.loop.slow_builds import SlowBuilds
from gitfleet.loop.texts import LoopText
from gitfleet.ports.repos import TreeEntry

REGULAR: Final = ("100644", "100755")
ReadBlobs: TypeAlias = Callable[[list[str]], Mapping[str, bytes]]
Listing: TypeAlias = Mapping[str, TreeEntry]
_BOTH: Final = LoopText.NOT_BUILT_SINCE_FOLDER_KUSTOMIZATION()


class FolderBuilder(Protocol):
    """Builds folders of one sort."""

    @property
    def unfinished(self) -> bool:
        """Whether a build of the last reading may succeed if it is tried again."""

    def built(self, folders: Collection[str], listing: Listing, read: ReadBlobs) -> dict[str, desired.SourceFile]:
        """What `DesiredRequest.built` wants: an output for each of the folders of a tree, or why there is none."""

    def made_of(self, folders: Collection[str], listing: Listing, read: ReadBlobs) -> dict[str, dict[str, str]]:
        """The files, with their blobs, of which the folders of an older tree were built."""


@dataclass(slots=True)
class Builds:
    """All builders as one."""

    kustomizer: FolderBuilder
    charts: FolderBuilder
    slow: SlowBuilds | None = None

    @property
    def unfinished(self) -> bool:
        """Whether a build of the last reading may succeed if it is tried again."""
        return self.kustomizer.unfinished or self.charts.unfinished

    def built(self, folders: Mapping[str, str], listing: Listing, read: ReadBlobs) -> dict[str, desired.SourceFile]:
        """What `DesiredRequest.built` wants, for folders with the files that say how they are built."""
        kustomized, charted = _sorts(folders)
        made = self.kustomizer.built(kustomized, listing, read) | self.charts.built(charted, listing, read)
        both = (folder for folder in kustomized if posixpath.join(folder, HELM_RELEASE_FILE) in listing)
        return made | {folder: desired.SourceFile(blob="", why=f"{HELM_RELEASE_FILE} {_BOTH}") for folder in both}

    def made_of(self, folders: Mapping[str, str], listing: Listing, read: ReadBlobs) -> dict[str, dict[str, str]]:
        """The files, with their blobs, of which the folders of an older tree were built."""
        kustomized, charted = _sorts(folders)
        return self.kustomizer.made_of(kustomized, listing, read) | self.charts.made_of(charted, listing, read)


def _sorts(folders: Mapping[str, str]) -> tuple[set[str], set[str]]:
    """The folders of kustomize, and Helm's outermost ones; what lies below those is theirs."""
    charted = {folder for folder, file in folders.items() if not desired.is_kustomization(file)}
    inside = {one for one in folders if any(outer in charted for outer in desired.folders_of(one))}
    return folders.keys() - charted - inside, charted - inside


@dataclass(slots=True)
class Outputs:
    """What was built, by a digest of what it was made of, for as long as one of the two newest trees has it."""

    unfinished: bool = False
    _now: dict[str, desired.SourceFile] = field(default_factory=dict)
    _before: dict[str, desired.SourceFile] = field(default_factory=dict)
    _oldest: dict[str, desired.SourceFile] = field(default_factory=dict)

    def start(self) -> None:
        """Begin the reading of a tree."""
        self.unfinished = False
        self._oldest, self._before, self._now = self._before, self._now, {}

    def of(self, key: str, build: Callable[[], desired.SourceFile], say: Callable[[str], str]) -> desired.SourceFile:
        """The output of a key; one that is not known is built. A build that failed is known too, unless it may succeed
        when it is tried again; `say` gives the words in which it failed."""
        output = self._before.get(key) or self._oldest.get(key)
        if output is None:
            try:
                output = build()
            except RetryLater as error:
                self.unfinished = True
                return desired.SourceFile(blob="", why=str(error))
            except GitfleetError as error:
                output = desired.SourceFile(blob="", why=say(str(error)))
        self._now[key] = output
        return output


def output_of(program: str, content: bytes, sources: Collection[str] = ()) -> desired.SourceFile:
    """A program's output as one file."""
    return desired.SourceFile(
        blob="", size=len(content), parsed=parsed_output(program, content), sources=tuple(sorted(sources))
    )


def parsed_output(program: str, content: bytes) -> ParsedFile:
    """What a program printed. Its lines are nowhere in the repo, so every document stands on line 1."""
    parsed = desired.parse_file("built.yaml", content, max_bytes=MAX_STATE_BYTES)
    documents = tuple(replace(document, line=1) for document in parsed.documents)
    faults = tuple((1, f"{program}'s output: {message}") for _, message in parsed.faults)
    return ParsedFile(documents, tuple(sorted(set(faults))))
