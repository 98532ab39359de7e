"""What helm rendered and said: hooks, what differs each time, and what is not shown. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from gitfleet import desired
from gitfleet.api.helm_releases import Hooks
from gitfleet.errors import BadInput
from gitfleet.formats.canonical_json import digest_of
from gitfleet.formats.sentences import named_briefly
from gitfleet.formats.yaml_reader import Document
from gitfleet.loop.texts import LoopText

_HOOK: Final = "helm.sh/hook"
_INSTALLING: Final = frozenset(("pre-install", "post-install", "pre-upgrade", "post-upgrade"))
_MOST_NAMED: Final = 5
_SECRET_KEY: Final = re.compile(r"pass|secret|token|cred|key|auth|cert|salt|private|dsn|url", re.IGNORECASE)
_SHORTEST_SECRET: Final = 3
_SHOWN_OF_A_VALUE: Final = 7
"""helm's YAML reader shows so many characters of a value at most."""


def without_hooks(documents: Iterable[Document], hooks: Hooks | None) -> tuple[Document, ...]:
    """What is placed of a chart's output. Hooks of tests, deletions and rollbacks never are; BadInput names those of
    installations and upgrades where nothing says what becomes of them."""
    kept: list[Document] = []
    asked: list[str] = []
    for document in documents:
        events = _events(document.value)
        if not events or (hooks is Hooks.APPLY and events & _INSTALLING):
            kept.append(document)
        elif hooks is None and events & _INSTALLING:
            asked.append(f"{_name(document.value)} ({', '.join(sorted(events))})")
    if asked:
        sentence = LoopText.HOOKS_GITFLEET_NOT_RUN(asked=named_briefly(sorted(asked), _MOST_NAMED))
        raise BadInput(LoopText.SPEC_HOOKS_APPLY_PLACE_LIKE(sentence=sentence))
    return tuple(kept)


def differences(documents: Iterable[Document], others: Iterable[Document]) -> list[str]:
    """The objects that two renderings of one chart do not have in common."""
    first, second = ([(_name(one.value), digest_of(one.value)) for one in side] for side in (documents, others))
    if first == second:
        return []
    return sorted({name for name, _ in {*first} ^ {*second}}) or [LoopText.ORDER_OBJECTS()]


def without_secrets(message: str, templates: Mapping[str, bytes], values: Iterable[tuple[str, bytes]]) -> str:
    """helm's words, unless they hold a value that may be secret: of a key that sounds like one, or any value where the
    words name a template of Secrets. `values` are the texts of values, with the paths that they are called by."""
    named = [path for path in templates if path in message]
    is_about_secret = any(b"Secret" in templates[path] for path in named)
    for name, content in values:
        parsed = desired.parse_file(name, content)
        found = [pair for document in parsed.documents for pair in _leaves(document.value, False)]
        found += [(word, True) for word in content.decode(errors="replace").split()] if parsed.faults else []
        for value, is_secret in found:
            long_enough = len(value) >= _SHORTEST_SECRET
            if long_enough and (is_secret or is_about_secret) and value[:_SHOWN_OF_A_VALUE] in message:
                return LoopText.CANNOT_BUILT_HELM_SAYS_NOT()
    return message


def _leaves(value: Any, is_secret: bool) -> Iterator[tuple[str, bool]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(item, is_secret or _SECRET_KEY.search(str(key)) is not None)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item, is_secret)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield from ((text, is_secret) for text in (str(value), *str(value).split()))


def _events(body: Any) -> frozenset[str]:
    metadata = body.get("metadata") if isinstance(body, dict) else None
    notes = metadata.get("annotations") if isinstance(metadata, dict) else None
    written = notes.get(_HOOK) if isinstance(notes, dict) else None
    return frozenset(part.strip() for part in written.split(",")) if isinstance(written, str) else frozenset()


def _name(body: Any) -> str:
    metadata = body.get("metadata") if isinstance(body, dict) else None
    parts = [metadata.get("namespace"), metadata.get("name")] if isinstance(metadata, dict) else []
    kind = body.get("kind") if isinstance(body, dict) else None
    return "/".join(str(part) for part in (kind, *parts) if part) or LoopText.OBJECT_WITHOUT_NAME()
