"""The lines of the fields that holds come from: what a decision does not know, since it has read no text."""

from __future__ import annotations

from dataclasses import replace

from gitfleet import removals
from gitfleet.api.holds import FieldPlace
from gitfleet.formats.limits import MAX_FILE_BYTES
from gitfleet.formats.yaml_reader import lines_of
from gitfleet.model.decisions import Decision
from gitfleet.ports.repos import RepoReader


def with_field_lines(decision: Decision, reader: RepoReader) -> Decision:
    """The decision with the line of its field in each cause of a hold, the object's where the text is too large."""
    by_blob: dict[str, list[FieldPlace]] = {}
    for place in removals.fields_of(decision.after.holds):
        by_blob.setdefault(place.origin.blob, []).append(place)
    if not by_blob:
        return decision
    lines: dict[FieldPlace, int] = {}
    texts = reader.read_blobs(by_blob, limit=MAX_FILE_BYTES)
    for blob, places in by_blob.items():
        if blob in texts:
            found = lines_of(texts[blob], [(place.origin.document, place.location) for place in places])
            lines |= dict(zip(places, found, strict=True))
        else:
            lines |= {place: place.origin.line for place in places}
    before, holds = decision.inputs.before.holds, removals.with_lines(decision.after.holds, lines)
    same = holds == before
    return replace(decision, after=replace(decision.after, holds=before if same else holds))
