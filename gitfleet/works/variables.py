"""Variables in the values of overrides: what of a cluster each of them stands for.

`${MEMBER-CLUSTER-NAME}` and `${MEMBER-CLUSTER-LABEL-KEY-<key>}` are KubeFleet's (kubefleet.md §5), those of annotations
and properties are gitfleet's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from gitfleet.api.bindings import PinnedLabels
from gitfleet.api.clusters import MemberCluster, PropertyValue
from gitfleet.formats.canonical_json import json_text
from gitfleet.works.texts import WorksText

_NAME: Final = "${MEMBER-CLUSTER-NAME}"
_LABEL: Final = "${MEMBER-CLUSTER-LABEL-KEY-"
_ANNOTATION: Final = "annotation:"
_PROPERTY: Final = "property:"
"""Before the keys of what is no label, where they stand beside labels; no label key has a colon."""
_WORDS: Final = {"LABEL-KEY": "", "ANNOTATION-KEY": _ANNOTATION, "PROPERTY": _PROPERTY}
_VARIABLE: Final = re.compile(r"\$\{MEMBER-CLUSTER-(LABEL-KEY|ANNOTATION-KEY|PROPERTY)-([^}]*)(\}?)")
_RESTLESS: Final = "resources.kubernetes-fleet.io/available-"


class VariableError(ValueError):
    """A variable has no value; the sentence repeats nothing that may be a value."""


def keys_of(text: str) -> Iterator[str]:
    """What of a cluster the variables in a text depend on beside its name, by pinned key."""
    return (_WORDS[word] + name for word, name, end in _VARIABLE.findall(text) if end)


def is_label(key: str) -> bool:
    """Whether a pinned key is that of a label."""
    return ":" not in key


def pinned(cluster: MemberCluster, key: str) -> str | None:
    """What a cluster has now under a pinned key, None where it has no such thing."""
    if key.startswith(_ANNOTATION):
        return cluster.annotations.get(key.removeprefix(_ANNOTATION))
    if key.startswith(_PROPERTY):
        property_ = cluster.status.properties.get(key.removeprefix(_PROPERTY))
        return property_.value if property_ is not None else None
    return cluster.scheduling_labels.get(key)


def with_pinned(cluster: MemberCluster, values: PinnedLabels) -> MemberCluster:
    """The cluster with nothing but these labels, annotations and properties."""
    present = {key: value for key, value in values if value is not None}
    notes, amounts = (
        {key.removeprefix(prefix): value for key, value in present.items() if key.startswith(prefix)}
        for prefix in (_ANNOTATION, _PROPERTY)
    )
    properties = {name: PropertyValue(value) for name, value in amounts.items()}
    return replace(
        cluster,
        labels={key: value for key, value in present.items() if is_label(key)},
        annotations=notes,
        status=replace(cluster.status, properties=properties),
    )


def replaced(text: str, cluster: MemberCluster, path: str) -> str:
    """A JSON text with its variables replaced: the name, then labels, which stand as they are, as KubeFleet does (hence
    in keys of maps too); then all others at once and escaped, since they may hold anything, variables too.

    VariableError with the path of the patch for a variable that the cluster has no value for."""
    text = text.replace(_NAME, cluster.name)
    labels = cluster.scheduling_labels
    while (start := text.find(_LABEL)) >= 0:
        end = text.find("}", start)
        if end < 0:
            raise _unclosed(path)
        label = text[start + len(_LABEL) : end]
        if label not in labels:
            raise VariableError(
                WorksText.LABEL_KEY_NOT_FOUND_CLUSTER(plain=_plain(label, "label key"), cluster=cluster.name)
            )
        text = text.replace(f"{_LABEL}{label}}}", labels[label])
    return _VARIABLE.sub(lambda match: _other(match, cluster, path), text)


def _other(match: re.Match[str], cluster: MemberCluster, path: str) -> str:
    word, name, end = match.groups()
    what = "annotation" if word == "ANNOTATION-KEY" else "property"
    if not end:
        raise _unclosed(path)
    if name.startswith(_RESTLESS) and what == "property":
        raise VariableError(WorksText.PROPERTY_CHANGES_ALL_TIME(plain=_plain(name, "name")))
    value = pinned(cluster, _WORDS[word] + name)
    if value is None:
        raise VariableError(WorksText.NOT_FOUND_CLUSTER(what=what, plain=_plain(name, "name"), cluster=cluster.name))
    return json_text(value)[1:-1]


def _unclosed(path: str) -> VariableError:
    return VariableError(WorksText.VARIABLE_VALUE_MISSING_CLOSING_BRACKET(path=path))


def _plain(key: str, what: str) -> str:
    """A key for a sentence; what is none came from the value itself and is not repeated."""
    allowed = len(key) <= 317 and all(c.isascii() and (c.isalnum() or c in "-_./") for c in key)
    return key if allowed else f"(not a {what})"
