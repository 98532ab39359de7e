"""Whether a selector names an object, and which edit of its labels takes the object out of a selection."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gitfleet.api.labels import InvalidSelector
from gitfleet.api.objects import Manifest
from gitfleet.api.placements import ResourceSelector
from gitfleet.formats.sentences import named_briefly
from gitfleet.model.state import PlacementRecord

_MOST_NAMED = 3


def selectors_in_force(record: PlacementRecord | None) -> tuple[ResourceSelector, ...]:
    """The selectors of a placement that stays: one that leaves, or is not there, has none."""
    return record.placement.selectors if record is not None and record.placement.deleting is None else ()


def matches(selector: ResourceSelector, manifest: Manifest) -> bool:
    """Whether an object, in whatever version, is one that a selector names; what a selected Namespace brings along is
    not."""
    key = manifest.key
    if (key.group, key.kind) != (selector.group, selector.kind):
        return False
    if selector.name is not None:
        return key.name == selector.name
    try:
        return selector.label_selector is None or selector.label_selector.matches(manifest.labels)
    except InvalidSelector:
        return True


def label_edit(selectors: Iterable[ResourceSelector], then: Manifest, now: Manifest) -> tuple[str, str] | None:
    """The first label because of which a selector named an object `then` and does not `now`, and what became of all of
    them: "has label a=2 instead of a=1"; None where no selector lost it by its labels."""
    for selector in selectors:
        by = selector.label_selector
        if by is not None and matches(selector, then) and not matches(selector, now):
            keys = sorted({*by.match_labels, *(one.key for one in by.match_expressions)})
            edits = {
                key: _edit(key, then.labels, now.labels) for key in keys if then.labels.get(key) != now.labels.get(key)
            }
            return next(iter(edits), ""), f"has {named_briefly([*edits.values()], _MOST_NAMED)}"
    return None


def _edit(key: str, then: Mapping[str, str], now: Mapping[str, str]) -> str:
    if key not in now:
        return f"no label {key}={then[key]} any more"
    return f"label {key}={now[key]} " + (f"instead of {key}={then[key]}" if key in then else "now")
