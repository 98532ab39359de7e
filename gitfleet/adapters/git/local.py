"""A repository on this machine as a remote: where its git directory is, whose it is, what is checked out in it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Set
from dataclasses import dataclass
from pathlib import Path

from gitfleet.adapters.git.hardening import git_environment
from gitfleet.adapters.git.runner import GitRunner
from gitfleet.adapters.git.texts import GitText
from gitfleet.errors import BadInput

_HEAD_OF_BRANCH = "ref: refs/heads/"
_LONGEST_POINTER_BYTES = 4096


@dataclass(frozen=True, slots=True)
class LocalRepository:
    """`git_dir` is the common git directory; `trusted_by_user` says that git's own settings trust its owner."""

    git_dir: Path
    trusted_by_user: bool = False

    def checked_out_branches(self, git: GitRunner) -> Set[str]:
        """Branches that some work tree of this repository shows right now; a push to them would leave it stale."""
        heads = list(self.git_dir.glob("worktrees/*/HEAD"))
        if not self._is_bare(git):
            heads.append(self.git_dir / "HEAD")
        texts = (_first_line(head) for head in heads)
        return {text.removeprefix(_HEAD_OF_BRANCH) for text in texts if text.startswith(_HEAD_OF_BRANCH)}

    def service(self, name: str, follow: bool = False) -> str:
        """The command that serves this repository to a fetch or push: none of its hooks or helpers run. With `follow` a
        clean work tree follows its branch.

        git clears our settings from the environment when it crosses to a local repository, hence the options.
        """
        settings = {
            "core.hooksPath": os.devnull,
            "core.fsmonitor": "false",
            "core.alternateRefsCommand": "true",
            "receive.denyCurrentBranch": "updateInstead" if follow else "refuse",
            "receive.fsckObjects": "true",
        }
        if self.trusted_by_user:
            settings["safe.directory"] = str(self.git_dir)
        options = [word for key, value in settings.items() for word in ("-c", f"{key}={value}")]
        return shlex.join(["git", *options, name])

    def _is_bare(self, git: GitRunner) -> bool:
        result = git.run("config", "--file", str(self.git_dir / "config"), "--type=bool", "--get", "core.bare")
        return result.output.strip() == b"true" if result.ok else self.git_dir.name != ".git"


def find_local_repository(path: Path) -> LocalRepository:
    """The repository at a path: a work tree's top, a `.git` directory or file, or a bare repository.

    BadInput when there is none, or when it belongs to another user and git does not trust it.
    """
    top = path.expanduser().absolute()
    git_dir = next((git_dir for git_dir in (_follow(top / ".git"), _follow(top)) if git_dir), None)
    if git_dir is None:
        raise BadInput(GitText.NO_REPOSITORY_AT(path=path), hint=GitText.GIVE_TOP_FOLDER())
    return LocalRepository(git_dir, _check_owner(git_dir, shown=path))


def _follow(place: Path) -> Path | None:
    if place.is_file():
        pointer = _first_line(place)
        if not pointer.startswith("gitdir: "):
            return None
        place = (place.parent / pointer.removeprefix("gitdir: ")).resolve()
    if (common := place / "commondir").is_file():
        place = (place / _first_line(common)).resolve()
    sound = (place / "HEAD").is_file() and (place / "objects").is_dir() and (place / "refs").is_dir()
    return place.resolve() if sound else None


def _first_line(file: Path) -> str:
    try:
        with file.open(encoding="utf-8", errors="surrogateescape") as lines:
            return lines.readline(_LONGEST_POINTER_BYTES).rstrip("\n")
    except OSError:
        return ""


def _check_owner(git_dir: Path, *, shown: Path) -> bool:
    """False for our own repository, True for another's that the user's git settings trust."""
    ours = {os.geteuid()}
    if os.geteuid() == 0 and os.environ.get("SUDO_UID", "").isdecimal():
        ours.add(int(os.environ["SUDO_UID"]))  # as git itself has it
    if git_dir.stat().st_uid in ours:
        return False
    place = shown.expanduser().absolute()
    # Only the user's and the system's settings count, so git runs where no repository can put in a word.
    git = GitRunner(Path("/"), git_environment(None, use_git_config=True))
    result = git.run("config", "--null", "--get-all", "safe.directory")
    trusted = {value.rstrip("/") for value in result.output.decode(errors="surrogateescape").split("\0")}
    if not trusted & {"*", str(git_dir), str(git_dir.parent), str(place)}:
        raise BadInput(GitText.BELONGS_ANOTHER_USER(path=shown), hint=GitText.TRUST_OWNER(path=place))
    return True
