"""invariant 2 over any history: commits break, repair, add and remove objects; each goes on as it was last sound."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.loop.commits import Commits, config_map, faulty_map, stream, values
from tests.profiles import examples

NAMES = {"resources/a.yaml": ("apple", "plum", "pear"), "resources/b.yaml": ("fig", "kiwi"), "c.yaml": ("lime",)}
GONE, BROKEN, FAULTY, HURT = "gone", "broken", "faulty", "hurt"

document = st.sampled_from(["1", "2", "3", FAULTY, GONE, HURT])
fruit_files = st.fixed_dictionaries(
    {
        path: st.one_of(st.just(BROKEN), st.fixed_dictionaries(dict.fromkeys(names, document)))
        for path, names in NAMES.items()
    }
)


def text_of(file: str | Mapping[str, str]) -> str:
    """What is committed; a file stays even when nothing is in it, so that no other one can be its new name."""
    if isinstance(file, str):
        return "[ cannot be read"
    written = {
        name: faulty_map(name)
        if what == FAULTY
        else config_map(name, what, namespace="" if what == HURT else "default")
        for name, what in file.items()
        if what != GONE
    }
    return stream("# fruit\n", *written.values())


Files = Mapping[str, str | Mapping[str, str]]


def in_force_after(before: Mapping[str, str], old: Files, files: Files) -> dict[str, str]:
    """What invariant 2 asks for: `before` was in force at the commit `old`, of which the new one is `files`."""
    after: dict[str, str] = {}
    for path, file in files.items():
        was = old.get(path, {})
        known = {name: before[name] for name in NAMES[path] if name in before}
        if isinstance(file, str):
            after |= known
            continue
        # A faulty object that nobody knows may be any that the file had: nobody can tell what its name was.
        strangers = {name for name, what in file.items() if what == HURT or (what == FAULTY and name not in known)}
        fresh = {name for name in strangers if isinstance(was, str) or was.get(name) != file[name]}
        if fresh:
            after |= known
        elif strangers:
            after |= {name: value for name, value in known.items() if not isinstance(was, str) and was[name] != value}
        for name, what in file.items():
            if what == FAULTY and name in known:
                after[name] = known[name]
            elif what in "123":
                after[name] = what
    return after


@settings(max_examples=examples(150))
@given(st.lists(fruit_files, min_size=2, max_size=7))
def test_every_object_is_as_it_was_last_sound_or_gone_when_it_was_removed(
    history: list[Files],
) -> None:
    commits = Commits()
    in_force: dict[str, str] = {}
    old: Files = {}
    for number, files in enumerate(history):
        in_force, old = in_force_after(in_force, old, files), files
        desired = commits.push({"note.txt": str(number), **{path: text_of(file) for path, file in files.items()}})
        assert values(desired) == in_force
        if not desired.faults:
            assert not desired.last_good


moves = st.lists(
    st.fixed_dictionaries(
        dict.fromkeys(
            ("one.yaml", "two.yaml", "three.yaml"),
            st.tuples(st.lists(st.sampled_from(["apple", "plum", "fig"]), unique=True, max_size=3), st.booleans()),
        )
    ),
    min_size=2,
    max_size=6,
)


@settings(max_examples=examples(150))
@given(moves)
def test_what_moves_into_a_broken_file_is_never_lost(history: list[dict[str, tuple[list[str], bool]]]) -> None:
    """Objects wander between files, and files break while they do: only what stands nowhere may go."""
    commits = Commits()
    in_force: set[str] = set()
    for number, files in enumerate(history):
        texts: dict[str, str | None] = {"note.txt": str(number)}
        written: set[str] = set()
        for path, (names, breaks) in files.items():
            own = [name for name in names if name not in written]
            written |= set(own)
            broken = "[ # " + " ".join(own)
            texts[path] = broken if breaks else stream(*(config_map(name) for name in own)) or None
        desired = commits.push(texts)
        found = set(values(desired))
        assert in_force & written <= found
        assert found <= in_force | written
        in_force = found
