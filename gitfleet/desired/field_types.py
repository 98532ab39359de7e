"""Whether the fields of built-in kinds are ones that an API server decodes (`formats.kind_fields`) and server-side
apply can merge (`formats.apply_schema`).

What is required, allowed or in range is the server's to say. No sentence repeats a value.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from gitfleet.api import Break
from gitfleet.api.objects import JsonObject
from gitfleet.api.texts import ApiText
from gitfleet.desired.texts import DesiredText
from gitfleet.formats.apply_schema import Misfit, misfits
from gitfleet.formats.kind_fields import RELEASE, field_types
from gitfleet.formats.near_names import did_you_mean
from gitfleet.formats.quantities import InvalidQuantity, parse_quantity
from gitfleet.formats.sentences import named_briefly

NO_MAPPING: Final = DesiredText.MUST_MAPPING_CORRECT()
_OWNERS: Final = ("metadata", "ownerReferences")
"""Taken off before the object is placed."""
_FINALIZERS: Final = {"finalizers": "[string"}
"""Of an object's metadata, what is neither judged by `identity` nor taken off before the object is placed."""


def type_breaks(body: JsonObject) -> list[Break] | None:
    """Every field of an object that has a wrong type, is not one of its kind, or has the key of another list item; None
    for a kind or version whose types are not known."""
    fields = field_types().get(f"{body.get('apiVersion')}/{body.get('kind')}")
    if fields is None:
        return None
    metadata = body.get("metadata")
    breaks = _of_fields(_FINALIZERS, metadata) if isinstance(metadata, dict) else []
    breaks = [(("metadata", *place), sentence) for place, sentence in breaks] + _of_fields(fields, body)
    return breaks + [(m.place, _sentence(m)) for m in misfits(body) if m.place[:2] != _OWNERS]


def _sentence(misfit: Misfit) -> str:
    if misfit.first is not None and misfit.keys:
        keys = named_briefly(misfit.keys, len(misfit.keys))
        return DesiredText.SAME_KEYS_AS_ANOTHER_ITEM(keys=keys, first=misfit.first)
    if misfit.first is not None:
        return DesiredText.SAME_AS_ANOTHER_ITEM(first=misfit.first)
    if misfit.is_null:
        return NO_MAPPING
    hint = did_you_mean(str(misfit.place[-1]), misfit.declared, "remove it")
    return DesiredText.NOT_FIELD_OF_RELEASE(release=RELEASE, hint=hint)


def _of_fields(fields: Mapping[str, str], value: Mapping[str, Any]) -> list[Break]:
    return _of_each((fields[name], name, inner) for name, inner in value.items() if name in fields)


def _of_each(entries: Iterable[tuple[str, int | str, Any]]) -> list[Break]:
    """What is wrong with values, each of the type of its code and at its step."""
    return [((step, *place), said) for code, step, inner in entries for place, said in _breaks(code, inner)]


def _breaks(code: str, value: Any) -> list[Break]:
    """What is wrong with a value that should be of a type; null stands for nothing in every type."""
    if value is None or code == "any":
        return []
    if (judge := _SCALARS.get(code)) is not None:
        return [((), sentence)] if (sentence := judge(value)) else []
    if code[0] == "[":
        if not isinstance(value, list):
            return [((), DesiredText.MUST_LIST_CORRECT())]
        return _of_each((code[1:], index, inner) for index, inner in enumerate(value))
    if not isinstance(value, dict):
        return [] if code[0] == "?" else [((), NO_MAPPING)]
    if code[0] == "{":
        return _of_each((code[1:], name, inner) for name, inner in value.items())
    return _of_fields(field_types()[code.removeprefix("?")], value) if code != "mapping" else []


def _no_string(value: Any) -> str:
    if isinstance(value, str):
        return ""
    return DesiredText.MUST_STRING_CORRECT() if isinstance(value, list | dict) else ApiText.MUST_STRING_PUT_QUOTES()


def _no_boolean(value: Any) -> str:
    return "" if isinstance(value, bool) else DesiredText.MUST_TRUE_FALSE()


def _no_integer(bits: int) -> Callable[[Any], str]:
    def judge(value: Any) -> str:
        if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1:
            return DesiredText.MUST_INTEGER_WITHOUT_QUOTES()
        return "" if -(2 ** (bits - 1)) <= value < 2 ** (bits - 1) else DesiredText.MUST_INTEGER_BITS(bits=bits)

    return judge


def _no_number(value: Any) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return "" if is_number else DesiredText.MUST_NUMBER_WITHOUT_QUOTES()


def _no_integer_or_string(value: Any) -> str:
    return DesiredText.MUST_INTEGER_STRING() if not isinstance(value, str) and _no_integer(32)(value) else ""


def _no_quantity(value: Any) -> str:
    if isinstance(value, str):
        try:
            parse_quantity(value)
        except InvalidQuantity:
            return DesiredText.MUST_QUANTITY_M_GI()
        return ""
    return DesiredText.MUST_QUANTITY_M_GI() if _no_number(value) else ""


def _no_base64(value: Any) -> str:
    if sentence := _no_string(value):
        return sentence
    try:
        b64decode("".join(value.split()), validate=True)
    except ValueError:
        return DesiredText.MUST_BASE64_ENCODE()
    return ""


_SCALARS: Final[Mapping[str, Callable[[Any], str]]] = {
    "string": _no_string,
    "boolean": _no_boolean,
    "int32": _no_integer(32),
    "int64": _no_integer(64),
    "number": _no_number,
    "int-or-string": _no_integer_or_string,
    "quantity": _no_quantity,
    "base64": _no_base64,
}
"""What is wrong with a value that should be such a scalar; "" when nothing is."""
