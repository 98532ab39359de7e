"""Folders that take long to build: a pass tries each for a moment, and what is not done by then is built beside it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from typing import Final, TypeAlias

from gitfleet.errors import GitfleetError, RetryLater
from gitfleet.formats.sentences import named_briefly
from gitfleet.loop.texts import LoopText
from gitfleet.model.backoff import Curve
from gitfleet.model.failures import Failure, Subject, attempt
from gitfleet.ports.clock import Clock
from gitfleet.ports.helm import Chart, HelmRenderer
from gitfleet.ports.kustomize import KustomizeBuilder

QUICK_SECONDS: Final = 5.0
"""So long a pass tries to build a folder."""
_SHARE: Final = 0.5
"""So much of the time is spent on folders that turn out to take longer."""
_MOST_AT_ONCE: Final = 15.0
"""Seconds of a pass that such folders may take."""
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
    """One build: its output, or why there is none; `waits` while it is under way or will be."""

    name: str
    asked: float
    whole: _Work | None = None
    output: bytes | None = None
    error: GitfleetError
    waits: bool = False
    tries: int = 0
    again: float = 0.0


@dataclass(slots=True, kw_only=True)
class SlowBuilds:
    """Builds by a digest of all that they read. With `on_done` a pass does not wait for slow ones, and it is told, on
    some thread, that one is done; one that was ended at its limit is tried again after a pause. Without it they are
    waited for, and tried once."""

    clock: Clock
    on_done: Callable[[], None] | None = None
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _builds: dict[str, _Build] = field(default_factory=dict)
    _queue: list[_Build] = field(default_factory=list)
    _workers: int = 0
    _missed: set[str] = field(default_factory=set)
    _was_missed: bool = False
    _left: float = _MOST_AT_ONCE
    _since: float = 0.0

    def output(self, name: str, key: str, quick: _Work, whole: _Work) -> bytes:
        """The output of a build, called `name`: by `quick`, which is ended soon, or by `whole`. RetryLater while there
        is none."""
        now = self.clock.monotonic()
        with self._changed:
            known = self._builds.get(key)
            if known is not None:
                return self._of(known, now, whole)
            self._left = min(_MOST_AT_ONCE, self._left + (now - self._since) * _SHARE)
            self._since = now
            build = _Build(name=name, asked=now, error=RetryLater(LoopText.STILL_BUILT()))
            if self.on_done is not None and self._left < QUICK_SECONDS:
                self._missed.add(name)  # the next pass tries it
                raise build.error
        try:
            return whole() if self.on_done is None else quick()
        except RetryLater as error:
            build.error = error if self.on_done is None else build.error
        with self._changed:
            self._left -= self.clock.monotonic() - now
            self._builds[key] = build
            return self._of(build, now, whole)

    def waiting(self) -> tuple[str, ...]:
        """What a pass, which calls this at its end, had to do without, in one sentence."""
        with self._changed:
            names, self._missed = sorted(self._missed), set()
            self._was_missed = bool(names)
        return (LoopText.FOLDERS_STILL_BUILT(names=named_briefly(names, 3)),) if names else ()

    def wait(self, seconds: float, stopped: Callable[[], bool]) -> bool:
        """For a process that makes no other pass by itself: wait until all is built, no longer than so many seconds
        and until it is stopped; whether the last pass had to do without something."""
        end = self.clock.monotonic() + seconds
        with self._changed:
            while self._workers and not stopped() and self.clock.monotonic() < end:
                self._changed.wait(_POLL_SECONDS)
            if self._was_missed and not stopped():
                self._changed.wait(_POLL_SECONDS)  # nothing is under way, but the next pass may try more
            return self._was_missed

    def _of(self, build: _Build, now: float, whole: _Work) -> bytes:
        build.asked = now
        lasting = build.output is not None or not isinstance(build.error, RetryLater)
        due = not lasting and not build.waits and now >= build.again and self.on_done is not None
        if due and len(self._queue) < _MOST_QUEUED:
            build.waits, build.whole = True, whole
            self._queue.append(build)
            if self._workers < _WORKERS:
                self._workers += 1
                threading.Thread(target=self._work, name="builds", daemon=True).start()
        if build.waits or due:
            self._missed.add(build.name)
        else:
            self._missed.discard(build.name)
        return self._result(build)

    @staticmethod
    def _result(build: _Build) -> bytes:
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
                build = self._queue.pop(0)
            self._run(build)
            build.waits = False
            if self.on_done is not None:
                self.on_done()

    def _run(self, build: _Build) -> None:
        whole, build.whole = build.whole, None
        if whole is None:
            return  # never an empty output, which would say that the folder has no objects
        done = attempt(Subject("build", build.name), whole)
        if not isinstance(done, Failure):
            build.output = done
            return
        build.error = done.cause if isinstance(done.cause, GitfleetError) else RetryLater(done.report)
        build.tries += 1
        build.again = self.clock.monotonic() + _PAUSES.after(build.tries)

    def _forget(self) -> None:
        oldest = self.clock.monotonic() - _FORGOTTEN_AFTER
        self._queue = [build for build in self._queue if build.asked >= oldest]
        kept = {key: build for key, build in self._builds.items() if build.asked >= oldest}
        while sum(len(build.output or b"") for build in kept.values()) > _MOST_BYTES:
            kept.pop(min((key for key in kept if kept[key].output), key=lambda key: kept[key].asked))
        self._builds = kept


@dataclass(frozen=True, slots=True)
class SlowKustomize:
    """A KustomizeBuilder of two that differ in how long they take at most."""

    slow: SlowBuilds
    quick: KustomizeBuilder
    whole: KustomizeBuilder

    def build(self, folder: str, files: Mapping[str, bytes]) -> bytes:
        """KustomizeBuilder.build."""
        key = _digest("kustomize", folder, *(part for path in sorted(files) for part in (path, files[path])))
        made = (partial(builder.build, folder, files) for builder in (self.quick, self.whole))
        return self.slow.output(folder, key, *made)


@dataclass(frozen=True, slots=True)
class SlowHelm:
    """A HelmRenderer of two that differ in how long they take at most."""

    slow: SlowBuilds
    quick: HelmRenderer
    whole: HelmRenderer

    def render(self, chart: Chart) -> bytes:
        """HelmRenderer.render."""
        files = (part for path in sorted(chart.files) for part in (path, chart.files[path]))
        named = (chart.release, chart.namespace, chart.kube_version, str(chart.skip_crds), *chart.api_versions)
        key = _digest("helm", *named, *files, *chart.values)
        made = (partial(renderer.render, chart) for renderer in (self.quick, self.whole))
        return self.slow.output(f"the release {chart.release}", key, *made)


def _digest(*parts: str | bytes) -> str:
    """Of texts and contents, each with its length."""
    digest = sha256()
    for part in parts:
        content = part.encode(errors="surrogatepass") if isinstance(part, str) else part
        digest.update(b"%d:" % len(content) + content)
    return digest.hexdigest()
