"""What a commit may hold although it was not read: whatever is missing for that alone gets no error of its own."""

from __future__ import annotations

from typing import Final

from gitfleet.api.objects import GroupKind, Identity
from gitfleet.formats.kinds import is_envelope_kind
from gitfleet.formats.near_names import is_near

_MOST_OBJECTS: Final = 1000
_MOST_BYTES: Final = 1 << 20
"""With more of either, all that is missing is taken to be hidden: looking for each name would take too long."""


class Hidden:
    """The objects that are refused, and the texts of the entries that cannot be read in full; an empty text may hold
    anything."""

    def __init__(self) -> None:
        self._refused: set[Identity] = set()
        self._texts: dict[str, bytes] = {}
        self._bytes = 0
        self._has_all = False

    def add(self, identity: Identity) -> None:
        """Note an object that is refused."""
        self._refused.add(identity)
        self._has_all |= len(self._refused) > _MOST_OBJECTS

    def add_text(self, path: str, text: bytes) -> None:
        """Note the text of an entry that cannot be read in full."""
        self._texts[path] = text
        self._bytes += len(text)
        self._has_all |= not text or self._bytes > _MOST_BYTES

    def has_object(self, kind: str, name: str) -> bool:
        """Whether an object may be there, with an error that may as well be in its kind, name or namespace."""
        return self._is_in_text(name) or any(is_near(k, kind) and is_near(n, name) for _, k, _, n in self._refused)

    def has_some_of(self, kind: str) -> bool:
        """Whether there may be an object of a kind, whatever its name."""
        return self._is_in_text(kind) or any(is_near(other, kind) for _, other, _, _ in self._refused)

    def has_kind(self, kind: GroupKind) -> bool:
        """Whether there may be a definition or an object of a kind."""
        return self.has_definition(kind) or any(name == kind.kind for _, name, _, _ in self._refused)

    def has_definition(self, kind: GroupKind) -> bool:
        """Whether there may be a CustomResourceDefinition of a kind."""
        return self._is_in_text(kind.kind) or any(
            name == "CustomResourceDefinition" and of.endswith(f".{kind.group}") for _, name, _, of in self._refused
        )

    def has_envelope(self) -> bool:
        """Whether there may be an envelope, which holds objects of any kind and name."""
        kinds = ((group.removeprefix("payload "), kind) for group, kind, _, _ in self._refused)
        return bool(self._texts) or any(kind == "ConfigMap" or is_envelope_kind(group, kind) for group, kind in kinds)

    def _is_in_text(self, name: str) -> bool:
        return self._has_all or any(name.encode() in text for text in self._texts.values())
