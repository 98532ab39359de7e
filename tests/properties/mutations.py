"""One file of a sound config repo, damaged at random: a wrong value, a key that is gone, a document in other wrapping.

The same seed gives the same damage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cache, lru_cache
from random import Random
from typing import Any, Final

import yaml

from gitfleet.api.kinds import KINDS
from gitfleet.formats.kinds import BUILT_IN_KINDS
from tests.builders import to_yaml
from tests.properties.sound_repo import sound_files

_HERE: Final = "PLACEHOLDER0here"
"""Stands where a value is to be written that no YAML writer writes."""
_VALUES: Final[Mapping[str, tuple[str, ...]]] = {
    "null": ("null", "~", "''"),
    "bool": ("true", "false", "yes"),
    "int": ("0", "-1", "1", "7", "2147483648", "-9223372036854775809", "0x1f", "0o17", "1_000"),
    "huge int": ("9" * 5000,),
    "float": ("1.5", "-0.0", "1e400", "1e-400", ".inf", "-.inf", ".nan", "Infinity", "NaN"),
    "list": ("[]", "[1]", "[a, b]", "[[]]", "[{}]", "[null]"),
    "mapping": ("{}", "{a: b}", "{'': 1}", "{name: [1]}", "{1: 2}", "{null: a}"),
    "deep": ("[" * 190 + "]" * 190, "[" * 201 + "]" * 201, "{a: " * 180 + "1" + "}" * 180, "[" * 30000),
    "long": ("L" * 300, "L" * 1_000_000, "'" + "word " * 2000 + "'"),
    "control": (r'"\x07"', r'"a\x00b"', r'"\e[31m"', r'"\r\n"', r'"\u2028"', r'"\x7f"', "'\x07'"),
    "surrogate": (r'"\ud800"', r'"\udc00x"', r'"\ud83d\ude00"'),
    "look-alike": ("wеb", "web\u200b", "ｗｅｂ", "'web '", "ẞ", "web\u0301", "\u202ebew"),
    "tag": ("!!str 1", "!!int x", "!!binary aGVsbG8=", "!!binary '&'", "!!set {a}", "!custom x",
            "!!python/object:os.a x", "!!timestamp 2001-01-01", "!!float '1'", "!!null x", "!!omap [a: 1]"),
    "anchor": ("&a [*a]", "*nothing", "&a {b: &c 1, d: *c}", "{<<: {a: b}}", "{<<: [1]}", "{<<: *none}", "&x x"),
    "duplicate": ("{a: 1, a: 2}", "{a: 1, 'a': 2}", "{1: 1, '1': 2}"),
    "timestamp": ("2001-12-14t21:59:43.10-05:00", "2001-12-14", "9999-99-99"),
    "wrong list": ("[{kind: 7, name: [], uid: {}}]", "[7]", "[{key: a}, {key: [a]}]", "[{apiVersion: v1, kind: List}]"),
    "text": ("x", "'0'", "'%'", "'101%'", "-5%", "'*'", "../../x", "a/b", "'${MEMBER-CLUSTER-NAME}'", "=", "<<", "y"),
}  # fmt: skip
_KEYS: Final = (
    "1", "null", "true", "''", "<<", "? [a]\n", r'"\ud800"', "'a b'", "L" * 500, "kind", "metadata", "name", "spec",
    "!!binary aGk=", "wеb", r'"\x07"', "'a/b/c'", "1.5",
)  # fmt: skip
_PLAIN: Final = ("bool", "int", "list", "look-alike", "mapping", "null", "text", "timestamp", "wrong list")
"""What can mostly be read, and is of the wrong type."""
_READ_IN_PAYLOAD: Final = """
apiVersion kind metadata metadata.name metadata.generateName metadata.namespace metadata.labels metadata.labels.x
metadata.annotations metadata.annotations.x metadata.ownerReferences metadata.ownerReferences.0
metadata.ownerReferences.0.uid metadata.finalizers metadata.finalizers.0 metadata.uid metadata.resourceVersion
metadata.creationTimestamp metadata.deletionTimestamp metadata.deletionGracePeriodSeconds metadata.generation
metadata.selfLink metadata.managedFields metadata.managedFields.0 metadata.managedFields.0.fieldsV1 status
status.conditions status.conditions.0 status.conditions.0.type status.observedGeneration status.replicas
status.loadBalancer spec spec.replicas spec.selector spec.selector.matchLabels spec.template spec.template.metadata
spec.template.metadata.labels spec.template.spec spec.template.spec.containers spec.template.spec.containers.0
spec.template.spec.containers.0.image spec.template.spec.containers.0.ports spec.template.spec.volumes spec.strategy
spec.strategy.rollingUpdate spec.updateStrategy spec.volumeClaimTemplates spec.volumeClaimTemplates.0 spec.completions
spec.parallelism spec.suspend spec.type spec.ports spec.ports.0 spec.ports.0.port spec.clusterIP spec.minAvailable
spec.maxUnavailable spec.names spec.names.kind spec.names.plural spec.group spec.scope spec.versions spec.versions.0
spec.versions.0.name spec.versions.0.schema spec.versions.0.subresources spec.versions.0.served
spec.versions.0.storage spec.versions.0.additionalPrinterColumns spec.conversion spec.hard data data.x binaryData
binaryData.x stringData stringData.x type immutable rules rules.0 rules.0.verbs aggregationRule items items.0
items.0.metadata
"""
"""Fields of objects that are placed, which gitfleet or the API server has an opinion of; 0 is a list's first item."""
_POINTERS: Final = (
    "", "/", "no-slash", "/kind", "/metadata/name", "/metadata/namespace", "/metadata", "/metadata/labels", "/data",
    "/data/-", "/data/~2", "/data/~", "/data/greeting/deeper", "/spec/9999999999999", "/rules/-", "/rules/01",
    "/rules/7", "/rules/-1", "/a" * 300, "/metadata/annotations/kubernetes-fleet.io~1envelope-configmap", 7, None,
    ["/data"], "/${MEMBER-CLUSTER-NAME}", "/status", "/apiVersion", "/rules/0/verbs/" + "9" * 5000,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mutation:
    """A file with its damaged text (None: removed), and what was done to it, in a few words."""

    path: str
    text: str | bytes | None
    what: str


@lru_cache(256)
def mutation(seed: int) -> Mutation:
    """The damage of a seed: four of five in what is placed, the others in what places it."""
    dice = Random(seed)
    files = sound_files()
    payload = dice.random() < _SHARE_OF_PAYLOAD
    path = dice.choice([one for one in sorted(files) if "beat" not in one and one.startswith("resources/") == payload])
    draws = tuple(_DRAWS)
    return dice.choices(draws, weights=[_DRAWS[draw] for draw in draws])[0](dice, path, files[path])


def _places(value: Any, above: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a value, each as its steps, the value itself left out."""
    steps: list[Any] = list(value) if isinstance(value, dict) else []
    steps = list(range(len(value))) if isinstance(value, list) else steps
    found: list[tuple[Any, ...]] = []
    for step in steps:
        found += [(*above, step), *_places(value[step], (*above, step))]
    return found


def _at(value: Any, steps: tuple[Any, ...]) -> Any:
    for step in steps:
        value = value[step]
    return value


def _drawn(dice: Random, text: str) -> tuple[list[Any], tuple[Any, ...]]:
    """The documents of a text, and a place in one of them."""
    documents: list[Any] = deepcopy(list(yaml.safe_load_all(text)))
    return documents, dice.choice([place for place in _places(documents) if len(place) > 1])


def _said(place: tuple[Any, ...]) -> str:
    return ".".join(map(str, place[1:]))


def _wrong_value(dice: Random, path: str, text: str) -> Mutation:
    documents, place = _drawn(dice, text)
    sort = dice.choice(sorted(_VALUES))
    value = dice.choice(_VALUES[sort])
    _at(documents, place[:-1])[place[-1]] = _HERE
    return Mutation(path, to_yaml(*documents).replace(_HERE, value), f"{_said(place)} = {sort} {value[:40]!r}")


def _wrong_key(dice: Random, path: str, text: str) -> Mutation:
    documents, place = _drawn(dice, text)
    above = _at(documents, place[:-1])
    key = dice.choice(_KEYS)
    if isinstance(above, dict) and dice.random() < 0.5:
        above[_HERE] = above.pop(place[-1])
    elif isinstance(above, dict):
        above[_HERE] = dice.choice(("x", 1, None, [], {}))
    else:
        above[place[-1]] = {_HERE: above[place[-1]]}
    return Mutation(path, to_yaml(*documents).replace(_HERE, key), f"{_said(place)} under the key {key[:40]!r}")


def _without_key(dice: Random, path: str, text: str) -> Mutation:
    documents, place = _drawn(dice, text)
    del _at(documents, place[:-1])[place[-1]]
    return Mutation(path, to_yaml(*documents), f"without {_said(place)}")


def _moved_value(dice: Random, path: str, text: str) -> Mutation:
    """A value that stands elsewhere in the repo, where it does not belong."""
    documents, place = _drawn(dice, text)
    files = sound_files()
    others, other = _drawn(dice, files[dice.choice(sorted(files))])
    _at(documents, place[:-1])[place[-1]] = _at(others, other)
    return Mutation(path, to_yaml(*documents), f"{_said(place)} = what stands at {_said(other)} elsewhere")


@cache
def _fields_of(group: str, kind: str) -> Sequence[tuple[str | int, ...]]:
    """The places of an object that gitfleet reads, whether a file has them or not: for a kind of ours its schema's."""
    own = KINDS.get((group, kind))
    if own is None:
        return [tuple(0 if step == "0" else step for step in one.split(".")) for one in _READ_IN_PAYLOAD.split()]
    schema = own.schema()
    return [place for place in _schema_places(schema, schema["$defs"], 8) if place]


def _schema_places(
    schema: Mapping[str, Any], definitions: Mapping[str, Any], depth: int
) -> Iterator[tuple[str | int, ...]]:
    """The places of what a schema describes, itself first, an item of a list as 0 and of a mapping as `x`."""
    yield ()
    if "$ref" in schema:
        schema = definitions[schema["$ref"].rpartition("/")[2]]
    parts: list[tuple[str | int, Any]] = list(schema.get("properties", {}).items())
    parts += [(step, schema[word]) for step, word in ((0, "items"), ("x", "additionalProperties")) if word in schema]
    parts += [("", one) for one in schema.get("anyOf", ())]
    for step, part in parts:
        if isinstance(part, dict) and depth:
            for place in _schema_places(part, definitions, depth - 1):
                yield place if step == "" else (step, *place)


def _read_field(dice: Random, path: str, text: str) -> Mutation:
    """Nonsense in a field that gitfleet reads, which the file may not have."""
    documents: list[Any] = list(yaml.safe_load_all(text))
    at = dice.randrange(len(documents))
    group = documents[at]["apiVersion"].rpartition("/")[0]
    place = dice.choice(_fields_of(group, documents[at]["kind"]))
    return _with_nonsense(dice, path, documents, (at, *place))


def _with_nonsense(dice: Random, path: str, documents: list[Any], place: tuple[Any, ...]) -> Mutation:
    """Nonsense at a place that is made where it is not there."""
    here: Any = documents
    for step, following in zip(place, [*place[1:], None], strict=True):
        inner: Any = _HERE if following is None else [None] if following == 0 else {}
        if isinstance(here, list):
            step = min(int(step), len(here) - 1) if isinstance(step, int) and here else 0
            here[step : step + 1] = here[step : step + 1] or [None]
        if following is None or not isinstance(here[step] if isinstance(here, list) else here.get(step), type(inner)):
            here[step] = inner
        here = here[step]
    value = _nonsense(dice)
    return Mutation(path, to_yaml(*documents).replace(_HERE, value), f"{_said(place)} = {value[:60]!r}")


def _nonsense(dice: Random, depth: int = 3) -> str:
    """A value of any type, often one within others, as YAML in one line."""
    kind = dice.random() if depth else 0.0
    if kind < 0.6:
        return dice.choice(_VALUES[dice.choice(_PLAIN)])
    parts = [_nonsense(dice, depth - 1) for _ in range(dice.randrange(4))]
    if kind < 0.8:
        return f"[{', '.join(parts)}]"
    keys = dice.sample(("a", "name", "kind", "'1'", "value", "metadata", "namespace", "type", "key"), len(parts))
    return f"{{{', '.join(f'{key}: {part}' for key, part in zip(keys, parts, strict=True))}}}"


def _carried(dice: Random, path: str, text: str) -> Mutation:
    """Damage in a text that carries objects, as that of an envelope, which is any text of several lines elsewhere."""
    documents: list[Any] = list(yaml.safe_load_all(text))
    texts = [place for place in _places(documents) if "\n" in str(_at(documents, place))]
    inner = [place for place in texts if isinstance(_at(documents, place), str)]
    if not inner:
        return _wrong_value(dice, path, text)
    place = dice.choice(inner)
    draw = dice.choice((_wrong_value, _wrong_key, _without_key, _read_field, _wrapped))
    found = draw(dice, path, _at(documents, place))
    carried = found.text if isinstance(found.text, str) else "\x07"
    _at(documents, place[:-1])[place[-1]] = carried if len(carried) < _MOST_CARRIED else "[" * 300
    return Mutation(path, to_yaml(*documents), f"{_said(place)} carries {found.what}")


def _wrong_patch(dice: Random, path: str, text: str) -> Mutation:
    """One more JSON patch of an override, elsewhere a mapping in the place of another value."""
    documents, place = _drawn(dice, text)
    where = [one for one in _places(documents) if one[-1] == "jsonPatchOverrides"]
    here, place = (_at(documents, where[0]), where[0]) if where else (_at(documents, place[:-1]), place)
    operation = dice.choice(("add", "remove", "replace", "move", "copy", "test", "ADD", 7))
    patch: dict[str, Any] = {"op": operation, "path": dice.choice(_POINTERS)}
    if dice.random() < 0.8:
        patch["value"] = _HERE
    if where:
        here.append(patch)
    else:
        here[place[-1]] = [patch]
    return Mutation(
        path, to_yaml(*documents).replace(_HERE, _nonsense(dice)), f"{_said(place)} has {patch['op']} {patch['path']!r}"
    )


def _new_payload(dice: Random, path: str, text: str) -> Mutation:
    """One more object of a built-in kind, beside what is there, whose parts are nonsense."""
    row = dice.choice([row for row in BUILT_IN_KINDS.values() if row.all_versions])
    version = "/".join(filter(None, (row.group, dice.choice(row.all_versions))))
    places = {"namespace": "other"} if row.namespaced else {}
    body: dict[str, Any] = {"apiVersion": version, "kind": row.kind, "metadata": {"name": "fresh", **places}}
    parts = dice.sample(("spec", "data", "status", "stringData", "rules", "subjects", "roleRef", "type", "webhooks"), 2)
    written = to_yaml(body) + "".join(f"{part}: {_nonsense(dice)}\n" for part in parts)
    return Mutation("resources/other/fresh.yaml", written, f"one more {row.kind}: {' '.join(written.split())[:200]}")


_WRAPPINGS: Final[Mapping[str, Callable[[str], str | bytes | None]]] = {
    "List": lambda text: to_yaml({"apiVersion": "v1", "kind": "List", "items": list(yaml.safe_load_all(text))}),
    "List in a List": lambda text: to_yaml(
        {"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "List", "items": [{}]}]}
    ),
    "a List of nothing": lambda text: to_yaml({"apiVersion": "v1", "kind": "List", "items": []}),
    "a List without items": lambda text: to_yaml({"apiVersion": "v1", "kind": "List", "items": None}),
    "a typed list": lambda text: to_yaml(
        {"apiVersion": "v1", "kind": "SecretList", "items": list(yaml.safe_load_all(text))}
    ),
    "separators alone": lambda text: "---\n---\n---\n",
    "empty": lambda text: "",
    "comments alone": lambda text: "".join(f"# {line}\n" for line in text.splitlines()),
    "removed": lambda text: None,
    "byte order mark": lambda text: "\ufeff" + text,
    "UTF-16": lambda text: text.encode("utf-16"),
    "invalid UTF-8": lambda text: text.encode() + b"\xff\xfe\xc0\x80",
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "CR": lambda text: text.replace("\n", "\r"),
    "tabs": lambda text: text.replace("  ", "\t"),
    "NUL": lambda text: text + "\0",
    "cut short": lambda text: text[: len(text) // 2],
    "twice": lambda text: f"{text}---\n{text}",
    "a conflict of git": lambda text: f"<<<<<<< HEAD\n{text}=======\n{text}>>>>>>> other\n",
    "a list": lambda text: "".join(f"- {line}\n" for line in text.splitlines()),
    "a scalar": lambda text: "just a text\n",
    "in a tag": lambda text: "!!python/object/apply:os.system [echo]\n",
    "end marker": lambda text: f"{text}...\nrubbish: [\n",
    "a directive": lambda text: f"%YAML 9.9\n---\n{text}",
    "spaces in front": lambda text: "   " + text,
}  # fmt: skip


def _wrapped(dice: Random, path: str, text: str) -> Mutation:
    what = dice.choice(sorted(_WRAPPINGS))
    return Mutation(path, _WRAPPINGS[what](text), what)


_SHARE_OF_PAYLOAD: Final = 0.8
_MOST_CARRIED: Final = 100_000
"""Characters of a carried text: larger ones are refused as every large file is."""
_DRAWS: Final[Mapping[Callable[[Random, str, str], Mutation], int]] = {
    _wrong_value: 28, _wrong_key: 8, _without_key: 8, _moved_value: 8, _wrapped: 8,
    _read_field: 20, _carried: 4, _wrong_patch: 4, _new_payload: 12,
}  # fmt: skip
