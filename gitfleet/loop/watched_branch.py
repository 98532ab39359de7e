"""What is said when the watched branch is not there."""

from __future__ import annotations

from collections.abc import Mapping

from gitfleet.errors import BadInput


def no_such_branch(watch: str, heads: Mapping[str, str]) -> BadInput:
    """The error for a repository that has only these branches."""
    others = [name for name in heads if not name.startswith("gitfleet/")]
    if not others:
        return BadInput(
            "the repository has no commit on any branch yet",
            hint=f"commit to {watch} and, where there is a remote, push; `gitfleet init` lays a first fleet out",
        )
    named = ", ".join(others[:5]) + (f" and {len(others) - 5} more" if len(others) > 5 else "")
    return BadInput(
        f'the repository has no branch "{watch}"; it has {named}',
        hint=f"watch another one with --branch {others[0]}, or rename it: git branch -m {others[0]} {watch}",
    )
