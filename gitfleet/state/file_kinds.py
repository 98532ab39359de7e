"""What one kind of file of the state branch is: where its files lie, what they say, and which field of FleetState they
fill. All of them stand in `table`; `read`, `compose` and `reader` go over that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from typing import Any, Generic, TypeAlias, TypeVar

from gitfleet.api import read_state, write
from gitfleet.errors import BadInput
from gitfleet.state import paths
from gitfleet.state.changed_files import ChangedFiles
from gitfleet.state.shapes.fields import document
from gitfleet.state.texts import StateText

F = TypeVar("F")
K = TypeVar("K")
V = TypeVar("V")
ParsedStateFile: TypeAlias = object
"""What one file of the state branch says: a value of its kind's `type`."""


@dataclass(slots=True)
class Parts:
    """The files that a state is assembled from: the blob of each path, and the parsed ones by type."""

    listing: Mapping[str, str]
    files: dict[type, list[tuple[str, Any]]] = field(default_factory=dict)

    def of(self, type_: type[F]) -> list[tuple[str, F]]:
        """What the files of one kind say, each with its path, by path."""
        return self.files.get(type_, [])

    def grouped(self, type_: type[F], owner: Callable[[F], K]) -> dict[K, list[tuple[str, F]]]:
        """The same by owner."""
        files: dict[K, list[tuple[str, F]]] = {}
        for path, file in self.of(type_):
            files.setdefault(owner(file), []).append((path, file))
        return files


def unusable(path: str, reason: object) -> BadInput:
    """The error for a file of the state branch that cannot be used."""
    hint = StateText.GITFLEET_ALONE_WRITES_BRANCH()
    return BadInput(StateText.STATE_BRANCH_FILE_CANNOT_USED(path=path, reason=reason), hint=hint)


@dataclass(frozen=True, slots=True, kw_only=True)
class StateField(Generic[K, V]):
    """A mapping of FleetState, each value of which is written by itself.

    `gather` makes it of parsed files, `write` notes the files that lead from one value of a key to another (None: not
    there).
    """

    gather: Callable[[Parts], Mapping[K, V]]
    write: Callable[[ChangedFiles, K, V | None, V | None], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileKind(Generic[F]):
    """One kind of file: `name` is the word for it, and the field of FleetState that it fills, if `fills` says how.

    `pattern` fits its paths. `open` makes of the content what `read` makes a `type` of; both raise UnreadableText,
    NotJson, InvalidContent or BadInput. `place` is the path where a value belongs, or the folder of a `sharded` one,
    whose content is read as fast as its cached form would be; None: there is one such file, `<name>.yaml`.
    """

    name: str
    pattern: re.Pattern[str]
    type: type[F]
    read: Callable[[Any], F]
    open: Callable[[bytes], Any]
    place: Callable[[F], str] | None = None
    fills: StateField[Any, Any] | None = None
    sharded: bool = False


def own_file(name: str, declaration: type[V], *, key: Callable[[str, str], Any] | None = None) -> FileKind[V]:
    """The kind of a declaration of `api` of which each value has a file of its own: `<name>/<value's name>.yaml`, in
    the field `name` of FleetState by its `name`; with `key`, which makes one of namespace and name, by its `key`, and
    namespaced ones in `<name>/<namespace>/`."""

    def path_of(own: Any) -> str:
        return paths.own_path(name, "" if isinstance(own, str) else own.namespace, own if key is None else own.name)

    key_of = attrgetter("key" if key else "name")
    return FileKind(
        name=name,
        pattern=re.compile(rf"{name}/{'(?:[^/]+/)?' if key else ''}[^/]+\.yaml"),
        type=declaration,
        open=document,
        read=partial(read_state, declaration),
        place=lambda value: path_of(key_of(value)),
        fills=StateField(
            gather=lambda parts: {key_of(value): value for _, value in parts.of(declaration)},
            write=lambda files, own, old, new: _write_own(files, path_of(own), old, new),
        ),
    )


def _write_own(files: ChangedFiles, path: str, old: Any, new: Any) -> None:
    if new is None:
        files.remove.append(path)
    elif new != old:
        files.put(path, write(old) if old else None, write(new))
