"""Every sentence of gitfleet.reconcile, each with its code."""

from __future__ import annotations

from gitfleet.formats.text_table import TextTable


class ReconcileText(TextTable):
    """A code, and its sentence with the names of the values in it."""

    CANNOT_FOLLOWED = "{where} cannot be followed: {why}"
    CLUSTER_LACKS_PINNED_CONTENT = "{placement} is pinned, and the cluster does not have the pinned content yet"
    COUNTS_NOTHING_RUNS_NAME_SNAPSHOTS = "counts for nothing, as runs name the snapshots of {placement} (strategy External); remove the file and go back with `gitfleet rollback {placement} --to {snapshot}`"
    DEPENDENCY_NOT_AVAILABLE = "folder {folder} waits for {needed}, which is not available on {cluster} yet"
    DEPENDENCY_NOT_PLACED = (
        "folder {folder} waits for {needed}, which is not placed on {cluster}; place it there, or remove the dependency"
    )
    DEPENDENCY_UNKNOWN = "folder {folder} waits for {needed}, which is not in the repo; correct the name"
    DISRUPTION_BUDGET_ALLOWS_NO_CLUSTER = "the disruption budget of {placement} allows no further cluster with fewer pods than the manifest says; raise targetSize, or change the budget"
    FOLDER_NOT_PLACED = "no placement selects anything of it; add a placement, or ignore the folder in {ignore_file}"
    HAS_ERRORS_CORRECT_FIRST = "{object} has an error ({place}); correct it first"
    KEEPS_CONTENT_SNAPSHOT = "keeps {what} at the content of snapshot {snapshot}"
    MAX_UNAVAILABLE_USED_UP = (
        "maxUnavailable of {placement} lets other clusters go first, which are not available or are being scaled down"
    )
    MOVED_BY_RUNS = "is moved by runs only (strategy External)"
    NOTHING_NEWER_WAITS = "nothing newer waits"
    NO_SNAPSHOT_NAME_ONE_THESE = (
        "{placement} has no snapshot {snapshot} (it has {known}); name one of these or remove the file"
    )
    OBJECTS_SNAPSHOT_NOT_ALL_STATE = (
        "the objects of snapshot {snapshot} are not all on the state branch any more; name another snapshot"
    )
    OVERRIDE_FAILS = (
        "does not apply to {object} on {clusters}: {problem}; correct the patch, or add what it changes to the manifest"
    )
    PINNED = "is pinned"
    REMOVE_FILE_UNTIL_THEN_NOTHING = "{why} or remove the file; until then nothing is rolled out, and what runs stays"
    PLACEMENT_CYCLE = "placements wait for each other: {cycle}; remove one of the dependencies"
    RUN_CANNOT_BEGIN = "the run cannot begin: {why}; {remedy}"
    SNAPSHOT_DIGEST_OTHER_CONTENT = "snapshot {snapshot} of {placement} has the digest {hash}, which is other content"
    SNAPSHOT_NEWER = "snapshot {newer} or what is newer"
    UNTIL_THEN_NOTHING_ROLLED_OUT = "{why}; until then nothing is rolled out, and what runs stays"
    WAITS_UNTIL_FILE_REMOVED = "{waiting} waits until the file is removed"
    WAITS_UNTIL_FILE_REMOVED_2 = "{keeps}; {waiting} waits until the file is removed"
    WRITE_ONLY_IF_MEANT = "{content}; write that only if it is meant, or remove the file and revert the change instead"
    WRITE_REPLICAS_MANIFEST = (
        "{placement} {what}, so that no rollout changes the number of its pods; write the replicas into the manifest"
    )
