"""One file of a sound config repo, damaged at random: a wrong value, a key that is gone, a document in other wrapping.

The same seed gives the same damage.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any, Final

import yaml

from tests import builders
from tests.builders import to_yaml

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
    "text": ("x", "'0'", "'%'", "'101%'", "-5%", "'*'", "../../x", "a/b", "'${MEMBER-CLUSTER-NAME}'", "=", "<<", "y"),
}  # fmt: skip
_KEYS: Final = (
    "1", "null", "true", "''", "<<", "? [a]\n", r'"\ud800"', "'a b'", "L" * 500, "kind", "metadata", "name", "spec",
    "!!binary aGk=", "wеb", r'"\x07"', "'a/b/c'", "1.5",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mutation:
    """A file with its damaged text (None: removed), and what was done to it, in a few words."""

    path: str
    text: str | bytes | None
    what: str


def _selector(group: str, version: str, kind: str, name: str) -> dict[str, str]:
    return {"group": group, "version": version, "kind": kind, "name": name}


def _override(name: str, namespace: str, selector: Mapping[str, str], path: str, value: Any) -> dict[str, Any]:
    term = {"labelSelector": {"matchLabels": {"zone": "a"}}}
    patch = {"op": "add", "path": path, "value": value}
    rule = {"clusterSelector": {"clusterSelectorTerms": [term]}, "jsonPatchOverrides": [patch]}
    field = "resourceSelectors" if namespace else "clusterResourceSelectors"
    spec = {field: [dict(selector)], "policy": {"overrideRules": [rule]}}
    kind = "ResourceOverride" if namespace else "ClusterResourceOverride"
    return builders.an_object(builders.PLACEMENT_API, kind, name, namespace=namespace, spec=spec)


def _shop() -> list[dict[str, Any]]:
    inner = to_yaml(builders.config_map("shop", "carried", {"a": "1"}))
    carrier = builders.config_map("shop", "carrier", {"one.yaml": inner})
    carrier["metadata"]["annotations"] = {"kubernetes-fleet.io/envelope-configmap": "true"}
    quota = builders.an_object("v1", "ResourceQuota", "limit", namespace="shop", spec={"hard": {"pods": "9"}})
    envelope = builders.an_object(
        builders.PLACEMENT_API, "ResourceEnvelope", "wrapped", namespace="shop", data={"quota": quota}
    )
    binary = builders.an_object("v1", "Secret", "keys", namespace="shop", data={"k": "aGVsbG8="}, type="Opaque")
    widget = builders.an_object("example.com/v1", "Widget", "one", namespace="shop", spec={"size": 1})
    return [
        builders.namespace("shop", labels={"team": "a"}), builders.deployment("shop", "web"), carrier, envelope,
        builders.stateful_set("shop", "db"), builders.service("shop", "web"), builders.disruption_budget("shop", "web"),
        builders.secret("shop", "texts", {"password": "hunter2"}), binary, widget, builders.job("shop", "task"),
        builders.config_map("shop", "settings", {"greeting": "hello"}),
    ]  # fmt: skip


def _cluster_wide() -> tuple[list[dict[str, Any]], dict[str, Any]]:
    rbac = "rbac.authorization.k8s.io"
    rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]
    role = builders.an_object(f"{rbac}/v1", "ClusterRole", "reader", rules=rules)
    inner = builders.an_object(f"{rbac}/v1", "ClusterRole", "carried", rules=rules)
    envelope = builders.an_object(builders.PLACEMENT_API, "ClusterResourceEnvelope", "wide", data={"role": inner})
    placed = [builders.custom_definition("example.com", "Widget"), role, envelope]
    selectors = [
        _selector("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "widgets.example.com"),
        _selector(rbac, "v1", "ClusterRole", "reader"),
        _selector("placement.kubernetes-fleet.io", "v1beta1", "ClusterResourceEnvelope", "wide"),
    ]
    return placed, builders.placement("wide", selectors=selectors)


CLUSTERS: Final = ("c1", "c2", "c3")


@cache
def sound_files() -> Mapping[str, str]:
    """A config repo with every kind of thing in it, and no fault."""
    wide, wide_placement = _cluster_wide()
    staged = builders.placement("staged", strategy={"type": "External"})
    bodies = [
        *(builders.member_cluster(name, labels={"zone": "ab"[name == "c2"]}) for name in CLUSTERS),
        *_shop(), *wide, wide_placement, staged,
        builders.placement("shop", policy=builders.pick_n(2, match_labels={"zone": "a"}),
                           strategy=builders.rolling_update(maxUnavailable="50%")),
        builders.namespace("other"), builders.config_map("other", "settings", {"v": "1"}),
        builders.deployment("other", "app"), builders.placement("other"),
        builders.namespace("staged"), builders.config_map("staged", "settings", {"v": "1"}),
        builders.staged_strategy("steps", builders.stage("first", match_labels={"zone": "a"}),
                                 builders.stage("rest", match_labels={"zone": "b"}, wait="1m")),
        builders.staged_run("run-1", placement="staged", strategy="steps"),
        _override("greet", "shop", _selector("", "v1", "ConfigMap", "settings"), "/data/greeting", "hi"),
        _override("label", "", _selector("rbac.authorization.k8s.io", "v1", "ClusterRole", "reader"),
                  "/metadata/labels", {"zone": "a"}),
        builders.an_object(builders.PLACEMENT_API, "ClusterResourcePlacementDisruptionBudget", "shop",
                           spec={"minAvailable": 1}),
        builders.fleet_config(interval="30s", massDelete={"maxPercent": 30}, rollout={"unreachable": "Skip"}),
    ]  # fmt: skip
    both = to_yaml(builders.config_map("other", "one", {"v": "1"}), builders.config_map("other", "two", {"v": "1"}))
    return {**builders.repo_files_for(*bodies), "resources/other/both.yaml": both}


def mutation(seed: int) -> Mutation:
    """The damage of a seed."""
    dice = Random(seed)
    files = sound_files()
    path = dice.choice(sorted(files))
    draw: Callable[[Random, str, str], Mutation] = dice.choices(
        (_wrong_value, _wrong_key, _without_key, _moved_value, _wrapped), weights=(60, 10, 12, 8, 10)
    )[0]
    return draw(dice, path, files[path])


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
