"""One comment on a pull request, kept up to date."""

from __future__ import annotations

from typing import Final

from gitfleet.model.forges import Comment
from gitfleet.ports.forges import Forge
from gitfleet.views import shortened

MARKER: Final = "<!-- gitfleet plan -->"
"""The first line of the comment, which no forge shows: by it the comment is found again among those of the user."""
MOST_CHARACTERS: Final = 60_000
"""GitHub takes 65,536."""


def put_comment(forge: Forge, number: int, markdown: str) -> str:
    """Put a text on a pull request, in the place of the one that this user put there before; what was done, in a word.
    Anybody can write a comment with the marker: those of others stay as they are."""
    text = f"{MARKER}\n{shortened(markdown, MOST_CHARACTERS)}"
    there = next((one for one in forge.comments(number) if one.own and one.body.startswith(MARKER)), None)
    if there is not None and there.body.splitlines() == text.splitlines():
        return "unchanged"
    forge.write_comment(number, Comment(id=there.id if there is not None else 0, body=text))
    return "added" if there is None else "replaced"
