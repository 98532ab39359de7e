"""One patch operation on one object (RFC 6902, by the jsonpatch library), without touching the object given."""

from __future__ import annotations

from typing import Any, Final

import jsonpatch
import jsonpointer

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.objects import JsonObject
from gitfleet.api.overrides import JsonPatch
from gitfleet.formats.canonical_json import NotJson, canonical_json, parse_json
from gitfleet.works.texts import WorksText
from gitfleet.works.variables import VariableError, replaced

_VARIABLE: Final = b"${MEMBER-CLUSTER-"


class PatchError(ValueError):
    """A patch does not apply; the sentence names its path and repeats neither its value nor the object's."""


class CompiledPatch:
    """A patch operation, read once: its path split, its value as text where a variable stands in it."""

    __slots__ = ("_fixed", "_operation", "_template", "path", "tokens")

    def __init__(self, patch: JsonPatch) -> None:
        self.path = patch.path
        self.tokens: tuple[str, ...] = tuple(jsonpointer.JsonPointer(patch.path).parts)
        self._operation = patch.op
        takes_value = patch.op != "remove"
        text = canonical_json(patch.operand) if takes_value else b""
        self._template = text.decode() if _VARIABLE in text else None
        self._fixed = None if self._template is not None else self._compile(patch.operand if takes_value else None)

    def apply(self, body: JsonObject, cluster: MemberCluster) -> JsonObject:
        """The object after the operation: new along the path, shared everywhere else. PatchError when it does not
        apply: nothing is at the path of a replace or remove, or the parent is not there."""
        patch = self._fixed or self._compile(self._value(cluster))
        opened = self._open(body)
        try:
            patch.apply(opened, in_place=True)
        except (jsonpatch.JsonPatchException, jsonpointer.JsonPointerException, TypeError, ValueError):
            # The library's own texts repeat the document.
            raise PatchError(WorksText.NOT_APPLY(operation=self._operation, name=self.path)) from None
        return opened

    def _compile(self, value: Any) -> jsonpatch.JsonPatch:
        operation: dict[str, Any] = {"op": self._operation, "path": self.path}
        if self._operation != "remove":
            operation["value"] = value
        return jsonpatch.JsonPatch([operation])

    def _value(self, cluster: MemberCluster) -> Any:
        """The value with its variables replaced in its JSON text."""
        try:
            return parse_json(replaced(self._template or "null", cluster, self.path))
        except VariableError as error:
            raise PatchError(str(error)) from None
        except NotJson:
            raise PatchError(WorksText.VALUE_NO_JSON_ONCE_VARIABLES(name=self.path)) from None

    def _open(self, body: JsonObject) -> dict[str, Any]:
        """A copy of the containers along the path, so that the operation changes nothing that is shared."""
        root = dict(body)
        here: Any = root
        for depth, token in enumerate(self.tokens[:-1]):
            slot = self._slot(here, token, depth)
            inner = here[slot]
            if not isinstance(inner, dict | list):
                raise self._missing(depth + 1)
            here[slot] = inner.copy()
            here = here[slot]
        last = self.tokens[-1]
        if self._operation != "add":
            self._slot(here, last, len(self.tokens) - 1)
        elif isinstance(here, list) and last != "-" and _index(last, len(here) + 1) is None:
            raise PatchError(WorksText.ADD_NOT_APPLY(name=self.path))
        return root

    def _slot(self, container: Any, token: str, depth: int) -> Any:
        """The key or index of a token in its container; PatchError when nothing is there."""
        if isinstance(container, dict) and token in container:
            return token
        index = _index(token, len(container)) if isinstance(container, list) else None
        if index is None:
            raise self._missing(depth + 1)
        return index

    def _missing(self, depth: int) -> PatchError:
        place = "".join(f"/{jsonpointer.escape(token)}" for token in self.tokens[:depth])
        if place == self.path:
            return PatchError(WorksText.NOTHING_IS_THERE(operation=self._operation, name=self.path))
        return PatchError(WorksText.NOT_CANNOT_HOLD(operation=self._operation, name=self.path, place=place))


def _index(token: str, length: int) -> int | None:
    """The index below `length` that a token is, by RFC 6901: versions of the library take leading zeros, too."""
    # The length first: Python reads no number of thousands of digits.
    if len(token) > len(str(length)) or not (token.isascii() and token.isdigit()):
        return None
    return int(token) if str(int(token)) == token and int(token) < length else None
