"""Folders and what lies in them, for tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests import builders

FOLDER = "gitfleet-folder.yaml"
PROD = {"matchLabels": {"env": "prod"}}
REST = ("rest", "base", None)


def folder(name: str, *variants: tuple[str, str, Mapping[str, Any] | None], **spec: Any) -> dict[str, Any]:
    """A Folder; variants are names, paths and selectors."""
    listed = [
        {"name": variant, "path": path, **({"clusterSelector": dict(selector)} if selector is not None else {})}
        for variant, path, selector in variants
    ]
    spec = {**spec, **({"variants": listed} if listed else {})}
    return builders.an_object("gitfleet.dev/v1alpha1", "Folder", name, spec=spec)


def select_folder(name: str) -> dict[str, Any]:
    """A selector of everything of a Folder."""
    return {"group": "gitfleet.dev", "version": "v1alpha1", "kind": "Folder", "name": name}


def without_namespace(body: dict[str, Any]) -> dict[str, Any]:
    """An object that names no namespace."""
    metadata = {name: value for name, value in body["metadata"].items() if name != "namespace"}
    return {**body, "metadata": metadata}


def web(image: str, **parts: Any) -> str:
    """A Deployment `web` without a namespace, as a file."""
    return builders.to_yaml(without_namespace(builders.deployment("x", "web", image, **parts)))


def settings(**data: str) -> str:
    """A ConfigMap `settings` without a namespace, as a file."""
    return builders.to_yaml(without_namespace(builders.config_map("x", "settings", data)))
