"""Every sentence of gitfleet.pull, each with its code."""

from __future__ import annotations

from gitfleet.formats.text_table import TextTable


class PullText(TextTable):
    """A code, and its sentence with the names of the values in it."""

    AGENT_NOT_REACH_API_SERVER = "its agent does not reach the API server: {error}"
    AGENT_REPORT_NOT_LISTS = "the agent's report does not have it as it lists it"
    ANOTHER_CLUSTER = 'is of another cluster, "{cluster}"'
    CHANGED_SINCE_HUB_SAW = "{object} was changed since the hub saw it"
    DELETED_REPLACED_SINCE_HUB_SAW = "{object} was deleted or replaced since the hub saw it"
    DELIVERY_NOT_SAY_BECOMES_DEPENDENTS = "{object}: the delivery does not say what becomes of its dependents"
    DELIVERY_WITHOUT_PERMIT = "{object}: the delivery does not say what permits the deletion"
    HOLDS_NO_REPORT = "holds no report, or one that is far too large"
    HOLDS_NO_SINGLE_DOCUMENT = "it holds no single document"
    LISTS_MORE_NAMESPACES = "lists more namespaces, properties or conditions than any cluster has"
    LISTS_MORE_OBJECTS = "lists more than {most_objects} objects"
    MANIFEST_NOT_DELIVERY = "{object}: its manifest is not in the delivery"
    NOT_JSON_AGENT_WRITES = "is not JSON, as an agent writes it"
