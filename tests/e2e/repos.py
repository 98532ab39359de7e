"""A config repo as people use it: a clone that commits and pushes to the repository that gitfleet is given."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

STATE = "gitfleet/state"
_FIRST = datetime(2026, 1, 1, tzinfo=UTC)
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)")
_UID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
_VERSION = re.compile(r"(resourceVersion: ).*")


def git(folder: Path, *words: str, check: bool = True, **environment: str) -> str:
    """Run git in a folder without anybody's settings; its output."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    mine = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", **environment}
    done = subprocess.run(["git", *words], cwd=folder, env=kept | mine, capture_output=True, text=True, check=False)
    if check and done.returncode != 0:
        raise AssertionError(f"git {' '.join(words)}: {done.stderr}")
    return done.stdout


class ConfigRepo:
    """Edits in `work`, a clone of the bare repository `hub`; equal edits make equal commit ids in every repo."""

    def __init__(self, hub: Path, work: Path) -> None:
        self.hub = hub
        self.work = work
        self._commits = 0
        git(work.parent, "clone", "--quiet", str(hub), str(work))
        for key, value in (("user.name", "A Person"), ("user.email", "person@example.com")):
            git(work, "config", key, value)

    @classmethod
    def bare(cls, folder: Path) -> ConfigRepo:
        """A new bare repository in a folder, and its clone beside it."""
        folder.mkdir(parents=True, exist_ok=True)
        git(folder, "init", "--quiet", "--bare", "--initial-branch=main", "hub.git")
        return cls(folder / "hub.git", folder / "work")

    def commit(self, files: Mapping[str, str | None], message: str = "Edit", at: datetime | None = None) -> str:
        """Write files (None: remove), commit (dated as told or as in every repo), push to main; the commit's id."""
        for path, content in files.items():
            target = self.work / path
            if content is None:
                target.unlink()
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(content)
        when = (at or _FIRST + timedelta(seconds=self._commits)).strftime("%Y-%m-%dT%H:%M:%SZ")
        self._commits += 1
        git(self.work, "add", "--all")
        git(self.work, "commit", "--quiet", "-m", message, GIT_AUTHOR_DATE=when, GIT_COMMITTER_DATE=when)
        git(self.work, "push", "--quiet", "origin", "HEAD:main")
        return git(self.work, "rev-parse", "HEAD").strip()

    def head(self, branch: str = STATE) -> str | None:
        """The head of a branch of the hub."""
        return git(self.hub, "rev-parse", "--verify", "--quiet", f"refs/heads/{branch}", check=False).strip() or None

    def paths(self, branch: str = STATE) -> list[str]:
        """Every file of a branch."""
        return git(self.hub, "ls-tree", "-r", "-z", "--name-only", branch).rstrip("\0").split("\0")

    def text(self, path: str, branch: str = STATE) -> str:
        """One file of a branch."""
        return git(self.hub, "show", f"{branch}:{path}")

    def state(self, path: str) -> Any:
        """One YAML document of the state branch."""
        return yaml.safe_load(self.text(path))

    def condition(self, placement: str, kind: str) -> dict[str, Any]:
        """A condition of a placement as the state branch has it."""
        conditions = self.state(f"placements/{placement}.yaml")["status"]["conditions"]
        found: dict[str, Any] = next(c for c in conditions if c["type"] == kind)
        return found

    def messages(self, branch: str = STATE) -> list[str]:
        """The whole message of every commit of a branch, the oldest first."""
        return git(self.hub, "log", "--reverse", "-z", "--format=%B", branch).rstrip("\0").split("\0")

    def parents(self, branch: str = STATE) -> list[int]:
        """How many parents each commit of a branch has, the oldest first."""
        return [
            len(line.split()) - 1 for line in git(self.hub, "rev-list", "--reverse", "--parents", branch).splitlines()
        ]

    def end_state(self) -> dict[str, str]:
        """The state branch without what differs between two runs of the same story: times, uids, versions."""
        found = {}
        for path in self.paths():
            text = _VERSION.sub(r"\1V", _UID.sub("UID", _MOMENT.sub("TIME", self.text(path))))
            found[path] = text
        return found
