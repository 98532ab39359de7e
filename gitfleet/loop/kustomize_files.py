"""What one kustomization says: the paths it names, and which values must not be shown. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gitfleet import desired
from gitfleet.formats.canonical_json import canonical_json
from gitfleet.loop.kustomize_rules import PATH_LISTS, PLUGIN_LISTS, fault_of, is_inline, listed, plugin_fault
from gitfleet.loop.texts import LoopText

_SHORTEST_SECRET: Final = 3
_SHOWN_OF_A_VALUE: Final = 7
"""kustomize's YAML reader shows so many characters of a value at most."""
_WORDS: Final = re.compile(rb"[^\s\"'`,:=\[\]{}]+")


@dataclass(frozen=True, slots=True)
class Kustomization:
    """The paths that it names, those of plug-in configurations apart, since these may name further ones; or why it does
    not say: then `text` is all there is to guess from (None: not read).

    `canonical` is what kustomize is given: the values that were checked, so that no text can mean something else to it.
    """

    references: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()
    fault: str = ""
    text: bytes | None = None
    canonical: bytes = b""

    def may_name(self, name: bytes) -> bool:
        """Whether a kustomization that cannot be read may name a folder whose last part is `name`."""
        return self.text is None or name in self.text or b"\\" in self.text


@dataclass(frozen=True, slots=True)
class PluginFile:
    """The configuration of generators, transformers or validators: the paths that it names, or why it is not used."""

    references: tuple[str, ...] = ()
    fault: str = ""
    canonical: bytes = b""


def read_kustomization(content: bytes | None) -> Kustomization:
    """Read the bytes of a kustomization.yaml (kustomize.config.k8s.io); None when they are not to be had."""
    if content is None:
        return Kustomization(fault=LoopText.TOO_LARGE_READ())
    parsed = desired.parse_file("kustomization.yaml", content)
    if parsed.faults:
        line, message = parsed.faults[0]
        return Kustomization(fault=LoopText.CANNOT_READ_LINE(line=line, message=message), text=content)
    if len(parsed.documents) != 1 or not isinstance(parsed.documents[0].value, dict):
        return Kustomization(fault=LoopText.NOT_ONE_YAML_OBJECT(), text=content)
    value = parsed.documents[0].value
    fault = fault_of(value)
    if fault:
        return Kustomization(fault=fault, text=content)
    plugins = tuple(str(entry) for key in PLUGIN_LISTS for entry in listed(value, key))
    return Kustomization(references=tuple(_references(value)), plugins=plugins, canonical=canonical_json(value))


def read_plugin_file(content: bytes) -> PluginFile:
    """Read the configuration of generators, transformers or validators (kustomize's own ones)."""
    parsed = desired.parse_file("kustomization.yaml", content)
    if parsed.faults:
        line, message = parsed.faults[0]
        return PluginFile(fault=LoopText.CANNOT_READ_LINE(line=line, message=message))
    found: list[str] = []
    for document in parsed.documents:
        fault = plugin_fault(document.value)
        if fault or not isinstance(document.value, dict):
            return PluginFile(fault=fault)
        found += _files_of(document.value)
        found += [str(document.value["path"])] if document.value.get("path") else []
        found += [str(path) for path in listed(document.value, "paths") if not is_inline(str(path))]
        replacements = [entry for entry in listed(document.value, "replacements") if isinstance(entry, dict)]
        found += [str(entry["path"]) for entry in replacements if entry.get("path")]
    canonical = b"\n---\n".join(canonical_json(document.value) for document in parsed.documents)
    return PluginFile(references=tuple(found), canonical=canonical)


def without_secrets(message: str, folder: str, files: Mapping[str, bytes]) -> str:
    """kustomize's words, unless they hold a value of a Secret; `files` are those that it read."""
    shown = message.encode()
    if any(value[:_SHOWN_OF_A_VALUE] in shown for value in _secrets(files) if len(value) >= _SHORTEST_SECRET):
        return LoopText.CANNOT_BUILT_KUSTOMIZE_SAYS_NOT(folder=folder)
    return message


def _references(kustomization: Mapping[str, Any]) -> Iterator[str]:
    """Every path that a kustomization names; inline YAML is no path."""
    for key in PATH_LISTS:
        yield from (str(entry) for entry in listed(kustomization, key))
    yield from (str(entry) for entry in listed(kustomization, "patchesStrategicMerge") if not is_inline(str(entry)))
    for key in ("patches", "patchesJson6902", "replacements"):
        entries = (entry for entry in listed(kustomization, key) if isinstance(entry, dict))
        yield from (str(entry["path"]) for entry in entries if entry.get("path"))
    for key in ("configMapGenerator", "secretGenerator"):
        for entry in listed(kustomization, key):
            yield from _files_of(entry)
    openapi = kustomization.get("openapi")
    if isinstance(openapi, dict) and openapi.get("path"):
        yield str(openapi["path"])


def _files_of(generator: Any) -> Iterator[str]:
    for name in ("files", "envs"):
        yield from (str(file).rpartition("=")[2] for file in listed(generator, name))
    if isinstance(generator, dict) and generator.get("env"):
        yield str(generator["env"])


def _secrets(files: Mapping[str, bytes]) -> Iterator[bytes]:
    """Every word that may be a value of a Secret: more rather than fewer."""
    for path, content in files.items():
        parsed = desired.parse_file(path, content)
        if parsed.faults and b"ecret" in content:
            yield from _WORDS.findall(content)
        for document in parsed.documents:
            if not isinstance(document.value, dict):
                continue
            if "Secret" in str(document.value.get("kind")):
                shown = ("apiVersion", "kind", "metadata")
                yield from _texts({key: value for key, value in document.value.items() if key not in shown})
            yield from _texts(
                [entry.get("valuesInline") for entry in listed(document.value, "helmCharts") if isinstance(entry, dict)]
            )
            inline = [entry for key in PLUGIN_LISTS for entry in listed(document.value, key)]
            yield from _texts([entry for entry in inline if "Secret" in str(entry)])
            folder = path.rpartition("/")[0]
            for generator in listed(document.value, "secretGenerator"):
                named = {f"{folder}/{name}".lstrip("/") for name in _files_of(generator)}
                lines = [line for name in named for line in files.get(name, b"").splitlines()]
                lines += [str(literal).encode() for literal in listed(generator, "literals")]
                yield from (word for line in lines for word in _WORDS.findall(line.partition(b"=")[2] or line))


def _texts(value: Any) -> Iterator[bytes]:
    """Every text below a value, whole and in words."""
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)
    elif value is not None:
        whole = str(value).encode()
        yield whole
        yield from _WORDS.findall(whole)
