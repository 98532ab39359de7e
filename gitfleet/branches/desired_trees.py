"""From commits to values: the desired tree, each blob parsed once per object id.

Two caches stand before the parser: a dictionary that lives as long as the process, and the BlobCache that survives it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, TypeVar

from gitfleet import desired
from gitfleet.api.clusters import MemberCluster, Taint
from gitfleet.api.faults import WHOLE_COMMIT, Fault
from gitfleet.api.objects import Manifest
from gitfleet.api.placements import PlacementKey
from gitfleet.branches.texts import BranchesText
from gitfleet.errors import BadInput, UnreadableCommit
from gitfleet.formats.yaml_reader import ParsedFile, decode_parsed, encode_parsed
from gitfleet.model.desired import Desired
from gitfleet.model.state import FleetState
from gitfleet.payload.builds import Builds, SlowBuilds
from gitfleet.payload.encrypted_secrets import EncryptedSecrets
from gitfleet.ports.caches import BlobCache
from gitfleet.ports.decryption import Decryptor
from gitfleet.ports.repos import RepoReader, TreeEntry
from gitfleet.settings import Limits

_Entry = TypeVar("_Entry")
_BATCH: Final = 2000
"""So many files are read and parsed at once: a bound on memory, not on work."""
CORDON = Taint(key="gitfleet.dev/cordoned", value="", effect="NoSchedule")
"""What `--cordon` puts on a cluster: what is there stays, nothing new comes."""
_SPARE: Final = 1000
"""So many files beyond twice a tree's are kept before those that left it are dropped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIf:
    """The same fleet with clusters taken away, added or cordoned, for `plan` and `simulate`. `without` and `cordon` are
    cluster names or `label=value`; `extra` are (file name, content) of MemberClusters."""

    without: tuple[str, ...] = ()
    cordon: tuple[str, ...] = ()
    extra: tuple[tuple[str, bytes], ...] = ()

    def applied_to(self, fleet: Desired) -> Desired:
        """The fleet as it would be. BadInput when a name or label chooses no cluster, or a file has a fault."""
        if not (self.without or self.cordon or self.extra):
            return fleet
        clusters = dict(fleet.clusters)
        for path, content in self.extra:
            clusters.update({cluster.name: cluster for cluster in _clusters_in(path, content)})
        for name in _chosen(clusters.values(), self.cordon, "--cordon"):
            clusters[name] = replace(clusters[name], taints=(*clusters[name].taints, CORDON))
        for name in _chosen(clusters.values(), self.without, "--without"):
            del clusters[name]
        return replace(fleet, objects={**fleet.objects, "clusters": clusters})


class _Read(NamedTuple):
    """What a reading of a commit depends on: what was accepted before and does not leave."""

    commit: str
    observed: str | None
    placements: frozenset[PlacementKey]

    @classmethod
    def of(cls, commit: str, state: FleetState) -> _Read:
        standing = (key for key, record in state.placements.items() if record.placement.deleting is None)
        return cls(commit, state.observed_commit, frozenset(standing))


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
        self._governed: dict[object, desired.FileReading] = {}
        self._latest: dict[_Read, Desired] = {}

    def at(self, commit: str, state: FleetState) -> Desired:
        """The fleet as written at a commit, parts with errors at their last good version as `state` knows it."""
        read = _Read.of(commit, state)
        if (cached := self._latest.get(read) or self._accepted(commit, state)) is not None:
            return cached
        listing, refusal = self._checked_listing(commit)
        if refusal is not None:
            return self._without(commit, refusal, state)
        before, changed = self._changes(commit, listing, state)
        good_versions = ((path, good) for path, versions in state.last_good.items() for good in versions)
        last_good = [(path, good.path or path, good) for path, good in good_versions if good.blob]
        older = [(origin, TreeEntry("100644", good.blob)) for _, origin, good in last_good]
        self._parse_all(_readable([*listing.items(), *before.items(), *older]))
        versions: dict[str, list[desired.OlderVersion]] = {}
        for path, origin, good in last_good:
            source = self._source(origin, TreeEntry("100644", good.blob))
            version = desired.OlderVersion(path=origin, source=source, documents=good.documents)
            versions.setdefault(path, []).append(version)
        files = {path: self._source(path, entry) for path, entry in listing.items()}
        fleet = desired.read_desired(
            desired.DesiredRequest(
                commit=commit,
                files=files,
                before={path: self._source(path, entry) for path, entry in before.items()},
                last_good=versions,
                changed=changed,
                accepted=state,
                contents=self._content,
                built=self._built(listing, files),
                simulated=self._clusters.simulated,
                governed=self._governed,
            )
        )
        fleet = self._clusters.what_if.applied_to(fleet)
        self._latest = {key: reading for key, reading in self._latest.items() if key.commit == commit}
        if self._builds is None or not self._builds.unfinished:
            self._latest[read] = fleet
        self._drop_beyond([*listing.items(), *before.items(), *older])
        return fleet

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
            return {}, BranchesText.CANNOT_READ_PUT_COMMIT_TOP(reason=error.reason)
        most = self._limits.files
        if len(listing) > most and (files := len(desired.read_paths(listing, self._ignore_rules(listing)))) > most:
            few = BranchesText.REMOVE_FILES_IGNORE_OTHERS(ignore_file=desired.IGNORE_FILE)
            return {}, BranchesText.FILES_MOST_READ(files=files, most=most, few=few)
        return listing, None

    def _without(self, commit: str, refusal: str, state: FleetState) -> Desired:
        """The fleet as accepted last, in place of a commit that is refused as a whole."""
        older, last = state.observed_commit, Desired(commit=commit, refused=True)
        accepted = BranchesText.ACCEPTED_LAST_COMMIT(older=older[:12]) if older else BranchesText.ACCEPTED_LAST()
        sentence = BranchesText.COMMIT_REFUSED_WHOLE.coded(commit=commit[:12], refusal=refusal, accepted=accepted)
        refused = Fault(WHOLE_COMMIT, 1, "", "", sentence)
        if older is not None and older != commit:
            with suppress(BadInput):  # history was rewritten, and it is gone: what is missing does not count as removed
                last = self.at(older, state)
        return replace(last, faults=(refused, *(fault for fault in last.faults if fault.path != refused.path)))

    def _accepted(self, commit: str, state: FleetState) -> Desired | None:
        """A reading of a commit that the state has accepted as a whole: without a retained part or a fault on either
        side, reading it again against what came of it gives the same."""
        if state.observed_commit != commit or state.faults or state.last_good:
            return None
        readings = (fleet for read, fleet in self._latest.items() if read.commit == commit and not fleet.faults)
        return next(readings, None)

    def regular_files(self, commit: str) -> Mapping[str, str]:
        """The blob of every ordinary file that a reader of the config repo may need, by path."""
        listing = self._listing(commit)
        return {path: entry.oid for path, entry in listing.items() if entry.mode in ("100644", "100755")}

    def documents(self, sources: Iterable[tuple[str, str]]) -> Mapping[tuple[str, int], Manifest]:
        """Payload manifests of (path, blob) pairs, by (blob, document index): what snapshots are restored from."""
        pairs = sorted(set(sources))
        manifests: dict[tuple[str, int], Manifest] = {}
        self._parse_all(pairs)
        for path, blob in pairs:
            parsed = self._parsed.get((path, blob))
            for manifest in desired.manifests_of(path, blob, parsed) if parsed is not None else ():
                manifests[(manifest.origin.blob, manifest.origin.document)] = manifest
        return manifests

    def _listing(self, commit: str) -> Mapping[str, TreeEntry]:
        return _in_unicode(self._repo.list_tree(commit))

    def _changes(
        self, commit: str, listing: Mapping[str, TreeEntry], state: FleetState
    ) -> tuple[dict[str, TreeEntry], frozenset[str] | None]:
        """The files that were read at the observed commit and are others now, or are not read any more, as they were;
        and every path that differs or is only read now (None when that is no longer known)."""
        if state.observed_commit is None or state.observed_commit == commit:
            return {}, frozenset()
        try:
            changed = _in_unicode(self._repo.changed_paths(state.observed_commit, commit))
            before = self._listing(state.observed_commit) if changed else {}
        except BadInput:
            # History was rewritten and the old commit is gone: only what the state branch has can be retained.
            return {}, None
        read = self._read_paths(before) if changed else frozenset()
        hidden, shown = frozenset[str](), frozenset[str]()
        if desired.IGNORE_FILE in changed or any(
            desired.is_build_file(p) or desired.is_folder_file(p) for p in changed
        ):
            now = self._read_paths(listing)
            hidden, shown = read - now, now - read
        files = {path: before[path] for path in sorted({*changed, *hidden}) if path in read}
        return files, shown.union(changed)

    def _read_paths(self, listing: Mapping[str, TreeEntry]) -> frozenset[str]:
        """The files whose objects go on as their blobs have them."""
        folder_files = [path for path in listing if desired.is_folder_file(path)]
        self._parse_all(_readable((path, listing[path]) for path in folder_files))
        sources = {path: self._source(path, listing[path]) for path in folder_files}
        return desired.read_paths(listing, self._ignore_rules(listing), self._layout(listing, sources).variants)

    def _built(
        self, listing: Mapping[str, TreeEntry], files: Mapping[str, desired.SourceFile]
    ) -> dict[str, desired.SourceFile]:
        if self._builds is None:
            return {}
        return self._builds.built(self._layout(listing, files), listing, self._contents)

    def _layout(
        self, listing: Mapping[str, TreeEntry], files: Mapping[str, desired.SourceFile]
    ) -> desired.FolderLayout:
        paths = [*desired.wanted_paths(listing, self._ignore_rules(listing))]
        return desired.layout_of(paths, files, self._content)

    def _ignore_rules(self, listing: Mapping[str, TreeEntry]) -> desired.IgnoreRules:
        entry = listing.get(desired.IGNORE_FILE)
        return desired.read_ignore(
            self._content(entry.oid) if entry is not None and entry.mode.startswith("100") else b""
        )

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


def _chosen(clusters: Iterable[MemberCluster], selectors: Iterable[str], option: str) -> set[str]:
    candidates = tuple(clusters)
    chosen: set[str] = set()
    for selector in selectors:
        key, is_label, value = selector.partition("=")
        matching = {
            cluster.name
            for cluster in candidates
            if (cluster.scheduling_labels.get(key) == value if is_label else cluster.name == selector)
        }
        if not matching:
            raise BadInput(
                BranchesText.CHOOSES_NO_CLUSTER(option=option, selector=selector),
                hint=BranchesText.NAME_CLUSTER_LABEL_KEY_VALUE(),
            )
        chosen |= matching
    return chosen


def _clusters_in(path: str, content: bytes) -> list[MemberCluster]:
    parsed = desired.parse_file(path, content)
    blob = f"what-if:{path}"
    inside = f"clusters/{path.rsplit('/', 1)[-1]}"
    request = desired.DesiredRequest(
        commit="",
        files={inside: desired.SourceFile(blob=blob, parsed=parsed, size=len(content))},
        contents=lambda _: content,
    )
    fleet = desired.read_desired(request)
    if fleet.faults:
        raise BadInput(str(fleet.faults[0]), hint=BranchesText.CORRECT_HOLDS_MEMBERCLUSTERS_IF(path=path))
    if not fleet.clusters:
        raise BadInput(
            BranchesText.HOLDS_NO_MEMBERCLUSTER(path=path), hint=BranchesText.WRITE_ONE_MORE_MEMBERCLUSTER_DOCUMENTS()
        )
    return list(fleet.clusters.values())
