"""Every sentence of gitfleet.removals, each with its code."""

from __future__ import annotations

from gitfleet.formats.text_table import TextTable


class RemovalsText(TextTable):
    """A code, and its sentence with the names of the values in it."""

    APPROVAL_REQUIRED = "each removal needs an approval"
    CLUSTER_LEAVES = "cluster {cluster} leaves the fleet with deleteOptions Delete"
    COMMIT_HAS_ERRORS = "the commit has errors (first: {place}); correct them or approve"
    KIND_IS_PROTECTED = "the FleetConfig protects the kinds: {kinds}"
    MOST_OF_FLEET_BINDINGS = (
        "objects are withdrawn from {part} of the {whole} clusters with placements, more than {percent}%"
    )
    MOST_OF_FLEET_OBJECTS = "the fleet loses {part} of its {whole} objects, more than {percent}%"
    MOST_OF_PLACEMENT_BINDINGS = (
        "objects of {placement} are withdrawn from {part} of its {whole} clusters, more than {percent}%"
    )
    MOST_OF_PLACEMENT_OBJECTS = "{placement} loses {part} of its {whole} objects, more than {percent}%"
    NEXT_CLUSTERS = "waits until the clusters before it are done (maxUnavailable)"
    PLACEMENT_WANTS_NOTHING = "{placement} selects nothing on any cluster any more"
    STATE_RESTORED = "the state branch was restored from commit {commit}; check `gitfleet plan`, then approve"
    STILL_IN_REPO = "still in the repo: {objects}; delete the files, or approve"
    WAITS_FOR_APPROVAL = "waits for an approval of {hold} ({rules})"
    WAS_REJECTED = "{hold} was rejected ({rules})"
