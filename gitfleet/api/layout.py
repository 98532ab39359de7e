"""The fields of a declaration as they stand in its file, worked out once for each class."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field
from functools import cache
from typing import Annotated, Any, Final, TypeVar, get_args, get_origin, get_type_hints

import annotated_types as limits

from gitfleet.api.annotations import At, Default, Form, Inline, Only

T = TypeVar("T")
_Class = TypeVar("_Class", bound=type)
Path = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """What a whole class says of itself.

    `section` is the mapping in which its fields stand unless they say otherwise. `identify` gives apiVersion and kind
    of a value that is a file of its own. `lenient` classes let unknown fields through, also where people wrote them;
    `tolerated` are fields that are checked and not taken, `derived` such that are written for people and not read.
    Equal lists of values of `shared` classes, and equal parts of one, are one object when they are read together from
    the state branch, and what is written of them is one mapping, which nobody changes.
    """

    section: Path = ()
    tolerated: Mapping[str, Any] = field(default_factory=dict)
    identify: Callable[[Any], tuple[str, str]] | None = None
    lenient: bool = False
    shared: bool = False
    derived: Mapping[Path, Callable[[Any], Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field as it stands in the file: `part` is set when it is one part of the attribute's own class."""

    attribute: str
    part: str | None = None
    path: Path
    type: Any
    default: Any
    factory: Any
    only: Only | None = None
    alone: Any = field(default_factory=lambda: MISSING)
    """What it means that its mapping is there and it is not, where that differs from the absence of both."""
    also: str = ""
    """Another name that people may write for the last one of the path."""

    @property
    def required(self) -> bool:
        """Whether the file must have it."""
        return self.default is MISSING and self.factory is MISSING

    @property
    def absent(self) -> Any:
        """What an absent field means; MISSING when it may not be absent."""
        return self.default if self.factory is MISSING else self.factory()


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """All fields of a class that stand in files, and the classes of its inlined attributes."""

    document: Document
    fields: tuple[Field, ...]
    inlined: Mapping[str, type] = field(default_factory=dict)
    lenient: frozenset[Path] = frozenset()
    """The mappings below the class's own that let unknown fields through."""
    plain: bool = False
    """Whether every attribute is one key of one mapping."""


_DOCUMENTS: Final[dict[type, Document]] = {}


def document(
    *section: str,
    identify: Callable[[Any], tuple[str, str]] | None = None,
    lenient: bool = False,
    tolerated: Mapping[str, Any] | None = None,
    derived: Mapping[Path, Callable[[Any], Any]] | None = None,
    shared: bool = False,
) -> Callable[[_Class], _Class]:
    """Say of a dataclass what `Document` has; a class without it is a plain mapping of its fields."""

    def mark(cls: _Class) -> _Class:
        _DOCUMENTS[cls] = Document(
            section=section,
            identify=identify,
            lenient=lenient,
            tolerated=tolerated or {},
            derived=derived or {},
            shared=shared,
        )
        return cls

    return mark


def is_shared(cls: Any) -> bool:
    """Whether equal values of a class are one object when they are read."""
    return _DOCUMENTS.get(cls, Document()).shared


def parts_of(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """A type without its annotations, and the annotations."""
    return (get_args(hint)[0], get_args(hint)[1:]) if get_origin(hint) is Annotated else (hint, ())


def find(kind: type[T], extras: tuple[Any, ...]) -> T | None:
    """The annotation of a kind, None when there is none; the outermost one counts."""
    return next((extra for extra in reversed(extras) if isinstance(extra, kind)), None)


def nest(tree: dict[str, Any], fields: Iterable[Field]) -> None:
    """Put fields into a tree of mappings, each at its path."""
    for item in fields:
        section = tree
        for step in item.path[:-1]:
            if not isinstance(section.get(step), dict):
                section[step] = {}
            section = section[step]
        section[item.path[-1]] = item


def camel(name: str) -> str:
    """`match_labels` as `matchLabels`."""
    first, *following = name.split("_")
    return first + "".join(word.capitalize() for word in following)


@cache
def layout_of(cls: Any) -> Layout:
    """The layout of a declaration. TypeError for a class that is no dataclass."""
    described = _DOCUMENTS.get(cls, Document())
    hints = get_type_hints(cls, include_extras=True)
    fields: list[Field] = []
    inlined: dict[str, type] = {}
    lenient: set[Path] = set()
    hidden = False
    for attribute in dataclasses.fields(cls):
        bare, extras = parts_of(hints[attribute.name])
        only, inline, place = find(Only, extras), find(Inline, extras), find(At, extras)
        if only is Only.MEMORY:
            hidden = True
        elif inline is not None:
            inlined[attribute.name] = bare
            fields += _inlined(attribute.name, bare, inline)
            if layout_of(bare).document.lenient:
                lenient.add(inline.prefix)
        else:
            path = place.path if place else (*described.section, camel(attribute.name))
            made = _field(attribute, hints[attribute.name], path, only)
            fields.append(made if place is None else dataclasses.replace(made, alone=place.alone, also=place.also))
    plain = not inlined and not hidden and all(len(item.path) == 1 for item in fields) and described.identify is None
    return Layout(document=described, fields=tuple(fields), inlined=inlined, lenient=frozenset(lenient), plain=plain)


def _field(attribute: dataclasses.Field[Any], hint: Any, path: Path, only: Only | None) -> Field:
    meant = find(Default, parts_of(hint)[1])
    default, factory = attribute.default, attribute.default_factory
    if meant is not None:
        default, factory = meant.value, MISSING
    return Field(attribute=attribute.name, path=path, type=hint, default=default, factory=factory, only=only)


def _inlined(name: str, cls: type, inline: Inline) -> list[Field]:
    return [
        dataclasses.replace(
            part,
            attribute=name,
            part=part.attribute,
            path=inline.paths.get(part.attribute, (*inline.prefix, *part.path)),
            type=inline.types.get(part.attribute, part.type),
        )
        for part in layout_of(cls).fields
    ]


def class_in(hint: Any) -> Any:
    """The declaration that the type of a field names, None when there is none or a form hides it."""
    bare, extras = parts_of(hint)
    if find(Form, extras) is not None:
        return None
    if isinstance(bare, type) and dataclasses.is_dataclass(bare):
        return bare
    return next((inner for part in get_args(bare) if (inner := class_in(part)) is not None), None)


def bounds_of(extras: tuple[Any, ...]) -> dict[str, Any]:
    """The bounds that annotations set to a length (`min_length`, `max_length`) or a number (`ge`, `le`)."""
    bounds: dict[str, Any] = {}
    for extra in extras:
        if isinstance(extra, limits.Len):
            bounds |= {"min_length": extra.min_length or None, "max_length": extra.max_length}
        elif isinstance(extra, limits.MinLen):
            bounds["min_length"] = extra.min_length
        elif isinstance(extra, limits.Interval):
            bounds |= {"ge": extra.ge, "le": extra.le}
    return {name: value for name, value in bounds.items() if value is not None}
