"""What was written is read back as it was; what did not change is not written."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import yaml
from hypothesis import HealthCheck, Phase, assume, given, settings

from gitfleet.api.snapshots import ResourceSnapshot
from gitfleet.formats.yaml_reader import read_documents
from gitfleet.formats.yaml_writer import write_documents
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.state import document_paths, state_file_kind
from gitfleet.state.paths import is_rendered
from tests.profiles import examples
from tests.state.builders import T0, blob_of, composed, put, read_state
from tests.state.fleets import fleets

# A whole fleet is costly to draw; a few wide examples find what many narrow ones would.
_few = settings(
    phases=[Phase.explicit, Phase.generate, Phase.reuse],
    max_examples=examples(10),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


def as_read(state: FleetState) -> FleetState:
    """A state as reading gives it: manifests are not loaded, and what was rendered has the blob of its own file."""

    def unloaded(snapshot: ResourceSnapshot) -> ResourceSnapshot:
        bodies = {manifest.key: manifest.body for manifest in snapshot.manifests or ()}
        refs = (
            replace(ref, blob=blob_of(write_documents([bodies[ref.key]])), document=0, rendered=True)
            if is_rendered(ref)
            else ref
            for ref in snapshot.documents
        )
        return replace(snapshot, manifests=None, documents=tuple(refs))

    def unloaded_record(record: PlacementRecord) -> PlacementRecord:
        return replace(record, resource_snapshots=tuple(map(unloaded, record.resource_snapshots)))

    return replace(state, placements={key: unloaded_record(record) for key, record in state.placements.items()})


@_few
@given(fleets())
def test_a_state_is_read_back_as_it_was_written(state: FleetState) -> None:
    change = composed(FleetState(), state, now=T0)
    tree = put({}, change)

    assert read_state(tree) == as_read(state)
    # A fresh process, and the one that wrote, see nothing to do.
    assert composed(read_state(tree), as_read(state), now=T0 + timedelta(1)).empty
    assert composed(state, as_read(state), now=T0 + timedelta(1)).empty
    # What was read can be written again, from nothing but the blobs that the repository has.
    again = put({}, composed(FleetState(), read_state(tree), now=T0))
    assert {path: file.blob for path, file in again.items()} == {path: file.blob for path, file in tree.items()}


@_few
@given(fleets(), fleets())
def test_going_from_state_to_state_leaves_the_same_tree_as_starting_there(
    first: FleetState, second: FleetState
) -> None:
    tree = put(put({}, composed(FleetState(), first, now=T0)), composed(first, second, now=T0))

    assert read_state(tree) == as_read(second)
    straight = put({}, composed(FleetState(), second, now=T0))
    if second != FleetState():
        assert tree == straight


@_few
@given(fleets())
def test_every_written_file_says_the_same_to_other_yaml_readers(state: FleetState) -> None:
    """PyYAML reads YAML 1.1, mostly as kubectl does; whatever is a text for one must be a text for the other."""
    assume(state != FleetState())
    written = composed(FleetState(), state, now=T0).write
    read = [content for path, content in written.items() if state_file_kind(path)]
    assert read
    for content in read:
        theirs = [document for document in yaml.load_all(content, Loader=yaml.CSafeLoader) if document is not None]
        assert theirs and theirs == read_documents(content)


@_few
@given(fleets())
def test_every_document_of_a_snapshot_lies_where_the_snapshot_says(state: FleetState) -> None:
    snapshots = [one for record in state.placements.values() for one in record.resource_snapshots if one.documents]
    assume(snapshots)
    change = composed(FleetState(), state)
    for snapshot in snapshots:
        for ref, path in zip(snapshot.documents, document_paths(snapshot), strict=True):
            assert (path in change.write) if is_rendered(ref) else (change.link[path] == ref.blob)
