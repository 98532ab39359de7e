"""What a run changes on its clusters: the objects of its snapshot against what they had before. Counts and names, never
values: they may be secret."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gitfleet.api.runs import RunRecord
from gitfleet.api.snapshots import ResourceSnapshot
from gitfleet.formats.sentences import counted
from gitfleet.model.state import PlacementRecord
from gitfleet.views.texts import ViewsText

_MOST_COMPARED: Final = 3
_UNKNOWN: Final = ViewsText.NOT_KNOWN_OBJECTS_SNAPSHOT_NOT()


def changes_of_run(run: RunRecord, record: PlacementRecord) -> Iterator[tuple[str, list[str]]]:
    """A title and names of objects for each snapshot that the run's clusters had before it began to update them, newest
    first, at most three; where they had none, what goes out."""
    new = record.snapshot_named(run.snapshot)
    if new is None:
        return
    now = {binding.cluster: binding.resource_snapshot for binding in record.bindings}
    clusters = [cluster for stage in run.status.stages for cluster in stage.clusters]
    had = {one.former.resource_snapshot if one.former else now.get(one.cluster) for one in clusters} - {new.name}
    known = [snapshot for snapshot in reversed(record.resource_snapshots) if snapshot.name in had]
    for old in known[:_MOST_COMPARED]:
        yield _compared(old, new)
    if not known:
        yield (
            ViewsText.GOES_OUT(count=counted(len(new.documents), "object")),
            sorted(str(one.key) for one in new.documents),
        )


def _compared(old: ResourceSnapshot, new: ResourceSnapshot) -> tuple[str, list[str]]:
    title = ViewsText.CHANGES_FROM_SNAPSHOT(old=old.index)
    if old.manifests is None or new.manifests is None:
        return title, [_UNKNOWN]
    was, has = ({m.key.identity: m for m in manifests} for manifests in (old.manifests, new.manifests))
    found = {
        "removed": [was[one] for one in was.keys() - has.keys()],
        "changed": [has[one] for one in was.keys() & has.keys() if was[one].digest != has[one].digest],
        "added": [has[one] for one in has.keys() - was.keys()],
    }
    counts = ", ".join(f"{len(manifests)} {word}" for word, manifests in found.items())
    return f"{title}: {counts}", [f"{word} {key}" for word in found for key in sorted(str(m.key) for m in found[word])]
