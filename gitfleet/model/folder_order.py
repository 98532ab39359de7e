"""In which order the objects of folders are applied on one cluster; they are deleted in reverse."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from gitfleet.api.objects import Identity, JsonObject
from gitfleet.model.desired import Desired

_Node = TypeVar("_Node")


def cycle_of(node: _Node, needs: Callable[[_Node], Iterable[_Node]]) -> list[_Node]:
    """A shortest way from a node back to it; empty where there is none."""
    ways, visited = [[node]], {node}
    for way in ways:
        for needed in needs(way[-1]):
            if needed == node:
                return [*way, node]
            if needed not in visited:
                visited.add(needed)
                ways.append([*way, needed])
    return []


def _is_available(_: JsonObject) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class FolderOrder:
    """The folder of each object that waits or is waited for, and the folders that each folder waits for; `available`
    judges a live object."""

    folders: Mapping[Identity, str] = field(default_factory=dict)
    needs: Mapping[str, frozenset[str]] = field(default_factory=dict)
    available: Callable[[JsonObject], bool] = field(default=_is_available, compare=False)

    @classmethod
    def of(cls, desired: Desired, available: Callable[[JsonObject], bool] = _is_available) -> FolderOrder:
        """That of a commit."""
        needs = {
            name: frozenset(dependency.folder for dependency in folder.depends_on if dependency.folder is not None)
            for name, folder in desired.folders.items()
            if folder.depends_on
        }
        named = needs.keys() | frozenset[str]().union(*needs.values())
        members = (m for m in desired.payload if m.folder in named) if needs else ()
        return cls({manifest.key.identity: manifest.folder for manifest in members}, needs, available)

    @property
    def names(self) -> list[str]:
        """The folders that wait or are waited for, each after those that it waits for."""
        ordered: dict[str, None] = {}
        pending = sorted(self.needs.keys() | frozenset[str]().union(*self.needs.values()))
        while pending:
            ready = [name for name in pending if self.needs.get(name, frozenset()) <= ordered.keys()]
            ordered |= dict.fromkeys(ready or pending)  # a cycle is an error of the commit
            pending = [name for name in pending if name not in ordered]
        return [*ordered]

    def before(self, identity: Identity) -> frozenset[str]:
        """The folders whose objects are applied before an object."""
        return self.needs.get(self.folders.get(identity, ""), frozenset())

    def after(self, identity: Identity) -> frozenset[str]:
        """The folders whose objects are deleted before an object."""
        folder = self.folders.get(identity)
        return frozenset(name for name, needs in self.needs.items() if folder in needs)


NO_ORDER = FolderOrder()
