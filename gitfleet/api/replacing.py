"""`dataclasses.replace` in two thirds of its time, for values that are replaced by the hundred thousand."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import replace as replace
else:
    from dataclasses import fields
    from functools import cache
    from operator import attrgetter

    @cache
    def _reading(cls):
        """The names of a class's fields (at least two), and what reads them all at once."""
        names = tuple(item.name for item in fields(cls))
        return names, attrgetter(*names)

    def replace(value, /, **changes):
        """The value with other values of some fields."""
        names, read = _reading(value.__class__)
        return value.__class__(**{**dict(zip(names, read(value), strict=True)), **changes})
