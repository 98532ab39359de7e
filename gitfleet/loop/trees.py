"""From commits to values: the desired tree, each blob parsed once per object id.

Two caches stand before the parser: a dictionary that lives as long as the process, and the BlobCache that survives it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Final, NamedTuple, TypeAlias, TypeVar

from gitfleet import desired
from gitfleet.api.faults import WHOLE_COMMIT, Fault, LastGood
from gitfleet.api.objects import Manifest
from gitfleet.api.placements import PlacementKey
from gitfleet.api.values import NamespacedName
from gitfleet.errors import BadInput, UnreadableCommit
from gitfleet.formats.yaml_reader import ParsedFile, decode_parsed, encode_parsed
from gitfleet.loop.builds import Builds
from gitfleet.loop.encrypted import EncryptedSecrets
from gitfleet.loop.slow_builds import SlowBuilds
from gitfleet.loop.taken_back import taken_back
from gitfleet.loop.texts import LoopText
from gitfleet.loop.whatif import WhatIf
from gitfleet.model.desired import Desired
from gitfleet.model.state import FleetState
from gitfleet.ports.caches import BlobCache
from gitfleet.ports.decryption import Decryptor
from gitfleet.ports.repos import RepoReader, TreeEntry
from gitfleet.settings import Limits
from gitfleet.state import FAULTS_FILE

_Entry = TypeVar("_Entry")
_BuiltOf: TypeAlias = Mapping[str, Mapping[str, str]]
"""The blobs of the files of which a folder was built, by folder and path."""
_BATCH: Final = 2000
"""So many files are read and parsed at once: a bound on memory, not on work."""
_SPARE: Final = 1000
"""So many files beyond twice a tree's are kept before those that left it are dropped."""


class _Read(NamedTuple):
    """What a reading of a commit depends on: what was accepted before and does not leave, and which runs may not be
    disturbed."""

    commit: str
    observed: str | None
    placements: frozenset[PlacementKey]
    unfinished: frozenset[NamespacedName]

    @classmethod
    def of(cls, commit: str, state: FleetState) -> _Read:
        standing = (key for key, record in state.placements.items() if record.placement.deleting is None)
        unfinished = (key for key, run in state.runs.items() if not run.finished)
        return cls(commit, state.observed_commit, frozenset(standing), frozenset(unfinished))


class ClusterReading(NamedTuple):
    """How the clusters of a commit count: as if some were added, gone or cordoned, and unless they are `simulated` one
    without a connection is a fault."""

    what_if: WhatIf = WhatIf()
    simulated: bool = True


class DesiredTrees:
    """Reads the desired tree of commits. One instance serves one thread."""

    def __init__(
        self,
        repo: RepoReader,
        cache: BlobCache,
        limits: Limits,
        *,
        builds: Builds | None = None,
        decryptor: Decryptor | None = None,
        clusters: ClusterReading | None = None,
    ) -> None:
        """Without `builds` a folder that must be built is a fault. With a `decryptor` what SOPS encrypted is one unless
        it can be decrypted; without one nothing of it is asked, and nothing of it can be applied."""
        self.encrypted = EncryptedSecrets(self._contents, decryptor)
        self._clusters = clusters or ClusterReading()
        self._repo = repo
        self._builds = builds
        self._cache = cache
        self._limits = limits
        self._parsed: dict[tuple[str, str], ParsedFile] = {}
        self._readings: dict[tuple[str, str], desired.FileReading] = {}
        self._latest: dict[_Read, Desired] = {}

    def at(self, commit: str, state: FleetState) -> Desired:
        """The fleet as written at a commit, parts with errors held at their last good version as `state` knows it."""
        read = _Read.of(commit, state)
        if (known := self._latest.get(read) or self._accepted(commit, state)) is not None:
            return known
        listing, refusal = self._checked_listing(commit)
        if refusal is not None:
            return self._without(commit, refusal, state)
        before, changed, built_of = self._changes(commit, listing, state)
        held = {
            path: tuple((good, good.path or path, TreeEntry("100644", good.blob)) for good in versions)
            for path, versions in state.last_good.items()
        }
        older = [(path, entry) for versions in held.values() for good, path, entry in versions if good.blob]
        self._parse_all(_readable([*listing.items(), *before.items(), *older]))
        wanted = desired.read_desired(
            desired.DesiredRequest(
                commit=commit,
                files={path: self._source(path, entry) for path, entry in listing.items()},
                before={path: self._source(path, entry) for path, entry in before.items()},
                held={
                    path: [
                        self._held_version(origin, entry, good, removed=good.path == path)
                        for good, origin, entry in versions
                    ]
                    for path, versions in held.items()
                },
                changed=changed,
                accepted=state,
                contents=self._content,
                built=self._built(listing),
                built_of=built_of,
                simulated=self._clusters.simulated,
            )
        )
        wanted = replace(self._clusters.what_if.applied_to(wanted), taken_back=taken_back(self._repo, commit, state))
        self._latest = {key: known for key, known in self._latest.items() if key.commit == commit}
        if self._builds is None or not self._builds.unfinished:
            self._latest[read] = wanted
        self._drop_beyond([*listing.items(), *before.items(), *older])
        return wanted

    @property
    def slow_builds(self) -> SlowBuilds | None:
        """What builds folders beside the passes, if anything does."""
        return self._builds.slow if self._builds is not None else None

    def waiting(self) -> tuple[str, ...]:
        """See SlowBuilds."""
        return self.slow_builds.waiting() if self.slow_builds is not None else ()

    def _checked_listing(self, commit: str) -> tuple[Mapping[str, TreeEntry], str | None]:
        """The files of a commit; or why it is refused as a whole."""
        try:
            listing = self._listing(commit)
        except UnreadableCommit as error:
            return {}, LoopText.CANNOT_READ_PUT_COMMIT_TOP(reason=error.reason)
        most = self._limits.files
        if len(listing) > most and (files := len(desired.read_paths(listing, self._ignore_rules(listing)))) > most:
            few = LoopText.REMOVE_FILES_IGNORE_OTHERS(ignore_file=desired.IGNORE_FILE)
            return {}, LoopText.FILES_MOST_READ(files=files, most=most, few=few)
        return listing, None

    def _without(self, commit: str, refusal: str, state: FleetState) -> Desired:
        """The fleet as accepted last, in place of a commit that is refused as a whole."""
        older, last = state.observed_commit, Desired(commit=commit, holds_removals=True)
        accepted = LoopText.ACCEPTED_LAST_COMMIT(older=older[:12]) if older is not None else LoopText.ACCEPTED_LAST()
        sentence = LoopText.COMMIT_REFUSED_WHOLE(commit=commit[:12], refusal=refusal, accepted=accepted)
        refused = Fault(WHOLE_COMMIT, 1, "", "", sentence)
        if older is not None and older != commit:
            with suppress(BadInput):  # history was rewritten, and it is gone: what is missing does not count as removed
                last = self.at(older, state)
        return replace(last, faults=(refused, *(fault for fault in last.faults if fault.path != refused.path)))

    def _accepted(self, commit: str, state: FleetState) -> Desired | None:
        """A reading of a commit that the state has accepted as a whole: with nothing held and no fault on either side,
        reading it again against what came of it gives the same."""
        if state.observed_commit != commit or state.faults or state.last_good:
            return None
        sound = (known for of, known in self._latest.items() if of.commit == commit and not known.faults)
        return next((known for known in sound if not known.vanished), None)

    def regular_files(self, commit: str) -> Mapping[str, str]:
        """The blob of every ordinary file that a reader of the config repo may need, by path."""
        listing = self._listing(commit)
        return {path: entry.oid for path, entry in listing.items() if entry.mode in ("100644", "100755")}

    def documents(self, wanted: Iterable[tuple[str, str]]) -> Mapping[tuple[str, int], Manifest]:
        """Payload manifests of (path, blob) pairs, by (blob, document index): what snapshots are restored from."""
        pairs = sorted(set(wanted))
        found: dict[tuple[str, int], Manifest] = {}
        self._parse_all(pairs)
        for path, blob in pairs:
            parsed = self._parsed.get((path, blob))
            for manifest in desired.manifests_of(path, blob, parsed) if parsed is not None else ():
                found[(manifest.origin.blob, manifest.origin.document)] = manifest
        return found

    def _listing(self, commit: str) -> Mapping[str, TreeEntry]:
        return _in_unicode(self._repo.list_tree(commit))

    def _changes(
        self, commit: str, listing: Mapping[str, TreeEntry], state: FleetState
    ) -> tuple[dict[str, TreeEntry], frozenset[str] | None, _BuiltOf]:
        """The files that were read at the observed commit and are others now, or are not read any more, as they were;
        every path that differs or is only read now (None when that is no longer known); and what folders were built of
        then."""
        if FAULTS_FILE in state.damage.lost or (state.observed_commit is None and state.placements):
            return {}, None, {}  # what was held, or against which commit, was lost
        if state.observed_commit is None or state.observed_commit == commit:
            return {}, frozenset(), {}
        try:
            changed = _in_unicode(self._repo.changed_paths(state.observed_commit, commit))
            before = self._listing(state.observed_commit) if changed else {}
        except BadInput:
            # History was rewritten and the old commit is gone: only what the state branch holds can be held on to.
            return {}, None, {}
        rules = self._ignore_rules(before)
        read = desired.read_paths(before, rules) if changed else frozenset()
        hidden, shown = frozenset[str](), frozenset[str]()
        if desired.IGNORE_FILE in changed or any(map(desired.is_build_file, changed)):
            now = desired.read_paths(listing, self._ignore_rules(listing))
            hidden, shown = read - now, now - read
        built_of: _BuiltOf = {}
        if self._builds is not None:
            folders = desired.built_folders(desired.wanted_paths(before, rules))
            built_of = self._builds.made_of(folders, before, self._contents) if folders else {}
        files = {path: before[path] for path in sorted({*changed, *hidden}) if path in read}
        return files, shown.union(changed), built_of

    def _built(self, listing: Mapping[str, TreeEntry]) -> dict[str, desired.SourceFile]:
        if self._builds is None:
            return {}
        wanted = desired.wanted_paths(listing, self._ignore_rules(listing))
        return self._builds.built(desired.built_folders(wanted), listing, self._contents)

    def _ignore_rules(self, listing: Mapping[str, TreeEntry]) -> desired.IgnoreRules:
        entry = listing.get(desired.IGNORE_FILE)
        return desired.read_ignore(
            self._content(entry.oid) if entry is not None and entry.mode.startswith("100") else b""
        )

    def _held_version(self, path: str, entry: TreeEntry, good: LastGood, *, removed: bool) -> desired.HeldVersion:
        source = self._source(path, entry)
        return desired.HeldVersion(path=path, source=source, documents=good.documents, removed=removed)

    def _source(self, path: str, entry: TreeEntry) -> desired.SourceFile:
        key = (path, entry.oid)
        parsed = self._parsed.get(key)
        if parsed is not None and key not in self._readings:
            decrypted = self.encrypted.of_one_file() if self.encrypted.decryptor is not None else None
            self._readings[key] = desired.read_file(path, entry.oid, parsed, self._content, decrypted)
        return desired.SourceFile(
            mode=entry.mode, blob=entry.oid, size=entry.size, parsed=parsed, reading=self._readings.get(key)
        )

    def _content(self, blob: str) -> bytes:
        return self._contents([blob]).get(blob, b"")

    def _contents(self, blobs: list[str]) -> Mapping[str, bytes]:
        return self._repo.read_blobs(blobs, limit=self._limits.file_bytes)

    def _parse_all(self, files: Iterable[tuple[str, str]]) -> None:
        """See to it that every (path, blob) that can be read is parsed."""
        missing = [(path, oid) for path, oid in dict.fromkeys(files) if (path, oid) not in self._parsed]
        for start in range(0, len(missing), _BATCH):
            self._parse_batch(missing[start : start + _BATCH])

    def _parse_batch(self, files: Iterable[tuple[str, str]]) -> None:
        missing = {desired.cache_key(path, oid): (path, oid) for path, oid in files}
        cached = self._cache.get_many(missing)
        for key, content in cached.items():
            decoded = decode_parsed(content)
            if decoded is not None:
                self._parsed[missing.pop(key)] = decoded
        if not missing:
            return
        contents = self._repo.read_blobs({oid for _, oid in missing.values()}, limit=self._limits.file_bytes)
        fresh: dict[str, bytes] = {}
        for key, (path, oid) in missing.items():
            if oid in contents:
                parsed = desired.parse_file(path, contents[oid], max_bytes=self._limits.file_bytes)
                self._parsed[(path, oid)] = parsed
                fresh[key] = encode_parsed(parsed)
        self._cache.put_many(fresh)

    def _drop_beyond(self, files: Iterable[tuple[str, TreeEntry]]) -> None:
        """Keep the memory of one tree and a half: blobs that left the tree long ago are in the cache on disk."""
        live = {(path, entry.oid) for path, entry in files}
        if len(self._parsed) > 2 * len(live) + _SPARE:
            self._parsed = {key: value for key, value in self._parsed.items() if key in live}
            self._readings = {key: value for key, value in self._readings.items() if key in live}


def _in_unicode(entries: Mapping[str, _Entry]) -> Mapping[str, _Entry]:
    """The entries of a tree by names that can be written down: git's are bytes, and one that is not UTF-8 is shown with
    its bytes as `\\xff`. Content is found by blob id alone, so nothing else is asked of a name."""
    undecodable = [path for path in entries if _undecodable(path)]
    named = {path: path.encode(errors="surrogateescape").decode(errors="backslashreplace") for path in undecodable}
    return {named.get(path, path): entry for path, entry in entries.items()} if undecodable else entries


def _undecodable(path: str) -> bool:
    return not path.isascii() and any("\ud800" <= sign <= "\udfff" for sign in path)


def _readable(files: Iterable[tuple[str, TreeEntry]]) -> Iterable[tuple[str, str]]:
    return ((path, entry.oid) for path, entry in files if desired.is_read(path, entry.mode))
