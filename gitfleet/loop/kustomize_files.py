"""What one kustomization says: the paths it names, and which values must not be shown. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gitfleet import desired

_PATH_LISTS: Final = ("resources", "bases", "components", "crds", "configurations")
_PLUGIN_LISTS: Final = ("transformers", "generators", "validators")
_SHORTEST_SECRET: Final = 3
_SHOWN_OF_A_VALUE: Final = 7
"""kustomize's YAML reader shows so many characters of a value at most."""
_WORDS: Final = re.compile(rb"[^\s\"'`,:=\[\]{}]+")


@dataclass(frozen=True, slots=True)
class Kustomization:
    """The paths that it names, those of plug-in configurations apart, since these may name further ones; or why it does
    not say: then `text` is all there is to guess from (None: not read)."""

    references: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()
    fault: str = ""
    text: bytes | None = None

    def may_name(self, name: bytes) -> bool:
        """Whether a kustomization that cannot be read may name a folder whose last part is `name`."""
        return self.text is None or name in self.text or b"\\" in self.text


def read_kustomization(content: bytes | None) -> Kustomization:
    """Read the bytes of a kustomization.yaml (kustomize.config.k8s.io); None when they are not to be had."""
    if content is None:
        return Kustomization(fault="is too large to be read")
    parsed = desired.parse_file("kustomization.yaml", content)
    if parsed.faults:
        line, message = parsed.faults[0]
        return Kustomization(fault=f"cannot be read: line {line}: {message}", text=content)
    if len(parsed.documents) != 1 or not isinstance(parsed.documents[0].value, dict):
        return Kustomization(fault="is not one YAML object", text=content)
    value = parsed.documents[0].value
    plugins = [str(entry) for key in _PLUGIN_LISTS for entry in _list(value, key)]
    inline = [reference for entry in plugins if "\n" in entry for reference in plugin_references(entry.encode())]
    return Kustomization(
        references=(*_references(value), *inline), plugins=tuple(entry for entry in plugins if "\n" not in entry)
    )


def plugin_references(content: bytes) -> tuple[str, ...]:
    """The paths that the configuration of a generator, transformer or validator names (kustomize's built-in ones)."""
    found: list[str] = []
    for document in desired.parse_file("kustomization.yaml", content).documents:
        if isinstance(document.value, dict):
            found += _files_of(document.value)
            found += [str(path) for path in (document.value.get("path"), *_list(document.value, "paths")) if path]
            replacements = [entry for entry in _list(document.value, "replacements") if isinstance(entry, dict)]
            found += [str(entry["path"]) for entry in replacements if entry.get("path")]
    return tuple(reference for reference in found if "\n" not in reference)


def without_secrets(message: str, folder: str, files: Mapping[str, bytes]) -> str:
    """kustomize's words, unless they hold a value of a Secret; `files` are those that it read."""
    shown = message.encode()
    if any(value[:_SHOWN_OF_A_VALUE] in shown for value in _secrets(files) if len(value) >= _SHORTEST_SECRET):
        return (
            "cannot be built, and what kustomize says is not shown, because a value of a Secret is in it; "
            f"run `kustomize build {folder}` to see it"
        )
    return message


def _references(kustomization: Mapping[str, Any]) -> Iterator[str]:
    """Every path that a kustomization names; inline YAML is no path."""
    for key in _PATH_LISTS:
        yield from (entry for entry in _list(kustomization, key) if isinstance(entry, str) and "\n" not in entry)
    for entry in _list(kustomization, "patchesStrategicMerge"):
        if isinstance(entry, str) and "\n" not in entry and "{" not in entry:
            yield entry
    for key in ("patches", "patchesJson6902", "replacements"):
        entries = (entry for entry in _list(kustomization, key) if isinstance(entry, dict))
        yield from (str(entry["path"]) for entry in entries if entry.get("path"))
    for key in ("configMapGenerator", "secretGenerator"):
        for entry in _list(kustomization, key):
            yield from _files_of(entry)
    openapi = kustomization.get("openapi")
    if isinstance(openapi, dict) and openapi.get("path"):
        yield str(openapi["path"])


def _files_of(generator: Any) -> Iterator[str]:
    for name in ("files", "envs"):
        yield from (str(file).rpartition("=")[2] for file in _list(generator, name))
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
                [entry.get("valuesInline") for entry in _list(document.value, "helmCharts") if isinstance(entry, dict)]
            )
            inline = [entry for key in _PLUGIN_LISTS for entry in _list(document.value, key)]
            yield from _texts([entry for entry in inline if "Secret" in str(entry)])
            folder = path.rpartition("/")[0]
            for generator in _list(document.value, "secretGenerator"):
                named = {f"{folder}/{name}".lstrip("/") for name in _files_of(generator)}
                lines = [line for name in named for line in files.get(name, b"").splitlines()]
                lines += [str(literal).encode() for literal in _list(generator, "literals")]
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


def _list(mapping: Any, key: str) -> list[Any]:
    value = mapping.get(key) if isinstance(mapping, dict) else None
    return value if isinstance(value, list) else []
