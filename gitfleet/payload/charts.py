"""The files of a Helm chart as they are given to helm, and what helm made of them and said. Pure.

Archives in `charts/` are unpacked, so that the same rules apply to what is in them. Schemas of values may refer to
nothing but themselves: helm reads files and URLs that they name (helm pkg/chartutil/jsonschema.go).
"""

from __future__ import annotations

import io
import posixpath
import re
import tarfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from gitfleet import desired
from gitfleet.api.helm_releases import Hooks
from gitfleet.api.steps import HELM_HOOK
from gitfleet.errors import BadInput
from gitfleet.formats.canonical_json import canonical_json, digest_of
from gitfleet.formats.json_values import section
from gitfleet.formats.yaml_reader import Document
from gitfleet.payload.texts import PayloadText

MOST_BYTES: Final = 64 << 20
"""Largest chart, its subcharts unpacked."""
_MOST_FILES: Final = 10_000
_DEEPEST: Final = 8
_SCHEMA: Final = "values.schema.json"
_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
_META_SCHEMA: Final = re.compile(r"https?://json-schema\.org/[-a-z0-9/]*schema#?")
_WORD: Final = re.compile(
    rb'\\"(?:\\[^"]|[^"\\\n])*+\\"|\\.|"(?:\\.|[^"\\\n])*+"|`[^`]*+`|(?<![\w.$])now(?!\w)', re.DOTALL
)
"""What is in an action: escapes and strings, and of what is in none `now`. No alternative gives back what it took."""
_ANOTHER_TIME: Final = b"(toDate `2006-01-02` `2001-02-03`)"
"""Without quotes, so that it may stand in a text of a template (`tpl`) or of JSON."""


def chart_files(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """A chart's files with its archives unpacked; BadInput names the file that is not used and says why."""
    unpacked = dict(_unpacked(files, 0, _Budget()))
    if len(unpacked) > _MOST_FILES or sum(map(len, unpacked.values())) > MOST_BYTES:
        raise BadInput(PayloadText.MORE_FILES_MIB(most_files=_MOST_FILES, most_bytes=MOST_BYTES >> 20))
    schemas = [path for path in unpacked if posixpath.basename(path) == _SCHEMA]
    return unpacked | {path: _checked_schema(path, unpacked[path]) for path in schemas}


def at_another_time(content: bytes) -> bytes:
    """A template in which `now` is a moment long ago: what it renders to differs where it depends on the time.

    In time that grows as the content does, whatever it is: any file of a chart may say anything.
    """
    return b"}}".join(map(_action_at_another_time, content.split(b"}}")))


def _action_at_another_time(text: bytes) -> bytes:
    before, start, action = text.partition(b"{{")
    return before + start + _WORD.sub(lambda word: _ANOTHER_TIME if word[0] == b"now" else word[0], action)


@dataclass(slots=True)
class _Budget:
    """So many bytes may still come out of archives, all of a chart's together: each may grow a thousandfold."""

    bytes_left: int = MOST_BYTES

    def unpack(self, archive: bytes) -> bytes:
        """What is in a gzip file; ValueError when it is more than is left."""
        reader = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
        content = reader.decompress(archive, self.bytes_left + 1)
        if not reader.eof or len(content) > self.bytes_left:
            raise ValueError(PayloadText.TOO_LARGE_CUT_OFF())
        self.bytes_left -= len(content)
        return content


def _unpacked(files: Mapping[str, bytes], depth: int, budget: _Budget) -> Iterator[tuple[str, bytes]]:
    for path, content in files.items():
        folder, _, name = path.rpartition("/")
        if posixpath.basename(folder) != "charts" or not name.endswith((".tgz", ".tar.gz")):
            yield path, content
            continue
        if depth == _DEEPEST:
            raise BadInput(PayloadText.LIES_MORE_CHARTS_DEEP(path=path, deepest=_DEEPEST))
        try:
            inner = _members(budget.unpack(content))
        except (tarfile.TarError, OSError, EOFError, zlib.error, ValueError) as error:
            raise BadInput(PayloadText.NO_ARCHIVE_READ(path=path)) from error
        if any(inside in files for inside in (f"{folder}/{member}" for member in inner)):
            raise BadInput(PayloadText.FOLDER_TOO_REMOVE_ONE_TWO(path=path))
        yield from _unpacked({f"{folder}/{member}": text for member, text in inner.items()}, depth + 1, budget)


def _members(archive: bytes) -> dict[str, bytes]:
    """The files of a chart's archive, unzipped."""
    contents: dict[str, bytes] = {}
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:") as members:
        for member in members:
            path = posixpath.normpath(member.name)
            if len(contents) > _MOST_FILES:
                raise ValueError(PayloadText.TOO_MANY_FILES())
            if member.isdir() or member.type in (tarfile.XHDTYPE, tarfile.XGLTYPE):
                continue
            content = members.extractfile(member) if member.isreg() else None
            if content is None or path.startswith(("/", "..")) or "/" not in path:
                raise ValueError(PayloadText.NOT_CHART_FILE())
            contents[path] = content.read()
    return contents


def _checked_schema(path: str, content: bytes) -> bytes:
    """The schema as it was read, written out again."""
    parsed = desired.parse_file(path, content)
    if parsed.faults or len(parsed.documents) != 1:
        raise BadInput(PayloadText.NO_JSON_READ(path=path))
    schema = parsed.documents[0].value
    for key, value in _texts(schema):
        if key in _REFERENCES and not value.startswith("#"):
            raise BadInput(PayloadText.REFERS_NOTHING_FETCHED(path=path, value=value))
        if key == "$schema" and not _META_SCHEMA.fullmatch(value):
            raise BadInput(PayloadText.SCHEMA_USE_ONE_JSON_SCHEMA(path=path, value=value))
    return canonical_json(schema)


def _texts(value: Any) -> Iterator[tuple[str, str]]:
    """Every text below a value with the key at which it stands."""
    for element in value if isinstance(value, list) else ():
        yield from _texts(element)
    for key, element in value.items() if isinstance(value, dict) else ():
        if isinstance(element, str):
            yield str(key), element
        else:
            yield from _texts(element)


_TESTS: Final = frozenset(("test", "test-success", "test-failure"))
_INSTALLING: Final = frozenset(("pre-install", "post-install", "pre-upgrade", "post-upgrade"))
_SECRET_KEY: Final = re.compile(r"pass|secret|token|cred|key|auth|cert|salt|private|dsn|url", re.IGNORECASE)
_SHORTEST_SECRET: Final = 3
_SHOWN_OF_A_VALUE: Final = 7
"""helm's YAML reader shows so many characters of a value at most."""


def without_hooks(documents: Iterable[Document], hooks: Hooks) -> tuple[Document, ...]:
    """The part of a chart's output that is payload. Hooks of tests never are. With `Run` other hooks that gitfleet does
    not run stay, for a warning, unless another document has their name; with `Apply` those of installations and
    upgrades are ordinary objects."""
    placed: list[Document] = []
    never_run: dict[str, Document] = {}
    for document in documents:
        events = _events(document.value)
        if hooks is Hooks.RUN and _never_runs(events):
            never_run.setdefault(_name(document.value), document)
        elif not events or hooks is Hooks.RUN:
            placed.append(document)
        elif hooks is Hooks.APPLY and events & _INSTALLING:
            placed.append(replace(document, value=without_annotation(document.value, HELM_HOOK)))
    names = {_name(document.value) for document in placed}
    shown = (document for name, document in never_run.items() if name not in names)
    return (*placed, *(document for document in shown if not _events(document.value) <= _TESTS))


def _never_runs(events: frozenset[str]) -> bool:
    return bool(events) and not events & _INSTALLING


def without_annotation(body: Any, name: str) -> Any:
    """An object without an annotation that it has."""
    metadata = dict(body["metadata"])
    annotations = {key: value for key, value in metadata.pop("annotations").items() if key != name}
    return {**body, "metadata": {**metadata, **({"annotations": annotations} if annotations else {})}}


def differences(*sides: Iterable[Document]) -> list[str]:
    """The objects that two renderings of one chart do not have in common, but for hooks that never run. Their order
    means nothing."""
    placed = ([document for document in side if not _never_runs(_events(document.value))] for side in sides)
    first, second = ({(_name(document.value), digest_of(document.value)) for document in side} for side in placed)
    return sorted({name for name, _ in first ^ second})


def without_secrets(message: str, templates: Mapping[str, bytes], values: Iterable[tuple[str, bytes]]) -> str:
    """helm's words, unless they have a value that may be secret: of a key that sounds like one, or any value where the
    words name a template of Secrets. `values` are the texts of values, with the paths that they are called by."""
    named = [path for path in templates if path in message]
    is_about_secret = any(b"Secret" in templates[path] for path in named)
    for name, content in values:
        parsed = desired.parse_file(name, content)
        texts = [pair for document in parsed.documents for pair in _leaves(document.value, False)]
        texts += [(word, True) for word in content.decode(errors="replace").split()] if parsed.faults else []
        for value, is_secret in texts:
            long_enough = len(value) >= _SHORTEST_SECRET
            if long_enough and (is_secret or is_about_secret) and value[:_SHOWN_OF_A_VALUE] in message:
                return PayloadText.CANNOT_BUILT_HELM_SAYS_NOT()
    return message


def _leaves(value: Any, is_secret: bool) -> Iterator[tuple[str, bool]]:
    if isinstance(value, dict):
        for key, element in value.items():
            yield from _leaves(element, is_secret or _SECRET_KEY.search(str(key)) is not None)
    elif isinstance(value, list):
        for element in value:
            yield from _leaves(element, is_secret)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield from ((text, is_secret) for text in (str(value), *str(value).split()))


def _events(body: Any) -> frozenset[str]:
    written = section(body, "metadata", "annotations").get(HELM_HOOK)
    return frozenset(part.strip() for part in written.split(",")) if isinstance(written, str) else frozenset()


def _name(body: Any) -> str:
    metadata = section(body, "metadata")
    parts = (section(body).get("kind"), metadata.get("namespace"), metadata.get("name"))
    return "/".join(str(part) for part in parts if part) or PayloadText.OBJECT_WITHOUT_NAME()
