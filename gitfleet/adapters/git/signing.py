"""A person's own git identity, and commits that git signs in that person's name."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from gitfleet.adapters.git.errors import quote_of
from gitfleet.adapters.git.hardening import git_environment
from gitfleet.adapters.git.imports import compose_message
from gitfleet.adapters.git.local import find_local_repository
from gitfleet.adapters.git.runner import GitRunner
from gitfleet.errors import BadInput
from gitfleet.formats import git_names as names
from gitfleet.ports.repos import BranchChange, Person

_SIGNING = ("user.signingkey", "gpg.format")


def person_of(address: str) -> Person:
    """Who runs this process, as git has it: GIT_AUTHOR_NAME and GIT_AUTHOR_EMAIL, the settings of the repository where
    the address is one on this machine, and the user's own. BadInput where they name nobody."""
    git_dir = None
    if "://" not in address and (Path(address).expanduser() / ".git").exists():
        git_dir = str(find_local_repository(Path(address)).git_dir)
    git = GitRunner(Path("/"), git_environment(git_dir, use_git_config=True))
    found = dict(_setting(item) for item in git.run("config", "--null", "--list").output.split(b"\0") if item)
    name = os.environ.get("GIT_AUTHOR_NAME") or found.get("user.name", "")
    email = os.environ.get("GIT_AUTHOR_EMAIL") or found.get("user.email", "")
    try:
        names.check_identity((name, email))
    except BadInput as error:
        hint = "git config --global user.name NAME, and the same for user.email"
        raise BadInput("git does not know who commits here", hint=hint) from error
    signs = found.get("commit.gpgsign", "false").lower() in ("true", "yes", "on", "1", "")
    signing = {key: found[key] for key in _SIGNING if key in found} if signs else None
    return Person(name=name, email=email, signing=signing)


def commit_signed(git_dir: Path, person: Person, change: BranchChange, tree: str, parents: Sequence[str]) -> str:
    """The id of a commit of this tree, signed by git with the person's key; programs that sign are those of the user's
    own settings. BadInput when git cannot sign."""
    when = f"{int(change.when.timestamp())} +0000"
    environment = git_environment(str(git_dir), use_git_config=True, more=person.signing)
    for role in ("AUTHOR", "COMMITTER"):
        environment |= {f"GIT_{role}_NAME": person.name, f"GIT_{role}_EMAIL": person.email, f"GIT_{role}_DATE": when}
    after = [word for parent in parents for word in ("-p", parent)]
    result = GitRunner(git_dir, environment).run(
        "commit-tree", tree, *after, "--gpg-sign", "-F", "-", stdin=[compose_message(change)]
    )
    if not result.ok:
        hint = "let an agent (ssh-agent, gpg-agent) have the key, since git cannot ask for its password here"
        raise BadInput(f"git could not sign the commit: {quote_of(result.errors)}", hint=hint)
    return names.check_object_id(result.output.decode("ascii", errors="replace").strip())


def _setting(item: bytes) -> tuple[str, str]:
    key, _, value = item.decode(errors="replace").partition("\n")
    return key, value
