"""The lines of the fields that holds come from: what a decision does not know, since it has read no text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from gitfleet import removals
from gitfleet.api.holds import FieldPlace
from gitfleet.formats.limits import MAX_FILE_BYTES
from gitfleet.formats.yaml_reader import lines_of
from gitfleet.model.decisions import Decision
from gitfleet.model.failures import Failure, Failures, Subject, attempt
from gitfleet.ports.repos import RepoReader

Lines = dict[FieldPlace, int]


def with_field_lines(decision: Decision, reader: RepoReader, known: Lines) -> tuple[Decision, tuple[Failure, ...]]:
    """The decision with the line of its field in each cause of a hold, the object's where the text is too large or
    cannot be read, and what could not be read. `known` is what was found in earlier passes, and is brought up to date:
    a blob is read once."""
    places, failures = removals.fields_of(decision.after.holds), Failures()
    if not places:
        known.clear()
        return decision, ()
    found = {place: known[place] for place in places & known.keys()}
    found |= _read(places - known.keys(), reader, failures)
    known.clear()
    known |= found
    lines = {place: found.get(place, place.origin.line) for place in places}
    before, holds = decision.inputs.before.holds, removals.with_lines(decision.after.holds, lines)
    same = holds == before
    return replace(decision, after=replace(decision.after, holds=before if same else holds)), failures.found


def _read(places: Iterable[FieldPlace], reader: RepoReader, failures: Failures) -> Lines:
    """The lines of the places whose text can be read."""
    by_blob: dict[str, list[FieldPlace]] = {}
    for place in places:
        by_blob.setdefault(place.origin.blob, []).append(place)
    subjects = {blob: Subject("lines of", there[0].origin.path) for blob, there in by_blob.items()}
    read = partial(reader.read_blobs, limit=MAX_FILE_BYTES)
    texts = attempt(Subject("lines of", "files"), read, by_blob)
    if isinstance(texts, Failure):  # one that cannot be read fails them all
        alone = (failures.contain(subjects[blob], {}, read, [blob]) for blob in by_blob)
        texts = {blob: text for one in alone for blob, text in one.items()}
    lines: Lines = {}
    for blob, text in texts.items():
        wanted = [(place.origin.document, place.location) for place in by_blob[blob]]
        found = failures.contain(subjects[blob], [], lines_of, text, wanted)
        lines |= zip(by_blob[blob], found, strict=False)
    return lines
