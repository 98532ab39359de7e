"""Plug-ins of third parties: whether their methods are ones that gitfleet calls."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import isfunction

from gitfleet.formats.near_names import did_you_mean


def misspelt_hook(plugin: object, base: type) -> str | None:
    """One sentence about the first public method that gitfleet would never call, None when there is none.

    A hook is a public method of `base`. Checked are the plug-in's class and those between it and `base`; what other
    base classes bring, class methods and static methods are the plug-in's own business. Source: architecture invariant
    10.
    """
    hooks = sorted(_public_methods(base))
    for cls in type(plugin).__mro__:
        if cls is base or not issubclass(cls, base):
            continue
        for name in _public_methods(cls):
            if name not in hooks:
                meant = did_you_mean(name, hooks, f"its hooks are {', '.join(hooks)};")
                return f"{cls.__name__} has no hook {name}: {meant} Helpers start with an underscore"
    return None


def overridden(plugin: object, base: type) -> frozenset[str]:
    """The hooks of `base` that the plug-in's class overrides."""
    cls = type(plugin)
    return frozenset(name for name in _public_methods(base) if getattr(cls, name, None) is not getattr(base, name))


def _public_methods(cls: type) -> Iterator[str]:
    return (name for name, value in vars(cls).items() if isfunction(value) and not name.startswith("_"))
