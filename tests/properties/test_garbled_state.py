"""Whatever somebody else does to whichever files of the state branch: the process lives, deletes nothing, and the fleet
ends where it would have ended without it."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.profiles import examples
from tests.scenarios.test_garbled_state import begin, garble, objects, payload
from tests.scenarios.world import STATE

_KINDS = ("cut", "flipped", "removed", "replaced", "other")


@st.composite
def edits(draw: st.DrawFn) -> list[tuple[int, str, int, int]]:
    """(which file, what is done to it, where, with which byte), one to three times."""
    number = st.integers(0, 10_000)
    edit = st.tuples(number, st.sampled_from(_KINDS), number, st.integers(0, 255))
    return draw(st.lists(edit, min_size=1, max_size=3))


def edited(files: Mapping[str, bytes], path: str, kind: str, place: int, byte: int) -> bytes | None:
    """The content of a file after one edit."""
    content = files[path]
    place %= max(1, len(content))
    match kind:
        case "cut":
            return content[:place]
        case "flipped":
            return content[:place] + bytes([byte]) * 40 + content[place + 40 :]
        case "replaced":
            return bytes([byte]) * place
        case "other":
            return files[sorted(files)[place % len(files)]]
        case _:
            return None


@settings(max_examples=examples(30))
@given(edits=edits(), history=st.booleans())
def test_any_garbled_files_delete_nothing_and_heal(edits: list[tuple[int, str, int, int]], history: bool) -> None:
    world = begin()
    before = objects(world)
    files = world.repo.files(STATE)
    paths = [path for path in sorted(files) if path != "README.md"]
    garbled = {
        paths[which % len(paths)]: edited(files, paths[which % len(paths)], kind, place, byte)
        for which, kind, place, byte in edits
    }
    garble(world, garbled, history=history)
    world.restart()
    with world.nothing_deleted():
        world.settle()
    world.commit(*payload("web", "web:2"), *payload("api", "api:2"))
    with world.nothing_deleted():
        world.settle()
    assert objects(world) == before
    assert {world.image_in(name, "web") for name in ("c1", "c2", "c3")} == {"web:2"}
    assert world.image_in("c3", "api") == "api:2"
    assert not world.state().damage.any
    assert {entry.uid is None for owned in world.state().inventory.values() for entry in owned.values()} == {False}
