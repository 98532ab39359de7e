"""What somebody does to the state branch, step by step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from gitfleet.errors import UnreadableCommit
from gitfleet.ports.repos import TreeEntry
from gitfleet.simulation.memory_repo import MemoryRepo
from gitfleet.state import state_file_kind
from tests.scenarios.world import STATE, World

EDITS = ("cut", "flipped", "removed", "replaced", "other")
STEPS = ("edit", "gitfleet's edit", "amend", "nothing", "lose a blob", "lose the history", "go back", "replace all")


class LossyRepo(MemoryRepo):
    """A remote that cannot give a commit of which a blob is lost, as git."""

    def list_tree(self, commit: str, under: str = "") -> Mapping[str, TreeEntry]:
        if any(entry.oid not in self._blobs for entry in self._commit(commit).tree.listing().values()):
            raise UnreadableCommit("a blob is lost", reason="a blob is lost", lasting=True)
        return super().list_tree(commit, under)


class Step(NamedTuple):
    """One thing that somebody does: to which file, how, where in it, with which byte."""

    what: str
    file: int
    edit: str
    place: int
    byte: int


def rewritten(world: World, **fields: Any) -> None:
    """The head of the state branch made again with other fields."""
    made = replace(world.repo.log(STATE)[0], id=f"{len(world.repo._commits):040x}", **fields)
    world.repo._commits[made.id] = made
    world.repo.move_branch(STATE, made.id)


def edited(files: Mapping[str, bytes], path: str, step: Step) -> bytes | None:
    """The content of a file after an edit."""
    content = files[path]
    place = step.place % max(1, len(content))
    match step.edit:
        case "cut":
            return content[:place]
        case "flipped":
            return content[:place] + bytes([step.byte]) * 40 + content[place + 40 :]
        case "replaced":
            return bytes([step.byte]) * place
        case "other":
            return files[sorted(files)[place % len(files)]]
        case _:
            return None


def damage(world: World, step: Step) -> None:
    """Do it to the state branch."""
    repo, head = world.repo, world.repo.log(STATE)[0]
    files = {path: repo._blobs.get(entry.oid, b"") for path, entry in head.tree.listing().items()}
    path = sorted(files)[step.file % len(files)]
    content = edited(files, path, step)
    match step.what:
        case "edit" | "gitfleet's edit":
            if content != files[path]:
                world.commit_state({path: content}, trailers=step.what != "edit")
        case "amend":
            world.commit_state({path: content, "notes.txt": str(step.place)})
            rewritten(world, message=head.message, parent=head.parent)
        case "nothing":
            world.commit_state({"notes.txt": str(world.state_commits())})
        case "lose a blob":
            if state_file_kind(path):  # other blobs are the config repo's, too
                repo._blobs.pop(head.tree.listing()[path].oid, None)
        case "lose the history":
            rewritten(world, parent=None)
        case "go back":
            log = repo.log(STATE)
            repo.move_branch(STATE, log[step.place % len(log)].id)
        case _:
            rewritten(world, message="Mine\n", parent=None)
