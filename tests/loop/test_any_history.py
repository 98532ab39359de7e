"""invariant 2 over any history: commits break, repair, add and remove objects; each goes on as it was last sound."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.branches.commits import Commits, config_map, faulty_map, stream, values
from tests.profiles import examples

NAMES = {"resources/a.yaml": ("apple", "plum", "pear"), "resources/b.yaml": ("fig", "kiwi"), "c.yaml": ("lime",)}
GONE, BROKEN, FAULTY, HURT, REMOVED = "gone", "broken", "faulty", "hurt", "removed"

document = st.sampled_from(["1", "2", "3", FAULTY, GONE, HURT])
fruit_files = st.fixed_dictionaries(
    {
        path: st.one_of(st.sampled_from([BROKEN, REMOVED]), st.fixed_dictionaries(dict.fromkeys(names, document)))
        for path, names in NAMES.items()
    }
)


def text_of(file: str | Mapping[str, str]) -> str | None:
    """What is committed; None removes the file."""
    if isinstance(file, str):
        return "[ cannot be read" if file == BROKEN else None
    written = {
        name: faulty_map(name)
        if what == FAULTY
        else config_map(name, what, namespace="" if what == HURT else "default")
        for name, what in file.items()
        if what != GONE
    }
    return stream("# fruit\n", *written.values())


Files = Mapping[str, str | Mapping[str, str]]


def in_force_after(before: Mapping[str, str], files: Files) -> dict[str, str]:
    """What invariant 2 asks for: `before` was in force at the commit before the one of `files`."""
    after: dict[str, str] = {}
    for path, file in files.items():
        known = {name: before[name] for name in NAMES[path] if name in before}
        if isinstance(file, str):
            after |= known if file == BROKEN else {}
            continue
        # An object without a readable namespace may be any that the file had.
        if HURT in file.values():
            after |= known
        for name, what in file.items():
            if what == FAULTY and name in known:
                after[name] = known[name]
            elif what in "123":
                after[name] = what
    return after


@settings(max_examples=examples(100))
@given(st.lists(fruit_files, min_size=2, max_size=7))
def test_every_object_is_as_it_was_last_sound_or_gone_when_it_was_removed(history: list[Files]) -> None:
    commits = Commits()
    in_force: dict[str, str] = {}
    for number, files in enumerate(history):
        in_force = in_force_after(in_force, files)
        desired = commits.push({"note.txt": str(number), **{path: text_of(file) for path, file in files.items()}})
        assert values(desired) == in_force
        if not desired.faults:
            assert not desired.last_good
