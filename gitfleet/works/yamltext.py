"""YAML inside a ConfigMap's values: what people wrap is as untrusted as any file of theirs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, ClassVar, Final

import yaml

_CORE: Final = "tag:yaml.org,2002:"
_PLAIN: Final = (
    # The plain scalars of Kubernetes' YAML: dates and sexagesimal numbers stay strings, unlike in PyYAML's own set.
    ("null", r"^(?:~|null|Null|NULL|)$", ("~", "n", "N", "")),
    (
        "bool",
        r"^(?:y|Y|n|N|(?:yes|no|on|off|true|false)|(?:Yes|No|On|Off|True|False)|(?:YES|NO|ON|OFF|TRUE|FALSE))$",
        tuple("yYnNoOtTfF"),
    ),
    ("int", r"^[-+]?(?:0b[01]+|0x[0-9a-fA-F]+|0o?[0-7]+|0|[1-9][0-9]*)$", tuple("-+0123456789")),
    ("float", r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$", tuple("-+.0123456789")),
)
_MOST_CHARACTERS: Final = 1_048_576
_DEEPEST: Final = 100


class UnreadableText(ValueError):
    """The sentence says why, without repeating any of the text."""


class _Loader(yaml.CSafeLoader):
    """CSafeLoader with Kubernetes' plain scalars and JSON's types alone, refusing keys given twice."""

    yaml_constructors: ClassVar[dict[str | None, Callable[..., Any]]] = {
        f"{_CORE}{tag}": yaml.CSafeLoader.yaml_constructors[f"{_CORE}{tag}"] for tag in ("null", "str", "seq")
    }
    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - PyYAML's own shape


def _no_duplicates(loader: _Loader, node: yaml.MappingNode) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        if not isinstance(key, str) or key in out:
            raise UnreadableText(f"line {key_node.start_mark.line + 1} has a key that is not a string or given twice")
        out[key] = loader.construct_object(value_node, deep=True)
    return out


def _int(loader: _Loader, node: yaml.ScalarNode) -> int | float:
    text = str(node.value).lower()
    sign, digits = (-1 if text.startswith("-") else 1), text.lstrip("+-")
    if digits.startswith("0") and digits.isdigit() and len(digits) > 1:
        digits = f"0o{digits[1:]}"
    number = sign * int(digits, 0)
    # JSON's numbers end at 64 bits here, as Kubernetes' do.
    return number if -(2**63) <= number < 2**64 else float(number)


def _float(loader: _Loader, node: yaml.ScalarNode) -> int | float:
    number = float(node.value)
    return int(number) if number.is_integer() and abs(number) < 2**63 else number


def _bool(loader: _Loader, node: yaml.ScalarNode) -> bool:
    return str(node.value).lower() in ("y", "yes", "on", "true")


def _refuse(loader: _Loader, node: yaml.Node) -> None:
    raise UnreadableText(f"line {node.start_mark.line + 1} uses a tag that JSON has no type for")


for _tag, _pattern, _first in _PLAIN:
    _Loader.add_implicit_resolver(_CORE + _tag, re.compile(_pattern), list(_first))
_Loader.add_constructor(f"{_CORE}map", _no_duplicates)
_Loader.add_constructor(f"{_CORE}int", _int)
_Loader.add_constructor(f"{_CORE}float", _float)
_Loader.add_constructor(f"{_CORE}bool", _bool)
_Loader.add_constructor(None, _refuse)


@lru_cache(maxsize=256)
def read_documents(text: str) -> tuple[Any, ...]:
    """The values of all documents that are not empty; UnreadableText when it is not plain YAML or JSON.

    The answer is shared: callers must not change it.
    """
    if len(text) > _MOST_CHARACTERS:
        raise UnreadableText(f"it has {len(text)} characters, more than the {_MOST_CHARACTERS} that are read")
    try:
        _check(text)
        return tuple(value for value in yaml.load_all(text, Loader=_Loader) if value is not None)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise UnreadableText(f"line {line} is not YAML") from None
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        if isinstance(error, UnreadableText):
            raise
        raise UnreadableText("it is not YAML") from None


def _check(text: str) -> None:
    """Refuse anchors and aliases (a small text may stand for a huge one) and deep nesting, before anything is built."""
    depth = 0
    for event in _events(text):
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise UnreadableText(f"line {event.start_mark.line + 1} uses an anchor or alias, which is not allowed here")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            raise UnreadableText(f"line {event.start_mark.line + 1} nests deeper than {_DEEPEST} levels")


def _events(text: str) -> Iterator[Any]:
    yield from yaml.parse(text, Loader=yaml.CSafeLoader)
