"""Every sentence of gitfleet.snapshots, each with its code."""

from __future__ import annotations

from gitfleet.formats.text_table import TextTable


class SnapshotsText(TextTable):
    """A code, and its sentence with the names of the values in it."""

    FOLDER_NOT_KNOWN = "Folder {folder} cannot be read, so nobody knows which cluster gets which variant"
    NAMESPACEWITHRESOURCESELECTORS_NEEDS_EXACTLY_ONE_NAMESPACE = (
        "NamespaceWithResourceSelectors needs exactly one namespace, and {count} are selected"
    )
    NAMESPACE_RESERVED_CANNOT_PLACED = "namespace {selector} is reserved and cannot be placed"
    PLACEMENT_CANNOT_SELECT = "a ClusterResourcePlacement cannot select {selector}, which is namespaced, by itself; select its Namespace, or one Namespace with selectionScope NamespaceWithResourceSelectors beside it"
    RESOURCEPLACEMENT_CANNOT_SELECT = "a ResourcePlacement cannot select {selector}, which is cluster-scoped"
    RESOURCEPLACEMENT_CANNOT_SELECT_NAMESPACE = "a ResourcePlacement cannot select a Namespace, which is cluster-scoped"
    RESOURCE_SELECTORS_CANNOT_USED = "The resource selectors of {placement} cannot be used: {why}"
    SELECTED_MORE_ONCE = "{manifest} is selected more than once"
    SELECTS_NOW_CANNOT_USED = "what it selects now cannot be used and"
    SNAPSHOT_NEEDS_FROM_DOCUMENT = "snapshot {snapshot} needs {reference} from document {document} of {reference_2}, and its blob {blob} is not there"
