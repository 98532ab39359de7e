"""Questions about commits that git refuses, asked in a repository where nothing was checked; only ids are read."""

from __future__ import annotations

from gitfleet.adapters.git.runner import GitRunner


def commit_with(git: GitRunner, oid: str) -> str | None:
    """The oldest commit of the repository that holds an object."""
    log = ("log", "--all", "--reverse", "--format=%H %T")
    changed = git.run(*log, "-t", f"--find-object={oid}").output.split()
    named = [line for line in git.run(*log).output.splitlines() if oid.encode() in line]
    found = changed or [word for line in named for word in line.split()]
    return found[0].decode() if found else None


def commits_before(git: GitRunner, commit: str, most: int) -> list[str]:
    """At most so many commits before a commit, the nearest first, following first parents."""
    result = git.run("rev-list", "--first-parent", f"--max-count={most + 1}", commit, "--")
    return result.output.decode().split()[1:] if result.ok else []
