"""The stages of the Dockerfile, run step by step in root file systems; a stage that was run with the same content
before is found again."""

from __future__ import annotations

import hashlib
import json
import logging
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.architecture.sources import ROOT
from tests.image import rootfs
from tests.image.dockerfile import Config, Stage, filled_in, sources_of

_STEP_SECONDS = 3600
log = logging.getLogger(__name__)


class StepFailed(Exception):
    """A step of the Dockerfile ended with an error; the message has its line and the end of what it said."""


@dataclass(frozen=True, kw_only=True)
class Built:
    """What a stage left: its root file system, what processes in it get, and a digest of all that went into it."""

    root: Path
    config: Config
    digest: str


@dataclass(kw_only=True)
class Builder:
    """Runs stages, each in a folder of `cache` that is named by what goes into it."""

    cache: Path
    built: dict[str, Built] = field(default_factory=dict)

    def build(self, stages: list[Stage]) -> Built:
        """Run all stages in order; what the last one left."""
        self.cache.mkdir(parents=True, exist_ok=True)
        for stage in stages:
            self.built[stage.name] = self._stage(stage)
        return self.built[stages[-1].name]

    def _stage(self, stage: Stage) -> Built:
        config = Config(dict(rootfs.ENVIRONMENT))
        digest = self._digest(stage)
        wanted = self.cache / f"stage-{digest[:16]}"
        making = None
        if not wanted.is_dir():
            making = self.cache / f"{wanted.name}.unfinished"
            _remove(making)
            _copy(rootfs.base(stage.base, self.cache), making)
        for step in stage.steps:
            if step.instruction not in ("RUN", "COPY"):
                config.note(step)
                if step.instruction == "WORKDIR" and making:
                    _inside(making, config.folder).mkdir(parents=True, exist_ok=True)
            elif making:
                log.warning("Dockerfile:%d: %s %s", step.line, step.instruction, step.value[:100])
                self._change(making, config, step.instruction, step.value, step.line)
        if making:
            making.rename(wanted)
        return Built(root=wanted, config=config, digest=digest)

    def _change(self, root: Path, config: Config, instruction: str, value: str, line: int) -> None:
        if instruction == "COPY":
            return self._copied(root, config, filled_in(value, config.environment))
        environment = {**rootfs.host_settings(), **config.arguments, **config.environment}
        done = subprocess.run(
            rootfs.build_command(root, value, environment, config.folder),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
            timeout=_STEP_SECONDS, check=False,
        )  # fmt: skip
        if done.returncode:
            raise StepFailed(f"Dockerfile:{line}: {done.returncode}\n{done.stdout[-3000:]}")
        return None

    def _copied(self, root: Path, config: Config, value: str) -> None:
        stage, sources, target = sources_of(value)
        place = _inside(root, target if target.startswith("/") else f"{config.folder}/{target}")
        for source in sources:
            if stage is not None:
                _copy(_inside(self.built[stage].root, source), place)
                continue
            for name in tracked(source):
                within = Path(name).relative_to(source) if (ROOT / source).is_dir() else Path(name).name
                (place / within).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, place / within)

    def _digest(self, stage: Stage) -> str:
        parts: list[object] = [stage.base, rootfs.BASES.get(stage.base)]
        for step in stage.steps:
            parts.append([step.instruction, step.value])
            if step.instruction == "COPY":
                other, sources, _ = sources_of(step.value)
                files = [] if other else [name for source in sources for name in tracked(source)]
                parts += [self.built[other].digest] if other else [_content(name) for name in files]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def tracked(source: str) -> list[str]:
    """The files of the repo at or below a path: what an engine is given of it, as `.dockerignore` leaves out others."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", source],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return sorted(name for name in listed.stdout.split("\0") if name)


def _content(name: str) -> Mapping[str, str]:
    return {name: hashlib.sha256((ROOT / name).read_bytes()).hexdigest()}


def _inside(root: Path, path: str) -> Path:
    return root / path.lstrip("/")


def _copy(source: Path, target: Path) -> None:
    """Copy a folder's content, owners, modes and links as they are."""
    target.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cp", "--archive", "--reflink=auto", f"{source}/.", str(target)], check=True)


def _remove(folder: Path) -> None:
    if folder.exists():
        subprocess.run(["rm", "-rf", "--one-file-system", str(folder)], check=True)
