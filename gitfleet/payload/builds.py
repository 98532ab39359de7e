"""The folders of the payload that are built, by kustomize or by Helm; each output is kept for as long as it may be
asked for again. Folders that take long to build are tried by a pass for a moment, and then built beside it.
"""

from __future__ import annotations

import posixpath
import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from typing import Final, Protocol, TypeAlias

from gitfleet import desired
from gitfleet.api.helm_releases import HELM_RELEASE_FILE
from gitfleet.errors import BadInput, GitfleetError, RetryLater
from gitfleet.formats.git_lfs import is_lfs_pointer
from gitfleet.formats.limits import MAX_STATE_BYTES
from gitfleet.formats.sentences import named_briefly
from gitfleet.formats.text_table import Sentence
from gitfleet.formats.yaml_reader import ParsedFile
from gitfleet.model.backoff import Curve
from gitfleet.model.failures import Failure, Subject, attempt
from gitfleet.payload.texts import PayloadText
from gitfleet.ports.caches import BlobCache
from gitfleet.ports.clock import Clock
from gitfleet.ports.helm import Chart, HelmRenderer
from gitfleet.ports.kustomize import KustomizeBuilder
from gitfleet.ports.repos import TreeEntry

TRY_SECONDS: Final = 5.0
"""What a pass gives a build; one that takes longer is made beside the passes."""
WHOLE_SECONDS: Final = 60.0
"""After these a build is ended."""
_MOST_AT_ONCE: Final = 15.0
_MOST_WAITED: Final = 300.0
"""Seconds that slow folders may take of a pass, and of a process that waits for them."""
_NOT_SLOW: Final = 1.0
"""A build that takes less costs nothing of that."""
_PAUSES: Final = Curve.growing(60.0, 2.0, 3600.0)
"""Before a build that was ended at its limit is tried again."""
_FORGOTTEN_AFTER: Final = 3600.0
"""Seconds after which a build that nobody asks for, of an older commit, is not begun and not kept."""
_MOST_BYTES: Final = 128 << 20
"""Of outputs that are kept."""
_WORKERS: Final = 2
_MOST_QUEUED: Final = 2
"""Builds that wait for a worker: each has all that it reads in memory. The others are asked for again."""
_POLL_SECONDS: Final = 0.2
_Work: TypeAlias = Callable[[], bytes]


@dataclass(slots=True, kw_only=True)
class _Build:
    """A slow build: its output, or why there is none; `waits` while it is under way or will be."""

    name: str
    used_at: float
    error: GitfleetError
    output: bytes | None = None
    waits: bool = False
    tries: int = 0
    again: float = 0.0


@dataclass(slots=True, kw_only=True)
class SlowBuilds:
    """Builds by a digest of all that they read. With `on_done` a pass does not wait for slow ones, and it is told, on
    some thread, that one is done; one that was ended at its limit is tried again after a pause. Without it they are
    waited for, for a bounded time in all, and tried once. `cache` keeps outputs for other processes."""

    clock: Clock
    on_done: Callable[[], None] | None = None
    cache: BlobCache | None = None
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _builds: dict[str, _Build] = field(default_factory=dict)
    _queue: list[tuple[_Build, _Work]] = field(default_factory=list)
    _workers: int = 0
    _missed: dict[str, str] = field(default_factory=dict)
    """What this pass has to do without, by key."""
    _is_unfinished: bool = False
    _taken: float = 0.0
    """Seconds that slow builds have taken of this pass, or of this process."""

    def output(self, name: str, key: str, quick: _Work, whole: _Work, tool: str = "") -> bytes:
        """The output of a build, called `name`: `quick` is ended after TRY_SECONDS, `whole` after WHOLE_SECONDS.
        RetryLater while there is none. The key and the `tool` determine an output that is cached; "": none is."""
        if self.cache is not None and tool:
            stored = f"built-{tool}-{key}"
            cached = self.cache.get_many([stored]).get(stored)
            if cached is not None:
                return cached
            quick, whole = (partial(_stored, self.cache, stored, work) for work in (quick, whole))
        return self._built(name, key, quick, whole)

    def _built(self, name: str, key: str, quick: _Work, whole: _Work) -> bytes:
        began = self.clock.monotonic()
        with self._changed:
            if (build := self._builds.get(key)) is not None:
                return self._of(key, build, whole)
            if self.on_done is None and self._taken + WHOLE_SECONDS > _MOST_WAITED:
                raise RetryLater(PayloadText.NOT_BUILT_OTHERS_TOOK(seconds=_MOST_WAITED))
            if self.on_done is not None and self._taken + TRY_SECONDS > _MOST_AT_ONCE:
                self._missed[key] = name  # a later pass tries it
                raise RetryLater(PayloadText.STILL_BUILT())
        try:
            return whole() if self.on_done is None else quick()
        except RetryLater as error:
            reason = error if self.on_done is None else RetryLater(PayloadText.STILL_BUILT())
            with self._changed:
                build = self._builds[key] = _Build(name=name, used_at=began, error=reason)
                return self._of(key, build, whole)
        finally:
            took = self.clock.monotonic() - began
            self._taken += took if took >= _NOT_SLOW else 0.0

    def waiting(self) -> tuple[str, ...]:
        """What a pass, which calls this at its end, had to do without, in one sentence."""
        with self._changed:
            names, self._missed, self._taken = sorted({*self._missed.values()}), {}, 0.0
            self._is_unfinished = bool(names)
        return (PayloadText.FOLDERS_STILL_BUILT(names=named_briefly(names, 3)),) if names else ()

    def wait(self, seconds: float, stopped: Callable[[], bool]) -> bool:
        """For a process that makes no other pass by itself: wait until all is built, no longer than so many seconds
        and until it is stopped; whether the last pass had to do without something."""
        end = self.clock.monotonic() + seconds
        with self._changed:
            while self._is_unfinished and self._workers and not stopped() and self.clock.monotonic() < end:
                self._changed.wait(_POLL_SECONDS)
            return self._is_unfinished

    def _of(self, key: str, build: _Build, whole: _Work) -> bytes:
        build.used_at = self.clock.monotonic()
        lasting = build.output is not None or not isinstance(build.error, RetryLater)
        due = not (lasting or build.waits) and build.used_at >= build.again and self.on_done is not None
        if due and len(self._queue) < _MOST_QUEUED:
            build.waits = True
            self._queue.append((build, whole))
            if self._workers < _WORKERS:
                self._workers += 1
                threading.Thread(target=self._work, name="builds", daemon=True).start()
        self._missed.pop(key, None)
        if build.waits or due:
            self._missed[key] = build.name
        if build.output is None:
            raise build.error.with_traceback(None)
        return build.output

    def _work(self) -> None:
        while True:
            with self._changed:
                self._forget()
                if not self._queue:
                    self._workers -= 1
                    self._changed.notify_all()
                    return
                build, whole = self._queue.pop(0)
            self._run(build, whole)
            build.waits = False
            if self.on_done is not None:
                self.on_done()

    def _run(self, build: _Build, whole: _Work) -> None:
        done = attempt(Subject("build", build.name), whole)
        if not isinstance(done, Failure):
            build.output = done
            return
        build.error = done.cause if isinstance(done.cause, GitfleetError) else RetryLater(done.report)
        build.tries += 1
        build.again = self.clock.monotonic() + _PAUSES.after(build.tries)

    def _forget(self) -> None:
        oldest = self.clock.monotonic() - _FORGOTTEN_AFTER
        self._queue = [(build, whole) for build, whole in self._queue if build.used_at >= oldest]
        retained = {key: build for key, build in self._builds.items() if build.used_at >= oldest}
        while sum(len(build.output or b"") for build in retained.values()) > _MOST_BYTES:
            retained.pop(min((key for key in retained if retained[key].output), key=lambda key: retained[key].used_at))
        self._builds = retained


def _stored(cache: BlobCache, key: str, work: _Work) -> bytes:
    output = work()
    cache.put_many({key: output})
    return output


@dataclass(frozen=True, slots=True)
class SlowKustomize:
    """A KustomizeBuilder of two, one for each limit. `tool` says which program builds."""

    slow: SlowBuilds
    quick: KustomizeBuilder
    whole: KustomizeBuilder
    tool: Callable[[], str] = str

    def build(self, folder: str, files: Mapping[str, bytes]) -> bytes:
        """KustomizeBuilder.build."""
        key = _digest("kustomize", folder, *(part for path in sorted(files) for part in (path, files[path])))
        quick, whole = (partial(builder.build, folder, files) for builder in (self.quick, self.whole))
        return self.slow.output(folder, key, quick, whole, self.tool())


@dataclass(frozen=True, slots=True)
class SlowHelm:
    """A HelmRenderer of two, one for each limit. `tool` says which program renders."""

    slow: SlowBuilds
    quick: HelmRenderer
    whole: HelmRenderer
    tool: Callable[[], str] = str

    def render(self, chart: Chart) -> bytes:
        """HelmRenderer.render."""
        files = (part for path in sorted(chart.files) for part in (path, chart.files[path]))
        named = (chart.release, chart.namespace, chart.kube_version, str(chart.skip_crds), *chart.api_versions)
        key = _digest("helm", *named, *files, *chart.values)
        quick, whole = (partial(renderer.render, chart) for renderer in (self.quick, self.whole))
        return self.slow.output(f"the release {chart.release}", key, quick, whole, self.tool())


def _digest(*parts: str | bytes) -> str:
    """Of texts and contents, each with its length."""
    digest = sha256()
    for part in parts:
        content = part.encode(errors="surrogatepass") if isinstance(part, str) else part
        digest.update(b"%d:" % len(content) + content)
    return digest.hexdigest()


_VARIABLE: Final = b"${MEMBER-CLUSTER-"
"""How the variables of overrides begin."""
REGULAR: Final = ("100644", "100755")
ReadBlobs: TypeAlias = Callable[[list[str]], Mapping[str, bytes]]
Listing: TypeAlias = Mapping[str, TreeEntry]
_BOTH: Final = PayloadText.NOT_BUILT_SINCE_FOLDER_KUSTOMIZATION()
_UNUSED: Final = PayloadText.HELM_CHART_NOTHING_RENDERS(
    helm_release_file=HELM_RELEASE_FILE, ignore_file=desired.IGNORE_FILE
)


class FolderBuilder(Protocol):
    """Builds folders of one sort."""

    @property
    def unfinished(self) -> bool:
        """Whether a build of the last reading may succeed if it is tried again."""

    def built(
        self, folders: Collection[str], layout: desired.FolderLayout, listing: Listing, read: ReadBlobs
    ) -> dict[str, desired.SourceFile]:
        """What `DesiredRequest.built` wants: an output for each of the folders of a tree, or why there is none."""

    def may_render(self, chart: str) -> bool:
        """Whether something of the last reading renders the chart of a folder, as far as it can be read."""


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

    def built(self, layout: desired.FolderLayout, listing: Listing, read: ReadBlobs) -> dict[str, desired.SourceFile]:
        """What `DesiredRequest.built` wants, for the folders of a layout."""
        kustomized, charted = _sorts(layout.built, layout.variants)
        made = self.kustomizer.built(kustomized, layout, listing, read)
        made |= self.charts.built(charted, layout, listing, read)
        for folder in charted:
            if posixpath.join(folder, HELM_RELEASE_FILE) not in listing:
                used = self.charts.may_render(folder) or self.kustomizer.may_render(folder)
                made[folder] = output_of("helm", b"") if used else desired.SourceFile(blob="", why=_UNUSED)
        both = (folder for folder in kustomized if posixpath.join(folder, HELM_RELEASE_FILE) in listing)
        return made | {folder: desired.SourceFile(blob="", why=f"{HELM_RELEASE_FILE} {_BOTH}") for folder in both}


def namespace_of(layout: desired.FolderLayout, folder: str) -> str:
    """The namespace of the first Folder for which a folder is payload; "" for none."""
    namespaces = (owner.folder.namespace or "" for owner in layout.owners(folder))
    return next(filter(None, namespaces), "")


def _sorts(folders: Mapping[str, str], payload: Collection[str]) -> tuple[set[str], set[str]]:
    """The folders of kustomize, and Helm's outermost ones; what lies below those and is no payload is theirs."""
    charted = {folder for folder, file in folders.items() if not desired.is_kustomization(file)}
    inside = {folder for folder in folders if any(outer in charted for outer in desired.folders_of(folder))}
    inside.difference_update(payload)
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

    def output(
        self, key: str, build: Callable[[], desired.SourceFile], say: Callable[[str], str] = lambda message: message
    ) -> desired.SourceFile:
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
                output = desired.SourceFile(blob="", why=say(error.args[0]))
        self._now[key] = output
        return output


def target_of(folder: str, reference: str) -> str:
    """The path that a reference of a folder's file names."""
    return posixpath.normpath(posixpath.join(folder, reference))


def of_file(path: str, fault: str) -> str:
    """What is wrong with a file that a build reads, with its path; the sentence keeps its code and its cause."""
    sentence = Sentence(f"{path} {fault}")
    if not isinstance(fault, Sentence):
        return str(sentence)
    sentence.code, sentence.cause = fault.code, fault.cause
    return sentence


def contents_at(paths: Iterable[str], listing: Listing, read: ReadBlobs) -> dict[str, bytes]:
    """The files at these paths; BadInput names the first that is too large, or of which git has only a pointer of Git
    LFS."""
    oids = {path: listing[path].oid for path in sorted(paths)}
    contents = read([*oids.values()])
    for path, oid in oids.items():
        if oid not in contents:
            raise BadInput(of_file(path, PayloadText.TOO_LARGE_READ()))
        if is_lfs_pointer(contents[oid]):
            raise BadInput(of_file(path, PayloadText.GIT_LFS_POINTER()))
    return {path: contents[oid] for path, oid in oids.items()}


def key_of(folder: str, paths: Iterable[str], listing: Listing) -> str:
    """A digest of a folder and of the files that it is built of."""
    named = "\n".join(f"{path} {listing[path].oid}" for path in sorted(paths))
    return sha256(f"{folder}\n{named}".encode()).hexdigest()


def output_of(program: str, content: bytes, sources: Collection[str] = ()) -> desired.SourceFile:
    """A program's output as one file."""
    return desired.SourceFile(
        blob="", size=len(content), parsed=parsed_output(program, content), sources=tuple(sorted(sources))
    )


def parsed_output(program: str, content: bytes) -> ParsedFile:
    """What a program printed. Its lines are nowhere in the repo, so every document stands on line 1."""
    if _VARIABLE in content:
        raise BadInput(PayloadText.VARIABLE_NEVER_REPLACED(program=program))
    parsed = desired.parse_file("built.yaml", content, max_bytes=MAX_STATE_BYTES)
    documents = tuple(replace(document, line=1) for document in parsed.documents)
    faults = tuple((1, f"{program}'s output: {message}") for _, message in parsed.faults)
    return ParsedFile(documents, tuple(sorted(set(faults))))
